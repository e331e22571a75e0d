"""The delimiter and the decimal sign of delimited text, detected where only one reading is possible."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from trueness.formats.fields import NUMBER
from trueness.refusals import InvalidValueError

DELIMITERS = (",", ";", "\t", "|")
"""Those that are detected; others can be given."""

SAMPLED_ROWS = 100

_WITH_COMMA = NUMBER.replace(r"\.", ",")
_THOUSANDS = r"^\s*[+-]?[1-9][0-9]{0,2}([,.][0-9]{3})+\s*$"
"""1,234 may be a decimal or a whole number with a thousands separator."""


def detect_delimiter(text: str, own: str, file: str) -> str:
    r"""The delimiter of a text: `own`, that of the format, unless the rows have the same number of fields by another.

    >>> detect_delimiter("y;p\n0;0,5\n1;0,7\n", ",", "x.csv"), detect_delimiter("y\n0\n", ",", "x.csv")
    (';', ',')
    """
    rows = {delimiter: _rows_of(text, delimiter) for delimiter in DELIMITERS}
    possible = [delimiter for delimiter, found in rows.items() if _is_table(found)]
    if own in possible:
        best = max(possible, key=lambda delimiter: (_number_columns(rows[delimiter]), delimiter == own))
        possible = [own] if best == own else possible
    elif not possible or own in text.partition("\n")[0]:
        return own
    if len(possible) > 1:
        listed = " or ".join(repr(delimiter) for delimiter in possible)
        cause = f"the columns of {file} may be separated by {listed}"
        raise InvalidValueError("ambiguous-delimiter", cause, "write it with commas")
    return possible[0]


def _rows_of(text: str, delimiter: str) -> list[list[str]]:
    """The first rows as lists of fields; the last line is left out, since it may be incomplete, unless it is alone."""
    import csv

    lines = text.splitlines(keepends=True)
    rows = csv.reader(lines[: max(2, len(lines) - 1)], delimiter=delimiter, strict=False)
    try:
        return [row for row, _ in zip(rows, range(SAMPLED_ROWS), strict=False) if row]
    except csv.Error:  # a field that is too long for it
        return []


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether all rows have the same number of fields, at least two."""
    return len({len(row) for row in rows}) == 1 and len(rows[0]) > 1


def _number_columns(rows: Sequence[Sequence[str]]) -> int:
    """How many columns hold numbers below the first row."""
    columns = zip(*rows[1:], strict=True)
    return sum(all(re.match(f"{NUMBER}|{_WITH_COMMA}", value) for value in column) for column in columns)


def decimal_signs(column: Any) -> set[str]:
    """The decimal signs that the numbers of an Arrow column of text have; empty if it holds other text, or no decimals.

    "?" stands for numbers such as 1,234 if no other number of the column shows whether this is a decimal.
    """
    import pyarrow.compute as pc

    written = pc.unique(column.filter(pc.not_equal(pc.utf8_trim_whitespace(column), "")))
    found = set()
    for sign, pattern in ((".", NUMBER), (",", _WITH_COMMA)):
        with_sign = written.filter(pc.match_substring(written, sign))
        if not len(with_sign) or not pc.all(pc.match_substring_regex(written, pattern)).as_py():
            continue
        clear = pc.any(pc.invert(pc.match_substring_regex(with_sign, _THOUSANDS))).as_py()
        found.add(sign if clear or sign == "." else "?")
    return found


def with_points(column: Any) -> Any:
    """Text with decimal commas as text with decimal points."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_dictionary(column.type):
        return pc.replace_substring(column, ",", ".")
    parts = [
        pa.DictionaryArray.from_arrays(part.indices, pc.replace_substring(part.dictionary, ",", "."))
        for part in column.chunks
    ]
    return pa.chunked_array(parts, column.type)
