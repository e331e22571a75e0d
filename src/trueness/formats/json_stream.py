"""The JSON of evaluation logs: whole documents, and JSON Lines line by line.

NaN, Infinity and -Infinity are read, since evaluation logs have them. A line of more than 256 MB or a document of more
than 1 GB is refused, and so is JSON that is nested too deep for Python's parser.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from trueness.formats._text_stream import TextStream
from trueness.formats.fields import ReadOptions
from trueness.formats.inputs import InputFile, Kind
from trueness.refusals import InvalidValueError, Refusal, quote, reason_of

MAX_LINE_BYTES = 2**28
"""The most bytes of a line."""

MAX_DOCUMENT_BYTES = 2**30
"""The most bytes of a document, which is held."""

BLOCK_BYTES = 2**18
_MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}


class Line(NamedTuple):
    """A line of JSON Lines with its number in the file, from 1."""

    number: int
    value: dict[str, Any]


def open_text(path: str) -> TextStream:
    """The bytes of a file, which are decompressed if they begin as gzip or Zstandard does."""
    with open(path, "rb") as file:
        start = file.read(4)
    compression = next((name for magic, name in _MAGIC.items() if start.startswith(magic)), None)
    return TextStream(InputFile(path, Kind(None, compression)), ReadOptions())


def parse_json(data: bytes, file: str, members: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The content of a JSON text, or a refusal that names the file; `members` makes an object of its members."""
    try:
        return json.loads(data, object_pairs_hook=members)
    except Refusal:
        raise
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deep" if isinstance(error, RecursionError) else reason_of(error)
        cause = f"{file} is not JSON: {reason}"
        raise InvalidValueError("bad-json", cause, "create the file again") from None


def load_document(path: str) -> Any:
    """The content of a JSON document; a name that occurs twice in an object is refused, as a row that is repeated."""
    stream = open_text(path)
    try:
        data = stream.ahead(MAX_DOCUMENT_BYTES + 1)
    finally:
        stream.close()
    if len(data) > MAX_DOCUMENT_BYTES:
        raise _too_large(path, "is", MAX_DOCUMENT_BYTES)

    def different(members: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in members:
            if name in found:
                cause = f"{path} has the name {quote(name)} twice"
                raise InvalidValueError("repeated-row", cause, "create the file again")
            found[name] = value
        return found

    return parse_json(data, path, different)


def first_line(path: str) -> Any:
    """The value of the first line that is not blank; None if it is not JSON, as in a document of several lines."""
    line = next(filter(bytes.strip, _lines(path)), b"")
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


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
    text = line[:200].decode("utf-8", "replace")
    cause = f"{reason}: {quote(text)}"
    remedy = "fix the line; JSON Lines have one object per line"
    raise InvalidValueError("unreadable-row", cause, remedy, source=path, row=number, value=text)


def _lines(path: str) -> Iterator[bytes]:
    stream, rest = open_text(path), bytearray()
    try:
        while more := stream.read(BLOCK_BYTES):
            start = len(rest)
            rest += more
            if (end := rest.rfind(b"\n", start) + 1) > 0:
                yield from bytes(rest[:end]).split(b"\n")[:-1]
                del rest[:end]
            elif len(rest) > MAX_LINE_BYTES:
                raise _too_large(path, "has a line", MAX_LINE_BYTES)
        if rest:
            yield bytes(rest)
    finally:
        stream.close()


def _too_large(path: str, what: str, most: int) -> Refusal:
    cause = f"{path} {what} of more than {most >> 20} MB"
    return InvalidValueError("value-too-large", cause, "check how it was written")
