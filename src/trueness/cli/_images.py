"""Files of images among the arguments: arrays of more than two dimensions, and folders of nnU-Net."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from trueness.cli import _sources
from trueness.cli._options import NNUNET
from trueness.cli._outputs import print_note
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.files import InputFile
    from trueness.files.images import Case, ImageSource

_COLUMN_OPTIONS = ("label", "probs", "classes", "sample_weight", "groups", "clusters", "checkpoint")


def are_images(arguments: argparse.Namespace) -> bool:
    """Whether the files are images, by the options."""
    return arguments.format == NNUNET or any(
        getattr(arguments, name, None) is not None for name in ("class_axis", "ignore_index", "label_dir")
    )


def inputs_of(arguments: argparse.Namespace) -> list[InputFile]:
    """The files of predictions."""
    return _source(arguments).inputs if are_images(arguments) else _sources.inputs_of(arguments)


def image_source_of(arguments: argparse.Namespace) -> ImageSource:
    """The rows of the images; what was assumed is printed."""
    source = _source(arguments)
    if arguments.format == NNUNET:
        print_note("half-precision probabilities are divided by their sum; voxels that sum to 0 are left out")
    print_note("each image is one cluster: its pixels are not independent")
    return source


def _source(arguments: argparse.Namespace) -> ImageSource:
    from trueness.files.images import ImageOptions, ImageSource

    _refuse_column_options(arguments)
    options = ImageOptions(
        arguments.class_axis, arguments.ignore_index, _sources.row_options_of(arguments), in_clusters=True
    )
    return ImageSource(_cases(arguments), options)


def _cases(arguments: argparse.Namespace) -> list[Case]:
    from trueness.files.images import array_cases, nnunet_cases

    if arguments.format != NNUNET:
        if arguments.label_dir is not None:
            raise _conflict("--label-dir", "applies to --format nnunet", "leave it out")
        return array_cases(arguments.files, arguments.label_file)
    if arguments.label_dir is None or len(arguments.files) != 1 or not os.path.isdir(arguments.files[0]):
        raise _conflict(
            "--format nnunet",
            "needs one folder of predictions, and the folder of their labels",
            "write: predictions/ --format nnunet --label-dir labelsTr/",
        )
    return nnunet_cases(arguments.files[0], arguments.label_dir)


def _refuse_column_options(arguments: argparse.Namespace) -> None:
    for name in _COLUMN_OPTIONS:
        if getattr(arguments, name, None):
            option = f"--{name.replace('_', '-')}"
            raise _conflict(option, "does not apply to images", "leave it out")


def _conflict(argument: str, cause: str, remedy: str) -> InvalidValueError:
    return InvalidValueError("conflicting-arguments", f"{{argument}} {cause}", remedy, argument=argument)
