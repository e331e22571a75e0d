"""Parquet: columns are read a slice at a time, whatever the size of the row groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trueness.formats._arrow_files import columns_of, refuse_unreadable, schema_fields, width_of_first
from trueness.formats._format import Format, PredictionChunks
from trueness.formats._written_columns import schema_of, tables_of
from trueness.formats.arrow import BATCH_BYTES
from trueness.formats.fields import Chunk, Field, ReadOptions, Wanted
from trueness.formats.inputs import InputFile, Kind
from trueness.refusals import InvalidValueError


class ParquetReader:
    """A Parquet file; checksums of its pages are verified where it has them."""

    def __init__(self, input: InputFile, _options: ReadOptions) -> None:
        self._path, self._name = input.path, input.name
        with refuse_unreadable(self._name):
            self._file = self._open([])
            self._fields = schema_fields(self._file.schema_arrow, self._name)

    def _open(self, texts: list[str]) -> Any:
        """The open file, with columns of text as dictionaries: a long text that repeats is held once."""
        import pyarrow.parquet as pq

        # Pre-buffering would hold whole row groups in memory, which may be as long as the file.
        return pq.ParquetFile(
            self._path, pre_buffer=False, page_checksum_verification=True, read_dictionary=texts
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
        total, done = self._file.metadata.num_rows, 0
        names = wanted.names
        with refuse_unreadable(self._name):
            self._file.close()
            self._file = self._open([name for name in names if self._fields[name].kind == "text"])
            rows = min(rows, self._rows_within(names, BATCH_BYTES))
            for batch in self._file.iter_batches(batch_size=rows, columns=names):
                done += batch.num_rows
                yield Chunk(columns_of(batch), batch.num_rows, done / max(total, 1))
        if done != total:
            raise InvalidValueError(
                "damaged-file",
                "{file} declares {declared} rows, but holds {found}",
                "it is damaged: create the file again",
                file=self._name,
                declared=total,
                found=done,
            )

    def _rows_within(self, names: list[str], n_bytes: int) -> int:
        """The number of rows of these columns that take this many bytes, by the sizes that the file declares."""
        metadata = self._file.metadata
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
        write_page_checksum=True,
    ) as file:
        for table in tables_of(predictions):
            file.write_table(table)


FORMAT = Format(endings=(".parquet", ".pq"), open_file=ParquetReader, write=_write, needs="pyarrow")
