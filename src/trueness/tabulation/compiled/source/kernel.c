/* All kernels for one instruction set: compiled once for each LEVEL, and chosen by dispatch.c. */
#include "events.h"
#include "first.h"
#include "group.h"
#include "networks.h"

/* Takes in one class of each row for V alone, in any order of classes. */
INLINE void measure(swept *s, doubles x) {
    s->sum += bits_of(x + 1.0);
    s->entropy += bits_of(1.0 - x * log2_of(x));
    s->largest = larger(s->largest, x), s->smallest = smaller(s->smallest, x);
}

/* Stores V of the rows of a group; whether one of them is bad. */
INLINE int store_variation(const job *j, const swept *s, int64_t valid, double *v) {
    if (any_improper(j, s, valid)) return 1;
    doubles value = variation(j, j->kinds[0], entropy_of(s->entropy, j->n_classes), s->largest);
    for (int64_t r = 0; r < valid; r++) v[r] = value[r];
    return 0;
}

/* Takes in one class of each row for checks and the rank alone, in any order of classes. */
INLINE void check(swept *s, doubles x) {
    s->sum += bits_of(x + 1.0);
    s->largest = larger(s->largest, x), s->smallest = smaller(s->smallest, x);
    s->more = counted(s->more, above(x, s->p)), s->at_least = counted(s->at_least, not_below(x, s->p));
}

#define CLASSES 2
#include "few.h"
#undef CLASSES
#define CLASSES 3
#include "few.h"
#undef CLASSES
#define CLASSES 4
#include "few.h"
#undef CLASSES
#define CLASSES 5
#include "few.h"
#undef CLASSES
#define CLASSES 6
#include "few.h"
#undef CLASSES
#define CLASSES 7
#include "few.h"
#undef CLASSES
#define CLASSES 8
#include "few.h"
#undef CLASSES
#define CLASSES 9
#include "few.h"
#undef CLASSES
#define CLASSES 10
#include "few.h"
#undef CLASSES
#define CLASSES 11
#include "few.h"
#undef CLASSES
#define CLASSES 12
#include "few.h"
#undef CLASSES
#define CLASSES 13
#include "few.h"
#undef CLASSES
#define CLASSES 14
#include "few.h"
#undef CLASSES
#define CLASSES 15
#include "few.h"
#undef CLASSES

#define ITEM 4
#include "lines.h"
#undef ITEM
#define ITEM 8
#include "lines.h"
#undef ITEM

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define AT_LEVEL(name) JOIN(name, LEVEL)

#define FEW(name) \
    0, 0, name##_2, name##_3, name##_4, name##_5, name##_6, name##_7, name##_8, name##_9, name##_10, name##_11, name##_12, \
        name##_13, name##_14, name##_15

typedef int64_t walk(const loop *, int64_t begin, int64_t end, int64_t *groups); /* over some rows */

static walk *const SUM_FEW[][NETWORK_CLASSES + 1] = {{FEW(sum_rows)}, {FEW(sum_ranks)}, {FEW(sum_firsts)}};
static walk *const SUM_FLOATS[] = {sum_rows_floats, sum_ranks_floats, sum_firsts_floats};
static walk *const SUM_DOUBLES[] = {sum_rows_doubles, sum_ranks_doubles, sum_firsts_doubles};
static walk *const CHECK_FEW[] = {FEW(check_rows)};
static int64_t (*const MEASURE_FEW[])(job *, double *) = {FEW(measure_rows)};

/* Sums all rows, and their events, of so many rows at a time that these are still in the cache then. */
static int64_t sum_all(job *j, walk *sum_some) {
    loop l = {j, arena_of(j), totals_of(j)};
    if (j->n_rows < FEW_ROWS) l.memory.heads = 0;
    int64_t at_once = j->n_events ? l.memory.chunk : j->n_rows, groups = 0, bad = -1;
    if (j->n_events) set_places(j, &l.memory);
    for (int64_t first = 0; first < j->n_rows && bad < 0; first += at_once) {
        int64_t end = j->n_rows - first < at_once ? j->n_rows : first + at_once;
        bad = sum_some(&l, first, end, &groups);
        if (j->n_events) add_events(&l, first, bad < 0 ? end : bad);
        if (j->moments) empty_moments(j, &l.memory);
    }
    if (j->n_events) add_waiting(l.memory.batches);
    empty_sums(j, &l.memory, &l.t);
    return bad;
}

int64_t AT_LEVEL(arena_at_level_)(const job *j) { return arena_of(j).size; }

int64_t AT_LEVEL(sum_at_level_)(job *j) {
    if (j->n_classes <= NETWORK_CLASSES)
        return sum_all(j, (j->n_measures ? SUM_FEW[j->detail] : CHECK_FEW)[j->n_classes]);
    if (j->item == 4) return sum_all(j, j->n_measures ? SUM_FLOATS[j->detail] : check_rows_floats);
    return sum_all(j, j->n_measures ? SUM_DOUBLES[j->detail] : check_rows_doubles);
}

int64_t AT_LEVEL(measure_at_level_)(job *j, double *v) {
    if (j->n_classes <= NETWORK_CLASSES) return MEASURE_FEW[j->n_classes](j, v);
    return j->item == 4 ? measure_rows_floats(j, v) : measure_rows_doubles(j, v);
}
