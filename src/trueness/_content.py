"""What a table is made of: the spec that says what was summed, and the sums themselves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from trueness._sums import LOG_SCORE_BITS, PROBABILITY_BITS, ExactSum, FloatSum, IntArray, Sum, frozen
from trueness.binning import Edges
from trueness.variation import Variation


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What the sums of a table are sums of. Only tables of equal specs add."""

    n_classes: int
    variation: Variation
    bins: Edges
    ties: str = "first"
    weighted: bool = False

    def difference(self, other: TableSpec) -> str | None:
        """The first field in which two specs differ, with both values; None if they are equal."""
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if mine != theirs:
                return f"{field.name} differs: {_brief(mine)} and {_brief(theirs)}"
        return None


def _brief(value: Any) -> str:
    if not isinstance(value, Edges):
        return repr(value)
    snap = "" if value.snap is None else f", snap {value.snap:g}"
    shown = [f"{edge:.6g}" for edge in value.edges]
    middle = shown if len(shown) <= 12 else [*shown[:4], "…", *shown[-3:]]
    return f"{value.n_bins} bins [{' '.join(middle)}]{snap}"


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """Everything a table adds up, as exact integers (or as floats, if rows are weighted)."""

    rows: IntArray
    """Number of rows in each bin, (M,)."""
    tied_rows: IntArray
    """Rows whose true class shared its probability with another class, ()."""
    impossible_rows: IntArray
    """Rows whose true class had probability zero, ()."""
    ordered: Sum
    """Σq over each bin, (M, C)."""
    rank: Sum
    """Σr over each bin: how often the true class stood at each rank, (M, C)."""
    variation: Sum
    """Σ𝒱(p) over each bin, (M,)."""
    log_score: Sum
    """Σ(ln p_y + H) over rows with p_y > 0, in nats, ()."""
    log_score_variance: Sum
    """Σ of the varentropies of all rows, ()."""
    weight: FloatSum | None = None
    """Σw over each bin of a weighted table, (M,)."""
    weight_square: FloatSum | None = None
    """Σw² over each bin of a weighted table, (M,)."""

    def __post_init__(self) -> None:
        for counts in (self.rows, self.tied_rows, self.impossible_rows):
            frozen(counts)

    @classmethod
    def zeros(cls, spec: TableSpec) -> Sums:
        """The identity of `+`."""
        m, c = spec.bins.n_bins, spec.n_classes

        def zero(shape: tuple[int, ...], bits: int) -> Sum:
            return FloatSum(np.zeros(shape)) if spec.weighted else ExactSum.zeros(shape, bits)

        return cls(
            rows=np.zeros(m, np.int64),
            tied_rows=np.zeros((), np.int64),
            impossible_rows=np.zeros((), np.int64),
            ordered=zero((m, c), PROBABILITY_BITS),
            rank=zero((m, c), PROBABILITY_BITS),
            variation=zero((m,), PROBABILITY_BITS),
            log_score=zero((), LOG_SCORE_BITS),
            log_score_variance=zero((), LOG_SCORE_BITS),
            weight=FloatSum(np.zeros(m)) if spec.weighted else None,
            weight_square=FloatSum(np.zeros(m)) if spec.weighted else None,
        )

    def items(self) -> Iterable[tuple[str, Any]]:
        """The fields that are there, by name."""
        values = ((field.name, getattr(self, field.name)) for field in fields(self))
        return ((name, value) for name, value in values if value is not None)

    def __add__(self, other: Sums) -> Sums:
        def added(a: Any, b: Any) -> Any:
            return np.asarray(a + b) if isinstance(a, np.ndarray) else a + b

        pairs = zip(self.items(), other.items(), strict=True)
        return Sums(**{name: added(mine, theirs) for (name, mine), (_, theirs) in pairs})

    def same(self, other: Sums, *names: str) -> bool:
        """Whether the named fields (by default all) are equal to the last bit."""
        chosen = names or tuple(name for name, _ in self.items())
        return all(_same(getattr(self, name), getattr(other, name)) for name in chosen)

    def grouped(self, starts: IntArray) -> Sums:
        """Runs of bins that begin at `starts` merged into one each; totals over all rows stay."""

        def merged(value: Any) -> Any:
            if isinstance(value, np.ndarray):
                return value if value.ndim == 0 else np.add.reduceat(value, starts)
            return value if value.value.ndim == 0 else value.grouped(starts)

        return Sums(**{name: merged(value) for name, value in self.items()})


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else bool(a.same(b))
