"""The formulas of the inference in plain loops: the reference for `trueness.old_inference`.

Written from the formulas (the notation of `oracle.py`: q-bar, r-bar, n_m, w_m), never from the implementation. Exact by
enumeration where the number of cases allows, by a recurrence from the mode where it does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import oracle

Row = Sequence[float]


def binomial(n: int, q: float) -> dict[int, float]:
    """P(X = k) for X ~ Bin(n, q): from the mode outwards by P(k+1)/P(k), until it is negligible, then normalised."""
    if q <= 0 or q >= 1:
        return {0 if q <= 0 else n: 1.0}
    mode = min(n, int((n + 1) * q))
    masses = {mode: 1.0}
    mass = 1.0
    for k in range(mode, n):
        mass *= (n - k) / (k + 1) * (q / (1 - q))
        if mass < 1e-25:
            break
        masses[k + 1] = mass
    mass = 1.0
    for k in range(mode, 0, -1):
        mass *= k / (n - k + 1) * ((1 - q) / q)
        if mass < 1e-25:
            break
        masses[k - 1] = mass
    total = math.fsum(masses.values())
    return {k: m / total for k, m in masses.items()}


def expected_entropy(n: int, q: Row) -> float:
    """E[H(X/n)], X ~ Multinomial(n, q): H is a sum over ranks, and each count is binomial by itself."""
    terms = [mass * -(k / n) * math.log(k / n) for qc in q for k, mass in binomial(n, qc).items() if k > 0]
    return math.fsum(terms) / math.log(len(q))


def outcomes(n: int, n_classes: int) -> Iterator[tuple[int, ...]]:
    """All counts of n rows over the ranks."""
    if n_classes == 1:
        yield (n,)
        return
    for k in range(n + 1):
        for rest in outcomes(n - k, n_classes - 1):
            yield (k, *rest)


def multinomial(counts: Sequence[int], q: Row) -> float:
    """n!/(k_1!…k_C!) · Π q^k."""
    ways = math.factorial(sum(counts))
    for k in counts:
        ways //= math.factorial(k)
    return ways * math.prod(qc**k for qc, k in zip(q, counts, strict=True))


def null_law(n: int, q: Row, number: Callable[[Row], float]) -> list[tuple[float, float]]:
    """A function of r-bar and its probability, for all outcomes of one bin of a calibrated model."""
    return [(number([k / n for k in counts]), multinomial(counts, q)) for counts in outcomes(n, len(q))]


def mean(law: list[tuple[float, float]]) -> float:
    return math.fsum(x * p for x, p in law)


def sd(law: list[tuple[float, float]]) -> float:
    centre = mean(law)
    return math.sqrt(math.fsum((x - centre) ** 2 * p for x, p in law))


def at_least(law: list[tuple[float, float]], observed: float) -> float:
    """P(value >= observed); values that are equal except for rounding count as equal."""
    return math.fsum(p for x, p in law if x >= observed - 1e-12)


def folded_mean(mu: float, sigma: float) -> float:
    """E|X| for X ~ N(mu, sigma^2), by Simpson's rule on either side of the kink at 0."""
    if sigma == 0:
        return abs(mu)

    def integrand(x: float) -> float:
        return abs(x) * math.exp(-0.5 * ((x - mu) / sigma) ** 2) / (sigma * math.sqrt(2 * math.pi))

    def simpson(low: float, high: float, steps: int = 2000) -> float:
        h = (high - low) / steps
        inner = math.fsum((4 if k % 2 else 2) * integrand(low + k * h) for k in range(1, steps))
        return (integrand(low) + inner + integrand(high)) * h / 3

    low, high = mu - 12 * sigma, mu + 12 * sigma
    return simpson(low, high) if low >= 0 or high <= 0 else simpson(low, 0.0) + simpson(0.0, high)


def debiased(w: Row, g: Row, sigma: Row, total: float) -> float:
    """t·T, t in [0, 1] with sum w FN(t g, sigma) = T; 0 if sum w sigma sqrt(2/pi) >= T."""

    def seen(t: float) -> float:
        return math.fsum(wm * folded_mean(t * gm, sm) for wm, gm, sm in zip(w, g, sigma, strict=True))

    if seen(0.0) >= total:
        return 0.0
    low, high = 0.0, 1.0
    for _ in range(40):
        t = (low + high) / 2
        low, high = (t, high) if seen(t) < total else (low, t)
    return low * total


def tilt(q: Row, beta: float) -> list[float]:
    """q_beta proportional to q^beta."""
    top = max(q)
    powers = [(x / top) ** beta for x in q]
    return [p / math.fsum(powers) for p in powers]


def log_likelihood(bins: Sequence[tuple[int, Row, Row]], beta: float) -> float:
    """sum_m n_m sum_c r_c ln q_beta,c for bins (n, q, r)."""
    return math.fsum(
        n * rc * math.log(pc) for n, q, r in bins for rc, pc in zip(r, tilt(q, beta), strict=True) if rc > 0
    )


def most_likely_beta(bins: Sequence[tuple[int, Row, Row]]) -> float:
    """The beta of the largest likelihood, which is concave in beta, by ternary search."""
    low, high = 0.0, 16.0
    for _ in range(120):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (a, high) if log_likelihood(bins, a) < log_likelihood(bins, b) else (low, b)
    return (low + high) / 2


def bias(n: int, q: Row, beta: float) -> float:
    """H(q_beta) - E[H(X/n)] for X from q_beta: by how much the entropy of n ranks is too small on average."""
    tilted = tilt(q, beta)
    return oracle.entropy(tilted) - expected_entropy(n, tilted)


def cauchy_combination(p: Row, weights: Row | None = None) -> float:
    """1 - F(mean of F^-1(1 - p)) for the standard Cauchy distribution F; p above 0.9 count as 0.9 unless all are."""
    if min(p) >= 0.9:
        return min(p)
    w = [1.0] * len(p) if weights is None else weights
    mean = sum(v * math.tan(math.pi * (0.5 - min(x, 0.9))) for x, v in zip(p, w, strict=True)) / sum(w)
    return 0.5 - math.atan(mean) / math.pi


def holm(p: Row) -> list[float]:
    """Step down: the k-th smallest of m times m - k + 1, no less than that of a smaller one, at most 1."""
    m, order, adjusted, largest = (
        len(p),
        sorted(range(len(p)), key=lambda i: p[i]),
        [0.0] * len(p),
        0.0,
    )
    for k, i in enumerate(order):
        largest = max(largest, (m - k) * p[i])
        adjusted[i] = min(1.0, largest)
    return adjusted


def benjamini_hochberg(p: Row) -> list[float]:
    """The smallest p_(j) m/j over all j from the own rank up."""
    m, ordered = len(p), sorted(p)
    return [min(1.0, *(ordered[j] * m / (j + 1) for j in range(m) if ordered[j] >= x)) for x in p]


def poisson_pmf(k: int) -> float:
    """P(X = k) for X ~ Poisson(1)."""
    return math.exp(-1) / math.factorial(k)


def uniform_distance(p: Row, cells: int) -> float:
    """The largest excess of the share of p-values at or below j/cells over j/cells: > 0 if p-values are too small.

    p-values (k+1)/(R+1) are stochastically larger than uniform; only an excess is evidence against them.
    """
    return max(sum(1 for x in p if x <= j / cells + 1e-9) / len(p) - j / cells for j in range(1, cells))


def five_errors(share: float, draws: int) -> float:
    """Five standard errors of a share of simulated draws, and one draw."""
    return 5 * math.sqrt(max(share * (1 - share), 0.0) / draws) + 1 / draws
