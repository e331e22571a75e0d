"""A run over files of predictions: sums, progress, skipped rows."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from trueness._progress import progress_bar
from trueness.cli._binning import plan_of
from trueness.cli._images import are_images, image_source_of
from trueness.cli._outputs import print_note
from trueness.cli._sources import source_of

if TYPE_CHECKING:
    from trueness.files import Batch, InputFile, Summed


def sum_inputs(arguments: argparse.Namespace, inputs: list[InputFile]) -> Summed:
    """The tables of all rows."""
    from trueness.files import sum_source

    plan = plan_of(arguments)
    source: Any = (
        image_source_of(arguments, arguments.files) if are_images(arguments) else source_of(arguments, inputs)
    )
    with reading_progress(inputs) as report:
        summed = sum_source(source, plan, progress=report)
    note_skipped_rows(summed.skipped, summed.tables.n_rows)
    return replace(summed, remarks=getattr(source, "remarks", ()))


@contextmanager
def reading_progress(inputs: Sequence[InputFile]) -> Iterator[Callable[[Batch], None]]:
    """A progress bar of the bytes read."""
    reported = 0
    with progress_bar(sum(input.size for input in inputs), "B") as advance:

        def report(batch: Batch) -> None:
            nonlocal reported
            before = sum(input.size for input in inputs[: batch.files_before])
            done = before + int(inputs[batch.files_before].size * batch.share)
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
