/* Rows of 16 classes and more: a group lies in lines of memory that stay in the cache, one vector for each class.
 *
 * A network for so many would not fit into registers. So a group is turned into lines; the lines are sorted there, swept once
 * for all sums over classes, and turned back while each row is added to its bin. Included once for each ITEM, 4 or 8 bytes. */

#if ITEM == 4 && LEVEL == 4
#define LINE floats
#define BITS half_words
#define ANY_HUGE any_huge_half
#define NARROWED(p) narrowed(p)
#define COUNTED_ABOVE(n, a, b) counted_half(n, _mm256_cmp_ps_mask((__m256)(a), (__m256)(b), _CMP_GT_OQ))
#define COUNTED_NOT_BELOW(n, a, b) counted_half(n, _mm256_cmp_ps_mask((__m256)(a), (__m256)(b), _CMP_GE_OQ))
#define WIDE_COUNT(n) widened_count(n)
#define LARGER larger_floats
#define SMALLER smaller_floats
#define TRANSPOSE transpose_floats
#define WIDE(line) widened(line)
#define LOAD(at) (*(const any_floats *)(at))
#define EXCEEDS(a, b) _mm256_cmp_ps_mask((__m256)(a), (__m256)(b), _CMP_GT_OQ)
#define CHOOSE(where, a, b) ((half_words)_mm256_mask_blend_epi32(where, (__m256i)(b), (__m256i)(a)))
#define SAME_BITS(value) ((half_words){0} + (uint32_t)(value))
#else
#define LINE doubles
#define BITS words
#define ANY_HUGE any_huge
#define NARROWED(p) (p)
#define COUNTED_ABOVE(n, a, b) counted(n, above(a, b))
#define COUNTED_NOT_BELOW(n, a, b) counted(n, not_below(a, b))
#define WIDE_COUNT(n) (n)
#define LARGER larger
#define SMALLER smaller
#define TRANSPOSE transpose_doubles
#define WIDE(line) (line)
#define LOAD(at) load_item(at, ITEM)
#define EXCEEDS(a, b) above(a, b)
#define CHOOSE(where, a, b) select_words(where, a, b)
#define SAME_BITS(value) same_words((uint64_t)(value))
#endif

#if ITEM == 4
#define NAME(name) name##_floats
#else
#define NAME(name) name##_doubles
#endif

#include "sorting.h"

/* Of so many classes the sum in 64 bits could wrap round to 1. */
static int NAME(any_sum_above_2)(const job *j, const LINE *lines) {
    doubles sum = {0};
    for (int64_t c = 0; c < j->n_classes; c++) sum += WIDE(lines[c]);
    return any(above(sum, same_doubles(2.0)));
}

/* WIDTH classes of a group from the first one on, as lines. */
INLINE void NAME(load_square)(const group *g, int64_t first, LINE square[WIDTH]) {
    const char *place = g->rows + first * g->to_next_class;
    if (g->to_next_class != ITEM) { /* by columns */
        UNROLL for (int k = 0; k < WIDTH; k++) square[k] = LOAD(place + k * g->to_next_class);
    } else {
        UNROLL for (int k = 0; k < WIDTH; k++) {
            square[k] = LOAD(place + k * g->to_next_row);
            __builtin_prefetch(place + (k + WIDTH) * g->to_next_row); /* the same classes of the next group */
        }
        TRANSPOSE(square);
    }
    /* -0 + 0 is 0: as bits, in which sorting may compare, -0 is below all other numbers. */
    UNROLL for (int k = 0; k < WIDTH; k++) square[k] += 0;
}

/* The classes of a group from one on, of which there need not be a whole block, into lines. */
static BITS NAME(turn_rest)(const job *j, const group *g, int64_t begin, LINE *lines) {
    BITS seen = {0};
    for (int64_t at = begin; at < j->n_classes; at += WIDTH) {
        /* The last square may overlap the one before, so that no load reaches beyond its row. */
        int64_t first = at < j->n_classes - WIDTH ? at : j->n_classes - WIDTH;
        LINE square[WIDTH];
        NAME(load_square)(g, first, square);
        UNROLL for (int k = 0; k < WIDTH; k++) {
            if (first + k < at) continue;
            lines[first + k] = square[k], seen |= (BITS)square[k];
        }
    }
    return seen;
}

/* Whether some number is infinite, NaN, negative or at least 2, or the sum of a row is above 2. The sign is the bit above that of
 * huge numbers; negative ones would be sorted behind the zeros after the last class. */
INLINE int NAME(any_outside)(const job *j, const LINE *lines, BITS seen) {
    return ANY_HUGE(seen | seen >> 1) || (j->n_classes > MOST_UNITS && NAME(any_sum_above_2)(j, lines));
}

/* A group into lines; whether some number or sum is out of range. */
INLINE int NAME(turn)(const job *j, const group *g, LINE *lines) {
    return NAME(any_outside)(j, lines, NAME(turn_rest)(j, g, 0, lines));
}

/* The same, with each block of lines sorted before it is stored. The block that holds the largest number of each row, of equal
 * ones the first, goes to `block_of_largest`. */
INLINE int NAME(turn_and_sort_blocks)(const job *j, const group *g, LINE *lines, words *block_of_largest) {
    BITS seen = {0}, block = {0};
    LINE largest = {0};
    int64_t whole = j->n_classes / BLOCK * BLOCK;
    for (int64_t first = 0; first < whole; first += BLOCK) {
        LINE v[BLOCK];
        UNROLL for (int k = 0; k < BLOCK; k += WIDTH) NAME(load_square)(g, first + k, v + k);
        UNROLL for (int k = 0; k < BLOCK; k++) seen |= (BITS)v[k];
        NETWORK_16(EXCHANGE)
        UNROLL for (int k = 0; k < BLOCK; k++) lines[first + k] = v[k];
        block = CHOOSE(EXCEEDS(v[0], largest), SAME_BITS(first), block);
        largest = LARGER(largest, v[0]);
    }
    if (whole < j->n_classes) {
        seen |= NAME(turn_rest)(j, g, whole, lines);
        NAME(sort_block)(lines + whole);
        block = CHOOSE(EXCEEDS(lines[whole], largest), SAME_BITS(whole), block);
    }
    *block_of_largest = WIDE_COUNT(block);
    return NAME(any_outside)(j, lines, seen);
}

/* The class of the largest number of each row, of equal ones the first, which is in a known block. */
INLINE words NAME(predicted_class)(const job *j, const group *g, words block, doubles largest) {
    int64_t first[WIDTH], last = j->n_classes - BLOCK;
    double most[WIDTH];
    store_words(block, first), store_doubles(largest, most); /* lanes are taken from memory one by one */
    UNROLL for (int r = 0; r < WIDTH; r++) {
        /* As many classes as a block has, all of them of this row, even if fewer begin at the block. */
        if (first[r] > last) first[r] = last;
        const char *at = g->rows + r * g->to_next_row + first[r] * g->to_next_class;
        unsigned found = 1u << BLOCK;
        UNROLL for (int c = 0; c < BLOCK; c += WIDTH) {
            doubles x;
            if (g->to_next_class == ITEM) x = load_item(at + c * ITEM, ITEM);
            else UNROLL for (int k = 0; k < WIDTH; k++) x[k] = load_one(at + (c + k) * g->to_next_class, ITEM);
            found |= bit_per_lane(not_below(x, same_doubles(most[r]))) << c;
        }
        first[r] += __builtin_ctz(found);
    }
    return load_words(first);
}

/* All sums over classes of sorted lines. Of each line the logarithms are begun and ranks counted two lines before it is added up:
 * the processor does not look so far ahead by itself. */
INLINE swept NAME(sweep_lines)(const job *j, const LINE *lines, doubles p, words predicted, int scores) {
    swept s = nothing_swept(p, predicted);
    LINE narrow = NARROWED(p);
    BITS more = {0}, at_least = {0};
    words steps;
    int64_t n = j->n_classes;
    doubles q[3];
    reduced r[3];
#define BEGIN(k, line)                                  \
    q[k] = WIDE(line), r[k] = reduce(q[k]);             \
    more = COUNTED_ABOVE(more, line, narrow);           \
    at_least = COUNTED_NOT_BELOW(at_least, line, narrow);
#define END(k) sweep(&s, q[k], r[k], &steps, scores);
    BEGIN(0, lines[0])
    BEGIN(1, lines[1])
    for (int64_t c = 2; c + 1 < n; c += 2) {
        BEGIN(2, lines[c])
        END(0)
        q[0] = q[2], r[0] = r[2];
        BEGIN(2, lines[c + 1])
        END(1)
        q[1] = q[2], r[1] = r[2];
    }
    END(0)
    END(1)
    if (n % 2) {
        BEGIN(0, lines[n - 1])
        END(0)
    }
#undef BEGIN
#undef END
    s.more = WIDE_COUNT(more), s.at_least = WIDE_COUNT(at_least);
    if (scores) s.log_p = log2_of(p);
    s.largest = WIDE(lines[0]), s.smallest = WIDE(lines[n - 1]);
    return s;
}

/* Adds scores and V of each row to its bins, and scores to its predicted class, if there are scores; counts both. Where the probabilities of each
 * row are added, for each measure. */
INLINE void NAME(add_heads)(
    const job *j, const arena *a, const concluded *c, uint64_t *at[MAX_MEASURES][WIDTH], int scores) {
    words classes = scores ? classes_of(j, a, c) : same_words(0), cells[MAX_MEASURES];
    for (int k = 0; k < j->n_measures; k++) cells[k] = cells_of(j, a, c, k);
    UNROLL for (int first = 0; first < N_SCORES + MAX_MEASURES && scores; first += WIDTH) {
        doubles square[WIDTH];
        UNROLL for (int i = 0; i < WIDTH; i++) {
            int word = first + i, v = word - N_SCORES;
            square[i] = (doubles)(v < 0 ? c->scores[word] : v < j->n_measures ? bits_of(c->v[v] + 1.0) : same_words(0));
        }
        transpose_doubles(square);
        UNROLL for (int r = 0; r < WIDTH; r++) {
            for (int k = 0; k < j->n_measures; k++) {
                if (first >= a->first_q) continue;
                uint64_t *to = a->sums + cells[k][r] * (uint64_t)a->row + first;
                store_words(load_words(to) + (words)square[r], to);
            }
            if (first >= N_SCORES) continue;
            uint64_t *to = a->predicted + classes[r] * HEAD + first;
            store_words(load_words(to) + (words)square[r], to);
        }
    }
    UNROLL for (int r = 0; r < WIDTH; r++) {
        if (scores) a->predicted_rows[classes[r]]++;
        for (int k = 0; k < j->n_measures; k++) {
            at[k][r] = a->sums + cells[k][r] * (uint64_t)a->row + a->first_q;
            a->ranks[cells[k][r] * (uint64_t)j->n_classes + c->rank[r]]++;
        }
    }
}

/* Adds each row to its bins and to its predicted class, and counts its rank. */
INLINE void NAME(add_lines)(const job *j, const arena *a, const concluded *c, const LINE *lines, int scores) {
    uint64_t *at[MAX_MEASURES][WIDTH];
    NAME(add_heads)(j, a, c, at, scores);
    for (int64_t first = 0; first < j->n_classes; first += WIDTH) {
        LINE square[WIDTH];
        UNROLL for (int k = 0; k < WIDTH; k++) square[k] = lines[first + k];
        TRANSPOSE(square);
        UNROLL for (int r = 0; r < WIDTH; r++) {
            words steps = bits_of(WIDE(square[r]) + 1.0);
            for (int k = 0; k < j->n_measures; k++)
                store_words(load_words(at[k][r] + first) + steps, at[k][r] + first);
        }
    }
}

INLINE doubles NAME(true_probability)(const group *g) {
    doubles p;
    UNROLL for (int r = 0; r < WIDTH; r++) {
        const char *at = g->rows + r * g->to_next_row + g->labels[r] * g->to_next_class;
        p[r] = load_one(at, ITEM);
    }
    return p;
}

/* Sums some rows; -1, or the first row of a group that holds a bad one. */
INLINE int64_t NAME(sum_in_lines)(const loop *given, int64_t begin, int64_t end, int64_t *groups, int scores) {
    const loop l = *given;
    const job local = *l.given, *j = &local;
    const arena a = l.memory;
    LINE *lines = (LINE *)a.lines;
    int64_t groups_at_once = MOST_UNITS / WIDTH, waiting = *groups;
    int64_t n_lines = round_up(j->n_classes, BLOCK);
    for (int64_t first = begin; first < end; first += WIDTH) {
        group g = group_at(j, &l, first);
        words block;
        int is_huge = NAME(turn_and_sort_blocks)(j, &g, lines, &block);
        NAME(sort_lines)(lines, n_lines);
        words predicted = scores ? NAME(predicted_class)(j, &g, block, WIDE(lines[0])) : block;
        swept s = NAME(sweep_lines)(j, lines, NAME(true_probability)(&g), predicted, scores);
        s.seen = same_words(is_huge ? HUGE_BIT : 0);
        concluded c = conclude(j, &a, &l, &s, g.valid, scores);
        if (__builtin_expect(c.is_bad, 0)) {
            /* What is below zero was sorted behind the zeros there. */
            for (int64_t k = j->n_classes; k < n_lines; k++) lines[k] = (LINE){0};
            return first;
        }
        NAME(add_lines)(j, &a, &c, lines, scores);
        if (__builtin_expect(c.is_odd, 0)) {
            const concluded copy = c;
            handle_odd_rows(&l, &copy, first, g.valid);
        }
        if (j->has_top) keep_top(&a, first - begin, s.largest, c.rank, c.tied);
        if (++waiting == groups_at_once) empty_sums(l.given, &l.memory, &l.t), waiting = 0;
    }
    *groups = waiting;
    return -1;
}

static int64_t NAME(sum_rows)(const loop *l, int64_t begin, int64_t end, int64_t *groups) {
    return NAME(sum_in_lines)(l, begin, end, groups, 1);
}

static int64_t NAME(sum_ranks)(const loop *l, int64_t begin, int64_t end, int64_t *groups) {
    return NAME(sum_in_lines)(l, begin, end, groups, 0);
}

#include "first_lines.h"

/* Checks some rows; -1, or the first row of a group that holds a bad one. */
static int64_t NAME(check_rows)(const loop *given, int64_t begin, int64_t end, int64_t *groups) {
    const loop l = *given;
    const job local = *l.given, *j = &local;
    LINE *lines = (LINE *)l.memory.lines;
    (void)groups;
    for (int64_t first = begin; first < end; first += WIDTH) {
        group g = group_at(j, &l, first);
        int is_huge = NAME(turn)(j, &g, lines);
        swept s = {.p = NAME(true_probability)(&g), .largest = WIDE(lines[0]), .smallest = WIDE(lines[0])};
        for (int64_t c = 0; c < j->n_classes; c++) check(&s, WIDE(lines[c]));
        s.seen = same_words(is_huge ? HUGE_BIT : 0);
        if (any_improper(j, &s, g.valid)) return first;
        if (j->has_top) keep_top(&l.memory, first - begin, s.largest, s.more, s.at_least - s.more);
    }
    return -1;
}

/* V of each row by the first measure; -1, or the first row of a group that holds a bad one. */
static int64_t NAME(measure_rows)(job *given, double *v) {
    const loop l = {.given = given, .memory = arena_of(given)};
    const job local = *given, *j = &local;
    LINE *lines = (LINE *)l.memory.lines;
    for (int64_t first = 0; first < j->n_rows; first += WIDTH) {
        group g = group_at(j, &l, first);
        int is_huge = NAME(turn)(j, &g, lines);
        swept s = {.seen = same_words(is_huge ? HUGE_BIT : 0), .largest = WIDE(lines[0]), .smallest = WIDE(lines[0])};
        for (int64_t c = 0; c < j->n_classes; c++) measure(&s, WIDE(lines[c]));
        if (store_variation(j, &s, g.valid, v + first)) return first;
    }
    return -1;
}

#undef EXCHANGE
#undef LINE
#undef NAME
#undef NARROWED
#undef COUNTED_ABOVE
#undef COUNTED_NOT_BELOW
#undef WIDE_COUNT
#undef LARGER
#undef SMALLER
#undef TRANSPOSE
#undef WIDE
#undef BITS
#undef ANY_HUGE
#undef LOAD
#undef EXCEEDS
#undef CHOOSE
#undef SAME_BITS
