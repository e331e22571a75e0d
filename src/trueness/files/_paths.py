"""Which files are meant: names, globs, folders with Hive partitions, standard input; and what format each has."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import unquote

from trueness._printing import visible
from trueness.files._errors import InputError, shown
from trueness.files._folders import file_identity, files_below, matching_paths, natural_key

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
    """The files, and what else was found beside them."""

    files: list[Input]
    left_out: int = 0
    """Files in the folders whose endings are not known."""
    repeated: int = 0
    """Further names, by links, of files that are read already."""

    def __add__(self, other: Inputs) -> Inputs:  # type: ignore[override]
        """Those of several arguments together."""
        return Inputs(
            self.files + other.files, self.left_out + other.left_out, self.repeated + other.repeated
        )


def find_inputs(patterns: Sequence[str], format: str | None = None) -> Inputs:
    """The files meant by names, globs and folders: arguments in their order, what each matches in natural order.

    Links are followed. A file that a folder or a glob has by several names is read once; one that is named by two
    arguments is refused.
    """
    found = Inputs([])
    for pattern in patterns:
        found += _expand(pattern, format)
    refuse_twice([file.path for file in found.files])
    return found


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


def _expand(pattern: str, format: str | None) -> Inputs:
    if pattern == STANDARD_INPUT:
        return Inputs([_read_once(pattern, format)])
    if os.path.isdir(pattern):
        return _in_folder(pattern, format)
    if os.path.exists(pattern):
        return Inputs([_file(pattern, format)])
    matches = matching_paths(pattern)
    if not matches:
        wild = glob.has_magic(pattern)
        cause = f"no file matches {shown(pattern)}" if wild else f"there is no file {shown(pattern)}"
        raise InputError(cause, _near_file(pattern))
    found = Inputs([])
    for match in matches:
        found += _in_folder(match, format) if os.path.isdir(match) else Inputs([_file(match, format)])
    return _each_once(found)


def _each_once(found: Inputs) -> Inputs:
    """Without the further names of files that one argument reaches several times: links go first."""
    kept: dict[object, Input] = {}
    for file in sorted(
        found.files, key=lambda file: os.path.realpath(file.path) != os.path.abspath(file.path)
    ):
        kept.setdefault(file_identity(file.path), file)
    files = [file for file in found.files if kept[file_identity(file.path)] is file]
    return found._replace(files=files, repeated=found.repeated + len(found.files) - len(files))


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


def _in_folder(folder: str, format: str | None) -> Inputs:
    """All files of a known format in a folder and those below it; names that begin with . or _ are not data."""
    walked = files_below(folder)
    paths = sorted(walked.paths, key=natural_key)
    found = [_file(path, format) for path in paths if kind_of(path) is not None]
    if not found:
        raise InputError(
            f"the folder {shown(folder)} holds no file that can be read",
            f"files must end in {', '.join(_ENDINGS)} (CSV and JSON Lines also in .gz or .zst)",
        )
    return Inputs(found, len(paths) - len(found), walked.repeated)


def _partition(folders: Iterable[str]) -> dict[str, str | None]:
    """The columns stated by folder names.

    >>> _partition(["2026", "hospital=St%20Mary", "ward=__HIVE_DEFAULT_PARTITION__"])
    {'hospital': 'St Mary', 'ward': None}
    """
    pairs = (folder.split("=", 1) for folder in folders if "=" in folder)
    return {unquote(key): None if value == _NO_PARTITION else unquote(value) for key, value in pairs}


def refuse_twice(paths: Sequence[str]) -> None:
    """A file that is named twice would count its rows twice."""
    seen: set[object] = set()
    for path in paths:
        identity = STANDARD_INPUT if path == STANDARD_INPUT else file_identity(path)
        if identity in seen:
            name = "standard input" if path == STANDARD_INPUT else path
            raise InputError(f"{name} is named twice, which would count its rows twice", "name it once")
        seen.add(identity)
