"""The arithmetic of a row, whose results have the same bits on every engine, processor and version of NumPy.

Three things make it so:

- Only additions, subtractions, multiplications, divisions and roundings of float64 are used, one at a time. IEEE 754
  defines each of them to the last bit. Logarithms and exponentials of a library differ between versions, so both are
  written out here.
- A product and a sum are never contracted to one fused operation. NumPy has no such operation; the compiled engine is
  built without it.
- Sums over the classes are sums of whole numbers, which do not depend on the order. In [1, 2] floats are 2⁻⁵² apart, so
  the bits of 1 + x, less those of 1, are x in units of 2⁻⁵².

The compiled engine follows the same formulas; `tests/oracles/rule_oracle.py` has them for one row in plain Python.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from functools import cache
from math import isqrt
from typing import NamedTuple

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._scratch import Scratch

PROBABILITY_BITS = 52
"""Probabilities and variations enter as multiples of 2⁻⁵², the spacing of float64 just above 1."""

UNIT = 1 << PROBABILITY_BITS

ONE_BITS = 0x3FF0000000000000
"""The bits of 1.0."""

TWO_BITS = 0x4000000000000000
"""The bits of 2.0. Between 2 and 4 floats are 2⁻⁵¹ apart."""

LN2 = float.fromhex("0x1.62e42fefa39efp-1")

LOG_SCORE_BITS = 40
"""Log-scores reach some hundreds, so they enter as multiples of 2⁻⁴⁰."""

LOG_UNITS = LN2 * 2.0**LOG_SCORE_BITS
"""A logarithm to base 2 times this is the natural one in units of 2⁻⁴⁰."""

VARIANCE_UNITS = (LN2 * LN2) * 2.0**LOG_SCORE_BITS
"""The same for squares of logarithms."""

LEAST_NORMAL = 2.0**-1022
"""Below this the bits of a float are no longer exponent and mantissa, as `log2` takes them."""

LOG2_CENTRES = tuple(
    map(
        float.fromhex,
        (
            "0x1.172b83c7d517bp+0",
            "0x1.306fe0a31b715p+0",
            "0x1.4bfdad5362a27p+0",
            "0x1.6a09e667f3bcdp+0",
            "0x1.8ace5422aa0dbp+0",
            "0x1.ae89f995ad3adp+0",
            "0x1.d5818dcfba487p+0",
            "0x1.0000000000000p+1",
        ),
    )
)
"""2^((1 + j)/8) for j = 0 to 7."""

LOG2_COEFFICIENTS = tuple(
    map(
        float.fromhex,
        ("0x1.71547652b81e5p+1", "0x1.ec709dce6f622p-1", "0x1.277676d6bc9e1p-1", "0x1.a7a23aee6b762p-2"),
    )
)
"""a₀ to a₃ of log₂((1 + s)/(1 - s)) ≈ s·(a₀ + a₁s² + a₂s⁴ + a₃s⁶), so chosen that `log2` of 2ᵏ is exactly k."""

CHUNK_VALUES = 2**15
"""Values whose logarithms are computed at a time: few enough for the cache, and enough to hide NumPy's calls."""

_EIGHTHS = np.uint64(0x4300000000000000)
"""The bits of 2⁴⁹, where floats are 1/8 apart: with k in the last bits it is 2⁴⁹ + k/8."""
_ALL_EIGHTHS = 2.0**49 + 1022.875
_TO_EIGHTHS = np.uint64(49)


def less_bits(n: int, bits: int) -> int:
    """-n·bits modulo 2⁶⁴, as an int64: to be added to the sum of the bits of n numbers, which wraps round too."""
    return (2**63 - n * bits) % 2**64 - 2**63


def units(p: FloatArray) -> IntArray:
    """Numbers from 0 to 1 in units of 2⁻⁵², half to even: u = bits(1 + p) - bits(1).

    >>> units(np.array([0.5, 2.0**-52, -0.0])).tolist()
    [2251799813685248, 1, 0]
    """
    return (p + 1.0).view(np.int64) - ONE_BITS


def sum_units(steps: FloatArray) -> IntArray:
    """S = Σu of each column, modulo 2⁶⁴, given 1 + p in lines, (classes, rows)."""
    total: IntArray = np.add.reduce(steps.view(np.int64), axis=0)
    total += less_bits(len(steps), ONE_BITS)
    return total


def sum_square_units(lines: FloatArray, scratch: Scratch) -> IntArray:
    """Σ units(p·p) of each column, modulo 2⁶⁴."""
    work = scratch.array("work", lines.shape)
    np.multiply(lines, lines, out=work)
    work += 1.0
    return sum_units(work)


def _scaled_centres() -> FloatArray:
    """For each k, the first 15 bits of a float m·2ᵉ, the centre c·2ᵉ nearby; something finite if it is not finite."""
    k = np.arange(2**14)
    exponent = np.where(k >> 3 < 2046, k >> 3, 1023)
    centres: FloatArray = np.array(LOG2_CENTRES)[k & 7]
    return (centres.view(np.int64) + ((exponent - 1023) << 52)).view(np.float64)


_CENTRES = _scaled_centres()


def log2(p: FloatArray, scratch: Scratch) -> FloatArray:
    """L(p), the logarithm to base 2 of numbers ≥ 2⁻¹⁰²², to 2.1e-15 and the last bit of L; in the piece "log2".

    With p = m·2ᵉ, 1 ≤ m < 2, and c = 2^((1 + j)/8) where j/8 is m - 1 rounded down to eighths:

        s = (m - c)/(m + c),  z = s·s,  L = (e + (1 + j)/8) + s·(((a₃z + a₂)z + a₁)z + a₀)

    Both parts of s may be multiplied by 2ᵉ, which changes no bit of it. For 0, -0 and smaller numbers L is any finite
    number, so that p·L vanishes.

    >>> log2(np.array([0.125, 1.0]), Scratch()).tolist()
    [-3.0, 0.0]
    """
    k = np.right_shift(p.view(np.uint64), _TO_EIGHTHS, out=scratch.array("eighths", p.shape, np.uint64))
    result = scratch.array("log2", p.shape)
    np.take(_CENTRES, k.view(np.int64), out=result, mode="clip")
    s = np.subtract(p, result, out=scratch.array("s", p.shape))
    np.add(p, result, out=result)
    np.divide(s, result, out=s)
    z = np.multiply(s, s, out=scratch.array("z", p.shape))
    a0, a1, a2, a3 = LOG2_COEFFICIENTS
    np.multiply(z, a3, out=result)
    result += a2
    result *= z
    result += a1
    result *= z
    result += a0
    result *= s
    # 2⁴⁹ + k/8 less 2⁴⁹ + 1022.875 is e + (1 + j)/8, since k = 8·(e + 1023) + j.
    k |= _EIGHTHS
    whole = k.view(np.float64)
    whole -= _ALL_EIGHTHS
    result += whole
    return result


def log2_of_positive(p: FloatArray, scratch: Scratch) -> FloatArray:
    """L(p) for all p > 0: L(p·2⁶⁴) - 64 below 2⁻¹⁰²²; of 0 any finite number. In the piece "log2"."""
    result = log2(p, scratch)
    tiny = p < LEAST_NORMAL
    if tiny.any():
        result[tiny] = log2(p[tiny] * 2.0**64, Scratch()) - 64.0
    return result


class Moments(NamedTuple):
    """Sums over the classes of each row."""

    first: IntArray
    """Σh in units of 2⁻⁵²: the entropy."""
    second: IntArray | None
    """Σg in units of 2⁻⁵¹: Σ p·log₂² p."""


def log_moments(lines: FloatArray, scratch: Scratch, *, second: bool = True) -> Moments:
    """Σh and Σg of each column: with t = p·L, h = bits(1 - t) - bits(1) and g = bits(2 + t·L) - bits(2)."""
    n_classes, n_rows = lines.shape
    step = max(1, CHUNK_VALUES // max(n_rows, 1))
    sum_h = np.full(n_rows, less_bits(n_classes, ONE_BITS), np.int64)
    sum_g = np.full(n_rows, less_bits(n_classes, TWO_BITS), np.int64) if second else None
    for start in range(0, n_classes, step):
        p = lines[start : start + step]
        log2_p = log2(p, scratch)
        t = np.multiply(p, log2_p, out=scratch.array("s", p.shape))
        work = np.subtract(1.0, t, out=scratch.array("z", p.shape))
        sum_h += np.add.reduce(work.view(np.int64), axis=0)
        if sum_g is not None:
            t *= log2_p
            t += 2.0
            sum_g += np.add.reduce(t.view(np.int64), axis=0)
    return Moments(sum_h, sum_g)


def entropy_in_bits(moments: Moments) -> FloatArray:
    """H = double(Σh)·2⁻⁵², the entropy to base 2."""
    return np.asarray(moments.first * 2.0**-52, np.float64)


def variance_in_bits(moments: Moments, entropy: FloatArray, sum_of_units: IntArray) -> FloatArray:
    """The variance Σ p(L + H)² of log₂ p: max(G + H²·(S - 2), 0) with G = double(Σg)·2⁻⁵¹, multiplied out."""
    assert moments.second is not None
    of_sum = (sum_of_units - 2 * UNIT) * 2.0**-52
    # Cancellation loses some 1e-16 of G, which matters with thousands of classes only.
    return np.asarray(np.maximum(moments.second * 2.0**-51 + (entropy * entropy) * of_sum, 0.0))


@cache
def bits_to_classes(n_classes: int) -> float:
    """w = ln 2/ln C, the nearest float: an entropy to base 2 times this is one to base C."""
    with localcontext() as context:
        context.prec = 50
        return float(Decimal(2).ln() / Decimal(n_classes).ln())


def entropy_variation(entropy: FloatArray, n_classes: int) -> FloatArray:
    """V = min(max(H·w, 0), 1), the entropy to base C."""
    return np.minimum(np.maximum(entropy * bits_to_classes(n_classes), 0.0), 1.0)


def entropy_of_lines(lines: FloatArray, scratch: Scratch) -> FloatArray:
    """The entropy to base C of each column of probabilities, as a table sums it."""
    moments = log_moments(lines, scratch, second=False)
    return entropy_variation(entropy_in_bits(moments), len(lines))


def log_likelihood_units(log2_p: FloatArray) -> IntArray:
    """rint(L·ln2·2⁴⁰), ln p in units of 2⁻⁴⁰."""
    return np.rint(log2_p * LOG_UNITS).astype(np.int64)


def log_score_units(log2_p: FloatArray, entropy: FloatArray) -> IntArray:
    """rint((L + H)·ln2·2⁴⁰), the log-score ln p + H in units of 2⁻⁴⁰."""
    return np.rint((log2_p + entropy) * LOG_UNITS).astype(np.int64)


def underflowed_score_units(log_p: FloatArray, entropy: FloatArray) -> IntArray:
    """Log-score and log-likelihood in units of 2⁻⁴⁰, (2, n), where ln p was computed from logits; 0 if it is -inf.

    rint((ln p + H·ln2)·2⁴⁰) and rint(ln p·2⁴⁰), with H to base 2. The least ln p, -2²², is -2⁶² units.
    """
    parts = np.stack([log_p + entropy * LN2, log_p])
    parts[:, log_p == -np.inf] = 0.0
    return np.rint(parts * 2.0**LOG_SCORE_BITS).astype(np.int64)


def variance_units(variance: FloatArray) -> IntArray:
    """rint(var·ln²2·2⁴⁰), the varentropy in units of 2⁻⁴⁰."""
    return np.rint(variance * VARIANCE_UNITS).astype(np.int64)


EXP_STEPS = 2048
"""Powers of two in the table of `exp`: 2^(j/2048)."""
EXP_TO_STEPS = float.fromhex("0x1.71547652b82fep+11")
"""2048/ln 2."""
EXP_STEP_HIGH, EXP_STEP_LOW = float.fromhex("0x1.62e42fep-12"), float.fromhex("0x1.f473de6af278fp-41")
"""ln 2/2048 in two parts: the first has 28 bits, so that its product with a whole number below 2²⁵ is exact."""
EXP_ROUND = 1.5 * 2.0**52
"""Floats from 2⁵² to 2⁵³ are whole: x + this, less this, is x rounded, and its last bits are that whole number."""
EXP_LEAST_NORMAL, EXP_ZERO = -708.0, -746.0
"""Below the first exp may be less than 2⁻¹⁰²²; below the second it is 0."""


@cache
def exp_table() -> FloatArray:
    """2^(j/2048), the nearest floats, for j = 0 to 2047; with integers of 120 bits after the point."""
    root = 2 << 120
    for _ in range(11):
        root = isqrt(root << 120)
    power, powers = 1 << 120, []
    for _ in range(EXP_STEPS):
        powers.append(power * 2.0**-120)
        power = (power * root) >> 120
    return np.array(powers)


@cache
def _exp_table_less_index() -> FloatArray:
    """The bits of `exp_table` less j·2⁴¹, as float64."""
    return (exp_table().view(np.int64) - (np.arange(EXP_STEPS) << 41)).view(np.float64)


def exp(x: FloatArray, scratch: Scratch) -> FloatArray:
    """eˣ of contiguous numbers ≤ 0, or -inf or NaN, in place; within 1.25 units in the last place.

    With n = x·2048/ln 2 rounded, r = (x - n·high) - n·low, and y = 2^(n/2048) of which the table has the fraction:

        eˣ = y + y·(r + ((r/6 + 1/2)·r)·r)

    >>> exp(np.array([0.0, -1.0, -np.inf]), Scratch()).tolist()
    [1.0, 0.36787944117144233, 0.0]
    """
    flat = x.reshape(-1)
    for start in range(0, flat.size, CHUNK_VALUES):
        _exp_chunk(flat[start : start + CHUNK_VALUES], scratch)
    return x


def _exp_chunk(x: FloatArray, scratch: Scratch) -> None:
    if not np.minimum.reduce(x) >= EXP_LEAST_NORMAL:
        small = np.flatnonzero(x < EXP_LEAST_NORMAL)
        # Multiplied by 2¹²⁸ they are normal, and rounded once more when they are divided again.
        lifted = np.maximum(x[small], EXP_ZERO)
        _exp_of_normal(lifted, Scratch(), lift=128)
        lifted *= 2.0**-128
        x[small] = 0.0
        _exp_of_normal(x, scratch)
        x[small] = lifted
    else:
        _exp_of_normal(x, scratch)


def _exp_of_normal(x: FloatArray, scratch: Scratch, lift: int = 0) -> None:
    """eˣ·2^lift in place, where that is at least 2⁻¹⁰²²; NaN of NaN."""
    rounded = np.multiply(x, EXP_TO_STEPS, out=scratch.array("log2", x.shape))
    rounded += EXP_ROUND
    n = np.subtract(rounded, EXP_ROUND, out=scratch.array("s", x.shape))
    part = np.multiply(n, EXP_STEP_HIGH, out=scratch.array("z", x.shape))
    x -= part
    n *= EXP_STEP_LOW
    r = np.subtract(x, n, out=x)
    bits = rounded.view(np.int64)
    index = np.bitwise_and(bits, EXP_STEPS - 1, out=n.view(np.int64))
    y = np.take(_exp_table_less_index(), index, out=part, mode="clip")
    # The last 11 bits of n are j, and those above them the exponent: shifted by 41 they are j·2⁴¹ and 2⁵² times it.
    bits <<= 41
    y_bits = y.view(np.int64)
    y_bits += bits
    if lift:
        y_bits += lift << 52
    q = np.multiply(r, 1 / 6, out=rounded)
    q += 0.5
    q *= r
    q *= r
    r += q
    r *= y
    r += y
