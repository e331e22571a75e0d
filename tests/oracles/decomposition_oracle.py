"""Decompositions of scores in plain loops over rows; no code of the library is used."""

import math
from collections.abc import Sequence


def smooth_error_at(p: Sequence[float], y: Sequence[float], width: float, nodes: int = 2000) -> float:
    """∫|Σ(y - p)·K_σ(t, p)|dt/N by the trapezoidal rule; the Gaussian with its mirror images at -p, 2 - p, …"""

    def kernel(t: float, centre: float) -> float:
        images = [k * 2 + sign * centre for k in (-2, -1, 0, 1, 2) for sign in (1, -1)]
        return sum(math.exp(-(((t - at) / width) ** 2) / 2) for at in images) / (
            width * math.sqrt(2 * math.pi)
        )

    total = 0.0
    for k in range(nodes + 1):
        at = k / nodes
        height = abs(sum((yi - pi) * kernel(at, pi) for pi, yi in zip(p, y, strict=True)))
        total += height * (0.5 if k in (0, nodes) else 1.0)
    return total / nodes / len(p)


def pool_adjacent_violators(y: Sequence[float]) -> list[float]:
    """Isotonic regression of values in order, each of weight 1."""
    blocks: list[list[float]] = []
    for value in y:
        blocks.append([value, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            (a, m), (b, n) = blocks[-2], blocks.pop()
            blocks[-1] = [(a * m + b * n) / (m + n), m + n]
    return [value for value, n in blocks for _ in range(int(n))]


def brier_parts(rows: Sequence[tuple[Sequence[float], Sequence[float], int]]) -> dict[str, float]:
    """REL, RES, UNC, WBV, WBC and the corrected three, of (prediction, outcome, bin) with vectors of any length."""
    n, size = len(rows), len(rows[0][0])
    bins = {m: [row for row in rows if row[2] == m] for _, _, m in rows}

    def mean(vectors: Sequence[Sequence[float]]) -> list[float]:
        return [sum(v[c] for v in vectors) / len(vectors) for c in range(size)]

    def square(v: Sequence[float], u: Sequence[float] | None = None) -> float:
        return sum((a - b) ** 2 for a, b in zip(v, u or [0.0] * size, strict=True))

    overall = mean([r for _, r, _ in rows])
    parts = dict.fromkeys(("rel", "res", "wbv", "wbc", "bias"), 0.0)
    for members in bins.values():
        q, r, share = (
            mean([row[0] for row in members]),
            mean([row[1] for row in members]),
            len(members) / n,
        )
        parts["rel"] += share * square(q, r)
        parts["res"] += share * square(r, overall)
        parts["wbv"] += sum(square(row[0], q) for row in members) / n
        for p, e, _ in members:
            parts["wbc"] += 2 * sum((a - b) * (c - d) for a, b, c, d in zip(p, q, e, r, strict=True)) / n
        if len(members) > 1:
            parts["bias"] += (
                share
                * (sum(square(e) for _, e, _ in members) / len(members) - square(r))
                / (len(members) - 1)
            )
    parts["unc"] = sum(square(e) for _, e, _ in rows) / n - square(overall)
    parts["score"] = sum(square(p, e) for p, e, _ in rows) / n
    return parts


def temperature_loss(rows: Sequence[Sequence[float]], labels: Sequence[int], exponent: float) -> float:
    """L(a) = Σ[ln Σ_c p_cᵃ - a·ln p_y]."""
    return sum(
        math.log(sum(p**exponent for p in row)) - exponent * math.log(row[label])
        for row, label in zip(rows, labels, strict=True)
    )
