"""Folders of predictions of nnU-Net v2: one NPZ file for each case, with labels as NIfTI files.

What nnU-Net writes is read from its sources (repository MIC-DKFZ/nnUNet). `nnunetv2/inference/export_prediction.py`
saves `probabilities`, (classes, z, y, x), and a pickle beside it, which is never opened here. `nnunetv2/imageio` has
the readers, all of which reverse the axes (x, y, z) of a NIfTI file. `nnunetv2/utilities/label_handling` has the
regions.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness import _json
from trueness.files.batches import Remark
from trueness.files.images import Case, named_array, no_array, unreadable
from trueness.files.mapped_arrays import read_header
from trueness.refusals import InvalidValueError

_ARRAYS = ("probabilities", "softmax")
_NIFTI = (".nii.gz", ".nii")
_STORED_AXES = ("SimpleITKIO", "NibabelIO")
"""Readers that keep the voxels as the NIfTI file stores them, in reverse order of the axes."""
_TO_RAS = ("NibabelIOWithReorient", "SimpleITKIOWithReorient")
"""Readers that turn and flip the axes to right, anterior, superior first."""
_OTHER_FILES = ("NaturalImage2DIO", "Tiff3DIO")
"""Readers of files that are not NIfTI."""


@dataclass(frozen=True, slots=True)
class NnunetFolder:
    """The cases of a folder, and what its files say about them."""

    cases: list[Case]
    ignore_label: int | None
    """The label `ignore` of dataset.json."""
    remarks: tuple[Remark, ...]


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of one case, and what their headers say."""

    name: str
    path: str
    label: str
    shape: tuple[int, ...]
    """Of the probabilities, classes first."""
    dtype: np.dtype[Any]
    label_shape: tuple[int, ...]
    """Of the labels, as the reader of nnU-Net orients them, but for the reversal of the axes."""

    def fits(self, axes: _Axes) -> bool:
        """Whether labels with these axes have the shape of the probabilities."""
        return axes.shape(self.label_shape, len(self.shape) - 1) == self.shape[1:]


@dataclass(frozen=True, slots=True)
class _Axes:
    """The order of the axes of the probabilities, relative to those of the NIfTI file."""

    reverse: bool

    def shape(self, shape: tuple[int, ...], n_dimensions: int) -> tuple[int, ...]:
        """The shape of the labels in this order; an image of two dimensions is a volume of one slice."""
        found = shape[::-1] if self.reverse else shape
        return (1,) * (n_dimensions - len(found)) + found

    def apply(self, labels: NDArray[Any], n_dimensions: int) -> NDArray[Any]:
        """The labels in this order."""
        moved = labels.transpose() if self.reverse else labels
        return moved.reshape(self.shape(labels.shape, n_dimensions))


REVERSED, AS_STORED = _Axes(reverse=True), _Axes(reverse=False)


def nnunet_folder(folder: str, label_folder: str) -> NnunetFolder:
    """The cases of a folder of predictions, with labels of the same names in another folder."""
    names = sorted(name for name in os.listdir(folder) if name.endswith(".npz"))
    if not names:
        raise InvalidValueError(
            "missing-file",
            "the folder {file!q} holds no NPZ files",
            "predict with nnUNetv2_predict and its option save_probabilities",
            file=folder,
        )
    reader, ignored = _reader_of(folder), _ignore_label(folder)
    files = [_files(os.path.join(folder, name), label_folder, reader) for name in names]
    axes = _common_axes(files)
    cases = [
        Case(it.name, it.path, os.path.getsize(it.path), _read(it, axes, reader), one_image=True)
        for it in files
    ]
    return NnunetFolder(cases, ignored, (*_about_axes(files, axes, reader), *_about_precision(files)))


def _settings(folder: str, file: str) -> Mapping[str, Any]:
    """The content of plans.json or dataset.json, which nnUNetv2_predict writes beside its predictions; may be empty."""
    path = os.path.join(folder, file)
    if not os.path.exists(path):
        return {}
    try:
        with open(path, encoding="utf-8") as stream:
            content = _json.parse(stream.read())
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    return content if isinstance(content, dict) else {}


def _reader_of(folder: str) -> str | None:
    """The reader of nnU-Net that plans.json names."""
    name = _settings(folder, "plans.json").get("image_reader_writer")
    if name in _OTHER_FILES:
        raise InvalidValueError(
            "unsupported-file",
            "{folder!q} was predicted from files that {reader} reads, which are not NIfTI",
            "save predictions and labels as NPY or NPZ, and pass {class_axis}",
            folder=folder,
            reader=name,
        )
    return name if isinstance(name, str) else None


def _ignore_label(folder: str) -> int | None:
    """The label that dataset.json ignores; a dataset of regions is refused."""
    labels = _settings(folder, "dataset.json").get("labels")
    if not isinstance(labels, dict):
        return None
    regions = [str(name) for name, value in labels.items() if isinstance(value, list) and len(value) > 1]
    if regions:
        raise InvalidValueError(
            "regions",
            "dataset.json in {folder!q} has regions ({names}): their probabilities are separate, not those of classes",
            "assess each region as an event: assess_event(is_in_region, probabilities[k])",
            folder=folder,
            names=", ".join(regions),
        )
    ignored = labels.get("ignore")
    return ignored if isinstance(ignored, int) else None


def _files(path: str, label_folder: str, reader: str | None) -> _Files:
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
    shape, dtype = _header(path)
    return _Files(name, path, label, shape, dtype, _label_shape(label, reader))


def _header(path: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of the probabilities, without reading them."""
    try:
        with zipfile.ZipFile(path) as archive:
            member = next((f"{name}.npy" for name in _ARRAYS if f"{name}.npy" in archive.namelist()), None)
            if member is not None:
                with archive.open(member) as stream:
                    shape, _, dtype = read_header(stream)
                    return shape, dtype
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError) as error:
        raise unreadable(path, error) from error
    raise no_array(_ARRAYS, path)


def _label_shape(path: str, reader: str | None) -> tuple[int, ...]:
    image = _nifti(path)
    shape = tuple(int(n) for n in image.shape)
    if reader not in _TO_RAS:
        return shape
    place = _orientation(image)[:, 0].astype(int)
    return tuple(shape[int(np.flatnonzero(place == k)[0])] for k in range(len(shape)))


def _read(files: _Files, axes: _Axes, reader: str | None) -> Callable[[], tuple[NDArray[Any], NDArray[Any]]]:
    def read() -> tuple[NDArray[Any], NDArray[Any]]:
        try:
            predictions = named_array(files.path, _ARRAYS)
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            if isinstance(error, InvalidValueError):
                raise
            raise unreadable(files.path, error) from error
        labels = read_nifti(files.label, to_ras=reader in _TO_RAS)
        return axes.apply(labels, predictions.ndim - 1), predictions

    return read


def _common_axes(files: Sequence[_Files]) -> _Axes:
    """The order of axes that fits all cases: nnU-Net's, unless only that of the NIfTI files does."""
    for axes in (REVERSED, AS_STORED):
        if all(it.fits(axes) for it in files):
            return axes
    wrong = next(it for it in files if not it.fits(REVERSED))
    raise InvalidValueError(
        "wrong-shape",
        "the probabilities of case {case!q} have shape {shape}, and its labels {labels} in the axes of NIfTI: "
        "(classes, z, y, x) and (x, y, z) do not fit",
        "they must be of the same image",
        case=wrong.name,
        labels=wrong.label_shape,
        shape=wrong.shape,
    )


def _about_axes(files: Sequence[_Files], axes: _Axes, reader: str | None) -> tuple[Remark, ...]:
    """How labels were brought into the order of the probabilities, unless plans.json and the shapes leave no choice."""
    if axes is AS_STORED:
        return (
            Remark(
                "axes",
                "the probabilities have the axes of the NIfTI files, (classes, x, y, z), which nnU-Net itself reverses",
                "make sure that predictions and labels were written with the same orientation",
            ),
        )
    if reader in (*_STORED_AXES, *_TO_RAS) or not all(it.fits(AS_STORED) for it in files):
        return ()
    return (
        Remark(
            "axes",
            "the shapes do not show the order of axes; as nnU-Net writes them, probabilities are taken as "
            "(classes, z, y, x), and labels (x, y, z) are reversed",
            "keep plans.json, which names the reader, in the folder of predictions",
        ),
    )


def _about_precision(files: Sequence[_Files]) -> tuple[Remark, ...]:
    if all(it.dtype != np.float16 for it in files):
        return ()
    return (
        Remark(
            "half-precision",
            "probabilities in half precision are divided by their sum, which misses 1 by up to a thousandth",
            "save them in single precision to avoid it",
        ),
    )


def read_nifti(path: str, *, to_ras: bool = False) -> NDArray[Any]:
    """The voxels of a NIfTI file as whole numbers, (x, y, z); turned to right, anterior, superior if asked."""
    image = _nifti(path)
    try:
        turned = image.as_reoriented(_orientation(image)) if to_ras else image
        return np.asarray(np.rint(np.asarray(turned.dataobj)), np.int64)
    except (OSError, ValueError, EOFError) as error:
        raise unreadable(path, error) from error


def _orientation(image: Any) -> NDArray[Any]:
    found: NDArray[Any] = import_module("nibabel").io_orientation(image.affine)
    return found


def _nifti(path: str) -> Any:
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
        return nibabel.load(path)
    except (OSError, ValueError, EOFError, nibabel.filebasedimages.ImageFileError) as error:
        raise unreadable(path, error) from error
