"""JSON Lines: one object per line."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from trueness._json import MAX_NESTING, has_deep_line, nesting
from trueness.formats import _text_stream
from trueness.formats._arrow_files import refuse_unreadable, schema_fields, width_of_first
from trueness.formats._format import Format, PredictionChunks
from trueness.formats._text_stream import TextStream, blocks_of_rows, end_of_lines
from trueness.formats._written_columns import text_file
from trueness.formats.arrow import field_of, gather_tables, pyarrow
from trueness.formats.fields import Chunk, Field, ReadOptions, Wanted
from trueness.formats.inputs import Kind
from trueness.refusals import InvalidValueError, quote

UNREADABLE_ROW = "unreadable-row"


class JsonLinesReader:
    """One JSON object per line. pyarrow's parser alone decides which lines can be read."""

    def __init__(self, stream: TextStream, options: ReadOptions) -> None:
        from pyarrow import json as arrow_json

        self._name, self._stream, self._tolerant = stream.name, stream, options.tolerant
        self._json, self._rows = arrow_json, 0
        self._blocks = blocks_of_rows(stream, end_of_lines, self._check_rest)
        self._first = next(self._blocks)
        self._sample = self._infer(self._first)
        self._fields = schema_fields(self._sample.schema, self._name)

    def _check_rest(self, _: bytes, too_long: bool) -> None:
        if too_long:
            cause = f"{self._name} has a line of more than {_text_stream.MAX_LINE_BYTES >> 20} MB"
            remedy = "JSON Lines have one object per line; is it a single JSON document?"
            raise InvalidValueError("line-too-long", cause, remedy)

    def _infer(self, block: bytes) -> Any:
        """The first block with the types that pyarrow infers, which are all that is used of it."""
        table = self._parse(block, None)
        if table is None:
            good, _ = self._readable_lines(block, None)
            # If types differ, those of the first line count; a line that differs is found when it is read.
            table = self._parse(b"\n".join(good), None) or self._parse(good[0] if good else b"{}", None)
        return table

    def _parse(self, block: bytes, schema: Any) -> Any:
        """The rows of a block; None if a line cannot be read, is nested too deep, or is not exactly one object."""
        pa = pyarrow()
        if has_deep_line(block):
            return None
        other = "infer" if schema is None else "ignore"
        parsing = self._json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=other)
        reading = self._json.ReadOptions(use_threads=False, block_size=len(block) + 1)
        with refuse_unreadable(self._name):
            try:
                table = self._json.read_json(io.BytesIO(block), reading, parsing)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                return None
        return table if table.num_rows == _count_lines(block, table.num_rows) else None

    @property
    def fields(self) -> Mapping[str, Field]:
        """The columns by name, as the first block has them."""
        return self._fields

    def first_width(self, name: str) -> int | None:
        """The number of values in the first row of a list column."""
        return width_of_first(self._sample.column(name))

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, about this many at a time."""
        self._unreadable: Counter[str] = Counter()
        for table in gather_tables(self._tables(wanted), rows):
            columns = {name: table.column(name) for name in table.column_names}
            unreadable, self._unreadable = self._unreadable, Counter()
            yield Chunk(columns, table.num_rows, self._stream.share, unreadable)

    def _tables(self, wanted: Wanted) -> Iterator[Any]:
        """The rows, block by block; columns of text as dictionaries, which hold each text once."""
        schema = self._schema(wanted)
        for block in chain([self._first], self._blocks):
            table = self._parse(block, schema) if block.strip() else schema.empty_table()
            n_bad = 0
            if table is None:
                good, n_bad = self._readable_lines(block, schema)
                table = self._parse(b"\n".join(good), schema) if good else schema.empty_table()
            self._rows += table.num_rows + n_bad
            self._unreadable += Counter({UNREADABLE_ROW: n_bad})
            yield _with_texts_once(table)

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _schema(self, wanted: Wanted) -> Any:
        """The types to read: numbers as float64, dates as text, others as in the first block."""
        pa = pyarrow()
        fields = []
        for name in wanted.names:
            type = self._sample.schema.field(name).type
            if name in wanted.numbers and field_of(type).kind != "text":  # text: percentages
                type = pa.list_(pa.float64()) if field_of(type).kind == "list" else pa.float64()
            elif pa.types.is_null(type) or pa.types.is_temporal(type):
                type = pa.string()
            fields.append((name, type))
        return pa.schema(fields)

    def _readable_lines(self, block: bytes, schema: Any) -> tuple[list[bytes], int]:
        """The readable lines of a block, and the number of the others, which are refused unless reading is tolerant."""
        lines = [line for line in block.split(b"\n") if line.strip()]
        bad = set()
        for index in self._bad_lines(lines, schema):
            if not self._tolerant:
                raise self._refusal(lines[index], self._rows + index + 1, schema)
            bad.add(index)
        return [line for index, line in enumerate(lines) if index not in bad], len(bad)

    def _bad_lines(self, lines: list[bytes], schema: Any, first: int = 0) -> Iterator[int]:
        """The places of the lines that the parser refuses on their own, in order; found by bisection."""
        if not lines or self._parse(b"\n".join(lines), schema) is not None:
            return
        if len(lines) == 1:
            yield first
            return
        half = len(lines) // 2
        yield from self._bad_lines(lines[:half], schema, first)
        yield from self._bad_lines(lines[half:], schema, first + half)

    def _refusal(self, line: bytes, number: int, schema: Any) -> InvalidValueError:
        value = line.decode("utf-8", "replace")
        cause = f"{self._reason(line, schema)}: {quote(value)}"
        remedy = "fix the line, or remove such rows first"
        return InvalidValueError(UNREADABLE_ROW, cause, remedy, source=self._name, row=number, value=value)

    def _reason(self, line: bytes, schema: Any) -> str:
        """Why a line cannot be read, in words."""
        if nesting(line) > MAX_NESTING:
            return f"nested more than {MAX_NESTING} levels deep"
        try:
            is_object = isinstance(json.loads(line), dict)
        except ValueError:
            return "not JSON"
        if not is_object:
            return "not a JSON object"
        for field in schema or ():
            if self._parse(line, pyarrow().schema([field])) is None:
                return f"{quote(field.name)} is not of type {field.type}"
        return "not one JSON object"


def _count_lines(block: bytes, expected: int) -> int:
    """The number of lines that are not blank; blank lines are searched for only if the number is not as expected."""
    n_lines = block.count(b"\n") + (not block.endswith(b"\n"))
    return n_lines if n_lines == expected else sum(1 for line in block.split(b"\n") if line.strip())


def _with_texts_once(table: Any) -> Any:
    """The table with columns of text as dictionaries."""
    pa = pyarrow()
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            table = table.set_column(place, field.name, table.column(place).dictionary_encode())
    return table


def _write(path: str, kind: Kind, predictions: PredictionChunks) -> None:
    with text_file(path, kind.compression) as sink:
        for y_true, y_prob in predictions.chunks:
            lines = (
                json.dumps({"y_true": label, "y_prob": row})
                for label, row in zip(y_true.tolist(), y_prob.tolist(), strict=True)
            )
            sink.write(("\n".join(lines) + "\n").encode())


FORMAT = Format(
    endings=(".jsonl", ".ndjson"),
    open_text=JsonLinesReader,
    first_byte=b"{",
    write=_write,
    needs="pyarrow",
)
