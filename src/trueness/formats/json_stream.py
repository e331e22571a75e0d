"""JSON of files that are too large to hold: documents element by element, and JSON Lines line by line.

NaN, Infinity and -Infinity are read, since evaluation logs have them. A value, or a line, of more than 256 MB is
refused, and so is JSON that is nested too deep for Python's parser.
"""

from __future__ import annotations

import json
from codecs import getincrementaldecoder
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from trueness.formats._text_stream import TextStream
from trueness.formats.inputs import InputFile, Kind
from trueness.refusals import InvalidValueError, Refusal, reason_of

MAX_VALUE_BYTES = 2**28
"""The most bytes of one value or line."""

BLOCK_BYTES = 2**18
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_SPACE = " \t\r\n"
_AFTER_VALUE = frozenset(f"{_SPACE},:]}}")
_NEAR_END = 16
"""Characters of the longest literal or escape that the end of a block may cut."""


class Line(NamedTuple):
    """A line of JSON Lines with its number in the file, from 1."""

    number: int
    value: dict[str, Any]


def open_text(path: str) -> TextStream:
    """The bytes of a file, which are decompressed if they begin as gzip or Zstandard does."""
    with open(path, "rb") as file:
        start = file.read(4)
    compression = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
    return TextStream(InputFile(path, Kind(None, compression)), tolerant=False)


def parse_json(data: bytes, file: str) -> Any:
    """The content of a JSON text, or a refusal that names the file."""
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise refuse_json(file, error) from None


def refuse_json(file: str, error: Exception) -> Refusal:
    """The refusal of text that is not JSON."""
    reason = "it is nested too deep" if isinstance(error, RecursionError) else reason_of(error)
    return InvalidValueError(
        "bad-json", "{file} is not JSON: {reason}", "create the file again", file=file, reason=reason
    )


def json_lines(path: str) -> Iterator[Line]:
    """The objects of a file of JSON Lines; blank lines are left out but counted."""
    for number, line in enumerate(_lines(path), 1):
        if line.strip():
            yield Line(number, _object(line, path, number))


def _object(line: bytes, path: str, number: int) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else "not JSON"
    else:
        if isinstance(value, dict):
            return value
        reason = "not a JSON object"
    raise InvalidValueError(
        "unreadable-row",
        "{reason}: {value!q}",
        "fix the line; JSON Lines have one object per line",
        source=path,
        row=number,
        reason=reason,
        value=line[:200].decode("utf-8", "replace"),
    )


def _lines(path: str) -> Iterator[bytes]:
    stream, rest = open_text(path), bytearray()
    try:
        while more := stream.read(BLOCK_BYTES):
            start = len(rest)
            rest += more
            if (end := rest.rfind(b"\n", start) + 1) > 0:
                yield from bytes(rest[:end]).split(b"\n")[:-1]
                del rest[:end]
            elif len(rest) > MAX_VALUE_BYTES:
                raise _too_large(path)
        if rest:
            yield bytes(rest)
    finally:
        stream.close()


def _too_large(path: str) -> Refusal:
    return InvalidValueError(
        "value-too-large",
        "{file} has a value of more than {most} MB",
        "check how it was written",
        file=path,
        most=MAX_VALUE_BYTES >> 20,
    )


@contextmanager
def open_document(path: str) -> Iterator[JsonDocument]:
    """A JSON document, to be read from front to back."""
    stream = open_text(path)
    try:
        yield JsonDocument(stream)
    finally:
        stream.close()


class JsonDocument:
    """A JSON text that is read from front to back: `members` and `elements` give the parts of the next value."""

    def __init__(self, stream: TextStream) -> None:
        self._stream, self._text, self._place = stream, "", 0
        self._decoder, self._ended = getincrementaldecoder("utf-8-sig")(), False
        self._parse = json.JSONDecoder().raw_decode

    def opens(self) -> str:
        """The first character of the next value; empty at the end."""
        while True:
            while self._place < len(self._text) and self._text[self._place] in _SPACE:
                self._place += 1
            if self._place < len(self._text) or not self._read(BLOCK_BYTES):
                return self._text[self._place : self._place + 1]

    def members(self) -> Iterator[str]:
        """The names of the next object's members; the value of each must be read before the next one is asked for."""
        yield from self._items("{", "}", self._name)

    def elements(self) -> Iterator[Any]:
        """The elements of the next array."""
        yield from self._items("[", "]", self.value)

    def value(self) -> Any:
        """The next value."""
        self.opens()
        while True:
            try:
                value, end = self._parse(self._text, self._place)
            except (ValueError, RecursionError) as error:
                if self._is_wrong(error):
                    raise refuse_json(self._stream.name, error) from None
            else:
                # A number that the block cuts reads as a shorter one.
                if self._ended or self._text[end : end + 1] in _AFTER_VALUE:
                    self._place = end
                    return value
            if not self._read(max(BLOCK_BYTES, len(self._text) - self._place)):
                self._ended = True

    def _is_wrong(self, error: Exception) -> bool:
        """Whether more text cannot repair an error."""
        if self._ended or not isinstance(error, json.JSONDecodeError):
            return True
        # The place of a string without an end is that of its first quotation mark.
        return error.pos < len(self._text) - _NEAR_END and self._text[error.pos] != '"'

    def _items(self, opening: str, closing: str, item: Any) -> Iterator[Any]:
        self._take(opening)
        if self.opens() == closing:
            self._take(closing)
            return
        while True:
            yield item()
            if self.opens() == closing:
                self._take(closing)
                return
            self._take(",")

    def _name(self) -> str:
        if self.opens() != '"':
            raise refuse_json(self._stream.name, ValueError("a name expected"))
        name = str(self.value())
        self._take(":")
        return name

    def _take(self, expected: str) -> None:
        if self.opens() != expected:
            raise refuse_json(self._stream.name, ValueError(f"{expected!r} expected"))
        self._place += 1

    def _read(self, n_bytes: int) -> bool:
        """Whether there was more text; what has been read before the current place is forgotten."""
        self._text, self._place = self._text[self._place :], 0
        if len(self._text) > MAX_VALUE_BYTES:
            raise _too_large(self._stream.name)
        data = self._stream.read(n_bytes)
        try:
            self._text += self._decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise refuse_json(self._stream.name, error) from None
        return bool(data)
