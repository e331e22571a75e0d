/* Jobs shared by several threads at once, for a sanitizer that sees races. Exits with 0 if each job was done exactly once. */
#include "sharing.h"

#include <pthread.h>

enum { CALLERS = 3, HELPERS = 3, ROUNDS = 3000, JOBS = 4 };

/* Counts how often a job was done; what it returns tells jobs apart. */
static int64_t count(job *j) {
    j->totals[0]++;
    return j->n_rows;
}

static int callers_left = CALLERS;

static void *be_helper(void *n_done) {
    while (__atomic_load_n(&callers_left, __ATOMIC_RELAXED)) *(int64_t *)n_done += help(20, count);
    return n_done;
}

static void *be_caller(void *n_wrong) {
    int64_t totals[JOBS] = {0}, bad[JOBS];
    job jobs[JOBS], *all[JOBS];
    for (int k = 0; k < JOBS; k++) jobs[k] = (job){.totals = totals + k, .n_rows = k}, all[k] = jobs + k;
    for (int round = 1; round <= ROUNDS; round++) {
        sum_shared(all, JOBS, bad, count);
        for (int k = 0; k < JOBS; k++) *(int64_t *)n_wrong += totals[k] != round || bad[k] != k;
    }
    __atomic_fetch_sub(&callers_left, 1, __ATOMIC_RELAXED);
    return n_wrong;
}

int main(void) {
    pthread_t callers[CALLERS], those[HELPERS];
    int64_t n_wrong[CALLERS] = {0}, n_done[HELPERS] = {0}, wrong = 0, done = 0;
    for (int k = 0; k < HELPERS; k++) pthread_create(those + k, 0, be_helper, n_done + k);
    for (int k = 0; k < CALLERS; k++) pthread_create(callers + k, 0, be_caller, n_wrong + k);
    for (int k = 0; k < CALLERS; k++) pthread_join(callers[k], 0), wrong += n_wrong[k];
    for (int k = 0; k < HELPERS; k++) pthread_join(those[k], 0), done += n_done[k];
    return wrong ? 1 : done ? 0 : 2; /* 2: no thread has helped */
}
