"""Files of images as batches of rows: NPY and NPZ arrays of more than two dimensions, and folders of nnU-Net v2.

A case is one file; its rows are the pixels or voxels. NPY arrays, and those that an NPZ file
stores uncompressed, are read through a memory map, block by block.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness.files._values import exponentials, hundredths
from trueness.files.batches import IGNORED, Batch, Remark, RowOptions
from trueness.files.mapped_arrays import array_in
from trueness.files.request import Choice
from trueness.files.source import BATCH_VALUES, read_ahead
from trueness.formats.inputs import InputFile, Kind
from trueness.refusals import InvalidValueError, quote, reason_of
from trueness.rows import sum_tolerance
from trueness.rows.groups import EncodedNames
from trueness.rows.images import Pixels, pixels_of

OUTSIDE = "outside-crop"
"""The code of voxels whose probabilities are all 0, as nnU-Net writes them outside the part that it has looked at."""

PREDICTIONS = ("y_prob", "predictions", "probs", "probabilities")
LABELS = ("y_true", "ground_truth", "labels", "label")
NNUNET = ("probabilities", "softmax")
"""The names of arrays in an NPZ file."""


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """How arrays of images are read."""

    class_axis: int | None = None
    ignore_index: int | None = None
    rows: RowOptions = field(default_factory=RowOptions)
    in_clusters: bool = True
    """Whether the rows of an image are one cluster, or all rows are independent."""


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


IMAGES_ARE_CLUSTERS = Remark(
    "clusters-by-first-index",
    "the pixels of an image are one cluster",
    "intervals and p-values count images, not pixels; pass --clusters none if all pixels are independent",
)
HALF_PRECISION = Remark(
    "half-precision",
    "probabilities in half precision are divided by their sum, which misses 1 by up to a thousandth",
    "save them in single precision to avoid it",
)


def inputs_of(cases: Sequence[Case]) -> list[InputFile]:
    """The files of cases."""
    return [InputFile(case.path, Kind(None), case.size, title=case.name) for case in cases]


class ImageSource:
    """The rows of files of images, in the form of `Source`."""

    def __init__(self, cases: Sequence[Case], options: ImageOptions) -> None:
        if not cases:
            raise InvalidValueError("no-rows", "there are no images", "check the files")
        self.cases, self.options = list(cases), options
        self.inputs = inputs_of(cases)
        first = self._pixels(cases[0])
        self.n_classes = first.y_prob.shape[1] if len(first.y_prob.shape) == 2 else 2
        self.remarks: tuple[Remark, ...] = ()
        """What was assumed about the files."""
        if cases[0].one_image and first.y_prob.data is not None and first.y_prob.data.dtype == np.float16:
            self.remarks += (HALF_PRECISION,)
        if options.in_clusters and (cases[0].one_image or first.many_dimensions):
            self.remarks += (IMAGES_ARE_CLUSTERS,)
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

    def batches(self) -> Iterator[Batch]:
        """All batches, in order, read ahead on a thread."""
        return read_ahead(self.read())

    def read(self) -> Iterator[Batch]:
        """The same batches, each read when it is asked for."""
        for number, case in enumerate(self.cases):
            pixels = self._pixels(case)
            step, n_rows = max(1, BATCH_VALUES // self.n_classes), len(pixels.y_true)
            for first in range(0, max(1, n_rows), step):
                yield self._batch(number, pixels, first, min(first + step, n_rows))

    def _batch(self, number: int, pixels: Pixels, first: int, stop: int) -> Batch:
        assert pixels.y_prob.data is not None
        case = self.cases[number]
        labels, predictions = pixels.y_true[first:stop], pixels.y_prob.data[first:stop]
        numbers = np.arange(first, stop) if pixels.kept is None else pixels.kept[first:stop]
        skipped: Counter[str] = Counter(
            {IGNORED: pixels.n_ignored} if pixels.n_ignored and first == 0 else {}
        )
        if case.one_image:
            inside = predictions.any(axis=1)
            if not inside.all():
                skipped[OUTSIDE] = int(np.count_nonzero(~inside))
                labels, predictions, numbers = labels[inside], predictions[inside], numbers[inside]
            predictions = divided_by_sum(predictions) if predictions.dtype == np.float16 else predictions
        return Batch(
            case.name,
            numbers + 1,
            labels,
            self._scaled(predictions),
            clusters=self._clusters(case, pixels, numbers),
            options=self.options.rows,
            skipped=skipped,
            share=stop / max(1, len(pixels.y_true)),
            files_before=number,
            may_ignore=self.options.ignore_index is None,
        )

    def _scaled(self, predictions: NDArray[Any]) -> Any:
        """Logarithms and percentages as probabilities."""
        scales = {"logprobs": exponentials, "percent": hundredths}
        scale = self.options.rows.scale
        return scales[scale](predictions) if scale in scales else predictions

    def _clusters(self, case: Case, pixels: Pixels, numbers: NDArray[np.int64]) -> EncodedNames | None:
        """The image of each row: the file and the first index, or the file alone; None if rows are independent."""
        if not self.options.in_clusters:
            return None
        without_images = self.options.class_axis == 0 and pixels.many_dimensions  # (classes, height, width)
        if case.one_image or without_images:
            return EncodedNames([case.name], np.zeros(len(numbers), np.int64))
        if not pixels.many_dimensions:
            return None
        present, codes = np.unique(numbers // pixels.per_first, return_inverse=True)
        return EncodedNames([f"{case.name} {k}" for k in present.tolist()], codes.astype(np.int64))


def divided_by_sum(predictions: NDArray[Any]) -> FloatArray:
    """Rows of half precision over their sums, in float64; rows whose sum is wrong stay as they are, to be refused."""
    wide = predictions.astype(np.float64)
    total = wide.sum(axis=1, keepdims=True)
    near = np.abs(total - 1) <= sum_tolerance(wide.shape[1], float(np.finfo(np.float16).eps))
    return np.asarray(wide / np.where(near, total, 1.0))


def array_cases(paths: Sequence[str], label_file: str | None) -> list[Case]:
    """An NPY file of predictions with its labels in another, or NPZ files of both."""
    if label_file is not None and (len(paths) > 1 or not paths[0].endswith(".npy")):
        cause = "`label_file` can only be used with a single NPY file"
        remedy = "save labels and predictions as NPZ, one file for each pair"
        raise InvalidValueError("conflicting-arguments", cause, remedy, argument="label_file")
    return [_array_case(path, label_file) for path in paths]


def _array_case(path: str, label_file: str | None) -> Case:
    def read() -> tuple[NDArray[Any], NDArray[Any]]:
        with _refuse_unreadable(path):
            if path.endswith(".npz"):
                return _named_array(path, LABELS), _named_array(path, PREDICTIONS)
            if label_file is None:
                cause = f"{os.path.basename(path)} holds no labels"
                raise InvalidValueError("no-labels", cause, "save both as NPZ")
            return np.load(label_file, mmap_mode="r"), np.load(path, mmap_mode="r")

    return Case(os.path.basename(path), path, os.path.getsize(path), read)


def _named_array(path: str, names: Sequence[str]) -> NDArray[Any]:
    """The first array of an NPZ file that has one of the names."""
    with zipfile.ZipFile(path) as archive:
        present = set(archive.namelist())
    found = next((name for name in names if f"{name}.npy" in present), None)
    if found is None:
        listed = " or ".join(names)
        cause = f"{os.path.basename(path)} has no array named {listed}"
        remedy = f"name it {names[0]} when you write the file"
        raise InvalidValueError("missing-column", cause, remedy)
    return array_in(path, found)


_READING_ERRORS: tuple[type[Exception], ...] = (
    OSError,
    ValueError,
    EOFError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
)


@contextmanager
def _refuse_unreadable(path: str, *errors: type[Exception]) -> Iterator[None]:
    """Refuse a file that NumPy, zipfile or a library with these errors cannot read."""
    try:
        yield
    except InvalidValueError:
        raise
    except (*_READING_ERRORS, *errors) as error:
        cause = f"{os.path.basename(path)} cannot be read: {reason_of(error)}"
        raise InvalidValueError("unreadable-file", cause, "write it again") from error


def nnunet_cases(folder: str, label_folder: str) -> list[Case]:
    """The cases of a folder of predictions of nnU-Net v2, with NIfTI labels of the same names in another folder.

    nnU-Net saves `probabilities`, (classes, z, y, x), and a pickle beside it, which is never opened here. Its readers
    reverse the axes (x, y, z) of a NIfTI file, and so are those of the labels (repository MIC-DKFZ/nnUNet:
    `nnunetv2/inference/export_prediction.py`, `nnunetv2/imageio`).
    """
    names = sorted(name for name in os.listdir(folder) if name.endswith(".npz"))
    if not names:
        cause = f"the folder {quote(folder)} holds no NPZ files"
        remedy = "predict with nnUNetv2_predict and its option save_probabilities"
        raise InvalidValueError("missing-file", cause, remedy)
    return [_nnunet_case(os.path.join(folder, name), label_folder) for name in names]


def _nnunet_case(path: str, label_folder: str) -> Case:
    name = os.path.basename(path).removesuffix(".npz")
    candidates = [os.path.join(label_folder, name + ending) for ending in (".nii.gz", ".nii")]
    label = next((candidate for candidate in candidates if os.path.exists(candidate)), None)
    if label is None:
        cause = f"the labels {quote(candidates[0])} of case {quote(name)} do not exist"
        remedy = "name the folder of labels, such as labelsTr"
        raise InvalidValueError("missing-file", cause, remedy)

    def read() -> tuple[NDArray[Any], NDArray[Any]]:
        with _refuse_unreadable(path):
            predictions = _named_array(path, NNUNET)
        stored = _read_nifti(label)
        labels = stored.transpose()
        labels = (
            labels[None] if labels.ndim + 2 == predictions.ndim else labels
        )  # of two dimensions: one slice
        if labels.shape != predictions.shape[1:]:
            cause = (
                f"the probabilities of case {quote(name)} have shape {predictions.shape}, and "
                f"its labels {stored.shape} in the axes of NIfTI: (classes, z, y, x) and (x, "
                "y, z) do not fit"
            )
            raise InvalidValueError("wrong-shape", cause, "they must be of the same image")
        return labels, predictions

    return Case(name, path, os.path.getsize(path), read, one_image=True)


def _read_nifti(path: str) -> NDArray[Any]:
    """The voxels of a NIfTI file as whole numbers, (x, y, z)."""
    try:
        nibabel = import_module("nibabel")
    except ImportError as error:
        cause = f"{os.path.basename(path)} is a NIfTI file, and nibabel is not installed"
        raise InvalidValueError("missing-library", cause, "install trueness[images]") from error
    with _refuse_unreadable(path, nibabel.filebasedimages.ImageFileError):
        return np.asarray(np.rint(np.asarray(nibabel.load(path).dataobj)), np.int64)
