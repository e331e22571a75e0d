"""Excel workbooks: one sheet whose first row names the columns. Formulas count by the values saved with them."""

from __future__ import annotations

import datetime as dt
import zipfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import IO, Any

from trueness.formats._arrow_files import refuse_unreadable
from trueness.formats._format import Format
from trueness.formats.arrow import pyarrow
from trueness.formats.fields import (
    Chunk,
    Field,
    ReadOptions,
    Wanted,
    is_number,
    not_a_list,
    require_different,
)
from trueness.formats.inputs import InputFile
from trueness.refusals import InvalidValueError, quote, reason_of

SAMPLED_ROWS = 1000
"""Rows by which the kinds of columns are found."""

MAX_PART_BYTES = 2**31
MAX_RATIO = 1000
"""A part of a workbook that is larger, or was compressed more than this, is damaged or malicious."""


class WorkbookReader:
    """The rows of one sheet, from front to back."""

    def __init__(self, input: InputFile, options: ReadOptions) -> None:
        self._name, self._options, self._done = input.name, options, 0
        _refuse_bombs(input.path, self._name)
        self._file = open(input.path, "rb")  # noqa: SIM115  closed by `close`
        try:
            with _refuse_damaged(self._name):
                self._book = _workbook(self._file)
            self._sheet = self._chosen_sheet()
            self._n_rows = self._sheet.max_row or 0
            with _refuse_damaged(self._name):
                self._rows = _rows_with_values(self._sheet)
                first = next(self._rows, ())
            names = self._names(first)
            with _refuse_damaged(self._name):
                self._sample = list(islice(self._rows, SAMPLED_ROWS))
            if not options.header:
                self._sample.insert(0, first)
            self._places = {name: place for place, name in enumerate(names)}
            self._fields = {
                name: _field([_at(row, place) for row in self._sample])
                for name, place in self._places.items()
            }
        except BaseException:
            self.close()
            raise

    def _chosen_sheet(self) -> Any:
        """The sheet that the options name, or the only one with rows."""
        sheets = {sheet.title: sheet for sheet in self._book.worksheets}
        asked = self._options.layout.sheet
        if asked is not None and asked not in sheets:
            raise self._sheet_refusal("missing-sheet", f"no sheet {quote(asked)}; it has", sheets)
        with _refuse_damaged(self._name):
            filled = [title for title in sheets if next(_rows_with_values(sheets[title]), None)]
        if asked is None and len(filled) > 1:
            raise self._sheet_refusal("ambiguous-sheet", "several sheets with rows:", filled)
        if asked is None and not filled:
            raise InvalidValueError("no-rows", f"{self._name} is empty", "check how it was written")
        return sheets[filled[0] if asked is None else asked]

    def _sheet_refusal(self, code: str, cause: str, titles: Any) -> InvalidValueError:
        listed = ", ".join(quote(title) for title in titles)
        return InvalidValueError(code, f"{self._name} has {cause} {listed}", "save it with one sheet")

    def _names(self, first: Sequence[Any]) -> list[str]:
        """The names in the first row, or numbers from 1."""
        if not self._options.header:
            return [str(number) for number in range(1, len(first) + 1)]
        names = [_text(value).strip() for value in first]
        while names and not names[-1]:
            names.pop()
        if any(isinstance(value, (int, float)) for value in first) or not all(names):
            line = ", ".join(names)
            cause = (
                f"the first row of {self._name} holds numbers or empty cells instead of names: {quote(line)}"
            )
            remedy = "write a header, or use the command with --no-header"
            raise InvalidValueError("no-header", cause, remedy)
        require_different(names, self._name)
        return names

    @property
    def fields(self) -> Mapping[str, Field]:
        """The columns by name, as the first rows have them."""
        return self._fields

    def first_width(self, name: str) -> int | None:
        """Refused: cells hold one value."""
        raise not_a_list(name, self._name)

    def chunks(self, wanted: Wanted, rows: int) -> Iterator[Chunk]:
        """The rows, this many at a time."""
        left = chain(self._sample, self._rows)
        while True:
            with _refuse_damaged(self._name):
                part = list(islice(left, rows))
            if not part:
                return
            columns = {name: self._column(name, part, wanted) for name in wanted.names}
            self._done += len(part)
            yield Chunk(columns, len(part), min(1.0, self._done / max(self._n_rows, 1)), Counter())

    def _column(self, name: str, rows: Sequence[Sequence[Any]], wanted: Wanted) -> Any:
        """A column as an Arrow array: numbers, or text."""
        pa = pyarrow()
        values = [_at(row, self._places[name]) for row in rows]
        if name in wanted.numbers and not self._options.percent:
            return pa.array([self._number(value, row) for row, value in enumerate(values)], pa.float64())
        texts = [None if value is None else _text(value).strip() for value in values]
        return pa.array(texts, pa.string()).dictionary_encode()

    def _number(self, value: Any, row: int) -> float | None:
        """A cell as a number; other text is refused, or missing if reading is tolerant."""
        if value is None or isinstance(value, (int, float)):
            return None if value is None else float(value)
        text = _text(value)
        if is_number(text):
            return float(text)
        if self._options.tolerant:
            return None
        cause = f"{quote(text)} is not a number"
        remedy = "fix the row, or remove such rows first"
        raise InvalidValueError(
            "not-a-number", cause, remedy, source=self._name, row=self._done + row + 1, value=text
        )

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _workbook(file: IO[bytes]) -> Any:
    from openpyxl import load_workbook

    return load_workbook(file, read_only=True, data_only=True, keep_links=False)


def _rows_with_values(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """The rows of a sheet; rows without any value are left out, as they are at the end of many sheets."""
    return (row for row in sheet.iter_rows(values_only=True) if any(value is not None for value in row))


def _at(row: Sequence[Any], place: int) -> Any:
    return row[place] if place < len(row) else None


def _field(values: Sequence[Any]) -> Field:
    """The kind of a column: numbers if most values are, since one typing error does not make a column text."""
    filled = [value for value in values if value is not None]
    if filled and all(isinstance(value, bool) for value in filled):
        return Field("truth")
    numbers = sum(isinstance(value, (int, float)) and not isinstance(value, bool) for value in filled)
    return Field("number" if 2 * numbers >= len(filled) and filled else "text")


def _text(value: Any) -> str:
    """A cell as text: true and false as files write them, 7.0 as 7, dates by ISO 8601."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    if isinstance(value, dt.datetime) and value.time() == dt.time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, (dt.date, dt.time)) else str(value)


def _refuse_bombs(path: str, name: str) -> None:
    """Refuse a workbook with parts that would be far larger than the file."""
    with _refuse_damaged(name), zipfile.ZipFile(path) as archive:
        parts = archive.infolist()
    for part in parts:
        if part.file_size > min(MAX_PART_BYTES, max(2**20, MAX_RATIO * part.compress_size)):
            cause = (
                f"{name} has a part {quote(part.filename)} of {part.file_size} bytes, from "
                f"{part.compress_size} compressed ones"
            )
            raise InvalidValueError("damaged-file", cause, "create the file again")


@contextmanager
def _refuse_damaged(name: str) -> Iterator[None]:
    """Raise a refusal where openpyxl raises an error about a damaged file; it raises many kinds."""
    try:
        with refuse_unreadable(name):
            yield
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        SyntaxError,
        TypeError,
        ValueError,
        zipfile.BadZipFile,
        EOFError,
    ) as error:
        if isinstance(error, InvalidValueError):
            raise
        cause = f"{name} cannot be read, it may be damaged or truncated: {reason_of(error)}"
        remedy = "create the file again, or rename it if its ending is wrong"
        raise InvalidValueError("unreadable-file", cause, remedy) from error


FORMAT = Format(endings=(".xlsx", ".xlsm"), open_file=WorkbookReader, needs="openpyxl", extra="excel")
