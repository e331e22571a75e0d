"""Errors over the simplex in plain loops, close to section 8 of the specification; no code of the library is used."""

import math
from collections import defaultdict
from collections.abc import Sequence
from statistics import median, variance


def tv(p: Sequence[float], q: Sequence[float]) -> float:
    return sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2


def residual(y: int, p: Sequence[float]) -> list[float]:
    return [(c == y) - value for c, value in enumerate(p)]


def bandwidth(rows: Sequence[Sequence[float]]) -> float:
    return median(tv(p, q) for p in rows for q in rows)


def term(y: Sequence[int], p: Sequence[Sequence[float]], i: int, j: int, gamma: float) -> float:
    inner = sum(a * b for a, b in zip(residual(y[i], p[i]), residual(y[j], p[j]), strict=True))
    return math.exp(-tv(p[i], p[j]) / gamma) * inner


def biased(y: Sequence[int], p: Sequence[Sequence[float]], gamma: float) -> float:
    n = len(y)
    return sum(term(y, p, i, j, gamma) for i in range(n) for j in range(n)) / n**2


def unbiased(y: Sequence[int], p: Sequence[Sequence[float]], gamma: float) -> float:
    n = len(y)
    return sum(term(y, p, i, j, gamma) for i in range(n) for j in range(n) if i != j) / (n * (n - 1))


def blocks(y: Sequence[int], p: Sequence[Sequence[float]], size: int, gamma: float) -> list[float]:
    starts = range(0, len(y) - size + 1, size)
    return [unbiased(y[at : at + size], p[at : at + size], gamma) for at in starts]


def error_of_cells(y: Sequence[int], p: Sequence[Sequence[float]], cells: Sequence[Sequence[int]]) -> float:
    total = 0.0
    for cell in cells:
        n, n_classes = len(cell), len(p[0])
        mean = [sum(p[i][c] for i in cell) / n for c in range(n_classes)]
        frequency = [sum(y[i] == c for i in cell) / n for c in range(n_classes)]
        total += n / len(y) * tv(mean, frequency)
    return total


def equal_width_cells(p: Sequence[Sequence[float]], bins: int) -> list[list[int]]:
    cells = defaultdict(list)
    for i, row in enumerate(p):
        cells[tuple(max(1, math.ceil(bins * value)) for value in row)].append(i)
    return list(cells.values())


def median_variance_cells(p: Sequence[Sequence[float]], least: int) -> list[list[int]]:
    """As published: always the waiting part of largest variance."""
    waiting, final = [list(range(len(p)))], []

    def spreads(part: list[int]) -> list[float]:
        return [variance([p[i][c] for i in part]) for c in range(len(p[0]))] if len(part) > 1 else [0.0]

    while waiting:
        part = max(waiting, key=lambda each: max(spreads(each)))
        waiting.remove(part)
        of_part = spreads(part)
        c = of_part.index(max(of_part))
        middle = median(p[i][c] for i in part)
        left, right = (
            [i for i in part if p[i][c] < middle],
            [i for i in part if not p[i][c] < middle],
        )
        if len(left) < least or len(right) < least:
            final.append(part)
            continue
        for half in (left, right):
            (final if len(half) < 2 * least else waiting).append(half)
    return final
