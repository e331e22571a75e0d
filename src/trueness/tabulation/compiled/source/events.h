/* Events: of each class, or of the top label, the cell of its probability and whether it was observed.
 *
 * A cell is a number of 128 bits: the sum of its probabilities in units of 2^-52 in the lower 96 bits, the number of rows in the
 * upper 32. So it never has to be emptied, and one addition with a carry adds a row.
 *
 * The cell of p is the number of thresholds below p. Both grids have equal cells in the middle, 1/60 or 1/3600 wide, whose edges
 * are snapped, and powers of two (with 32 steps each on the event grid) towards 0 and 1, which are not. So the cell follows from
 * p times 60 or 3600, rounded down, and from the exponent of p or of 1 - p. Where the product is so near to a whole number that
 * its rounding could matter, the thresholds themselves are searched; so they are for any other grid. */
#ifndef TRUENESS_EVENTS_H
#define TRUENESS_EVENTS_H

#include "group.h"

typedef unsigned __int128 cell_sum __attribute__((aligned(8), may_alias));

#define ONE_ROW ((unsigned __int128)1 << 96)
#define UNSURE (0.5 - 0x1p-30) /* so far from the middle between whole numbers, rounding could matter: it is off by 2^-38 at most */

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

/* t rounded down, for t from 0.25 to 2^51; adds to `unsure` the lanes where t is near a whole number. */
INLINE words rounded_down(doubles t, lanes *unsure) {
    doubles centred = t - 0.5, whole = centred + 0x1.8p52, off = centred - (whole - 0x1.8p52);
    *unsure = above((doubles)(bits_of(off) & ~(UINT64_C(1) << 63)), same_doubles(UNSURE));
    return bits_of(whole) - UINT64_C(0x4338000000000000);
}

/* p or 1 - p, whichever is smaller, between two bounds: as bits, less 1 if it is p. So a power of two is below the bits if it is
 * below p, or if it is at most 1 - p (which is exact there). */
INLINE words to_nearer_end(doubles p, lanes is_high, double least, double most) {
    doubles x = select_doubles(is_high, 1.0 - p, p);
    return counted(bits_of(smaller(larger(x, same_doubles(least)), same_doubles(most))) - 1, is_high);
}

/* On the class grid: edges at k/60, and at 2^-j and 1 - 2^-j for j = 7, 8, 9, 10, 13, 17. */
INLINE words cells_on_class_grid(const job *j, doubles p, lanes *unsure) {
    words in_middle = rounded_down(larger(p * j->parts, same_doubles(0.25)), unsure);
    lanes is_high = above(p, same_doubles(0.5));
    words exponent = (to_nearer_end(p, is_high, 0x1p-18, 0x1p-6) - UINT64_C(0x3EC0000000000000)) >> 50 & 0x3C;
    /* How many of the six powers are not above 2^-19, 2^-18, ..., 2^-6: four bits each. */
    words passed = same_words(UINT64_C(0x66543222111100)) >> exponent & 15;
    return in_middle + select_words(is_high, 12 - passed, passed);
}

/* On the event grid: edges at k/3600 from k = 57 to 3543, and 768 below 1/64, at 2^-e (1 + i/32), 1/64, and their mirror images. */
INLINE words cells_on_event_grid(const job *j, doubles p, lanes *unsure) {
    doubles t = smaller(larger(p * j->parts, same_doubles(56.5)), same_doubles(3543.5));
    words in_middle = rounded_down(t, unsure) - 56;
    lanes is_high = above(p, same_doubles(0.5));
    /* Bits of exponent and steps; 0x3E0F8 are those just below 2^-30. */
    words passed = (to_nearer_end(p, is_high, 0x1.fcp-31, 0x1.01p-6) >> 47) - (UINT64_C(0x3E10000000000000) >> 47) + 1;
    return in_middle + select_words(is_high, 2 * 769 - passed, passed);
}

/* The cell of each probability. */
INLINE words event_cells(const job *j, doubles p) {
    lanes unsure;
    words cell;
    if (j->grid == CLASS_GRID) cell = cells_on_class_grid(j, p, &unsure);
    else if (j->grid == EVENT_GRID) cell = cells_on_event_grid(j, p, &unsure);
    else unsure = not_below(p, same_doubles(0.0)), cell = same_words(0);
    if (__builtin_expect(any(unsure), 0))
        for (int lane = 0; lane < WIDTH; lane++) cell[lane] = searched_cell(j, p[lane]);
    return cell;
}

/* What is known of the rows of a group when their events are added. */
typedef struct {
    doubles p, largest; /* of the true class, and of all */
    words is_first;     /* 1 if the true class has the first rank, else 0 */
} outcomes;

INLINE void add_to_cell(const job *j, uint64_t cell, uint64_t units) { ((cell_sum *)j->cells)[cell] += units + ONE_ROW; }

/* A run of probabilities that lie together, each of the event whose first cell `places` names. */
INLINE void add_run(const job *j, const char *at, int64_t n, int64_t item, const uint64_t *places) {
    for (int64_t i = 0; i < n; i += WIDTH) {
        uint64_t cells[WIDTH] __attribute__((aligned(64))), units[WIDTH] __attribute__((aligned(64)));
        int64_t left = n - i < WIDTH ? n - i : WIDTH;
        char padded[8 * WIDTH];
        if (__builtin_expect(left < WIDTH, 0))
            for (int64_t b = 0; b < WIDTH * item; b++) padded[b] = b < left * item ? at[i * item + b] : 0;
        doubles p = load_item(left < WIDTH ? padded : at + i * item, item);
        store_words(bits_of(p + 1.0) - ONE_BITS, units);
        store_words(event_cells(j, p) + load_words(places + i), cells);
        if (__builtin_expect(left == WIDTH, 1)) {
            UNROLL for (int lane = 0; lane < WIDTH; lane++) add_to_cell(j, cells[lane], units[lane]);
        } else {
            for (int lane = 0; lane < left; lane++) add_to_cell(j, cells[lane], units[lane]);
        }
    }
}

/* All classes of the rows of a group, row by row: so additions that follow each other are to different cells. */
static void add_all_classes(const job *j, const group *g, const uint64_t *places) {
    int64_t item = j->item, n = j->n_classes;
    int together = j->n_classes <= NETWORK_CLASSES && g->to_next_row == n * item; /* `places` has WIDTH rows */
    for (int64_t r = 0; r < (together ? 1 : g->valid); r++) {
        const char *at = g->rows + r * g->to_next_row;
        if (item == 4) add_run(j, at, together ? g->valid * n : n, 4, places);
        else add_run(j, at, together ? g->valid * n : n, 8, places);
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
    words cells = event_cells(j, p) + (uint64_t)(k * j->n_cells), units = bits_of(p + 1.0) - ONE_BITS;
    for (int r = 0; r < valid; r++) {
        add_to_cell(j, cells[r], units[r]);
        j->observed[cells[r]] += (int64_t)y[r];
    }
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
    if (j->all_classes && !j->moments && g->to_next_class == j->item) {
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
