"""The content of a table: the spec, which says what was summed, and the sums."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.bins import Edges
from trueness.old_table.exact_sums import (
    LOG_SCORE_BITS,
    PROBABILITY_BITS,
    ExactSum,
    FloatSum,
    NamedSums,
    Sum,
    make_read_only,
    reduce_to_fields,
)
from trueness.refusals import InvalidValueError
from trueness.variation import CONFIDENCE, ENTROPY, Variation

DETAILS = ("scores", "ranks", "first")
"""What a table sums of each row: everything; ordered probabilities and ranks alone; or of these only the first.

A table that a user gets has everything. One of which a single number is read at once may do with less.
"""


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What the sums of a table are sums of. Only tables of equal specs add."""

    n_classes: int
    variation: Variation
    bins: Edges
    ties: str = "first"
    weighted: bool = False
    detail: str = "scores"
    """One of `DETAILS`."""

    @property
    def n_cells(self) -> int:
        """The number of columns: C ranks, or the first rank alone."""
        return 1 if self.detail == "first" else self.n_classes

    @property
    def range(self) -> tuple[float, float]:
        """The range of the bins, which is that of the measure."""
        return self.variation.range_for(self.n_classes)

    @property
    def has_scores(self) -> bool:
        """Whether log-scores are summed and impossible rows counted."""
        return self.detail == "scores"

    @property
    def n_bytes(self) -> int:
        """The memory of the sums, about."""
        return self.bins.n_bins * (4 * self.n_cells + 16) * 8 + 40 * self.n_cells

    def thresholds(self, eps: float) -> FloatArray:
        """Where V is above each interior edge, for predictions of a dtype with this eps.

        Rounding is relative to the measure's range, or to [0, 1] if the bins are over [0, 1]: rows with different
        numbers of options share bins of confidence, and so the rule for values on an edge.
        """
        return self.bins.thresholds(eps, self.span)

    @property
    def span(self) -> float:
        """The width to which rounding is relative: that of the measure's range."""
        low, high = self.range
        return high - low

    @property
    def is_by_confidence(self) -> bool:
        """Whether the bins are of confidence, as ECE needs."""
        return self.variation == CONFIDENCE

    @property
    def is_by_entropy(self) -> bool:
        """Whether the bins are of entropy, as UCE needs."""
        return self.variation == ENTROPY

    def difference(self, other: TableSpec) -> str | None:
        """The first field in which two specs differ, with both values; None if they are equal."""
        for name in (field.name for field in fields(self)):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                return f"{name} differs: {_contrast(mine, theirs)}"
        return None


def _contrast(mine: Any, theirs: Any) -> str:
    """Two different values, with enough digits to show the difference."""
    shown = _brief(mine)
    if shown != _brief(theirs):
        return f"{shown} and {_brief(theirs)}"
    if not isinstance(mine, Edges):
        return f"{shown} and another of the same name"
    pairs = zip(mine.edges, theirs.edges, strict=True)
    unlike = [f"edges[{k}] is {a!r} and {b!r}" for k, (a, b) in enumerate(pairs) if a != b]
    if mine.snap != theirs.snap:
        unlike.append(f"snap is {mine.snap!r} and {theirs.snap!r}")
    return f"both are {shown}, but {unlike[0]}"


def _brief(value: Any) -> str:
    if not isinstance(value, Edges):
        return repr(value)
    snap = "" if value.snap is None else f", snap {value.snap:g}"
    shown = [f"{edge:z.6g}" for edge in value.edges]
    middle = shown if len(shown) <= 12 else [*shown[:4], "…", *shown[-3:]]
    return f"{value.n_bins} bins [{' '.join(middle)}]{snap}"


@dataclass(frozen=True, slots=True, eq=False)
class Sums(NamedSums):
    """Everything a table adds up, as exact integers (or as floats, if rows are weighted)."""

    rows: IntArray
    """Number of rows in each bin, (M,)."""
    tied_rows: IntArray
    """Rows whose true class had the same probability as another class, ()."""
    impossible_rows: IntArray
    """Rows whose true class had probability zero, ()."""
    ordered: Sum
    """Σq over each bin, (M, C)."""
    rank: Sum
    """Σr over each bin: how often the true class had each rank, (M, C)."""
    variation: Sum
    """Σ𝒱(p) over each bin, (M,)."""
    log_score: Sum
    """Σ(ln p_y + H) over the rows of each bin with p_y > 0, in nats, (M,)."""
    log_score_variance: Sum
    """Σ of the varentropies of all rows of each bin, (M,)."""
    true_probability: Sum | None = None
    """Σp_y, ()."""
    square: Sum | None = None
    """Σ‖p‖², each p·p rounded to a multiple of 2⁻⁵², ()."""
    log_likelihood: Sum | None = None
    """Σ ln p_y over rows with p_y > 0, in nats, ()."""
    possible_variance: Sum | None = None
    """Σ of the varentropies of the rows of each bin with p_y > 0, or of w² times these, (M,)."""
    predicted_rows: IntArray | None = None
    """Rows that predict each class: that of the largest probability, of equal ones the first, (C,)."""
    predicted_scores: Sum | None = None
    """Of these rows, the sums of `log_score` and `log_score_variance`, (C, 2)."""
    predicted_possible_variance: Sum | None = None
    """Of these rows, `possible_variance`, (C,)."""
    predicted_misses: Sum | None = None
    """Of these rows, Σ(1 - q₁), how often the model expects to be wrong, (C,)."""
    label_spread: Sum | None = None
    """Σ(1 - ‖s‖²) over rows with soft labels s, (); left out if no row has one."""
    weight: FloatSum | None = None
    """Σw over each bin of a weighted table, (M,)."""
    weight_square: FloatSum | None = None
    """Σw² over each bin of a weighted table, (M,)."""

    def __post_init__(self) -> None:
        for counts in (self.rows, self.tied_rows, self.impossible_rows, self.predicted_rows):
            if counts is not None:
                make_read_only(counts)

    __reduce__ = reduce_to_fields

    @classmethod
    def zeros(cls, spec: TableSpec) -> Sums:
        """The identity of `+`."""
        m, c = spec.bins.n_bins, spec.n_cells

        def zero(shape: tuple[int, ...], bits: int) -> Sum:
            return FloatSum(np.zeros(shape)) if spec.weighted else ExactSum.zeros(shape, bits)

        scored = spec.has_scores
        return cls(
            rows=np.zeros(m, np.int64),
            tied_rows=np.zeros((), np.int64),
            impossible_rows=np.zeros((), np.int64),
            ordered=zero((m, c), PROBABILITY_BITS),
            rank=zero((m, c), PROBABILITY_BITS),
            variation=zero((m,), PROBABILITY_BITS),
            log_score=zero((m,), LOG_SCORE_BITS),
            log_score_variance=zero((m,), LOG_SCORE_BITS),
            true_probability=zero((), PROBABILITY_BITS) if scored else None,
            square=zero((), PROBABILITY_BITS) if scored else None,
            log_likelihood=zero((), LOG_SCORE_BITS) if scored else None,
            possible_variance=zero((m,), LOG_SCORE_BITS) if scored else None,
            predicted_rows=np.zeros(c, np.int64) if scored else None,
            predicted_scores=zero((c, 2), LOG_SCORE_BITS) if scored else None,
            predicted_possible_variance=zero((c,), LOG_SCORE_BITS) if scored else None,
            predicted_misses=zero((c,), PROBABILITY_BITS) if scored else None,
            weight=FloatSum(np.zeros(m)) if spec.weighted else None,
            weight_square=FloatSum(np.zeros(m)) if spec.weighted else None,
        )

    def reduced_to(self, spec: TableSpec) -> Sums:
        """What a table of this spec has of these sums, which are those of the same table with everything."""
        first = spec.detail == "first"
        return replace(
            Sums.zeros(spec),
            rows=self.rows,
            tied_rows=np.zeros((), np.int64) if first else self.tied_rows,
            ordered=_columns(self.ordered, spec.n_cells),
            rank=_columns(self.rank, spec.n_cells),
            label_spread=self.label_spread,
            weight=self.weight,
            weight_square=self.weight_square,
        )

    @property
    def mass(self) -> FloatArray:
        """Number of rows in each bin, or the sum of their weights, (M,)."""
        return self.rows.astype(np.float64) if self.weight is None else self.weight.value

    @property
    def filled_bins(self) -> IntArray:
        """The bins in which anything is not zero: those with rows."""
        filled = np.zeros(len(self.rows), bool)
        for name, value in self.items():
            if is_by_bin(name, value):
                entries = value if isinstance(value, np.ndarray) else value.value
                filled |= (entries != 0).reshape(len(filled), -1).any(axis=1)
        return np.flatnonzero(filled)

    def merge_runs(self, starts: IntArray) -> Sums:
        """Sums in which each run of bins that begins at one of `starts` is one bin."""
        if len(starts) == 0 or starts[0] != 0 or np.any(np.diff(starts) <= 0):
            cause = f"starts must begin with 0 and increase, got {starts.tolist()}"
            raise InvalidValueError("bad-argument", cause, argument="starts", value=starts.tolist())

        def merge(name: str, value: Any) -> Any:
            if not is_by_bin(name, value):
                return value
            return (
                np.add.reduceat(value, starts) if isinstance(value, np.ndarray) else value.merge_runs(starts)
            )

        return Sums(**{name: merge(name, value) for name, value in self.items()})


def _columns(sums: Sum, n: int) -> Sum:
    """The first columns of sums over bins."""
    if isinstance(sums, FloatSum):
        return FloatSum(sums.value[:, :n])
    return ExactSum(sums.whole[:, :n], sums.fraction[:, :n], sums.bits)


BY_PREDICTED_CLASS = frozenset(it.name for it in fields(Sums) if it.name.startswith("predicted_"))
"""The sums that have an entry for each predicted class instead of each bin."""


def is_by_bin(name: str, value: Any) -> bool:
    """Whether a sum of this name has an entry for each bin: it is not a total, and not of predicted classes."""
    return (
        value if isinstance(value, np.ndarray) else value.value
    ).ndim > 0 and name not in BY_PREDICTED_CLASS
