/* A group is WIDTH rows, one a lane: what follows once their sums over classes are known, however many classes there are. */
#ifndef TRUENESS_GROUP_H
#define TRUENESS_GROUP_H

#include "job.h"
#include "logarithm.h"
#include "totals.h"
#include "vectors.h"

#define LN2 0x1.62e42fefa39efp-1

/* Sums over the classes of each row. Those of bits still contain the bits of as many ones (or twos). */
typedef struct {
    words seen;  /* all bits that are set in some probability: HUGE_BIT if one is infinite, NaN, or at least 2 in size */
    words sum;   /* bits of 1 + p */
    words entropy, second_moment; /* bits of 1 - p log2 p, and of 2 + p log2^2 p */
    words square;                 /* bits of 1 + p^2 */
    words predicted;              /* the class of the largest probability, of equal ones the first */
    words more, at_least;         /* classes that are more probable than the true one, or not less */
    doubles largest, smallest;
    doubles p, log_p; /* of the true class */
} swept;

/* Of each row: what is added up, and where. */
typedef struct {
    doubles v[MAX_MEASURES];
    words bins[MAX_MEASURES];
    words scores[N_SCORES];
    words predicted; /* the predicted class; the number of classes in lanes without a row */
    words rank, tied;
    doubles p, entropy;
    int is_bad; /* whether a row is not a distribution: then the group must not be added */
    int is_odd; /* whether a row must be looked at alone */
} concluded;

INLINE swept nothing_swept(doubles p, words predicted) {
    swept s = {.p = p, .log_p = p, .predicted = predicted};
    return s;
}

/* Takes in one class of each row, whose logarithm is half computed: log2 q, and in `steps` the bits of 1 + q. Moments are for
 * scores alone. */
INLINE doubles sweep(swept *s, doubles q, reduced r, words *steps, int scores) {
    doubles log = log2_from(r), t = q * log;
    *steps = bits_of(q + 1.0);
    s->sum += *steps;
    s->entropy += bits_of(1.0 - t);
    if (!scores) return log;
    s->second_moment += bits_of(2.0 + t * log);
    s->square += bits_of(q * q + 1.0);
    return log;
}

/* H in bits, H = sum(-p log2 p), from the sum of the bits of 1 - p log2 p. */
INLINE doubles entropy_of(words sum, int64_t n_classes) {
    return as_doubles(sum - (uint64_t)n_classes * ONE_BITS) * 0x1p-52;
}

/* V by one kind of measure, within its range. */
INLINE doubles variation(const job *j, int64_t kind, doubles entropy, doubles largest) {
    doubles value = kind == ENTROPY ? entropy * j->to_unit : largest;
    doubles low = same_doubles(kind == ENTROPY ? 0.0 : j->least);
    return smaller(larger(value, low), same_doubles(1.0));
}

/* Lanes whose row is not a distribution: a value is not in [0, 1], or the sum is too far from 1. */
INLINE lanes improper(const job *j, const swept *s) {
    words sum = s->sum - (uint64_t)j->n_classes * ONE_BITS;
    /* sum - 1 + slack is from 0 to 2 slack; what is below 0 wraps round to a large number */
    lanes off = above_words(sum - (UNIT - (uint64_t)j->slack), same_words(2 * (uint64_t)j->slack));
    lanes outside = either(above(s->largest, same_doubles(1.0)), above(same_doubles(0.0), s->smallest));
    return either(above_words(s->seen & HUGE_BIT, same_words(0)), either(off, outside));
}

/* Whether one of the rows is not a distribution. */
INLINE int any_improper(const job *j, const swept *s, int64_t valid) {
    return any(both(above_words(same_words((uint64_t)valid), lane_numbers()), improper(j, s)));
}

/* How many edges V exceeds. */
INLINE words bin_of(doubles v, const double *edges, int64_t n_edges) {
    words bin = {0};
    for (int64_t e = 0; e < n_edges; e++) bin = counted(bin, above(v, same_doubles(edges[e])));
    return bin;
}

/* The same among many edges: a table gives the first candidate, and few steps remain. */
static __attribute__((noinline)) words bin_among_many(const job *j, int64_t k, doubles v) {
    const int64_t *guesses = j->guesses + k * (GUESSES + 1);
    const double *edges = j->edges + k * j->n_edges;
    words bin = {0};
    for (int lane = 0; lane < WIDTH; lane++) {
        int64_t m = guesses[(int64_t)((v[lane] - j->lows[k]) * j->scales[k])];
        while (m < j->n_edges && v[lane] > edges[m]) m++;
        bin[lane] = (uint64_t)m;
    }
    return bin;
}

INLINE void add_lanes(const arena *a, int which, lanes where, words units) {
    uint64_t *at = a->lane_sums + which * WIDTH;
    store_words(load_words(at) + select_words(where, units, same_words(0)), at);
}

/* What a loop over rows works on. The compiler keeps `j` and `a` in registers, because no other function sees them; `given` and
 * `memory` are the same for functions that are called. */
typedef struct {
    job *given;
    arena memory;
    totals t;
} loop;

/* The bin of each row by measure k; the one after all in lanes without a row. */
INLINE words bins_of(const job *j, const loop *l, int k, doubles v, lanes rows) {
    words bin = j->n_edges <= FEW_EDGES ? bin_of(v, j->edges + k * j->n_edges, j->n_edges) : bin_among_many(l->given, k, v);
    return select_words(rows, bin, same_words((uint64_t)j->n_edges + 1));
}

/* The scores of the rows of a group, and their predicted classes; sums over all rows are added up. The lanes whose true class has
 * a probability that is zero or subnormal: their logarithms are left out. */
INLINE lanes score(const job *j, const arena *a, const swept *s, lanes rows, concluded *c) {
    uint64_t ones = (uint64_t)j->n_classes * ONE_BITS;
    doubles second = as_doubles(s->second_moment - (uint64_t)j->n_classes * TWO_BITS) * 0x1p-51;
    /* var = sum(p log2^2 p) + H^2 (sum(p) - 2), where the sum of p is below 2 */
    doubles variance = second - c->entropy * c->entropy * (as_doubles(2 * UNIT - (s->sum - ones)) * 0x1p-52);
    lanes normal = not_below(s->p, same_doubles(TINY)), scored = both(rows, normal);
    variance = select_doubles(above(variance, same_doubles(0.0)), variance, same_doubles(0.0));
    words varentropy = rounded(variance * (LN2 * LN2 * 0x1p40));
    add_lanes(a, 0, scored, rounded(s->log_p * (LN2 * 0x1p40)));
    add_lanes(a, 1, rows, bits_of(s->p + 1.0) - ONE_BITS), add_lanes(a, 2, rows, s->square - ones);
    c->scores[LOG_SCORE] = select_words(normal, rounded((s->log_p + c->entropy) * (LN2 * 0x1p40)), same_words(0));
    c->scores[LOG_SCORE_VARIANCE] = varentropy;
    c->scores[POSSIBLE_VARIANCE] = select_words(normal, varentropy, same_words(0));
    c->scores[EXPECTED_MISSES] = TWO_BITS - bits_of(s->largest + 1.0);
    c->predicted = select_words(rows, s->predicted, same_words((uint64_t)j->n_classes));
    return except(rows, normal);
}

/* Everything about the rows of a group; sums over all rows are added up, unless one is bad. `valid` is the number of rows. */
INLINE concluded conclude(const job *j, const arena *a, const loop *l, const swept *s, int64_t valid, int scores) {
    concluded c;
    lanes rows = above_words(same_words((uint64_t)valid), lane_numbers());
    c.is_bad = any(both(rows, improper(j, s)));
    if (c.is_bad) return c;
    c.p = s->p, c.rank = s->more, c.tied = s->at_least - s->more;
    c.entropy = entropy_of(s->entropy, j->n_classes);
    lanes odd = both(rows, above_words(c.tied, same_words(1)));
    if (scores) odd = either(odd, score(j, a, s, rows, &c));
    c.is_odd = any(odd);
    UNROLL for (int k = 0; k < MAX_MEASURES; k++) {
        if (k >= (scores ? j->n_measures : 1)) break; /* without scores there is one table */
        c.v[k] = variation(j, j->kinds[k], c.entropy, s->largest);
        c.bins[k] = bins_of(j, l, k, c.v[k], rows);
    }
    return c;
}

/* Of the cell of each row, by one measure, the place among all copies of the sums. */
INLINE words cells_of(const job *j, const arena *a, const concluded *c, int k) {
    words copy = lane_numbers() & (uint64_t)(a->copies - 1);
    return c->bins[k] + (copy * (uint64_t)j->n_measures + (uint64_t)k) * (uint64_t)a->n_bins;
}

/* The same of its predicted class. */
INLINE words classes_of(const job *j, const arena *a, const concluded *c) {
    words copy = lane_numbers() & (uint64_t)(a->copies - 1);
    return c->predicted + copy * (uint64_t)(j->n_classes + 1);
}

/* The same of its bin by the first measure together with its predicted class. */
INLINE words heads_of(const arena *a, const concluded *c, uint64_t n_classes) {
    words copy = lane_numbers() & (uint64_t)(a->copies - 1);
    return (copy * (uint64_t)a->n_bins + c->bins[0]) * (n_classes + 1) + c->predicted;
}

/* Where such cells lie in memory, each of so many words. */
INLINE words places_in(const uint64_t *memory, words cells, uint64_t n_words) {
    return product(cells, 8 * n_words) + (uint64_t)(uintptr_t)memory;
}

/* Adds a row of words to others. */
INLINE void add_row(uint64_t *at, doubles row) { store_words(load_words(at) + (words)row, at); }

static double probability(const job *j, int64_t row, int64_t class) {
    return load_one(j->rows + row * j->to_next_row + class * j->to_next_class, j->item);
}

/* The rank of the true class among equal ones: by logits, if rows came as such, since probabilities may underflow. */
static void count_ties(const job *j, int64_t row, int64_t label, int64_t *more, int64_t *equal, int64_t *before) {
    const double *logits = j->logits ? j->logits + row * j->n_classes : 0;
    double of_true = logits ? logits[label] : probability(j, row, label);
    *more = *equal = *before = 0;
    for (int64_t c = 0; c < j->n_classes; c++) {
        double value = logits ? logits[c] : probability(j, row, c);
        *more += value > of_true, *equal += value == of_true, *before += c < label && value == of_true;
    }
}

/* Adds to the number of rows of a rank in one cell. */
static void count_rank(const job *j, const arena *a, int64_t cell, int64_t rank, int64_t n) {
    if (!a->first_count) a->ranks[cell * j->n_classes + rank] += (uint64_t)n;
    else a->sums[cell * a->row + a->first_count + rank / COUNTS_IN_WORD] += (uint64_t)n << rank % COUNTS_IN_WORD * COUNT_BITS;
}

/* Puts right the count of a row whose true class is tied and was counted at the first of the tied ranks. */
static void recount(const loop *l, const concluded *c, int lane, int64_t row) {
    const job *j = l->given;
    const arena *a = &l->memory;
    const totals *t = &l->t;
    int64_t more, equal, before, label = j->labels[row], rank = (int64_t)c->rank[lane];
    count_ties(j, row, label, &more, &equal, &before);
    t->odd_rows[1] += equal > 1;
    for (int64_t k = 0; k < j->n_measures; k++) {
        int64_t bin = k * t->n_bins + (int64_t)c->bins[k][lane];
        if (equal == 1 || !j->split) {
            int64_t cell = (lane % a->copies * j->n_measures + k) * a->n_bins + (int64_t)c->bins[k][lane];
            count_rank(j, a, cell, rank, -1), count_rank(j, a, cell, more + before, 1);
            continue;
        }
        int64_t *whole = t->split_whole + bin * j->n_classes, *fraction = t->split_fraction + bin * j->n_classes;
        whole[rank]--;
        for (int64_t r = more; r < more + equal; r++)
            add_units(whole + r, fraction + r,
                      (int64_t)(UNIT / (uint64_t)equal + (r == more ? UNIT % (uint64_t)equal : 0)), PROBABILITY_BITS);
    }
}

/* Adds the scores of a row whose true class has a subnormal probability, which were left out. */
static void add_subnormal(const loop *l, const concluded *c, int lane) {
    const job *j = l->given;
    const arena *a = &l->memory;
    double log_p = log2_of_one(c->p[lane]);
    uint64_t score = rounded(same_doubles((log_p + c->entropy[lane]) * (LN2 * 0x1p40)))[0];
    a->lane_sums[lane] += rounded(same_doubles(log_p * (LN2 * 0x1p40)))[0];
    for (int k = -1; k < j->n_measures; k++) { /* first to its predicted class */
        uint64_t *to = k < 0 ? a->predicted + classes_of(j, a, c)[lane] * HEAD
                             : a->sums + cells_of(j, a, c, k)[lane] * (uint64_t)a->row;
        to[LOG_SCORE] += score, to[POSSIBLE_VARIANCE] += c->scores[LOG_SCORE_VARIANCE][lane];
    }
}

/* Says which row from logits has a true class whose probability is too small, its varentropy, and
 * where its scores belong. */
static void return_underflowed(job *j, const concluded *c, int lane, int64_t row) {
    int64_t *at = j->underflowed + UNDERFLOWED_WORDS * j->n_underflowed++;
    at[0] = row, at[1] = (int64_t)c->scores[LOG_SCORE_VARIANCE][lane];
    at[2] = (int64_t)c->predicted[lane];
    for (int64_t k = 0; k < j->n_measures; k++) at[3 + k] = (int64_t)c->bins[k][lane];
}

/* Looks at the rows of a group one by one, because at least one of them is odd. */
static void handle_odd_rows(const loop *l, const concluded *c, int64_t first, int64_t valid) {
    job *j = l->given;
    for (int lane = 0; lane < valid; lane++) {
        double p = c->p[lane];
        int is_tiny = p < TINY && j->detail == SCORES;
        if (is_tiny && j->logits) return_underflowed(j, c, lane, first + lane);
        else if (is_tiny && p == 0.0) l->t.odd_rows[0]++;
        else if (is_tiny) add_subnormal(l, c, lane);
        if (c->tied[lane] > 1) recount(l, c, lane, first + lane);
    }
}

/* Keeps what the event of the top label needs of a group, for a moment: `at` is its first row in the chunk. */
INLINE void keep_top(const arena *a, int64_t at, doubles largest, words more, words tied) {
    store_doubles(largest, a->largest + at);
    store_words(more, a->more + at);
    store_words(tied, a->tied + at);
}

/* Fewer than WIDTH rows made WIDTH, with the last one again and again. */
static void pad(const job *j, const arena *a, int64_t first, int64_t valid) {
    for (int64_t r = 0; r < WIDTH; r++) {
        int64_t row = first + (r < valid ? r : valid - 1);
        if (j->labels) a->padded_labels[r] = j->labels[row];
        for (int64_t c = 0; c < j->n_classes; c++) {
            const char *from = j->rows + row * j->to_next_row + c * j->to_next_class;
            char *to = a->padded_rows + (r * j->n_classes + c) * j->item;
            for (int64_t b = 0; b < j->item; b++) to[b] = from[b];
        }
    }
}

/* The next rows: where they lie, with their labels. The last ones are padded, and then lie row by row. */
typedef struct {
    const char *rows;
    const int64_t *labels;
    int64_t to_next_row, to_next_class, valid;
} group;

INLINE group group_at(const job *j, const loop *l, int64_t first) {
    int64_t left = j->n_rows - first;
    if (__builtin_expect(left >= WIDTH, 1)) {
        const int64_t *labels = j->labels ? j->labels + first : 0;
        return (group){j->rows + first * j->to_next_row, labels, j->to_next_row, j->to_next_class, WIDTH};
    }
    pad(l->given, &l->memory, first, left);
    return (group){l->memory.padded_rows, l->memory.padded_labels, j->n_classes * j->item, j->item, left};
}

#endif
