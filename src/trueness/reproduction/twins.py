"""Miscalibrated twins of the calibrated rows: the same labels, with predictions distorted in known ways.

They show which metric detects which fault: relative to its value on the calibrated rows, a metric that detects it grows
with the number of rows, and one that does not stays at 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from trueness._arrays import FloatArray
from trueness._threads import in_threads
from trueness.bins import EqualWidth
from trueness.old_table import CalibrationTable, TableSpec
from trueness.reproduction.cells import N_BINS, PAPER_MEASURES, Tick, tables_of
from trueness.reproduction.metric_values import FURTHER_METRICS, PAPER_METRICS
from trueness.reproduction.scenarios import Cell
from trueness.rows import Rows
from trueness.simulate import calibrated_streams, flatten_tail, sharpen, swap_ranks
from trueness.variation import variations

TWIN_METRICS = (*PAPER_METRICS, *(metric for metric in FURTHER_METRICS if metric.name.startswith("rce")))
"""The metrics that are computed for every twin."""

CALIBRATED = "calibrated"


class Twin(NamedTuple):
    """A named way to distort predictions."""

    name: str
    distort: Callable[[FloatArray], FloatArray]


def twins_for(n_classes: int) -> tuple[Twin, ...]:
    """The twins for a number of classes; with two classes there is no tail, and only ranks 1 and 2 can be swapped.

    >>> [twin.name for twin in twins_for(2)]
    ['calibrated', 'sharpened', 'ranks swapped']
    """
    whole = (Twin(CALIBRATED, lambda rows: rows), Twin("sharpened", partial(sharpen, exponent=1.5)))
    if n_classes == 2:
        return (*whole, Twin("ranks swapped", partial(swap_ranks, first=0, second=1)))
    return (
        *whole,
        Twin("tail flattened", partial(flatten_tail, amount=0.5)),
        Twin("ranks swapped", partial(swap_ranks, first=1, second=2)),
    )


def tabulate_twins(
    cell: Cell, engine: str, n_threads: int, tick: Tick = lambda _: None
) -> list[CalibrationTable]:
    """For each twin of a cell, its tables by entropy and by confidence, in bins of equal width."""
    streams = calibrated_streams(cell.n_rows, cell.scenario.alpha, cell.seed)
    twins, specs = twins_for(cell.scenario.n_classes), _specs(cell.scenario.n_classes)

    def add_up(spans: Iterable[tuple[int, int]]) -> list[CalibrationTable]:
        tables = [CalibrationTable.empty(spec) for _ in twins for spec in specs]
        for _, number in spans:
            y_true, y_prob = streams[number]
            parts = [
                part
                for twin in twins
                for part in tables_of(Rows.of(y_true, twin.distort(y_prob)), specs, engine)
            ]
            tables = [total + part for total, part in zip(tables, parts, strict=True)]
            tick(len(y_true))
        return tables

    shares = in_threads(add_up, [(0, number) for number in range(len(streams))], n_threads)
    return [sum(parts[1:], parts[0]) for parts in zip(*shares, strict=True)]


def _specs(n_classes: int) -> list[TableSpec]:
    ranges = [(variations[name], variations[name].range_for(n_classes)) for name in PAPER_MEASURES]
    return [
        TableSpec(n_classes, variation, EqualWidth(N_BINS).resolve(*ends), "first", weighted=False)
        for variation, ends in ranges
    ]


def twin_values(cell: Cell, tables: Sequence[CalibrationTable]) -> dict[tuple[str, str], float]:
    """Each metric of each twin, by twin and metric."""
    pairs = zip(tables[::2], tables[1::2], strict=True)
    by_measure = [dict(zip(PAPER_MEASURES, pair, strict=True)) for pair in pairs]
    return {
        (twin.name, metric.name): metric.read(tables_by_measure[metric.measure])
        for twin, tables_by_measure in zip(twins_for(cell.scenario.n_classes), by_measure, strict=True)
        for metric in TWIN_METRICS
    }
