/* Where sums are kept: words that wrap round while rows are added, emptied in time into exact sums.
 *
 * `job.totals` is one run of memory, for K measures, M bins and C classes:
 *   whole, fraction          (K, M, C + 1) each: ordered probabilities and V in units of 2^-52
 *   rank_count               (K, M, C)
 *   scores                   (5, 2): whole and fraction, the first three in units of 2^-40
 *   odd_rows                 (2): impossible and tied rows
 *   split_whole, split_fraction  (K, M, C) each, if ties are split: what that changes in the rank counts */
#ifndef TRUENESS_TOTALS_H
#define TRUENESS_TOTALS_H

#include "job.h"
#include "vectors.h"

#define PROBABILITY_BITS 52
#define LOG_SCORE_BITS 40
#define UNIT (UINT64_C(1) << PROBABILITY_BITS)

enum { MOST_ROWS = 4095 }; /* so many probabilities in units of 2^-52 fit in a word */

/* Working memory for the rows of a group, and for sums since they were last emptied. */
typedef struct {
    int64_t row;    /* words of a row: ordered probabilities and V, filled up to whole vectors */
    int64_t first_v; /* where V begins in it */
    int64_t n_bins; /* with one more for lanes that hold no row */
    int64_t copies; /* of the sums: rows side by side that are in one bin do not wait for each other's stores */
    uint64_t *sums;      /* (copies, measures, bins, row): bits of 1 + p, modulo 2^64 */
    uint64_t *ranks;     /* (copies, measures, bins, classes) */
    uint64_t *lane_sums; /* (scores, WIDTH) */
    char *padded_rows;   /* WIDTH rows, for the last of a block */
    int64_t *padded_labels;
    char *lines; /* a vector for each class, up to a power of two of them, if rows are sorted in memory */
    int64_t size; /* bytes of all */
} arena;

INLINE int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* Takes so many bytes, in whole cache lines, from memory that begins at an address, which is 0 if only the size is asked for. */
static void *take(arena *a, uintptr_t memory, int64_t bytes) {
    uintptr_t taken = memory + (uintptr_t)a->size;
    a->size += round_up(bytes, 64);
    return (void *)taken;
}

static int64_t line_count(int64_t n_classes) {
    int64_t n = BLOCK;
    while (n < n_classes) n *= 2;
    return n;
}

/* The parts of the arena, from its first whole cache line on. */
static arena arena_of(const job *j) {
    int few = j->n_classes <= NETWORK_CLASSES;
    arena a = {0};
    a.first_v = few ? j->n_classes : round_up(j->n_classes, WIDTH);
    a.row = round_up(a.first_v + j->n_measures, WIDTH);
    a.n_bins = j->n_edges + 2;
    a.copies = few && j->n_edges < 256 ? 4 : 1;
    if (a.copies > WIDTH) a.copies = WIDTH;
    int64_t cells = a.copies * j->n_measures * a.n_bins;
    uintptr_t memory = ((uintptr_t)j->arena + 63) & ~(uintptr_t)63;
    a.sums = take(&a, memory, 8 * cells * a.row);
    a.ranks = take(&a, memory, 8 * cells * j->n_classes);
    a.lane_sums = take(&a, memory, 8 * N_SCORES * WIDTH);
    a.padded_rows = take(&a, memory, 8 * WIDTH * j->n_classes);
    a.padded_labels = take(&a, memory, 8 * WIDTH);
    a.lines = take(&a, memory, few ? 0 : line_count(j->n_classes) * WIDTH * 8);
    a.size += 64;
    return a;
}

typedef struct {
    int64_t *whole, *fraction, *rank_count, *scores, *odd_rows, *split_whole, *split_fraction;
    int64_t n_bins;
} totals;

static totals totals_of(const job *j) {
    int64_t m = j->n_edges + 1, ordered = j->n_measures * m * (j->n_classes + 1);
    int64_t ranked = j->n_measures * m * j->n_classes;
    totals t = {.n_bins = m};
    t.whole = j->totals;
    t.fraction = t.whole + ordered;
    t.rank_count = t.fraction + ordered;
    t.scores = t.rank_count + ranked;
    t.odd_rows = t.scores + 2 * N_SCORES;
    t.split_whole = t.odd_rows + 2;
    t.split_fraction = t.split_whole + ranked;
    return t;
}

/* Adds units of 2^-bits, which may be negative, to a sum. */
INLINE void add_units(int64_t *whole, int64_t *fraction, int64_t units, int bits) {
    int64_t sum = *fraction + (units & ((INT64_C(1) << bits) - 1));
    *whole += (units >> bits) + (sum >> bits);
    *fraction = sum & ((INT64_C(1) << bits) - 1);
}

/* The same for probabilities, of which there may be more than 2^63 units. */
INLINE void add_probability(int64_t *whole, int64_t *fraction, uint64_t units) {
    uint64_t sum = (uint64_t)*fraction + (units & (UNIT - 1));
    *whole += (int64_t)((units >> PROBABILITY_BITS) + (sum >> PROBABILITY_BITS));
    *fraction = (int64_t)(sum & (UNIT - 1));
}

/* Empties bin m of measure k in one copy of the sums. */
static void empty_bin(const job *j, const arena *a, const totals *t, int64_t copy, int64_t k, int64_t m) {
    int64_t copied = (copy * j->n_measures + k) * a->n_bins + m, bin = k * t->n_bins + m, n = j->n_classes;
    int64_t *whole = t->whole + bin * (n + 1), *fraction = t->fraction + bin * (n + 1), *rank_count = t->rank_count + bin * n;
    uint64_t *ranks = a->ranks + copied * n, *sums = a->sums + copied * a->row, count = 0;
    for (int64_t c = 0; c < n; c++) count += ranks[c];
    if (count == 0) return;
    for (int64_t c = 0; c < n; c++) {
        rank_count[c] += (int64_t)ranks[c], ranks[c] = 0;
        add_probability(whole + c, fraction + c, sums[c] - count * ONE_BITS);
    }
    add_probability(whole + n, fraction + n, sums[a->first_v + k] - count * ONE_BITS);
    for (int64_t c = 0; c < a->row; c++) sums[c] = 0;
}

/* Empties all sums since the last time, of at most MOST_ROWS rows in each word. */
static void empty_sums(const job *j, const arena *a, const totals *t) {
    for (int64_t copy = 0; copy < a->copies; copy++)
        for (int64_t k = 0; k < j->n_measures; k++)
            for (int64_t m = 0; m < t->n_bins; m++) empty_bin(j, a, t, copy, k, m);
    for (int which = 0; which < N_SCORES; which++)
        for (int lane = 0; lane < WIDTH; lane++) {
            uint64_t *units = a->lane_sums + which * WIDTH + lane;
            int64_t *whole = t->scores + 2 * which;
            if (which < N_LOG_SCORES) add_units(whole, whole + 1, (int64_t)*units, LOG_SCORE_BITS);
            else add_probability(whole, whole + 1, *units);
            *units = 0;
        }
}

#endif
