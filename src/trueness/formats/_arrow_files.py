"""What readers that use pyarrow share: its errors as refusals, the fields of a schema, the columns of a batch."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from trueness.formats.arrow import field_of, plain
from trueness.formats.fields import Field, require_different
from trueness.refusals import InvalidValueError, reason_of


@contextmanager
def refuse_unreadable(file: str) -> Iterator[None]:
    """Raise a refusal where pyarrow or the system raises an error about a damaged file."""
    try:
        yield
    except UnicodeDecodeError as error:
        cause = f"{file} is not {error.encoding.upper()}: {reason_of(error)}"
        raise InvalidValueError("not-utf-8", cause, "create the file again in UTF-8") from error
    except Exception as error:
        if isinstance(error, (FileNotFoundError, PermissionError)) or not isinstance(error, _of_damage()):
            raise
        cause = f"{file} cannot be read, it may be damaged or truncated: {reason_of(error)}"
        remedy = "create the file again, or rename it if its ending is wrong"
        raise InvalidValueError("unreadable-file", cause, remedy) from error


def _of_damage() -> tuple[type[Exception], ...]:
    """The errors that a damaged file raises; those of pyarrow only if it is loaded, since text is read without it."""
    loaded = sys.modules.get("pyarrow")
    return (OSError, OverflowError, MemoryError, *(() if loaded is None else (loaded.ArrowException,)))


def schema_fields(schema: Any, file: str) -> dict[str, Field]:
    """The columns of an Arrow schema; names must be different."""
    require_different(schema.names, file)
    return {field.name: field_of(field.type) for field in schema}


def columns_of(batch: Any) -> dict[str, Any]:
    """The columns of a record batch by name."""
    return dict(zip(batch.schema.names, batch.columns, strict=True))


def width_of_first(column: Any) -> int | None:
    """The length of a list column's first row that is not missing."""
    for row in plain(column):
        if row.is_valid:
            return len(row)
    return None


def side_by_side(parts: Sequence[Iterator[Any]]) -> Iterator[dict[str, Any]]:
    """The columns of record batches that different iterators yield for the same rows; each has a thread of its own.

    The batches of one iterator may be longer than those of another: both are cut where either ends.
    """
    with ThreadPoolExecutor(len(parts)) as pool:
        batches: list[Any] = [None] * len(parts)
        while True:
            batches = list(pool.map(_next_rows, batches, parts))
            if any(batch is None for batch in batches):
                return
            n_rows = min(batch.num_rows for batch in batches)
            yield {
                name: column
                for batch in batches
                for name, column in columns_of(batch.slice(0, n_rows)).items()
            }
            batches = [batch.slice(n_rows) for batch in batches]


def _next_rows(left: Any, batches: Iterator[Any]) -> Any:
    """What is left of a batch, or the next batch that has rows; None after the last."""
    while left is None or left.num_rows == 0:
        left = next(batches, None)
        if left is None:
            return None
    return left
