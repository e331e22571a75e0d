/* Jobs that are shared with other threads, without waking one for each.
 *
 * Waking a thread takes as long as summing some ten thousand probabilities. A thread that has helped therefore looks for more jobs
 * for a moment before it leaves, as the threads of OpenMP do. The threads are Python's: they enter and leave `help`. The jobs that
 * wait for one are in a static table, so that a thread may look at it even while the interpreter ends. */
#ifndef TRUENESS_SHARING_H
#define TRUENESS_SHARING_H

#include "job.h"

/* The states of a place in the table. The caller sets all but TAKEN and DONE, which the helper sets. */
enum { FREE, FILLED, POSTED, TAKEN, DONE };

typedef struct {
    int64_t state;
    job *work;
    int64_t bad; /* what summing it returned */
} __attribute__((aligned(128))) place; /* two lines of the cache, which are fetched together */

static place places[MAX_SHARED];

static inline void pause_briefly(void) {
#ifdef TRUENESS_X86
    __builtin_ia32_pause();
#else
    __asm__ volatile("isb" ::: "memory");
#endif
}

static inline int64_t state_of(const place *p) { return __atomic_load_n(&p->state, __ATOMIC_ACQUIRE); }

static inline void set_state(place *p, int64_t state) { __atomic_store_n(&p->state, state, __ATOMIC_RELEASE); }

/* Whether the state was `from`; then it is `to` now. */
static inline int moved(place *p, int64_t from, int64_t to) {
    return state_of(p) == from && __atomic_compare_exchange_n(&p->state, &from, to, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Does jobs that are posted, until there was none for so many pauses. Returns their number. */
static int64_t help(int64_t n_pauses, int64_t sum(job *)) {
    int64_t n_done = 0;
    for (int64_t idle = 0; idle <= n_pauses; idle++, pause_briefly())
        for (int64_t k = 0; k < MAX_SHARED; k++) {
            if (!moved(places + k, POSTED, TAKEN)) continue;
            places[k].bad = sum(places[k].work);
            set_state(places + k, DONE);
            n_done++, idle = 0;
        }
    return n_done;
}

/* Posts a job; where, or NULL if there is no room. */
static place *post(job *work) {
    for (int64_t k = 0; k < MAX_SHARED; k++)
        if (moved(places + k, FREE, FILLED)) {
            places[k].work = work;
            set_state(places + k, POSTED);
            return places + k;
        }
    return 0;
}

/* Sums the rows of n jobs: the caller does the first, and those that no other thread has taken by then. `bad` has for each what
 * summing it returned. Returns the number of jobs that other threads have done. */
static int64_t sum_shared(job *const *jobs, int64_t n, int64_t *bad, int64_t sum(job *)) {
    int64_t n_helped = 0;
    place *posted[MAX_SHARED + 1];
    for (int64_t k = 1; k < n; k++) posted[k] = post(jobs[k]);
    bad[0] = sum(jobs[0]);
    for (int64_t k = 1; k < n; k++)
        if (!posted[k] || moved(posted[k], POSTED, FREE)) bad[k] = sum(jobs[k]), posted[k] = 0;
    for (int64_t k = 1; k < n; k++) {
        if (!posted[k]) continue;
        while (state_of(posted[k]) != DONE) pause_briefly();
        bad[k] = posted[k]->bad;
        set_state(posted[k], FREE);
        n_helped++;
    }
    return n_helped;
}

#endif
