"""Whether files can be written where they are to be, without destroying anything that the run reads or writes."""

from __future__ import annotations

import os
from collections.abc import Sequence

from trueness._atomic_write import is_read_only
from trueness._printing import STANDARD_OUTPUT
from trueness.files._errors import InputError, shown
from trueness.files._folders import file_identity
from trueness.files._paths import STANDARD_INPUT

PATH_LETTERS = 200
"""Of a path that is printed: its end tells it from others."""


def check_outputs(outputs: Sequence[str | None], inputs: Sequence[str | None] = ()) -> None:
    """Refuse outputs that cannot be written, that the run reads, or two that are one file, before hours of work.

    Files are compared by identity, so that links and other spellings of a path are recognised. None stands for a file
    that was not asked for, - for standard output, which takes one result, or standard input.
    """
    if outputs.count(STANDARD_OUTPUT) > 1:
        raise InputError("standard output (-) is named for two results", "name a file for all but one")
    read = {file_identity(path) for path in inputs if path is not None and path != STANDARD_INPUT}
    written: dict[object, str] = {}
    for path in outputs:
        if path is None or path == STANDARD_OUTPUT:
            continue
        _refuse_unwritable(path)
        identity = file_identity(path)
        if identity in read:
            raise InputError(
                f"{shown(path, PATH_LETTERS)} is read and would be overwritten", "name another file"
            )
        if identity in written and not _takes_several(path):
            other = written[identity]
            known = "" if other == path else f" and {shown(other, PATH_LETTERS)}, which is the same file,"
            raise InputError(
                f"{shown(path, PATH_LETTERS)}{known} is named for two results", "name a file for each"
            )
        written[identity] = path


def _takes_several(path: str) -> bool:
    """Whether results can be written one after another: to a terminal, a pipe or /dev/null."""
    return os.path.exists(path) and not os.path.isfile(path)


def _refuse_unwritable(path: str) -> None:
    if os.path.isdir(path):
        raise InputError(f"{shown(path)} is a folder", "name a file in it")
    if _takes_several(path):
        return
    folder = os.path.dirname(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise InputError(f"there is no folder {shown(folder)} to write to", "make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"the folder {shown(folder)} cannot be written to", "name a file elsewhere")
    if is_read_only(path):
        raise InputError(
            f"{shown(path)} is read-only", "name another file, or make it writable to replace it"
        )
