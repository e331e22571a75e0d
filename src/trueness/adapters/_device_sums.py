"""Sums of rows on their own device, in torch operations that never wait for the device.

No step needs a value on the host: shapes are those of the input, and bad rows get weight zero and are counted on the
device. The formulas are those of `trueness.tabulation.row_statistics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import torch
from torch import Tensor

from trueness._row_arithmetic import ONE_BITS, UNIT
from trueness.adapters._integer_words import HALF, LOG_HALF
from trueness.adapters._metric_input import MetricInput
from trueness.ranking import LEAST_LOG
from trueness.rows import RowCode, sum_tolerance_units
from trueness.table.exact_sums import PROBABILITY_BITS

FEW_BINS = 64
"""With fewer bins, sums are a product of matrices; with more, each row is added to its bin."""

CHUNK_VALUES = 2**22
"""Intermediate results are about ten times as large as the rows, so large batches are split."""

IGNORED = len(RowCode)
"""Beside the codes of `RowCode`: the row is skipped and not counted."""

_TINY = torch.finfo(torch.float64).tiny

Measure = Callable[[Tensor], Tensor]


def device_sums(
    rows: Tensor, labels: Tensor, input: MetricInput, eps: float, thresholds: list[Tensor]
) -> tuple[Tensor, Tensor]:
    """The words of the bins of all tables, (M, K), and the totals, (21,), of rows (n, C) with labels (n,)."""
    step = max(1, CHUNK_VALUES // rows.shape[1])
    parts = zip(rows.split(step), labels.split(step), strict=True)
    words, totals = zip(*(_part_sums(*part, input, eps, thresholds) for part in parts), strict=True)
    return sum(words[1:], words[0]), sum(totals[1:], totals[0])


def _part_sums(
    rows: Tensor, labels: Tensor, input: MetricInput, eps: float, thresholds: list[Tensor]
) -> tuple[Tensor, Tensor]:
    spec = input.spec
    codes = device_row_codes(rows, labels, input, eps)
    good = codes == int(RowCode.GOOD)  # torch.compile does not support members of enums
    scores = rows.double()
    p = scores.softmax(dim=1) if input.from_logits else scores
    p = torch.where(
        good[:, None], p, 1 / spec.n_classes
    )  # any finite value, since these rows have weight zero
    ordered = p.sort(dim=1, descending=True).values
    logs = ordered.clamp(min=_TINY).log()
    entropy = -(ordered * logs).sum(dim=1)
    varentropy = (ordered * logs * logs).sum(dim=1) + entropy * entropy * (ordered.sum(dim=1) - 2)

    label = labels.clamp(0, spec.n_classes - 1).long()[:, None]
    of_true = scores.gather(1, label)
    equal = scores == of_true
    tied = equal.sum(dim=1)
    first = (scores > of_true).sum(dim=1)
    log_p = of_true - scores.logsumexp(dim=1, keepdim=True) if input.from_logits else of_true.log()
    impossible = (of_true[:, 0] == (-math.inf if input.from_logits else 0.0)) & good
    log_p = log_p[:, 0].clamp(LEAST_LOG, 0.0)

    classes = torch.arange(spec.n_classes, device=rows.device)
    if spec.ties == "first":
        rank = first + (equal & (classes < label)).sum(dim=1)
        ranks = [(classes == rank[:, None]).double()]
    else:
        ranks = _shares(classes, first[:, None], tied.clamp(min=1)[:, None])
    columns = [torch.ones_like(ordered[:, :1]), *_halves(ordered), *ranks]
    words = []
    for of_table, ends in zip(input.specs, thresholds, strict=True):
        variation = MEASURES[of_table.variation.name](ordered)
        variation = variation.clamp(*of_table.variation.range_for(spec.n_classes))
        words.append(
            _sums_by_bin(torch.cat([*columns, _words(variation, HALF)], dim=1), variation, good, ends)
        )

    possible = good & ~impossible
    logs = torch.stack(
        [
            torch.where(possible, log_p + entropy, 0.0),
            varentropy.clamp(min=0) * good,
            torch.where(possible, log_p, 0.0),
        ]
    )
    log_words = _words(logs, LOG_HALF).sum(dim=1).long()
    units = torch.stack([_units(p.gather(1, label)), _units(p * p)]) * good
    unit_words = _unit_words(units).sum(dim=1)
    counts = torch.stack([((tied > 1) & good).sum(), impossible.sum()])
    return torch.cat(words), torch.cat(
        [counts, log_words.flatten(), unit_words.flatten(), _count(codes, input)]
    )


def device_row_codes(rows: Tensor, labels: Tensor, input: MetricInput, eps: float) -> Tensor:
    """The `RowCode` of each row, or IGNORED, (n,): the checks of `trueness.rows.row_codes` on the device."""
    wide = rows.double()
    if input.from_logits:  # the softmax of NaN, of +inf and of nothing but -inf is NaN
        passed = {RowCode.BAD_LOGITS: ~wide.softmax(dim=1).isnan().any(dim=1)}
    else:
        passed = {
            RowCode.NOT_FINITE: wide.isfinite().all(dim=1),
            RowCode.OUTSIDE_RANGE: ((wide >= 0) & (wide <= 1)).all(dim=1),
            RowCode.SUM_NOT_1: _sums_to_one(wide, eps),
        }
    passed[RowCode.LABEL_OUT_OF_RANGE] = (labels >= 0) & (labels < input.spec.n_classes)
    codes = torch.full_like(labels, int(RowCode.GOOD), dtype=torch.int64)
    for code, of_rows in reversed(passed.items()):
        codes = torch.where(of_rows, codes, int(code))
    return codes if input.ignore_index is None else torch.where(labels == input.ignore_index, IGNORED, codes)


def _count(codes: Tensor, input: MetricInput) -> Tensor:
    """The number of rows that are skipped for each reason, (4,)."""
    return torch.stack([(codes == int(code)).sum() for code in input.reasons])


def _sums_to_one(p: Tensor, eps: float) -> Tensor:
    """Whether the sum of each row is near 1, (n,); a sum of thousands wraps round in 64 bits, so it is checked too."""
    near = (_units(p) - UNIT).abs() <= sum_tolerance_units(p.shape[1], eps)
    return near & (p.sum(dim=1) < 2.0)


def _units(p: Tensor) -> Tensor:
    """The sums of rows of probabilities, each rounded to a multiple of 2⁻⁵², as integers of that unit, (n,)."""
    return ((p + 1.0).view(torch.int64) - ONE_BITS).sum(dim=1)


def _unit_words(units: Tensor) -> Tensor:
    """Integers of 2⁻⁵² as whole + high·2⁻²⁶ + low·2⁻⁵², on a new last axis."""
    mask = (1 << HALF) - 1
    return torch.stack([units >> PROBABILITY_BITS, (units >> HALF) & mask, units & mask], dim=-1)


def _halves(x: Tensor) -> tuple[Tensor, Tensor]:
    """x in [0, 1] as high·2⁻²⁶ + low·2⁻⁵², rounded to that grid (half to even) as the core does."""
    scaled = x * 2.0**HALF
    high = scaled.floor()
    return high, ((scaled - high) * 2.0**HALF).round()


def _words(x: Tensor, half: int) -> Tensor:
    """x as whole + high·2⁻ʰ + low·2⁻²ʰ, on a new last axis."""
    whole = x.floor()
    scaled = (x - whole) * 2.0**half
    high = scaled.floor()
    return torch.stack([whole, high, ((scaled - high) * 2.0**half).round()], dim=-1)


def _shares(classes: Tensor, first: Tensor, tied: Tensor) -> list[Tensor]:
    """One row over k tied ranks: ⌊2⁵²/k⌋ to each from the first on, the remainder to the first; in two halves."""
    share, remainder = (1 << PROBABILITY_BITS) // tied, (1 << PROBABILITY_BITS) % tied
    units = torch.where((classes >= first) & (classes < first + tied), share, 0)
    units = units + torch.where(classes == first, remainder, 0)
    return [(units >> HALF).double(), (units & ((1 << HALF) - 1)).double()]


def _sums_by_bin(columns: Tensor, variation: Tensor, good: Tensor, thresholds: Tensor) -> Tensor:
    """The sums of the columns (n, K) over the good rows of each bin, as integers, (M, K)."""
    if len(thresholds) < FEW_BINS:
        # Sums of all rows above each edge; the difference of two neighbours is exact.
        above = torch.cat([good[None], (variation > thresholds[:, None]) & good]).double()
        upwards = (above @ columns).long()
        return torch.cat([upwards[:-1] - upwards[1:], upwards[-1:]])
    index = torch.bucketize(variation, thresholds)
    zeros = torch.zeros((len(thresholds) + 1, columns.shape[1]), dtype=torch.int64, device=columns.device)
    return zeros.index_add(0, index, torch.where(good[:, None], columns, 0.0).long())


def _entropy(x: Tensor) -> Tensor:
    return -(x * x.clamp(min=_TINY).log()).sum(dim=1) / math.log(x.shape[1])


def _mean_difference(x: Tensor) -> Tensor:
    c = x.shape[1]
    times = (c - 1) - 2.0 * torch.arange(c, device=x.device, dtype=x.dtype)  # x falls along the row
    return 1 - (x * times).sum(dim=1) / (c - 1)


def _deviation(x: Tensor) -> Tensor:
    c = x.shape[1]
    return 1 - (c / (c - 1) * ((x - 1 / c) ** 2).sum(dim=1)).sqrt()


def _mode_deviation(x: Tensor) -> Tensor:
    return 1 - (((x[:, :1] - x) ** 2).sum(dim=1) / (x.shape[1] - 1)).sqrt()


def _ratio(x: Tensor) -> float:
    return float(x.shape[1] / (x.shape[1] - 1))


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        "entropy": _entropy,
        "confidence": lambda x: x[:, 0],
        "max_probability": lambda x: x[:, 0],
        "wilcox_variation_ratio": lambda x: _ratio(x) * (1 - x[:, 0]),
        "iqv": lambda x: _ratio(x) * (1 - (x * x).sum(dim=1)),
        "average_deviation": lambda x: 1 - _ratio(x) / 2 * (x - 1 / x.shape[1]).abs().sum(dim=1),
        "mean_difference": _mean_difference,
        "standard_deviation": _deviation,
        "mode_deviation": _mode_deviation,
        "margin": lambda x: 1 - (x[:, 0] - x[:, 1]),
    }
)
"""The formulas of `trueness.variation`, on rows in falling order."""
