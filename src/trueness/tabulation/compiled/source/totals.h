/* Where sums are kept: words that wrap round while rows are added, emptied in time into exact sums.
 *
 * `job.totals` is one run of memory, for K measures, M bins and C columns (classes; or the first rank and all others, of which
 * only rows are counted). Scores are left out and V is 0 unless `job.detail` is SCORES:
 *   whole, fraction          (K, M, C + 1) each: ordered probabilities and V in units of 2^-52
 *   rank_count               (K, M, C)
 *   bin_scores               (K, M, 4, 2): whole and fraction of each score
 *   predicted_rows           (C): rows that predict each class
 *   predicted_scores         (C, 4, 2): the scores of these rows
 *   overall                  (3, 2): log-likelihood in units of 2^-40; p_y and ||p||^2 in units of 2^-52
 *   odd_rows                 (2): impossible and tied rows
 *   split_whole, split_fraction  (K, M, C) each, if ties are split: what that changes in the rank counts */
#ifndef TRUENESS_TOTALS_H
#define TRUENESS_TOTALS_H

#include "job.h"
#include "vectors.h"

#define PROBABILITY_BITS 52
#define LOG_SCORE_BITS 40
#define UNIT (UINT64_C(1) << PROBABILITY_BITS)

/* The scores of a row: ln p_y + H, its variance, and this again if p_y is not 0, in units of 2^-40;
 * 1 - q_1 with q_1 the largest probability, in units of 2^-52. */
enum { LOG_SCORE, LOG_SCORE_VARIANCE, POSSIBLE_VARIANCE, EXPECTED_MISSES, N_SCORES };

enum { COUNT_BITS = 16, COUNTS_IN_WORD = 4 }; /* of ranks that are counted in the words of a row */

enum {
    MOST_UNITS = 4095, /* so many probabilities or ||p||^2, in units of 2^-52, fit in a word */
    CHUNK_BYTES = 1 << 17, /* of rows whose events are added after their sums: they are still in the cache then */
    MOST_CHUNK = 1024,
    FEW_ROWS = 256, /* fewer rows take less time to add to two cells each than many cells take to empty */
    FIRST_WORDS = 2, /* of a row of which only the first rank is summed: its probability; rows, and times 2^32 those that are right */
    DISCARDED_CELLS = WIDTH + 80, /* as many as the class grid has, and more */
    HEAD = N_SCORES > WIDTH ? N_SCORES : WIDTH /* words of the scores of a row, as whole vectors */
};

typedef uint64_t pair __attribute__((vector_size(16), aligned(8), may_alias)); /* a cell, or what a row adds to it */

/* What some probabilities add, and where; in memory, from which it is added one by one. Of each WIDTH of `added` the even lanes
 * come first. A batch is added while the next one is filled, since these are the work of different parts of the processor. */
typedef struct {
    pair added[BATCH];
    pair *to[BATCH];
} batch;

/* Two batches in turn, and how many of the last one are still to be added. */
typedef struct {
    batch both[2];
    int64_t last, waiting;
} event_batches;

/* Working memory for the rows of a group, and for sums since they were last emptied. */
typedef struct {
    int64_t row; /* words of a row: scores and V, ordered probabilities and counts, filled up to whole vectors */
    int64_t first_q;     /* where the probabilities begin in it; V is right behind the scores */
    int64_t first_count; /* where the counts of ranks begin, or 0 if `ranks` has them */
    int64_t n_bins;  /* with one more for lanes that hold no row */
    int64_t copies;  /* of the sums: rows side by side that are in one bin do not wait for each other's stores */
    uint64_t *sums;      /* (copies, measures, bins, row): units of the scores, bits of 1 + V and 1 + p, modulo 2^64 */
    uint64_t *ranks;     /* (copies, measures, bins, classes) */
    uint64_t *heads; /* (copies, bins, classes + 1, HEAD), or NULL: scores and what follows them by bin of the first measure and
                        predicted class, so that a row is added once and not to both */
    uint64_t *predicted; /* (copies, classes + 1, HEAD): scores by predicted class; the last one for lanes that hold no row */
    uint64_t *predicted_rows; /* (copies, classes + 1) */
    uint64_t *lane_sums; /* (3, WIDTH): log-likelihood, p_y and ||p||^2 */
    uint64_t *moment_sums; /* (events, N_MOMENTS, WIDTH) */
    uint64_t *places;      /* where the cells of each class begin: of WIDTH rows if there are few classes, else see `set_places` */
    int64_t chunk;         /* rows whose events are added after their sums; a multiple of WIDTH */
    double *largest;       /* (chunk): of each row, for the top label */
    uint64_t *more, *tied; /* (chunk): classes that are more probable than the true one, and as probable */
    event_batches *batches;    /* of the probabilities of events, see events.h */
    uint64_t *discarded;   /* cells for lanes that hold nothing to be added */
    char *padded_rows;   /* WIDTH rows, for the last of a block */
    int64_t *padded_labels;
    char *lines; /* a vector for each class, up to a power of two of them, if rows are sorted in memory */
    int64_t size; /* bytes of all */
} arena;

INLINE int64_t round_up(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* What a row of few classes is filled up to: whole vectors, or half a vector of eight if that is enough. */
INLINE int64_t row_unit(int64_t words) { return WIDTH == 8 && words <= 4 ? 4 : WIDTH; }

INLINE int64_t count_words(int64_t n_classes) { return (n_classes + COUNTS_IN_WORD - 1) / COUNTS_IN_WORD; }

/* Whether the counts of ranks fit into what such a row is filled up with. */
INLINE int has_counts(int64_t words, int64_t n_classes) {
    return words + count_words(n_classes) <= round_up(words, row_unit(words));
}

/* The columns of exact sums. */
INLINE int64_t n_columns(const job *j) { return j->detail == FIRST ? 2 : j->n_classes; }

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
    a.first_q = j->detail == SCORES ? N_SCORES + j->n_measures : 0;
    int64_t words_of_row = a.first_q + j->n_classes;
    if (few && has_counts(words_of_row, j->n_classes)) a.first_count = words_of_row;
    a.row = round_up(words_of_row, row_unit(words_of_row));
    if (!few) a.first_q = round_up(a.first_q, WIDTH), a.row = round_up(a.first_q + j->n_classes, WIDTH);
    if (j->detail == FIRST) a.row = FIRST_WORDS;
    a.n_bins = j->n_edges + 2;
    a.copies = few && j->n_edges < 256 ? 4 : 1;
    if (a.copies > WIDTH) a.copies = WIDTH;
    int64_t cells = a.copies * j->n_measures * a.n_bins, scored = j->detail == SCORES;
    int64_t classes = scored ? a.copies * (j->n_classes + 1) : 0;
    uintptr_t memory = ((uintptr_t)j->arena + 63) & ~(uintptr_t)63;
    a.sums = take(&a, memory, 8 * cells * a.row);
    a.ranks = take(&a, memory, a.first_count || j->detail == FIRST ? 0 : 8 * cells * j->n_classes);
    int64_t heads = scored && few && j->n_measures && j->n_edges <= FEW_EDGES ? a.copies * a.n_bins * (j->n_classes + 1) : 0;
    a.heads = heads ? take(&a, memory, 8 * heads * HEAD) : 0;
    a.predicted = take(&a, memory, 8 * classes * HEAD);
    a.predicted_rows = take(&a, memory, 8 * classes);
    a.lane_sums = take(&a, memory, 8 * 3 * WIDTH);
    a.moment_sums = take(&a, memory, j->moments ? 8 * N_MOMENTS * WIDTH * j->n_events : 0);
    a.places = take(&a, memory, j->all_classes ? 8 * (few ? WIDTH * j->n_classes : round_up(j->n_classes, WIDTH)) : 0);
    a.chunk = round_up(CHUNK_BYTES / (j->n_classes * j->item) + 1, WIDTH);
    if (a.chunk > MOST_CHUNK) a.chunk = MOST_CHUNK;
    int64_t kept = j->has_top ? 8 * a.chunk : 0;
    a.largest = take(&a, memory, kept), a.more = take(&a, memory, kept), a.tied = take(&a, memory, kept);
    a.batches = take(&a, memory, j->n_events ? (int64_t)sizeof(event_batches) : 0);
    a.discarded = take(&a, memory, 16 * DISCARDED_CELLS);
    a.padded_rows = take(&a, memory, 8 * WIDTH * j->n_classes);
    a.padded_labels = take(&a, memory, 8 * WIDTH);
    a.lines = take(&a, memory, few ? 0 : line_count(j->n_classes) * WIDTH * 8);
    a.size += 64;
    return a;
}

/* Fills in where the cells of each class begin. If there are many classes, the last vector holds the last ones, and those among
 * them that were in the vector before are discarded. */
static void set_places(const job *j, const arena *a) {
    if (!j->all_classes) return;
    int few = j->n_classes <= NETWORK_CLASSES;
    int64_t n = few ? WIDTH * j->n_classes : round_up(j->n_classes, WIDTH), whole = j->n_classes / WIDTH * WIDTH;
    for (int64_t i = 0; i < n; i++) {
        int64_t class = few ? i % j->n_classes : i < whole ? i : i - (n - j->n_classes);
        int again = !few && i >= whole && class < whole;
        uint64_t *at = again ? a->discarded + 2 * (i % WIDTH) : j->cells + 2 * class * j->stride;
        a->places[i] = (uint64_t)(uintptr_t)at;
    }
}

typedef struct {
    int64_t *whole, *fraction, *rank_count, *bin_scores, *predicted_rows, *predicted_scores, *overall, *odd_rows;
    int64_t *split_whole, *split_fraction;
    int64_t n_bins;
} totals;

static totals totals_of(const job *j) {
    int64_t m = j->n_edges + 1, bins = j->n_measures * m, ranked = bins * n_columns(j);
    int64_t scores = j->detail == SCORES ? N_SCORES * 2 : 0, classes = j->detail == SCORES ? j->n_classes : 0;
    totals t = {.n_bins = m};
    t.whole = j->totals;
    t.fraction = t.whole + ranked + bins;
    t.rank_count = t.fraction + ranked + bins;
    t.bin_scores = t.rank_count + ranked;
    t.predicted_rows = t.bin_scores + bins * scores;
    t.predicted_scores = t.predicted_rows + classes;
    t.overall = t.predicted_scores + classes * scores;
    t.odd_rows = t.overall + (scores ? 6 : 0);
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

/* Empties words of scores into pairs of whole and fraction. */
static void empty_scores(uint64_t *words_of_scores, int64_t *to) {
    for (int s = 0; s < N_SCORES; s++, to += 2) {
        if (s == EXPECTED_MISSES) add_probability(to, to + 1, words_of_scores[s]);
        else add_units(to, to + 1, (int64_t)words_of_scores[s], LOG_SCORE_BITS);
        words_of_scores[s] = 0;
    }
}

/* The rows of a rank that are counted in the words of a row. */
INLINE uint64_t rows_of_rank(const uint64_t *counts, int64_t rank) {
    return counts[rank / COUNTS_IN_WORD] >> rank % COUNTS_IN_WORD * COUNT_BITS & ((1 << COUNT_BITS) - 1);
}

/* Empties bin m of measure k in one copy of the sums. */
static void empty_bin(const job *j, const arena *a, const totals *t, int64_t copy, int64_t k, int64_t m) {
    int64_t copied = (copy * j->n_measures + k) * a->n_bins + m, bin = k * t->n_bins + m, n = j->n_classes;
    int64_t *whole = t->whole + bin * (n + 1), *fraction = t->fraction + bin * (n + 1), *rank_count = t->rank_count + bin * n;
    uint64_t *ranks = a->ranks + copied * n, *sums = a->sums + copied * a->row, *q = sums + a->first_q, count = 0;
    for (int64_t c = 0; c < n; c++) {
        uint64_t rows = a->first_count ? rows_of_rank(sums + a->first_count, c) : ranks[c];
        count += rows, rank_count[c] += (int64_t)rows;
    }
    if (count == 0) return;
    if (j->detail == SCORES) empty_scores(sums, t->bin_scores + bin * N_SCORES * 2);
    for (int64_t c = 0; c < n; c++) add_probability(whole + c, fraction + c, q[c] - count * ONE_BITS);
    if (j->detail == SCORES) add_probability(whole + n, fraction + n, sums[N_SCORES + k] - count * ONE_BITS);
    for (int64_t c = 0; c < n && !a->first_count; c++) ranks[c] = 0;
    for (int64_t c = 0; c < a->row; c++) sums[c] = 0;
}

/* Empties the sums of a predicted class in one copy of them. */
static void empty_class(const job *j, const arena *a, const totals *t, int64_t copy, int64_t class) {
    int64_t copied = copy * (j->n_classes + 1) + class;
    if (a->predicted_rows[copied] == 0) return;
    t->predicted_rows[class] += (int64_t)a->predicted_rows[copied], a->predicted_rows[copied] = 0;
    empty_scores(a->predicted + copied * HEAD, t->predicted_scores + class * N_SCORES * 2);
}

/* Empties the sums of powers and logarithms of all events, of at most MOST_CHUNK rows. */
static void empty_moments(const job *j, const arena *a) {
    for (int64_t k = 0; k < j->n_events; k++)
        for (int m = 0; m < N_MOMENTS; m++)
            for (int lane = 0; lane < WIDTH; lane++) {
                uint64_t *units = a->moment_sums + (k * N_MOMENTS + m) * WIDTH + lane;
                int64_t *to = j->moments + k * MOMENT_WORDS + 2 * m;
                if (m == N_MOMENTS - 1) add_units(to, to + 1, (int64_t)*units, LOG_SCORE_BITS);
                else add_probability(to, to + 1, *units);
                *units = 0;
            }
}

/* Adds what one copy has by bin of the first measure and predicted class to the sums of that bin and of the classes. */
static void empty_heads(const job *j, const arena *a, int64_t copy, int64_t bin) {
    int64_t classes = j->n_classes + 1;
    uint64_t *heads = a->heads + (copy * a->n_bins + bin) * classes * HEAD, *predicted = a->predicted + copy * classes * HEAD;
    uint64_t *sums = a->sums + (copy * j->n_measures * a->n_bins + bin) * a->row;
    for (int w = 0; w < HEAD; w += WIDTH) {
        words sum = load_words(sums + w);
        for (int64_t class = 0; class < j->n_classes; class++) {
            uint64_t *head = heads + class * HEAD + w, *to = predicted + class * HEAD + w;
            words added = load_words(head);
            sum += added;
            store_words(load_words(to) + added, to); /* what is behind the scores of a class is not used */
            store_words(same_words(0), head);
        }
        store_words(sum, sums + w);
    }
}

/* Empties the sums of the first rank alone: the largest probability and the rows. */
static void empty_firsts(const arena *a, const totals *t) {
    for (int64_t copied = 0; copied < a->copies * a->n_bins; copied++) {
        int64_t m = copied % a->n_bins;
        uint64_t *sums = a->sums + copied * FIRST_WORDS, rows = sums[1] & UINT32_MAX, right = sums[1] >> 32;
        if (m < t->n_bins && rows) {
            add_probability(t->whole + 3 * m, t->fraction + 3 * m, sums[0] - rows * ONE_BITS);
            t->rank_count[2 * m] += (int64_t)right, t->rank_count[2 * m + 1] += (int64_t)(rows - right);
        }
        sums[0] = sums[1] = 0;
    }
}

/* Empties all sums since the last time, of at most MOST_UNITS rows in each word. */
static void empty_sums(const job *j, const arena *a, const totals *t) {
    if (j->detail == FIRST) {
        empty_firsts(a, t);
        return;
    }
    for (int64_t copy = 0; copy < a->copies; copy++) {
        for (int64_t m = 0; m < t->n_bins && a->heads; m++) empty_heads(j, a, copy, m);
        for (int64_t k = 0; k < j->n_measures; k++)
            for (int64_t m = 0; m < t->n_bins; m++) empty_bin(j, a, t, copy, k, m);
        for (int64_t class = 0; class < j->n_classes && j->detail == SCORES; class++) empty_class(j, a, t, copy, class);
    }
    if (j->detail != SCORES) return;
    for (int lane = 0; lane < WIDTH; lane++) {
        uint64_t *log_likelihood = a->lane_sums + lane, *p = log_likelihood + WIDTH, *square = p + WIDTH;
        add_units(t->overall, t->overall + 1, (int64_t)*log_likelihood, LOG_SCORE_BITS);
        add_probability(t->overall + 2, t->overall + 3, *p);
        add_probability(t->overall + 4, t->overall + 5, *square);
        *log_likelihood = *p = *square = 0;
    }
}

#endif
