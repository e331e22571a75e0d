/* Lines of memory sorted lane by lane: the rows of a group with any number of classes, downwards.
 *
 * Batcher's bitonic merge sort (Knuth, The Art of Computer Programming 3, 5.3.4), on whole vectors: sixteen lines at a time are
 * sorted in registers, then runs are merged, twice as long each time. A merge compares line i of both runs with line i from
 * their end, and then lines ever nearer to each other; several of these levels are done at once on lines in registers, so that
 * memory is walked over two or three times in a merge and not once for each level. Included once for each type of LINE. */

#define EXCHANGE(i, k)                            \
    {                                             \
        LINE low = SMALLER(v[i], v[k]);           \
        v[i] = LARGER(v[i], v[k]), v[k] = low;    \
    }

/* All lines of 2, 4, 8 or 16 from i on that are half as far apart, a quarter, and so on. */
#define NEAR_2(i) EXCHANGE(i, i + 1)
#define NEAR_4(i) EXCHANGE(i, i + 2) EXCHANGE(i + 1, i + 3) NEAR_2(i) NEAR_2(i + 2)
#define NEAR_8(i) \
    EXCHANGE(i, i + 4) EXCHANGE(i + 1, i + 5) EXCHANGE(i + 2, i + 6) EXCHANGE(i + 3, i + 7) NEAR_4(i) NEAR_4(i + 4)
#define NEAR_16(i)                                                                          \
    EXCHANGE(i, i + 8) EXCHANGE(i + 1, i + 9) EXCHANGE(i + 2, i + 10) EXCHANGE(i + 3, i + 11)     \
    EXCHANGE(i + 4, i + 12) EXCHANGE(i + 5, i + 13) EXCHANGE(i + 6, i + 14) EXCHANGE(i + 7, i + 15) \
    NEAR_8(i) NEAR_8(i + 8)

/* The first levels of a merge: lines as far from the beginning as from the end, then as above in both halves. */
#define MIRROR_4 EXCHANGE(0, 3) EXCHANGE(1, 2) NEAR_2(0) NEAR_2(2)
#define MIRROR_8 EXCHANGE(0, 7) EXCHANGE(1, 6) EXCHANGE(2, 5) EXCHANGE(3, 4) NEAR_4(0) NEAR_4(4)
#define MIRROR_16                                                                             \
    EXCHANGE(0, 15) EXCHANGE(1, 14) EXCHANGE(2, 13) EXCHANGE(3, 12)                           \
    EXCHANGE(4, 11) EXCHANGE(5, 10) EXCHANGE(6, 9) EXCHANGE(7, 8) NEAR_8(0) NEAR_8(8)

/* Loads n lines, the first half from `low` upwards and the second up to `high`, works on them and stores them again. */
#define ON_MIRRORED(n, work)                                                  \
    {                                                                         \
        LINE v[n];                                                            \
        UNROLL for (int64_t k = 0; k < n / 2; k++)                            \
            v[k] = low[k * apart], v[n - 1 - k] = high[-k * apart];           \
        work UNROLL for (int64_t k = 0; k < n / 2; k++)                       \
            low[k * apart] = v[k], high[-k * apart] = v[n - 1 - k];           \
    }

#define ON_NEAR(n, work)                                                      \
    {                                                                         \
        LINE v[n];                                                            \
        UNROLL for (int64_t k = 0; k < n; k++) v[k] = at[k * apart];          \
        work UNROLL for (int64_t k = 0; k < n; k++) at[k * apart] = v[k];     \
    }

/* The first levels of a merge, of so many lines of each of its parts. */
static void NAME(mirror)(LINE *low, LINE *high, int64_t begin, int64_t apart, int levels) {
    low += begin, high -= begin;
    if (levels == 2)
        for (int64_t i = begin; i < apart; i++, low++, high--) ON_MIRRORED(4, MIRROR_4)
    else if (levels == 3)
        for (int64_t i = begin; i < apart; i++, low++, high--) ON_MIRRORED(8, MIRROR_8)
    else
        for (int64_t i = begin; i < apart; i++, low++, high--) ON_MIRRORED(16, MIRROR_16)
}

/* Two or three further levels, of so many lines. */
static void NAME(near)(LINE *at, int64_t n, int64_t apart, int levels) {
    if (levels == 2)
        for (int64_t i = 0; i < n; i++, at++) ON_NEAR(4, NEAR_4(0))
    else
        for (int64_t i = 0; i < n; i++, at++) ON_NEAR(8, NEAR_8(0))
}

/* The last levels, of lines that follow each other, eight or sixteen at a time. */
static void NAME(nearest)(LINE *at, const LINE *end, int64_t size) {
    enum { apart = 1 };
    if (size == 8)
        for (; at < end; at += 8) ON_NEAR(8, NEAR_8(0))
    else
        for (; at < end; at += 16) ON_NEAR(16, NEAR_16(0))
}

static void NAME(sort_block)(LINE *at) {
    enum { apart = 1 };
    ON_NEAR(16, NETWORK_16(EXCHANGE))
}

/* All levels of a merge after the first ones, in parts of `size` lines. */
static void NAME(finish)(LINE *lines, int64_t first, int64_t end, int64_t size) {
    if (size <= 16) {
        NAME(nearest)(lines + first, lines + end, size);
        return;
    }
    int64_t apart = size == 32 ? 8 : size / 8;
    for (int64_t part = first; part < end; part += size) {
        int64_t beyond = end - apart - part;
        NAME(near)(lines + part, apart < beyond ? apart : beyond, apart, size == 32 ? 2 : 3);
        NAME(finish)(lines, part, part + size < end ? part + size : end, apart);
    }
}

/* Merges two sorted runs that lie together, the second of which may be cut short. What is in the cache is finished first. */
static void NAME(merge)(LINE *lines, int64_t first, int64_t run, int64_t n_lines) {
    int64_t last = first + 2 * run - 1, end = last + 1 < n_lines ? last + 1 : n_lines;
    /* Which levels are done together: such that 8 or 16 lines remain, for the last levels of all. */
    int64_t size = run == 16 ? 8 : run == 128 ? 16 : run / 4;
    int64_t beyond = first + run + size - n_lines;
    NAME(mirror)(lines + first, lines + last, beyond > 0 ? beyond : 0, size, run == 16 ? 2 : run == 128 ? 4 : 3);
    NAME(finish)(lines, first, end, size);
}

/* Sorts lines from the first on, at most so many of them, a power of two; blocks of them are sorted already. */
static void NAME(sort_some)(LINE *lines, int64_t first, int64_t most, int64_t n_lines) {
    if (most == BLOCK) return;
    NAME(sort_some)(lines, first, most / 2, n_lines);
    if (first + most / 2 >= n_lines) return;
    NAME(sort_some)(lines, first + most / 2, most / 2, n_lines);
    NAME(merge)(lines, first, most / 2, n_lines);
}

/* Sorts the first lines, of which there are a multiple of sixteen, with each sixteen sorted; those after them, up to a power of
 * two, are zero.
 *
 * All exchanges put larger numbers first, so that nothing would change where the second line is beyond the last. */
static void NAME(sort_lines)(LINE *lines, int64_t n_lines) {
    int64_t most = BLOCK;
    while (most < n_lines) most *= 2;
    NAME(sort_some)(lines, 0, most, n_lines);
}

#undef NEAR_2
#undef NEAR_4
#undef NEAR_8
#undef NEAR_16
#undef MIRROR_4
#undef MIRROR_8
#undef MIRROR_16
#undef ON_MIRRORED
#undef ON_NEAR
