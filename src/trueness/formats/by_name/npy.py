"""NPY: one array of predictions; a second file holds the labels."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import partial

from trueness.formats._format import Format
from trueness.formats._numpy_arrays import ArraysReader, Opened
from trueness.formats.fields import ReadOptions
from trueness.formats.inputs import InputFile
from trueness.refusals import InvalidValueError


def _open(input: InputFile, options: ReadOptions) -> ArraysReader:
    openers = {"y_prob": partial(_open_array, input.path, input.name)}
    if options.unlabelled:
        return _usable(ArraysReader(input.name, openers))
    if options.label_file is None:
        raise InvalidValueError("no-labels", f"{input.name} has no labels", "save both as NPZ")
    openers["y_true"] = partial(_open_array, options.label_file, options.label_file)
    return _usable(ArraysReader(input.name, openers))


def _usable(reader: ArraysReader) -> ArraysReader:
    """The reader, unless an array cannot be used: all are needed."""
    for error in reader.unusable.values():
        raise error
    return reader


def _open_array(path: str, name: str, stack: ExitStack) -> Opened:
    file = stack.enter_context(open(path, "rb"))  # noqa: SIM115  closed by the stack
    return Opened(file, os.path.getsize(path), name, seekable=True)


FORMAT = Format(endings=(".npy",), open_file=_open, without_labels=True)
