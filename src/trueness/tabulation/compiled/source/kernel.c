/* All kernels for one instruction set: compiled once for each LEVEL, and chosen by dispatch.c. */
#include "events.h"
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
    lanes rows = above_words(same_words((uint64_t)valid), lane_numbers());
    if (any(both(rows, improper(j, s)))) return 1;
    doubles value = variation(j, j->kinds[0], entropy_of(s->entropy, j->n_classes), s->largest);
    for (int64_t r = 0; r < valid; r++) v[r] = value[r];
    return 0;
}

/* Takes in one class of each row for checks and the rank alone, in any order of classes. */
INLINE void check(swept *s, doubles x) {
    s->seen |= bits_of(x);
    s->sum += bits_of(x + 1.0);
    s->largest = larger(s->largest, x), s->smallest = smaller(s->smallest, x);
    s->more = counted(s->more, above(x, s->p)), s->at_least = counted(s->at_least, not_below(x, s->p));
}

/* Adds the events of the rows of a group, unless one of them is bad; whether one is. */
INLINE int add_checked(const loop *l, const swept *s, const group *g, int64_t first) {
    lanes rows = above_words(same_words((uint64_t)g->valid), lane_numbers());
    if (any(both(rows, improper(l->given, s)))) return 1;
    const outcomes o = {s->largest, is_first_rank(l, s->more, s->at_least - s->more, first, g->valid)};
    add_events(l, g, &o);
    return 0;
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

static int64_t (*const SUM_FEW[])(job *) = {FEW(sum_rows)};
static int64_t (*const COUNT_FEW[])(job *) = {FEW(count_rows)};
static int64_t (*const MEASURE_FEW[])(job *, double *) = {FEW(measure_rows)};

int64_t AT_LEVEL(arena_at_level_)(const job *j) { return arena_of(j).size; }

int64_t AT_LEVEL(sum_at_level_)(job *j) {
    int few = j->n_classes <= NETWORK_CLASSES;
    if (j->n_measures == 0) return few ? COUNT_FEW[j->n_classes](j) : j->item == 4 ? count_rows_floats(j) : count_rows_doubles(j);
    return few ? SUM_FEW[j->n_classes](j) : j->item == 4 ? sum_rows_floats(j) : sum_rows_doubles(j);
}

int64_t AT_LEVEL(measure_at_level_)(job *j, double *v) {
    if (j->n_classes <= NETWORK_CLASSES) return MEASURE_FEW[j->n_classes](j, v);
    return j->item == 4 ? measure_rows_floats(j, v) : measure_rows_doubles(j, v);
}
