"""Arrow IPC files and streams, Feather included."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Mapping
from typing import Any

from trueness.formats._arrow_files import columns_of, refuse_unreadable, schema_fields, width_of_first
from trueness.formats._format import Format, PredictionChunks
from trueness.formats._written_columns import schema_of, tables_of
from trueness.formats.arrow import pyarrow
from trueness.formats.fields import Chunk, Field, ReadOptions, Wanted
from trueness.formats.inputs import InputFile, Kind


class ArrowReader:
    """An Arrow IPC file or stream, Feather included."""

    def __init__(self, input: InputFile, _options: ReadOptions) -> None:
        pa = pyarrow()
        self._path, self._name, self._map = input.path, input.name, None
        with refuse_unreadable(self._name):
            if _is_ipc_file(self._path):
                # Mapped, because a single batch of an uncompressed file may be as long as the file.
                with open(self._path, "rb") as file:
                    self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
                self._source: Any = pa.BufferReader(pa.py_buffer(self._map))
                self._schema = pa.ipc.open_file(self._source).schema
            else:
                self._source = pa.OSFile(self._path)
                self._schema = pa.ipc.open_stream(self._source).schema
            self._fields = schema_fields(self._schema, self._name)

    @property
    def fields(self) -> Mapping[str, Field]:
        """The columns by name."""
        return self._fields

    def first_width(self, name: str) -> int | None:
        """The number of values in the first row of a list column."""
        with refuse_unreadable(self._name):
            for batch, _ in self._batches([name]):
                width = width_of_first(batch.column(0))
                if width is not None:
                    return width
        return None

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, this many at a time."""
        with refuse_unreadable(self._name):
            for batch, share in self._batches(wanted.names):
                batch.validate(full=True)  # the offsets of a malicious file may point anywhere
                for start in range(0, batch.num_rows, rows):
                    part = batch.slice(start, rows)
                    yield Chunk(columns_of(part), part.num_rows, share)
                    self._release_pages()

    def _batches(self, names: list[str]) -> Iterator[tuple[Any, float]]:
        """The batches with these columns alone, and the share of the file up to the end of each."""
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
        """Close the file; the memory map lives as long as rows that refer to it."""
        if self._map is None:
            self._source.close()

    def _release_pages(self) -> None:
        """Release the mapped pages that have been read; they are read from the file again if needed."""
        if self._map is not None and hasattr(mmap, "MADV_DONTNEED"):
            self._map.madvise(mmap.MADV_DONTNEED)


def _is_ipc_file(path: str) -> bool:
    with open(path, "rb") as file:
        return file.read(6) == b"ARROW1"


def _write(path: str, _kind: Kind, predictions: PredictionChunks) -> None:
    pa = pyarrow()
    with pa.OSFile(path, "wb") as sink, pa.ipc.new_file(sink, schema_of(predictions)) as file:
        for table in tables_of(predictions):
            file.write_table(table)


FORMAT = Format(
    endings=(".arrow", ".feather", ".ipc", ".arrows"),
    open_file=ArrowReader,
    write=_write,
    needs="pyarrow",
)
