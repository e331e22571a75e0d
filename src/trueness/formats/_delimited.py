"""Comma- and tab-separated values: what CSV and TSV share."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from trueness.formats import _text_stream
from trueness.formats._arrow_files import refuse_unreadable, schema_fields
from trueness.formats._csv_quotes import Quotes
from trueness.formats._csv_values import VALUE, field_of_text, first_non_number, numbers_or_missing, trim
from trueness.formats._format import PredictionChunks
from trueness.formats._text_layout import DELIMITERS, decimal_signs, detect_delimiter, with_points
from trueness.formats._text_stream import TextStream, blocks_of_rows
from trueness.formats._written_columns import schema_of, tables_of, text_file
from trueness.formats.arrow import gather_tables, pyarrow
from trueness.formats.fields import Chunk, Field, ReadOptions, Wanted, not_a_list
from trueness.formats.inputs import Kind
from trueness.refusals import InvalidValueError, quote

_NUMBERS = ("number", "integer")

WRONG_FIELD_COUNT = "wrong-field-count"


def _refuse_other_separator(header: bytes, delimiter: str, name: str) -> None:
    """Refuse a first line without the separator but with another one: it is not a single column."""
    if delimiter.encode() in header:
        return
    for other in DELIMITERS:
        if other.encode() in header:
            cause = f"the columns of {name} seem to be separated by {other!r}, not by {delimiter!r}"
            raise InvalidValueError("wrong-separator", cause, "write it with commas")


class DelimitedReader:
    """Values separated by a delimiter, with a header or without."""

    def __init__(self, stream: TextStream, options: ReadOptions, *, delimiter: str) -> None:
        from pyarrow import csv

        self._name, self._stream, self._options = stream.name, stream, options
        self._tolerant = options.tolerant
        self._delimiter = self._delimiter_of(delimiter)
        self._decimal = options.layout.decimal or "."
        self._csv, self._quotes = csv, Quotes(self._delimiter)
        self._invalid: Counter[str] = Counter()
        self._rows = 0
        self._blocks = blocks_of_rows(stream, self._quotes.end_of_rows, self._check_rest)
        self._first = b""
        self._first = next(self._blocks)
        if options.layout.delimiter is None:
            _refuse_other_separator(self._first.partition(b"\n")[0], self._delimiter, self._name)
        self._written: list[str] | None = None
        self._fields = self._infer(self._first)

    def _delimiter_of(self, own: str) -> str:
        """The delimiter of the options, or the detected one."""
        if (given := self._options.layout.delimiter) is not None:
            return given
        start = self._stream.ahead(_text_stream.SNIFFED_BYTES).decode("utf-8", "replace")
        found = detect_delimiter(start, own, self._name)
        if found != own:
            self._options.found(f"columns separated by {found!r}")
        return found

    def _converting(self, **options: Any) -> Any:
        return self._csv.ConvertOptions(decimal_point=self._decimal, **options)

    def _infer(self, block: bytes) -> dict[str, Field]:
        """The columns, by the first block: numbers if pyarrow infers numbers, or if most values are numbers."""
        sample = self._table(block, self._converting())
        with refuse_unreadable(self._name):
            self._written = sample.column_names
        names = self._names(self._written)
        sample = sample.rename_columns(names)
        found = schema_fields(sample.schema, self._name)
        unclear = [number for number, name in enumerate(names) if found[name].kind not in _NUMBERS]
        texts = self._texts(block, [self._written[number] for number in unclear])
        if self._options.layout.decimal is None:
            self._detect_decimal(texts, has_points=any(found[name].kind == "number" for name in names))
        self._invalid.clear()  # they are counted when the rows of the block are returned
        fields = dict.fromkeys(names, Field("number"))
        for number, column in zip(unclear, texts, strict=True):
            fields[names[number]] = self._field_of(column, names[number])
        return fields

    def _detect_decimal(self, texts: Sequence[Any], *, has_points: bool) -> None:
        """Set the decimal comma if numbers are written with it in some columns and with a point in none."""
        if not has_points and any("," in decimal_signs(column) for column in texts):
            self._decimal = ","
            self._options.found("decimal comma")

    def _field_of(self, column: Any, name: str) -> Field:
        """The kind of a column of text."""
        if self._decimal == ",":
            column = with_points(column)
        elif self._options.layout.decimal is None and decimal_signs(column) & {",", "?"}:
            cause = (
                f"column {quote(name)} of {self._name} holds numbers with a comma, which may "
                "be a decimal or a thousands separator"
            )
            problem = InvalidValueError("decimal-comma", cause, "write decimals with a point")
            return Field("text", problem=problem)
        return field_of_text(column, name, self._options, self._name)

    def _texts(self, block: bytes, written: list[str]) -> list[Any]:
        """Columns of a block as text, by their names in the file."""
        if not written:
            return []
        types = dict.fromkeys(written, pyarrow().string())
        table = self._table(block, self._converting(include_columns=written, column_types=types))
        return list(table.columns)

    def _names(self, written: list[str]) -> list[str]:
        """The names of the columns: those of the header without surrounding spaces, or numbers from 1."""
        if not self._options.header:
            return [str(number) for number in range(1, len(written) + 1)]
        names = [column.strip() for column in written]
        if any(names) and all(re.fullmatch(VALUE, column.replace(",", ".")) for column in names if column):
            line = ", ".join(names)
            cause = f"the first line of {self._name} holds numbers and no names: {quote(line)}"
            remedy = "write a header, or use the command with --no-header"
            raise InvalidValueError("no-header", cause, remedy)
        if not all(names):
            cause = f"{self._name} has a column without a name"
            raise InvalidValueError("no-header", cause, "the first line must name all columns")
        return names

    def _table(self, block: bytes, converting: Any) -> Any:
        """The rows of a block; the first block begins with the header, if there is one."""
        self._refuse_misplaced_quotes(block, named=self._has_header(block))
        try:
            with refuse_unreadable(self._name):
                return self._parse(block, converting, self._skip if self._tolerant else None)
        except InvalidValueError:
            if not self._tolerant:
                self._refuse_bad_row(block, converting)
            raise

    def _parse(self, block: bytes, converting: Any, handler: Any) -> Any:
        first = block is self._first
        # On one thread it is as fast here, and pyarrow numbers invalid rows.
        reading = self._csv.ReadOptions(
            use_threads=False,
            block_size=len(block) + 1,
            column_names=None if first else self._written,
            autogenerate_column_names=first and not self._options.header,
        )
        parsing = self._csv.ParseOptions(
            delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=handler
        )
        return self._csv.read_csv(io.BytesIO(block), reading, parsing, converting)

    def _has_header(self, block: bytes) -> bool:
        return block is self._first and self._options.header

    def _refuse_bad_row(self, block: bytes, converting: Any) -> None:
        """Refuse the first row of a block with another number of fields or with a number that cannot be read."""
        invalid: list[Any] = []

        def note(row: Any) -> str:
            invalid.append((row.number, row.expected_columns, row.actual_columns))
            return "skip"

        pa = pyarrow()
        texts = {name: pa.string() for name, type in converting.column_types.items() if type == pa.float64()}
        again = self._converting(include_columns=list(texts), column_types=texts)
        repaired = block.decode("utf-8", "replace").encode()
        if block is self._first:
            self._first = repaired  # so that its header is read as one
        with refuse_unreadable(self._name):
            table = self._parse(repaired, again, note)
        if invalid:
            number, expected, actual = invalid[0]
            raise self._row_refusal(
                WRONG_FIELD_COUNT,
                number - self._has_header(repaired),
                f"expected {expected} columns, got {actual}",
            )
        columns = [table.column(name) for name in texts]
        columns = list(map(with_points, columns)) if self._decimal == "," else columns
        bad = [first_non_number(column, converting.null_values) for column in columns]
        row, value = min((found for found in bad if found is not None), default=(None, None))
        if row is not None:
            raise self._row_refusal("not-a-number", row + 1, f"{quote(value)} is not a number", value)
        with refuse_unreadable(self._name):
            block.decode()

    def _row_refusal(self, code: str, row: int, cause: str, value: Any = None) -> InvalidValueError:
        remedy = "fix the row, or remove such rows first"
        row += self._rows
        return InvalidValueError(code, cause, remedy, source=self._name, row=row, value=value)

    @property
    def fields(self) -> Mapping[str, Field]:
        """The columns by name, as the first block has them."""
        return self._fields

    def first_width(self, name: str) -> int | None:
        """Refused: delimited text has no list columns."""
        raise not_a_list(name, self._name)

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, about this many at a time."""
        for table in gather_tables(self._tables(wanted), rows):
            yield self._chunk(table, wanted)

    def _tables(self, wanted: Wanted) -> Iterator[Any]:
        """The rows, block by block."""
        converting = self._convert_options(wanted)
        for block in chain([self._first], self._blocks):
            invalid = self._invalid.total()
            table = self._table(block, converting)
            self._rows += table.num_rows + self._invalid.total() - invalid
            yield table.rename_columns(wanted.names)

    def _convert_options(self, wanted: Wanted) -> Any:
        """The types to read: numbers as numbers, and text as dictionaries, which hold equal texts once."""
        pa = pyarrow()
        text = pa.dictionary(pa.int32(), pa.string())
        number = pa.string() if self._tolerant else pa.float64()
        number = text if self._options.percent else number
        # Columns of conditions as text too: float64 would round whole numbers.
        types = dict.fromkeys(wanted.others, text) | dict.fromkeys(wanted.numbers, number)
        types |= dict.fromkeys((*wanted.labels, *wanted.texts), text)
        written = dict(zip(self._fields, self._written or (), strict=True))
        return self._converting(
            include_columns=[written[name] for name in wanted.names],
            column_types={written[name]: type for name, type in types.items()},
        )

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def _check_rest(self, rest: bytes, too_long: bool) -> None:
        """Refuse a row without an end, above all one with an open quote: it would hold all rows after it."""
        row = self._rows + 1
        line = f"row {row}" if self._first else "the first line"
        if self._quotes.is_open_at_end(rest):
            cause = (
                f'{self._name}, {line}: a quote (") is opened and not closed, so that the rest '
                "is one long value"
            )
            raise InvalidValueError("open-quote", cause, "close or remove the quote", row=row)
        if too_long:
            cause = f"{self._name}, {line} is longer than {_text_stream.MAX_LINE_BYTES >> 20} MB"
            raise InvalidValueError("line-too-long", cause, "is it a CSV file?", row=row)

    def _refuse_misplaced_quotes(self, block: bytes, *, named: bool) -> None:
        before = self._quotes.rows_before_stray_quote(block)
        if before is not None:
            raise InvalidValueError(
                "open-quote",
                'a quote (") is opened here and closed in the middle of a value, so that rows '
                "in between would be lost",
                "close or remove the quote",
                source=self._name,
                row=self._rows + before + 1 - named,
            )

    def _skip(self, _: Any) -> str:
        self._invalid[WRONG_FIELD_COUNT] += 1
        return "skip"

    def _chunk(self, table: Any, wanted: Wanted) -> Chunk:
        columns = {name: table.column(name) for name in wanted.names}
        if self._decimal == ",":
            columns |= {name: with_points(columns[name]) for name in self._text_numbers(columns, wanted)}
        if self._tolerant and not self._options.percent:
            columns |= {name: numbers_or_missing(columns[name]) for name in wanted.numbers}
        columns |= {name: trim(columns[name]) for name in (*wanted.labels, *wanted.texts, *wanted.others)}
        invalid, self._invalid = self._invalid, Counter()
        return Chunk(columns, table.num_rows, self._stream.share, invalid)

    def _text_numbers(self, columns: Mapping[str, Any], wanted: Wanted) -> list[str]:
        """The columns of numbers that are read as text; groups stay as they are written."""
        return [
            name
            for name, column in columns.items()
            if self._fields[name].kind == "number"
            and name not in wanted.texts
            and column.type != pyarrow().float64()
        ]


def write_delimited(path: str, kind: Kind, predictions: PredictionChunks, *, delimiter: str) -> None:
    """Write predictions with this delimiter between the columns."""
    from pyarrow import csv

    options = csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    with (
        text_file(path, kind.compression) as sink,
        csv.CSVWriter(sink, schema_of(predictions), write_options=options) as file,
    ):
        for table in tables_of(predictions):
            file.write_table(table)
