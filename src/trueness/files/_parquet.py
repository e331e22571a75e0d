"""Parquet and Arrow IPC (Feather): columns are read a slice at a time, whatever the size of row groups and batches."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from trueness.files._arrow import HELD_BYTES, field_of, plain, pyarrow
from trueness.files._errors import InputError, shown
from trueness.files._fields import Chunk, Field, Wanted, repeated


@contextmanager
def explained(file: str) -> Iterator[None]:
    """Turn what pyarrow says about a damaged file into a cause and a remedy."""
    pa = pyarrow()
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8: {error}", "write it again as UTF-8") from error
    except (pa.ArrowException, OSError, OverflowError, MemoryError) as error:
        if isinstance(error, (FileNotFoundError, PermissionError)):
            raise
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            f"{file} cannot be read, it may be damaged or cut off: {reason}",
            "write it again, or say what it is with --format if its ending is wrong",
        ) from error


def fields_of(schema: Any, file: str) -> dict[str, Field]:
    """The columns of an Arrow schema; names must be different."""
    twice = repeated(schema.names)
    if twice:
        raise InputError(
            f"{file} has more than one column named {shown(twice[0])}", "rename them, so that each is known"
        )
    return {field.name: field_of(field.type) for field in schema}


def width_of_first(column: Any) -> int | None:
    """The length of a list column's first row that has one."""
    for row in plain(column):
        if row.is_valid:
            return len(row)
    return None


class ParquetReader:
    """A Parquet file; checksums of its pages are verified where it has them."""

    def __init__(self, path: str) -> None:
        self._path = path
        with explained(path):
            self._file = self._opened([])
            self._fields = fields_of(self._file.schema_arrow, path)

    def _opened(self, texts: list[str]) -> Any:
        """The open file, with columns of text as dictionaries: a long text in each of many rows is held once."""
        pyarrow()
        import pyarrow.parquet as pq

        # Pre-buffering would hold whole row groups, and with them as much memory as the file is long.
        return pq.ParquetFile(
            self._path, pre_buffer=False, page_checksum_verification=True, read_dictionary=texts
        )

    @property
    def fields(self) -> Mapping[str, Field]:
        """Its columns by name."""
        return self._fields

    def first_width(self, name: str) -> int | None:
        """How many numbers the first row of a list column has."""
        with explained(self._path):
            for batch in self._file.iter_batches(batch_size=64, columns=[name]):
                width = width_of_first(batch.column(0))
                if width is not None:
                    return width
        return None

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, so many at a time."""
        total, done = self._file.metadata.num_rows, 0
        names = wanted.names
        with explained(self._path):
            self._file.close()
            self._file = self._opened([name for name in names if self._fields[name].kind == "text"])
            rows = min(rows, self._rows_within(names, HELD_BYTES))
            for batch in self._file.iter_batches(batch_size=rows, columns=names):
                done += batch.num_rows
                yield Chunk(_columns(batch), batch.num_rows, done / max(total, 1))
        if done != total:
            raise InputError(
                f"{self._path} declares {total} rows, but holds {done}", "it is damaged: write it again"
            )

    def _rows_within(self, names: list[str], n_bytes: int) -> int:
        """How many rows of these columns take so many bytes, as the file declares them: texts may be long."""
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
        """Let go of the file."""
        self._file.close()


def _columns(batch: Any) -> dict[str, Any]:
    return dict(zip(batch.schema.names, batch.columns, strict=True))


class ArrowReader:
    """An Arrow IPC file or stream, Feather included."""

    def __init__(self, path: str) -> None:
        pa = pyarrow()
        self._path, self._map = path, None
        with explained(path):
            if _is_ipc_file(path):
                # Mapped, because a single batch of an uncompressed file may be as long as the file.
                with open(path, "rb") as file:
                    self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                self._source: Any = pa.BufferReader(pa.py_buffer(self._map))
                self._schema = pa.ipc.open_file(self._source).schema
            else:
                self._source = pa.OSFile(path)
                self._schema = pa.ipc.open_stream(self._source).schema
            self._fields = fields_of(self._schema, path)

    @property
    def fields(self) -> Mapping[str, Field]:
        """Its columns by name."""
        return self._fields

    def first_width(self, name: str) -> int | None:
        """How many numbers the first row of a list column has."""
        with explained(self._path):
            for batch, _ in self._batches([name]):
                width = width_of_first(batch.column(0))
                if width is not None:
                    return width
        return None

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, so many at a time."""
        with explained(self._path):
            for batch, share in self._batches(wanted.names):
                batch.validate(full=True)  # offsets of a hostile file may point anywhere
                for start in range(0, batch.num_rows, rows):
                    part = batch.slice(start, rows)
                    yield Chunk(_columns(part), part.num_rows, share)
                    self._forget()

    def _batches(self, names: list[str]) -> Iterator[tuple[Any, float]]:
        """The batches with these columns alone, and how much of the file they end at."""
        pa = pyarrow()
        places = sorted(self._schema.get_field_index(name) for name in names)
        options = pa.ipc.IpcReadOptions(included_fields=places)
        self._source.seek(0)
        if self._map is not None:
            file = pa.ipc.open_file(self._source, options=options)
            for index in range(file.num_record_batches):
                yield file.get_batch(index), (index + 1) / file.num_record_batches
            return
        size = max(os.path.getsize(self._path), 1)
        for batch in pa.ipc.open_stream(self._source, options=options):
            yield batch, self._source.tell() / size

    def close(self) -> None:
        """Let go of the file; its map is held by whoever still has rows of it."""
        if self._map is None:
            self._source.close()

    def _forget(self) -> None:
        """Give back mapped pages that were read; whoever needs them again gets them from the file."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)


def _is_ipc_file(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(6) == b"ARROW1"
