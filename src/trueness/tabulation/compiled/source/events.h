/* Events: of each class, or of the top label, the cell of its probability and whether it was observed.
 *
 * The cell of p is the number of thresholds below p. Both grids have equal cells in the middle, 1/60 or 1/3600 wide, whose edges
 * are snapped, and powers of two (with 32 steps each on the event grid) towards 0 and 1, which are not. So the cell follows from
 * p times 60 or 3600, rounded down, and from the exponent of p or of 1 - p. Where the product is so near to a whole number that
 * its rounding could matter, the thresholds themselves are searched; so they are for any other grid.
 *
 * A cell has two words, which are added at once. The first is the sum of the bits of 1 + p, modulo 2^64. The second has the number
 * of rows in its upper 26 bits, and below them the sum of the first 14 binary digits of p, from which it follows how often the
 * first word has wrapped round. So 2^24 rows fit. Rows in which the event was observed have cells of their own, in a second half
 * of the memory. */
#ifndef TRUENESS_EVENTS_H
#define TRUENESS_EVENTS_H

#include "group.h"

#define ONE_ROW ((UINT64_C(1) << ROWS_SHIFT) - (ONE_BITS >> FIRST_BITS)) /* added to the first bits of 1 + p */
#define MARGIN (UINT64_C(1) << 33) /* of 2^64: rounding moves the product by less, and may move it across a whole number */

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

/* t * 2^bits rounded down, for t in [0, 1), and times 16; and the lanes where rounding of t could matter. 1 + t has the digits of
 * t below 12 bits that are always the same. */
INLINE words rounded_down(doubles t, int bits, lanes *unsure) {
    words digits = bits_of(t + 1.0);
    *unsure = above_words(same_words(2 * MARGIN), (digits << (12 + bits)) + MARGIN);
    return digits >> (48 - bits) & ((UINT64_C(1) << bits) - 1) << 4;
}

/* The bits of p or of 1 - p, whichever is smaller, between two bounds; less 1 if it is p, and less some others. So a power of two
 * has at most these bits if it is below p, or if it is not above 1 - p, which is exact there. */
INLINE words to_nearer_end(doubles p, lanes is_high, double least, double most, uint64_t less) {
    doubles x = larger(smaller(p, 1.0 - p), same_doubles(least));
    return counted(bits_of(smaller(x, same_doubles(most))) - (less + 1), is_high);
}

/* How many of the powers 2^-7, 2^-8, 2^-9, 2^-10, 2^-13 and 2^-17 are not above 2^-19, 2^-18, ..., 2^-6: four bits each, above
 * the first four. */
#define PASSED UINT64_C(0x665432221111000)
#define TO_PASS (UINT64_C(0xCCCCCCCCCCCCCC0) - PASSED) /* 12 less these: the six at the low end, and those of 1 - p */
#define LEAST_EXPONENT UINT64_C(0x3EC0000000000000) /* the bits of 2^-19 */

/* The same of 2^-20, 2^-23, 2^-26 and 2^-30, for 2^-32, 2^-31, ..., 2^-19. */
#define FAR_PASSED UINT64_C(0x443332221111000)
#define FAR_TO_PASS (UINT64_C(0x888888888888880) - FAR_PASSED)
#define LEAST_FAR_EXPONENT UINT64_C(0x3DF0000000000000) /* the bits of 2^-32 */

/* What these say of the exponent of some bits, less those of the least one; in bytes of cells. */
INLINE words passed_bytes(words of_powers, words bits) { return of_powers >> (bits >> 50 & 0x3C) & 0xF0; }

/* On the class grid: edges at k/60, and at 2^-j and 1 - 2^-j for j = 7, 8, 9, 10, 13, 17, 20, 23, 26, 30. In bytes of cells, as are
 * the next. */
INLINE words cells_on_class_grid(doubles p, doubles parts, lanes *unsure) {
    words in_middle = rounded_down(larger(p * parts, same_doubles(0x1p-8)), 6, unsure);
    lanes is_high = above(p, same_doubles(0.5));
    words of_powers = select_words(is_high, same_words(TO_PASS), same_words(PASSED));
    words of_far = select_words(is_high, same_words(FAR_TO_PASS), same_words(FAR_PASSED));
    return in_middle + passed_bytes(of_powers, to_nearer_end(p, is_high, 0x1p-18, 0x1p-6, LEAST_EXPONENT))
        + passed_bytes(of_far, to_nearer_end(p, is_high, 0x1p-31, 0x1p-19, LEAST_FAR_EXPONENT));
}

/* On the event grid: edges at k/3600 from k = 57 to 3543, and 769 at 2^-e (1 + i/32) up to 1/64, and their mirror images. */
INLINE words cells_on_event_grid(doubles p, doubles parts, lanes *unsure) {
    doubles t = smaller(larger(p * parts, same_doubles(56.5 / 4096)), same_doubles(3543.5 / 4096));
    words in_middle = rounded_down(t, 12, unsure) - 16 * 56;
    lanes is_high = above(p, same_doubles(0.5));
    /* Exponent and steps, counted from the step below 2^-30. */
    uint64_t first = UINT64_C(0x3E10000000000000) - (UINT64_C(1) << 47);
    words passed = to_nearer_end(p, is_high, 0x1.fcp-31, 0x1.01p-6, first) >> 47;
    return in_middle + (select_words(is_high, 2 * 769 - passed, passed) << 4);
}

/* Where the cell of each probability is, in bytes from the first, without a search; and the lanes that need one. */
INLINE words found_cells(doubles p, int64_t grid, doubles parts, lanes *unsure) {
    if (grid == CLASS_GRID) return cells_on_class_grid(p, parts, unsure);
    if (grid == EVENT_GRID) return cells_on_event_grid(p, parts, unsure);
    *unsure = equal_words(same_words(0), same_words(0));
    return same_words(0);
}

/* The same, with a search where it is needed. */
INLINE words event_cells(const job *j, doubles p) {
    lanes unsure;
    words cell = found_cells(p, j->grid, same_doubles(j->parts), &unsure);
    if (__builtin_expect(any(unsure), 0))
        for (int lane = 0; lane < WIDTH; lane++) cell[lane] = 16 * searched_cell(j, p[lane]);
    return cell;
}

/* Puts WIDTH probabilities into a batch, with the addresses of their cells. */
INLINE void put(batch *b, int64_t i, doubles p, words to) {
    words bits = bits_of(p + 1.0), rows = (bits >> FIRST_BITS) + ONE_ROW;
    store_words(to, b->to + i);
    store_words(even_pairs(bits, rows), b->added + i);
    store_words(odd_pairs(bits, rows), b->added + i + WIDTH / 2);
}

/* Adds what was put into one vector of a batch. */
INLINE void add_vector(const batch *b, int64_t i) {
    UNROLL for (int lane = 0; lane < WIDTH; lane++) *b->to[i + lane] += b->added[i + lane / 2 + lane % 2 * (WIDTH / 2)];
}

/* Adds what is still to be added. */
INLINE void add_waiting(event_batches *q) {
    for (int64_t i = 0; i < q->waiting; i += WIDTH) add_vector(&q->both[q->last], i);
    q->waiting = 0;
}

/* Lanes beyond the last row add to cells that nobody reads. */
INLINE void discard(const arena *a, batch *b, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++) b->to[i] = (pair *)a->discarded + i % WIDTH;
}

/* Searches the cells of the probabilities of a batch for which that is needed. */
static __attribute__((noinline)) void search_batch(
    const job *j, batch *b, const char *at, int64_t n, int64_t last, int64_t item, const uint64_t *places
) {
    for (int64_t i = 0; i < n; i++) {
        int64_t vector = i / WIDTH * WIDTH;
        double p = load_one(at + ((vector < last ? vector : last) + i % WIDTH) * item, item);
        lanes unsure;
        found_cells(same_doubles(p), CLASS_GRID, same_doubles(j->parts), &unsure);
        if (any(unsure)) b->to[i] = (pair *)places[i] + searched_cell(j, p);
    }
}

/* The next batch: n probabilities that lie together, each of the class whose cells begin where `places` says, on the class grid.
 * The last vector begins at `last`, so that no load reaches beyond the row. */
INLINE batch *fill_batch(
    const job *j, event_batches *q, const char *at, int64_t n, int64_t last, int64_t item, const uint64_t *places
) {
    const doubles parts = same_doubles(j->parts);
    lanes doubtful = above_words(same_words(0), same_words(0));
    const batch *before = &q->both[q->last];
    batch *b = &q->both[1 - q->last];
    for (int64_t i = 0; i < n; i += WIDTH) {
        doubles p = load_item(at + (i < last ? i : last) * item, item);
        words place = load_words(places + i);
        if (i < q->waiting) add_vector(before, i);
        lanes unsure;
        put(b, i, p, place + found_cells(p, CLASS_GRID, parts, &unsure));
        doubtful = either(doubtful, unsure);
    }
    for (int64_t i = n; i < q->waiting; i += WIDTH) add_vector(before, i);
    if (__builtin_expect(any(doubtful), 0)) search_batch(j, b, at, n, last, item, places);
    q->last = 1 - q->last, q->waiting = n;
    return b;
}

/* All classes of a group of few classes, whose rows follow each other; `places` has WIDTH rows. */
INLINE void add_few_classes(const job *j, const arena *a, const group *g, int64_t item) {
    int64_t n = WIDTH * j->n_classes, left = g->valid * j->n_classes;
    batch *b = fill_batch(j, a->batches, g->rows, n, n, item, a->places);
    for (int64_t r = 0; r < g->valid; r++) b->to[r * j->n_classes + g->labels[r]] += j->n_events * j->stride;
    if (__builtin_expect(left < n, 0)) discard(a, b, left, n);
}

/* All classes of some rows of many classes, each of which lies together. Of BATCH classes at a time, so that their cells stay in
 * the cache, and row by row, so that additions that follow each other are to different cells. */
INLINE void add_many_classes(const job *j, const arena *a, int64_t begin, int64_t end, int64_t item) {
    int64_t n_places = round_up(j->n_classes, WIDTH), beyond = n_places - j->n_classes;
    for (int64_t first = 0; first < n_places; first += BATCH) {
        int64_t n = n_places - first < BATCH ? n_places - first : BATCH;
        for (int64_t row = begin; row < end; row++) {
            const char *at = j->rows + row * j->to_next_row + first * item;
            batch *b = fill_batch(j, a->batches, at, n, j->n_classes - WIDTH - first, item, a->places + first);
            int64_t label = j->labels[row], place = label + (label >= n_places - WIDTH ? beyond : 0) - first;
            if (place >= 0 && place < n) b->to[place] += j->n_events * j->stride;
        }
    }
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
    uint64_t place = (uint64_t)(uintptr_t)(j->cells + 2 * k * j->stride), half = 16 * (uint64_t)(j->n_events * j->stride);
    words observed = select_words(above_words(y, same_words(0)), same_words(half), same_words(0));
    event_batches *q = a->batches;
    add_waiting(q);
    put(&q->both[q->last], 0, p, event_cells(j, p) + observed + place);
    if (valid < WIDTH) discard(a, &q->both[q->last], valid, WIDTH);
    q->waiting = WIDTH;
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

/* 1 in the lanes whose true class has the first rank, of equal ones the lower class. `at` is the first row in the chunk. */
INLINE words is_first_rank(const job *j, const arena *a, int64_t first, int64_t at, int64_t valid) {
    words is_first = counted(same_words(0), equal_words(load_words(a->more + at), same_words(0)));
    for (int lane = 0; lane < valid; lane++) {
        if (a->tied[at + lane] <= 1) continue;
        int64_t more, equal, before;
        count_ties(j, first + lane, j->labels[first + lane], &more, &equal, &before);
        is_first[lane] = more + before == 0;
    }
    return is_first;
}

/* Adds the events of a group one after the other. */
static void add_each_event(const job *j, const arena *a, const group *g, int64_t first, int64_t at) {
    for (int64_t k = 0; k < j->n_events; k++) {
        int64_t class = j->events[k];
        if (class == TOP_LABEL) {
            add_event(j, a, k, load_doubles(a->largest + at), is_first_rank(j, a, first, at, g->valid), g->valid);
            continue;
        }
        words y = counted(same_words(0), equal_words(load_words(g->labels), same_words((uint64_t)class)));
        add_event(j, a, k, of_class(j, g, class), y, g->valid);
    }
}

/* Adds the events of a chunk of rows, all of which are good. */
static void add_events(const loop *l, int64_t begin, int64_t end) {
    const job *j = l->given;
    const arena *a = &l->memory;
    int all = j->all_classes && j->grid == CLASS_GRID && j->to_next_class == j->item, few = j->n_classes <= NETWORK_CLASSES;
    if (all && !few) {
        if (j->item == 4) add_many_classes(j, a, begin, end, 4);
        else add_many_classes(j, a, begin, end, 8);
        return;
    }
    all = all && j->to_next_row == j->n_classes * j->item;
    for (int64_t first = begin; first < end; first += WIDTH) {
        const group g = group_at(j, l, first);
        if (all && j->item == 4) add_few_classes(j, a, &g, 4);
        else if (all) add_few_classes(j, a, &g, 8);
        else add_each_event(j, a, &g, first, first - begin);
    }
}

#endif
