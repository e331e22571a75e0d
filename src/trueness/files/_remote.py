"""Files that are not on this machine: whatever fsspec reads, copied for as long as it is read.

A file is copied whole, so that every reader works and a damaged transfer shows before the first row is summed. fsspec
is an extra: it is imported only for a path that needs it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from trueness.files._errors import InputError, shown
from trueness.files._paths import FORMATS, Input, find_inputs, kind_of
from trueness.files._source import Source


class Remote(NamedTuple):
    """A file to be read on whichever machine; `place` is fsspec's handle, None for a path that all machines share."""

    input: Input
    place: Any = None


def find_remote(
    paths: Sequence[str], format: str | None = None, storage_options: Mapping[str, Any] | None = None
) -> list[Remote]:
    """The files meant by paths, globs and folders; those with a protocol (s3://, zip://…::…) are fsspec's."""
    plain = [path.removeprefix("file://") for path in paths if _is_plain(path)]
    found = [Remote(input) for input in find_inputs(plain, format).files] if plain else []
    for file in found:
        if file.input.read_once:
            raise InputError(f"workers cannot read {file.input.name}", "save it where they can read it")
    # An absolute path means the same on every machine that has the file.
    found = [Remote(replace(file.input, path=os.path.abspath(file.input.path))) for file in found]
    for path in paths:
        found += [] if _is_plain(path) else _expanded(path, format, storage_options or {})
    return found


def _is_plain(path: str) -> bool:
    return "::" not in path and ("://" not in path or path.startswith("file://"))


def _expanded(url: str, format: str | None, storage_options: Mapping[str, Any]) -> list[Remote]:
    import fsspec

    try:
        places = fsspec.open_files(url, **storage_options)
    except (OSError, ValueError, ImportError) as error:
        remedy = "install what it names" if isinstance(error, ImportError) else "check the address"
        raise InputError(f"{shown(url)} cannot be opened: {error}", remedy) from error
    if not places:
        raise InputError(f"no file matches {shown(url)}", "check the address")
    chain = "".join(f"::{link}" for link in url.split("::")[1:])
    found = []
    for place in places:
        name, kind = f"{place.full_name}{chain}", kind_of(place.path, format)
        if kind is None:
            raise InputError(
                f"the ending of {shown(name)} does not say what it holds",
                f"files must be {', '.join(FORMATS)}, by their ending or by --format",
            )
        found.append(Remote(Input(name, kind), place))
    return found


@contextmanager
def local_source(file: Remote, *arguments: Any, **options: Any) -> Iterator[Source]:
    """The file as a `Source` of rows, which takes the other arguments; refusals name it as the user did."""
    name, place = file.input.path, file.place
    if place is None:
        if not os.path.exists(name):
            raise InputError(f"there is no file {name} on this worker", "all must reach the same files")
        yield Source([file.input], *arguments, **options)
        return
    with TemporaryDirectory(prefix="trueness-") as folder:
        local = os.path.join(folder, os.path.basename(place.path))
        try:
            place.fs.get_file(place.path, local)
            yield Source(
                [replace(file.input, path=local, size=os.path.getsize(local))], *arguments, **options
            )
        except InputError as error:
            raise InputError(error.cause.replace(local, name), error.remedy) from error
        except OSError as error:
            raise InputError(f"{shown(name)} cannot be read: {error}", "check the address") from error
