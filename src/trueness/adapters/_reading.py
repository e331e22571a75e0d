"""How tensors of rows are read, what they are summed into, and why rows are refused."""

from __future__ import annotations

from hashlib import blake2b
from typing import NamedTuple

import torch
from torch import Tensor

from trueness._arguments import whole_number
from trueness._arrays import FloatArray
from trueness.adapters._words import N_TOTALS
from trueness.bins import Bins, EqualMass, as_bins
from trueness.rows import sum_tolerance
from trueness.table import TableSpec
from trueness.variation import CONFIDENCE, Variation

KINDS = ("not finite", "outside [0, 1]", "sum is not 1", "label out of range")
GOOD, IGNORED = len(KINDS), len(KINDS) + 1


class Reading(NamedTuple):
    """How rows are read, and what they are summed into: one table, or two of the same rows."""

    spec: TableSpec
    from_logits: bool
    ignore_index: int | None
    confidence_spec: TableSpec | None = None

    @property
    def specs(self) -> tuple[TableSpec, ...]:
        """The spec of each table."""
        return (self.spec,) if self.confidence_spec is None else (self.spec, self.confidence_spec)

    def thresholds(self, eps: float) -> list[FloatArray]:
        """Where the bins of each table end; an error if they are too narrow for rows that were rounded to `eps`."""
        found = []
        for spec in self.specs:
            low, high = spec.variation.range_for(spec.n_classes)
            found.append(spec.bins.thresholds(eps, high - low))
        return found

    def fingerprint(self) -> Tensor:
        """Eight bytes that differ between sums that must not be added."""
        spec, of_confidence = self.spec, self.confidence_spec
        parts: list[object] = [N_TOTALS, spec.n_classes, spec.variation.name, spec.bins.edges, spec.bins.snap]
        parts += [spec.ties, self.from_logits, self.ignore_index]
        if of_confidence is not None:
            parts += [of_confidence.bins.edges, of_confidence.bins.snap]
        digest = blake2b(repr(tuple(parts)).encode(), digest_size=8).digest()
        return torch.tensor(list(digest), dtype=torch.int64)


def n_classes_of(num_classes: int | None, task: str) -> int:
    """The number of classes that a metric is made for."""
    if task == "binary":
        if num_classes not in (None, 2):
            raise ValueError(
                f"num_classes must be 2 or None with task='binary', which has two classes, got {num_classes!r}"
            )
        return 2
    if num_classes is None:
        raise ValueError("num_classes is needed unless task='binary'")
    return whole_number("num_classes", num_classes, 2)


def spec_of(n_classes: int, n_bins: int | Bins, measure: Variation, ties: str) -> TableSpec:
    """The spec of a table in bins that do not depend on the rows."""
    bins = as_bins(n_bins)
    if isinstance(bins, EqualMass):
        raise ValueError(
            "EqualMass bins depend on all rows, which a metric does not store: pass "
            f"EqualMass({bins.n_bins}).fit(probabilities, variation={measure.name!r}), or FineGrid() and coarsen the "
            "table at the end"
        )
    return TableSpec(n_classes, measure, bins.resolve(*measure.range_for(n_classes)), ties)


def confidence_spec_of(spec: TableSpec, bins: int | Bins | None) -> TableSpec | None:
    """The spec of the second table, of the same rows in bins of confidence; None if there is none."""
    if bins is None:
        return None
    if spec.is_by_confidence:
        raise ValueError(
            "confidence_bins must be None with variation='confidence': `table` is binned by confidence already"
        )
    return spec_of(spec.n_classes, bins, CONFIDENCE, spec.ties)


def kinds_of(rows: Tensor, labels: Tensor, reading: Reading, eps: float, slack: float = 0.0) -> Tensor:
    """For each row the index in KINDS of what is wrong with it, or GOOD or IGNORED, (n,).

    `slack` is added to the tolerance for the sum of a row.
    """
    wide = rows.double()
    if reading.from_logits:  # the softmax of NaN, of +inf and of nothing but -inf is NaN
        finite = ~wide.softmax(dim=1).isnan().any(dim=1)
        inside = summed = torch.ones_like(finite)
    else:
        finite = wide.isfinite().all(dim=1)
        inside = ((wide >= 0) & (wide <= 1)).all(dim=1)
        summed = (wide.sum(dim=1) - 1).abs() <= sum_tolerance(rows.shape[1], eps) + slack
    known = (labels >= 0) & (labels < reading.spec.n_classes)
    kind = torch.full_like(labels, GOOD, dtype=torch.int64)
    for number, passed in reversed(list(enumerate((finite, inside, summed, known)))):
        kind = torch.where(passed, kind, number)
    if reading.ignore_index is not None:
        kind = torch.where(labels == reading.ignore_index, IGNORED, kind)
    return kind


def refused(kind: Tensor) -> Tensor:
    """The number of rows that were refused for each reason in KINDS, (4,)."""
    kinds = torch.arange(len(KINDS), device=kind.device)
    return (kind == kinds[:, None]).sum(dim=1)
