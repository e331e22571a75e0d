/* Runs the kernels without Python: reads jobs from standard input, and writes their results to standard output.
 *
 * `kernel_jobs.py` writes the jobs and says how. Each array is a block of memory of its own and ends with it, so that a
 * sanitizer sees an access beyond. With FREESTANDING the program needs no C library. */
#include "job.h"

int64_t trueness_level(int64_t wish);
int64_t trueness_arena(const job *j);
int64_t trueness_sum(job *j);
int64_t trueness_measure(job *j, double *v);

#ifdef FREESTANDING

static long call(long number, long a, long b, long c) {
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = 0x22, x4 __asm__("x4") = -1, x5 __asm__("x5") = 0;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    return x0;
}
static long read(int file, void *to, long n) { return call(63, file, (long)to, n); }
static long write(int file, const void *from, long n) { return call(64, file, (long)from, n); }
static void exit(int code) { call(93, code, 0, 0); }
static void *malloc(long n) { return (void *)call(222, 0, n, 3); } /* mmap of private, anonymous memory */
static void free(void *at) { (void)at; }

/* Compilers turn loops into calls of these. */
void *memcpy(void *to, const void *from, unsigned long n) {
    for (unsigned long i = 0; i < n; i++) ((volatile char *)to)[i] = ((const char *)from)[i];
    return to;
}
void *memset(void *to, int value, unsigned long n) {
    for (unsigned long i = 0; i < n; i++) ((volatile char *)to)[i] = (char)value;
    return to;
}

#else
#include <stdlib.h>
#include <unistd.h>
#endif

static void give_up(int code) {
    exit(code);
    __builtin_trap();
}

static int is_at_end; /* whether the input ended where a job would begin */

static void take(void *to, int64_t n) {
    for (int64_t done = 0; done < n;) {
        long more = read(0, (char *)to + done, n - done);
        if (more <= 0) {
            is_at_end = done == 0;
            if (more < 0 || done > 0) give_up(3);
            return;
        }
        done += more;
    }
}

static void put(const void *from, int64_t n) {
    for (int64_t done = 0; done < n;) {
        long more = write(1, (const char *)from + done, n - done);
        if (more <= 0) give_up(4);
        done += more;
    }
}

static int64_t number(void) {
    int64_t n = 0;
    take(&n, 8);
    return n;
}

static char *block(int64_t n) {
    char *made = malloc(n > 0 ? n : 1);
    if (!made) give_up(5);
    return made;
}

typedef struct {
    char *whole, *data;
} array;

/* An array of the job: its length in bytes or -1 for none, how far it is from an aligned address, and its bytes. */
static array taken_array(void) {
    int64_t n = number(), shift = number();
    if (n < 0) return (array){0, 0};
    array a = {.whole = block(shift + n)};
    a.data = a.whole + shift;
    take(a.data, n);
    return a;
}

static void zero(char *at, int64_t n) {
    for (int64_t i = 0; i < n; i++) at[i] = 0;
}

/* One job; 0 if there is none. */
static int run(void) {
    int64_t to_sum = number();
    if (is_at_end) return 0;
    trueness_level(number());
    job j;
    if (number() != sizeof j) give_up(6);
    take(&j, sizeof j);
    array rows = taken_array(), labels = taken_array(), logits = taken_array(), edges = taken_array(), guesses = taken_array();
    array events = taken_array(), thresholds = taken_array();
    j.rows = rows.data, j.labels = (int64_t *)labels.data, j.logits = (double *)logits.data;
    j.edges = (double *)edges.data, j.guesses = (int64_t *)guesses.data;
    j.events = (int64_t *)events.data, j.thresholds = (double *)thresholds.data;
    int64_t n_totals = 8 * number(), n_cells = 8 * number(), n_moments = 8 * number();
    j.cells = (uint64_t *)block(n_cells), zero((char *)j.cells, n_cells);
    char *moments = block(n_moments);
    zero(moments, n_moments);
    j.moments = n_moments ? (int64_t *)moments : 0;
    int64_t n_arena = trueness_arena(&j), n_underflowed = 8 * UNDERFLOWED_WORDS * j.n_rows;
    j.arena = block(n_arena), zero(j.arena, n_arena);
    j.totals = (int64_t *)block(n_totals), zero((char *)j.totals, n_totals);
    j.underflowed = (int64_t *)block(n_underflowed), zero((char *)j.underflowed, n_underflowed);
    double *values = (double *)block(8 * j.n_rows);
    zero((char *)values, 8 * j.n_rows);
    int64_t first_bad = to_sum ? trueness_sum(&j) : trueness_measure(&j, values);
    put(&first_bad, 8);
    put(&j.n_underflowed, 8);
    put(j.underflowed, 8 * UNDERFLOWED_WORDS * j.n_underflowed);
    put(j.totals, n_totals);
    put(j.cells, n_cells);
    put(moments, n_moments);
    if (!to_sum && first_bad < 0) put(values, 8 * j.n_rows);
    char *all[] = {rows.whole, labels.whole, logits.whole, edges.whole, guesses.whole, events.whole, thresholds.whole,
                   (char *)j.cells, moments, j.arena, (char *)j.totals, (char *)j.underflowed, (char *)values};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    return 1;
}

int main(void) {
    while (run()) {}
    return 0;
}

#ifdef FREESTANDING
void _start(void) { exit(main()); }
#endif
