"""The bandwidth of the kernel: the median of all distances between rows, found without storing them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.refusals import InvalidValueError
from trueness.simplex.rows_as_arrays import SimplexRows
from trueness.simplex.tiles import Pairs, strips

MOST_ROWS = 20_000
"""Up to so many rows the median is that of all pairs, as in published values."""

DRAWN_ROWS = 5000
"""Of more rows, so many are drawn by the seed."""

_SLOTS = 2**12
"""Intervals into which the range of the distances is divided, again and again, until few of them are left."""

_FEW, _DEEPEST = 2**21, 4
"""Distances that are sorted at once; divisions after which an interval is 2⁻⁴⁸ wide and its lower end is the answer."""


def bandwidth_for(rows: SimplexRows, bandwidth: Any, seed: int, n_threads: int | None) -> float:
    """The bandwidth given, or the median of the distances of the rows; refused if it is not above 0."""
    if bandwidth is None:
        return _median_of(rows, seed, n_threads)
    if isinstance(bandwidth, bool) or not isinstance(bandwidth, (int, float)) or not 0 < bandwidth < np.inf:
        cause = f"bandwidth must be a finite number above 0, got {bandwidth!r}"
        raise InvalidValueError("bad-argument", cause, argument="bandwidth", value=bandwidth)
    return float(bandwidth)


def _median_of(rows: SimplexRows, seed: int, n_threads: int | None) -> float:
    predictions = rows.predictions
    if len(predictions) > MOST_ROWS:
        stream = np.random.default_rng([seed, 10])
        predictions = predictions[stream.choice(len(predictions), DRAWN_ROWS, replace=False)]
    median = median_distance(predictions, n_threads)
    if median <= 0:
        cause = "the median distance of the rows of `y_prob` is 0"
        remedy = "at least half of all pairs of rows are equal: pass bandwidth="
        raise InvalidValueError("no-bandwidth", cause, remedy, argument="y_prob")
    return median


def median_distance(predictions: FloatArray, n_threads: int | None = None) -> float:
    """The median of TV(p_i, p_j) over all N² ordered pairs, the N zeros of the diagonal included.

    >>> median_distance(np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]]))
    0.5
    """
    n_pairs = len(predictions) ** 2
    middle = sorted({(n_pairs - 1) // 2, n_pairs // 2})
    return float(np.mean(_Selection(Pairs(predictions, predictions), n_threads).at(middle, ())))


class _Selection:
    """Order statistics of the distances of all ordered pairs."""

    def __init__(self, pairs: Pairs, n_threads: int | None) -> None:
        self.pairs, self.n_threads = pairs, n_threads

    def at(self, places: list[int], path: tuple[int, ...]) -> list[float]:
        """The values at some places in increasing order, counted from 0 within the interval that `path` leads to."""
        counts = self._counts(path)
        upto = np.cumsum(counts)
        slots = np.searchsorted(upto, places, side="right").tolist()
        found: list[float] = []
        for slot in dict.fromkeys(slots):
            inside = [
                place - int(upto[slot] - counts[slot])
                for place, of in zip(places, slots, strict=True)
                if of == slot
            ]
            found += self._inside(inside, (*path, slot), int(counts[slot]))
        return found

    def _inside(self, places: list[int], path: tuple[int, ...], count: int) -> list[float]:
        """`at`, by sorting the values if they are few."""
        if count <= _FEW:
            values = self._values(path)
            return [float(values[place]) for place in places]
        return self.at(places, path) if len(path) < _DEEPEST else [_Interval.of(path).low] * len(places)

    def _counts(self, path: tuple[int, ...]) -> IntArray:
        """How many of all ordered pairs have a distance in each part of an interval."""

        def of_tile(rows: slice, others: slice) -> IntArray:
            counts = np.zeros(_SLOTS, np.int64)
            for distance in self._held(rows, others, path):
                counts += np.bincount(_Interval.of(path).slots(distance), minlength=_SLOTS)
            return counts * (1 if rows == others else 2)

        return np.asarray(np.add.reduce(self.pairs.over_tiles(of_tile, self.n_threads)))

    def _values(self, path: tuple[int, ...]) -> FloatArray:
        """The distances of all ordered pairs in an interval, in increasing order."""

        def of_tile(rows: slice, others: slice) -> FloatArray:
            found = np.concatenate([*self._held(rows, others, path)])
            return np.repeat(found, 1 if rows == others else 2)

        return np.sort(np.concatenate(self.pairs.over_tiles(of_tile, self.n_threads)))

    def _held(self, rows: slice, others: slice, path: tuple[int, ...]) -> Iterator[FloatArray]:
        """The distances of each strip of a tile that lie in an interval."""
        for strip in strips(rows):
            distance = self.pairs.distances(strip, others).astype(np.float64, copy=False)
            shared = np.arange(max(strip.start, others.start), min(strip.stop, others.stop))
            distance[shared - strip.start, shared - others.start] = 0.0
            held = distance.ravel()
            for depth, slot in enumerate(path):
                held = held[_Interval.of(path[:depth]).slots(held) == slot]
            yield held


class _Interval(NamedTuple):
    """A part of [0, 1]."""

    low: float
    width: float

    @classmethod
    def of(cls, path: tuple[int, ...]) -> _Interval:
        """The part that is reached by dividing [0, 1] and its parts, and taking the parts of these numbers."""
        low, width = 0.0, 1.0
        for slot in path:
            width /= _SLOTS
            low += slot * width
        return cls(low, width)

    def slots(self, distance: FloatArray) -> IntArray:
        """The number of the part of each distance of the interval; those at its ends belong to it."""
        return np.clip((distance - self.low) * (_SLOTS / self.width), 0, _SLOTS - 1).astype(np.int64)
