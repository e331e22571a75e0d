"""Everything that decides the sums of a run, so that a checkpoint is never continued by another run."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from trueness.files._errors import shown
from trueness.files._where import Condition
from trueness.variation import Variation

if TYPE_CHECKING:
    from trueness.files._source import Source
    from trueness.files._summing import Plan

HASHED_BYTES = 2**20
"""Of each end of a file: headers and footers are there, and reading all of it would be a pass of its own."""

_NO_MATTER = {"engine", "n_threads"}
"""Fields of a plan that are not compared: the table does not depend on threads, and a run keeps its engine."""

_LABELS = "labels"

_OPTIONS = {
    "scale": "the scale of the numbers (--logits, --logprobs)",
    "bins": "the choice of bins (--bins, --equal-mass, --edges, --grid)",
    "n_classes": "the number of classes",
}


@dataclass(frozen=True, slots=True)
class Identity:
    """The options and the files of a run, as plain JSON."""

    options: Mapping[str, Any]
    files: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, source: Source, plan: Plan) -> Identity:
        """That of a run over a source."""
        options: dict[str, Any] = {"n_classes": source.n_classes}
        for part in (source.request, source.options, plan):
            options |= {field.name: _plain(getattr(part, field.name)) for field in fields(part)}
        read = [(input.path, input.kind.format) for input in source.inputs]
        if source.label_file is not None:
            read.append((source.label_file, _LABELS))
        kept = {name: value for name, value in options.items() if name not in _NO_MATTER}
        return cls(kept, [_of_file(path, role) for path, role in read])

    @property
    def n_inputs(self) -> int:
        """How many files of predictions there are."""
        return sum(file["role"] != _LABELS for file in self.files)

    def to_dict(self) -> dict[str, Any]:
        """As it is saved."""
        return {"options": dict(self.options), "files": [dict(file) for file in self.files]}

    def difference(self, saved: Any) -> str | None:
        """What a saved identity has that this one has not, in words; None if they are equal."""
        if saved == self.to_dict():
            return None
        found = [*self._of_options(saved), *self._of_files(saved)] if isinstance(saved, dict) else []
        return found[0] if found else "it does not say of which run it is"

    def _of_options(self, saved: Mapping[str, Any]) -> Iterator[str]:
        theirs = saved.get("options")
        if not isinstance(theirs, dict):
            return
        for name in dict.fromkeys([*self.options, *theirs]):
            before, now = theirs.get(name), self.options.get(name)
            if before != now:
                yield f"{_OPTIONS.get(name, _option(name))} was {_words(before)} and is now {_words(now)}"

    def _of_files(self, saved: Mapping[str, Any]) -> Iterator[str]:
        theirs = saved.get("files")
        if not isinstance(theirs, list) or not all(isinstance(file, dict) for file in theirs):
            return
        before = {str(file.get("path")): file for file in theirs}
        now = {str(file["path"]): file for file in self.files}
        yield from (f"{shown(path, 200)} was not among its files" for path in now if path not in before)
        yield from (f"{shown(path, 200)} was among its files" for path in before if path not in now)
        for path, file in now.items():
            unlike = [name for name in file if file[name] != before.get(path, {}).get(name)]
            if unlike:
                yield f"{shown(path, 200)} has changed since ({_CHANGES.get(unlike[0], unlike[0])})"
        yield "its files were in another order"


_CHANGES = {
    "size": "it has another size",
    "modified": "it was modified at another time",
    "ends": "its content is different",
    "role": "it was read as another format, or for another purpose",
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
    """A hash of the first and the last megabyte, which of a short file are all of it."""
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


def _words(value: Any) -> str:
    """A value of an option in a sentence.

    >>> _words(None), _words(True), _words(["age >= 65", "sex = f"])
    ('not given', 'given', "'age >= 65, sex = f'")
    """
    if value is None or value is False or value == []:
        return "not given"
    if value is True:
        return "given"
    return shown(", ".join(map(str, value)) if isinstance(value, list) else value)
