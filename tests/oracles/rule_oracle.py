"""The rule that makes the bits of a row the same everywhere, for one row in plain Python: the judge of all engines.

Written from the rule, never from the implementation: `struct` for the bits, Python's own float operations (each is one
operation of IEEE 754, never contracted) and Python integers for the sums. Slow on purpose.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import cache

UNIT = 2**52
LN2 = float.fromhex("0x1.62e42fefa39efp-1")
A0, A1, A2, A3 = (
    float.fromhex(text)
    for text in (
        "0x1.71547652b81e5p+1",
        "0x1.ec709dce6f622p-1",
        "0x1.277676d6bc9e1p-1",
        "0x1.a7a23aee6b762p-2",
    )
)
LEAST_LOG = -(2.0**22)


def bits(x: float) -> int:
    """The 64 bits of a float as a whole number."""
    return int(struct.unpack("<Q", struct.pack("<d", x))[0])


def from_bits(k: int) -> float:
    return float(struct.unpack("<d", struct.pack("<Q", k))[0])


@cache
def centre(j: int) -> float:
    """c = 2^((1 + j)/8), rounded to the nearest float."""
    with localcontext() as context:
        context.prec = 50
        return float(Decimal(2) ** (Decimal(1 + j) / 8))


@cache
def weight_of_bits(n_classes: int) -> float:
    """w = ln 2/ln C, rounded to the nearest float."""
    with localcontext() as context:
        context.prec = 50
        return float(Decimal(2).ln() / Decimal(n_classes).ln())


def units(p: float) -> int:
    """u = bits(1 + p) - bits(1)."""
    return bits(1.0 + p) - bits(1.0)


def log2(p: float) -> float:
    """L of the rule; p ≥ 0."""
    p = p + 0.0  # -0 counts as 0
    k = bits(p) >> 49
    whole = from_bits(k | 0x4300000000000000) - (2.0**49 + 1022.875)
    m = from_bits((bits(p) & (2**52 - 1)) | bits(1.0))
    c = centre(k & 7)
    s = (m - c) / (m + c)
    z = s * s
    return whole + s * (((A3 * z + A2) * z + A1) * z + A0)


def log2_of_true(p: float) -> float:
    """L(p_y), for p_y > 0."""
    return log2(p) if p >= 2.0**-1022 else log2(p * 2.0**64) - 64.0


def is_good(row: Sequence[float], tolerance: float) -> bool:
    """Whether all of a row is in [0, 1] and |S - 2⁵²| ≤ ⌊tolerance·2⁵²⌋."""
    if not all(0.0 <= p <= 1.0 for p in row):
        return False
    return abs(sum(map(units, row)) - UNIT) <= math.floor(tolerance * UNIT)


@dataclass(frozen=True)
class ScalarRow:
    """What is summed of a row."""

    sum_of_units: int
    entropy: float
    """H, to base 2."""
    variation: float
    """V of the entropy."""
    confidence: float
    log_score: int
    """In units of 2⁻⁴⁰; 0 if the true class is impossible, as is the log-likelihood."""
    log_likelihood: int
    variance: int
    true_probability: int
    """In units of 2⁻⁵², as is the square."""
    square: int
    possible_variance: int
    """The variance if the true class is possible, else 0."""
    misses: int
    """1 - q₁ in units of 2⁻⁵²."""
    predicted: int
    """The class of the largest probability, of equal ones the one with the lowest index."""
    impossible: bool
    more: int
    """Classes that are more probable than the true one."""
    equal: int
    """Classes that are as probable, itself included."""
    before: int
    """Of these, the ones with a lower index."""


def scalar_row(p: Sequence[float], label: int, n_classes: int) -> ScalarRow:
    """What is summed of one good row of probabilities, float64 (a float32 is one of them)."""
    assert len(p) == n_classes
    total = sum(map(units, p))
    sum_h = sum_g = square = 0
    for x in p:
        logarithm = log2(x)
        t = (x + 0.0) * logarithm
        sum_h += bits(1.0 - t) - bits(1.0)
        sum_g += bits(2.0 + t * logarithm) - bits(2.0)
        square += units(x * x)
    entropy = float(sum_h) * 2.0**-52
    moment = float(sum_g) * 2.0**-51
    variance = max(moment + (entropy * entropy) * (float(total - 2**53) * 2.0**-52), 0.0)
    in_units = round(variance * ((LN2 * LN2) * 2.0**40))
    p_true = p[label]
    log_score = log_likelihood = 0
    if p_true > 0.0:
        of_true = log2_of_true(p_true)
        log_score = round((of_true + entropy) * (LN2 * 2.0**40))  # half to even, as rint
        log_likelihood = round(of_true * (LN2 * 2.0**40))
    return ScalarRow(
        sum_of_units=total,
        entropy=entropy,
        variation=min(max(entropy * weight_of_bits(n_classes), 0.0), 1.0),
        confidence=max(*p, 1.0 / n_classes),
        log_score=log_score,
        log_likelihood=log_likelihood,
        variance=in_units,
        true_probability=units(p_true),
        square=square,
        possible_variance=in_units if p_true > 0.0 else 0,
        misses=UNIT - units(max(p)),
        predicted=list(p).index(max(p)),
        impossible=p_true == 0.0,
        more=sum(x > p_true for x in p),
        equal=sum(x == p_true for x in p),
        before=sum(x == p_true for x in p[:label]),
    )


@dataclass(frozen=True)
class ScalarEvent:
    """What is summed of an event in one row, apart from its cell; sums of powers in units of 2⁻⁵²."""

    predicted: int
    square: int
    cube: int
    fourth: int
    product: int
    log_likelihood: int
    """ln p if the event was observed, else ln(1 - p), in units of 2⁻⁴⁰; 0 if that is -∞."""
    impossible: bool


def scalar_event(p: float, observed: bool) -> ScalarEvent:
    """What is summed of an event of probability p."""
    of_outcome = p if observed else 1.0 - p
    log_likelihood = 0 if of_outcome == 0.0 else round(log2_of_true(of_outcome) * (LN2 * 2.0**40))
    return ScalarEvent(
        predicted=units(p),
        square=units(p * p),
        cube=units((p * p) * p),
        fourth=units((p * p) * (p * p)),
        product=units(p) if observed else 0,
        log_likelihood=log_likelihood,
        impossible=of_outcome == 0.0,
    )


TO_STEPS = float.fromhex("0x1.71547652b82fep+11")  # 2048/ln 2
STEP_HIGH, STEP_LOW = (
    float.fromhex("0x1.62e42fep-12"),
    float.fromhex("0x1.f473de6af278fp-41"),
)  # ln 2/2048


@cache
def power(j: int) -> float:
    """2^(j/2048), rounded to the nearest float."""
    with localcontext() as context:
        context.prec = 50
        return float(Decimal(2) ** (Decimal(j) / 2048))


def exp(x: float) -> float:
    """exp of the rule; x ≤ 0, or -inf."""
    x = max(x, -746.0)
    n = (x * TO_STEPS + 1.5 * 2.0**52) - 1.5 * 2.0**52
    r = (x - n * STEP_HIGH) - n * STEP_LOW
    lift = 128 if x < -708.0 else 0
    y = math.ldexp(power(int(n) % 2048), int(n) // 2048 + lift)  # exact: it is a normal number
    q = ((r * (1 / 6) + 0.5) * r) * r
    return (y + (r + q) * y) * 2.0**-lift


def softmax(z: Sequence[float]) -> list[float]:
    """exp(z - max z)/Σ, the sum added in the order of the classes."""
    top = max(z)
    powers = [exp(x - top) for x in z]
    total = 0.0
    for x in powers:
        total += x
    return [x / total for x in powers]


def underflowed_log_p(z: Sequence[float], label: int) -> float:
    """ln p_y from logits, where p_y < 2⁻¹⁰²² but the logit is not -inf."""
    top = max(z)
    total = 0.0
    for x in z:
        total += exp(x - top)
    return max((z[label] - top) - log2(total) * LN2, LEAST_LOG)


def scalar_row_of_logits(z: Sequence[float], label: int, n_classes: int) -> ScalarRow:
    """What is summed of one row of logits: of equal probabilities the logits decide."""
    p = softmax(z)
    row = scalar_row(p, label, n_classes)
    changed = dict(row.__dict__)
    if row.equal > 1:
        changed["more"] = sum(x > z[label] for x in z)
        changed["equal"] = sum(x == z[label] for x in z)
        changed["before"] = sum(x == z[label] for x in z[:label])
    if p[label] < 2.0**-1022:
        changed["impossible"] = z[label] == -math.inf
        changed["possible_variance"] = 0
        if z[label] != -math.inf:
            changed["possible_variance"] = row.variance
            log_p = underflowed_log_p(z, label)
            changed["log_score"] = round((log_p + row.entropy * LN2) * 2.0**40)
            changed["log_likelihood"] = round(log_p * 2.0**40)
    return ScalarRow(**changed)
