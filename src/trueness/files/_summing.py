"""Batches to tables: which tables, by which engine, for which groups; with a checkpoint if one is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from trueness._arguments import require_choice
from trueness.bins import Bins, Edges, EqualMass, EqualWidth, FineGrid, confidence_bins_for
from trueness.files._batches import Batch
from trueness.files._checkpoint import Checkpoint, State
from trueness.files._errors import InputError, shown
from trueness.files._exact import exact_edges
from trueness.files._screen import refusal
from trueness.files._source import Placed, Position, Source
from trueness.files._tables import GroupedTables, Tables
from trueness.ranking import TIES
from trueness.rows import Rows
from trueness.table import CalibrationTable, TableSpec
from trueness.tabulation import tabulate_rows
from trueness.tabulation.engines import ENGINES, is_fused
from trueness.variation import CONFIDENCE, Variation, as_variation

HELD_VALUES = 2**22
"""Probabilities that are read before the engine is chosen: inputs with fewer are not worth the start of the other."""

GROUP_BYTES = 2**28
"""What the tables of all groups may take."""


TABLE_BYTES = 2**13
"""What a table takes beside its numbers."""

TEN_BINS = EqualWidth(10)


@dataclass(frozen=True, slots=True)
class Plan:
    """Which tables to make."""

    variation: str | Variation = "entropy"
    bins: Bins = TEN_BINS
    exact: bool = False
    """Bins of equal mass from the values of all rows, in two passes, instead of from a grid, in one."""
    ties: str = "first"
    engine: str = "auto"
    n_threads: int | None = None
    with_confidence: bool = True
    """Whether a second table by confidence is made, which ECE needs."""
    confidence_bins: Bins | None = None
    """Its bins, if they are to differ from `bins`."""

    def __post_init__(self) -> None:
        require_choice("ties", self.ties, TIES)
        require_choice("engine", self.engine, ENGINES)

    def measures(self) -> list[Variation]:
        """What rows are binned by: the chosen measure, and the confidence beside it."""
        chosen = as_variation(self.variation)
        if chosen == CONFIDENCE or not self.with_confidence:
            return [chosen]
        return [chosen, CONFIDENCE]

    def specs(self, n_classes: int, weighted: bool, edges: list[Edges] | None = None) -> list[TableSpec]:
        """What the sums are sums of; `edges` are those of exact bins."""
        made = []
        for index, measure in enumerate(self.measures()):
            exact = edges is not None and not (index and self.confidence_bins is not None)
            bins = edges[index] if edges is not None and exact else self._bins(index)
            resolved = bins.resolve(*measure.range_for(n_classes))
            made.append(TableSpec(n_classes, measure, resolved, self.ties, weighted))
        return made

    def _bins(self, index: int) -> EqualWidth | Edges | FineGrid:
        bins = confidence_bins_for(self.bins, self.confidence_bins) if index else self.bins
        return FineGrid() if isinstance(bins, EqualMass) else bins


@dataclass(frozen=True, slots=True)
class Summed:
    """The tables of a run, and what was left out of them."""

    tables: GroupedTables
    skipped: Counter[str]
    engine: str


def sum_source(
    source: Source,
    plan: Plan,
    *,
    checkpoint: Checkpoint | None = None,
    progress: Callable[[Position, Batch], None] = lambda *_: None,
) -> Summed:
    """All rows of a source as tables.

    On a grid if the plan asks for bins of equal mass without `exact`: coarsening them is left to whoever knows that
    no more rows are to come.
    """
    run = _Run(source, plan, progress)
    saved = None if checkpoint is None else checkpoint.load()
    if saved is None:
        run.begin()
    else:
        run.resume(saved)
    try:
        for _ in run.sums():
            if checkpoint is not None and checkpoint.due():
                checkpoint.save(run.state)
    except KeyboardInterrupt:
        if checkpoint is not None and run.state.position != Position():
            checkpoint.save(run.state)
        raise
    if run.n_rows == 0:
        raise InputError(
            "no rows are left" if source.choice.where or run.state.skipped else "the files hold no rows",
            "check --where, --on-bad-rows and how the files were written",
        )
    return Summed(
        GroupedTables(source.choice.grouping, run.state.groups), run.state.skipped, run.state.engine
    )


class _Run:
    """One pass over a source."""

    def __init__(self, source: Source, plan: Plan, progress: Callable[[Position, Batch], None]) -> None:
        self._source, self._plan, self._progress = source, plan, progress
        self._weighted = source.choice.weight is not None
        self._specs: list[TableSpec] = []
        self.state = State({}, Position(), Counter(), "")

    @property
    def n_rows(self) -> int:
        """Rows in the tables so far."""
        return sum(tables[0].n_rows for tables in self.state.groups.values())

    def begin(self) -> None:
        """Choose the bins; exact ones take a pass of their own."""
        edges = None
        if self._plan.exact and isinstance(self._plan.bins, EqualMass):
            edges = self._exact_edges(self._plan.bins)
        self._specs = self._plan.specs(self._source.n_classes, self._weighted, edges)

    def _exact_edges(self, bins: EqualMass) -> list[Edges]:
        if not self._source.rereadable:
            raise InputError(
                "exact bins take two passes, and standard input or a pipe can be read only once",
                "save it as a file, or leave out --exact: a grid gives nearly the same in one pass",
            )
        if self._weighted:
            raise InputError(
                "exact bins of equal mass are for rows without weights",
                "leave out --exact: the grid takes weights",
            )
        batches = self._told(self._source.batches())
        # "auto" is decided by the rows of the pass that sums, which is yet to come.
        engine = "fused" if self._plan.engine == "fused" else "portable"
        return exact_edges(batches, self._plan.measures(), self._source.n_classes, bins, engine)

    def _told(self, batches: Iterator[Placed]) -> Iterator[Batch]:
        for placed in batches:
            yield placed.batch
            self._progress(placed.position, placed.batch)

    def resume(self, saved: State) -> None:
        """Go on where another process stopped, with its engine."""
        if self._plan.engine not in ("auto", saved.engine):
            raise InputError(
                f"the checkpoint was made by the {saved.engine} engine, not by --engine {self._plan.engine}",
                f"pass --engine {saved.engine} or leave it out, or delete the checkpoint to begin anew",
            )
        if saved.groups:
            self._specs = [table.spec for table in next(iter(saved.groups.values()))]
        else:  # no row had been chosen yet
            self.begin()
        self.state = saved

    def sums(self) -> Iterator[None]:
        """Add batch after batch; whoever asks may look at the state in between."""
        batches = self._source.batches(self.state.position)
        if not self.state.engine:
            held, batches = _held(batches, self._source.n_classes)
            self.state = replace(self.state, engine=self._engine(held))
            batches = chain(_handed_out(held), batches)
        for placed in batches:
            self._add(placed)
            yield

    def _engine(self, held: list[Placed]) -> str:
        """The engine for the whole run, so that its sums do not depend on how the rows were cut into batches."""
        if self._plan.engine != "auto":
            return self._plan.engine
        values = sum(len(placed.batch) for placed in held) * self._source.n_classes
        filled = [placed.batch for placed in held if len(placed.batch)]
        if values < HELD_VALUES or self._weighted or not filled:
            return "portable"
        try:
            is_fused("fused", filled[0].take(np.array([0])).rows(), self._plan.measures())
        except ValueError:
            return "portable"
        return "fused"

    def _add(self, placed: Placed) -> None:
        batch, by = placed.batch, self._source.choice.grouping
        if batch.groups is not None:  # before they are summed, which for a group in each row takes long
            refuse_too_many(self.state.groups.keys() | set(batch.groups.names), self._specs, by)
        more = batch_tables(batch, self._specs, self.state.engine, self._plan.n_threads)
        groups = (GroupedTables(by, self.state.groups) + GroupedTables(by, more)).groups
        self.state = State(groups, placed.position, self.state.skipped + batch.skipped, self.state.engine)
        self._progress(placed.position, batch)


def batch_tables(
    batch: Batch, specs: Sequence[TableSpec], engine: str, n_threads: int | None
) -> dict[str | None, Tables]:
    """For each group of a batch a table for each spec; a bad row is refused by its number in the file."""
    return {name: _tables(part, specs, engine, n_threads) for name, part in _parts(batch)}


def _tables(batch: Batch, specs: Sequence[TableSpec], engine: str, n_threads: int | None) -> Tables:
    try:
        if batch.weight is not None and not batch.weight.any():
            return _of_no_weight(batch, specs)
        return tabulate_rows(batch.rows(), specs, engine, n_threads)
    except (ValueError, TypeError) as error:
        raise refusal(batch, error) from error


def _of_no_weight(batch: Batch, specs: Sequence[TableSpec]) -> Tables:
    """Rows that count nothing, which the border would refuse among themselves, are looked at all the same."""
    rows: Rows = replace(batch, weight=None).rows()
    tabulate_rows(rows, [replace(specs[0], weighted=False)], "portable")
    return [CalibrationTable.empty(spec) for spec in specs]


def refuse_too_many(groups: Collection[str | None], specs: Sequence[TableSpec], by: str | None) -> None:
    """Refuse groups whose tables would fill the memory."""
    each = sum(TABLE_BYTES + spec.bins.n_bins * (4 * spec.n_classes + 8) * 8 for spec in specs)
    most = max(1, GROUP_BYTES // each)
    if len(groups) > most:
        raise InputError(
            f"column {shown(by or '')} (--by) has more than {most} values, "
            f"whose tables would take more than {GROUP_BYTES >> 20} MB",
            "group by a column with fewer values, or take --bins instead of a grid or --equal-mass",
        )


def _held(batches: Iterator[Placed], n_classes: int) -> tuple[list[Placed], Iterator[Placed]]:
    """The first batches, as many as the choice of the engine needs, and the others."""
    held: list[Placed] = []
    values = 0
    for placed in batches:
        held.append(placed)
        values += len(placed.batch) * n_classes
        if values >= HELD_VALUES:
            break
    return held, batches


def _handed_out(held: list[Placed]) -> Iterator[Placed]:
    """The held batches, each forgotten when it has been handed out."""
    held.reverse()
    while held:
        yield held.pop()


def _parts(batch: Batch) -> Iterator[tuple[str | None, Batch]]:
    """The rows of each group; a batch without groups as it is."""
    if len(batch) == 0:
        return
    if batch.groups is None:
        yield None, batch
        return
    names, codes = batch.groups
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))
    for name, start, stop in zip(names, np.concatenate([[0], ends[:-1]]), ends, strict=True):
        if start < stop:  # of no row where all of a group were left out
            yield name, batch.take(order[start:stop])
