"""How tensors of rows are to be read, and what is wrong with those that are refused."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from trueness._border import sum_tolerance
from trueness._content import TableSpec
from trueness._sums import FloatArray

KINDS = ("not finite", "outside [0, 1]", "sum is not 1", "label out of range")
GOOD, IGNORED = len(KINDS), len(KINDS) + 1


class Reading(NamedTuple):
    """How rows are to be read."""

    spec: TableSpec
    from_logits: bool
    ignore_index: int | None

    def thresholds(self, eps: float) -> FloatArray:
        """Where bins end; an error if they are too narrow for rows that were rounded so."""
        low, high = self.spec.variation.range_for(self.spec.n_classes)
        return self.spec.bins.thresholds(eps, high - low)


def kinds_of(rows: Tensor, labels: Tensor, reading: Reading, eps: float, slack: float = 0.0) -> Tensor:
    """For each row the number of what is wrong with it, GOOD or IGNORED, (n,); sums may be off by `slack` more."""
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
    """How many rows there are of each bad kind, (4,)."""
    kinds = torch.arange(len(KINDS), device=kind.device)
    return (kind == kinds[:, None]).sum(dim=1)
