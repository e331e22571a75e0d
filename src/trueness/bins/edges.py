"""Bins between given edges, and the rule for values that lie on an edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness.refusals import InvalidTypeError, InvalidValueError

MOST_BINS = 10**7

EQUAL_MASS_SNAP = 1e-12
"""Edges that were taken from the data are compared as finely as V is computed."""


@dataclass(frozen=True, slots=True)
class Edges:
    """Bins between given edges, in increasing order from the bottom of the measure's range to its top.

    The first two edges may be equal: a bin for the lowest value alone. `snap` is how far above an edge a value may
    lie and still be on it; None means the rule for computed or rounded values, by the dtype of the input.

    >>> Edges([0, 0.2, 0.5, 1]).n_bins
    3
    """

    edges: tuple[float, ...]
    snap: float | None = None

    def __init__(self, edges: Sequence[float] | NDArray[Any], snap: float | None = None) -> None:
        if isinstance(edges, (str, bytes)) or not hasattr(edges, "__iter__"):
            raise _wrong_type(edges)
        try:
            values = tuple(float(edge) for edge in edges)
        except (TypeError, ValueError) as error:
            raise _wrong_type(edges) from error
        steps = np.diff(values)
        if len(values) < 2 or not np.all(np.isfinite(values)):
            raise _bad_edges(f"edges must be at least two finite numbers, got {list(values)}", values)
        if values[0] == values[-1] or steps[0] < 0 or np.any(steps[1:] <= 0):
            cause = f"edges must increase (only the first two may be equal), got {list(values)}"
            raise _bad_edges(cause, values)
        if snap is not None and not 0 <= snap < np.inf:
            raise InvalidValueError(
                "bad-argument",
                f"snap must be None or a number of at least 0, got {snap!r}",
                argument="snap",
                value=snap,
            )
        object.__setattr__(self, "edges", values)
        object.__setattr__(self, "snap", None if snap is None else float(snap))

    @property
    def n_bins(self) -> int:
        """The number of bins, one fewer than edges."""
        return len(self.edges) - 1

    def resolve(self, low: float, high: float) -> Edges:
        """These edges, after checking that they cover the measure's range."""
        slack = (high - low) * 2.0**-22
        if self.edges[0] > low + slack or self.edges[-1] < high - slack:
            raise _bad_edges(
                f"edges run from {self.edges[0]} to {self.edges[-1]}, but the measure runs from {low} to "
                f"{high}: rows outside would have no bin",
                self.edges,
            )
        return self

    def thresholds(self, eps: float, span: float) -> FloatArray:
        """e_k + snap for the interior edges: beyond it V is above edge k.

        eps is that of the predictions' dtype, span the width of the measure's attainable range.
        """
        return _thresholds(self, eps, span)

    @staticmethod
    def index(values: FloatArray, thresholds: FloatArray) -> NDArray[np.unsignedinteger]:
        """The bin of each value: the number of interior edges that it lies above.

        In the narrowest type that holds it, since up to 16 bits are sorted by radix.
        """
        if len(thresholds) < 24:  # quicker to count than to search
            return np.asarray(np.add.reduce(values > thresholds[:, None], axis=0, dtype=np.uint8))
        narrow = np.uint16 if len(thresholds) < 2**16 else np.uint32
        return np.searchsorted(thresholds, values, side="left").astype(narrow)


@lru_cache(maxsize=16)
def _thresholds(bins: Edges, eps: float, span: float) -> FloatArray:
    """The rule for values on an edge: V is above edge k if V > e_k + snap.

    snap = (hi - lo)·max(2⁻²², 4·eps(dtype)): float32 rows, decimals and computed logarithms all miss an edge by less,
    and bins that differ by so little are never intended.
    """
    edges = np.array(bins.edges)
    snap = span * max(2.0**-22, 4.0 * eps) if bins.snap is None else bins.snap
    widths = np.diff(edges)
    narrowest = float(widths[widths > 0].min())
    if snap >= narrowest / 2:
        wider = (
            ", or cast y_prob to a wider dtype if its values are more exact than that" if eps > 1e-10 else ""
        )
        cause = (
            f"bins of width {narrowest:g} are too narrow, because values within {snap:g} of an edge count "
            f"as on it (predictions whose dtype has eps {eps:g})"
        )
        remedy = f"use fewer bins{wider}, or pass Edges(..., snap=...)"
        raise InvalidValueError("bins-too-narrow", cause, remedy, argument="bins", value=narrowest)
    return np.asarray(edges[1:-1] + snap)


def _wrong_type(edges: Any) -> InvalidTypeError:
    cause = f"edges must be a flat list of numbers, got {edges!r}"
    return InvalidTypeError("wrong-type", cause, argument="edges", value=edges)


def _bad_edges(cause: str, edges: Sequence[float]) -> InvalidValueError:
    return InvalidValueError("bad-edges", cause, argument="edges", value=list(edges))
