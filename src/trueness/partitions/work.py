"""What every worker does with its rows: the same columns and bins for all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trueness.files import Batch, Choice, Plan, Request, RowOptions
from trueness.files.batches import batch_of
from trueness.files.summing import batch_tables, refuse_too_many
from trueness.formats.fields import Chunk
from trueness.formats.inputs import InputFile, Kind
from trueness.old_table import AnySpec, GroupedTables, Tables, spec_difference
from trueness.partitions.part import Part
from trueness.refusals import InvalidValueError


@dataclass(frozen=True, slots=True)
class Work:
    """What every worker does with its rows."""

    request: Request
    options: RowOptions
    plan: Plan
    choice: Choice
    n_classes: int
    specs: tuple[AnySpec, ...]

    @classmethod
    def of(cls, request: Request, options: RowOptions, plan: Plan, choice: Choice, n_classes: int) -> Work:
        """The work of a request for these columns."""
        weighted = choice.weight is not None
        specs = plan.specs(n_classes, weighted=weighted, class_names=choice.class_names(n_classes))
        return cls(request, options, plan, choice, n_classes, tuple(specs))

    def batch(self, columns: Mapping[str, Any], n_rows: int, place: str, first_row: int = 1) -> Batch:
        """Columns, as Arrow or NumPy arrays, as rows; `place` is the name of the partition in messages."""
        return batch_of(
            Chunk(columns, n_rows, 1.0),
            self.choice,
            self.n_classes,
            input=InputFile(place, Kind(None)),
            first_row=first_row,
            options=self.options,
        )

    def empty_part(self) -> Part:
        """The part of no rows."""
        return Part.empty(self.choice.grouping)

    def part_of(self, text: str) -> Part:
        """The part that a worker sent as JSON."""
        return Part.from_json(text, self.plan.tables.variation)

    def sum(self, batches: Iterable[Batch]) -> Part:
        """The tables of a partition."""
        tables, skipped = GroupedTables(self.choice.grouping, {}), Counter[str]()
        for batch in batches:
            # One thread: the scheduler uses the other cores for other partitions.
            groups = batch_tables(batch, self.specs, self.plan.engine, self.plan.n_threads or 1)
            tables = tables + GroupedTables(self.choice.grouping, groups)
            refuse_too_many(tables.groups, self.specs, self.choice.grouping)
            skipped += batch.skipped
        return Part(tables, skipped)

    def finish(self, part: Part) -> GroupedTables:
        """The tables of all rows in the requested bins; those of equal mass are made from the grid."""
        checked, plan = self.checked(part), self.plan.tables
        return checked.coarsen(plan.bins, plan.confidence_bins) if self.plan.by_grid else checked

    def checked(self, part: Part) -> GroupedTables:
        """The tables of all rows, after validation of what the workers sent."""
        checked = self.empty_part() + part
        groups = {name: checked.tables.groups[name] for name in sorted(checked.tables.groups, key=str)}
        for tables in groups.values():
            self._require_specs(tables)
        found = GroupedTables(self.choice.grouping, groups)
        if found.n_rows == 0:
            raise InvalidValueError("no-rows", "the data have no rows", "check the input")
        refuse_too_many(groups, self.specs, self.choice.grouping)
        return found

    def _require_specs(self, tables: Tables) -> None:
        stored = tables.stored
        if len(stored) != len(self.specs):
            cause = f"a worker sent {len(stored)} tables, expected {len(self.specs)}"
            remedy = "install the same version of trueness on all machines"
            raise InvalidValueError("different-tables", cause, remedy)
        for table, spec in zip(stored, self.specs, strict=True):
            difference = spec_difference(spec, table.spec)
            if difference is not None:
                cause = f"a worker sent a table of another kind: {difference}"
                remedy = "install the same version of trueness on all machines"
                raise InvalidValueError("different-tables", cause, remedy)
