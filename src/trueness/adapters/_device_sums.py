"""Sums of rows on their own device, in torch operations that never wait for the device.

No step needs a value on the host: shapes are those of the input, and bad rows get weight zero and are counted on the
device. The formulas are those of `trueness.tabulation.row_statistics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from operator import add
from types import MappingProxyType

import torch
from torch import Tensor

from trueness._row_arithmetic import ONE_BITS, UNIT
from trueness.adapters._device_events import event_words
from trueness.adapters._device_rows import DeviceRows, halves, words_of_numbers
from trueness.adapters._integer_words import HALF, LOG_HALF
from trueness.adapters._metric_input import MetricInput
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
) -> dict[str, Tensor]:
    """The words of each state, by its name, of rows (n, C) with labels (n,)."""
    step = max(1, CHUNK_VALUES // rows.shape[1])
    parts = zip(rows.split(step), labels.split(step), strict=True)
    words = [_part_sums(*part, input, eps, thresholds) for part in parts]
    return {name: reduce(add, [part[name] for part in words]) for name in words[0]}


def _part_sums(
    rows: Tensor, labels: Tensor, input: MetricInput, eps: float, thresholds: list[Tensor]
) -> dict[str, Tensor]:
    codes = device_row_codes(rows, labels, input, eps)
    row = DeviceRows.of(rows, labels, codes, input)
    skipped = torch.stack([(codes == int(code)).sum() for code in input.reasons])
    words = {"totals": skipped}
    if input.calibration_specs:
        words["bins"], totals = _table_words(row, input, thresholds)
        words["totals"] = torch.cat([totals, skipped])
    if input.event_layout is not None:
        words["events"] = event_words(row, input.event_layout, thresholds[-1])
    return words


def _table_words(row: DeviceRows, input: MetricInput, thresholds: list[Tensor]) -> tuple[Tensor, Tensor]:
    """The words of the bins of all calibration tables, (M, K), and the totals."""
    first = input.calibration_specs[0].detail == "first"
    ordered = row.p.amax(dim=1, keepdim=True) if first else row.p.sort(dim=1, descending=True).values
    ranks = (column[:, : ordered.shape[1]] for column in row.rank_columns())
    columns = [torch.ones_like(ordered[:, :1]), *halves(ordered), *ranks]
    counts = torch.stack([((row.tied > 1) & row.good).sum(), row.impossible.sum()])
    scores, totals = _score_columns(row, ordered) if input.has_tables else (None, [])
    if scores is None:
        counts = counts * torch.tensor([not first, False], device=counts.device)
    bins = []
    for spec, ends in zip(input.calibration_specs, thresholds, strict=False):  # those of events come last
        variation = MEASURES[spec.variation.name](ordered).clamp(*spec.range)
        scored = [] if scores is None else [words_of_numbers(variation, HALF), scores]
        bins.append(_sums_by_bin(torch.cat([*columns, *scored], dim=1), variation, row.good, ends))
    return torch.cat(bins), torch.cat([counts, *totals])


def _score_columns(row: DeviceRows, ordered: Tensor) -> tuple[Tensor, list[Tensor]]:
    """The words of the scores of each row, (n, K), and of the totals after the counts."""
    log_scores = _log_scores(row, ordered)
    true_probability, square, *brier = _brier_units(row)
    log_words = words_of_numbers(log_scores, LOG_HALF)
    scores = torch.cat([*log_words[:2], *map(_halves_of_units, brier)], dim=1)
    units = _unit_words(torch.stack([true_probability, square]) * row.good).sum(dim=1)
    predicted = _sums_by_predicted_class(row, torch.cat([torch.ones_like(ordered[:, :1]), scores], dim=1))
    return scores, [log_words[2].sum(dim=0).long(), units.flatten(), predicted.flatten()]


def _log_scores(row: DeviceRows, ordered: Tensor) -> Tensor:
    """ln p_y + H, the varentropy and ln p_y, 0 where p_y = 0 and for rows that are not good, (3, n)."""
    logs = ordered.clamp(min=_TINY).log()
    entropy = -(ordered * logs).sum(dim=1)
    varentropy = (ordered * logs * logs).sum(dim=1) + entropy * entropy * (ordered.sum(dim=1) - 2)
    log_p, possible = row.log_p_true(), row.good & ~row.impossible
    return torch.stack(
        [
            torch.where(possible, log_p + entropy, 0.0),
            varentropy.clamp(min=0) * row.good,
            torch.where(possible, log_p, 0.0),
        ]
    )


def _sums_by_predicted_class(row: DeviceRows, columns: Tensor) -> Tensor:
    """The sums of the columns (n, K) over the good rows that predict each class, as integers, (C, K)."""
    zeros = torch.zeros((row.p.shape[1], columns.shape[1]), dtype=torch.int64, device=columns.device)
    return zeros.index_add(0, row.p.argmax(dim=1), torch.where(row.good[:, None], columns, 0.0).long())


def _brier_units(row: DeviceRows) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """p_y, ‖p‖², and the Brier residual p_y - ‖p‖² with its variance Σp³ - ‖p‖⁴, in units of 2⁻⁵², (n,) each."""
    squares = row.p * row.p
    true_probability, square = _units(row.p.gather(1, row.label)), _units(squares)
    cubes, norm = (units.double() * 2.0**-PROBABILITY_BITS for units in (_units(squares * row.p), square))
    variance = (cubes - norm * norm).clamp(min=0)
    return true_probability, square, true_probability - square, _units(variance[:, None])


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
    passed[RowCode.LABEL_OUT_OF_RANGE] = (labels >= 0) & (labels < input.n_classes)
    codes = torch.full_like(labels, int(RowCode.GOOD), dtype=torch.int64)
    for code, of_rows in reversed(passed.items()):
        codes = torch.where(of_rows, codes, int(code))
    return codes if input.ignore_index is None else torch.where(labels == input.ignore_index, IGNORED, codes)


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


def _halves_of_units(units: Tensor) -> Tensor:
    """Integers of 2⁻⁵² as high·2⁻²⁶ + low·2⁻⁵², (n, 2); the high half of a negative number is negative."""
    return torch.stack([units >> HALF, units & ((1 << HALF) - 1)], dim=1).double()


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
