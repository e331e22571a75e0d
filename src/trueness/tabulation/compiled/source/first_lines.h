/* The first rank of rows of 16 classes and more: a row that lies together is swept along its classes, and nothing is turned.
 *
 * Included once for each ITEM, by lines.h. */

#define AHEAD_OF_ROW 4096 /* bytes */

/* The sums over the classes of one row that lies together, each into its lane of `t`. */
INLINE void NAME(sweep_top)(const job *j, const char *row, int lane, top *t) {
    words seen = {0}, sum = {0};
    doubles largest = load_item(row, ITEM), smallest = largest;
    int64_t n = j->n_classes, whole = n / WIDTH * WIDTH;
    for (int64_t c = 0; c < whole; c += WIDTH) {
        doubles x = load_item(row + c * ITEM, ITEM);
        __builtin_prefetch(row + c * ITEM + AHEAD_OF_ROW);
        seen |= bits_of(x), sum += bits_of(x + 1.0);
        largest = larger(largest, x), smallest = smaller(smallest, x);
    }
    uint64_t rest = 0, all_seen = 0;
    double most = load_one(row, ITEM), least = most;
    for (int64_t c = whole; c < n; c++) {
        double x = load_one(row + c * ITEM, ITEM);
        rest += bits_of(same_doubles(x + 1.0))[0], all_seen |= bits_of(same_doubles(x))[0];
        most = x > most ? x : most, least = x < least ? x : least;
    }
    for (int k = 0; k < WIDTH; k++) {
        rest += sum[k], all_seen |= seen[k];
        most = largest[k] > most ? largest[k] : most, least = smallest[k] < least ? smallest[k] : least;
    }
    t->s.sum[lane] = rest, t->s.seen[lane] = all_seen, t->s.largest[lane] = most, t->s.smallest[lane] = least;
}

/* How many classes of a row that lies together are not less probable than p. */
static uint64_t NAME(count_equal)(const job *j, const char *row, double p) {
    words count = {0};
    int64_t n = j->n_classes, whole = n / WIDTH * WIDTH;
    for (int64_t c = 0; c < whole; c += WIDTH)
        count = counted(count, not_below(load_item(row + c * ITEM, ITEM), same_doubles(p)));
    uint64_t all = 0;
    for (int k = 0; k < WIDTH; k++) all += count[k];
    for (int64_t c = whole; c < n; c++) all += load_one(row + c * ITEM, ITEM) >= p;
    return all;
}

/* As `any_sum_above_2`, of a group that is not in lines. */
static int NAME(any_row_above_2)(const job *j, const group *g) {
    for (int64_t r = 0; r < WIDTH; r++) {
        const char *row = g->rows + r * g->to_next_row;
        double sum = 0;
        for (int64_t c = 0; c < j->n_classes; c++) sum += load_one(row + c * g->to_next_class, ITEM);
        if (sum > 2.0) return 1;
    }
    return 0;
}

/* What is needed of a group, wherever it lies. */
INLINE top NAME(top_of)(const job *j, const group *g) {
    top t = {.s = {.p = NAME(true_probability)(g)}};
    if (g->to_next_class == ITEM) {
        for (int r = 0; r < WIDTH; r++) NAME(sweep_top)(j, g->rows + r * g->to_next_row, r, &t);
        for (int r = 0; r < WIDTH; r++)
            if (t.s.p[r] >= t.s.largest[r]) t.equal[r] = NAME(count_equal)(j, g->rows + r * g->to_next_row, t.s.p[r]);
    } else {
        t.s.largest = t.s.smallest = load_item(g->rows, ITEM);
        for (int64_t c = 0; c < j->n_classes; c++) {
            doubles x = load_item(g->rows + c * g->to_next_class, ITEM);
            t.s.seen |= bits_of(x), t.s.sum += bits_of(x + 1.0);
            t.s.largest = larger(t.s.largest, x), t.s.smallest = smaller(t.s.smallest, x);
            t.equal = counted(t.equal, not_below(x, t.s.p));
        }
    }
    return t;
}

/* Sums the first rank of some rows; as `sum_rows`. */
static int64_t NAME(sum_firsts)(const loop *given, int64_t begin, int64_t end, int64_t *groups) {
    const loop l = *given;
    const job local = *l.given, *j = &local;
    const arena a = l.memory;
    int64_t groups_at_once = MOST_UNITS * a.copies / WIDTH, waiting = *groups;
    for (int64_t first = begin; first < end; first += WIDTH) {
        group g = group_at(j, &l, first);
        top t = NAME(top_of)(j, &g);
        if (j->n_classes > MOST_UNITS && NAME(any_row_above_2)(j, &g)) return first;
        if (add_tops(j, &a, &l, &t, first, g.valid)) return first;
        if (++waiting == groups_at_once) empty_sums(l.given, &l.memory, &l.t), waiting = 0;
    }
    *groups = waiting;
    return -1;
}

#undef AHEAD_OF_ROW
