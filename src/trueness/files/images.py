"""Files of images as batches of rows: NPY and NPZ arrays of more than two dimensions, and folders of nnU-Net.

A case is one file; its rows are the pixels or voxels. An NPY array is read through a memory map, block by block.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness.files.batches import Batch, RowOptions
from trueness.files.request import Choice
from trueness.files.source import BATCH_VALUES, BEGINNING, Position, PositionedBatch, read_ahead
from trueness.formats.inputs import InputFile, Kind
from trueness.refusals import InvalidValueError, reason_of
from trueness.rows.groups import EncodedNames
from trueness.rows.images import Pixels, pixels_of

OUTSIDE = "outside-crop"
"""The code of voxels whose probabilities are all 0, as nnU-Net writes them outside the part that it has looked at."""

PREDICTIONS = ("y_prob", "predictions", "probs", "probabilities")
LABELS = ("y_true", "ground_truth", "labels", "label")
"""The names of arrays in an NPZ file."""

_NIFTI = (".nii.gz", ".nii")


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """How arrays of images are read."""

    class_axis: int | None = None
    ignore_index: int | None = None
    rows: RowOptions = field(default_factory=RowOptions)
    in_clusters: bool = True
    """Whether the rows of an image are one cluster."""


@dataclass(frozen=True, slots=True)
class Case:
    """One file of predictions, with its labels."""

    name: str
    path: str
    size: int
    read: Callable[[], tuple[NDArray[Any], NDArray[Any]]]
    """Labels and predictions."""
    one_image: bool = False
    """Whether the file is one image, and its first axis that of the classes; else each first index is an image."""


class ImageSource:
    """The rows of files of images, in the form of `Source`."""

    def __init__(self, cases: Sequence[Case], options: ImageOptions) -> None:
        if not cases:
            raise InvalidValueError("no-rows", "there are no images", "check the files")
        self.cases, self.options = list(cases), options
        self.inputs = [InputFile(case.path, Kind(None), case.size, title=case.name) for case in cases]
        shape = self._pixels(cases[0]).y_prob.shape
        self.n_classes = shape[1] if len(shape) == 2 else 2
        self.choice = Choice("labels", ("probabilities",), is_list=True)
        self.rereadable = True

    def _pixels(self, case: Case) -> Pixels:
        labels, predictions = case.read()
        axis = 0 if case.one_image else self.options.class_axis
        try:
            pixels = pixels_of(labels, predictions, axis, self.options.ignore_index)
        except InvalidValueError as error:
            raise error.with_facts(source=case.name) from error
        assert pixels is not None
        return pixels

    def batches(self, start: Position = BEGINNING) -> Iterator[PositionedBatch]:
        """All batches from a position on, in order, read ahead on a thread."""
        return read_ahead(self.read(start))

    def read(self, start: Position = BEGINNING) -> Iterator[PositionedBatch]:
        """The same batches, each read when it is asked for."""
        for number in range(start.file, len(self.cases)):
            yield from self._batches_of(number, start.batch if number == start.file else 0)

    def _batches_of(self, number: int, done: int) -> Iterator[PositionedBatch]:
        case, pixels = self.cases[number], self._pixels(self.cases[number])
        step, n_rows = max(1, BATCH_VALUES // self.n_classes), len(pixels.y_true)
        for index, first in enumerate(range(0, n_rows, step)):
            if index >= done:
                stop = min(first + step, n_rows)
                batch = self._batch(case, pixels, first, stop)
                yield PositionedBatch(batch, Position(number, index + 1))

    def _batch(self, case: Case, pixels: Pixels, first: int, stop: int) -> Batch:
        assert pixels.y_prob.data is not None
        labels, predictions = pixels.y_true[first:stop], pixels.y_prob.data[first:stop]
        numbers = np.arange(first, stop) if pixels.kept is None else pixels.kept[first:stop]
        skipped: Counter[str] = Counter()
        if case.one_image:
            predictions, inside = divided_by_sum(predictions)
            if not inside.all():
                skipped[OUTSIDE] = int(np.count_nonzero(~inside))
                labels, predictions, numbers = labels[inside], predictions[inside], numbers[inside]
        return Batch(
            case.name,
            numbers + 1,
            labels,
            predictions,
            clusters=self._clusters(case, pixels, numbers) if self.options.in_clusters else None,
            options=self.options.rows,
            skipped=skipped,
            share=stop / max(1, len(pixels.y_true)),
        )

    def _clusters(self, case: Case, pixels: Pixels, numbers: NDArray[np.int64]) -> EncodedNames:
        """The image of each row: the file, or the file and the first index."""
        if case.one_image:
            return EncodedNames([case.name], np.zeros(len(numbers), np.int64))
        present, codes = np.unique(numbers // pixels.per_first, return_inverse=True)
        return EncodedNames([f"{case.name} {k}" for k in present.tolist()], codes.astype(np.int64))


def divided_by_sum(predictions: NDArray[Any]) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Rows of half precision over their sums, in float64, and which rows have a sum above 0."""
    wide = predictions.astype(np.float64)
    total = wide.sum(axis=1)
    inside = total > 0
    return wide / np.where(inside, total, 1.0)[:, None], inside


def array_cases(paths: Sequence[str], label_file: str | None) -> list[Case]:
    """NPY files of predictions, of which one may have its labels in another, and NPZ files of both."""
    return [_array_case(path, label_file) for path in paths]


def _array_case(path: str, label_file: str | None) -> Case:
    def read() -> tuple[NDArray[Any], NDArray[Any]]:
        try:
            if path.endswith(".npz"):
                with np.load(path) as arrays:
                    return _named(arrays, LABELS, path), _named(arrays, PREDICTIONS, path)
            if label_file is None:
                raise InvalidValueError(
                    "no-labels", "{file} holds no labels", "{name_label_file}", file=os.path.basename(path)
                )
            return np.load(label_file, mmap_mode="r"), np.load(path, mmap_mode="r")
        except (OSError, ValueError, EOFError) as error:
            if isinstance(error, InvalidValueError):
                raise
            raise _unreadable(path, error) from error

    return Case(os.path.basename(path), path, os.path.getsize(path), read)


def _named(arrays: Any, names: Sequence[str], path: str) -> NDArray[Any]:
    found = next((name for name in names if name in arrays), None)
    if found is None:
        raise InvalidValueError(
            "missing-column",
            "{file} has no array named {names}",
            "name it {first} when you write the file",
            file=os.path.basename(path),
            names=" or ".join(names),
            first=names[0],
        )
    array: NDArray[Any] = arrays[found]
    return array


def nnunet_cases(folder: str, label_folder: str) -> list[Case]:
    """The cases of a folder of predictions of nnU-Net v2: one NPZ file each, with labels of the same name as NIfTI."""
    paths = sorted(path for path in os.listdir(folder) if path.endswith(".npz"))
    if not paths:
        raise InvalidValueError(
            "missing-file",
            "the folder {file!q} holds no NPZ files",
            "predict with nnUNetv2_predict and its option save_probabilities",
            file=folder,
        )
    return [_nnunet_case(os.path.join(folder, name), label_folder) for name in paths]


def _nnunet_case(path: str, label_folder: str) -> Case:
    name = os.path.basename(path).removesuffix(".npz")
    candidates = [os.path.join(label_folder, name + ending) for ending in _NIFTI]
    label = next((candidate for candidate in candidates if os.path.exists(candidate)), None)
    if label is None:
        raise InvalidValueError(
            "missing-file",
            "the labels {file!q} of case {case!q} do not exist",
            "{label_dir}",
            file=candidates[0],
            case=name,
        )

    def read() -> tuple[NDArray[Any], NDArray[Any]]:
        try:
            with np.load(path) as arrays:
                predictions = _named(arrays, ("probabilities", "softmax"), path)
        except (OSError, ValueError, EOFError) as error:
            if isinstance(error, InvalidValueError):
                raise
            raise _unreadable(path, error) from error
        return _oriented(read_nifti(label), predictions, name), predictions

    return Case(name, path, os.path.getsize(path), read, one_image=True)


def _oriented(labels: NDArray[Any], predictions: NDArray[Any], case: str) -> NDArray[Any]:
    """Labels in the order of the axes of the predictions: NIfTI has (x, y, z), nnU-Net's arrays often (z, y, x)."""
    shape = predictions.shape[1:]
    straight, turned = labels.shape == shape, labels.shape[::-1] == shape
    if straight and turned and labels.ndim > 1:
        # Of a cube both fit. nnU-Net writes arrays as SimpleITK reads them: the last axis of the image first.
        return labels.transpose()
    if straight or turned:
        return labels if straight else labels.transpose()
    raise InvalidValueError(
        "wrong-shape",
        "the labels of case {case!q} have shape {labels}, its probabilities {shape}",
        "they must be of the same image",
        case=case,
        labels=labels.shape,
        shape=predictions.shape,
    )


def read_nifti(path: str) -> NDArray[Any]:
    """The voxels of a NIfTI file as whole numbers."""
    try:
        nibabel = import_module("nibabel")
    except ImportError as error:
        raise InvalidValueError(
            "missing-library",
            "{file} is a NIfTI file, and nibabel is not installed",
            "install trueness[images]",
            file=os.path.basename(path),
        ) from error
    try:
        image: Any = nibabel.load(path)
        return np.asarray(np.rint(np.asarray(image.dataobj)), np.int64)
    except (OSError, ValueError, EOFError, nibabel.filebasedimages.ImageFileError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: str, error: BaseException) -> InvalidValueError:
    return InvalidValueError(
        "unreadable-file",
        "{file} cannot be read: {reason}",
        "write it again",
        file=os.path.basename(path),
        reason=reason_of(error),
    )
