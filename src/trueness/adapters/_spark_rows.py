"""Rows of Spark data frames: their columns, the batches of a partition on a worker, and where a refused row is from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from trueness import partitions
from trueness.files import Batch, Choice, Request
from trueness.files.source import BATCH_VALUES
from trueness.formats.arrow import field_of, gather_tables, pyarrow
from trueness.partitions import Work
from trueness.refusals import InvalidValueError, Refusal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def choose_in_frame(data: DataFrame, request: Request) -> tuple[Choice, int]:
    """The columns of a Spark data frame that are asked for, and the number of classes."""
    from pyspark.sql.pandas.types import to_arrow_schema

    fields = {field.name: field_of(field.type) for field in to_arrow_schema(data.schema)}
    choice = partitions.choice_of(fields, request)
    n_classes = choice.known_classes
    return choice.with_width(width(data, choice)) if n_classes is None else (choice, n_classes)


def select(data: DataFrame, names: Iterable[str]) -> DataFrame:
    """Some columns under new names, since Spark reads a dot in a name as access to a field."""
    return data.select(*(column(data, name).alias(f"c{place}") for place, name in enumerate(names)))


def partition_id() -> int:
    """On a worker: the number of the partition."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return -1 if context is None else int(context.partitionId())


def with_arrays(data: DataFrame) -> DataFrame:
    """The frame with its ML vectors converted to arrays of numbers."""
    vectors = [field.name for field in data.schema if field.dataType.typeName() == "vectorudt"]
    if not vectors:
        return data
    from pyspark.ml.functions import vector_to_array

    return data.withColumns({name: vector_to_array(column(data, name)) for name in vectors})


def column(data: DataFrame, name: str) -> Any:
    return data[f"`{name.replace('`', '``')}`"]


def width(data: DataFrame, choice: Choice) -> int:
    """The length of the first list; only this number is sent to the driver."""
    from pyspark.sql import functions

    sizes = data.select(functions.size(column(data, choice.probs[0])).alias("n")).where("n >= 0").limit(1)
    found = sizes.collect()
    if not found:
        raise InvalidValueError("no-rows", "the data have no rows", "check the input")
    return int(found[0].n)


def frame_batches(batches: Iterable[Any], work: Work, place: str) -> Iterator[Batch]:
    """On a worker: the rows of a partition of a frame, from its Arrow batches."""
    done = 0
    for table in gather_tables(batches, max(1, BATCH_VALUES // work.n_classes)):
        columns = dict(zip(work.choice.wanted.names, table.columns, strict=True))
        yield work.batch(columns, table.num_rows, place, first_row=done + 1)
        done += table.num_rows


def with_file(refusal: Refusal, columns: DataFrame, part: int) -> Refusal:
    """The refusal with the file that its row came from, if Spark read it from a file; found only after an error."""
    from pyspark.sql import functions

    if refusal.row is None:
        return refusal
    found = (
        columns.select(
            functions.input_file_name().alias("file"),
            functions.input_file_block_start().alias("start"),
            functions.spark_partition_id().alias("part"),
        )
        .where(f"part = {part}")
        .mapInArrow(partial(_origin, row=refusal.row), "file string, start long, row long")
        .toArrow()
        .to_pylist()
    )
    if not found or not found[0]["file"]:
        return refusal
    file, start, row = found[0].values()
    after = f" after byte {start}" if start > 0 else ""
    # Rows removed by an earlier filter are not counted, since they are unknown here.
    place = f"{file}, row {row} of its rows in the frame{after} ({refusal.source}, row {refusal.row})"
    return refusal.with_facts(source=place, row=None)


def _origin(batches: Iterable[Any], row: int) -> Iterator[Any]:
    """On a worker: the file that a row of a partition came from, and the row's number among those of this file."""
    block, count, seen = None, 0, 0
    for batch in batches:
        for here in zip(*(column.to_pylist() for column in batch.columns[:2]), strict=True):
            block, count, seen = here, count + 1 if here == block else 1, seen + 1
            if seen == row:
                yield pyarrow().RecordBatch.from_pylist([{"file": here[0], "start": here[1], "row": count}])
                return
