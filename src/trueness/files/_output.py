"""Whether outputs can be written without overwriting anything that the run reads or writes."""

from __future__ import annotations

import os
from collections.abc import Sequence

from trueness._printing import STANDARD_OUTPUT
from trueness.atomic_files import is_read_only
from trueness.files.folders import file_identity
from trueness.formats import STANDARD_INPUT
from trueness.refusals import InvalidValueError, quote


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str | None] = ()) -> None:
    """Refuse outputs that cannot be written, that the run reads, or two that are one file, before hours of work.

    Files are compared by identity, so that links and other spellings of a path are recognised. None is an output that
    was not requested, - is standard output, which takes one result, or standard input.
    """
    if outputs.count(STANDARD_OUTPUT) > 1:
        raise InvalidValueError(
            "named-twice", "standard output (-) is used for two outputs", "name a file for all but one"
        )
    read = {file_identity(path) for path in inputs if path is not None and path != STANDARD_INPUT}
    written: dict[object, str] = {}
    for path in outputs:
        if path is None or path == STANDARD_OUTPUT:
            continue
        _refuse_unwritable(path)
        identity = file_identity(path)
        if identity in read:
            cause = f"{path!r} is read and would be overwritten"
            raise InvalidValueError("unwritable-file", cause, "name another file")
        if identity in written and not _takes_several(path):
            other = written[identity]
            same = "" if other == path else f" and {other!r}, which is the same file,"
            cause = f"{path!r}{same} is used for two outputs"
            raise InvalidValueError("named-twice", cause, "name a file for each")
        written[identity] = path


def _existing_folder(folder: str) -> str:
    """The folder, or the nearest one above it that exists: those below it are created when the file is written."""
    while not os.path.exists(folder):
        folder = os.path.dirname(folder)
    return folder


def _takes_several(path: str) -> bool:
    """Whether results can be written one after another: to a terminal, a pipe or /dev/null."""
    return os.path.exists(path) and not os.path.isfile(path)


def _refuse_unwritable(path: str) -> None:
    if os.path.isdir(path):
        cause = f"{quote(path)} is a folder"
        raise InvalidValueError("unwritable-file", cause, "name a file in it")
    if _takes_several(path):
        return
    folder = _existing_folder(os.path.dirname(os.path.realpath(path)))
    if not os.path.isdir(folder):
        cause = f"{quote(folder)} is not a folder"
        raise InvalidValueError("unwritable-file", cause, "name a file elsewhere")
    if not os.access(folder, os.W_OK):
        cause = f"the folder {quote(folder)} cannot be written to"
        raise InvalidValueError("unwritable-file", cause, "name a file elsewhere")
    if is_read_only(path):
        remedy = "name another file, or make it writable to replace it"
        raise InvalidValueError("unwritable-file", f"{quote(path)} is read-only", remedy)
