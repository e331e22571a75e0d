"""From cells to tables, on several threads, in memory that does not grow with the number of rows.

The rows of a cell are drawn and tabulated stream by stream (`simulate.calibrated_streams`). Tables add exactly, so
neither the number of threads nor their schedule changes a bit.

Equal-frequency edges depend on the values of V, of which at most PILOT_ROWS are kept: up to that size the edges are
those of `EqualMass`, beyond it they are fitted to the first PILOT_ROWS rows (ADR 10). Those rows are drawn twice, or
kept in memory if they are few enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from trueness._arrays import FloatArray
from trueness._threads import in_threads
from trueness.bins import Edges, EqualMass, EqualWidth
from trueness.old_table import CalibrationTable, TableSpec
from trueness.reproduction.scenarios import Cell
from trueness.rows import Rows
from trueness.simulate import STREAM_ROWS, Streams, calibrated_streams
from trueness.tabulation import tabulate_rows, variations_of
from trueness.variation import variations

N_BINS = 10
"""M of the paper's section 3."""

BINNINGS = ("width", "mass")

PAPER_MEASURES = ("entropy", "confidence")

PILOT_ROWS = 2**20
"""Equal-frequency edges are fitted to at most this many rows: 16 MB of values, and bin sizes within 1 %."""

KEPT_BYTES = 2**27
"""Memory for the rows of a batch between fitting the edges and tabulating; further rows are drawn again."""

Tick = Callable[[int], None]
"""A callback for progress, called with the number of rows that were finished."""


class CellTables(NamedTuple):
    """A cell and its tables, by measure and binning."""

    cell: Cell
    tables: dict[tuple[str, str], CalibrationTable]


class Timed(NamedTuple):
    """Finished cells, with their total time in seconds and the processor time of all threads."""

    cells: list[CellTables]
    seconds: float
    cpu_seconds: float


def batches(cells: Iterable[Cell]) -> Iterator[list[Cell]]:
    """Batches of cells with at most PILOT_ROWS rows in all, so that small cells use all threads too."""
    batch: list[Cell] = []
    for cell in cells:
        if batch and sum(other.n_rows for other in batch) + cell.n_rows > PILOT_ROWS:
            yield batch
            batch = []
        batch.append(cell)
    if batch:
        yield batch


def tabulate_cells(
    cells: Sequence[Cell],
    measures: Sequence[str] = PAPER_MEASURES,
    engine: str = "auto",
    n_threads: int = 1,
    tick: Tick = lambda _: None,
) -> Timed:
    """The tables of all cells, one for each measure and binning."""
    start, cpu = time.perf_counter(), time.process_time()
    streams = [calibrated_streams(cell.n_rows, cell.scenario.alpha, cell.seed) for cell in cells]
    pilots = fit_pilots(streams, measures, engine, n_threads)
    specs = [table_specs(measures, len(pilot.streams.alpha), pilot.fitted) for pilot in pilots]

    def add_up(spans: Iterable[tuple[int, int]]) -> list[list[CalibrationTable]]:
        tables = [[CalibrationTable.empty(spec) for spec in of_cell] for of_cell in specs]
        for index, number in spans:
            drawn = streams[index].with_labels(number, pilots[index].predictions(number))
            parts = tables_of(Rows.of(*drawn), specs[index], engine)
            tables[index] = [total + part for total, part in zip(tables[index], parts, strict=True)]
            tick(len(drawn.y_true))
        return tables

    shares = in_threads(add_up, _spans(streams), n_threads)
    names = [(measure, binning) for measure in measures for binning in BINNINGS]
    finished = [
        CellTables(
            cell,
            dict(zip(names, (sum(parts[1:], parts[0]) for parts in zip(*of_cell, strict=True)), strict=True)),
        )
        for cell, of_cell in zip(cells, zip(*shares, strict=True), strict=True)
    ]
    return Timed(finished, time.perf_counter() - start, time.process_time() - cpu)


def tables_of(rows: Rows, specs: Sequence[TableSpec], engine: str) -> list[CalibrationTable]:
    """One table for each spec, in one pass; measures that are not compiled are left to the portable engine."""
    compiled = [spec for spec in specs if spec.variation.kernel]
    others = [spec for spec in specs if not spec.variation.kernel]
    tables = tabulate_rows(rows, compiled, engine, n_threads=1) if compiled else []
    tables += tabulate_rows(rows, others, "portable", n_threads=1) if others else []
    by_spec = {id(spec): table for spec, table in zip([*compiled, *others], tables, strict=True)}
    return [by_spec[id(spec)] for spec in specs]


def drawing_seconds(cells: Sequence[Cell], n_threads: int) -> float:
    """Seconds to draw the rows of the cells, without labels and without tabulating them."""
    streams = [calibrated_streams(cell.n_rows, cell.scenario.alpha, cell.seed) for cell in cells]

    def draw(spans: Iterable[tuple[int, int]]) -> None:
        for index, number in spans:
            streams[index].predictions(number)

    start = time.perf_counter()
    in_threads(draw, _spans(streams), n_threads)
    return time.perf_counter() - start


def table_specs(measures: Sequence[str], n_classes: int, mass_edges: Sequence[Edges]) -> list[TableSpec]:
    """The specs of the two tables of each measure, equal width first."""
    return [
        TableSpec(n_classes, variations[measure], edges, "first", weighted=False)
        for measure, fitted in zip(measures, mass_edges, strict=True)
        for edges in (EqualWidth(N_BINS).resolve(*variations[measure].range_for(n_classes)), fitted)
    ]


def fit_pilots(
    streams: Sequence[Streams], measures: Sequence[str], engine: str, n_threads: int
) -> list[Pilot]:
    """For each cell, the equal-frequency edges of its first PILOT_ROWS rows."""
    pilots = [Pilot(drawn, measures, engine, KEPT_BYTES // len(streams)) for drawn in streams]

    def measure(spans: Iterable[tuple[int, int]]) -> None:
        for index, number in spans:
            pilots[index].measure(number)

    def fit(spans: Iterable[tuple[int, int]]) -> None:
        for index, line in spans:
            pilots[index].fit(line)

    in_threads(measure, _spans(streams, PILOT_ROWS), n_threads)
    in_threads(
        fit, [(index, line) for index in range(len(streams)) for line in range(len(measures))], n_threads
    )
    return pilots


class Pilot:
    """The values of V of the first rows of a cell, and their equal-frequency edges."""

    def __init__(self, streams: Streams, measures: Sequence[str], engine: str, kept_bytes: int) -> None:
        self.streams, self.measures = streams, [variations[name] for name in measures]
        self.values = np.empty((len(measures), min(streams.n_rows, PILOT_ROWS)))
        self.engine = engine
        self.fitted = [Edges(variation.range_for(len(streams.alpha))) for variation in self.measures]
        self.kept = dict[int, FloatArray]()
        self.keeps = self.values.shape[1] * len(streams.alpha) * 8 <= kept_bytes

    def measure(self, number: int) -> None:
        """Compute V for the rows of one stream; several threads may do this for different streams."""
        y_prob = self.streams.predictions(number)
        if self.keeps:
            self.kept[number] = y_prob
        rows = Rows.of_predictions(y_prob, from_logits=False, normalize=False)
        values = self.values[:, number * STREAM_ROWS : (number + 1) * STREAM_ROWS]
        for of_measure, variation in zip(values, self.measures, strict=True):
            engine = self.engine if variation.kernel else "portable"
            (of_measure[:],) = variations_of(rows, [variation], engine)

    def predictions(self, number: int) -> FloatArray:
        """The rows of one stream. Rows that were kept in memory are released."""
        kept = self.kept.pop(number, None)
        return self.streams.predictions(number) if kept is None else kept

    def fit(self, line: int) -> None:
        """Compute the edges of one measure from its values, as `EqualMass.fit` would."""
        variation, n_classes, bins = self.measures[line], len(self.streams.alpha), EqualMass(N_BINS)
        ends = bins.right_ends(self.values[line])
        self.fitted[line] = bins.edges_at(ends, *variation.range_for(n_classes))


def ordered_predictions(y_prob: FloatArray) -> FloatArray:
    """The rows sorted in descending order."""
    return np.sort(y_prob, axis=1)[:, ::-1]


def _spans(streams: Sequence[Streams], most_rows: int | None = None) -> list[tuple[int, int]]:
    """(cell, stream) for all streams, or for those that contain the first `most_rows` rows of each cell."""
    return [
        (index, number)
        for index, drawn in enumerate(streams)
        for number in range(len(drawn))
        if most_rows is None or number * STREAM_ROWS < most_rows
    ]
