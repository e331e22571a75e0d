/* The functions that Python calls: each goes to the kernels for the best instruction set of this processor. */
#include "cpu.h"
#include "job.h"

#if defined(__x86_64__) || defined(_M_X64)
#include <xmmintrin.h>
#endif

#ifdef _WIN32
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

#define KERNELS(level)                      \
    int64_t arena_at_level_##level(const job *); \
    int64_t sum_at_level_##level(job *);    \
    int64_t measure_at_level_##level(job *, double *);

#ifdef TRUENESS_X86
KERNELS(2) KERNELS(3) KERNELS(4)
enum { LOWEST = 2 };
#define AT_LEVEL(name, ...) \
    (level == 4 ? name##4(__VA_ARGS__) : level == 3 ? name##3(__VA_ARGS__) : name##2(__VA_ARGS__))
#else
KERNELS(1)
enum { LOWEST = 1 };
#define AT_LEVEL(name, ...) name##1(__VA_ARGS__)
#endif

static int64_t level = -1;

EXPORT int64_t trueness_abi(void) { return ABI; }

/* The instruction set in use: 2, 3, 4 for x86-64-v2, -v3, -v4, 1 for NEON, 0 if this processor has none of them. A lower one may
 * be asked for, in tests; 0 asks for the best. */
EXPORT int64_t trueness_level(int64_t wish) {
    int64_t best = best_level();
    level = wish >= LOWEST && wish < best ? wish : best;
    return level;
}

/* Other libraries may have set the processor to flush subnormal numbers to zero, or to round otherwise: both would change
 * results. The usual mode is set here and theirs put back. */
#ifdef TRUENESS_X86
#define IN_USUAL_MODE(call)          \
    unsigned mode = _mm_getcsr();    \
    _mm_setcsr(0x1F80);              \
    int64_t result = call;           \
    _mm_setcsr(mode);                \
    return result
#else
#define IN_USUAL_MODE(call)                                       \
    uint64_t mode, usual = 0;                                     \
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));                \
    __asm__ volatile("msr fpcr, %0" ::"r"(usual) : "memory");     \
    int64_t result = call;                                        \
    __asm__ volatile("msr fpcr, %0" ::"r"(mode) : "memory");      \
    return result
#endif

/* Bytes of working memory for such rows. */
EXPORT int64_t trueness_arena(const job *j) { return AT_LEVEL(arena_at_level_, j); }

/* Sums all rows; -1, or the first row of a group that holds a bad one: those before it are summed. */
EXPORT int64_t trueness_sum(job *j) { IN_USUAL_MODE(AT_LEVEL(sum_at_level_, j)); }

/* V of each row by the first measure; -1, or the first row of a group that holds a bad one. */
EXPORT int64_t trueness_measure(job *j, double *v) { IN_USUAL_MODE(AT_LEVEL(measure_at_level_, j, v)); }

/* Counts values in equal cells: the cell of v is (v - low) * scale. Returns their number. */
EXPORT int64_t trueness_count(const double *v, int64_t n, double low, double scale, int64_t *cells) {
    for (int64_t i = 0; i < n; i++) cells[(int64_t)((v[i] - low) * scale)]++;
    return n;
}

/* Copies the values that lie in wanted cells, and returns their number. */
EXPORT int64_t trueness_gather(const double *v, int64_t n, double low, double scale, const char *wanted, double *found) {
    int64_t n_found = 0;
    for (int64_t i = 0; i < n; i++)
        if (wanted[(int64_t)((v[i] - low) * scale)]) found[n_found++] = v[i];
    return n_found;
}

/* What one cell of an event holds, see events.h. */
typedef struct {
    int64_t rows, whole, fraction;
} cell_content;

static cell_content content_of(const uint64_t *cell) {
    uint64_t rows = cell[1] >> ROWS_SHIFT, first_digits = cell[1] & ((UINT64_C(1) << ROWS_SHIFT) - 1);
    uint64_t units = cell[0] - rows * UINT64_C(0x3FF0000000000000);
    /* The sum of the first digits, times 2^38, is at most the sum that `units` is modulo 2^64, and not 2^64 less. */
    uint64_t wrapped = (first_digits >> (64 - FIRST_BITS)) + (units < first_digits << FIRST_BITS);
    return (cell_content){(int64_t)rows, (int64_t)((units >> 52) + (wrapped << 12)), (int64_t)(units & ((UINT64_C(1) << 52) - 1))};
}

/* The sums of all cells of events, (events, cells) each: rows, whole and fraction of the probabilities, and rows in which the
 * event was observed. Returns their number. */
EXPORT int64_t trueness_read_cells(const job *j, int64_t *rows, int64_t *whole, int64_t *fraction, int64_t *observed) {
    for (int64_t k = 0; k < j->n_events; k++)
        for (int64_t g = 0; g < j->n_cells; g++) {
            const uint64_t *cell = j->cells + 2 * (k * j->stride + g);
            cell_content without = content_of(cell), with = content_of(cell + 2 * j->n_events * j->stride);
            int64_t at = k * j->n_cells + g, sum = without.fraction + with.fraction;
            rows[at] = without.rows + with.rows, observed[at] = with.rows;
            whole[at] = without.whole + with.whole + (sum >> 52), fraction[at] = sum & ((INT64_C(1) << 52) - 1);
        }
    return j->n_events * j->n_cells;
}

/* Puts rows in the order of their units, those of a unit in the order that they have. `ends` of each unit, zero at first, becomes
 * the number of rows up to its last one. Returns the number of rows. */
EXPORT int64_t trueness_order(const int64_t *unit_of, int64_t n, int64_t n_units, int64_t *ends, int64_t *order) {
    int64_t first = 0;
    for (int64_t i = 0; i < n; i++) ends[unit_of[i]]++;
    for (int64_t u = 0; u < n_units; u++) {
        int64_t rows = ends[u];
        ends[u] = first, first += rows;
    }
    for (int64_t i = 0; i < n; i++) order[ends[unit_of[i]]++] = i;
    return n;
}

/* Counts the rows of each unit in addition to what `counts` holds. Returns the number of rows. */
EXPORT int64_t trueness_count_units(const int64_t *unit_of, int64_t n, int64_t *counts) {
    for (int64_t i = 0; i < n; i++) counts[unit_of[i]]++;
    return n;
}

/* The block of each row by its position, of a power of two of them: the last bits of SplitMix64. Positions are NULL if rows follow
 * each other from the first one on. Returns the number of rows. */
EXPORT int64_t trueness_row_blocks(const int64_t *positions, int64_t first, int64_t n, int64_t n_blocks, int64_t *blocks) {
    for (int64_t i = 0; i < n; i++) {
        uint64_t x = ((uint64_t)(positions ? positions[i] : first + i) + 1) * UINT64_C(0x9E3779B97F4A7C15);
        x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
        blocks[i] = (int64_t)((x ^ x >> 31) & (uint64_t)(n_blocks - 1));
    }
    return n;
}

/* A probability as bits, wherever it lies and whatever its type is elsewhere. */
typedef uint32_t bits_of_float __attribute__((aligned(1), may_alias));
typedef uint64_t bits_of_double __attribute__((aligned(1), may_alias));

enum { DEALT_AHEAD = 16 }; /* rows before one is copied, its place is fetched: the places of units are far apart */

/* Copies rows class by class. If the compiler knows the number of classes, it unrolls the loop over them. */
#define DEAL_ROWS(type, n_classes)                                                                       \
    for (int64_t i = 0; i < n; i++, from += to_next_row) {                                               \
        if (i + DEALT_AHEAD < n) {                                                                       \
            int64_t later = next[unit_of[i + DEALT_AHEAD]];                                              \
            __builtin_prefetch((type *)rows + (later + 1) * (n_classes) - 1, 1);                         \
            if (labels) __builtin_prefetch(labels + later, 1);                                           \
        }                                                                                                \
        int64_t place = next[unit_of[i]]++;                                                              \
        type *to = (type *)rows + place * (n_classes);                                                   \
        for (int64_t c = 0; c < (n_classes); c++) to[c] = *(const type *)(from + c * to_next_class);     \
        if (labels) labels[place] = given[i];                                                            \
    }

#define DEAL_ITEMS(type)                    \
    switch (j->n_classes) {                 \
    case 2: DEAL_ROWS(type, 2) break;       \
    case 3: DEAL_ROWS(type, 3) break;       \
    case 4: DEAL_ROWS(type, 4) break;       \
    default: DEAL_ROWS(type, j->n_classes)  \
    }

/* Copies rows, with their labels, to where the rows of their units lie together: the next one of a unit goes to the place that
 * `next` has for it. Rows are read in their order, which is many times as fast as reading those of a unit one after the other.
 * `labels` may be NULL if they lie there already. Returns the number of rows. */
EXPORT int64_t trueness_deal(const job *j, const int64_t *unit_of, int64_t *next, char *rows, int64_t *labels) {
    int64_t n = j->n_rows, to_next_row = j->to_next_row, to_next_class = j->to_next_class;
    const char *from = j->rows;
    const int64_t *given = j->labels;
    if (j->item == 4) {
        DEAL_ITEMS(bits_of_float)
    } else {
        DEAL_ITEMS(bits_of_double)
    }
    return n;
}

/* Adds what a cell holds to sums of rows, whole, fraction and observed rows, which are so many words apart. */
static void add_content(int64_t *to, int64_t apart, cell_content found, int64_t observed) {
    int64_t fraction = to[2 * apart] + found.fraction;
    to[0] += found.rows, to[apart] += found.whole + (fraction >> 52);
    to[2 * apart] = fraction & ((INT64_C(1) << 52) - 1), to[3 * apart] += observed;
}

/* Adds the cells of events of the rows since the last call to the bins of their unit. Cells keep what they have, since both words
 * of a cell are sums: those of a bin, less those that it had before, are those of the unit. */
static void add_to_unit(const job *run, const runs *r, int64_t *of_unit) {
    int64_t n_binned = run->n_events * r->n_bins, half = 2 * run->n_events * run->stride;
    uint64_t(*before)[4] = (uint64_t(*)[4])r->before;
    for (int64_t k = 0; k < run->n_events; k++)
        for (int64_t g = 0, bin = 0; bin < r->n_bins; bin++, before++) {
            uint64_t now[4] = {0, 0, 0, 0};
            for (; g < run->n_cells && r->bin_of[g] == bin; g++) {
                const uint64_t *cell = run->cells + 2 * (k * run->stride + g);
                now[0] += cell[0], now[1] += cell[1], now[2] += cell[half], now[3] += cell[half + 1];
            }
            uint64_t added[4];
            for (int i = 0; i < 4; i++) added[i] = now[i] - (*before)[i], (*before)[i] = now[i];
            if (!(added[1] | added[3])) continue; /* the second words have the numbers of rows */
            cell_content without = content_of(added), with = content_of(added + 2);
            cell_content both = {without.rows + with.rows, without.whole + with.whole, without.fraction + with.fraction};
            add_content(of_unit + k * r->n_bins + bin, n_binned, both, with.rows);
        }
}

/* Adds the cells of events to those of all rows, and sets them to zero. */
static void empty_cells(const job *run, const runs *r) {
    int64_t n = run->n_events * run->n_cells;
    for (int64_t k = 0; k < run->n_events; k++)
        for (int64_t g = 0; g < run->n_cells; g++) {
            uint64_t *cell = run->cells + 2 * (k * run->stride + g), *observed = cell + 2 * run->n_events * run->stride;
            if (!(cell[1] | observed[1])) continue;
            cell_content without = content_of(cell), with = content_of(observed);
            cell_content both = {without.rows + with.rows, without.whole + with.whole, without.fraction + with.fraction};
            add_content(r->cells + k * run->n_cells + g, n, both, with.rows);
            cell[0] = cell[1] = observed[0] = observed[1] = 0;
        }
    for (int64_t i = 0; i < 4 * run->n_events * r->n_bins; i++) r->before[i] = 0;
}

/* Sums each run into the totals of its unit; -1, or a number of at least 0 if there is a bad row. All runs together may have 2^24
 * rows, which fit in a cell. */
EXPORT int64_t trueness_sum_runs(job *given, const runs *r) {
    job run = *given;
    for (int64_t k = 0; k < r->n_runs; k++) {
        int64_t start = r->starts[k];
        run.rows = given->rows + start * given->to_next_row, run.labels = given->labels + start;
        run.n_rows = r->stops[k] - start, run.totals = given->totals + r->units[k] * r->n_words;
        int64_t bad = trueness_sum(&run);
        if (bad >= 0) return start + bad;
        if (r->cells) add_to_unit(&run, r, r->of_units + r->units[k] * 4 * given->n_events * r->n_bins);
    }
    if (r->cells) empty_cells(&run, r);
    given->n_underflowed = run.n_underflowed;
    return -1;
}
