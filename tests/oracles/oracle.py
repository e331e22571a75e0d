"""The paper in plain loops: the judge of every engine.

Written from the paper (Thompson & Desai 2026) and the open points settled for this library, never from the
implementation. One row at a time, Python integers and fractions where a sum is promised to be exact, `math.fsum`
where it passes through a logarithm. Slow on purpose.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

UNIT = 2**52  # probabilities, ranks and V are counted in multiples of 2^-52
LOG_UNIT = 2**40  # log-scores in multiples of 2^-40
FINEST_SNAP = 2.0**-22
EQUAL_MASS_SNAP = 1e-12
EPS = {"float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}

Row = Sequence[float]
Measure = Callable[[Row], float]


def entropy(x: Row) -> float:
    """H(p) = -sum_c p_c log_C p_c, with 0 log 0 = 0 (the paper, section 2.1)."""
    return entropy_nats(x) / math.log(len(x))


def confidence(x: Row) -> float:
    """x_1, the first entry of the ordered vector."""
    return x[0]


def max_probability(x: Row) -> float:
    """max_c x_c, the paper's literal wording."""
    return max(x)


def wilcox_variation_ratio(x: Row) -> float:
    """C (1 - max) / (C - 1)."""
    return len(x) * (1 - max(x)) / (len(x) - 1)


def iqv(x: Row) -> float:
    """C/(C-1) (1 - sum p^2)."""
    return len(x) / (len(x) - 1) * (1 - math.fsum(p * p for p in x))


def average_deviation(x: Row) -> float:
    """1 - C/(2(C-1)) sum |p - 1/C|."""
    C = len(x)
    return 1 - C / (2 * (C - 1)) * math.fsum(abs(p - 1 / C) for p in x)


def mean_difference(x: Row) -> float:
    """1 - sum_{i<j} |p_i - p_j| / (C-1)."""
    C = len(x)
    return 1 - math.fsum(abs(x[i] - x[j]) for i in range(C) for j in range(i)) / (C - 1)


def standard_deviation(x: Row) -> float:
    """1 - sqrt(1 - IQV), where 1 - IQV = C/(C-1) sum (p - 1/C)^2 when sum p = 1.

    The left-hand form loses half the digits at uniform (the kink); the right-hand form loses none.
    """
    C = len(x)
    return 1 - math.sqrt(C / (C - 1) * math.fsum((p - 1 / C) ** 2 for p in x))


def mode_deviation(x: Row) -> float:
    """1 - sqrt(sum (max - p)^2 / (C-1)) (Kvalseth 1988)."""
    top = max(x)
    return 1 - math.sqrt(math.fsum((top - p) ** 2 for p in x) / (len(x) - 1))


def margin(x: Row) -> float:
    """1 - (x_1 - x_2)."""
    return 1 - (x[0] - x[1])


def renyi(alpha: float) -> Measure:
    """ln(sum p^alpha) / ((1 - alpha) ln C); alpha = 1 is the entropy."""
    if alpha == 1:
        return entropy
    return lambda x: math.log(math.fsum(p**alpha for p in x if p > 0)) / ((1 - alpha) * math.log(len(x)))


def tsallis(alpha: float) -> Measure:
    """(1 - sum p^alpha) / (1 - C^(1-alpha)); alpha = 1 is the entropy, alpha = 2 the IQV."""
    if alpha == 1:
        return entropy
    return lambda x: (1 - math.fsum(p**alpha for p in x if p > 0)) / (1 - len(x) ** (1 - alpha))


MEASURES: dict[str, Measure] = {
    "entropy": entropy,
    "confidence": confidence,
    "max_probability": max_probability,
    "wilcox_variation_ratio": wilcox_variation_ratio,
    "iqv": iqv,
    "average_deviation": average_deviation,
    "mean_difference": mean_difference,
    "standard_deviation": standard_deviation,
    "mode_deviation": mode_deviation,
    "margin": margin,
}
SHRINKS_WITH_DISPERSION = {"confidence", "max_probability"}


def range_of(name: str, C: int) -> tuple[float, float]:
    """What V attains: [1/C, 1] for the largest probability, [0, 1] for all others."""
    return (1 / C, 1.0) if name in SHRINKS_WITH_DISPERSION else (0.0, 1.0)


def entropy_nats(p: Row) -> float:
    return -math.fsum(x * math.log(x) for x in p if x > 0)


def varentropy_nats(p: Row) -> float:
    """Variance of ln p_y for y ~ p: sum_c p_c (ln p_c + H)^2."""
    h = entropy_nats(p)
    return math.fsum(x * (math.log(x) + h) ** 2 for x in p if x > 0)


def softmax(logits: Row) -> list[float]:
    top = max(logits)
    powers = [math.exp(x - top) for x in logits]
    return [e / math.fsum(powers) for e in powers]


def ordered(p: Row) -> list[float]:
    """q: the row ordered downwards."""
    return sorted(p, reverse=True)


def rank_shares(p: Row, y: int, ties: str) -> list[int]:
    """r in units of 2^-52: (r)_c = 1(y = k_c), k_c the class of the c-th entry of q.

    "first" breaks ties by class index; "split" gives each of k tied ranks floor(2^52/k), the remainder to the first.
    """
    above = sum(1 for x in p if x > p[y])
    tied = sum(1 for x in p if x == p[y])
    shares = [0] * len(p)
    if ties == "first":
        shares[above + sum(1 for c in range(y) if p[c] == p[y])] = UNIT
    else:
        for c in range(above, above + tied):
            shares[c] = UNIT // tied
        shares[above] += UNIT - tied * (UNIT // tied)
    return shares


def integer(x: float, unit: int = UNIT) -> int:
    """x in whole units, halves to even (x * 2^k is exact in floating point; Python's round is half-even)."""
    return round(Fraction(x) * unit)


def clip(v: float, lo: float, hi: float) -> float:
    return min(max(v, lo), hi)


def equal_width(M: int, lo: float, hi: float) -> list[float]:
    """e_k = (lo (M - k) + hi k) / M."""
    return [(lo * (M - k) + hi * k) / M for k in range(M + 1)]


def snap_of(lo: float, hi: float, dtype: str = "float64") -> float:
    """(hi - lo) max(2^-22, 4 eps(dtype)): what lies within rounding of an edge lies on it."""
    return (hi - lo) * max(FINEST_SNAP, 4 * EPS[dtype])


def equal_mass(
    M: int, values: Row, lo: float, hi: float, weights: Sequence[Any] | None = None
) -> list[float]:
    """Right edge k is the ceil(kN/M)-th smallest V, duplicates dropped; the outer edges are those of the range.

    With weights: the smallest V at which the weight of the rows up to it reaches k/M of the whole. Values closer
    than the snap are duplicates: no V could tell the two edges apart.
    """
    rows = sorted(zip(values, weights or [1] * len(values), strict=True))
    total = sum(w for _, w in rows)
    right: list[float] = []
    for k in range(1, M + 1):
        i, reached = 0, rows[0][1]
        while reached * M < k * total:
            i += 1
            reached += rows[i][1]
        if not right or rows[i][0] > right[-1] + EQUAL_MASS_SNAP:
            right.append(rows[i][0])
    return [lo, *right[:-1], hi]


def bin_of(v: float, edges: Sequence[float], snap: float) -> int:
    """Number of interior edges with V > e_k + snap: bins are right-closed, the lowest edge is in the first."""
    return sum(1 for e in edges[1:-1] if v > e + snap)


def tabulate(
    y_true: Iterable[int],
    y_prob: Iterable[Row],
    *,
    measure: str | Measure = "entropy",
    bins: tuple[str, Any] = ("width", 10),
    ties: str = "first",
    weights: Sequence[float] | None = None,
    dtype: str = "float64",
) -> dict[str, Any]:
    """Per bin: the count, the sums of q and r (exact integers in 2^-52), the sum of V; and the log-score sums.

    `bins` is ("width", M), ("mass", M) or ("edges", list); `weights` of zero drop the row.
    """
    V = MEASURES[measure] if isinstance(measure, str) else measure
    labels = [int(y) for y in y_true]
    masses = [1] * len(labels) if weights is None else [Fraction(w) for w in weights]
    triples = zip(labels, y_prob, masses, strict=True)
    rows = [([float(x) for x in p], y, w) for y, p, w in triples if w != 0]
    C = len(rows[0][0])
    lo, hi = range_of(measure if isinstance(measure, str) else "", C)
    values = [clip(V(ordered(p)), lo, hi) for p, _, _ in rows]

    kind, what = bins
    if kind == "mass":
        edges, snap = equal_mass(what, values, lo, hi, [w for _, _, w in rows]), EQUAL_MASS_SNAP
    else:
        edges = equal_width(what, lo, hi) if kind == "width" else list(what)
        snap = snap_of(lo, hi, dtype)
    M = len(edges) - 1

    table: dict[str, Any] = {
        "measure": V,
        "edges": edges,
        "bin": [bin_of(v, edges, snap) for v in values],
        "row_count": [0] * M,
        "count": [0] * M,
        "weight_square": [0] * M,
        "ordered": [[0] * C for _ in range(M)],
        "rank": [[0] * C for _ in range(M)],
        "variation": [0] * M,
        "tied_rows": 0,
        "impossible_rows": 0,
        "log_score": 0,
        "log_score_variance": 0,
        "true_probability": 0,
        "square": 0,
        "log_likelihood": 0,
    }
    for (p, y, w), v, m in zip(rows, values, table["bin"], strict=True):
        table["row_count"][m] += 1
        table["count"][m] += w
        table["weight_square"][m] += w * w
        for c, x in enumerate(ordered(p)):
            table["ordered"][m][c] += w * integer(x)
        for c, share in enumerate(rank_shares(p, y, ties)):
            table["rank"][m][c] += w * share
        table["variation"][m] += w * integer(v)
        table["tied_rows"] += sum(1 for x in p if x == p[y]) > 1
        table["true_probability"] += w * integer(p[y])
        table["square"] += w * sum(integer(x * x) for x in p)
        if p[y] > 0:
            table["log_likelihood"] += w * integer(math.log(p[y]), LOG_UNIT)
            table["log_score"] += w * integer(math.log(p[y]) + entropy_nats(p), LOG_UNIT)
            table["log_score_variance"] += w * w * integer(varentropy_nats(p), LOG_UNIT)
        else:
            table["impossible_rows"] += 1
    return table


def bins_read(table: dict[str, Any]) -> list[dict[str, Any] | None]:
    """Per bin its weight w_m, rows, q-bar, r-bar, P = V(q-bar), O = V(r-bar) and uncert; None where it is empty."""
    if "read" not in table:
        table["read"] = [bin_read(table, m) if n else None for m, n in enumerate(table["row_count"])]
    return table["read"]


def bin_read(table: dict[str, Any], m: int) -> dict[str, Any]:
    n = Fraction(table["count"][m])
    q = [float(s / n / UNIT) for s in table["ordered"][m]]
    r = [float(s / n / UNIT) for s in table["rank"][m]]
    return {
        "w": float(n / sum(table["count"])),
        "rows": table["row_count"][m],
        "q": q,
        "r": r,
        "P": table["measure"](q),
        "O": table["measure"](r),
        "uncert": float(table["variation"][m] / n / UNIT),
    }


def accuracy(table: dict[str, Any]) -> float:
    """The share of rows whose true class ranked first."""
    return float(sum(Fraction(ranks[0]) for ranks in table["rank"]) / sum(table["count"]) / UNIT)


def brier_score(y_true: Iterable[int], y_prob: Iterable[Row]) -> float:
    """mean_i sum_c (p_ic - 1[c = y_i])^2."""
    rows = [
        math.fsum((x - (c == y)) ** 2 for c, x in enumerate(p)) for y, p in zip(y_true, y_prob, strict=True)
    ]
    return math.fsum(rows) / len(rows)


def log_loss(y_true: Iterable[int], y_prob: Iterable[Row]) -> float:
    """mean_i -ln p_iy; infinite if one p_iy is zero."""
    rows = [-math.log(p[y]) if p[y] > 0 else math.inf for y, p in zip(y_true, y_prob, strict=True)]
    return math.fsum(rows) / len(rows)


def total_variation(r: Row, q: Row) -> float:
    """1/2 sum |r - q|."""
    return math.fsum(abs(a - b) for a, b in zip(r, q, strict=True)) / 2


def wasserstein(r: Row, q: Row) -> float:
    """sum_k |sum_{c<=k} (r_c - q_c)| / (C-1): the mean over k < C of the top-k calibration error."""
    C = len(r)
    return math.fsum(abs(math.fsum(r[: k + 1]) - math.fsum(q[: k + 1])) for k in range(C - 1)) / (C - 1)


DISTANCES = {"tv": total_variation, "w1": wasserstein}


def mean_rank(x: Row) -> float:
    return math.fsum(c * p for c, p in enumerate(x))


def gaps(table: dict[str, Any], which: str) -> list[float]:
    """Signed gap of each bin, > 0 over-confident; NaN where it is empty.

    "vce": O - P, turned round where V shrinks with dispersion; "ece": conf - acc; "uce": err - uncert; a distance:
    d(r-bar, q-bar) with the sign of mean observed rank - mean predicted rank.
    """
    turn = -1 if table["measure"] in {MEASURES[name] for name in SHRINKS_WITH_DISPERSION} else 1
    result = []
    for b in bins_read(table):
        if b is None:
            result.append(math.nan)
        elif which == "vce":
            result.append(turn * (b["O"] - b["P"]))
        elif which == "ece":
            result.append(b["q"][0] - b["r"][0])
        elif which == "uce":
            result.append((1 - b["r"][0]) - b["uncert"])
        else:
            result.append(
                math.copysign(DISTANCES[which](b["r"], b["q"]), mean_rank(b["r"]) - mean_rank(b["q"]))
            )
    return result


def error(table: dict[str, Any], which: str, norm: str = "l1") -> float:
    """VCE, ECE, UCE := sum_m |B_m|/N |gap_m|, RCE likewise; "l2" the root of the mean square; "max" the largest."""
    pairs = [(b["w"], b["rows"], g) for b, g in zip(bins_read(table), gaps(table, which), strict=True) if b]
    if norm == "l1":
        return math.fsum(w * abs(g) for w, _, g in pairs)
    if norm == "l2":
        return math.sqrt(math.fsum(w * g * g for w, _, g in pairs))
    return max(abs(g) for _, _, g in pairs)


def signed_parts(table: dict[str, Any], which: str) -> tuple[float, float, float]:
    """sum w max(gap, 0), sum w max(-gap, 0), and the first minus the second."""
    pairs = [(b["w"], g) for b, g in zip(bins_read(table), gaps(table, which), strict=True) if b]
    over = math.fsum(w * max(g, 0.0) for w, g in pairs)
    under = math.fsum(w * max(-g, 0.0) for w, g in pairs)
    return over, under, over - under
