"""Which files are meant: names, globs, folders with Hive partitions, standard input; and what format each has."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from trueness._printing import visible
from trueness.files._errors import InputError, shown

STANDARD_INPUT = "-"
_STANDARD_INPUTS = (STANDARD_INPUT, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")

FORMATS = ("parquet", "arrow", "csv", "tsv", "jsonl", "npy", "npz")

_ENDINGS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".arrows": "arrow",
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npy": "npy",
    ".npz": "npz",
}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
_TEXT = ("csv", "tsv", "jsonl")

_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class Kind(NamedTuple):
    """How the bytes of a file are to be read."""

    format: str
    compression: str | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """One file to be read."""

    path: str
    kind: Kind
    size: int = 0
    modified: int = 0
    partition: dict[str, str | None] = field(default_factory=dict)
    """Columns that the folder names state, as in `day=2026-11-16`; None for Hive's name of a missing value."""
    read_once: bool = False
    """Whether its bytes are gone once they are read: standard input, a named pipe, a process substitution."""

    @property
    def name(self) -> str:
        """What messages call it."""
        return "standard input" if self.path == STANDARD_INPUT else self.path


class Inputs(NamedTuple):
    """The files, and how many others lay beside them in the folders that were named."""

    files: list[Input]
    left_out: int = 0


def find_inputs(patterns: Sequence[str], format: str | None = None) -> Inputs:
    """The files meant by names, globs and folders: arguments in their order, what each matches in natural order."""
    found: list[Input] = []
    left_out = 0
    for pattern in patterns:
        more, others = _expand(pattern, format)
        found += more
        left_out += others
    _refuse_twice(found)
    return Inputs(found, left_out)


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sorts numbers in names by value: p_2 before p_10.

    >>> sorted(["p_10", "p_2", "p_x"], key=natural_key)
    ['p_2', 'p_10', 'p_x']
    """
    parts = re.split(r"([0-9]+)", name)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part)


def kind_of(path: str, format: str | None = None) -> Kind | None:
    """The format by the file's ending, None if that says nothing.

    >>> kind_of("a/preds.csv.gz"), kind_of("notes.txt")
    (Kind(format='csv', compression='gzip'), None)
    """
    stem, ending = os.path.splitext(path.lower())
    compression = _COMPRESSIONS.get(ending)
    if compression is not None:
        ending = os.path.splitext(stem)[1]
    format = format or _ENDINGS.get(ending)
    if format is None or (compression is not None and format not in _TEXT):
        return None
    return Kind(format, compression)


def _expand(pattern: str, format: str | None) -> tuple[list[Input], int]:
    if pattern == STANDARD_INPUT:
        return [_read_once(pattern, format)], 0
    if os.path.isdir(pattern):
        return _in_folder(pattern, format)
    if os.path.exists(pattern):
        return [_file(pattern, format)], 0
    matches = sorted(glob.glob(pattern, recursive=True), key=natural_key)
    if not matches:
        wild = glob.has_magic(pattern)
        cause = f"no file matches {shown(pattern)}" if wild else f"there is no file {shown(pattern)}"
        raise InputError(cause, _near_file(pattern))
    parts = [
        _in_folder(match, format) if os.path.isdir(match) else ([_file(match, format)], 0)
        for match in matches
    ]
    return [file for files, _ in parts for file in files], sum(others for _, others in parts)


def is_read_once(path: str) -> bool:
    """Whether a path is neither a file nor a folder, but a pipe or a device."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def _read_once(path: str, format: str | None) -> Input:
    """Standard input, or a path that is read like it: of CSV or JSON Lines, which are read from front to back."""
    path = STANDARD_INPUT if path in _STANDARD_INPUTS else path
    kind = kind_of(path, format) or Kind(format or "text")
    input = Input(path, kind, read_once=True)
    if kind.format not in (*_TEXT, "text"):
        raise InputError(
            f"{input.name} can be read only once, from front to back, and {kind.format} cannot be read that way",
            "save it as a file, or pipe CSV or JSON Lines",
        )
    return input


def _near_file(pattern: str) -> str:
    """What may have been meant by a name that does not exist."""
    from difflib import get_close_matches

    folder, name = os.path.split(pattern)
    try:
        beside = os.listdir(folder or ".")
    except OSError:
        return f"there is no folder {shown(folder)} either"
    near = get_close_matches(name, beside, n=1)
    return (
        f"did you mean {shown(os.path.join(folder, near[0]))}?" if near else "check the name and the folder"
    )


def _file(path: str, format: str | None) -> Input:
    _refuse_no_text(path)
    if is_read_once(path):
        return _read_once(path, format)
    kind = kind_of(path, format)
    if kind is None:
        raise InputError(
            f"the ending of {shown(path)} does not say what it holds", f"pass --format {'|'.join(FORMATS)}"
        )
    status = os.stat(path)
    if status.st_size == 0 and os.path.isfile(path):
        raise InputError(f"{path} is empty (0 bytes)", "check how it was written")
    return Input(
        path, kind, status.st_size, status.st_mtime_ns, _partition(os.path.dirname(path).split(os.sep))
    )


def _refuse_no_text(path: str) -> None:
    """A name of bytes that are no text could neither be handed to pyarrow nor name a group."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise InputError(f"the name of {visible(path)} is not UTF-8", "give the file another name") from None


def _in_folder(folder: str, format: str | None) -> tuple[list[Input], int]:
    """All files of a known format in a folder and those below it; names that begin with . or _ are not data."""
    found: list[Input] = []
    left_out = 0
    for path in sorted(_walk(folder), key=natural_key):
        if kind_of(path) is None:
            left_out += 1
            continue
        found.append(_file(path, format))
    if not found:
        raise InputError(
            f"the folder {shown(folder)} holds no file that can be read",
            f"files must end in {', '.join(_ENDINGS)} (CSV and JSON Lines also in .gz or .zst)",
        )
    return found, left_out


def _walk(folder: str) -> Iterable[str]:
    for here, below, names in os.walk(folder):
        below[:] = [name for name in below if not name.startswith((".", "_"))]
        yield from (os.path.join(here, name) for name in names if not name.startswith((".", "_")))


def _partition(folders: Iterable[str]) -> dict[str, str | None]:
    """The columns stated by folder names.

    >>> _partition(["2026", "hospital=St%20Mary", "ward=__HIVE_DEFAULT_PARTITION__"])
    {'hospital': 'St Mary', 'ward': None}
    """
    pairs = (folder.split("=", 1) for folder in folders if "=" in folder)
    return {unquote(key): None if value == _NO_PARTITION else unquote(value) for key, value in pairs}


def _refuse_twice(files: Sequence[Input]) -> None:
    """A file that is named twice would count its rows twice."""
    seen: set[str] = set()
    for file in files:
        place = STANDARD_INPUT if file.path == STANDARD_INPUT else os.path.realpath(file.path)
        if place in seen:
            raise InputError(f"{file.name} is named twice, which would count its rows twice", "name it once")
        seen.add(place)
