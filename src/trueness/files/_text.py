"""CSV, TSV and JSON Lines, plain or compressed, from a file or from standard input: read once, from front to back."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

from trueness._json import MAX_NESTING, has_deep_line, nesting
from trueness.files._arrow import field_of, gathered, pyarrow
from trueness.files._errors import InputError, shown
from trueness.files._fields import Chunk, Field, TextOptions, Wanted
from trueness.files._parquet import explained, fields_of, width_of_first
from trueness.files._paths import Input, Kind
from trueness.files._stream import MAX_LINE_BYTES, Quotes, TextStream, blocks_of_rows, end_of_lines
from trueness.files._text_values import VALUE, numbers_or_missing, trimmed, written_field

_NUMBERS = ("number", "integer")

UNREADABLE = "not readable"

SNIFFED_BYTES = 2**16
"""What a file that says nothing about its format is told by."""


def open_text(input: Input, options: TextOptions) -> CsvReader | JsonLinesReader:
    """A reader of a text file; standard input of no stated format is JSON Lines if it begins with a brace."""
    stream = TextStream(input, options.tolerant)
    try:
        return _open(input, stream, options)
    except BaseException:
        stream.close()
        raise


def _open(input: Input, stream: TextStream, options: TextOptions) -> CsvReader | JsonLinesReader:
    start = stream.ahead(SNIFFED_BYTES)
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

    def __init__(self, name: str, stream: TextStream, delimiter: str, options: TextOptions) -> None:
        pyarrow()
        from pyarrow import csv

        self._name, self._stream, self._options = name, stream, options
        self._tolerant = options.tolerant
        self._delimiter, self._csv, self._quotes = delimiter, csv, Quotes(delimiter)
        self._invalid: Counter[str] = Counter()
        self._rows = 0
        self._blocks = blocks_of_rows(stream, self._quotes.end_of_rows, self._check_rest)
        self._first = b""
        self._first = next(self._blocks)
        _refuse_other_separator(self._first.partition(b"\n")[0], delimiter, name)
        self._written: list[str] | None = None
        self._fields = self._sampled(self._first)

    def _sampled(self, block: bytes) -> dict[str, Field]:
        """The columns, by the first block: of numbers if pyarrow finds nothing else in them, or most values are."""
        sample = self._table(block, self._csv.ConvertOptions())
        with explained(self._name):
            self._written = sample.column_names
        names = self._names(self._written)
        sample = sample.rename_columns(names)
        found = fields_of(sample.schema, self._name)
        unclear = [number for number, name in enumerate(names) if found[name].kind not in _NUMBERS]
        texts = self._texts(block, [self._written[number] for number in unclear])
        self._invalid.clear()  # they are counted when the block is read for good
        fields = dict.fromkeys(names, Field("number"))
        for number, column in zip(unclear, texts, strict=True):
            fields[names[number]] = written_field(column, names[number], self._options, self._name)
        return fields

    def _texts(self, block: bytes, written: list[str]) -> list[Any]:
        """Columns of the first block as text, by their names as they are written."""
        if not written:
            return []
        types = dict.fromkeys(written, pyarrow().string())
        table = self._table(block, self._csv.ConvertOptions(include_columns=written, column_types=types))
        return list(table.columns)

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

    def _table(self, block: bytes, converting: Any) -> Any:
        """The rows of a block; the first one begins with the line of names, if there is one."""
        first = block is self._first
        self._refuse_misplaced_quotes(block, named=first and self._options.header)
        # On one thread it is as fast here, and refusals say in which row.
        reading = self._csv.ReadOptions(
            use_threads=False,
            block_size=len(block) + 1,
            column_names=None if first else self._written,
            autogenerate_column_names=first and not self._options.header,
        )
        parsing = self._csv.ParseOptions(
            delimiter=self._delimiter,
            newlines_in_values=True,
            invalid_row_handler=self._skip if self._tolerant else None,
        )
        try:
            with explained(self._name):
                return self._csv.read_csv(io.BytesIO(block), reading, parsing, converting)
        except InputError as error:
            named = first and self._options.header  # pyarrow counts a line of names as the first row
            raise self._placed(error, self._rows - named) from error

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
        for table in gathered(self._tables(wanted), rows):
            yield self._chunk(table, wanted)

    def _tables(self, wanted: Wanted) -> Iterator[Any]:
        """The rows, block by block."""
        converting = self._converting(wanted)
        for block in chain([self._first], self._blocks):
            invalid = self._invalid.total()
            table = self._table(block, converting)
            self._rows += table.num_rows + self._invalid.total() - invalid
            yield table.rename_columns(wanted.names)

    def _converting(self, wanted: Wanted) -> Any:
        """The types to read: numbers as numbers, and text so that equal texts are held once."""
        pa = pyarrow()
        text = pa.dictionary(pa.int32(), pa.string())
        number = pa.string() if self._tolerant else pa.float64()
        number = text if self._options.percent else number
        # Columns of conditions as text too: float64 would round whole numbers.
        types = dict.fromkeys(wanted.others, text) | dict.fromkeys(wanted.numbers, number)
        types |= dict.fromkeys((wanted.label, *wanted.texts), text)
        written = dict(zip(self._fields, self._written or (), strict=True))
        return self._csv.ConvertOptions(
            include_columns=[written[name] for name in wanted.names],
            column_types={written[name]: type for name, type in types.items()},
        )

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _check_rest(self, rest: bytes, too_long: bool) -> None:
        """Refuse a row that has no end, above all one with an open quote: it would hold all rows after it."""
        place = f"{self._name}, row {self._rows + 1}" if self._first else f"the first line of {self._name}"
        if self._quotes.left_open(rest):
            raise InputError(
                f'{place}: a quote (") is opened and not closed, so that what follows is one long value',
                "close or remove the quote",
            )
        if too_long:
            raise InputError(f"{place} is longer than {MAX_LINE_BYTES >> 20} MB", "is it a CSV file?")

    def _refuse_misplaced_quotes(self, block: bytes, *, named: bool) -> None:
        before = self._quotes.misplaced(block)
        if before is not None:
            place = f"{self._name}, row {self._rows + before + 1 - named}"
            raise InputError(
                f'{place}: a quote (") is opened, and text follows where it is closed, so that rows in between would '
                "be lost",
                "close or remove the quote",
            )

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

    def _placed(self, error: InputError, rows_before: int) -> InputError:
        """The refusal with the row's number in the file; pyarrow counts from 1 in each block."""
        row = re.search(r"Row #(\d+): (.*)", error.cause)
        if row is None:
            return error
        reason = row[2].replace("CSV conversion error to double: invalid value", "no number:")
        return InputError(
            f"{self._name}, row {rows_before + int(row[1])}: {reason}",
            "fix the row, or leave such rows out with --on-bad-rows skip",
        )


class JsonLinesReader:
    """One JSON object a line. Which lines can be read is decided by pyarrow's parser alone."""

    def __init__(self, name: str, stream: TextStream, tolerant: bool) -> None:
        pyarrow()
        from pyarrow import json as arrow_json

        self._name, self._stream, self._tolerant = name, stream, tolerant
        self._json, self._rows = arrow_json, 0
        self._blocks = blocks_of_rows(stream, end_of_lines, self._check_rest)
        self._first = next(self._blocks)
        self._sample = self._sampled(self._first)
        self._fields = fields_of(self._sample.schema, name)

    def _check_rest(self, _: bytes, too_long: bool) -> None:
        if too_long:
            raise InputError(
                f"{self._name} has a line of more than {MAX_LINE_BYTES >> 20} MB",
                "JSON Lines have one object a line; is it a JSON document?",
            )

    def _sampled(self, block: bytes) -> Any:
        """The first block as pyarrow reads it of itself; only its types are of interest."""
        table = self._parsed(block, None)
        if table is None:
            good, _ = self._judged(block, None)
            # If types differ, the first line says what is meant; a line that differs is found when it is read.
            table = self._parsed(b"\n".join(good), None) or self._parsed(good[0] if good else b"{}", None)
        return table

    def _parsed(self, block: bytes, schema: Any) -> Any:
        """The rows of a block; None if a line cannot be read, is nested too deep, or holds more or less than a row."""
        pa = pyarrow()
        if has_deep_line(block):
            return None
        other = "infer" if schema is None else "ignore"
        parsing = self._json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=other)
        reading = self._json.ReadOptions(use_threads=False, block_size=len(block) + 1)
        try:
            with explained(self._name):
                table = self._json.read_json(io.BytesIO(block), reading, parsing)
        except InputError as error:
            if isinstance(error.__cause__, (pa.ArrowInvalid, pa.ArrowNotImplementedError)):
                return None
            raise
        return table if table.num_rows == _count_lines(block, table.num_rows) else None

    @property
    def fields(self) -> Mapping[str, Field]:
        """Its columns by name, as the first block has them."""
        return self._fields

    def first_width(self, name: str) -> int | None:
        """How many numbers the first row of a list column has."""
        return width_of_first(self._sample.column(name))

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, about so many at a time."""
        self._unreadable: Counter[str] = Counter()
        for table in gathered(self._tables(wanted), rows):
            columns = {name: table.column(name) for name in table.column_names}
            unreadable, self._unreadable = self._unreadable, Counter()
            yield Chunk(columns, table.num_rows, self._stream.share, unreadable)

    def _tables(self, wanted: Wanted) -> Iterator[Any]:
        """The rows, block by block; those of text with each text once."""
        schema = self._schema(wanted)
        for block in chain([self._first], self._blocks):
            table = self._parsed(block, schema) if block.strip() else schema.empty_table()
            n_bad = 0
            if table is None:
                good, n_bad = self._judged(block, schema)
                table = self._parsed(b"\n".join(good), schema) if good else schema.empty_table()
            self._rows += table.num_rows + n_bad
            self._unreadable += Counter({UNREADABLE: n_bad})
            yield _with_texts_once(table)

    def close(self) -> None:
        """Let go of the file."""
        self._stream.close()

    def _schema(self, wanted: Wanted) -> Any:
        """The types to read: numbers as float64 however they are written, dates as text, else as in the first block."""
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

    def _judged(self, block: bytes, schema: Any) -> tuple[list[bytes], int]:
        """The readable lines of a block, and the number of the others, which are refused unless it is tolerant."""
        lines = [line for line in block.split(b"\n") if line.strip()]
        bad = set()
        for index in self._bad_lines(lines, schema):
            if not self._tolerant:
                raise self._refusal(lines[index], self._rows + index + 1, schema)
            bad.add(index)
        return [line for index, line in enumerate(lines) if index not in bad], len(bad)

    def _bad_lines(self, lines: list[bytes], schema: Any, first: int = 0) -> Iterator[int]:
        """The places of the lines that the parser does not take by themselves, in order; found by halving."""
        if not lines or self._parsed(b"\n".join(lines), schema) is not None:
            return
        if len(lines) == 1:
            yield first
            return
        half = len(lines) // 2
        yield from self._bad_lines(lines[:half], schema, first)
        yield from self._bad_lines(lines[half:], schema, first + half)

    def _refusal(self, line: bytes, number: int, schema: Any) -> InputError:
        return InputError(
            f"{self._name}, row {number}: {self._reason(line, schema)}: {shown(line.decode('utf-8', 'replace'))}",
            "fix the line, or leave such lines out with --on-bad-rows skip",
        )

    def _reason(self, line: bytes, schema: Any) -> str:
        """Why a line is not read, in words; that it is not has been decided."""
        if nesting(line) > MAX_NESTING:
            return f"nested more than {MAX_NESTING} levels deep"
        try:
            is_object = isinstance(json.loads(line), dict)
        except ValueError:
            return "not JSON"
        if not is_object:
            return "not a JSON object"
        for field in schema or ():
            if self._parsed(line, pyarrow().schema([field])) is None:
                return f"{shown(field.name)} is not of type {field.type}"
        return "not one JSON object"


def _count_lines(block: bytes, expected: int) -> int:
    """The lines of a block that are not blank; blank ones are looked for only if the number is not the expected one."""
    n_lines = block.count(b"\n") + (not block.endswith(b"\n"))
    return n_lines if n_lines == expected else sum(1 for line in block.split(b"\n") if line.strip())


def _with_texts_once(table: Any) -> Any:
    """The table with columns of text as dictionaries."""
    pa = pyarrow()
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type):
            table = table.set_column(place, field.name, table.column(place).dictionary_encode())
    return table
