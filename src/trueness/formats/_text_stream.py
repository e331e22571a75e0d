"""The bytes of a text file, plain or compressed, from front to back, and how they are cut between rows."""

from __future__ import annotations

import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import Any

from trueness.formats._arrow_files import refuse_unreadable
from trueness.formats.arrow import pyarrow
from trueness.formats.inputs import STANDARD_INPUT, InputFile
from trueness.refusals import InvalidValueError

BLOCK_BYTES = 2**20
MAX_BLOCK_BYTES = 2**24
MAX_LINE_BYTES = 2**25
"""A longer line is not a row of a table."""

SNIFFED_BYTES = 2**16
"""Enough to find the first byte that is not white space."""

LINES_IN_BLOCK = 128
"""Files with long rows are read in longer blocks: each block has a fixed cost for each column."""


class TextStream:
    """The uncompressed bytes of a text file, with a look ahead."""

    def __init__(self, input: InputFile, *, tolerant: bool) -> None:
        # Bytes that are not UTF-8 would make pyarrow's handler of bad rows fail, with a message on stderr.
        self._repair = getincrementaldecoder("utf-8")("replace") if tolerant else None
        self._size = input.size
        if input.path == STANDARD_INPUT:
            self._raw: Any = sys.stdin.buffer
            source: Any = self._raw
        else:
            self._raw = source = open(input.path, "rb")  # noqa: SIM115  closed by its reader
        if input.kind.compression is not None:
            pa = pyarrow()
            source = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), input.kind.compression)
        self._source, self.name = source, input.name
        self._ahead = b""
        self._closed = False

    def first_byte(self) -> bytes:
        """The first byte that is not white space, which stays in the stream; a stream without one is refused."""
        start = self.ahead(SNIFFED_BYTES).lstrip()
        if not start:
            raise InvalidValueError("no-rows", "{file} is empty", "check how it was written", file=self.name)
        return start[:1]

    def ahead(self, n_bytes: int) -> bytes:
        """The next bytes, which stay in the stream; fewer only at the end."""
        parts = [self._ahead]
        missing = n_bytes - len(self._ahead)
        while missing > 0 and (more := self._next(missing)):
            parts.append(more)
            missing -= len(more)
        self._ahead = b"".join(parts)
        return self._ahead[:n_bytes]

    def read(self, n_bytes: int) -> bytes:
        """The next bytes, about this many; none only at the end."""
        found, self._ahead = self._ahead or self._next(n_bytes), b""
        return found

    def _next(self, n_bytes: int) -> bytes:
        while True:
            with refuse_unreadable(self.name):
                data = bytes(self._source.read(n_bytes))
            if self._repair is None:
                return data
            repaired = self._repair.decode(data, final=not data).encode()
            if repaired or not data:  # otherwise all of it is the beginning of a character
                return repaired

    @property
    def share(self) -> float:
        """The share of the file that has been read; 0 if its size is not known."""
        known = self._size and not self._closed
        return min(1.0, self._raw.tell() / self._size) if known else 0.0

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self._closed = True
        if self._raw is not sys.stdin.buffer:
            self._raw.close()


def block_bytes(stream: TextStream) -> int:
    """The size of blocks: a megabyte, or more if that holds few lines."""
    size = BLOCK_BYTES
    while size < MAX_BLOCK_BYTES:
        start = stream.ahead(size)
        if len(start) < size or start.count(b"\n") >= LINES_IN_BLOCK:
            break
        size *= 2
    return size


def blocks_of_rows(
    stream: TextStream, end_of_rows: Callable[[bytes], int], check_rest: Callable[[bytes, bool], None]
) -> Iterator[bytes]:
    """The bytes in blocks of whole rows; the last one is the rest of the file.

    `end_of_rows` returns where the last whole row of some bytes ends. `check_rest` may refuse the beginning of a row:
    the rest of the file, or, with True, a row that is too long.
    """
    size, rest = block_bytes(stream), b""
    while more := stream.read(size):
        rest += more
        end = end_of_rows(rest)
        if end:
            yield rest[:end]
            rest = rest[end:]
        elif len(rest) > MAX_LINE_BYTES:
            check_rest(rest, True)
    if rest.strip():
        check_rest(rest, False)
        yield rest


def end_of_lines(data: bytes) -> int:
    r"""The place where the last whole line ends.

    >>> end_of_lines(b"a\nb"), end_of_lines(b"a")
    (2, 0)
    """
    return data.rfind(b"\n") + 1
