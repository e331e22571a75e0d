"""Files of images among the arguments: arrays of more than two dimensions, and folders of nnU-Net."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from trueness.cli import _sources
from trueness.cli._options import NNUNET
from trueness.cli._outputs import print_note
from trueness.refusals import InvalidValueError, quote

if TYPE_CHECKING:
    from trueness.files import Batch, InputFile
    from trueness.files.batches import Remark
    from trueness.files.images import Case, ImageSource
    from trueness.old_assessment import Caution

INDEPENDENT = "none"
"""The value of --clusters for pixels that are independent."""

_COLUMN_OPTIONS = (
    "label",
    "probs",
    "classes",
    "sample_weight",
    "groups",
    "where",
    "no_header",
)


def are_images(arguments: argparse.Namespace) -> bool:
    """Whether the files are images, by the options."""
    return arguments.format == NNUNET or any(
        getattr(arguments, name, None) is not None for name in ("class_axis", "ignore_index", "label_dir")
    )


def inputs_of(arguments: argparse.Namespace) -> list[InputFile]:
    """The files of predictions."""
    if not are_images(arguments):
        return _sources.inputs_of(arguments)
    from trueness.files.images import inputs_of

    _refuse_options(arguments)
    return inputs_of(_cases(arguments, arguments.files))


def image_source_of(arguments: argparse.Namespace, files: Sequence[str], model: str = "") -> ImageSource:
    """The rows of the images; what was assumed is printed, with the name of the model if there are several."""
    from trueness.files.images import ImageOptions, ImageSource

    _refuse_options(arguments)
    rows, in_clusters = _sources.row_options_of(arguments), arguments.clusters != INDEPENDENT
    options = ImageOptions(arguments.class_axis, arguments.ignore_index, rows, in_clusters)
    source = ImageSource(_cases(arguments, files), options)
    for remark in source.remarks:
        print_note(f"{model}: {remark.message}" if model else remark.message)
    return source


def cautions_of(remarks: Iterable[Remark], skipped: Mapping[str, int]) -> tuple[Caution, ...]:
    """What was assumed about images, and how many pixels were left out, by code, as warnings of the result."""
    from trueness.files import SKIPPED
    from trueness.files.batches import IGNORED
    from trueness.files.images import OUTSIDE
    from trueness.old_assessment import Caution

    left_out = [
        Caution(code, f"left out {skipped[code]} {SKIPPED[code]}", "their predictions were not checked")
        for code in (IGNORED, OUTSIDE)
        if skipped.get(code)
    ]
    return (*(Caution(*remark) for remark in remarks), *left_out)


def refuse_other_pixels(batches: Mapping[str, Batch]) -> None:
    """Refuse models of which one leaves out pixels that another has."""
    first, *others = batches
    for name in others:
        unlike = batches[first].numbers != batches[name].numbers
        if unlike.any():
            cause = f"{first} and {name} leave out different pixels of {batches[name].file}"
            remedy = "compare predictions for the same pixels"
            raise InvalidValueError("different-rows", cause, remedy)


def _cases(arguments: argparse.Namespace, files: Sequence[str]) -> list[Case]:
    from trueness.files import find_inputs
    from trueness.files.images import array_cases, nnunet_cases

    if arguments.format == NNUNET:
        return nnunet_cases(_folder_of(arguments, files), arguments.label_dir)
    paths = [input.path for input in find_inputs(files, arguments.format).files]
    other = next((path for path in paths if not path.lower().endswith((".npy", ".npz"))), None)
    if other is not None:
        raise _conflict(
            "--class-axis", f"and --ignore-index apply to NPY and NPZ files, not to {other}", "leave it out"
        )
    return array_cases(paths, arguments.label_file)


def _folder_of(arguments: argparse.Namespace, files: Sequence[str]) -> str:
    example = "write: predictions/ --format nnunet --label-dir labelsTr/"
    if arguments.label_dir is None or len(files) != 1:
        raise _conflict(
            "--format nnunet", "needs a folder of predictions, and the folder of their labels", example
        )
    for folder in (files[0], arguments.label_dir):
        if not os.path.isdir(folder):
            name = quote(folder)
            cause = (
                f"{name} is not a folder" if os.path.exists(folder) else f"the folder {name} does not exist"
            )
            raise InvalidValueError("missing-file", cause, example)
    return files[0]


def _refuse_options(arguments: argparse.Namespace) -> None:
    """Refuse options that images have no use for."""
    for name in _COLUMN_OPTIONS:
        if getattr(arguments, name, None):
            option = f"--{name.replace('_', '-')}"
            raise _conflict(option, "does not apply to images", "leave it out")
    if arguments.clusters not in (None, INDEPENDENT):
        raise _conflict(
            "--clusters",
            "names a column, and images have none",
            "leave it out: each image is one cluster; or pass none",
        )
    if arguments.format == NNUNET and arguments.class_axis is not None:
        raise _conflict("--class-axis", "does not apply to --format nnunet", "leave it out")
    if arguments.format != NNUNET and arguments.label_dir is not None:
        raise _conflict("--label-dir", "applies to --format nnunet", "leave it out")


def _conflict(argument: str, cause: str, remedy: str) -> InvalidValueError:
    return InvalidValueError("conflicting-arguments", f"{argument} {cause}", remedy, argument=argument)
