"""The confusion matrix that a calibrated model would have, beside the observed one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from trueness._arguments import whole_number
from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import units
from trueness._scratch import Scratch
from trueness._threads import Span, in_threads
from trueness.old_inference.binomial import standardised_gap
from trueness.old_table.exact_sums import PROBABILITY_BITS, ExactSum
from trueness.ranking import ordered_rows
from trueness.refusals import InvalidValueError
from trueness.rows import Rows, row_sums

MOST_CLASSES = 50
"""More classes make a matrix that nobody can read."""

_BLOCK_ROWS = 2047
"""Units of 2⁻⁵² of so many rows fit in 64 bits, with the sign."""


@dataclass(frozen=True, slots=True, eq=False)
class ConfusionTable:
    """Rows by predicted class (first axis) and true class: expected and observed numbers, (C, C).

    A picture, not a test: the log-score by predicted class detects more. Tables of parts of the data add.
    """

    expected_sum: ExactSum
    """Σp over the rows that predict each class."""
    observed: IntArray
    """How many of these rows have each true class."""
    class_names: tuple[str, ...] | None = None

    @property
    def n_classes(self) -> int:
        """C."""
        return len(self.observed)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.observed.sum())

    @property
    def expected(self) -> FloatArray:
        """The numbers that a calibrated model would have on average, (C, C)."""
        return self.expected_sum.value

    @property
    def gap(self) -> FloatArray:
        """Observed less expected in standard deviations of a calibrated model, (C, C); NaN if never predicted."""
        n = self.observed.sum(axis=1, keepdims=True).astype(np.float64)
        safe = np.where(n > 0, n, 1.0)
        gaps = standardised_gap(safe, self.observed / safe, np.clip(self.expected / safe, 0.0, 1.0))
        return np.where(n > 0, gaps, np.nan)

    def name_of(self, index: int) -> str:
        """The name of a class; its index if classes have no names."""
        return str(index) if self.class_names is None else self.class_names[index]

    def __add__(self, other: object) -> ConfusionTable:
        if not isinstance(other, ConfusionTable):
            return NotImplemented
        if self.n_classes != other.n_classes:
            cause = f"confusion tables of {self.n_classes} and {other.n_classes} classes cannot be added"
            raise InvalidValueError("different-tables", cause)
        names = self.class_names if self.class_names is not None else other.class_names
        return ConfusionTable(self.expected_sum + other.expected_sum, self.observed + other.observed, names)

    def __radd__(self, other: object) -> ConfusionTable:
        """`sum` begins with 0, which counts as no rows."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConfusionTable):
            return NotImplemented
        same = self.n_classes == other.n_classes and self.expected_sum.same(other.expected_sum)
        return same and bool(np.array_equal(self.observed, other.observed))

    __hash__ = None  # type: ignore[assignment]


def tabulate_confusion(
    y_true: Any,
    y_prob: Any,
    *,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_threads: int | None = None,
) -> ConfusionTable:
    """Sum the rows by predicted and true class: how often each confusion is expected and observed.

    Rows are as in `tabulate`, with at most 50 classes.

    >>> table = tabulate_confusion([0, 1, 1], [[0.7, 0.3], [0.6, 0.4], [0.2, 0.8]])
    >>> table.expected.round(6).tolist(), table.observed.tolist()
    ([[1.3, 0.7], [0.2, 0.8]], [[1, 1], [0, 1]])
    """
    rows = Rows.of(y_true, y_prob, from_logits=from_logits, normalize=normalize, classes=classes)
    if rows.n_classes > MOST_CLASSES:
        cause = f"`y_prob` has {rows.n_classes} classes"
        remedy = f"a confusion table is for at most {MOST_CLASSES} classes"
        raise InvalidValueError("too-many-classes", cause, remedy, argument="y_prob")
    workers = 1 if n_threads is None else whole_number("n_threads", n_threads, 1)
    parts = in_threads(lambda some: _sum_blocks(rows, some), list(rows.spans(rows=_BLOCK_ROWS)), workers)
    expected, observed = zip(*parts, strict=True)
    return ConfusionTable(reduce(add, expected), sum(observed), rows.class_names)


def _sum_blocks(rows: Rows, spans: Iterable[Span]) -> tuple[ExactSum, IntArray]:
    shape, scratch = (rows.n_classes, rows.n_classes), Scratch()
    expected, observed = ExactSum.zeros(shape, PROBABILITY_BITS), np.zeros(shape, np.int64)
    assert rows.labels is not None
    for start, stop in spans:
        block = rows.block(start, stop).astype(np.float64, copy=False)
        with np.errstate(all="ignore"):
            ordered = ordered_rows(block, scratch)
            row_sums(rows, ordered, ordered + 1.0, start)
        predicted = block.argmax(axis=1)
        order = np.argsort(predicted, kind="stable")
        present, first = np.unique(predicted[order], return_index=True)
        total = np.zeros(shape, np.int64)
        total[present] = np.add.reduceat(units(block)[order], first, axis=0)
        expected += ExactSum.with_carry(np.zeros(shape, np.int64), total, PROBABILITY_BITS)
        np.add.at(observed, (predicted, rows.labels.block(start, stop)), 1)
    return expected, observed
