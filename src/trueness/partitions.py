"""Rows that lie in partitions: what each worker does with its own, and how their sums become one answer.

Whoever schedules, `Work` goes out to the workers, a `Part` comes back for each partition, and parts add up with `+`: in
any order, in a tree, from workers that were lost and replaced. The sums are exact, so the answer is that of one process
on the same rows, to the bit.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from threading import Lock
from typing import Any, TypedDict

import numpy as np

from trueness._arguments import yes_or_no
from trueness._version import __version__
from trueness.assessment import Assessment, assess_table
from trueness.bins import Bins, Edges, EqualMass, as_bins
from trueness.bins.selection import DigitCounts, Keys, order_statistics
from trueness.files import Batch, Choice, GroupedTables, Input, InputError, Plan, Request, RowOptions
from trueness.files._batches import batch_of
from trueness.files._columns import choose
from trueness.files._errors import nearest
from trueness.files._exact import write_sort_keys
from trueness.files._fields import Chunk, Field
from trueness.files._paths import Kind
from trueness.files._summing import batch_tables, refuse_too_many
from trueness.files._tables import decode_groups, encode_groups
from trueness.rows.class_columns import text_of
from trueness.rows.labels import class_names
from trueness.table import CalibrationTable, TableSpec
from trueness.table.file import SCHEMA
from trueness.tabulation import tabulate_rows
from trueness.tabulation.engines import compiles
from trueness.variation import Variation, as_variation

DIGIT_BITS = 8
"""Bits of the exact edges that are found in one round: 2 kB of counts for each bin and partition."""

_WARMING = Lock()


@dataclass(frozen=True, slots=True)
class Part:
    """The sums of some rows, and which version of trueness made them."""

    tables: GroupedTables
    skipped: Counter[str] = field(default_factory=Counter)
    schema: int = SCHEMA
    library: str = __version__

    def __add__(self, other: Part) -> Part:
        for part in (self, other):
            if part.schema != SCHEMA:
                raise ValueError(
                    f"a worker with trueness {part.library} sent tables of schema {part.schema}, here (trueness "
                    f"{__version__}) it is {SCHEMA}; install the same version on all machines"
                )
        if self.tables.by != other.tables.by:
            raise ValueError(f"these parts cannot be added: by {self.tables.by!r} and by {other.tables.by!r}")
        return Part(self.tables + other.tables, self.skipped + other.skipped)

    @classmethod
    def empty(cls, work: Work) -> Part:
        """The part of no rows: adding it changes nothing."""
        return cls(GroupedTables(work.choice.grouping, {}))

    def to_json(self) -> str:
        """As text, in the form of saved tables."""
        return json.dumps(
            {
                "schema": self.schema,
                "library": self.library,
                "by": self.tables.by,
                "groups": encode_groups(self.tables.groups),
            }
        )

    @classmethod
    def from_json(cls, text: str, work: Work) -> Part:
        """The part that a worker sent, after a look at all of it; the tables of another schema stay unread."""
        content = json.loads(text)
        if content["schema"] != SCHEMA:
            return cls(GroupedTables(content["by"], {}), schema=content["schema"], library=content["library"])
        measure = work.specs[0].variation
        groups = decode_groups(content["groups"], "what a worker sent", measure)
        return cls(GroupedTables(content["by"], groups), library=content["library"])


def total(parts: Iterable[Part]) -> Part:
    """The sum of parts, of which there is at least one."""
    return reduce(add, parts)


@dataclass(frozen=True, slots=True)
class Work:
    """What every worker does with its rows: the same columns, bins and engine for all."""

    request: Request
    options: RowOptions
    plan: Plan
    choice: Choice
    n_classes: int
    specs: tuple[TableSpec, ...]
    engine: str

    @classmethod
    def of(cls, request: Request, options: RowOptions, plan: Plan, choice: Choice, n_classes: int) -> Work:
        """The work that a request means for these columns."""
        weighted = choice.weight is not None
        if plan.exact and weighted:
            raise InputError(
                "exact bins of equal mass are for rows without weights",
                "leave out exact: the grid takes weights",
            )
        specs = plan.specs(n_classes, weighted)
        return cls(request, options, plan, choice, n_classes, tuple(specs), _engine(plan, weighted))

    @property
    def is_exact(self) -> bool:
        """Whether the bins must be found in a pass of their own."""
        return self.plan.exact and isinstance(self.plan.bins, EqualMass)

    def with_edges(self, edges: list[Edges]) -> Work:
        """The work of the second pass, in bins that the first one gave."""
        return replace(self, specs=tuple(self.plan.specs(self.n_classes, False, edges)))

    def batch(self, columns: Mapping[str, Any], n_rows: int, place: str, first_row: int = 1) -> Batch:
        """Columns, as Arrow or NumPy arrays, as rows; `place` is what messages call the partition."""
        chunk = Chunk(columns, n_rows, 1.0)
        input = Input(place, Kind("rows"))
        return batch_of(
            chunk, self.choice, self.n_classes, input=input, first_row=first_row, options=self.options
        )

    def sum(self, batches: Iterable[Batch]) -> Part:
        """The tables of a partition."""
        tables, skipped = GroupedTables(self.choice.grouping, {}), Counter[str]()
        for batch in batches:
            if self.engine == "fused" and len(batch):
                _warm(batch, self.specs)
            # One thread: whoever schedules has given the other cores to other partitions.
            groups = batch_tables(batch, self.specs, self.engine, self.plan.n_threads or 1)
            tables = tables + GroupedTables(self.choice.grouping, groups)
            refuse_too_many(tables.groups, self.specs, self.choice.grouping)
            skipped += batch.skipped
        return Part(tables, skipped)

    def variations(self, batches: Iterable[Batch]) -> list[Keys]:
        """The sort keys of V of the rows by each measure, sorted."""
        measures = [spec.variation for spec in self.specs]
        files = [io.BytesIO() for _ in measures]
        for batch in batches:
            if len(batch):
                if self.engine == "fused":
                    _warm(batch, self.specs)
                write_sort_keys(batch, measures, files, self.engine)
        return [np.sort(np.frombuffer(file.getbuffer(), np.uint64)) for file in files]

    def finish(self, part: Part) -> GroupedTables:
        """The tables of all rows in the bins that were asked for: those of equal mass are made of the grid now."""
        grid = isinstance(self.plan.bins, EqualMass) and not self.plan.exact
        checked = self.checked(part)
        return checked.coarsened(self.plan.bins, self.plan.confidence_bins) if grid else checked

    def checked(self, part: Part) -> GroupedTables:
        """The tables of all rows, after a look at what the workers sent."""
        checked = Part.empty(self) + part
        groups = {name: checked.tables.groups[name] for name in sorted(checked.tables.groups, key=str)}
        for tables in groups.values():
            self._require_specs(tables)
        found = GroupedTables(self.choice.grouping, groups)
        if found.n_rows == 0:
            raise InputError("there are no rows", "check where the data come from")
        refuse_too_many(groups, self.specs, self.choice.grouping)
        return found

    def _require_specs(self, tables: Sequence[CalibrationTable]) -> None:
        if len(tables) != len(self.specs):
            raise ValueError(f"a worker sent {len(tables)} tables, {len(self.specs)} were asked for")
        for table, spec in zip(tables, self.specs, strict=True):
            difference = spec.difference(table.spec)
            if difference is not None:
                raise ValueError(
                    f"a worker sent a table of another kind: {difference}; install the same version of trueness on "
                    "all machines"
                )


def _engine(plan: Plan, weighted: bool) -> str:
    """One engine for all partitions, so that the sums do not depend on how the rows are cut: fused where it can be."""
    if plan.engine != "auto":
        return plan.engine
    return "fused" if not weighted and compiles(plan.measures()) else "portable"


def _warm(batch: Batch, specs: Sequence[TableSpec]) -> None:
    """Compile once in a process: its threads wait for the first of them instead of compiling the same again."""
    from trueness.tabulation import fused

    first = batch.take(np.array([0])).rows()
    with _WARMING:
        if not fused.is_ready(first):
            tabulate_rows(first, specs, "fused", 1)


def exact_edges(work: Work, n_rows: int, count: DigitCounts) -> list[Edges]:
    """The edges that `tabulate` would find for all rows at once with the same engine, to the last bit.

    `count` counts the digits of the keys of all partitions, of which there is one list for each measure.
    """
    assert isinstance(work.plan.bins, EqualMass)
    ends = order_statistics(work.plan.bins.nth(n_rows), len(work.specs), count, DIGIT_BITS)
    return [
        work.plan.bins.edges_at(of_measure, *spec.variation.range_for(work.n_classes))
        for of_measure, spec in zip(ends, work.specs, strict=True)
    ]


class Options(TypedDict, total=False):
    """What `tabulate` and `assess` of every adapter take beside the data and its columns."""

    sample_weight: Any
    """Column of weights."""
    groups: Any
    """Column of groups: a table, or an assessment, for each of its values too; of several columns, in a list or with
    commas, for each combination of their values."""
    by: Any
    """Another word for `groups`."""
    classes: Any
    """Names of the classes, if labels are names that the columns do not have; or "columns", or "index"."""
    variation: str | Variation
    bins: int | Bins
    confidence_bins: int | Bins
    """Of the confidence table, off which `assess` reads ECE; by default as `bins`."""
    exact: bool
    """`EqualMass` bins from the values of all rows, in two passes; by default from a grid of 4000 cells, in one."""
    ties: str
    from_logits: bool
    normalize: bool
    engine: str
    """One for all partitions; "auto" is "fused" where numba is installed and the measure is compiled."""


def require_known(options: Mapping[str, Any]) -> None:
    """Refuse an option that there is not."""
    for name in options:
        if name not in Options.__annotations__:
            raise TypeError(f"unexpected argument {name!r}; {nearest(name, list(Options.__annotations__))}")


def request_of(label: Any, probs: str | Sequence[str] | None, options: Options) -> Request:
    """Which columns are asked for."""
    weight = options.get("sample_weight")
    for name, value in (("label", label), ("sample_weight", weight)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be the name of a column, got {type(value).__name__}")
    names = probs if probs is None or isinstance(probs, str) else tuple(probs)
    return Request(label, names, weight, _named_groups(options), (), named_classes(options))


def groups_of(options: Options) -> Any:
    """What rows are grouped by, under either of its names."""
    groups, by = options.get("groups"), options.get("by")
    if groups is not None and by is not None:
        raise TypeError("by is another word for groups; pass one of them")
    return by if groups is None else groups


def _named_groups(options: Options) -> str | tuple[str, ...] | None:
    groups = groups_of(options)
    if groups is None or isinstance(groups, str):
        return groups
    if not isinstance(groups, (list, tuple)) or not all(isinstance(name, str) for name in groups):
        word = "by" if options.get("groups") is None else "groups"
        raise TypeError(
            f"{word} must be the name of a column, or a list of names, got {type(groups).__name__}"
        )
    return tuple(groups) or None


def named_classes(options: Options) -> str | tuple[str, ...] | None:
    """Names of the classes, or how they are found."""
    classes = options.get("classes")
    if classes is None or isinstance(classes, str):
        return classes
    return tuple(text_of(name) for name in class_names(classes) or ())


def row_options_of(options: Options) -> RowOptions:
    """How numbers are meant."""
    scale = "logits" if yes_or_no("from_logits", options.get("from_logits", False)) else "probabilities"
    return RowOptions(scale, yes_or_no("normalize", options.get("normalize", False)))


def plan_of(options: Options, *, with_confidence: bool) -> Plan:
    """Which tables are asked for."""
    bins, exact = as_bins(options.get("bins", 10)), yes_or_no("exact", options.get("exact", False))
    if exact and not isinstance(bins, EqualMass):
        raise ValueError("exact is about bins of equal mass: pass bins=EqualMass(10), or leave it out")
    return Plan(
        as_variation(options.get("variation", "entropy")),
        bins,
        exact,
        options.get("ties", "first"),
        options.get("engine", "auto"),
        with_confidence=with_confidence,
        confidence_bins=_confidence_bins(options, exact=exact),
    )


def _confidence_bins(options: Options, *, exact: bool) -> Bins | None:
    given = options.get("confidence_bins")
    chosen = None if given is None else as_bins(given)
    if exact and isinstance(chosen, EqualMass):
        raise ValueError("with exact=True the bins of confidence are as `bins`; leave confidence_bins out")
    return chosen


def choice_of(fields: Mapping[str, Field], request: Request) -> Choice:
    """The columns that a request means among these fields of a data frame."""
    return choose(fields, request, "the data frame")


def by_group(tables: GroupedTables) -> CalibrationTable | dict[str, CalibrationTable]:
    """The table of all rows, or one for each group."""
    if tables.by is None:
        return tables.whole[0]
    return {str(name): group[0] for name, group in tables.groups.items()}


def assessed(tables: GroupedTables, **how: Any) -> Assessment:
    """The answer of `trueness.assess` from the tables; `how` is what `assess_table` takes beside them."""
    whole = tables.whole
    groups = {str(name): (t[0], t[1] if len(t) > 1 else None) for name, t in tables.groups.items()}
    return assess_table(
        whole[0],
        confidence_table=whole[1] if len(whole) > 1 else None,
        groups=None if tables.by is None else groups,
        **how,
    )


_WORDS = {
    r", or leave such rows out with --on-bad-rows skip": "",
    r"leave such rows out with --on-bad-rows skip": "leave such rows out first",
    r"check --where, --on-bad-rows and": "check",
    r", or say what it is with --format if its ending is wrong": "",
    r"--classes gives their names": "classes=[...] gives their names",
    r"--probs a,b,c or with": "a list of probs or with",
    r"pass --percent": "divide by 100 first",
    r"pass --no-header, which.*": "write a line of names, or use trueness tabulate --dask --no-header",
    r"--classes (columns|index)\b": r"classes='\1'",
    r"--(label|probs|classes|by|bins|edges) ('[^']*'|[\w,]+)": r"\1=\2",
    r"--weight": "sample_weight",
    r"--logits": "from_logits=True",
    r"--normalize": "normalize=True",
    r"--(label|probs|classes|by|bins|edges)": r"\1",
    r"--equal-mass": "EqualMass",
}
"""The command's words for its options, and what they are called here."""


@contextmanager
def in_python() -> Iterator[None]:
    """Refusals in the words of the functions' arguments, not of the command's options."""
    try:
        yield
    except InputError as error:
        cause, remedy = error.cause, error.remedy
        for word, ours in _WORDS.items():
            cause, remedy = re.sub(word, ours, cause), re.sub(word, ours, remedy)
        raise InputError(cause, remedy) from error
