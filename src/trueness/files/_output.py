"""Whether files can be written where they are to be."""

from __future__ import annotations

import os
from collections.abc import Sequence

from trueness._printing import STANDARD_OUTPUT
from trueness.files._errors import InputError, shown
from trueness.files._paths import Input


def check_output(path: str, inputs: Sequence[Input] = ()) -> None:
    """Refuse what cannot be written to, before hours of work and not after; - is standard output."""
    if path == STANDARD_OUTPUT:
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise InputError(f"{shown(path)} is a folder", "name a file in it")
    if not os.path.isdir(folder):
        raise InputError(f"there is no folder {shown(folder)} to write to", "make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"the folder {shown(folder)} cannot be written to", "name a file elsewhere")
    if any(os.path.realpath(input.path) == os.path.realpath(path) for input in inputs):
        raise InputError(f"{shown(path)} is read and would be overwritten", "name another file")


def check_outputs(paths: Sequence[str | None], inputs: Sequence[Input] = ()) -> None:
    """The same for all files of a run, of which no two may be one: the last would take the place of the others."""
    seen: set[str] = set()
    for path in paths:
        if path is None:
            continue
        check_output(path, inputs)
        place = path if path == STANDARD_OUTPUT else os.path.realpath(path)
        if place in seen and (place == STANDARD_OUTPUT or os.path.isfile(path) or not os.path.exists(path)):
            raise InputError(f"{shown(path)} is named for two results", "name a file for each")
        seen.add(place)
