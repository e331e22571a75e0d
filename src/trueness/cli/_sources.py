"""From parsed arguments to the rows that are read: files, columns, row options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trueness.cli._outputs import print_note

if TYPE_CHECKING:
    from trueness.files import InputFile, InputFiles, Request, RowOptions, Source

_SCALE_OF_OPTION = {"from_logits": "logits", "logprobs": "logprobs", "percent": "percent"}


def request_of(arguments: argparse.Namespace) -> Request:
    """The requested columns."""
    from trueness.files import Request, TextLayout, parse_condition

    return Request(
        label=arguments.label,
        probs=arguments.probs,
        weight=arguments.sample_weight,
        by=tuple(getattr(arguments, "groups", None) or ()) or None,
        where=tuple(parse_condition(text) for text in arguments.where),
        clusters=getattr(arguments, "clusters", None),
        classes=arguments.classes,
        header=not arguments.no_header,
        key=arguments.key,
        layout=TextLayout(arguments.delimiter, arguments.decimal, arguments.encoding, arguments.sheet),
        ragged=arguments.ragged,
        soft_labels=getattr(arguments, "soft_labels", False),
    )


def row_options_of(arguments: argparse.Namespace) -> RowOptions:
    """The scale of the numbers and the treatment of bad rows."""
    from trueness.files import RowOptions

    scales = [scale for option, scale in _SCALE_OF_OPTION.items() if getattr(arguments, option)]
    scale = scales[0] if scales else "probabilities"
    soft = getattr(arguments, "soft_labels", False)
    return RowOptions(scale, arguments.normalize, arguments.on_bad_rows, soft)


def inputs_of(arguments: argparse.Namespace) -> list[InputFile]:
    """The files of predictions."""
    from trueness.files import find_inputs

    inputs = find_inputs(arguments.files, arguments.format)
    note_unread_files(inputs)
    return inputs.files


def note_unread_files(inputs: InputFiles) -> None:
    """Print how many files of the folders are not read, and why."""
    if inputs.left_out:
        print_note(f"{inputs.left_out} files in the folders have unknown endings and are not read")
    if inputs.linked:
        print_note(
            f"{inputs.linked} links in the folders are not followed, or lead to files that are already read"
        )


def paths_read(arguments: argparse.Namespace, inputs: Sequence[InputFile]) -> list[str | None]:
    """Every file that is read: no result may be written to any of them."""
    return [*(input.path for input in inputs), arguments.label_file]


def source_of(arguments: argparse.Namespace, inputs: list[InputFile]) -> Source:
    """The rows of the files; detected columns are printed."""
    from trueness.files import Source

    source = Source(
        inputs,
        request_of(arguments),
        row_options_of(arguments),
        label_file=arguments.label_file,
        remarks=print_note,
    )
    for line in source.choice.found:
        print_note(line)
    return source
