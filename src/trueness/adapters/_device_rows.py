"""Rows on their own device: probabilities, the rank of the true class, and numbers as words."""

from __future__ import annotations

import math
from typing import NamedTuple, Self

import torch
from torch import Tensor

from trueness.adapters._integer_words import HALF
from trueness.adapters._metric_input import MetricInput
from trueness.ranking import LEAST_LOG
from trueness.rows import RowCode
from trueness.table.exact_sums import PROBABILITY_BITS


class DeviceRows(NamedTuple):
    """Rows (n, C) and their labels; rows that are not good have finite probabilities and are to count nothing."""

    good: Tensor
    """Whether each row counts, (n,)."""
    p: Tensor
    """Probabilities, (n, C)."""
    label: Tensor
    """Within range, (n, 1)."""
    scores: Tensor
    """What was given, by which classes are ranked: logits or probabilities, (n, C)."""
    of_true: Tensor
    """The score of the true class, (n, 1)."""
    equal: Tensor
    """Whether the score of a class is that of the true class, (n, C)."""
    tied: Tensor
    """The number of classes with this score, (n,)."""
    impossible: Tensor
    """Whether the true class of a good row had probability zero, (n,)."""
    from_logits: bool
    ties: str

    @classmethod
    def of(cls, rows: Tensor, labels: Tensor, codes: Tensor, input: MetricInput) -> Self:
        """The rows of which `device_row_codes` are these."""
        good = codes == int(RowCode.GOOD)  # torch.compile does not support members of enums
        scores = rows.double()
        p = scores.softmax(dim=1) if input.from_logits else scores
        p = torch.where(good[:, None], p, 1 / input.n_classes)
        label = labels.clamp(0, input.n_classes - 1).long()[:, None]
        of_true = scores.gather(1, label)
        equal = scores == of_true
        impossible = (of_true[:, 0] == (-math.inf if input.from_logits else 0.0)) & good
        return cls(
            good,
            p,
            label,
            scores,
            of_true,
            equal,
            equal.sum(dim=1),
            impossible,
            input.from_logits,
            input.ties,
        )

    def log_p_true(self) -> Tensor:
        """ln p of the true class, at least that of the least logit, (n,)."""
        of_true = self.of_true[:, 0]
        log_p = of_true - self.scores.logsumexp(dim=1) if self.from_logits else of_true.log()
        return log_p.clamp(LEAST_LOG, 0.0)

    def rank_columns(self) -> list[Tensor]:
        """Which rank the true class has, (n, C); in two halves if classes of equal score share the ranks."""
        classes = torch.arange(self.p.shape[1], device=self.p.device)
        first = (self.scores > self.of_true).sum(dim=1)
        if self.ties == "first":
            rank = first + (self.equal & (classes < self.label)).sum(dim=1)
            return [(classes == rank[:, None]).double()]
        return _shares(classes, first[:, None], self.tied.clamp(min=1)[:, None])

    def first_rank(self) -> Tensor:
        """Whether the true class has the first rank, or its share of it, (n,)."""
        columns = [column[:, 0] for column in self.rank_columns()]
        return (
            columns[0] if len(columns) == 1 else columns[0] * 2.0**-HALF + columns[1] * 2.0**-PROBABILITY_BITS
        )


def _shares(classes: Tensor, first: Tensor, tied: Tensor) -> list[Tensor]:
    """One row over k tied ranks: ⌊2⁵²/k⌋ to each from the first on, the remainder to the first; in two halves."""
    share, remainder = (1 << PROBABILITY_BITS) // tied, (1 << PROBABILITY_BITS) % tied
    units = torch.where((classes >= first) & (classes < first + tied), share, 0)
    units = units + torch.where(classes == first, remainder, 0)
    return [(units >> HALF).double(), (units & ((1 << HALF) - 1)).double()]


def halves(x: Tensor) -> tuple[Tensor, Tensor]:
    """x in [0, 1] as high·2⁻²⁶ + low·2⁻⁵², rounded to that grid (half to even) as the core does."""
    scaled = x * 2.0**HALF
    high = scaled.floor()
    return high, ((scaled - high) * 2.0**HALF).round()


def words_of_numbers(x: Tensor, half: int) -> Tensor:
    """x as whole + high·2⁻ʰ + low·2⁻²ʰ, on a new last axis."""
    whole = x.floor()
    scaled = (x - whole) * 2.0**half
    high = scaled.floor()
    return torch.stack([whole, high, ((scaled - high) * 2.0**half).round()], dim=-1)
