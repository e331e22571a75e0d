"""What the columns of a CSV file hold, which only their values say, and values without what surrounds them."""

from __future__ import annotations

from typing import Any

from trueness.files._arrow import pyarrow
from trueness.files._errors import InputError, shown
from trueness.files._fields import NUMBER, Field, TextOptions

PERCENT = NUMBER.replace(r"\s*$", r"\s*%\s*$")
VALUE = rf"({NUMBER}|{PERCENT}|^\s*([nN][aA][nN]|[tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\s*$)"
BOOLEAN = r"^\s*([tT][rR][uU][eE]|[fF][aA][lL][sS][eE])\s*$"


def written_field(column: Any, name: str, options: TextOptions, file: str) -> Field:
    """Numbers if most of the values are: one typing error does not make a column text."""
    import pyarrow.compute as pc

    written = column.filter(pc.not_equal(pc.utf8_trim_whitespace(column), ""))

    def are_mostly(*patterns: str) -> bool:
        counts = [pc.sum(pc.match_substring_regex(written, pattern)).as_py() or 0 for pattern in patterns]
        return 2 * sum(counts) >= len(written)

    if are_mostly(NUMBER):
        return Field("number")
    if are_mostly(NUMBER, PERCENT):
        problem = InputError(
            f"column {shown(name)} of {file} holds percentages, such as 85%", "pass --percent"
        )
        return Field("number") if options.percent else Field("text", problem=problem)
    return Field("truth" if are_mostly(BOOLEAN) else "text")


def trimmed(column: Any) -> Any:
    """Text without the spaces around it: one after a comma is no part of a value."""
    import pyarrow.compute as pc

    pa = pyarrow()
    if not pa.types.is_dictionary(column.type):
        return pc.utf8_trim_whitespace(column) if column.type == pa.string() else column
    parts = [
        pa.DictionaryArray.from_arrays(part.indices, pc.utf8_trim_whitespace(part.dictionary))
        for part in column.chunks
    ]
    return pa.chunked_array(parts, column.type)


def numbers_or_missing(column: Any) -> Any:
    """Text as numbers, missing where it is none."""
    pa = pyarrow()
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):  # read as text for another role
        column = column.cast(pa.string())
    good = pc.match_substring_regex(column, NUMBER)
    trimmed = pc.utf8_trim_whitespace(pc.if_else(good, column, pa.scalar(None, pa.string())))
    return trimmed.cast(pa.float64())
