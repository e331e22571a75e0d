"""Metrics of cells compared with theory: readings, verdicts, slopes, and their files."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from trueness.reproduction.cells import BINNINGS, CellTables
from trueness.reproduction.metric_values import Metric
from trueness.reproduction.scenarios import Scenario
from trueness.reproduction.theory import Limit, Limits

FARTHEST, FARTHEST_SINGLE = 5.0, 5.5
"""Allowed distance from theory, in standard deviations: of a mean over repeats, and of a single run (skewed)."""

COLUMNS = ("classes", "alpha", "binning", "metric", "n_rows", "seed", "value", "expected", "spread", "z")


class Place(NamedTuple):
    """Scenario, binning and metric of a number."""

    scenario: Scenario
    binning: str
    metric: str


class MetricValue(NamedTuple):
    """One metric of one cell, with its expected value and standard deviation."""

    place: Place
    n_rows: int
    seed: int
    value: float
    expected: float
    spread: float

    @property
    def z(self) -> float:
        """(value - expected)/spread."""
        return in_spreads(self.value - self.expected, self.spread)


class TheoryCheck(NamedTuple):
    """The mean over the repeats of one sample size, compared with theory."""

    place: Place
    n_rows: int
    repeats: int
    mean: float
    sd: float
    """The observed standard deviation over the repeats; NaN for a single run."""
    expected: float
    spread: float
    """The standard deviation of one run, by theory."""
    distance: float
    """(mean - expected) in standard deviations of the mean."""
    limit: float

    @property
    def holds(self) -> bool:
        """Whether theory and observation agree."""
        return abs(self.distance) <= self.limit


class Slope(NamedTuple):
    """The slope of ln mean against ln N, by least squares, with its expected value and standard deviation."""

    place: Place
    value: float
    expected: float
    spread: float


def in_spreads(difference: float, spread: float) -> float:
    """A difference in units of a spread; 0 or infinite if the spread is zero."""
    if spread > 0:
        return difference / spread
    return 0.0 if abs(difference) < 1e-12 else math.copysign(math.inf, difference)


def read(
    finished: Iterable[CellTables], metrics: Sequence[Metric], limits: Mapping[Scenario, Limits]
) -> list[MetricValue]:
    """All metrics of all cells, ordered by place, size and seed."""
    cells = sorted(finished, key=lambda done: (done.cell.n_rows, done.cell.seed))
    readings = []
    for scenario in dict.fromkeys(limits):
        for binning in BINNINGS:
            for metric in metrics:
                place, limit = Place(scenario, binning, metric.name), limits[scenario][binning, metric.name]
                readings += [
                    _metric_value(done, place, metric, limit)
                    for done in cells
                    if done.cell.scenario == scenario
                ]
    return readings


def _metric_value(done: CellTables, place: Place, metric: Metric, limit: Limit) -> MetricValue:
    n_rows = done.cell.n_rows
    value = metric.read(done.tables[metric.measure, place.binning])
    return MetricValue(place, n_rows, done.cell.seed, value, limit.expected(n_rows), limit.spread(n_rows))


def judge(readings: Sequence[MetricValue], limits: Mapping[Scenario, Limits]) -> list[TheoryCheck]:
    """One verdict for each place and sample size."""
    return [
        _theory_check(group, limits[group[0].place.scenario][group[0].place[1:]])
        for group in by_size(readings)
    ]


def by_size(readings: Sequence[MetricValue]) -> list[list[MetricValue]]:
    """Readings grouped by place and sample size."""
    groups = groupby(readings, key=lambda reading: (reading.place, reading.n_rows))
    return [list(group) for _, group in groups]


def _theory_check(group: Sequence[MetricValue], limit: Limit) -> TheoryCheck:
    first, values = group[0], np.array([reading.value for reading in group])
    of_mean = first.spread / math.sqrt(len(group))
    slack = in_spreads(limit.second_order(first.n_rows), of_mean)
    return TheoryCheck(
        place=first.place,
        n_rows=first.n_rows,
        repeats=len(group),
        mean=float(values.mean()),
        sd=float(values.std(ddof=1)) if len(group) > 1 else math.nan,
        expected=first.expected,
        spread=first.spread,
        distance=in_spreads(float(values.mean()) - first.expected, of_mean),
        limit=(FARTHEST if len(group) > 1 else FARTHEST_SINGLE) + slack,
    )


def slopes(verdicts: Sequence[TheoryCheck]) -> list[Slope]:
    """The log-log slope of each place with two sample sizes or more."""
    slopes_by_place = []
    for place, group in groupby(verdicts, key=lambda verdict: verdict.place):
        sizes = [verdict for verdict in group if verdict.mean > 0]
        if len(sizes) < 2:
            continue
        x = np.log([verdict.n_rows for verdict in sizes])
        pull = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
        noise = [verdict.spread / verdict.expected / math.sqrt(verdict.repeats) for verdict in sizes]
        value, expected = (
            float(pull @ np.log([getattr(verdict, field) for verdict in sizes]))
            for field in ("mean", "expected")
        )
        slopes_by_place.append(Slope(place, value, expected, float(np.linalg.norm(pull * noise))))
    return slopes_by_place


def csv_text(readings: Iterable[MetricValue]) -> str:
    """The content of results.csv."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for place, n_rows, seed, *values in readings:
        where = (place.scenario.n_classes, place.scenario.label, place.binning, place.metric)
        reading = MetricValue(place, n_rows, seed, *values)
        writer.writerow((*where, n_rows, seed, *map(repr, (*values, reading.z))))
    return text.getvalue()


def verdict_lines(verdicts: Sequence[TheoryCheck]) -> list[str]:
    """The verdict table in Markdown."""
    lines = [
        "| scenario | bins | metric | N | runs | observed | expected | sd of the mean | distance | limit | |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|--:|---|",
    ]
    for v in verdicts:
        scenario, binning, metric = v.place
        columns = (
            scenario.title,
            binning,
            metric,
            f"1e{math.log10(v.n_rows):g}",
            v.repeats,
            f"{v.mean:.6f}",
            f"{v.expected:.6f}",
            f"{v.spread / math.sqrt(v.repeats):.1e}",
            f"{v.distance:+.2f}",
            f"{v.limit:.2f}",
            "holds" if v.holds else "**FAILS**",
        )
        lines.append(f"| {' | '.join(map(str, columns))} |")
    return lines


def slope_lines(slopes: Sequence[Slope]) -> list[str]:
    """The slopes in Markdown."""
    lines = ["| scenario | bins | metric | slope | expected | its sd |", "|---|---|---|--:|--:|--:|"]
    for (scenario, binning, metric), value, expected, spread in slopes:
        lines.append(
            f"| {scenario.title} | {binning} | {metric} | {value:+.4f} | {expected:+.4f} | {spread:.4f} |"
        )
    return lines
