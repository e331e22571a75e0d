"""Everything that decides the sums of a run, so that no other run resumes from its checkpoint."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from trueness.files.where import Condition
from trueness.refusals import InvalidValueError, quote
from trueness.variation import Variation

if TYPE_CHECKING:
    from trueness.files.source import Source
    from trueness.files.summing import Plan

HASHED_BYTES = 2**20
"""Of each end of a file, where headers and footers are; reading all of it would take a pass of its own."""

_IGNORED = {"engine", "n_threads", "tables"}
"""Fields of a plan that are not compared: tables depend neither on threads nor on the engine, and the fields of
`tables` are compared one by one."""

_LABELS = "labels"

_OPTIONS = {
    "scale": "the scale of the numbers",
    "bins": "the choice of bins",
    "n_classes": "the number of classes",
    "weight": "--sample-weight",
    "by": "--groups",
    "clusters": "--clusters",
    "events": "--event",
    "options": "--ragged",
}
"""Options whose name for the user is not that of the field."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The options and the files of a run, as plain JSON."""

    options: Mapping[str, Any]
    files: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, source: Source, plan: Plan) -> Identity:
        """The identity of a run over a source."""
        options: dict[str, Any] = {"n_classes": source.n_classes}
        for part in (source.request, source.options, plan.tables, plan):
            options |= {field.name: _plain(getattr(part, field.name)) for field in fields(part)}
        read = [(input.path, str(input.kind.format)) for input in source.inputs]
        if source.label_file is not None:
            read.append((source.label_file, _LABELS))
        kept = {name: value for name, value in options.items() if name not in _IGNORED}
        return cls(kept, [_of_file(path, role) for path, role in read])

    @property
    def n_inputs(self) -> int:
        """The number of files of predictions."""
        return sum(file["role"] != _LABELS for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON, to be saved."""
        return {"options": dict(self.options), "files": [dict(file) for file in self.files]}

    def require_equal(self, saved: Any, file: str) -> None:
        """Refuse a saved identity that differs, and name the first difference."""
        if saved == self.to_dict():
            return
        found = [*self._of_options(saved), *self._of_files(saved)] if isinstance(saved, dict) else []
        raise InvalidValueError(
            "another-run",
            "{file} belongs to another run: {difference}",
            "name another checkpoint, or delete {file!r} to start again",
            file=file,
            difference=found[0] if found else "its metadata is missing",
        )

    def _of_options(self, saved: Mapping[str, Any]) -> Iterator[str]:
        theirs = saved.get("options")
        if not isinstance(theirs, dict):
            return
        for name in dict.fromkeys([*self.options, *theirs]):
            before, now = theirs.get(name), self.options.get(name)
            if before != now:
                yield f"{_OPTIONS.get(name, _option(name))} was {_text(before)} and is now {_text(now)}"

    def _of_files(self, saved: Mapping[str, Any]) -> Iterator[str]:
        theirs = saved.get("files")
        if not isinstance(theirs, list) or not all(isinstance(file, dict) for file in theirs):
            return
        before = {str(file.get("path")): file for file in theirs}
        now = {str(file["path"]): file for file in self.files}
        yield from (f"{quote(path, 200)} is not one of its files" for path in now if path not in before)
        yield from (f"{quote(path, 200)} is missing from the files" for path in before if path not in now)
        for path, file in now.items():
            unlike = [name for name in file if file[name] != before.get(path, {}).get(name)]
            if unlike:
                yield f"{quote(path, 200)} has changed ({_CHANGES.get(unlike[0], unlike[0])})"
        yield "the files are in another order"


_CHANGES = {
    "size": "it has another size",
    "modified": "it was modified at another time",
    "ends": "its content is different",
    "role": "it is read as another format, or for another purpose",
}


def _of_file(path: str, role: str) -> dict[str, Any]:
    status = os.stat(path)
    return {
        "path": os.path.abspath(path),
        "role": role,
        "size": status.st_size,
        "modified": status.st_mtime_ns,
        "ends": _hash_of_ends(path, status.st_size),
    }


def _hash_of_ends(path: str, size: int) -> str:
    """A hash of the first and the last megabyte, which are all of a short file."""
    found = hashlib.sha256()
    with open(path, "rb") as file:
        found.update(file.read(HASHED_BYTES))
        file.seek(max(file.tell(), size - HASHED_BYTES))
        found.update(file.read(HASHED_BYTES))
    return found.hexdigest()


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, Condition):
        return str(value)
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value.name if isinstance(value, Variation) else repr(value)


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _text(value: Any) -> str:
    """A value of an option in a sentence.

    >>> _text(None), _text(True), _text(["age >= 65", "sex = f"])
    ('not given', 'given', "'age >= 65, sex = f'")
    """
    if value is None or value is False or value == []:
        return "not given"
    if value is True:
        return "given"
    return quote(", ".join(map(str, value)) if isinstance(value, list) else value)
