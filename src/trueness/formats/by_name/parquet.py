"""Parquet: columns are read a slice at a time, whatever the size of the row groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any

from trueness.formats._arrow_files import (
    columns_of,
    refuse_unreadable,
    schema_fields,
    side_by_side,
    width_of_first,
)
from trueness.formats._format import Format, PredictionChunks
from trueness.formats._written_columns import schema_of, tables_of
from trueness.formats.arrow import BATCH_BYTES
from trueness.formats.fields import Chunk, Field, ReadOptions, Wanted
from trueness.formats.inputs import InputFile, Kind
from trueness.refusals import InvalidValueError


class ParquetReader:
    """A Parquet file."""

    def __init__(self, input: InputFile, options: ReadOptions) -> None:
        self._path, self._name, self._n_threads = input.path, input.name, options.n_threads
        self._metadata: Any = None
        with refuse_unreadable(self._name):
            self._file = self._open([])
            self._metadata = self._file.metadata
            self._fields = schema_fields(self._file.schema_arrow, self._name)

    def _open(self, texts: list[str]) -> Any:
        """The open file, with columns of text as dictionaries: a long text that repeats is held once."""
        import pyarrow.parquet as pq

        # Pre-buffering would hold whole row groups in memory, which may be as long as the file.
        return pq.ParquetFile(
            self._path,
            metadata=self._metadata,
            pre_buffer=False,
            read_dictionary=texts,
        )

    @property
    def fields(self) -> Mapping[str, Field]:
        """The columns by name."""
        return self._fields

    def first_width(self, name: str) -> int | None:
        """The number of values in the first row of a list column."""
        with refuse_unreadable(self._name):
            for batch in self._file.iter_batches(batch_size=64, columns=[name]):
                width = width_of_first(batch.column(0))
                if width is not None:
                    return width
        return None

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, this many at a time."""
        total, done = self._metadata.num_rows, 0
        names = wanted.names
        with refuse_unreadable(self._name):
            rows = min(rows, self._rows_within(names, BATCH_BYTES))
            for columns in self._columns(names, rows):
                n_rows = len(columns[names[0]])
                done += n_rows
                yield Chunk(columns, n_rows, done / max(total, 1))
        if done != total:
            cause = f"{self._name} declares {total} rows, but holds {done}"
            raise InvalidValueError("damaged-file", cause, "it is damaged: create the file again")

    def _columns(self, names: list[str], rows: int) -> Iterator[dict[str, Any]]:
        """The columns, this many rows at a time."""
        texts = [name for name in names if self._fields[name].kind == "text"]
        if texts:
            self._file.close()
            self._file = self._open(texts)
        if self._n_threads is None:
            yield from map(columns_of, self._file.iter_batches(batch_size=rows, columns=names))
            return
        # A reader is not safe to share between threads. Arrow's own threads may be limited to one for the process.
        shares = [names[first :: self._n_threads] for first in range(min(self._n_threads, len(names)))]
        with ExitStack() as opened:
            files = [opened.enter_context(self._open(texts)) for _ in shares]
            yield from side_by_side(
                [
                    file.iter_batches(batch_size=rows, columns=share, use_threads=False)
                    for file, share in zip(files, shares, strict=True)
                ]
            )

    def _rows_within(self, names: list[str], n_bytes: int) -> int:
        """The number of rows of these columns that take this many bytes, by the sizes that the file declares."""
        metadata = self._metadata
        declared, total = 0, int(metadata.num_rows)
        for group in range(metadata.num_row_groups):
            columns = (metadata.row_group(group).column(place) for place in range(metadata.num_columns))
            declared += sum(
                int(column.total_uncompressed_size)
                for column in columns
                if column.path_in_schema.partition(".")[0] in names
            )
        return max(1, n_bytes * total // max(declared, 1))

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _write(path: str, _kind: Kind, predictions: PredictionChunks) -> None:
    import pyarrow.parquet as pq

    # Probabilities hardly repeat: a dictionary would be built and thrown away.
    with pq.ParquetWriter(
        path,
        schema_of(predictions),
        use_dictionary=["y_true"],
        compression="zstd",
    ) as file:
        for table in tables_of(predictions):
            file.write_table(table)


FORMAT = Format(endings=(".parquet", ".pq"), open_file=ParquetReader, write=_write, needs="pyarrow")
