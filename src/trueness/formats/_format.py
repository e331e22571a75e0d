"""A file format: its name and endings, how it is read and written, and the library it needs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from trueness.formats.fields import Reader, ReadOptions
from trueness.formats.inputs import InputFile, Kind

if TYPE_CHECKING:
    from trueness.formats._text_stream import TextStream


class PredictionChunks(NamedTuple):
    """Rows to be written: chunks of labels (rows,) and probabilities (rows, classes)."""

    chunks: Iterable[tuple[Any, Any]]
    n_rows: int
    n_classes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A file format. The format `abc` is the value `FORMAT` of the module `trueness/formats/by_name/abc.py`.

    It is read by `open_file` or by `open_text`: text is read from front to back, so that it may be compressed, or come
    from standard input or a pipe.
    """

    endings: tuple[str, ...]
    """Of file names, in lower case, the usual one first."""
    open_file: Callable[[InputFile, ReadOptions], Reader] | None = None
    open_text: Callable[[TextStream, ReadOptions], Reader] | None = None
    first_byte: bytes = b""
    """The first byte of text in this format, by which standard input is recognised; empty if it can be any."""
    write: Callable[[str, Kind, PredictionChunks], None] | None = None
    """Writes columns `y_true` and `p_0` …, or one column of lists `y_prob`; None if it cannot be written."""
    needs: str | None = None
    """The optional library that reads and writes it."""
    extra: str = "cli"
    """The extra of the package that installs the library."""
    without_labels: bool = False
    """Whether it holds predictions alone, so that a second file holds the labels."""

    @property
    def is_text(self) -> bool:
        """Whether it is read from front to back."""
        return self.open_text is not None
