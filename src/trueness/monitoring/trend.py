"""The trend of a monitor: the gap of each look, and of all looks so far (section 8)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray
from trueness.monitoring._entries import Entry, rank_tables
from trueness.monitoring.bands import frequency_band, running_factor, wilson_interval
from trueness.monitoring.results import TrendPoint
from trueness.old_inference.estimates import ResampledTable, net_gap
from trueness.old_inference.normal import normal_quantile
from trueness.old_table import AnyRankTable

if TYPE_CHECKING:
    from trueness.monitoring.monitor import Monitor

GAPS = ("top-label", "net")
RESAMPLES = 199
"""Of each net gap; its standard deviation is then known to 5 %."""


class _Columns(NamedTuple):
    """The gap of each look with its interval, and the running gap with its band, (t,) each."""

    gap: FloatArray
    low: FloatArray
    high: FloatArray
    running: FloatArray
    band_low: FloatArray
    band_high: FloatArray


def trend_of(monitor: Monitor, gap: str) -> tuple[TrendPoint, ...]:
    """The points of the trend in order of arrival; NaN where there are no rows or no rank tables."""
    require_choice("gap", gap, GAPS)
    entries, alpha = monitor.entries, monitor.settings.alpha
    size = monitor.settings.largest_cluster
    if not entries:
        return ()
    columns = _top_label(entries, alpha, size) if gap == "top-label" else _net(entries, alpha, size)
    lines = np.stack(columns, axis=1).tolist()
    return tuple(
        TrendPoint(entry.at, entry.n_rows, *line) for entry, line in zip(entries, lines, strict=True)
    )


def _top_label(entries: Sequence[Entry], alpha: float, size: float) -> _Columns:
    """q̄_1 - r̄_1, with Wilson's interval, and the band of equation 8 in terms of clusters."""
    sums = np.array([_top_label_sums(rank_tables(entry)) for entry in entries])
    with np.errstate(divide="ignore", invalid="ignore"):
        n, predicted, observed = sums.T
        gap = (predicted - observed) / n
        low, high = wilson_interval(observed / n, n / size, 1 - alpha)
        total, all_predicted, all_observed = np.cumsum(sums, axis=0).T
        confidence = all_predicted / total
        band_low, band_high = frequency_band(all_observed / size, total / size, alpha)
        bands = np.where(total > 0, [confidence - band_high, confidence - band_low], np.nan)
        mean = predicted / n
        return _Columns(gap, mean - high, mean - low, confidence - all_observed / total, *bands)


def _top_label_sums(tables: Sequence[AnyRankTable]) -> list[float]:
    """Rows, predicted and observed number of top labels."""
    return [
        float(sum(float(column.sum()) for column in columns))
        for columns in (
            [table.count for table in tables],
            [table.ordered_sum[:, 0] for table in tables],
            [table.rank_count[:, 0] for table in tables],
        )
    ]


def _net(entries: Sequence[Entry], alpha: float, size: float) -> _Columns:
    """The debiased net gap with its normal interval, and the band of equation 9."""
    lines: list[list[float]] = []
    total: AnyRankTable | None = None
    first = 0.0
    for entry in entries:
        tables = [table for table in rank_tables(entry) if table.n_rows > 0]
        if not tables:
            lines.append([math.nan] * 3 + (lines[-1][3:] if lines else [math.nan] * 3))
            continue
        look = sum(tables[1:], start=tables[0])
        total = look if total is None else total + look
        first = first or float(look.count.sum())
        value, sd = _net_gap(look, size)
        reach = normal_quantile(1 - alpha) * sd
        running, running_sd = _net_gap(total, size)
        factor = running_factor(float(total.count.sum()), first, alpha)
        lines.append(
            [
                value,
                value - reach,
                value + reach,
                running,
                running - factor * running_sd,
                running + factor * running_sd,
            ]
        )
    return _Columns(*np.array(lines).T)


def _net_gap(table: AnyRankTable, size: float) -> tuple[float, float]:
    """The debiased net gap and its standard deviation; clusters of m rows have √m times that of single rows."""
    resampled = ResampledTable.of(table, RESAMPLES, [0])
    return net_gap(resampled, 0.95).debiased, resampled.net_sd * math.sqrt(size)
