"""Logs of inspect, `.eval` (a ZIP file) and `.json`: the header, and samples one at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from trueness.formats.json_stream import load_document, parse_json
from trueness.formats.zip_members import ZipMembers, is_zip, open_zip
from trueness.refusals import InvalidValueError

HEADER, START = "header.json", "_journal/start.json"
_SAMPLE = re.compile(r"samples/(.+)_epoch_(\d+)(?:\.json|/sample\.json)", re.DOTALL)
_KEPT = ("version", "status", "eval", "plan")


def samples_of(path: str, header: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The samples of a log; when all have been read, `header` has version, status, eval and plan."""
    if is_zip(path):
        with open_zip(path) as members:
            header.update(_header(members))
            yield from _in_zip(members)
    else:
        yield from _in_document(path, header)


def _header(members: ZipMembers) -> dict[str, Any]:
    """The header; of a log that was not completed, the start of the journal."""
    name = HEADER if HEADER in members else START
    found = parse_json(members.read(name), f"{members.name}, {name}")
    found = found if isinstance(found, dict) else {}
    if name == START:
        found = {"status": "started", **found}
    return {key: found.get(key) for key in _KEPT}


def _in_zip(members: ZipMembers) -> Iterator[Mapping[str, Any]]:
    for name in members.names:
        if not _SAMPLE.fullmatch(name):
            continue
        sample = _object(parse_json(members.read(name), f"{members.name}, {name}"), members.name, name)
        beside = name.removesuffix("sample.json") + "metadata.json"
        if name.endswith("/sample.json") and "metadata" not in sample and beside in members:
            sample = {**sample, "metadata": parse_json(members.read(beside), f"{members.name}, {beside}")}
        yield sample


def _in_document(path: str, header: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
    document = _object(load_document(path), path, "log")
    header.update({name: document[name] for name in _KEPT if name in document})
    for sample in document.get("samples") or ():
        yield _object(sample, path, "samples")


def _object(value: Any, file: str, name: str) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    cause = f"{file}, {name}: a sample is not an object"
    raise InvalidValueError("wrong-layout", cause, "create the log again")


def field_in(value: Any, *path: str | int) -> Any:
    """The value at a path of names and places; None if there is none.

    >>> field_in({"a": [{"b": 1}]}, "a", 0, "b"), field_in({}, "a", "b")
    (1, None)
    """
    for part in path:
        if isinstance(part, int):
            value = value[part] if isinstance(value, list) and len(value) > part else None
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
    return value
