"""The kinds of CSV columns, found from their values; text without surrounding spaces; text as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trueness.formats.arrow import pyarrow
from trueness.formats.fields import NUMBER, Field, ReadOptions
from trueness.refusals import InvalidValueError, quote

PERCENT = NUMBER.replace(r"\s*$", r"\s*%\s*$")
VALUE = rf"({NUMBER}|{PERCENT}|^\s*([nN][aA][nN]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\s*$)"
BOOLEAN = r"^\s*([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\s*$"


def field_of_text(column: Any, name: str, options: ReadOptions, file: str) -> Field:
    """The kind of a column: numbers if most values are, since one typing error does not make a column text."""
    import pyarrow.compute as pc

    written = column.filter(pc.not_equal(pc.utf8_trim_whitespace(column), ""))

    def are_mostly(*patterns: str) -> bool:
        counts = [pc.sum(pc.match_substring_regex(written, pattern)).as_py() or 0 for pattern in patterns]
        return 2 * sum(counts) >= len(written)

    if are_mostly(NUMBER):
        return Field("number")
    if are_mostly(NUMBER, PERCENT):
        cause = f"column {quote(name)} of {file} holds percentages, such as 85%"
        problem = InvalidValueError("percentages", cause, "divide `y_prob` by 100")
        return Field("number") if options.percent else Field("text", problem=problem)
    return Field("truth" if are_mostly(BOOLEAN) else "text")


def trim(column: Any) -> Any:
    """Text without surrounding spaces: a space after a comma does not belong to the value."""
    import pyarrow.compute as pc

    pa = pyarrow()
    if not pa.types.is_dictionary(column.type):
        return pc.utf8_trim_whitespace(column) if column.type == pa.string() else column
    parts = [
        pa.DictionaryArray.from_arrays(part.indices, pc.utf8_trim_whitespace(part.dictionary))
        for part in column.chunks
    ]
    return pa.chunked_array(parts, column.type)


def first_non_number(column: Any, null_values: Sequence[str]) -> tuple[int, str] | None:
    """The row, from 0, and the text of the first value that pyarrow does not read as a number; None if all are."""
    import pyarrow.compute as pc

    pa = pyarrow()
    texts = pc.utf8_trim_whitespace(column)
    suspects = pc.fill_null(pc.invert(pc.match_substring_regex(texts, NUMBER)), False)
    for row in pc.indices_nonzero(suspects).to_pylist():
        text = texts[row]
        try:
            if text.as_py() not in null_values:
                text.cast(pa.float64())
        except pa.ArrowInvalid:
            return row, column[row].as_py()
    return None


def numbers_or_missing(column: Any) -> Any:
    """Text as numbers, missing where it is not a number."""
    pa = pyarrow()
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):  # read as text for another purpose
        column = column.cast(pa.string())
    good = pc.match_substring_regex(column, NUMBER)
    trimmed = pc.utf8_trim_whitespace(pc.if_else(good, column, pa.scalar(None, pa.string())))
    return trimmed.cast(pa.float64())
