"""The bytes of a text file, plain or compressed, from front to back, and how they are cut between rows."""

from __future__ import annotations

import codecs
import sys
from collections.abc import Callable, Iterator
from typing import Any

from trueness.formats._arrow_files import refuse_unreadable
from trueness.formats.arrow import pyarrow
from trueness.formats.fields import ReadOptions
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


UTF_8 = "utf-8"

_MARKS = {
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
"""The byte order marks that a text begins with; that of UTF-32 before that of UTF-16, with which it begins."""


def encoding_of(start: bytes) -> str:
    """The encoding that the first four bytes of a text state: by a byte order mark, or by zeros between characters.

    >>> encoding_of("y,p".encode("utf-16")), encoding_of("y,p".encode("utf-16-be")), encoding_of(b"y,p_")
    ('utf-16', 'utf-16-be', 'utf-8')
    """
    marked = next((encoding for mark, encoding in _MARKS.items() if start.startswith(mark)), None)
    if marked is not None:
        return marked
    zeros = [byte == 0 for byte in start[:4]]
    if zeros == [False, True, False, True]:
        return "utf-16-le"
    return "utf-16-be" if zeros == [True, False, True, False] else UTF_8


class TextStream:
    """The uncompressed bytes of a text file, with a look ahead."""

    def __init__(self, input: InputFile, options: ReadOptions) -> None:
        self._size = input.size
        pa = pyarrow() if input.kind.compression is not None else None
        if input.path == STANDARD_INPUT:
            self._raw: Any = sys.stdin.buffer
            source: Any = self._raw
        else:
            self._raw = source = open(input.path, "rb")  # noqa: SIM115  closed by its reader
        if pa is not None:
            source = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), input.kind.compression)
        self._source, self.name = source, input.name
        self._ahead = b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._closed = False
        self._decode_as(options)

    def _decode_as(self, options: ReadOptions) -> None:
        """Choose the encoding: that of the options, or the one that the first bytes state; otherwise UTF-8.

        UTF-8 is decoded only to repair it: bytes that are not UTF-8 would make pyarrow's handler of bad rows fail, with
        a message on stderr.
        """
        encoding, stated = options.layout.encoding, self.ahead(len(codecs.BOM_UTF32_LE))
        if encoding is None:
            encoding = encoding_of(stated)
            if encoding != UTF_8:
                options.found(f"encoding {encoding}")
        if encoding == UTF_8 and not options.tolerant:
            self._ahead = self._ahead.removeprefix(codecs.BOM_UTF8)
            return
        self._decoder = codecs.getincrementaldecoder("utf-8-sig" if encoding == UTF_8 else encoding)(
            "replace" if options.tolerant else "strict"
        )
        raw, self._ahead = self._ahead, b""
        self._ahead = self._decode(raw)

    def first_byte(self) -> bytes:
        """The first byte that is not white space, which stays in the stream; a stream without one is refused."""
        start = self.ahead(SNIFFED_BYTES).lstrip()
        if not start:
            raise InvalidValueError("no-rows", f"{self.name} is empty", "check how it was written")
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
                if self._decoder is None:
                    return data
                text = self._decode(data)
            if text or not data:  # otherwise all of it is the beginning of a character
                return text

    def _decode(self, data: bytes) -> bytes:
        """The bytes as UTF-8; none at the end of the file."""
        assert self._decoder is not None
        return self._decoder.decode(data, final=not data).encode()

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
