"""CSV, TSV and JSON Lines, plain or compressed, from a file or from standard input: read once, from front to back."""

from __future__ import annotations

import io
import json
import re
import sys
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

from trueness.files._arrow import field_of, gathered, pyarrow
from trueness.files._errors import InputError, shown
from trueness.files._fields import Chunk, Field, TextOptions, Wanted
from trueness.files._parquet import explained, fields_of, width_of_first
from trueness.files._paths import STANDARD_INPUT, Input, Kind
from trueness.files._text_values import VALUE, numbers_or_missing, trimmed, written_field

BLOCK_BYTES = 2**20
MAX_LINE_BYTES = 2**25
"""A line that is longer is no row of a table."""

UNREADABLE = "not readable"


class _Stream:
    """The bytes of a text file, uncompressed, that can be looked at before they are taken."""

    def __init__(self, input: Input, tolerant: bool) -> None:
        pa = pyarrow()
        # What is no UTF-8 would make pyarrow's handler of bad rows itself fail, on stderr.
        self._mend = getincrementaldecoder("utf-8")("replace") if tolerant else None
        self._size = input.size
        if input.path == STANDARD_INPUT:
            self._raw: Any = sys.stdin.buffer
            source: Any = self._raw
        else:
            self._raw = source = open(input.path, "rb")  # noqa: SIM115  read to its end by `chunks`
        if input.kind.compression is not None:
            source = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), input.kind.compression)
        self._source = source
        self._ahead = b""
        self.closed = False

    def ahead(self, n_bytes: int) -> bytes:
        """The next bytes, which stay where they are; fewer only at the end."""
        while len(self._ahead) < n_bytes:
            more = self._next(n_bytes - len(self._ahead))
            if not more:
                break
            self._ahead += more
        return self._ahead[:n_bytes]

    def read(self, n_bytes: int = -1) -> bytes:
        """The next bytes, never more than asked for: pyarrow has no room for them."""
        found = self._ahead or self._next(n_bytes)
        cut = len(found) if n_bytes < 0 else n_bytes
        data, self._ahead = found[:cut], found[cut:]
        return data

    def _next(self, n_bytes: int) -> bytes:
        """Bytes of the file, about so many; none only at its end."""
        while True:
            data = bytes(self._source.read(n_bytes))
            if self._mend is None:
                return data
            mended = self._mend.decode(data, final=not data).encode()
            if mended or not data:  # else all of it is the beginning of a character
                return mended

    @property
    def share(self) -> float:
        """How much of the file was taken, as far as that is known."""
        known = self._size and not self.closed
        return min(1.0, self._raw.tell() / self._size) if known else 0.0

    # What pyarrow asks of a file.
    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True
        if self._raw is not sys.stdin.buffer:
            self._raw.close()


def open_text(input: Input, options: TextOptions) -> CsvReader | JsonLinesReader:
    """A reader of a text file; standard input of no stated format is JSON Lines if it begins with a brace."""
    stream = _Stream(input, options.tolerant)
    try:
        return _open(input, stream, options)
    except BaseException:
        stream.close()
        raise


def _open(input: Input, stream: _Stream, options: TextOptions) -> CsvReader | JsonLinesReader:
    with explained(input.name):
        start = stream.ahead(BLOCK_BYTES)
    if not start.strip():
        raise InputError(f"{input.name} is empty", "check how it was written")
    format = input.kind.format
    if format == "text":
        format = "jsonl" if start.lstrip().startswith(b"{") else "csv"
    kind = Kind(format, input.kind.compression)
    if kind.format == "jsonl":
        return JsonLinesReader(input.name, stream, options.tolerant)
    return CsvReader(input.name, stream, "\t" if kind.format == "tsv" else ",", options)


def _refuse_other_separator(header: bytes, delimiter: str, name: str) -> None:
    """A first line without the separator but with another one is no single column."""
    if delimiter.encode() in header:
        return
    for other, remedy in (
        (";", "write it with commas"),
        ("\t", "pass --format tsv"),
        (",", "pass --format csv"),
    ):
        if other.encode() in header:
            raise InputError(
                f"the columns of {name} seem to be separated by {other!r}, not by {delimiter!r}", remedy
            )


class CsvReader:
    """Comma- or tab-separated values, with a line of names or without."""

    def __init__(self, name: str, stream: _Stream, delimiter: str, options: TextOptions) -> None:
        pyarrow()
        from pyarrow import csv

        self._name, self._stream, self._options = name, stream, options
        self._tolerant = options.tolerant
        self._delimiter, self._csv = delimiter, csv
        start = stream.ahead(BLOCK_BYTES)
        whole_lines = start[: start.rfind(b"\n") + 1] or start
        self._invalid: Counter[str] = Counter()
        _refuse_other_separator(whole_lines.partition(b"\n")[0], delimiter, name)
        try:
            with explained(name):
                sample = self._sampled(whole_lines)
        except InputError as error:
            raise self._placed(error) from error
        names = self._names(sample.column_names)
        sample = sample.rename_columns(names)
        fields_of(sample.schema, name)
        self._fields = {
            column: written_field(sample.column(column), column, options, name) for column in names
        }

    def _names(self, written: list[str]) -> list[str]:
        """The names of the columns: those of the first line without the spaces around them, or their numbers."""
        if not self._options.header:
            return [str(number) for number in range(1, len(written) + 1)]
        names = [column.strip() for column in written]
        if any(names) and all(re.fullmatch(VALUE, column) for column in names if column):
            raise InputError(
                f"the first line of {self._name} holds numbers and no names: {shown(', '.join(names))}",
                "pass --no-header, which names the columns 1, 2, 3, …: --no-header --label 11 --probs 1-10",
            )
        if not all(names):
            raise InputError(
                f"{self._name} has a column without a name", "its first line must name the columns"
            )
        return names

    def _sampled(self, lines: bytes) -> Any:
        """The first block, every column as text."""
        handler = (lambda _: "skip") if self._tolerant else None
        how = {"parse_options": self._parsing(handler), "read_options": self._reading()}
        self._written = self._csv.read_csv(io.BytesIO(lines), **how).column_names
        as_text = self._csv.ConvertOptions(column_types=dict.fromkeys(self._written, pyarrow().string()))
        return self._csv.read_csv(io.BytesIO(lines), convert_options=as_text, **how)

    def _parsing(self, on_invalid: Callable[[Any], str] | None) -> Any:
        return self._csv.ParseOptions(
            delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=on_invalid
        )

    def _reading(self) -> Any:
        # On one thread it is as fast here, and refusals say in which row.
        return self._csv.ReadOptions(
            use_threads=False, block_size=BLOCK_BYTES, autogenerate_column_names=not self._options.header
        )

    @property
    def fields(self) -> Mapping[str, Field]:
        """Its columns by name, as the first block has them."""
        return self._fields

    def first_width(self, name: str) -> int | None:
        """CSV has no list columns."""
        raise InputError(
            f"column {shown(name)} of {self._name} is no list", "name the columns: --probs 'p_*'"
        )

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, about so many at a time."""
        pa = pyarrow()
        number = pa.string() if self._tolerant or self._options.percent else pa.float64()
        types = dict.fromkeys(wanted.others, pa.string())  # float64 would round whole numbers
        types |= dict.fromkeys(wanted.numbers, number) | {
            name: pa.string() for name in (wanted.label, *wanted.texts)
        }
        written = dict(zip(self._fields, self._written, strict=True))
        converting = self._csv.ConvertOptions(
            include_columns=[written[name] for name in wanted.names],
            column_types={written[name]: type for name, type in types.items()},
        )
        try:
            with explained(self._name):
                handler = self._skip if self._tolerant else None
                reader = self._csv.open_csv(self._stream, self._reading(), self._parsing(handler), converting)
                for table in gathered(reader, rows):
                    yield self._chunk(table.rename_columns(wanted.names), wanted)
        except InputError as error:
            raise self._placed(error) from error

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _skip(self, _: Any) -> str:
        self._invalid["wrong number of fields"] += 1
        return "skip"

    def _chunk(self, table: Any, wanted: Wanted) -> Chunk:
        columns = {name: table.column(name) for name in wanted.names}
        if self._tolerant and not self._options.percent:
            columns |= {name: numbers_or_missing(columns[name]) for name in wanted.numbers}
        columns |= {name: trimmed(columns[name]) for name in (wanted.label, *wanted.texts, *wanted.others)}
        invalid, self._invalid = self._invalid, Counter()
        return Chunk(columns, table.num_rows, self._stream.share, invalid)

    def _placed(self, error: InputError) -> InputError:
        """The refusal with the row's number; pyarrow counts a line of names as the first row."""
        row = re.search(r"Row #(\d+): (.*)", error.cause)
        if row is None:
            return error
        reason = row[2].replace("CSV conversion error to double: invalid value", "no number:")
        return InputError(
            f"{self._name}, row {int(row[1]) - self._options.header}: {reason}",
            "mend the row, or leave such rows out with --on-bad-rows skip",
        )


class JsonLinesReader:
    """One JSON object a line."""

    def __init__(self, name: str, stream: _Stream, tolerant: bool) -> None:
        pyarrow()
        from pyarrow import json as arrow_json

        self._name, self._stream, self._tolerant = name, stream, tolerant
        self._json, self._rows = arrow_json, 0
        self._blocks = self._cut()
        first = next(self._blocks)
        self._first, self._sample = first, self._sampled(first)
        self._fields = fields_of(self._sample.schema, name)

    def _sampled(self, block: bytes) -> Any:
        """The first block as pyarrow reads it of itself; only its types are of interest."""
        try:
            return self._table(block, None)
        except pyarrow().ArrowInvalid:
            good, _ = self._looked_at(block, None)
        with explained(self._name):
            # The first line says what is meant; a line that differs from it is found when it is read.
            return self._table(good.splitlines()[0] if good else b"{}", None)

    def _cut(self) -> Iterator[bytes]:
        """The bytes in blocks of whole lines."""
        rest = b""
        while True:
            with explained(self._name):
                more = self._stream.read(BLOCK_BYTES)
            if not more:
                break
            rest += more
            end = rest.rfind(b"\n") + 1
            if end:
                yield rest[:end]
                rest = rest[end:]
            elif len(rest) > MAX_LINE_BYTES:
                raise InputError(
                    f"{self._name} has a line of more than {MAX_LINE_BYTES} bytes",
                    "JSON Lines have one object a line; is it a JSON document?",
                )
        if rest.strip():
            yield rest

    def _table(self, block: bytes, schema: Any) -> Any:
        other = "infer" if schema is None else "ignore"
        parsing = self._json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=other)
        reading = self._json.ReadOptions(use_threads=False, block_size=len(block) + 1)
        return self._json.read_json(io.BytesIO(block), reading, parsing)

    @property
    def fields(self) -> Mapping[str, Field]:
        """Its columns by name, as the first block has them."""
        return self._fields

    def first_width(self, name: str) -> int | None:
        """How many numbers the first row of a list column has."""
        return width_of_first(self._sample.column(name))

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, about so many at a time."""
        pa = pyarrow()
        schema = self._schema(wanted)
        held: list[Any] = []
        unreadable: Counter[str] = Counter()
        for block in chain([self._first], self._blocks):
            if not block.strip():
                continue
            table, bad = self._read(block, schema)
            held.append(table)
            unreadable[UNREADABLE] += bad
            if sum(part.num_rows for part in held) >= rows:
                yield self._chunk(pa.concat_tables(held), unreadable)
                held, unreadable = [], Counter()
        if held:
            yield self._chunk(pa.concat_tables(held), unreadable)

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _chunk(self, table: Any, unreadable: Counter[str]) -> Chunk:
        columns = {name: table.column(name) for name in table.column_names}
        return Chunk(columns, table.num_rows, self._stream.share, +unreadable)

    def _schema(self, wanted: Wanted) -> Any:
        """The types to read: numbers as float64 however they are written, the others as in the first block."""
        pa = pyarrow()
        fields = []
        for name in wanted.names:
            type = self._sample.schema.field(name).type
            if name in wanted.numbers and field_of(type).kind != "text":  # text: percentages
                type = pa.list_(pa.float64()) if field_of(type).kind == "list" else pa.float64()
            elif pa.types.is_null(type):
                type = pa.string()
            fields.append((name, type))
        return pa.schema(fields)

    def _read(self, block: bytes, schema: Any) -> tuple[Any, int]:
        """The rows of a block, and how many lines were left out of it."""
        try:
            table = self._table(block, schema)
        except pyarrow().ArrowInvalid:
            good, bad = self._looked_at(block, schema)
            with explained(self._name):
                table = self._table(good, schema) if good else schema.empty_table()
            self._rows += table.num_rows + bad
            return table, bad
        self._rows += table.num_rows
        return table, 0

    def _looked_at(self, block: bytes, schema: Any) -> tuple[bytes, int]:
        """The readable lines of a block that holds others too; these are refused unless the reader is tolerant."""
        good: list[bytes] = []
        lines = [line for line in block.splitlines() if line.strip()]
        for number, line in enumerate(lines, self._rows + 1):
            problem = self._problem(line, schema)
            if problem is None:
                good.append(line)
            elif not self._tolerant:
                raise InputError(
                    f"{self._name}, row {number}: {problem}: {shown(line.decode('utf-8', 'replace'))}",
                    "mend the line, or leave such lines out with --on-bad-rows skip",
                )
        return b"\n".join(good), len(lines) - len(good)

    def _problem(self, line: bytes, schema: Any) -> str | None:
        try:
            content = json.loads(line)
        except (ValueError, RecursionError):
            return "no JSON"
        if not isinstance(content, dict):
            return "no object"
        if schema is None:
            return None
        for field in schema:
            try:
                pyarrow().array([content.get(field.name)], field.type)
            except (pyarrow().ArrowException, OverflowError):
                return f"{shown(field.name)} is not of type {field.type}"
        return None
