"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from trueness.files._errors import InputError, shown
from trueness.files._paths import Input


@contextmanager
def written_whole(path: str) -> Iterator[str]:
    """The name of a file beside the target, which takes its place when all went well and vanishes when not."""
    target = os.path.realpath(path)
    beside = os.path.join(os.path.dirname(target), f".trueness-{os.urandom(8).hex()}")
    try:
        yield beside
        os.replace(beside, target)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def write_text(path: str, text: str) -> None:
    """Write a text; a pipe or a device, which cannot be replaced, is written to."""
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return
    with written_whole(path) as beside, open(beside, "w", encoding="utf-8") as file:
        file.write(text)


def check_output(path: str, inputs: Sequence[Input] = ()) -> None:
    """Refuse what cannot be written to, before hours of work and not after."""
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
        place = os.path.realpath(path)
        if place in seen and (os.path.isfile(path) or not os.path.exists(path)):
            raise InputError(f"{shown(path)} is named for two results", "name a file for each")
        seen.add(place)
