"""A file to be read: its path, its format, and how messages name it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

STANDARD_INPUT = "-"


class Kind(NamedTuple):
    """The format and the compression of a file."""

    format: str | None
    """None for a stream of text whose first bytes decide."""
    compression: str | None = None


@dataclass(frozen=True, slots=True)
class InputFile:
    """One file to be read."""

    path: str
    kind: Kind
    size: int = 0
    partition: dict[str, str | None] = field(default_factory=dict)
    """Columns that the folder names state, as in `day=2026-11-16`; None for Hive's name of a missing value."""
    read_once: bool = False
    """Whether it can be read only once: standard input, a named pipe, a process substitution."""
    title: str | None = None
    """The name in messages, if it is not the path: that of a remote file, or of a partition of a data frame."""

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.title or ("standard input" if self.path == STANDARD_INPUT else self.path)
