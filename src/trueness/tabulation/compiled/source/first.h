/* The first rank alone, for the error of the top label: the largest probability of each row, and whether its class is the true
 * one. Nothing is sorted, and no logarithm is needed. The measure is confidence. */
#ifndef TRUENESS_FIRST_H
#define TRUENESS_FIRST_H

#include "group.h"

/* Of each row of a group: the sums that are checked, and how many classes are as probable as the true one. */
typedef struct {
    swept s;     /* `seen`, `sum`, `largest`, `smallest` and `p` */
    words equal; /* of use in lanes where p is the largest */
} top;

/* Puts right the count of a row that is right only among equal classes. */
static void handle_tied_top(const loop *l, const concluded *c, const top *t, int lane, int64_t row) {
    const job *j = l->given;
    int64_t m = (int64_t)c->bins[0][lane], more, equal, before;
    if (t->s.p[lane] < t->s.largest[lane] || t->equal[lane] < 2) return;
    count_ties(j, row, j->labels[row], &more, &equal, &before);
    if (more || (before && !j->split)) { /* it was counted as right */
        l->t.rank_count[2 * m]--, l->t.rank_count[2 * m + 1]++;
        return;
    }
    if (!j->split || equal == 1) return;
    l->t.split_whole[2 * m]--;
    add_units(l->t.split_whole + 2 * m, l->t.split_fraction + 2 * m,
              (int64_t)(UNIT / (uint64_t)equal + UNIT % (uint64_t)equal), PROBABILITY_BITS);
}

/* Adds the rows of a group to their bins; whether one of them is bad, and then none is added. */
INLINE int add_tops(const job *j, const arena *a, const loop *l, const top *t, int64_t first, int64_t valid) {
    concluded c;
    lanes rows = above_words(same_words((uint64_t)valid), lane_numbers());
    if (__builtin_expect(any(both(rows, improper(j, &t->s))), 0)) return 1;
    c.v[0] = variation(j, CONFIDENCE, t->s.largest, t->s.largest);
    c.bins[0] = bins_of(j, l, 0, c.v[0], rows);
    lanes right = not_below(t->s.p, t->s.largest);
    words added = bits_of(t->s.largest + 1.0);
    words rows_and_right = select_words(right, same_words((UINT64_C(1) << 32) + 1), same_words(1));
    words places = places_in(a->sums, cells_of(j, a, &c, 0), FIRST_WORDS);
    uint64_t *to[WIDTH];
    uint64_t pairs[2 * WIDTH]; /* in memory, from which they are added one by one; the even lanes first */
    store_words(places, to);
    store_words(even_pairs(added, rows_and_right), pairs);
    store_words(odd_pairs(added, rows_and_right), pairs + WIDTH);
    UNROLL for (int r = 0; r < WIDTH; r++) *(pair *)to[r] += *(const pair *)(pairs + r % 2 * WIDTH + r / 2 * 2);
    if (__builtin_expect(any(both(rows, both(right, above_words(t->equal, same_words(1))))), 0)) {
        const concluded copy = c;
        const top tops = *t;
        for (int lane = 0; lane < valid; lane++) handle_tied_top(l, &copy, &tops, lane, first + lane);
    }
    return 0;
}

#endif
