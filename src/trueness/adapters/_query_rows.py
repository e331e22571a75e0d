"""The rows of lazy queries, a batch at a time: Polars lazy frames, DuckDB relations and other streams of Arrow."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

from trueness import partitions
from trueness.files import Batch, Choice, Request
from trueness.formats.arrow import field_of, gather_tables, lists_of, pyarrow
from trueness.formats.fields import require_different
from trueness.partitions import Work
from trueness.partitions.comparison import ChooseColumns
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows.class_columns import Columns

BATCH_VALUES = 2**21
"""Probabilities in a batch, 16 MB, as for files."""

PLACE = "the query"
"""The name of the rows in messages."""


class Query(ABC):
    """Rows that are computed when they are asked for."""

    @property
    @abstractmethod
    def schema(self) -> Any:
        """The columns as a schema of Arrow; no row is computed."""

    @abstractmethod
    def run(self, names: Sequence[str], rows: int) -> Iterable[Any]:
        """Some columns as tables or record batches of Arrow, about this many rows at a time."""

    @abstractmethod
    def first_row(self, name: str) -> Any:
        """The first row of a column as an Arrow array; it is empty if there is none."""


class PolarsQuery(Query):
    """A Polars lazy frame, computed by the streaming engine."""

    def __init__(self, frame: Any) -> None:
        if not hasattr(frame, "collect_batches"):
            cause = "this version of Polars has no LazyFrame.collect_batches"
            remedy = "install a newer one, or collect() the frame first"
            raise InvalidTypeError("wrong-type", cause, remedy, argument="data")
        self._frame = frame

    @property
    def schema(self) -> Any:
        return self._frame.head(0).collect().to_arrow().schema

    def run(self, names: Sequence[str], rows: int) -> Iterable[Any]:
        how = {"chunk_size": rows, "maintain_order": True, "lazy": True, "engine": "streaming"}
        return (batch.to_arrow() for batch in self._frame.select(names).collect_batches(**how))

    def first_row(self, name: str) -> Any:
        return self._frame.select(name).head(1).collect().to_arrow().column(0)


class DuckDBQuery(Query):
    """A relation of DuckDB."""

    def __init__(self, relation: Any) -> None:
        self._relation = relation

    @property
    def schema(self) -> Any:
        return _reader(self._relation.limit(0), 1).schema

    def run(self, names: Sequence[str], rows: int) -> Iterable[Any]:
        batches: Iterable[Any] = _reader(self._columns(names), rows)
        return batches

    def first_row(self, name: str) -> Any:
        return _reader(self._columns([name]).limit(1), 1).read_all().column(0)

    def _columns(self, names: Sequence[str]) -> Any:
        return self._relation.project(", ".join(f'"{name.replace(chr(34), 2 * chr(34))}"' for name in names))


def _reader(relation: Any, rows: int) -> Any:
    """The record batches of a relation; the method had another name before DuckDB 1.4."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
    return read(rows)


class ArrowStream(Query):
    """An object that exports an Arrow stream, such as a `pyarrow.RecordBatchReader`: it is read once."""

    def __init__(self, stream: Any) -> None:
        self._reader = pyarrow().RecordBatchReader.from_stream(stream)
        self._begun: list[Any] = []

    @property
    def schema(self) -> Any:
        return self._reader.schema

    def run(self, names: Sequence[str], rows: int) -> Iterable[Any]:
        for batch in chain(self._begun, self._reader):
            for start in range(0, batch.num_rows, rows):
                yield batch.slice(start, rows).select(names)

    def first_row(self, name: str) -> Any:
        while not any(batch.num_rows for batch in self._begun):
            batch = next(self._reader, None)
            if batch is None:
                return pyarrow().array([])
            self._begun.append(batch)
        return self._begun[-1].column(name)[:1]


def query_of(data: Any) -> Query:
    """The query of the user, or a refusal."""
    library = type(data).__module__.partition(".")[0].lstrip("_")
    if library == "polars" and type(data).__name__ == "LazyFrame":
        return PolarsQuery(data)
    if library == "duckdb" and hasattr(data, "project"):
        return DuckDBQuery(data)
    if hasattr(data, "__arrow_c_stream__"):
        return ArrowStream(data)
    cause = (
        f"data must be a Polars LazyFrame, a DuckDB relation or an Arrow stream, got {type(data).__name__}"
    )
    remedy = "for data in memory use trueness.assess, for files the command or trueness.adapters.dask"
    raise InvalidTypeError("wrong-type", cause, remedy, argument="data")


def choose_in_query(query: Query) -> ChooseColumns:
    """The choice of columns in a query."""
    schema = query.schema
    require_different(schema.names, PLACE)
    fields = {field.name: field_of(field.type) for field in schema}

    def choose(request: Request, first: Columns | None) -> tuple[Choice, int]:
        choice = partitions.choice_of(fields, request, first)
        n_classes = choice.known_classes
        return choice.with_width(_first_width(query, choice)) if n_classes is None else (choice, n_classes)

    return choose


def _first_width(query: Query, choice: Choice) -> int:
    """The number of probabilities in the first row of a list column."""
    first = query.first_row(choice.probs[0])
    if len(first) == 0:
        raise InvalidValueError("no-rows", "the data have no rows", "check the input")
    return int(lists_of(first).lengths[0])


def tables_of(query: Query, names: Sequence[str], n_classes: int) -> Iterator[Any]:
    """The columns as Arrow tables of the size of a batch."""
    rows = max(1, BATCH_VALUES // n_classes)
    return gather_tables(query.run(names, rows), rows)


def batches_of(work: Work, tables: Iterable[Any]) -> Iterator[Batch]:
    """The rows of each table, numbered from 1 over all of them."""
    first_row = 1
    for table in tables:
        columns = {name: table.column(place) for place, name in enumerate(table.column_names)}
        yield work.batch(columns, table.num_rows, PLACE, first_row)
        first_row += table.num_rows
