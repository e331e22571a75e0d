/* What Python hands over: where rows lie, how they are binned, and where sums are kept.
 *
 * Every field takes eight bytes. `trueness/tabulation/compiled/library.py` declares the same fields in the same order. */
#ifndef TRUENESS_JOB_H
#define TRUENESS_JOB_H

#include <stdint.h>

enum { ABI = 10 };

enum { ENTROPY = 0, CONFIDENCE = 1 }; /* kinds of measures */

/* What is summed of each row: all there is; its ordered probabilities and the rank of the true class; or the largest
 * probability and whether its class is the true one. */
enum { SCORES = 0, RANKS = 1, FIRST = 2 };

enum { OTHER_GRID = 0, CLASS_GRID = 1, EVENT_GRID = 2 }; /* of the probabilities of events */

enum { TOP_LABEL = -1 }; /* in the place of a class: the event that the class of the largest probability is the true one */

enum {
    MAX_MEASURES = 2,
    NETWORK_CLASSES = 15, /* up to so many classes rows are sorted in registers, beyond in memory */
    FEW_EDGES = 32,       /* up to so many edges a value is compared with all of them */
    GUESSES = 4096,       /* beyond, a table of so many cells gives the first bin that a value can be in */
    BLOCK = 16,           /* lines that are sorted in registers */
    BATCH = 128,          /* probabilities of events that are added at a time */
    UNDERFLOWED_WORDS = 3 + MAX_MEASURES,
    FIRST_BITS = 38, /* of 1 + p, so many bits are left out of the second word of a cell: see events.h */
    ROWS_SHIFT = 38, /* and so many are below the number of rows there */
    N_MOMENTS = 5,                    /* of an event: sums of p^2, p^3, p^4, p y, and of logarithms in units of 2^-40 */
    MOMENT_WORDS = 2 * N_MOMENTS + 1  /* whole and fraction of each, and the number of impossible rows */
};

typedef struct {
    const char *rows; /* of float32 or float64 */
    int64_t item;     /* bytes of a probability */
    int64_t to_next_row, to_next_class; /* bytes */
    int64_t n_rows, n_classes;
    const int64_t *labels;
    const double *logits; /* (rows, classes), or NULL: they tell apart probabilities that have underflowed */

    int64_t slack;  /* how far the sum of a row may be from 1, in units of 2^-52 */
    double to_unit; /* ln 2 / ln C */
    double least;   /* 1 / C */

    int64_t detail; /* SCORES, RANKS or FIRST */
    int64_t n_measures;
    int64_t kinds[MAX_MEASURES];
    int64_t n_edges;
    const double *edges;    /* (measures, edges): V is above an edge if it exceeds it; filled up with infinity */
    const int64_t *guesses; /* (measures, GUESSES + 1), for many edges */
    double lows[MAX_MEASURES], scales[MAX_MEASURES]; /* the cell of V is (V - low) * scale */
    int64_t split;          /* whether tied ranks share the count */

    char *arena;     /* working memory, zero at first, of `trueness_arena` bytes */
    int64_t *totals; /* exact sums, zero at first: see totals.h */
    int64_t *underflowed; /* (n_rows, UNDERFLOWED_WORDS): rows from logits whose p_y is below
                             2^-1022, their varentropies, predicted classes and bins */
    int64_t n_underflowed;

    int64_t n_events;
    const int64_t *events; /* the class of each event, or TOP_LABEL */
    int64_t all_classes, has_top; /* whether they are all classes, in their order; whether one is TOP_LABEL */
    int64_t grid, n_cells;
    int64_t stride; /* cells from an event to the next: an odd number, so that theirs do not lie at the same places of pages */
    double parts;             /* p times this is above k/64 if p exceeds the threshold of k/60, or k/4096 and k/3600 */
    const double *thresholds; /* (n_cells - 1), in order */
    uint64_t *cells;  /* (2, events, stride, 2), zero at first: see events.h */
    int64_t *moments; /* (events, MOMENT_WORDS), zero at first, or NULL */
} job;

/* Rows by the units that they belong to. A run is rows of one unit that lie together. */
typedef struct {
    int64_t n_runs;
    const int64_t *starts, *stops; /* (n_runs): the first row of each, and the one after its last */
    const int64_t *units;  /* (n_runs): the unit of each, whose totals are at `job.totals + unit * n_words` */
    int64_t n_words;
    int64_t n_bins;        /* to which the cells of events are merged in the sums of units, if there are events */
    const int64_t *bin_of; /* (cells): the bin of each */
    int64_t *cells;        /* (4, events, cells): the sums of all rows, as `trueness_read_cells` finds them, or NULL */
    int64_t *of_units;     /* (units, 4, events, bins): those of each unit */
    uint64_t *before;      /* (events, bins, 4): the words of the cells of each bin before a run, zero at first */
} runs;

#endif
