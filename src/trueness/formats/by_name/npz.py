"""NPZ: a ZIP archive of arrays, which are columns."""

from __future__ import annotations

import tempfile
import zipfile
from contextlib import ExitStack
from functools import partial
from typing import IO

import numpy as np

from trueness.formats._format import Format, PredictionChunks
from trueness.formats._numpy_arrays import ArraysReader, Opened
from trueness.formats.fields import ReadOptions
from trueness.formats.inputs import InputFile, Kind
from trueness.refusals import InvalidValueError, quote, reason_of


def _open(input: InputFile, _options: ReadOptions) -> ArraysReader:
    try:
        with zipfile.ZipFile(input.path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        cause = f"{input.name} is not an NPZ file, or is truncated: {reason_of(error)}"
        remedy = "create the file again with numpy.savez"
        raise InvalidValueError("unreadable-file", cause, remedy) from error
    members = {name.removesuffix(".npy"): name for name in names if name.endswith(".npy")}
    if not members:
        cause = f"{input.name} holds no arrays"
        raise InvalidValueError("no-rows", cause, "write it with numpy.savez")
    if len(members) != len(names):
        cause = f"{input.name} contains members that are not arrays, or duplicate names"
        raise InvalidValueError("unreadable-file", cause, "write it with numpy.savez")
    places = {name: f"{quote(name)} in {input.name}" for name in members}
    openers = {
        name: partial(_open_array, input.path, member, places[name]) for name, member in members.items()
    }
    return ArraysReader(input.name, openers)


def _open_array(path: str, member: str, place: str, stack: ExitStack) -> Opened:
    archive = stack.enter_context(zipfile.ZipFile(path))
    try:
        stream = stack.enter_context(archive.open(member))
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError) as error:
        cause = f"{place} cannot be opened: {reason_of(error)}"
        remedy = "create the file again with numpy.savez"
        raise InvalidValueError("unreadable-file", cause, remedy) from error
    return Opened(stream, archive.getinfo(member).file_size, place, seekable=False)


def _write(path: str, _kind: Kind, predictions: PredictionChunks) -> None:
    """An archive is written member after member, so the labels wait in a temporary file."""
    with tempfile.TemporaryFile() as labels, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("y_prob.npy", "w", force_zip64=True) as member:
            _write_header(member, (predictions.n_rows, predictions.n_classes), "<f8")
            for y_true, y_prob in predictions.chunks:
                labels.write(y_true.astype("<i8").tobytes())
                member.write(np.ascontiguousarray(y_prob, "<f8").tobytes())
        with archive.open("y_true.npy", "w", force_zip64=True) as member:
            _write_header(member, (predictions.n_rows,), "<i8")
            labels.seek(0)
            while data := labels.read(2**20):
                member.write(data)


def _write_header(member: IO[bytes], shape: tuple[int, ...], descr: str) -> None:
    np.lib.format.write_array_header_1_0(member, {"descr": descr, "fortran_order": False, "shape": shape})


FORMAT = Format(endings=(".npz",), open_file=_open, write=_write)
