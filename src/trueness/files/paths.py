"""Which files are meant: names, globs, folders with Hive partitions, standard input; and the format of each."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from trueness._printing import visible
from trueness.files.folders import file_identity, files_below, matching_paths, natural_key
from trueness.formats import STANDARD_INPUT, InputFile, Kind, endings_text, format_names, formats, kind_of
from trueness.refusals import InvalidValueError, quote

_STANDARD_INPUTS = (STANDARD_INPUT, "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")

_NO_PARTITION = "__HIVE_DEFAULT_PARTITION__"


class InputFiles(NamedTuple):
    """The files, and the number of others that were found."""

    files: list[InputFile]
    left_out: int = 0
    """Files in the folders whose endings are unknown."""
    linked: int = 0
    """Folders behind links in the folders, which are not followed, and links to files that are read already."""

    def __add__(self, other: InputFiles) -> InputFiles:  # type: ignore[override]
        """The files of several arguments together."""
        return InputFiles(
            self.files + other.files, self.left_out + other.left_out, self.linked + other.linked
        )


def find_inputs(patterns: Sequence[str], format: str | None = None) -> InputFiles:
    """The files meant by names, globs and folders: arguments in their order, what each matches in natural order.

    Links to folders in folders are not followed. A file that a folder or a glob has by several links is read once; one
    that has two names otherwise is refused.
    """
    found = InputFiles([])
    for pattern in patterns:
        found += _each_once(_expand(pattern, format))
    refuse_twice([file.path for file in found.files])
    return found


def _expand(pattern: str, format: str | None) -> InputFiles:
    if pattern == STANDARD_INPUT:
        return InputFiles([_sequential_input(pattern, format)])
    if os.path.isdir(pattern):
        return _in_folder(pattern, format)
    if os.path.exists(pattern):
        return InputFiles([_file(pattern, format)])
    matches = matching_paths(pattern)
    if not matches:
        raise _missing_file(pattern)
    found = InputFiles([])
    for match in matches:
        found += _in_folder(match, format) if os.path.isdir(match) else InputFiles([_file(match, format)])
    return found


def _missing_file(pattern: str) -> InvalidValueError:
    hint = _near_file(pattern)
    if glob.has_magic(pattern):
        return InvalidValueError("missing-file", f"no file matches {quote(pattern)}", hint)
    return InvalidValueError("missing-file", f"the file {quote(pattern)} does not exist", hint)


def _each_once(found: InputFiles) -> InputFiles:
    """Each file once, by its own path rather than by a link, if one argument leads to it several times."""
    real = [os.path.realpath(file.path) for file in found.files]
    own = {
        file.path for file, path in zip(found.files, real, strict=True) if path == os.path.abspath(file.path)
    }
    kept: dict[str, InputFile] = {}
    for file, path in zip(found.files, real, strict=True):
        if path not in kept or file.path in own:
            kept[path] = file
    return found._replace(files=list(kept.values()), linked=found.linked + len(real) - len(kept))


def is_read_once(path: str) -> bool:
    """Whether a path is neither a file nor a folder, but a pipe or a device."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def _sequential_input(path: str, format: str | None) -> InputFile:
    """Standard input, or a pipe: only text formats can be read from front to back."""
    path = STANDARD_INPUT if path in _STANDARD_INPUTS else path
    kind = kind_of(path, format) or Kind(format)
    input = InputFile(path, kind, read_once=True)
    if kind.format is not None and not formats()[kind.format].is_text:
        cause = (
            f"{input.name} can be read only once, from front to back, and {kind.format} cannot "
            "be read that way"
        )
        raise InvalidValueError("read-once", cause, "save it as a file, or pipe CSV or JSON Lines")
    return input


def _near_file(pattern: str) -> str:
    """A remedy: the file that was probably meant by a name that does not exist."""
    from difflib import get_close_matches

    folder, name = os.path.split(pattern)
    try:
        beside = os.listdir(folder or ".")
    except OSError:
        return f"there is no folder {quote(folder)} either"
    near = get_close_matches(name, beside, n=1)
    return (
        f"did you mean {quote(os.path.join(folder, near[0]))}?" if near else "check the name and the folder"
    )


def _file(path: str, format: str | None) -> InputFile:
    _refuse_not_utf8(path)
    if is_read_once(path):
        return _sequential_input(path, format)
    kind = kind_of(path, format)
    if kind is None:
        raise unknown_ending(path)
    status = os.stat(path)
    if status.st_size == 0 and os.path.isfile(path):
        raise InvalidValueError("no-rows", f"{path} is empty (0 bytes)", "check how it was written")
    return InputFile(path, kind, status.st_size, _partition(os.path.dirname(path).split(os.sep)))


def unknown_ending(path: str) -> InvalidValueError:
    """The refusal of a file whose ending is not that of a format."""
    formats = ", ".join(format_names())
    cause = f"the format of {quote(path)} is unknown by its ending"
    remedy = f"the ending must be that of one of {formats}"
    return InvalidValueError("unknown-format", cause, remedy)


def _refuse_not_utf8(path: str) -> None:
    """Refuse a name that is not UTF-8: pyarrow could not open it, and it could not name a group."""
    try:
        path.encode()
    except UnicodeEncodeError:
        cause = f"the name of {visible(path)} is not UTF-8"
        raise InvalidValueError("not-utf-8", cause, "rename the file") from None


def _in_folder(folder: str, format: str | None) -> InputFiles:
    """All files of a known format in a folder and the folders below it; names that begin with . or _ are ignored."""
    walked = files_below(folder)
    paths = sorted(walked.paths, key=natural_key)
    found = [_file(path, format) for path in paths if kind_of(path) is not None]
    if not found:
        cause = f"the folder {quote(folder)} holds no file that can be read"
        raise InvalidValueError("missing-file", cause, f"files must end in {endings_text()}")
    return InputFiles(found, len(paths) - len(found), walked.linked)


def _partition(folders: Iterable[str]) -> dict[str, str | None]:
    """The columns stated by folder names.

    >>> _partition(["2026", "hospital=St%20Mary", "ward=__HIVE_DEFAULT_PARTITION__"])
    {'hospital': 'St Mary', 'ward': None}
    """
    pairs = (folder.split("=", 1) for folder in folders if "=" in folder)
    return {unquote(key): None if value == _NO_PARTITION else unquote(value) for key, value in pairs}


def refuse_twice(paths: Sequence[str]) -> None:
    """Refuse a file that is named twice, since its rows would count twice."""
    seen: set[object] = set()
    for path in paths:
        identity = STANDARD_INPUT if path == STANDARD_INPUT else file_identity(path)
        if identity in seen:
            name = "standard input" if path == STANDARD_INPUT else path
            cause = f"{name} is named twice, which would count its rows twice"
            raise InvalidValueError("named-twice", cause, "name it once")
        seen.add(identity)
