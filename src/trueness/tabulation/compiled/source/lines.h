/* Rows of 16 classes and more: a group lies in lines of memory that stay in the cache, one vector for each class.
 *
 * A network for so many would not fit into registers. So a group is turned into lines; the lines are sorted there, swept once
 * for all sums over classes, and turned back while each row is added to its bin. Included once for each ITEM, 4 or 8 bytes. */

#if ITEM == 4
#define LINE floats
#define NAME(name) name##_floats
#define LARGER larger_floats
#define SMALLER smaller_floats
#define TRANSPOSE transpose_floats
#define WIDE(line) widened(line)
#define WIDE_BITS(line) (__builtin_convertvector((halves)(line), words) << 32)
#define LOAD(at) (*(const any_floats *)(at))
#else
#define LINE doubles
#define NAME(name) name##_doubles
#define LARGER larger
#define SMALLER smaller
#define TRANSPOSE transpose_doubles
#define WIDE(line) (line)
#define WIDE_BITS(line) ((words)(line))
#define LOAD(at) (*(const any_doubles *)(at))
#endif

#include "sorting.h"

/* A group into lines. */
INLINE void NAME(turn)(const job *j, const group *g, LINE *lines) {
    int by_columns = g->to_next_class != ITEM;
    for (int64_t at = 0; at < j->n_classes; at += WIDTH) {
        /* The last square may overlap the one before, so that no load reaches beyond its row. */
        int64_t first = at < j->n_classes - WIDTH ? at : j->n_classes - WIDTH;
        const char *place = g->rows + first * g->to_next_class;
        LINE square[WIDTH];
        if (by_columns) {
            UNROLL for (int k = 0; k < WIDTH; k++) square[k] = LOAD(place + k * g->to_next_class);
        } else {
            UNROLL for (int k = 0; k < WIDTH; k++) {
                square[k] = LOAD(place + k * g->to_next_row);
                __builtin_prefetch(place + (k + WIDTH) * g->to_next_row); /* the same classes of the next group */
            }
            TRANSPOSE(square);
        }
        /* -0 + 0 is 0: as bits, in which sorting may compare, -0 is below all other numbers. */
        UNROLL for (int k = 0; k < WIDTH; k++) lines[first + k] = square[k] + 0;
    }
}

/* All bits that are set in some probability; bit 62 too if their sum, which has 64 bits, may have wrapped round. */
INLINE words NAME(seen_bits)(const job *j, const LINE *lines) {
    words seen = {0};
    for (int64_t c = 0; c < j->n_classes; c++) seen |= WIDE_BITS(lines[c]);
    if (__builtin_expect(j->n_classes > MOST_ROWS, 0)) {
        doubles sum = {0};
        for (int64_t c = 0; c < j->n_classes; c++) sum += WIDE(lines[c]);
        seen |= select_words(above(sum, same_doubles(2.0)), same_words(TWO_BITS), same_words(0));
    }
    return seen;
}

/* All sums over classes of sorted lines. Two lines at a time go to sums of their own, so that none waits for itself. */
INLINE swept NAME(sweep_lines)(const job *j, const LINE *lines, doubles p) {
    swept s = nothing_swept(p), other = nothing_swept(p);
    int64_t n = j->n_classes;
    for (int64_t c = 0; c + 1 < n; c += 2) {
        sweep(&s, WIDE(lines[c]), 0);
        sweep(&other, WIDE(lines[c + 1]), 0);
    }
    if (n % 2) sweep(&s, WIDE(lines[n - 1]), 0);
    s.sum += other.sum, s.entropy += other.entropy, s.second_moment += other.second_moment;
    s.square += other.square, s.more += other.more, s.at_least += other.at_least;
    s.log_p = log2_of(p);
    s.largest = WIDE(lines[0]), s.smallest = WIDE(lines[n - 1]);
    return s;
}

/* Adds each row to its bin, and counts its rank. */
INLINE void NAME(add_lines)(const job *j, const arena *a, const concluded *c, const LINE *lines) {
    uint64_t *at[MAX_MEASURES][WIDTH];
    for (int k = 0; k < j->n_measures; k++) {
        words cells = cells_of(j, a, c, k), steps = bits_of(c->v[k] + 1.0);
        UNROLL for (int r = 0; r < WIDTH; r++) {
            at[k][r] = a->sums + cells[r] * (uint64_t)a->row;
            at[k][r][a->first_v + k] += steps[r];
            a->ranks[cells[r] * (uint64_t)j->n_classes + c->rank[r]]++;
        }
    }
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
        p[r] = ITEM == 4 ? (double)*(const any_float *)at : *(const any_double *)at;
    }
    return p;
}

/* Sums all rows; -1, or the first row of a group that holds a bad one. */
static int64_t NAME(sum_rows)(job *given) {
    const loop l = {given, arena_of(given), totals_of(given)};
    const job local = *given, *j = &local;
    const arena a = l.memory;
    LINE *lines = (LINE *)a.lines;
    int64_t groups_at_once = MOST_ROWS / WIDTH, waiting = 0, n_lines = round_up(j->n_classes, BLOCK);
    for (int64_t first = 0; first < j->n_rows; first += WIDTH) {
        group g = group_at(j, &l, first);
        NAME(turn)(j, &g, lines);
        words seen = NAME(seen_bits)(j, lines);
        NAME(sort_lines)(lines, n_lines);
        swept s = NAME(sweep_lines)(j, lines, NAME(true_probability)(&g));
        s.seen = seen;
        concluded c = conclude(j, &a, &l, &s, g.valid);
        if (__builtin_expect(c.is_bad, 0)) {
            /* What is below zero was sorted behind the zeros there. */
            for (int64_t k = j->n_classes; k < n_lines; k++) lines[k] = (LINE){0};
            empty_sums(given, &l.memory, &l.t);
            return first;
        }
        NAME(add_lines)(j, &a, &c, lines);
        if (__builtin_expect(c.is_odd, 0)) {
            const concluded copy = c;
            handle_odd_rows(&l, &copy, first, g.valid);
        }
        if (++waiting == groups_at_once) empty_sums(given, &l.memory, &l.t), waiting = 0;
    }
    empty_sums(given, &l.memory, &l.t);
    return -1;
}

/* V of each row by the first measure; -1, or the first row of a group that holds a bad one. */
static int64_t NAME(measure_rows)(job *given, double *v) {
    const loop l = {given, arena_of(given), totals_of(given)};
    const job local = *given, *j = &local;
    LINE *lines = (LINE *)l.memory.lines;
    for (int64_t first = 0; first < j->n_rows; first += WIDTH) {
        group g = group_at(j, &l, first);
        NAME(turn)(j, &g, lines);
        swept s = {.seen = NAME(seen_bits)(j, lines), .largest = WIDE(lines[0]), .smallest = WIDE(lines[0])};
        for (int64_t c = 0; c < j->n_classes; c++) measure(&s, WIDE(lines[c]));
        if (store_variation(j, &s, g.valid, v + first)) return first;
    }
    return -1;
}

#undef LINE
#undef NAME
#undef LARGER
#undef SMALLER
#undef TRANSPOSE
#undef WIDE
#undef WIDE_BITS
#undef LOAD
