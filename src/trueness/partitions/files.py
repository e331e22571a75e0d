"""Files as partitions: found and put into pieces by the driver, read by the workers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Any, NamedTuple

from trueness.files import Batch, Plan, Request, RowOptions
from trueness.files.remote import Remote, find_remote, local_source, remote_batches
from trueness.partitions.work import Work
from trueness.refusals import InvalidTypeError

PIECE_BYTES = 2**30
"""The most that the files of a piece take together, unless it is one file: seconds of work, beside which the fixed cost
of a task is small (on Spark that of reading 60 MB)."""

DECODING_THREADS = 2
"""Threads that decode the columns of a piece. Decoding costs four times as much as summing, and schedulers limit
Arrow to one thread."""


class FilePiece(NamedTuple):
    """Files that one task reads; `first` is the file in which the columns were chosen."""

    files: list[Remote]
    first: str

    def batches(self, work: Work) -> Iterator[Batch]:
        """On a worker: the rows."""
        return remote_batches(
            self.files,
            work.request,
            work.options,
            choice=work.choice,
            n_classes=work.n_classes,
            first_file=self.first,
            n_threads=DECODING_THREADS,
        )


def is_paths(data: Any) -> bool:
    """Whether the data are a path, a glob, an address, or a list of these."""
    return isinstance(data, (str, os.PathLike, list, tuple))


def files_of(data: Any, storage_options: Mapping[str, Any] | None) -> list[Remote]:
    """The files that are meant by a path, a glob, a folder, an address of fsspec, or a list of these."""
    paths = data if isinstance(data, (list, tuple)) else [data]
    for path in paths:
        if not isinstance(path, (str, os.PathLike)):
            cause = f"a list of data must hold paths of files, got {type(path).__name__}"
            raise InvalidTypeError("wrong-type", cause, argument="data")
    return find_remote([os.fspath(path) for path in paths], storage_options=storage_options)


def work_of_files(files: Sequence[Remote], request: Request, rows: RowOptions, plan: Plan) -> Work:
    """The work, with the columns of the first file."""
    with local_source(files[0], request, rows) as source:
        return Work.of(request, rows, plan, source.choice, source.n_classes)


def file_pieces(files: Sequence[Remote], slots: int) -> list[FilePiece]:
    """The files in pieces, in order; `slots` is the number of tasks that run at the same time.

    A task has a fixed cost, so small files are put together, such that all slots have the same number of pieces of the
    same size, as far as the files allow it. The size of a remote file is unknown: it is a piece.
    """
    total, slots = sum(file.input.size for file in files), max(1, slots)
    rounds = max(1, ceil(total / (slots * PIECE_BYTES)))
    most = ceil(total / (slots * rounds))
    pieces: list[list[Remote]] = []
    room = 0
    for file in files:
        room -= file.input.size
        if not pieces or room < 0 or file.place is not None:
            pieces.append([])
            room = most - file.input.size
        pieces[-1].append(file)
    return [FilePiece(piece, files[0].input.path) for piece in pieces]
