"""The bytes of a text file, plain or compressed, from front to back, and how they are cut between rows."""

from __future__ import annotations

import re
import sys
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from trueness.files._arrow import pyarrow
from trueness.files._parquet import explained
from trueness.files._paths import STANDARD_INPUT, Input

BLOCK_BYTES = 2**20
MAX_BLOCK_BYTES = 2**24
MAX_LINE_BYTES = 2**25
"""A longer line is not a row of a table."""

LINES_IN_BLOCK = 128
"""Blocks of files with long rows are longer: each costs something for each column, however few its rows."""

_QUOTE = ord('"')


class TextStream:
    """The bytes of a text file, uncompressed, that can be looked at before they are taken."""

    def __init__(self, input: Input, tolerant: bool) -> None:
        pa = pyarrow()
        # What is no UTF-8 would make pyarrow's handler of bad rows itself fail, on stderr.
        self._repair = getincrementaldecoder("utf-8")("replace") if tolerant else None
        self._size = input.size
        if input.path == STANDARD_INPUT:
            self._raw: Any = sys.stdin.buffer
            source: Any = self._raw
        else:
            self._raw = source = open(input.path, "rb")  # noqa: SIM115  closed by its reader
        if input.kind.compression is not None:
            source = pa.CompressedInputStream(pa.PythonFile(source, mode="r"), input.kind.compression)
        self._source, self._name = source, input.name
        self._ahead = b""
        self._closed = False

    def ahead(self, n_bytes: int) -> bytes:
        """The next bytes, which stay where they are; fewer only at the end."""
        parts = [self._ahead]
        missing = n_bytes - len(self._ahead)
        while missing > 0 and (more := self._next(missing)):
            parts.append(more)
            missing -= len(more)
        self._ahead = b"".join(parts)
        return self._ahead[:n_bytes]

    def read(self, n_bytes: int) -> bytes:
        """The next bytes, about so many; none only at the end."""
        found, self._ahead = self._ahead or self._next(n_bytes), b""
        return found

    def _next(self, n_bytes: int) -> bytes:
        while True:
            with explained(self._name):
                data = bytes(self._source.read(n_bytes))
            if self._repair is None:
                return data
            repaired = self._repair.decode(data, final=not data).encode()
            if repaired or not data:  # else all of it is the beginning of a character
                return repaired

    @property
    def share(self) -> float:
        """How much of the file was taken, as far as that is known."""
        known = self._size and not self._closed
        return min(1.0, self._raw.tell() / self._size) if known else 0.0

    def close(self) -> None:
        """Let go of the file; standard input stays open."""
        self._closed = True
        if self._raw is not sys.stdin.buffer:
            self._raw.close()


def block_bytes(stream: TextStream) -> int:
    """How long blocks should be: a megabyte, or more if that holds few lines."""
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
    """The bytes in blocks of whole rows; the last one is what is left at the end of the file.

    `end_of_rows` says where the last whole row of some bytes ends. `check_rest` may refuse the beginning of a row: what
    is left at the end of the file, or, with True, what is too long.
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
    r"""Where the last whole line ends.

    >>> end_of_lines(b"a\nb"), end_of_lines(b"a")
    (2, 0)
    """
    return data.rfind(b"\n") + 1


class Quotes:
    """Where rows of CSV end and which quotes are open, by the rule of pyarrow's parser.

    A quote opens a field where it is the field's first character, and is a character like others elsewhere outside
    of quotes. Inside, two quotes stand for one, and a single one closes.
    """

    def __init__(self, delimiter: str) -> None:
        mark = delimiter.encode()
        self._before_opening = np.zeros(256, bool)
        self._before_opening[[*mark, *b"\r\n"]] = True
        self._after_closing = np.zeros(256, bool)
        self._after_closing[[*mark, *b'\r\n" ']] = True
        self._opening = re.compile(rb'(?:\A|[\r\n%b])"' % mark)
        self._closing = re.compile(rb'[^"]*+(?:""[^"]*+)*+"')

    def end_of_rows(self, data: bytes) -> int:
        """Where the last whole row ends; the data begin with a row."""
        newline = b"\n" if b"\n" in data else b"\r"
        if b'"' not in data:
            return data.rfind(newline) + 1
        places = self._places(data)
        newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == newline[0])
        outside = newlines[np.searchsorted(places, newlines) % 2 == 0]
        return int(outside[-1]) + 1 if len(outside) else 0

    def left_open(self, data: bytes) -> bool:
        """Whether data that begin with a row end inside of quotes."""
        return b'"' in data and len(self._places(data)) % 2 == 1

    def misplaced(self, data: bytes) -> int | None:
        """The number of whole rows before a quoted field that does not end with its quote; None if all do.

        Text after a closing quote is what a stray quote leaves: it opens a field that ends at the next quote, many
        rows later.
        """
        if b'"' not in data:
            return None
        letters, places = np.frombuffer(data, np.uint8), self._places(data)
        closings = places[1::2]
        closings = closings[closings + 1 < len(data)]
        wrong = np.flatnonzero(~self._after_closing[letters[closings + 1]])
        if not len(wrong):
            return None
        opening = int(places[2 * int(wrong[0])])
        newline = b"\n" if b"\n" in data else b"\r"
        newlines = np.flatnonzero(letters[:opening] == newline[0])
        return int(np.count_nonzero(np.searchsorted(places, newlines) % 2 == 0))

    def _places(self, data: bytes) -> Any:
        """Where quotes open and close in turn. A doubled quote counts as closing and opening again."""
        letters = np.frombuffer(data, np.uint8)
        places = np.flatnonzero(letters == _QUOTE)
        openings = places[::2]
        before = self._before_opening[letters[openings - 1]]
        doubled = np.zeros(len(openings), bool)
        doubled[1:] = openings[1:] == places[1:-1:2] + 1
        if bool((before | doubled | (openings == 0)).all()):
            return places
        return self._places_one_by_one(data)

    def _places_one_by_one(self, data: bytes) -> Any:
        """The same where a quote stands inside of an unquoted field, which is slower to find."""
        places: list[int] = []
        start = 0
        while opening := self._opening.search(data, start):
            places.append(opening.end() - 1)
            closing = self._closing.match(data, opening.end())
            if closing is None:
                break
            places.append(closing.end() - 1)
            start = closing.end()
        return np.array(places, np.int64)
