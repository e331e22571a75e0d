/* Events: of each class, or of the top label, the cell of its probability and whether it was observed.
 *
 * The cell of p is the number of thresholds below p. Both grids have equal cells in the middle, 1/60 or 1/3600 wide, whose edges
 * are snapped, and powers of two (with 32 steps each on the event grid) towards 0 and 1, which are not. So the cell follows from
 * p times 60 or 3600, rounded down, and from the exponent of p or of 1 - p. Where the product is so near to a whole number that
 * its rounding could matter, the thresholds themselves are searched; so they are for any other grid.
 *
 * A cell has two words. The first is the sum of the probabilities in units of 2^-52, modulo 2^64. The second has the number of
 * rows in its upper 26 bits, and in its lower 38 bits the sum of the first 14 bits of each probability, from which it follows how
 * often the first word has wrapped round. So 2^24 rows fit, and both words are added at once. */
#ifndef TRUENESS_EVENTS_H
#define TRUENESS_EVENTS_H

#include "group.h"

typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias)); /* a cell, or what a row adds to it */

#define ONE_ROW (UINT64_C(1) << ROWS_SHIFT)
#define NEAR (UINT64_C(1) << 33) /* of 64 bits of fraction, so near to a whole number the product may be on its other side */

/* The number of thresholds below p. */
static __attribute__((noinline)) uint64_t searched_cell(const job *j, double p) {
    uint64_t below = 0, beyond = (uint64_t)j->n_cells - 1;
    while (below < beyond) {
        uint64_t middle = (below + beyond) / 2;
        if (j->thresholds[middle] < p) below = middle + 1;
        else beyond = middle;
    }
    return below;
}

/* t * 2^bits rounded down, for t in [0, 1); and the lanes where rounding of t could matter. 1 + t has the digits of t. */
INLINE words rounded_down(doubles t, int bits, lanes *unsure) {
    words digits = bits_of(t + 1.0) - ONE_BITS;
    *unsure = above_words(same_words(2 * NEAR), (digits << (12 + bits)) + NEAR);
    return digits >> (52 - bits);
}

/* The bits of p or of 1 - p, whichever is smaller, between two bounds; less 1 if it is p. So a power of two has at most these bits
 * if it is below p, or if it is not above 1 - p, which is exact there. */
INLINE words to_nearer_end(doubles p, lanes is_high, double least, double most) {
    doubles x = larger(smaller(p, 1.0 - p), same_doubles(least));
    return counted(bits_of(smaller(x, same_doubles(most))) - 1, is_high);
}

/* How many of the powers 2^-7, 2^-8, 2^-9, 2^-10, 2^-13 and 2^-17 are not above 2^-19, 2^-18, ..., 2^-6: four bits each. */
#define PASSED UINT64_C(0x66543222111100)
#define TO_PASS (UINT64_C(0xCCCCCCCCCCCCCC) - PASSED) /* 12 less these: the six at the low end, and those of 1 - p */

/* The place of an exponent, from -19 to -6, in these. */
INLINE words exponent_place(words bits) { return (bits - UINT64_C(0x3EC0000000000000)) >> 50 & 0x3C; }

/* On the class grid: edges at k/60, and at 2^-j and 1 - 2^-j for j = 7, 8, 9, 10, 13, 17. */
INLINE words cells_on_class_grid(doubles p, doubles parts, lanes *unsure) {
    words in_middle = rounded_down(larger(p * parts, same_doubles(0x1p-8)), 6, unsure);
    lanes is_high = above(p, same_doubles(0.5));
    words place = exponent_place(to_nearer_end(p, is_high, 0x1p-18, 0x1p-6));
    return in_middle + (select_words(is_high, same_words(TO_PASS), same_words(PASSED)) >> place & 15);
}

/* The same if all are at most 1/64. */
INLINE words cells_of_small(doubles p) {
    return same_words(PASSED) >> exponent_place(bits_of(larger(p, same_doubles(0x1p-18))) - 1) & 15;
}

/* On the event grid: edges at k/3600 from k = 57 to 3543, and 769 at 2^-e (1 + i/32) up to 1/64, and their mirror images. */
INLINE words cells_on_event_grid(doubles p, doubles parts, lanes *unsure) {
    doubles t = smaller(larger(p * parts, same_doubles(56.5 / 4096)), same_doubles(3543.5 / 4096));
    words in_middle = rounded_down(t, 12, unsure) - 56;
    lanes is_high = above(p, same_doubles(0.5));
    /* Exponent and steps, counted from just below 2^-30. */
    words passed = (to_nearer_end(p, is_high, 0x1.fcp-31, 0x1.01p-6) >> 47) - ((UINT64_C(0x3E10000000000000) >> 47) - 1);
    return in_middle + select_words(is_high, 2 * 769 - passed, passed);
}

/* The cell of each probability, without a search; and the lanes that need one. */
INLINE words found_cells(doubles p, int64_t grid, doubles parts, lanes *unsure) {
    if (grid == CLASS_GRID) return cells_on_class_grid(p, parts, unsure);
    if (grid == EVENT_GRID) return cells_on_event_grid(p, parts, unsure);
    *unsure = equal_words(same_words(0), same_words(0));
    return same_words(0);
}

/* The cell of each probability. */
INLINE words event_cells(const job *j, doubles p) {
    lanes unsure;
    words cell = found_cells(p, j->grid, same_doubles(j->parts), &unsure);
    if (__builtin_expect(any(unsure), 0))
        for (int lane = 0; lane < WIDTH; lane++) cell[lane] = searched_cell(j, p[lane]);
    return cell;
}

/* What is known of the rows of a group when their events are added. */
typedef struct {
    doubles p, largest; /* of the true class, and of all */
    words is_first;     /* 1 if the true class has the first rank, else 0 */
} outcomes;

/* What some probabilities add, and where; in memory, from which it is added one by one. */
typedef struct {
    pair added[BATCH];
    pair *to[BATCH];
} batch;

INLINE void put(batch *b, int64_t i, doubles p, words cells) {
    words units = bits_of(p + 1.0) - ONE_BITS, rows = (units >> FIRST_BITS) + ONE_ROW;
    store_words(cells, b->to + i);
    store_words(low_pairs(units, rows), b->added + i);
    store_words(high_pairs(units, rows), b->added + i + WIDTH / 2);
}

INLINE void add_batch(const batch *b, int64_t n) {
    __asm__ volatile("" ::: "memory"); /* or compilers take vectors apart again, which is slower */
    UNROLL_8 for (int64_t i = 0; i < n; i++) *b->to[i] += b->added[i];
}

/* WIDTH probabilities; zeros after the last. */
INLINE doubles load_some(const char *at, int64_t left, int64_t item) {
    if (__builtin_expect(left >= WIDTH, 1)) return load_item(at, item);
    char padded[8 * WIDTH];
    for (int64_t b = 0; b < WIDTH * item; b++) padded[b] = b < left * item ? at[b] : 0;
    return load_item(padded, item);
}

/* Searches the cells of the probabilities of a batch for which that is needed. */
static __attribute__((noinline)) void search_batch(
    const job *j, batch *b, const char *at, int64_t n, int64_t item, const uint64_t *places
) {
    for (int64_t i = 0; i < n; i++) {
        double p = load_one(at + i * item, item);
        lanes unsure;
        found_cells(same_doubles(p), CLASS_GRID, same_doubles(j->parts), &unsure);
        if (any(unsure)) b->to[i] = (pair *)places[i] + searched_cell(j, p);
    }
}

/* A run of probabilities that lie together, each of the class whose first cell `places` names, on the class grid. */
INLINE void add_run(const job *j, const char *at, int64_t n, int64_t item, const uint64_t *places, int may_be_small) {
    batch b;
    const doubles parts = same_doubles(j->parts);
    for (int64_t first = 0; first < n; first += BATCH) {
        int64_t in_batch = n - first < BATCH ? n - first : BATCH;
        const char *from = at + first * item;
        lanes doubtful = above_words(same_words(0), same_words(0));
        for (int64_t i = 0; i < in_batch; i += WIDTH) {
            doubles p = load_some(from + i * item, in_batch - i, item);
            words place = load_words(places + first + i);
            if (may_be_small && !any(above(p, same_doubles(0x1p-6)))) {
                put(&b, i, p, place + (cells_of_small(p) << 4));
                continue;
            }
            lanes unsure;
            put(&b, i, p, place + (found_cells(p, CLASS_GRID, parts, &unsure) << 4));
            doubtful = either(doubtful, unsure);
        }
        if (__builtin_expect(any(doubtful), 0)) search_batch(j, &b, from, in_batch, item, places + first);
        add_batch(&b, in_batch);
    }
}

/* All classes of the rows of a group, row by row: so additions that follow each other are to different cells. */
static void add_all_classes(const job *j, const group *g, const uint64_t *places) {
    int64_t n = j->n_classes;
    if (n <= NETWORK_CLASSES && g->to_next_row == n * j->item) { /* `places` has WIDTH rows */
        if (j->item == 4) add_run(j, g->rows, g->valid * n, 4, places, 0);
        else add_run(j, g->rows, g->valid * n, 8, places, 0);
        return;
    }
    for (int64_t r = 0; r < g->valid; r++) {
        if (j->item == 4) add_run(j, g->rows + r * g->to_next_row, n, 4, places, 1);
        else add_run(j, g->rows + r * g->to_next_row, n, 8, places, 1);
    }
}

/* Counts the true class of each row. */
INLINE void count_true_classes(const job *j, const group *g, doubles p) {
    words cells = event_cells(j, p) + load_words(g->labels) * (uint64_t)j->n_cells;
    for (int r = 0; r < g->valid; r++) j->observed[cells[r]]++;
}

/* Sums of powers and logarithms of one event. `y` is 1 in the rows where it was observed. */
static __attribute__((noinline)) void add_moments(const job *j, const arena *a, int64_t k, const doubles *given, const words *y, int64_t valid) {
    lanes rows = above_words(same_words((uint64_t)valid), lane_numbers()), is_observed = above_words(*y, same_words(0));
    doubles p = *given, square = p * p, chosen = select_doubles(is_observed, p, 1.0 - p);
    lanes normal = not_below(chosen, same_doubles(TINY));
    const words units[N_MOMENTS] = {
        bits_of(square + 1.0) - ONE_BITS,
        bits_of(square * p + 1.0) - ONE_BITS,
        bits_of(square * square + 1.0) - ONE_BITS,
        select_words(is_observed, bits_of(p + 1.0) - ONE_BITS, same_words(0)),
        select_words(normal, rounded(log2_of(chosen) * (LN2 * 0x1p40)), same_words(0)),
    };
    uint64_t *sums = a->moment_sums + k * N_MOMENTS * WIDTH;
    for (int m = 0; m < N_MOMENTS; m++)
        store_words(load_words(sums + m * WIDTH) + select_words(rows, units[m], same_words(0)), sums + m * WIDTH);
    if (__builtin_expect(!any(except(rows, normal)), 1)) return;
    for (int r = 0; r < valid; r++) {
        if (chosen[r] == 0.0) j->moments[k * MOMENT_WORDS + 2 * N_MOMENTS]++; /* impossible */
        else if (chosen[r] < TINY)
            sums[(N_MOMENTS - 1) * WIDTH + r] += rounded(same_doubles(log2_of_one(chosen[r]) * (LN2 * 0x1p40)))[0];
    }
}

/* One event of the rows of a group. */
INLINE void add_event(const job *j, const arena *a, int64_t k, doubles p, words y, int64_t valid) {
    words cells = event_cells(j, p) + (uint64_t)(k * j->n_cells);
    batch b;
    put(&b, 0, p, (cells << 4) + (uint64_t)(uintptr_t)j->cells);
    add_batch(&b, valid);
    for (int r = 0; r < valid; r++) j->observed[cells[r]] += (int64_t)y[r];
    if (j->moments) add_moments(j, a, k, &p, &y, valid);
}

/* The probability of one class in each row. */
INLINE doubles of_class(const job *j, const group *g, int64_t class) {
    const char *at = g->rows + class * g->to_next_class;
    if (g->to_next_class != j->item) return load_item(at, j->item);
    doubles p;
    UNROLL for (int r = 0; r < WIDTH; r++) p[r] = load_one(at + r * g->to_next_row, j->item);
    return p;
}

/* Adds the events of the rows of a group, all of which are good. */
static __attribute__((noinline)) void add_events(const loop *l, const group *g, const outcomes *o) {
    const job *j = l->given;
    const arena *a = &l->memory;
    if (j->all_classes && j->grid == CLASS_GRID && g->to_next_class == j->item) {
        add_all_classes(j, g, a->places);
        count_true_classes(j, g, o->p);
        return;
    }
    for (int64_t k = 0; k < j->n_events; k++) {
        int64_t class = j->events[k];
        if (class == TOP_LABEL) {
            add_event(j, a, k, o->largest, o->is_first, g->valid);
            continue;
        }
        words y = counted(same_words(0), equal_words(load_words(g->labels), same_words((uint64_t)class)));
        add_event(j, a, k, of_class(j, g, class), y, g->valid);
    }
}

/* 1 in the lanes whose true class has the first rank, of equal ones the lower class; 0 if nobody asks. */
INLINE words is_first_rank(const loop *l, words more, words tied, int64_t first, int64_t valid) {
    if (!l->given->has_top) return same_words(0);
    words is_first = counted(same_words(0), equal_words(more, same_words(0)));
    lanes rows = above_words(same_words((uint64_t)valid), lane_numbers());
    if (__builtin_expect(!any(both(rows, above_words(tied, same_words(1)))), 1)) return is_first;
    for (int lane = 0; lane < valid; lane++) {
        if (tied[lane] <= 1) continue;
        int64_t above_it, equal, before;
        count_ties(l->given, first + lane, l->given->labels[first + lane], &above_it, &equal, &before);
        is_first[lane] = above_it + before == 0;
    }
    return is_first;
}

#endif
