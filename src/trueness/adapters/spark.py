"""Tables of data on a Spark cluster: data frames and files, a map over partitions and a sum.

    from trueness.adapters import spark
    table = spark.tabulate("s3://bucket/day-*.parquet", label="y", probs="p_*")
    table = spark.tabulate(frame, label="y", probs="p_*")

Each partition becomes a table in its Python worker (`mapInArrow`), which returns it in one Arrow row, as the JSON of
saved tables, so that the driver validates it. If there are many partitions, workers add tables before the driver does.
Rows of the data never leave their executors. Files are read by the Python workers, so that their rows do not pass
through the JVM, which takes much longer than summing them.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from trueness import partitions
from trueness._random import Seed
from trueness.adapters._spark_rows import (
    choose_in_frame,
    frame_batches,
    partition_id,
    select,
    with_arrays,
    with_file,
)
from trueness.bins import Bins
from trueness.files import Batch, Plan, Request, RowOptions
from trueness.files.remote import Remote
from trueness.formats.arrow import pyarrow
from trueness.old_assessment import MIN_GROUP_SIZE, Assessment
from trueness.old_table import GroupedTables
from trueness.partitions import FilePiece, Options, Part, Tabulated, Work
from trueness.refusals import InvalidTypeError, MissingLibraryError, Refusal

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["tabulate", "assess"]

FAN_IN = 64
"""The number of tables added in one task; large, since each level of the tree costs a shuffle."""

COLUMNS = "part int, refusal string, tables string"
"""What a worker returns: its tables, or a refusal as JSON; Spark would retry a raised error four times."""


def tabulate(
    data: Any,
    label: str | None = None,
    probs: str | Sequence[str] | None = None,
    *,
    session: SparkSession | None = None,
    storage_options: dict[str, Any] | None = None,
    **options: Unpack[Options],
) -> Tabulated | dict[str, Tabulated]:
    """The table that `trueness.tabulate` would make of all rows at once, to the bit; with `groups`, one for each group.

    Parameters
    ----------
    data : pyspark.sql.DataFrame, or paths of files
        Of a classic session, Spark 4 or newer; trueness must be installed on the executors too. Paths may be globs,
        folders and whatever fsspec reads; the executors read the files with the readers of trueness.
    label : str
        The column of true classes.
    probs : str or list of str
        "p_*" (by number, p_2 before p_10, else in the order of the frame), "a,b,c" (in this order), or one column of
        arrays or ML vectors. If left out, detected where only one reading of the columns is possible. Labels that are
        names are matched to the columns by name.
    session : pyspark.sql.SparkSession
        The session that runs the tasks for paths; by default `SparkSession.builder.getOrCreate()`, which is the active
        session if there is one. A data frame has its own session.
    storage_options : dict
        Options of fsspec for paths, such as credentials.
    **options
        As in `trueness.partitions.Options`. Bins of equal mass are found on a fine grid.
    """
    cluster = _Cluster(session, storage_options)
    return partitions.tables_by_group(_tables(data, label, probs, cluster, options, for_assessment=False))


def assess(
    data: Any,
    label: str | None = None,
    probs: str | Sequence[str] | None = None,
    *,
    class_bins: int | Bins = 10,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    rng: Seed = 0,
    min_group_size: int = MIN_GROUP_SIZE,
    session: SparkSession | None = None,
    storage_options: dict[str, Any] | None = None,
    **options: Unpack[Options],
) -> Assessment:
    """Assess all rows, with the result of `trueness.assess`; `data` and options are as in `tabulate`."""
    cluster = _Cluster(session, storage_options)
    tables = _tables(data, label, probs, cluster, options, for_assessment=True)
    return partitions.assess_grouped(
        tables,
        class_bins=class_bins,
        level=level,
        tolerance=tolerance,
        resamples=resamples,
        rng=rng,
        min_group_size=min_group_size,
    )


class _Cluster(NamedTuple):
    """The session for paths, and the options of fsspec."""

    session: SparkSession | None
    storage_options: dict[str, Any] | None

    def connect(self) -> SparkSession:
        """The session, or a refusal that says how to install Spark."""
        if self.session is not None:
            return self.session
        try:
            from pyspark.sql import SparkSession
        except ImportError:
            cause = "this needs Spark, which is not installed"
            remedy = "pip install 'trueness[spark]'"
            raise MissingLibraryError("missing-library", cause, remedy) from None
        return SparkSession.builder.getOrCreate()


def _tables(
    data: Any, label: Any, probs: Any, cluster: _Cluster, options: Options, *, for_assessment: bool
) -> GroupedTables:
    partitions.require_known(options)
    is_frame = hasattr(data, "mapInArrow")
    if not is_frame and not partitions.is_paths(data):
        cause = f"data must be a Spark data frame or paths of files, got {type(data).__name__}"
        remedy = "for data in memory use trueness.tabulate"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="data")
    plan = partitions.plan_of(options, for_assessment=for_assessment)
    request, rows = partitions.request_of(label, probs, options), partitions.row_options_of(options)
    if is_frame:
        work, part = _sum_frame(with_arrays(data), request, rows, plan)
    else:
        files = partitions.files_of(data, cluster.storage_options)
        work, part = _sum_files(cluster.connect(), files, request, rows, plan)
    return work.finish(part)


def _sum_files(
    session: SparkSession, files: Sequence[Remote], request: Request, rows: RowOptions, plan: Plan
) -> tuple[Work, Part]:
    """The sums of files: each row of a frame of numbers is a piece, which is a task."""
    work = partitions.work_of_files(files, request, rows, plan)
    pieces = partitions.file_pieces(files, session.sparkContext.defaultParallelism)
    # As bytes, since every task is sent the list and reads only its own piece.
    sent = [pickle.dumps(piece) for piece in pieces]
    numbers = session.range(0, len(sent), 1, len(sent))
    found = numbers.mapInArrow(partial(_tabulate_pieces, work=work, pieces=sent), COLUMNS)
    return work, _total(found, len(sent), work, lambda refusal, _: refusal)


def _tabulate_pieces(batches: Iterable[Any], work: Work, pieces: Sequence[bytes]) -> Iterator[Any]:
    """On a worker: the tables of pieces of files, each in one row."""
    for number in (number for batch in batches for number in batch.column(0).to_pylist()):
        piece: FilePiece = pickle.loads(pieces[number])
        yield _tabulated(number, piece.batches(work), work)


def _sum_frame(data: DataFrame, request: Request, rows: RowOptions, plan: Plan) -> tuple[Work, Part]:
    """The sums of a data frame."""
    choice, n_classes = choose_in_frame(data, request)
    work = Work.of(request, rows, plan, choice, n_classes)
    columns = select(data, work.choice.wanted.names)
    found = columns.mapInArrow(partial(_tabulate_partition, work=work), COLUMNS)
    n_parts = columns.rdd.getNumPartitions()
    return work, _total(found, n_parts, work, lambda refusal, part: with_file(refusal, columns, part))


def _total(rows: DataFrame, n_parts: int, work: Work, place: Callable[[Refusal, int], Refusal]) -> Part:
    """The sum of what workers return; `place` adds what is known about the place of a refused row."""
    while n_parts > FAN_IN:
        n_parts = -(-n_parts // FAN_IN)
        rows = rows.repartition(n_parts, "part").mapInArrow(partial(_add_parts, work=work), COLUMNS)
    found = rows.toArrow().to_pylist()
    refused = min((row for row in found if row["refusal"]), key=lambda row: int(row["part"]), default=None)
    if refused is not None:
        raise place(Refusal.of_dict(json.loads(refused["refusal"])), refused["part"])
    return partitions.total([work.empty_part(), *(work.part_of(row["tables"]) for row in found)])


def _tabulate_partition(batches: Iterable[Any], work: Work) -> Iterator[Any]:
    """On a worker: the tables of a partition of a frame, in one row."""
    part = partition_id()
    yield _tabulated(part, frame_batches(batches, work, f"partition {part}"), work)


def _tabulated(part: int, batches: Iterable[Batch], work: Work) -> Any:
    """The row that a worker returns."""
    try:
        return _row(part, tables=work.sum(batches).to_json())
    except Refusal as error:
        return _row(part, refusal=json.dumps(error.to_dict()))


def _add_parts(batches: Iterable[Any], work: Work) -> Iterator[Any]:
    """On a worker: the sums of the tables of several partitions; refusals are passed on unchanged."""
    part, sums = -1, work.empty_part()
    for row in (row for batch in batches for row in batch.to_pylist()):
        part = row["part"]
        if row["refusal"]:
            yield _row(part, refusal=row["refusal"])
        else:
            sums += work.part_of(row["tables"])
    yield _row(part, tables=sums.to_json())


def _row(part: int, *, refusal: str | None = None, tables: str | None = None) -> Any:
    pa = pyarrow()
    row = {"part": pa.array([part], pa.int32())}
    texts = {"refusal": pa.array([refusal], pa.string()), "tables": pa.array([tables], pa.string())}
    return pa.RecordBatch.from_pydict(row | texts)
