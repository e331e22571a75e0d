/* Rows of CLASSES classes, a constant of at most 15: in registers from the first load to the last sum.
 *
 * A group is turned so that each class is one vector. The sorting network, logarithms, ranks and checks then work on all rows
 * at once; the ordered probabilities are turned back, and each row is added to its bin. Included once for each CLASSES. */

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(name) JOIN(name##_, CLASSES)
#define NETWORK JOIN(NETWORK_, CLASSES)
#define PREFETCH 2048 /* bytes ahead */

/* The columns of rows that lie in memory one after the other. */
INLINE void NAME(turn_rows)(const char *rows, int64_t to_next_row, int64_t item, doubles x[CLASSES]) {
#if CLASSES >= WIDTH
    /* The last square may overlap the one before, so that no load reaches beyond its row. */
    UNROLL for (int k = 0; k < (CLASSES + WIDTH - 1) / WIDTH; k++) {
        int first = k * WIDTH < CLASSES - WIDTH ? k * WIDTH : CLASSES - WIDTH;
        doubles square[WIDTH];
        UNROLL for (int r = 0; r < WIDTH; r++) square[r] = load_item(rows + r * to_next_row + first * item, item);
        transpose_doubles(square);
        UNROLL for (int c = 0; c < WIDTH; c++) x[first + c] = square[c];
    }
#elif LEVEL == 4
    /* The group as one run of memory, and its lanes put in order. */
    doubles run[CLASSES];
    (void)to_next_row; /* rows follow each other */
    UNROLL for (int k = 0; k < CLASSES; k++) run[k] = load_item(rows + k * WIDTH * item, item);
    UNROLL for (int c = 0; c < CLASSES; c++) {
        words place = lane_numbers() * CLASSES + (uint64_t)c;
        doubles column = run[0];
        UNROLL for (int k = 1; k < CLASSES; k++) {
            /* Lanes whose place is in run[k] come from there; others stay, but for those of run[0] in the first step. */
            words stay = k == 1 ? place & (WIDTH - 1) : lane_numbers();
            words at = select_words(equal_words(place / WIDTH, same_words((uint64_t)k)), (place & (WIDTH - 1)) + WIDTH, stay);
            column = (doubles)_mm512_permutex2var_pd((__m512d)column, (__m512i)at, (__m512d)run[k]);
        }
        x[c] = column;
    }
#else
    UNROLL for (int c = 0; c < CLASSES; c++) {
        const char *at = rows + c * item;
        double of_class[WIDTH];
        UNROLL for (int r = 0; r < WIDTH; r++) of_class[r] = load_one(at + r * to_next_row, item);
        x[c] = load_doubles(of_class);
    }
#endif
}

/* The columns of a group, wherever they lie. */
INLINE void NAME(load)(const job *j, const group *g, doubles x[CLASSES]) {
    if (g->to_next_class == j->item) { /* rows lie together */
        if (j->item == 4) NAME(turn_rows)(g->rows, g->to_next_row, 4, x);
        else NAME(turn_rows)(g->rows, g->to_next_row, 8, x);
    } else {
        UNROLL for (int c = 0; c < CLASSES; c++) x[c] = load_item(g->rows + c * g->to_next_class, j->item);
    }
}

/* The probability of the true class of each row. */
INLINE doubles NAME(true_probability)(const group *g, const doubles x[CLASSES]) {
    words label = load_words(g->labels);
    doubles p = x[0];
    UNROLL for (int c = 1; c < CLASSES; c++) p = select_doubles(equal_words(label, same_words((uint64_t)c)), x[c], p);
    return p;
}

/* The class of the largest probability of each row, of equal ones the first. */
INLINE words NAME(predicted_class)(const doubles x[CLASSES]) {
    doubles largest = x[0];
    words class = same_words(0);
    UNROLL for (int c = 1; c < CLASSES; c++) {
        lanes exceeds = above(x[c], largest);
        class = select_words(exceeds, same_words((uint64_t)c), class);
        largest = select_doubles(exceeds, x[c], largest);
    }
    return class;
}

/* The words of a row, in the order in which they are summed, turned so that each row is one vector: square s of them. */
INLINE void NAME(turn_back)(const concluded *c, const words steps[CLASSES], int n_measures, int s, doubles square[WIDTH]) {
    UNROLL for (int i = 0; i < WIDTH; i++) {
        int word = s * WIDTH + i, v = word - N_SCORES, q = v - n_measures;
        square[i] = (doubles)(v < 0 ? c->scores[word] : q < 0 ? bits_of(c->v[v] + 1.0) : q < CLASSES ? steps[q] : same_words(0));
    }
    transpose_doubles(square);
}

/* Adds each row to its bins and to its predicted class; by `heads`, if there are any, to one cell for both. */
INLINE void NAME(add_squares)(
    const arena *a, const concluded *c, const words steps[CLASSES], int n_measures, uint64_t cells[MAX_MEASURES][WIDTH],
    const uint64_t classes[WIDTH], const uint64_t heads[WIDTH]
) {
    UNROLL for (int s = 0; s < (N_SCORES + n_measures + CLASSES + WIDTH - 1) / WIDTH; s++) {
        int is_head = s * WIDTH < HEAD, by_class = is_head && !a->heads;
        doubles square[WIDTH];
        NAME(turn_back)(c, steps, n_measures, s, square);
        UNROLL for (int k = 0; k < n_measures; k++) {
            UNROLL for (int r = 0; r < WIDTH; r++) {
                uint64_t *at = k == 0 && is_head && a->heads ? a->heads + heads[r] * HEAD : a->sums + cells[k][r] * (uint64_t)a->row;
                store_words(load_words(at + s * WIDTH) + (words)square[r], at + s * WIDTH);
            }
        }
        if (!by_class) continue;
        UNROLL for (int r = 0; r < WIDTH; r++) { /* what is behind the scores is not used */
            uint64_t *at = a->predicted + classes[r] * HEAD + s * WIDTH;
            store_words(load_words(at) + (words)square[r], at);
        }
    }
}

/* Adds each row to its bins and to its predicted class, and counts its rank. */
INLINE void NAME(add)(const job *j, const arena *a, const concluded *c, const words steps[CLASSES]) {
    uint64_t cells[MAX_MEASURES][WIDTH] __attribute__((aligned(64))), rank[WIDTH] __attribute__((aligned(64)));
    uint64_t classes[WIDTH] __attribute__((aligned(64))), heads[WIDTH] __attribute__((aligned(64)));
    store_words(c->rank, rank);
    store_words(heads_of(a, c, CLASSES), heads);
    store_words(classes_of(j, a, c), classes);
    UNROLL for (int r = 0; r < WIDTH; r++) a->predicted_rows[classes[r]]++;
    UNROLL for (int k = 0; k < MAX_MEASURES; k++) {
        if (k > 0 && k == j->n_measures) break;
        store_words(cells_of(j, a, c, k), cells[k]);
        UNROLL for (int r = 0; r < WIDTH; r++) a->ranks[cells[k][r] * CLASSES + rank[r]]++;
    }
    if (j->n_measures == 1) NAME(add_squares)(a, c, steps, 1, cells, classes, heads);
    else NAME(add_squares)(a, c, steps, 2, cells, classes, heads);
}

/* A group as columns, each row in falling order, with the sums that are known before they are swept. */
INLINE swept NAME(load_ordered)(const job *j, const group *g, doubles x[CLASSES]) {
    NAME(load)(j, g, x);
    UNROLL for (int k = 0; k < (CLASSES * WIDTH + 7) / 8; k++) __builtin_prefetch(g->rows + PREFETCH + 64 * k);
    swept s = nothing_swept(NAME(true_probability)(g, x), NAME(predicted_class)(x));
    UNROLL for (int c = 0; c < CLASSES; c++) s.seen |= bits_of(x[c]);
#define EXCHANGE(i, k)                         \
    {                                          \
        doubles low = smaller(x[i], x[k]);     \
        x[i] = larger(x[i], x[k]), x[k] = low; \
    }
    NETWORK(EXCHANGE)
#undef EXCHANGE
    s.largest = x[0], s.smallest = x[CLASSES - 1];
    return s;
}

/* Sums some rows; -1, or the first row of a group that holds a bad one. */
static int64_t NAME(sum_rows)(const loop *given, int64_t begin, int64_t end, int64_t *groups) {
    const loop l = *given;
    const job local = *l.given, *j = &local;
    const arena a = l.memory;
    int64_t groups_at_once = MOST_ROWS * a.copies / WIDTH, waiting = *groups;
    doubles x[CLASSES];
    group g = group_at(j, &l, begin);
    swept s = NAME(load_ordered)(j, &g, x);
    for (int64_t first = begin; first < end; first += WIDTH) {
        words steps[CLASSES];
        UNROLL for (int c = 0; c < CLASSES; c++) {
            doubles log = sweep(&s, x[c], &steps[c]);
            lanes reached = not_below(x[c], s.p);
            s.more = counted(s.more, above(x[c], s.p));
            s.at_least = counted(s.at_least, reached);
            s.log_p = select_doubles(reached, log, s.log_p); /* the last one that is not below p is p itself */
        }
        /* The next group is loaded and sorted here: the processor does so while it waits for the end of the sums above. */
        const swept done = s;
        int64_t valid = g.valid;
        if (__builtin_expect(first + WIDTH < end, 1)) {
            g = group_at(j, &l, first + WIDTH);
            s = NAME(load_ordered)(j, &g, x);
        }
        concluded c = conclude(j, &a, &l, &done, valid);
        if (__builtin_expect(c.is_bad, 0)) return first;
        NAME(add)(j, &a, &c, steps);
        if (__builtin_expect(c.is_odd, 0)) {
            const concluded copy = c;
            handle_odd_rows(&l, &copy, first, valid);
        }
        if (j->has_top) keep_top(&a, first - begin, done.largest, c.rank, c.tied);
        if (++waiting == groups_at_once) empty_sums(l.given, &l.memory, &l.t), waiting = 0;
    }
    *groups = waiting;
    return -1;
}

/* Checks some rows; -1, or the first row of a group that holds a bad one. */
static int64_t NAME(check_rows)(const loop *given, int64_t begin, int64_t end, int64_t *groups) {
    const loop l = *given;
    const job local = *l.given, *j = &local;
    (void)groups;
    for (int64_t first = begin; first < end; first += WIDTH) {
        group g = group_at(j, &l, first);
        doubles x[CLASSES];
        NAME(load)(j, &g, x);
        swept s = {.p = NAME(true_probability)(&g, x), .largest = x[0], .smallest = x[0]};
        UNROLL for (int c = 0; c < CLASSES; c++) s.seen |= bits_of(x[c]), check(&s, x[c]);
        if (any_improper(j, &s, g.valid)) return first;
        if (j->has_top) keep_top(&l.memory, first - begin, s.largest, s.more, s.at_least - s.more);
    }
    return -1;
}

/* V of each row by the first measure; -1, or the first row of a group that holds a bad one. */
static int64_t NAME(measure_rows)(job *given, double *v) {
    const loop l = {.given = given, .memory = arena_of(given)};
    const job local = *given, *j = &local;
    for (int64_t first = 0; first < j->n_rows; first += WIDTH) {
        group g = group_at(j, &l, first);
        doubles x[CLASSES];
        NAME(load)(j, &g, x);
        swept s = {.largest = x[0], .smallest = x[0]};
        UNROLL for (int c = 0; c < CLASSES; c++) {
            s.seen |= bits_of(x[c]);
            measure(&s, x[c]);
        }
        if (store_variation(j, &s, g.valid, v + first)) return first;
    }
    return -1;
}

#undef NAME
#undef NETWORK
#undef PREFETCH
#undef JOIN
#undef JOIN_
