"""Tables of the k largest classes, and bounds over unknown tails, in plain loops.

Written from the definitions: a row is its k largest probabilities and the mass m beyond them, read as L = V - k classes
of m/L each. One row at a time, with `math.fsum`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field


def eta(x: float) -> float:
    """-x ln x, with 0 at 0."""
    return -x * math.log(x) if x > 0 else 0.0


def even_entropy(cells: Sequence[float], n_classes: int) -> float:
    """The entropy to base V of k cells and L = V - k classes that share the last cell evenly."""
    *first, last = cells
    beyond = n_classes - len(first)
    tail = math.fsum(eta(last / beyond) for _ in range(beyond))
    return (math.fsum(map(eta, first)) + tail) / math.log(n_classes)


@dataclass
class Bin:
    """The rows of a bin: their cells, and the cells of their true classes."""

    cells: list[list[float]] = field(default_factory=list)
    places: list[int] = field(default_factory=list)

    def mean(self) -> list[float]:
        """q̄."""
        return [math.fsum(column) / len(self.cells) for column in zip(*self.cells, strict=True)]

    def frequency(self) -> list[float]:
        """r̄."""
        n = len(self.places)
        return [self.places.count(cell) / n for cell in range(len(self.cells[0]))]


@dataclass
class Numbers:
    """What is read off the bins."""

    vce: float
    net: float
    rce: float
    rce_w1: float
    log_score_z: float
    bounds: dict[str, tuple[float, float]]


def with_missing(row: Sequence[float]) -> list[float]:
    """The row with what it lacks of 1."""
    return [*row, max(0.0, 1.0 - math.fsum(row))]


def bins_of(
    rank: Sequence[int], prob: Sequence[Sequence[float]], n_classes: int, n_bins: int
) -> dict[int, Bin]:
    """The rows in bins of equal width of the even entropy, closed on the right."""
    bins: dict[int, Bin] = {}
    for place, row in zip(rank, prob, strict=True):
        cells = with_missing(row)
        value = even_entropy(cells, n_classes)
        at = max(0, math.ceil(value * n_bins - 1e-9) - 1)
        own = bins.setdefault(at, Bin())
        own.cells.append(cells)
        own.places.append(place)
    return bins


def numbers_of(
    rank: Sequence[int], prob: Sequence[Sequence[float]], n_classes: int, n_bins: int = 10
) -> Numbers:
    """Every number of section "the k largest of many classes", without ties."""
    n, k = len(rank), len(prob[0])
    vce, net, rce, w1 = [], [], [], []
    ends: dict[str, list[tuple[float, float]]] = {"vce": [], "net": [], "rce": []}
    for own in bins_of(rank, prob, n_classes, n_bins).values():
        weight, q, r = len(own.places) / n, own.mean(), own.frequency()
        gap = even_entropy(r, n_classes) - even_entropy(q, n_classes)
        vce.append(weight * abs(gap))
        net.append(weight * gap)
        rce.append(weight * math.fsum(abs(a - b) for a, b in zip(r, q, strict=True)) / 2)
        ahead = [abs(math.fsum(r[: j + 1]) - math.fsum(q[: j + 1])) for j in range(k)]
        w1.append(weight * math.fsum(ahead) / k)
        low, high = gap_bounds(q, r, n_classes)
        least = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        listed = math.fsum(abs(a - b) for a, b in zip(r[:k], q[:k], strict=True))
        near = (listed + abs(r[k] - q[k])) / 2
        far = near if n_classes == k + 1 else (listed + r[k] + q[k]) / 2
        pairs = {"vce": (least, max(abs(low), abs(high))), "net": (low, high), "rce": (near, far)}
        for name, (a, b) in pairs.items():
            ends[name].append((weight * a, weight * b))
    bounds = {name: tuple(map(math.fsum, zip(*both, strict=True))) for name, both in ends.items()}
    z = log_score_z(rank, prob, n_classes)
    return Numbers(math.fsum(vce), math.fsum(net), math.fsum(rce), math.fsum(w1), z, bounds)


def gap_bounds(q: Sequence[float], r: Sequence[float], n_classes: int) -> tuple[float, float]:
    """The least and largest gap of a bin over all tails."""
    beyond, k = n_classes - len(q) + 1, len(q) - 1
    known_p, known_o = math.fsum(map(eta, q[:k])), math.fsum(map(eta, r[:k]))
    if beyond == 1:
        gap = known_o + eta(r[k]) - known_p - eta(q[k])
        return gap / math.log(n_classes), gap / math.log(n_classes)
    m, u = q[k], r[k]
    most_p = known_p + beyond * eta(m / beyond)
    most_o = known_o + beyond * eta(u / beyond)
    left, least_p = m, known_p
    while left > 1e-15:  # as many entries of the size of the k-th as fit, and the rest
        entry = min(q[k - 1], left)
        least_p += eta(entry)
        left -= entry
    low, high = known_o + eta(u) - most_p, most_o - least_p
    return low / math.log(n_classes), high / math.log(n_classes)


def log_score_z(rank: Sequence[int], prob: Sequence[Sequence[float]], n_classes: int) -> float:
    """Σ(ln p_y + H)/√ΣVE of the rows with an even tail, written out class by class."""
    scores, variances = [], []
    for place, row in zip(rank, prob, strict=True):
        *first, mass = with_missing(row)
        beyond = n_classes - len(first)
        whole = [*first, *([mass / beyond] * beyond)]
        entropy = math.fsum(map(eta, whole))
        logs = [math.log(p) if p > 0 else 0.0 for p in whole]
        scores.append(math.log(whole[min(place, len(whole) - 1)]) + entropy)
        variances.append(math.fsum(p * (log + entropy) ** 2 for p, log in zip(whole, logs, strict=True)))
    return math.fsum(scores) / math.sqrt(math.fsum(variances))
