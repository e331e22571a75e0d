"""A run over files of predictions: sums, progress, skipped rows, checkpoints."""

from __future__ import annotations

import argparse
import math
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trueness._printing import STANDARD_OUTPUT
from trueness._progress import progress_bar
from trueness.cli._binning import plan_of
from trueness.cli._errors import refuse_argument
from trueness.cli._images import are_images, image_source_of
from trueness.cli._outputs import print_note
from trueness.cli._sources import request_of, row_options_of, source_of
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.files import Batch, Checkpoint, InputFile, Plan, Position, Source, Summed


def sum_inputs(arguments: argparse.Namespace, inputs: list[InputFile]) -> Summed:
    """The tables of all rows; an interruption is raised again with a message on how to continue."""
    from trueness.files import sum_source

    _refuse_checkpoint(arguments, inputs)
    plan = plan_of(arguments)
    source: Any = (
        image_source_of(arguments, arguments.files) if are_images(arguments) else source_of(arguments, inputs)
    )
    checkpoint = checkpoint_of(arguments, source, plan)
    try:
        with reading_progress(inputs) as report:
            summed = sum_source(source, plan, checkpoint=checkpoint, progress=report)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_next_step(checkpoint)) from None
    note_skipped_rows(summed.skipped, summed.tables.n_rows)
    return replace(summed, remarks=getattr(source, "remarks", ()))


def sum_on_cluster(arguments: argparse.Namespace) -> Summed:
    """The same tables, computed by a running Dask cluster."""
    from trueness.adapters.dask import connect, sum_files
    from trueness.files import check_outputs, find_remote

    for option, value in (("--checkpoint", arguments.checkpoint), ("--label-file", arguments.label_file)):
        if value is not None:
            raise InvalidValueError(
                "conflicting-arguments",
                "{argument} is not supported with --dask",
                "leave out one of them",
                argument=option,
            )
    request, rows, plan = request_of(arguments), row_options_of(arguments), plan_of(arguments)
    files = find_remote(arguments.files, arguments.format)
    check_outputs([arguments.output], [file.input.path for file in files])
    with connect(arguments.dask) as client:
        work, summed = sum_files(files, request, rows, plan, client)
    for line in work.choice.found:
        print_note(line)
    note_skipped_rows(summed.skipped, summed.tables.n_rows)
    return summed


def _next_step(checkpoint: Checkpoint | None) -> str:
    if checkpoint is None:
        return "nothing was written; the same command starts over, and can resume if given --checkpoint FILE"
    if not os.path.exists(checkpoint.path):
        return "no checkpoint was saved yet, and nothing was written; the same command starts over"
    return f"the sums so far are in {checkpoint.path}; the same command resumes from there"


def _refuse_checkpoint(arguments: argparse.Namespace, inputs: Sequence[InputFile]) -> None:
    """Refuse a checkpoint that could not be read again, or of inputs that cannot."""
    if arguments.checkpoint is None:
        return
    if arguments.checkpoint == STANDARD_OUTPUT:
        raise refuse_argument(
            "--checkpoint",
            STANDARD_OUTPUT,
            "a checkpoint cannot be standard output",
            "name a file",
        )
    once = [input.name for input in inputs if input.read_once]
    if once:
        raise InvalidValueError(
            "read-once",
            "--checkpoint needs input that can be read twice, and {argument} can be read only once",
            "leave out --checkpoint, or name files",
            argument=once[0],
        )
    if not 0 <= arguments.checkpoint_every < math.inf:
        raise refuse_argument(
            "--checkpoint-every",
            arguments.checkpoint_every,
            "{argument} must be a finite number of seconds, at least 0, got {value:g}",
            "leave it out for 10",
        )


def checkpoint_of(arguments: argparse.Namespace, source: Source, plan: Plan) -> Checkpoint | None:
    """The checkpoint of the run; None if there is none."""
    from trueness.files import Checkpoint, Identity

    if arguments.checkpoint is None:
        return None
    checkpoint = Checkpoint(arguments.checkpoint, Identity.of(source, plan), arguments.checkpoint_every)
    if checkpoint.load() is not None:
        print_note(f"resuming from {arguments.checkpoint}")
    return checkpoint


def remove_checkpoint(arguments: argparse.Namespace) -> None:
    """Delete the checkpoint of a run whose result has been written."""
    if arguments.checkpoint is not None and os.path.exists(arguments.checkpoint):
        os.unlink(arguments.checkpoint)


@contextmanager
def reading_progress(inputs: Sequence[InputFile]) -> Iterator[Callable[[Position, Batch], None]]:
    """A progress bar of the bytes read."""
    reported = 0
    with progress_bar(sum(input.size for input in inputs), "B") as advance:

        def report(position: Position, batch: Batch) -> None:
            nonlocal reported
            before = sum(input.size for input in inputs[: position.file])
            done = before + int(inputs[position.file].size * batch.share)
            advance(max(0, done - reported))
            reported = max(reported, done)

        yield report


def note_skipped_rows(skipped: Counter[str], n_rows: int) -> None:
    """Print how many rows were skipped, by reason, beside those that were not."""
    from trueness.files import SKIPPED

    total = sum(skipped.values())
    if total:
        print_note(f"skipped {total} of {total + n_rows} rows:")
        for code, count in skipped.most_common():
            print_note(f"  {SKIPPED.get(code, code)}: {count}")
