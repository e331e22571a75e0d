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
    doubles v[CLASSES];
    words class[CLASSES];
    UNROLL for (int c = 0; c < CLASSES; c++) v[c] = x[c], class[c] = same_words((uint64_t)c);
    UNROLL for (int apart = 1; apart < CLASSES; apart *= 2)
        UNROLL for (int c = 0; c + apart < CLASSES; c += 2 * apart) {
            class[c] = select_words(above(v[c + apart], v[c]), class[c + apart], class[c]);
            v[c] = larger(v[c], v[c + apart]);
        }
    return class[0];
}

/* A group whose rows are still to be added: their words, one vector for each of them, and the places that they are added to. It
 * lies in memory until the next group is swept, so that nothing waits for the end of a long chain of operations. */
typedef struct {
    words scores[N_SCORES], v[MAX_MEASURES], steps[CLASSES], rank;
    uint64_t *heads[WIDTH], *classes[WIDTH], *predicted_rows[WIDTH];
    uint64_t *cells[MAX_MEASURES][WIDTH], *ranks[MAX_MEASURES][WIDTH];
} NAME(addition);

/* The words of a row: with scores these and V, then ordered probabilities, and counts of ranks if there is room for them. */
INLINE int NAME(words_of_row)(int scores, int n_measures) { return (scores ? N_SCORES + n_measures : 0) + CLASSES; }

INLINE int NAME(counts_in_row)(int scores, int n_measures) {
    return has_counts(NAME(words_of_row)(scores, n_measures), CLASSES);
}

/* Notes what is added of a group, but for the steps, and where. */
INLINE void NAME(note)(const job *j, const arena *a, const concluded *c, NAME(addition) *to, int scores) {
    if (scores) {
        words classes = classes_of(j, a, c);
        UNROLL for (int i = 0; i < N_SCORES; i++) to->scores[i] = c->scores[i];
        store_words(places_in(a->predicted_rows, classes, 1), to->predicted_rows);
        if (!a->heads) store_words(places_in(a->predicted, classes, HEAD), to->classes);
    }
    to->rank = c->rank;
    UNROLL for (int k = 0; k < MAX_MEASURES; k++) {
        if (k > 0 && (!scores || k == j->n_measures)) break;
        words cells = cells_of(j, a, c, k), places = places_in(a->sums, cells, (uint64_t)a->row);
        if (scores) to->v[k] = bits_of(c->v[k] + 1.0);
        store_words(places, to->cells[k]);
        if (!NAME(counts_in_row)(scores, 1) || (scores && !NAME(counts_in_row)(1, 2)))
            store_words(places_in(a->ranks, product(cells, CLASSES) + c->rank, 1), to->ranks[k]);
        if (k == 0 && scores)
            store_words(a->heads ? places_in(a->heads, heads_of(a, c, CLASSES), HEAD) : places, to->heads);
    }
}

/* One of the words of a row, of all rows. */
INLINE doubles NAME(word)(const NAME(addition) *of, int scores, int n_measures, int word) {
    int v = word - N_SCORES, q = scores ? v - n_measures : word, count = q - CLASSES;
    if (q < 0) return (doubles)(v < 0 ? of->scores[word] : of->v[v]);
    if (count < 0) return (doubles)of->steps[q];
    if (!NAME(counts_in_row)(scores, n_measures) || count >= count_words(CLASSES)) return (doubles)same_words(0);
    return (doubles)one_at(of->rank - (uint64_t)(count * COUNTS_IN_WORD), COUNT_BITS);
}

/* Adds each row to its bins and to its predicted class; by `heads`, if there are any, to one cell for both. */
INLINE void NAME(add_squares)(const arena *a, const NAME(addition) *of, int scores, int n_measures) {
    UNROLL for (int s = 0; s < (NAME(words_of_row)(scores, n_measures) + WIDTH - 1) / WIDTH; s++) {
        int is_head = scores && s * WIDTH < HEAD;
        doubles square[WIDTH];
        UNROLL for (int i = 0; i < WIDTH; i++) square[i] = NAME(word)(of, scores, n_measures, s * WIDTH + i);
        transpose_doubles(square);
        UNROLL for (int k = 0; k < n_measures; k++) {
            UNROLL for (int r = 0; r < WIDTH; r++)
                add_row((k == 0 && is_head ? of->heads[r] : of->cells[k][r]) + s * WIDTH, square[r]);
        }
        if (!is_head || a->heads) continue;
        UNROLL for (int r = 0; r < WIDTH; r++) add_row(of->classes[r] + s * WIDTH, square[r]);
    }
}

/* The same for rows that are half a vector: two of them are turned into one. */
INLINE void NAME(add_halves)(const NAME(addition) *of, int n_measures) {
#if WIDTH == 8
    doubles columns[4];
    half_row rows[WIDTH];
    UNROLL for (int i = 0; i < 4; i++) columns[i] = NAME(word)(of, 0, n_measures, i);
    turn_into_halves(columns, rows);
    UNROLL for (int k = 0; k < n_measures; k++)
        UNROLL for (int r = 0; r < WIDTH; r++) *(half_row *)of->cells[k][r] += rows[r];
#else
    (void)of, (void)n_measures;
#endif
}

/* Adds each row to the bins of so many measures and to its predicted class, and counts its rank. */
INLINE void NAME(add_to)(const arena *a, const NAME(addition) *of, int scores, int n_measures) {
    UNROLL for (int r = 0; r < WIDTH && scores; r++) ++*of->predicted_rows[r];
    if (!NAME(counts_in_row)(scores, n_measures)) {
        UNROLL for (int k = 0; k < n_measures; k++)
            UNROLL for (int r = 0; r < WIDTH; r++) ++*of->ranks[k][r];
    }
    if (row_unit(NAME(words_of_row)(scores, n_measures)) < WIDTH) NAME(add_halves)(of, n_measures);
    else NAME(add_squares)(a, of, scores, n_measures);
}

INLINE void NAME(add)(const job *j, const arena *a, const NAME(addition) *of, int scores) {
    if (!scores || j->n_measures == 1) NAME(add_to)(a, of, scores, 1);
    else NAME(add_to)(a, of, scores, 2);
}

/* A group as columns, each row in falling order, with the sums that are known before they are swept. */
INLINE swept NAME(load_ordered)(const job *j, const group *g, doubles x[CLASSES], int scores) {
    NAME(load)(j, g, x);
    UNROLL for (int k = 0; k < (CLASSES * WIDTH + 7) / 8; k++) __builtin_prefetch(g->rows + PREFETCH + 64 * k);
    swept s = nothing_swept(NAME(true_probability)(g, x), scores ? NAME(predicted_class)(x) : same_words(0));
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
INLINE int64_t NAME(sum_in_registers)(const loop *given, int64_t begin, int64_t end, int64_t *groups, int scores) {
    const loop l = *given;
    const job local = *l.given, *j = &local;
    const arena a = l.memory;
    int64_t groups_at_once = MOST_UNITS * a.copies / WIDTH, waiting = *groups;
    NAME(addition) additions[2];
    doubles x[CLASSES];
    group g = group_at(j, &l, begin);
    swept s = NAME(load_ordered)(j, &g, x, scores);
    for (int64_t first = begin; first < end; first += WIDTH) {
        int64_t turn = first / WIDTH & 1;
        NAME(addition) *next = &additions[turn], *last = &additions[1 - turn];
        UNROLL for (int c = 0; c < CLASSES; c++) {
            doubles log = sweep(&s, x[c], reduce(x[c]), &next->steps[c], scores);
            lanes reached = not_below(x[c], s.p);
            s.more = counted(s.more, above(x[c], s.p));
            s.at_least = counted(s.at_least, reached);
            if (scores) s.log_p = select_doubles(reached, log, s.log_p); /* the last one that is not below p is p itself */
        }
        if (__builtin_expect(first > begin, 1)) {
            NAME(add)(j, &a, last, scores);
            if (++waiting == groups_at_once) empty_sums(l.given, &l.memory, &l.t), waiting = 0;
        }
        /* The next group is loaded and sorted here: the processor does so while it waits for the end of the sums above. */
        const swept done = s;
        int64_t valid = g.valid;
        if (__builtin_expect(first + WIDTH < end, 1)) {
            g = group_at(j, &l, first + WIDTH);
            s = NAME(load_ordered)(j, &g, x, scores);
        }
        concluded c = conclude(j, &a, &l, &done, valid, scores);
        if (__builtin_expect(c.is_bad, 0)) return first;
        NAME(note)(j, &a, &c, next, scores);
        if (__builtin_expect(c.is_odd, 0)) {
            const concluded copy = c;
            handle_odd_rows(&l, &copy, first, valid);
        }
        if (j->has_top) keep_top(&a, first - begin, done.largest, c.rank, c.tied);
    }
    NAME(add)(j, &a, &additions[(end - 1) / WIDTH & 1], scores);
    if (++waiting == groups_at_once) empty_sums(l.given, &l.memory, &l.t), waiting = 0;
    *groups = waiting;
    return -1;
}

static int64_t NAME(sum_rows)(const loop *l, int64_t begin, int64_t end, int64_t *groups) {
    return NAME(sum_in_registers)(l, begin, end, groups, 1);
}

/* Without scores, which are wanted of one table only. */
static int64_t NAME(sum_ranks)(const loop *l, int64_t begin, int64_t end, int64_t *groups) {
    return NAME(sum_in_registers)(l, begin, end, groups, 0);
}

/* Sums the first rank of some rows; as `sum_rows`. */
static int64_t NAME(sum_firsts)(const loop *given, int64_t begin, int64_t end, int64_t *groups) {
    const loop l = *given;
    const job local = *l.given, *j = &local;
    const arena a = l.memory;
    int64_t groups_at_once = MOST_UNITS * a.copies / WIDTH, waiting = *groups;
    for (int64_t first = begin; first < end; first += WIDTH) {
        group g = group_at(j, &l, first);
        doubles x[CLASSES];
        NAME(load)(j, &g, x);
        UNROLL for (int k = 0; k < (CLASSES * WIDTH + 7) / 8; k++) __builtin_prefetch(g.rows + PREFETCH + 64 * k);
        top t = {.s = {.p = NAME(true_probability)(&g, x), .largest = x[0], .smallest = x[0]}};
        UNROLL for (int c = 0; c < CLASSES; c++) {
            t.s.seen |= bits_of(x[c]), t.s.sum += bits_of(x[c] + 1.0);
            t.s.largest = larger(t.s.largest, x[c]), t.s.smallest = smaller(t.s.smallest, x[c]);
            t.equal = counted(t.equal, not_below(x[c], t.s.p));
        }
        if (add_tops(j, &a, &l, &t, first, g.valid)) return first;
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
