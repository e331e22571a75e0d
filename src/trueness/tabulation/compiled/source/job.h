/* What Python hands over: where rows lie, how they are binned, and where sums are kept.
 *
 * Every field takes eight bytes. `trueness/tabulation/compiled/library.py` declares the same fields in the same order. */
#ifndef TRUENESS_JOB_H
#define TRUENESS_JOB_H

#include <stdint.h>

enum { ABI = 2 };

enum { ENTROPY = 0, CONFIDENCE = 1 }; /* kinds of measures */

enum {
    MAX_MEASURES = 2,
    NETWORK_CLASSES = 15, /* up to so many classes rows are sorted in registers, beyond in memory */
    FEW_EDGES = 32,       /* up to so many edges a value is compared with all of them */
    GUESSES = 4096,       /* beyond, a table of so many cells gives the first bin that a value can be in */
    BLOCK = 16,           /* lines that are sorted in registers */
    UNDERFLOWED_WORDS = 2 + MAX_MEASURES
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

    int64_t n_measures;
    int64_t kinds[MAX_MEASURES];
    int64_t n_edges;
    const double *edges;    /* (measures, edges): V is above an edge if it exceeds it; filled up with infinity */
    const int64_t *guesses; /* (measures, GUESSES + 1), for many edges */
    double lows[MAX_MEASURES], scales[MAX_MEASURES]; /* the cell of V is (V - low) * scale */
    int64_t split;          /* whether tied ranks share the count */

    char *arena;     /* working memory, zero at first, of `trueness_arena` bytes */
    int64_t *totals; /* exact sums, zero at first: see totals.h */
    int64_t *underflowed; /* (n_rows, UNDERFLOWED_WORDS): rows from logits whose p_y is below 2^-1022, predicted class, bins */
    int64_t n_underflowed;
} job;

#endif
