"""Several models on Spark: a pass that counts the rows of each partition, one that sums them, and the sum of all."""

from __future__ import annotations

import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from itertools import tee
from operator import add
from typing import TYPE_CHECKING, Any

from trueness.adapters._spark_rows import choose_in_frame, partition_id, select, with_file
from trueness.assessment import Comparison
from trueness.files import Batch
from trueness.files.source import BATCH_VALUES
from trueness.formats.arrow import gather_tables, pyarrow
from trueness.partitions import FilePiece, Work
from trueness.partitions.comparison import (
    BatchesOfModels,
    CompareRequest,
    CompareWork,
    FilesOfModels,
    SumsOfPart,
    first_rows,
    pieces_of_models,
    work_of_frame,
)
from trueness.refusals import Refusal, refusal_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FAN_IN = 16
"""The number of sums added in one task: those of all units of all models take megabytes."""

COUNTS = "part int, refusal string, n long"
COLUMNS = "part int, refusal string, sums binary"
"""What a worker returns: the number of its rows, or their sums, or a refusal as JSON."""

Batches = Callable[[Iterable[Any], CompareWork], Iterator[tuple[int, BatchesOfModels]]]
"""On a worker: partitions by their number, from the Arrow batches of a task."""


def compare_frame(data: DataFrame, asked: CompareRequest) -> Comparison:
    """The comparison of a data frame with the columns of all models."""
    work = work_of_frame(asked, choose_in_frame(data))
    columns = select(data, work.column_names)
    n_parts = columns.rdd.getNumPartitions()
    return _compare(
        columns, n_parts, work, _frame_batches, lambda refusal, part: with_file(refusal, columns, part)
    )


def compare_files(session: SparkSession, work: CompareWork, files: FilesOfModels) -> Comparison:
    """The comparison of files: each row of a frame of numbers is a piece, which is a task."""
    # As bytes, since every task is sent the list and reads only its own piece.
    sent = [pickle.dumps(piece) for piece in pieces_of_models(files, session.sparkContext.defaultParallelism)]
    numbers = session.range(0, len(sent), 1, len(sent))
    return _compare(numbers, len(sent), work, partial(_file_batches, pieces=sent), lambda refusal, _: refusal)


def _compare(
    rows: DataFrame,
    n_parts: int,
    work: CompareWork,
    batches: Batches,
    place: Callable[[Refusal, int], Refusal],
) -> Comparison:
    """The comparison of all partitions; `place` adds what is known about the place of a refused row."""
    starts: dict[int, int] = {}
    if work.needs_positions:
        count = partial(_count_partition, work=work, batches=batches)
        found = _collect(rows.mapInArrow(count, COUNTS), place)
        counts = {row["part"]: row["n"] for row in sorted(found, key=lambda row: int(row["part"]))}
        starts = dict(zip(counts, first_rows(list(counts.values())), strict=True))
    summed = rows.mapInArrow(partial(_sum_partition, work=work, batches=batches, starts=starts), COLUMNS)
    while n_parts > FAN_IN:
        n_parts = -(-n_parts // FAN_IN)
        summed = summed.repartition(n_parts, "part").mapInArrow(partial(_add_parts, work=work), COLUMNS)
    parts = [_unpacked(row["sums"]) for row in _collect(summed, place)]
    return work.finish(reduce(add, parts, work.empty))


def _collect(rows: DataFrame, place: Callable[[Refusal, int], Refusal]) -> list[dict[str, Any]]:
    """What the workers return, unless one of them refuses a row."""
    found: list[dict[str, Any]] = rows.toArrow().to_pylist()
    refused = min((row for row in found if row["refusal"]), key=lambda row: int(row["part"]), default=None)
    if refused is not None:
        raise place(refusal_of(refused["refusal"]), refused["part"])
    return found


def _frame_batches(batches: Iterable[Any], work: CompareWork) -> Iterator[tuple[int, BatchesOfModels]]:
    """On a worker: the rows of a partition of a frame, as batches of each model."""
    part = partition_id()
    tables = gather_tables(batches, max(1, BATCH_VALUES // (work.n_classes * len(work.works))))
    copies = tee(tables, len(work.works))
    yield (
        part,
        {
            name: _batches_of_model(some, of_model, work.column_names, f"partition {part}")
            for (name, of_model), some in zip(work.works.items(), copies, strict=True)
        },
    )


def _batches_of_model(tables: Iterable[Any], work: Work, names: Sequence[str], place: str) -> Iterator[Batch]:
    done = 0
    for table in tables:
        columns = dict(zip(names, table.columns, strict=True))
        yield work.batch(columns, table.num_rows, place, first_row=done + 1)
        done += table.num_rows


def _file_batches(
    batches: Iterable[Any], work: CompareWork, pieces: Sequence[bytes]
) -> Iterator[tuple[int, BatchesOfModels]]:
    """On a worker: the rows of pieces of files."""
    for number in (number for batch in batches for number in batch.column(0).to_pylist()):
        piece: Mapping[str, FilePiece] = pickle.loads(pieces[number])
        yield number, {name: piece[name].batches(of_model) for name, of_model in work.works.items()}


def _count_partition(batches_: Iterable[Any], work: CompareWork, batches: Batches) -> Iterator[Any]:
    """On a worker: the number of rows of its partitions."""
    yield from _returned(batches(batches_, work), "n", lambda _, some: work.count(some))


def _sum_partition(
    batches_: Iterable[Any], work: CompareWork, batches: Batches, starts: Mapping[int, int]
) -> Iterator[Any]:
    """On a worker: the sums of its partitions."""

    def sums(part: int, some: BatchesOfModels) -> bytes:
        return _packed(work.sum(some, starts.get(part, 0)))

    yield from _returned(batches(batches_, work), "sums", sums)


def _returned(
    partitions: Iterable[tuple[int, BatchesOfModels]], name: str, do: Callable[[int, BatchesOfModels], Any]
) -> Iterator[Any]:
    """A row for each partition: what it gives, or a refusal, because Spark would retry a raised error four times."""
    for part, batches in partitions:
        try:
            yield _row(part, name, do(part, batches))
        except Refusal as error:
            yield _row(part, name, None, error.to_json())


def _add_parts(batches: Iterable[Any], work: CompareWork) -> Iterator[Any]:
    """On a worker: the sums of several partitions; refusals are passed on unchanged."""
    part, total = -1, work.empty
    for row in (row for batch in batches for row in batch.to_pylist()):
        part = row["part"]
        if row["refusal"]:
            yield _row(part, "sums", None, row["refusal"])
        else:
            total += _unpacked(row["sums"])
    yield _row(part, "sums", _packed(total))


def _packed(sums: SumsOfPart) -> bytes:
    """Compressed, since most words of sums are small."""
    return zlib.compress(pickle.dumps(sums), 1)


def _unpacked(packed: bytes) -> SumsOfPart:
    sums: SumsOfPart = pickle.loads(zlib.decompress(packed))
    return sums


def _row(part: int, name: str, value: Any, refusal: str | None = None) -> Any:
    pa = pyarrow()
    kind = pa.int64() if name == "n" else pa.binary()
    columns = {"part": pa.array([part], pa.int32()), "refusal": pa.array([refusal], pa.string())}
    return pa.RecordBatch.from_pydict(columns | {name: pa.array([value], kind)})
