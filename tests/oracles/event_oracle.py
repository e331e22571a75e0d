"""Event tables in plain loops: edges as fractions, one row, one event and one comparison at a time.

Written from the definitions: cells are closed on the right and 0 is in the first; the cell of p is the number of
interior edges e with p > e + snap(e), where snap(e) = e·max(2⁻²², 4·eps) for multiples of 1/3600 and 0 for others.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np

UNIT = 2**52

CLASS_EDGES = sorted(
    {Fraction(k, 60) for k in range(61)}
    | {Fraction(1, 2**j) for j in (7, 8, 9, 10, 13, 17, 20, 23, 26, 30)}
    | {1 - Fraction(1, 2**j) for j in (7, 8, 9, 10, 13, 17, 20, 23, 26, 30)}
)

_TAIL = {Fraction(32 + i, 32 * 2**e) for e in range(7, 31) for i in range(32)} | {Fraction(1, 64)}

EVENT_EDGES = sorted(
    {Fraction(j, 3600) for j in range(57, 3544)}
    | _TAIL
    | {1 - edge for edge in _TAIL}
    | {Fraction(0), Fraction(1)}
)


@cache
def thresholds(grid: str, eps: float) -> list[Fraction]:
    """What a probability must exceed to be above each interior edge, in order."""
    edges = CLASS_EDGES if grid == "class" else EVENT_EDGES
    snap = max(Fraction(1, 2**22), 4 * Fraction(eps))
    return sorted(edge * (1 + snap) if (edge * 3600).denominator == 1 else edge for edge in edges[1:-1])


def cell_of(p: float, grid: str, eps: float) -> int:
    """The number of interior edges that p is above."""
    return bisect_left(thresholds(grid, eps), Fraction(p))


def in_units(value: float) -> int:
    """The nearest multiple of 2⁻⁵², of two equally near ones the even."""
    return round(Fraction(value) * UNIT)


class Cell(NamedTuple):
    """What a cell of one event holds, in whole numbers."""

    rows: int = 0
    predicted: int = 0
    observed: int = 0
    """Both in units of 2⁻⁵²."""


class Moments(NamedTuple):
    """Sums over all rows of one event."""

    square: int = 0
    cube: int = 0
    fourth: int = 0
    product: int = 0
    """In units of 2⁻⁵²."""
    log_likelihood: float = 0.0
    impossible_rows: int = 0


def probability_and_outcome(row: Sequence[float], label: int, event: Any, ties: str) -> tuple[float, int]:
    """p of an event, and its outcome in units: of the top label by the rule for ties."""
    if event != "top":
        return row[event], UNIT * (label == event)
    highest = max(row)
    first = [c for c, p in enumerate(row) if p == highest]
    if ties == "first" or len(first) == 1:
        return highest, UNIT * (label == first[0])
    share = UNIT // len(first) + UNIT % len(first)  # what is left after equal shares for the other ranks
    return highest, share if label in first else 0


def cells(
    labels: Any, rows: Any, event: Any, grid: str, ties: str = "first"
) -> tuple[dict[int, Cell], Moments]:
    """The cells of an event that hold rows, and its moments."""
    eps = float(np.finfo(rows.dtype).eps)
    found: dict[int, Cell] = {}
    sums = Moments()
    for row, label in zip(rows.tolist(), labels.tolist(), strict=True):
        p, y = probability_and_outcome(row, label, event, ties)
        at = cell_of(p, grid, eps)
        old = found.get(at, Cell())
        found[at] = Cell(old.rows + 1, old.predicted + in_units(p), old.observed + y)
        share, impossible = y / UNIT, (p == 0 and y > 0) or (p == 1 and y < UNIT)
        log = 0.0
        if not impossible:
            log += share * math.log(p) if y else 0.0
            log += (1 - share) * math.log1p(-p) if y < UNIT else 0.0
        more = (p * p, p * p * p, (p * p) * (p * p), p * share)
        units = [old + in_units(value) for old, value in zip(sums[:4], more, strict=True)]
        sums = Moments(*units, sums.log_likelihood + log, sums.impossible_rows + impossible)
    return found, sums
