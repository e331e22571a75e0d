/* log2, by one rule on every machine: no fused multiply-add, each operation rounded once.
 *
 * p = 2^e * m with m in [1, 2). The eighth of [1, 2) that m lies in has a centre c = 2^(1/8), 2^(2/8), ..., 2: then
 * log2 p = (e + log2 c) + log2(m / c), and with s = (m - c) / (m + c) the last term is a short series in s. It is right to
 * 2.1e-15, and exact for powers of two. For p = 0 it is a finite number, so that p * log2 p = 0. */
#ifndef TRUENESS_LOGARITHM_H
#define TRUENESS_LOGARITHM_H

#include "vectors.h"

#define TINY 0x1p-1022 /* below it numbers are subnormal, and the rule does not hold */

static const double CENTRES[8] __attribute__((aligned(64))) = {
    0x1.172b83c7d517bp+0, 0x1.306fe0a31b715p+0, 0x1.4bfdad5362a27p+0, 0x1.6a09e667f3bcdp+0,
    0x1.8ace5422aa0dbp+0, 0x1.ae89f995ad3adp+0, 0x1.d5818dcfba487p+0, 0x1.0000000000000p+1};

/* CENTRES[k % 8] in each lane. */
INLINE doubles centres(words k) {
#if LEVEL == 4
    return (doubles)_mm512_permutexvar_pd((__m512i)k, *(const __m512d *)CENTRES);
#elif LEVEL == 3
    /* The halves of four numbers, each of which is found as a pair of 32 bits; bit 2 of k, made the sign, chooses. */
    words pair = (k & 3) << 1;
    __m256i at = (__m256i)(pair | ((pair | 1) << 32));
    __m256d low = (__m256d)_mm256_permutevar8x32_ps(*(const __m256 *)CENTRES, at);
    __m256d high = (__m256d)_mm256_permutevar8x32_ps(*(const __m256 *)(CENTRES + 4), at);
    return (doubles)_mm256_blendv_pd(low, high, (__m256d)(k << 61));
#else
    return (doubles){CENTRES[k[0] & 7], CENTRES[k[1] & 7]};
#endif
}

/* The first half of a logarithm, up to its division, which takes long: other work may follow before the second half. */
typedef struct {
    doubles e, s; /* e + log2 c, and s */
} reduced;

INLINE reduced reduce(doubles p) {
    words bits = bits_of(p), k = bits >> 49;
    doubles e = (doubles)(k | UINT64_C(0x4300000000000000)) - (0x1p49 + 1022.875);
    doubles m = (doubles)((bits & UINT64_C(0x000FFFFFFFFFFFFF)) | ONE_BITS);
    doubles c = centres(k);
    return (reduced){e, (m - c) / (m + c)};
}

INLINE doubles log2_from(reduced r) {
    doubles z = r.s * r.s;
    doubles series = ((0x1.a7a23aee6b762p-2 * z + 0x1.277676d6bc9e1p-1) * z + 0x1.ec709dce6f622p-1) * z
                     + 0x1.71547652b81e5p+1;
    return r.e + r.s * series;
}

INLINE doubles log2_of(doubles p) { return log2_from(reduce(p)); }

/* The same for a single positive number, however small. */
static double log2_of_one(double p) {
    return p < TINY ? log2_of(same_doubles(p * 0x1p64))[0] - 64.0 : log2_of(same_doubles(p))[0];
}

#endif
