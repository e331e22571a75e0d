/* Vectors of WIDTH numbers: one row a lane.
 *
 * Arithmetic is that of GCC's and Clang's vector extensions. What these lack, or compile badly, has an intrinsic for AVX-512
 * and AVX2. No result depends on WIDTH. */
#ifndef TRUENESS_VECTORS_H
#define TRUENESS_VECTORS_H

#include <stdint.h>

#if LEVEL == 4
#define WIDTH 8
#elif LEVEL == 3
#define WIDTH 4
#else
#define WIDTH 2
#endif

#if defined(__x86_64__) || defined(_M_X64)
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

typedef double doubles __attribute__((vector_size(8 * WIDTH)));
typedef float floats __attribute__((vector_size(4 * WIDTH)));
typedef uint64_t words __attribute__((vector_size(8 * WIDTH))); /* unsigned: sums may wrap round */
typedef int64_t ints __attribute__((vector_size(8 * WIDTH)));

/* The same at any address. */
typedef doubles any_doubles __attribute__((aligned(1), may_alias));
typedef floats any_floats __attribute__((aligned(1), may_alias));
typedef words any_words __attribute__((aligned(8), may_alias));
typedef double any_double __attribute__((aligned(1), may_alias));
typedef float any_float __attribute__((aligned(1), may_alias));

#define ONE_BITS UINT64_C(0x3FF0000000000000) /* the bits of 1.0; those of 1 + p are these plus p in units of 2^-52 */
#define TWO_BITS UINT64_C(0x4000000000000000)

INLINE doubles same_doubles(double value) { return value - (doubles){0}; } /* x - 0 is x, even if that is -0 */
INLINE words same_words(uint64_t value) { return (words){0} + value; }
INLINE doubles load_doubles(const void *at) { return *(const any_doubles *)at; }
INLINE doubles widened(floats value) {
#if LEVEL == 4
    return (doubles)_mm512_cvtps_pd((__m256)value);
#else
    return __builtin_convertvector(value, doubles);
#endif
}
INLINE doubles load_floats(const void *at) { return widened(*(const any_floats *)at); }
INLINE doubles load_item(const void *at, int64_t item) { return item == 4 ? load_floats(at) : load_doubles(at); }
INLINE double load_one(const void *at, int64_t item) {
    return item == 4 ? (double)*(const any_float *)at : *(const any_double *)at;
}
INLINE words load_words(const void *at) { return *(const any_words *)at; }
INLINE void store_words(words value, void *at) { *(any_words *)at = value; }
INLINE void store_doubles(doubles value, void *at) { *(any_doubles *)at = value; }
INLINE words bits_of(doubles value) { return (words)value; }

INLINE words lane_numbers(void) {
#if WIDTH == 8
    return (words){0, 1, 2, 3, 4, 5, 6, 7};
#elif WIDTH == 4
    return (words){0, 1, 2, 3};
#else
    return (words){0, 1};
#endif
}

/* Whether a number has bit 62 set: those below 2 in size have not, but larger ones, infinities and NaN have. */
#define HUGE_BIT UINT64_C(0x4000000000000000)

/* Conditions: `lanes` says for each lane whether one holds. */

#if LEVEL == 4

typedef __mmask8 lanes;
INLINE lanes above(doubles a, doubles b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ); }
INLINE lanes not_below(doubles a, doubles b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GE_OQ); }
INLINE lanes equal_words(words a, words b) { return _mm512_cmpeq_epi64_mask((__m512i)a, (__m512i)b); }
INLINE lanes above_words(words a, words b) { return _mm512_cmpgt_epu64_mask((__m512i)a, (__m512i)b); }
INLINE lanes both(lanes a, lanes b) { return a & b; }
INLINE lanes either(lanes a, lanes b) { return a | b; }
INLINE lanes except(lanes a, lanes b) { return a & (lanes)~b; }
INLINE int any(lanes a) { return a != 0; }
INLINE unsigned bit_per_lane(lanes a) { return a; }
INLINE words counted(words count, lanes where) { /* count + 1 in those lanes */
    __m512i one = _mm512_set1_epi64(1);
    __asm__("" : "+v"(one)); /* clang would make a vector of the lanes and subtract that */
    return (words)_mm512_mask_add_epi64((__m512i)count, where, (__m512i)count, one);
}
INLINE doubles select_doubles(lanes where, doubles a, doubles b) {
    return (doubles)_mm512_mask_blend_pd(where, (__m512d)b, (__m512d)a);
}
INLINE words select_words(lanes where, words a, words b) {
    return (words)_mm512_mask_blend_epi64(where, (__m512i)b, (__m512i)a);
}

#else

typedef words lanes; /* all bits of a lane, or none */
INLINE lanes above(doubles a, doubles b) { return (lanes)(a > b); }
INLINE lanes not_below(doubles a, doubles b) { return (lanes)(a >= b); }
INLINE lanes equal_words(words a, words b) { return (lanes)(a == b); }
INLINE lanes above_words(words a, words b) { return (lanes)(a > b); }
INLINE lanes both(lanes a, lanes b) { return a & b; }
INLINE lanes either(lanes a, lanes b) { return a | b; }
INLINE lanes except(lanes a, lanes b) { return a & ~b; }
INLINE words counted(words count, lanes where) { return count - where; }
#if LEVEL == 3
INLINE unsigned bit_per_lane(lanes a) { return (unsigned)_mm256_movemask_pd((__m256d)a); }
INLINE int any(lanes a) { return bit_per_lane(a) != 0; }
INLINE words select_words(lanes where, words a, words b) {
    return (words)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)where);
}
#else
INLINE unsigned bit_per_lane(lanes a) { return (unsigned)((a[0] & 1) | (a[1] & 2)); }
INLINE int any(lanes a) { return (a[0] | a[1]) != 0; }
INLINE words select_words(lanes where, words a, words b) { return (where & a) | (~where & b); }
#endif
INLINE doubles select_doubles(lanes where, doubles a, doubles b) {
    return (doubles)select_words(where, (words)a, (words)b);
}

#endif

INLINE int any_huge(words seen) { return any(above_words(seen & HUGE_BIT, same_words(0))); }
#if LEVEL == 4
typedef uint32_t half_words __attribute__((vector_size(4 * WIDTH)));
INLINE floats narrowed(doubles value) { return (floats)_mm512_cvtpd_ps((__m512d)value); }
INLINE words widened_count(half_words count) { return (words)_mm512_cvtepu32_epi64((__m256i)count); }
INLINE half_words counted_half(half_words count, __mmask8 where) {
    __m256i one = _mm256_set1_epi32(1);
    __asm__("" : "+v"(one)); /* as in `counted` */
    return (half_words)_mm256_mask_add_epi32((__m256i)count, where, (__m256i)count, one);
}
INLINE int any_huge_half(half_words seen) { /* of the bits of float32 */
    return _mm256_test_epi32_mask((__m256i)seen, _mm256_set1_epi32(0x40000000)) != 0;
}
#endif

/* The larger and the smaller of two numbers that are not NaN. */

#if LEVEL == 4
/* The bits of numbers that are not negative are in the order of the numbers; whole numbers have a pipe of their own. */
INLINE doubles larger(doubles a, doubles b) { return (doubles)_mm512_max_epi64((__m512i)a, (__m512i)b); }
INLINE doubles smaller(doubles a, doubles b) { return (doubles)_mm512_min_pd((__m512d)a, (__m512d)b); }
INLINE floats larger_floats(floats a, floats b) { return (floats)_mm256_max_epi32((__m256i)a, (__m256i)b); }
INLINE floats smaller_floats(floats a, floats b) { return (floats)_mm256_min_epi32((__m256i)a, (__m256i)b); }
#elif LEVEL == 3
INLINE doubles larger(doubles a, doubles b) { return (doubles)_mm256_max_pd((__m256d)a, (__m256d)b); }
INLINE doubles smaller(doubles a, doubles b) { return (doubles)_mm256_min_pd((__m256d)a, (__m256d)b); }
#elif LEVEL == 2
INLINE doubles larger(doubles a, doubles b) { return (doubles)_mm_max_pd((__m128d)a, (__m128d)b); }
INLINE doubles smaller(doubles a, doubles b) { return (doubles)_mm_min_pd((__m128d)a, (__m128d)b); }
#else
INLINE doubles larger(doubles a, doubles b) { return select_doubles(above(a, b), a, b); }
INLINE doubles smaller(doubles a, doubles b) { return select_doubles(above(a, b), b, a); }
#endif

/* Whole numbers from 0 to 2^63 as float64, rounded half to even. */
INLINE doubles as_doubles(words value) {
#if LEVEL == 4
    return (doubles)_mm512_cvtepi64_pd((__m512i)value);
#elif LEVEL == 3
    /* Halves of 32 bits as the last digits of 2^84 and 2^52; only the last addition rounds. */
    doubles high = (doubles)((value >> 32) | UINT64_C(0x4530000000000000)) - (0x1p84 + 0x1p52);
    return high + (doubles)((value & UINT64_C(0xFFFFFFFF)) | UINT64_C(0x4330000000000000));
#else
    return __builtin_convertvector((ints)value, doubles);
#endif
}

/* Products of numbers below 2^32. */
INLINE words product(words a, uint64_t b) {
#if LEVEL == 4
    return (words)_mm512_mul_epu32((__m512i)a, (__m512i)same_words(b));
#elif LEVEL == 3
    return (words)_mm256_mul_epu32((__m256i)a, (__m256i)same_words(b));
#elif LEVEL == 2
    return (words)_mm_mul_epu32((__m128i)a, (__m128i)same_words(b));
#else
    return a * b;
#endif
}

/* round(value), half to even, for numbers below 2^51 in size; negative ones as two's complement. */
INLINE words rounded(doubles value) {
    return bits_of(value + 0x1.8p52) - UINT64_C(0x4338000000000000);
}

/* 1 shifted by so many times some bits, in lanes where it stays within the word, else 0. */
INLINE words one_at(words place, uint64_t bits) {
#if LEVEL == 4
    return (words)_mm512_sllv_epi64(_mm512_set1_epi64(1), (__m512i)product(place, bits));
#elif LEVEL == 3
    return (words)_mm256_sllv_epi64(_mm256_set1_epi64x(1), (__m256i)product(place, bits));
#else
    words shift = place * bits, within = (words)(shift < 64);
    return (same_words(1) << (shift & 63)) & within;
#endif
}

/* WIDTH vectors as the rows of a square: its columns instead. */

INLINE void transpose_doubles(doubles v[WIDTH]) {
#if WIDTH == 8
    doubles a[8], b[8];
    UNROLL for (int r = 0; r < 8; r += 2) {
        a[r] = __builtin_shufflevector(v[r], v[r + 1], 0, 8, 2, 10, 4, 12, 6, 14);
        a[r + 1] = __builtin_shufflevector(v[r], v[r + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    }
    /* Pairs of lanes: of two vectors the even pairs, or the odd ones. */
#define EVEN_PAIRS(x, y) __builtin_shufflevector(x, y, 0, 1, 4, 5, 8, 9, 12, 13)
#define ODD_PAIRS(x, y) __builtin_shufflevector(x, y, 2, 3, 6, 7, 10, 11, 14, 15)
    UNROLL for (int c = 0; c < 2; c++) {
        b[c] = EVEN_PAIRS(a[c], a[c + 2]), b[c + 2] = ODD_PAIRS(a[c], a[c + 2]);
        b[c + 4] = EVEN_PAIRS(a[c + 4], a[c + 6]), b[c + 6] = ODD_PAIRS(a[c + 4], a[c + 6]);
    }
    UNROLL for (int c = 0; c < 4; c++) {
        v[c] = EVEN_PAIRS(b[c], b[c + 4]), v[c + 4] = ODD_PAIRS(b[c], b[c + 4]);
    }
#elif WIDTH == 4
    doubles a[4];
    UNROLL for (int r = 0; r < 4; r += 2) {
        a[r] = __builtin_shufflevector(v[r], v[r + 1], 0, 4, 2, 6);
        a[r + 1] = __builtin_shufflevector(v[r], v[r + 1], 1, 5, 3, 7);
    }
    UNROLL for (int c = 0; c < 2; c++) {
        v[c] = __builtin_shufflevector(a[c], a[c + 2], 0, 1, 4, 5);
        v[c + 2] = __builtin_shufflevector(a[c], a[c + 2], 2, 3, 6, 7);
    }
#else
    doubles first = __builtin_shufflevector(v[0], v[1], 0, 2);
    v[1] = __builtin_shufflevector(v[0], v[1], 1, 3);
    v[0] = first;
#endif
}

#if WIDTH == 8
typedef uint64_t half_row __attribute__((vector_size(32), aligned(8), may_alias));

/* Four columns of eight rows: each row as half a vector. */
INLINE void turn_into_halves(const doubles columns[4], half_row rows[8]) {
    doubles turned[4];
    UNROLL for (int odd = 0; odd < 2; odd++) {
        doubles a = odd ? __builtin_shufflevector(columns[0], columns[1], 1, 9, 3, 11, 5, 13, 7, 15)
                        : __builtin_shufflevector(columns[0], columns[1], 0, 8, 2, 10, 4, 12, 6, 14);
        doubles b = odd ? __builtin_shufflevector(columns[2], columns[3], 1, 9, 3, 11, 5, 13, 7, 15)
                        : __builtin_shufflevector(columns[2], columns[3], 0, 8, 2, 10, 4, 12, 6, 14);
        turned[odd] = __builtin_shufflevector(a, b, 0, 1, 8, 9, 2, 3, 10, 11);
        turned[odd + 2] = __builtin_shufflevector(a, b, 4, 5, 12, 13, 6, 7, 14, 15);
    }
    UNROLL for (int r = 0; r < 8; r++) {
        words of = (words)turned[r % 2 + r / 4 * 2];
        rows[r] = r / 2 % 2 ? (half_row)__builtin_shufflevector(of, of, 4, 5, 6, 7)
                            : (half_row)__builtin_shufflevector(of, of, 0, 1, 2, 3);
    }
}
#endif

/* The even, or the odd, lanes of two vectors in turn. */
INLINE words even_pairs(words a, words b) {
#if WIDTH == 8
    return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14);
#elif WIDTH == 4
    return __builtin_shufflevector(a, b, 0, 4, 2, 6);
#else
    return __builtin_shufflevector(a, b, 0, 2);
#endif
}
INLINE words odd_pairs(words a, words b) {
#if WIDTH == 8
    return __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
#elif WIDTH == 4
    return __builtin_shufflevector(a, b, 1, 5, 3, 7);
#else
    return __builtin_shufflevector(a, b, 1, 3);
#endif
}

#if LEVEL == 4
INLINE void transpose_floats(floats v[WIDTH]) {
    floats a[8], b[8];
    UNROLL for (int r = 0; r < 8; r += 2) {
        a[r] = __builtin_shufflevector(v[r], v[r + 1], 0, 8, 1, 9, 4, 12, 5, 13);
        a[r + 1] = __builtin_shufflevector(v[r], v[r + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
    UNROLL for (int r = 0; r < 8; r += 4) {
        UNROLL for (int c = 0; c < 2; c++) {
            b[r + 2 * c] = __builtin_shufflevector(a[r + c], a[r + c + 2], 0, 1, 8, 9, 4, 5, 12, 13);
            b[r + 2 * c + 1] = __builtin_shufflevector(a[r + c], a[r + c + 2], 2, 3, 10, 11, 6, 7, 14, 15);
        }
    }
    UNROLL for (int c = 0; c < 4; c++) {
        v[c] = __builtin_shufflevector(b[c], b[c + 4], 0, 1, 2, 3, 8, 9, 10, 11);
        v[c + 4] = __builtin_shufflevector(b[c], b[c + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
}
#endif

#endif
