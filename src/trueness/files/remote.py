"""Files on other machines, by fsspec: each is copied while it is read.

A file is copied whole, so that every reader works and a failed transfer is noticed before the first row is summed.
fsspec is optional: it is imported only for a path that needs it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from trueness.files.batches import Batch
from trueness.files.paths import find_inputs, unknown_ending
from trueness.files.source import Source, read_ahead
from trueness.formats import InputFile, kind_of
from trueness.refusals import InvalidValueError, quote, reason_of


class Remote(NamedTuple):
    """A file to be read on any machine; `place` is fsspec's handle, None for a path that all machines share."""

    input: InputFile
    place: Any = None


def find_remote(
    paths: Sequence[str], format: str | None = None, storage_options: Mapping[str, Any] | None = None
) -> list[Remote]:
    """The files meant by paths, globs and folders; paths with a protocol (s3://, zip://…::…) are opened by fsspec."""
    plain = [path.removeprefix("file://") for path in paths if _is_plain(path)]
    found = [Remote(input) for input in find_inputs(plain, format).files] if plain else []
    for file in found:
        if file.input.read_once:
            cause = f"workers cannot read {file.input.name}"
            raise InvalidValueError("read-once", cause, "save it where they can read it")
    # An absolute path means the same on every machine that has the file.
    found = [Remote(replace(file.input, path=os.path.abspath(file.input.path))) for file in found]
    for path in paths:
        found += [] if _is_plain(path) else _expand_address(path, format, storage_options or {})
    return found


def _is_plain(path: str) -> bool:
    return "::" not in path and ("://" not in path or path.startswith("file://"))


def _expand_address(url: str, format: str | None, storage_options: Mapping[str, Any]) -> list[Remote]:
    import fsspec

    try:
        places = fsspec.open_files(url, **storage_options)
    except (OSError, ValueError, ImportError) as error:
        missing = isinstance(error, ImportError)
        what_to_do = "install the library that it names" if missing else "check the address"
        cause = f"{quote(url)} cannot be opened: {reason_of(error)}"
        raise InvalidValueError(
            "missing-library" if missing else "unreadable-file", cause, what_to_do
        ) from error
    if not places:
        cause = f"no file matches {quote(url)}"
        raise InvalidValueError("missing-file", cause, "check the address")
    chain = "".join(f"::{link}" for link in url.split("::")[1:])
    found = []
    for place in places:
        name, kind = f"{place.full_name}{chain}", kind_of(place.path, format)
        if kind is None:
            raise unknown_ending(name)
        found.append(Remote(InputFile(name, kind), place))
    return found


@contextmanager
def local_source(file: Remote, *arguments: Any, **options: Any) -> Iterator[Source]:
    """The file as a `Source` of rows, which takes the other arguments; refusals use the name that the user passed."""
    name, place = file.input.path, file.place
    if place is None:
        if not os.path.exists(name):
            cause = f"the file {name} does not exist on this worker"
            remedy = "all workers must be able to read the same files"
            raise InvalidValueError("missing-file", cause, remedy)
        yield Source([file.input], *arguments, **options)
        return
    with TemporaryDirectory(prefix="trueness-") as folder:
        local = os.path.join(folder, os.path.basename(place.path))
        try:
            place.fs.get_file(place.path, local)
            copy = replace(file.input, path=local, size=os.path.getsize(local), title=name)
            yield Source([copy], *arguments, **options)
        except OSError as error:
            cause = f"{quote(name)} cannot be read: {reason_of(error)}"
            raise InvalidValueError("unreadable-file", cause, "check the address") from error


def remote_batches(files: Iterable[Remote], *arguments: Any, **options: Any) -> Iterator[Batch]:
    """The rows of files, one after the other; a thread reads ahead, also from one file to the next.

    The other arguments are those of `Source`. Batches have the name of the file that the user passed.
    """
    return read_ahead(_read_in_turn(files, *arguments, **options))


def _read_in_turn(files: Iterable[Remote], *arguments: Any, **options: Any) -> Iterator[Batch]:
    for file in files:
        with local_source(file, *arguments, **options) as source:
            for batch in source.read():
                yield replace(batch, file=file.input.path)
