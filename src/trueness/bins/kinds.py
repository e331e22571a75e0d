"""Bins of equal width, the choice of bins by an argument, and finer bins merged into coarser ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import whole_number
from trueness._arrays import IntArray
from trueness.bins.edges import MOST_BINS, Edges
from trueness.bins.equal_mass import EqualMass
from trueness.refusals import InvalidTypeError, InvalidValueError


@dataclass(frozen=True, slots=True)
class EqualWidth:
    """A number of bins of the same width over the measure's attainable range.

    Many narrow ones, such as `EqualWidth(4000)`, can be merged afterwards into coarser ones with
    `CalibrationTable.coarsen`, also of equal mass: for data that is read only once, or tables that are added.

    >>> EqualWidth(4).resolve(0.0, 1.0).edges
    (0.0, 0.25, 0.5, 0.75, 1.0)
    """

    n_bins: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_bins", whole_number("the number of bins", self.n_bins, 1, MOST_BINS))

    def resolve(self, low: float, high: float) -> Edges:
        """The bins as edges."""
        return _equal_edges(self.n_bins, low, high)


@lru_cache(maxsize=16)  # most calls use the same ten bins, and making them costs as much as short inputs
def _equal_edges(n_bins: int, low: float, high: float) -> Edges:
    """e_k = (lo·(M - k) + hi·k)/M, which gives decimals such as 0.3 exactly as they are written."""
    k = np.arange(n_bins + 1)
    edges = (low * (n_bins - k) + high * k) / n_bins
    edges[[0, -1]] = low, high  # to the last bit
    return Edges(edges)


Bins: TypeAlias = EqualWidth | EqualMass | Edges


def as_bins(bins: int | Bins) -> Bins:
    """Bins of equal width for a number, or the object itself."""
    if isinstance(bins, (EqualWidth, EqualMass, Edges)):
        return bins
    if isinstance(bins, (int, np.integer)) and not isinstance(bins, bool):
        return EqualWidth(int(bins))
    cause = f"bins must be a number or EqualWidth, EqualMass or Edges, got {bins!r}"
    raise InvalidTypeError("wrong-type", cause, argument="bins", value=bins)


def confidence_bins_for(bins: Bins, chosen: int | Bins | None = None) -> Bins:
    """The bins of confidence for ECE, beside `bins` of another measure.

    Those that were chosen, else bins of the same kind and number. Edges apply to the other measure only, so they give
    the same number of bins of equal width.
    """
    if chosen is not None:
        return as_bins(chosen)
    return EqualWidth(bins.n_bins) if isinstance(bins, Edges) else bins


def group_starts(fine: Edges, count: NDArray[Any], coarse: Bins) -> tuple[IntArray, tuple[float, ...]]:
    """The first fine bin of each coarser bin, and the coarser edges; each must be a fine edge."""
    if isinstance(coarse, EqualMass):
        starts = coarse.cell_starts(count)
        return starts, (*(fine.edges[start] for start in starts), fine.edges[-1])
    edges = coarse.resolve(fine.edges[0], fine.edges[-1]).edges
    wanted, have = np.array(edges[:-1]), np.array(fine.edges[:-1])
    starts = np.searchsorted(have, wanted - 1e-12)
    missing = np.abs(have[np.minimum(starts, len(have) - 1)] - wanted) > 1e-12
    if np.any(missing):
        raise InvalidValueError(
            "bins-not-nested",
            f"edge {wanted[missing][0]} of the coarser bins is not an edge of the {len(have)} finer ones",
            f"the number of equal-width bins must divide {len(have)}; bins of equal mass accept any number",
            argument="bins",
            value=wanted[missing][0],
        )
    if len(wanted) > 1 and wanted[0] == wanted[1]:
        # A bin for the lowest value alone can only come from such a bin.
        if len(have) == 1 or have[0] != have[1]:
            cause = (
                f"the coarser bins start with [{wanted[0]:g}, {wanted[0]:g}], which is not a "
                "bin of the finer ones"
            )
            raise InvalidValueError("bins-not-nested", cause, argument="bins", value=wanted[0])
        starts[1] = 1
    return starts.astype(np.int64), edges
