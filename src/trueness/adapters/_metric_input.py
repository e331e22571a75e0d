"""How tensors of rows are read, what they are summed into, and for which reasons rows are skipped."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple, Self

import torch
from torch import Tensor

from trueness._arguments import whole_number
from trueness._arrays import FloatArray
from trueness.adapters._integer_words import N_TOTALS
from trueness.bins import Bins
from trueness.refusals import InvalidValueError
from trueness.rows import RowCode
from trueness.table import TablePlan, TableSpec
from trueness.variation import Variation

N_REASONS = 4
"""Reasons for which rows are skipped, each with a count in the state of a metric."""


class MetricInput(NamedTuple):
    """How rows are read, and what they are summed into: one table, or two of the same rows."""

    specs: tuple[TableSpec, ...]
    """The spec of the table by variation, and that of the table by confidence if there is one."""
    from_logits: bool = False
    ignore_index: int | None = None

    @classmethod
    def of(
        cls,
        n_classes: int,
        bins: int | Bins = 10,
        variation: str | Variation = "entropy",
        ties: str = "first",
        *,
        confidence_bins: int | Bins | None = None,
        from_logits: bool = False,
        ignore_index: int | None = None,
    ) -> Self:
        """The input that the arguments of a metric describe."""
        second = confidence_bins is not None
        plan = TablePlan.of(variation, bins, confidence_bins, ties, with_confidence=second)
        if second and plan.confidence_bins is None:
            raise InvalidValueError(
                "bad-argument",
                "confidence_bins must be None with variation='confidence': `table` is binned by confidence already",
                argument="confidence_bins",
            )
        return cls(tuple(plan.calibration_specs(n_classes, weighted=False)), from_logits, ignore_index)

    @property
    def spec(self) -> TableSpec:
        """The spec of the table by variation."""
        return self.specs[0]

    @property
    def reasons(self) -> tuple[RowCode, ...]:
        """The codes of the rows that are counted as skipped, in the order of the state."""
        first = RowCode.BAD_LOGITS if self.from_logits else RowCode.NOT_FINITE
        return (first, RowCode.OUTSIDE_RANGE, RowCode.SUM_NOT_1, RowCode.LABEL_OUT_OF_RANGE)

    def thresholds(self, eps: float) -> list[FloatArray]:
        """Where the bins of each table end; an error if they are too narrow for rows that were rounded to `eps`."""
        ends = []
        for spec in self.specs:
            low, high = spec.variation.range_for(spec.n_classes)
            ends.append(spec.bins.thresholds(eps, high - low))
        return ends

    def fingerprint(self) -> Tensor:
        """Eight bytes that differ between sums that must not be added."""
        spec, *others = self.specs
        parts: list[object] = [N_TOTALS, spec.n_classes, spec.variation.name, spec.bins.edges, spec.bins.snap]
        parts += [spec.ties, self.from_logits, self.ignore_index]
        for other in others:
            parts += [other.bins.edges, other.bins.snap]
        digest = blake2b(repr(tuple(parts)).encode(), digest_size=8).digest()
        return torch.tensor(list(digest), dtype=torch.int64)


def n_classes_of(num_classes: int | None, task: str) -> int:
    """The number of classes of a metric with these arguments."""
    if task == "binary":
        if num_classes not in (None, 2):
            raise InvalidValueError(
                "bad-argument",
                "num_classes must be 2 or None with task='binary', which has two classes, got {value!r}",
                argument="num_classes",
                value=num_classes,
            )
        return 2
    if num_classes is None:
        raise InvalidValueError(
            "bad-argument", "num_classes is needed unless task='binary'", argument="num_classes"
        )
    return whole_number("num_classes", num_classes, 2)
