"""A run over files, with what a user sees of it: progress, what was left out, where to go on."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trueness._printing import STANDARD_OUTPUT
from trueness._progress import progress_bar
from trueness.cli._inputs import note, plan_of, request_of, row_options_of, source_of

if TYPE_CHECKING:
    from trueness.files import Batch, Checkpoint, GroupedTables, Input, Plan, Position, Source, Summed


def run_over(arguments: argparse.Namespace, inputs: list[Input]) -> Summed:
    """The tables of all rows; an interrupted run says how to go on."""
    from trueness.files import sum_source

    _refuse_odd_checkpoint(arguments, inputs)
    plan, source = plan_of(arguments), source_of(arguments, inputs)
    checkpoint = checkpoint_of(arguments, source, plan)
    try:
        begun = checkpoint is not None and os.path.exists(
            checkpoint.path
        )  # past its first pass, if it has two
        with progress(inputs, passes=2 if plan.exact and not begun else 1) as report:
            summed = sum_source(source, plan, checkpoint=checkpoint, progress=report)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_next_step(checkpoint)) from None
    tell_skipped(summed)
    return summed


def run_on_cluster(arguments: argparse.Namespace) -> Summed:
    """The same tables, made by a running Dask cluster."""
    from trueness.adapters.dask import connect, sum_files
    from trueness.files import InputError, check_outputs
    from trueness.files.remote import find_remote

    for option, given in (("--checkpoint", arguments.checkpoint), ("--label-file", arguments.label_file)):
        if given is not None:
            raise InputError(f"{option} is for runs in one process, not for --dask", "leave out either")
    request, rows, plan = request_of(arguments), row_options_of(arguments), plan_of(arguments)
    files = find_remote(arguments.files, arguments.format)
    check_outputs([arguments.output], [file.input.path for file in files])
    with connect(arguments.dask) as client:
        work, summed = sum_files(files, request, rows, plan, client)
    for line in work.choice.found:
        note(line)
    tell_skipped(summed)
    return summed


def _next_step(checkpoint: Checkpoint | None) -> str:
    if checkpoint is None:
        return "nothing was written; the same command begins again, with --checkpoint FILE it could go on"
    if not os.path.exists(checkpoint.path):
        return "no sums were kept yet, and nothing was written; the same command begins again"
    return f"the sums so far are in {checkpoint.path}; the same command goes on from there"


def _refuse_odd_checkpoint(arguments: argparse.Namespace, inputs: Sequence[Input]) -> None:
    from trueness.files import InputError

    if arguments.checkpoint is None:
        return
    if arguments.checkpoint == STANDARD_OUTPUT:
        raise InputError("--checkpoint is read again, so it cannot be standard output", "name a file")
    once = [input.name for input in inputs if input.read_once]
    if once:
        raise InputError(f"{once[0]} cannot be read again", "leave out --checkpoint, or name files")
    if not 0 <= arguments.checkpoint_every < math.inf:
        raise InputError(
            f"--checkpoint-every must be a number of seconds from 0 up, got {arguments.checkpoint_every:g}",
            "leave it out for 10",
        )


def checkpoint_of(arguments: argparse.Namespace, source: Source, plan: Plan) -> Checkpoint | None:
    """What is kept of a run, if that was asked for."""
    from trueness.files import Checkpoint, Identity

    if arguments.checkpoint is None:
        return None
    kept = Checkpoint(arguments.checkpoint, Identity.of(source, plan), arguments.checkpoint_every)
    if kept.load() is not None:
        note(f"going on from {arguments.checkpoint}")
    return kept


def remove_checkpoint(arguments: argparse.Namespace) -> None:
    """Delete the sums of a run when its result has been written."""
    if arguments.checkpoint is not None and os.path.exists(arguments.checkpoint):
        os.unlink(arguments.checkpoint)


@contextmanager
def progress(inputs: Sequence[Input], passes: int = 1) -> Iterator[Callable[[Position, Batch], None]]:
    """A bar of the bytes that were read, in so many passes."""
    total = sum(input.size for input in inputs)
    shown = passed = last = 0

    with progress_bar(passes * total, "B") as advance:

        def report(position: Position, batch: Batch) -> None:
            nonlocal shown, passed, last
            before = sum(input.size for input in inputs[: position.file])
            done = before + int(inputs[position.file].size * batch.share)
            passed, last = passed + total * (done < last), done  # back at the beginning: another pass
            advance(max(0, passed + done - shown))
            shown = max(shown, passed + done)

        yield report


def tell_skipped(summed: Summed) -> None:
    """How many rows were left out, and why; never silently."""
    from trueness.files import SKIPPED

    left_out = sum(summed.skipped.values())
    if left_out:
        note(f"left out {left_out} of {left_out + summed.tables.n_rows} rows:")
        for code, count in summed.skipped.most_common():
            note(f"  {count} {SKIPPED.get(code, code)}")


def finished(tables: GroupedTables, arguments: argparse.Namespace) -> GroupedTables:
    """Tables with the bins that were asked for: those of equal mass are made of the grid now."""
    if arguments.equal_mass is None:
        return tables
    from trueness.bins import EqualMass

    way = "exact, in two passes"
    if not arguments.exact:
        tables, way = (
            tables.coarsened(EqualMass(arguments.equal_mass), arguments.confidence_bins),
            "from a grid of 4000 cells, in one pass",
        )
    tell_masses(tables, way)
    if not arguments.exact and tables.whole.by_variation.n_bins < arguments.equal_mass:
        note(
            f"{arguments.equal_mass} were asked for, but one cell holds more than its share: "
            "--exact finds bins from all values, in two passes"
        )
    return tables


def tell_masses(tables: GroupedTables, way: str) -> None:
    """How equal bins of equal mass have become."""
    table = tables.whole.by_variation
    shares = table.count / table.count.sum()
    note(
        f"{table.n_bins} bins of equal mass, {way}: {100 * shares.min():.2f} to {100 * shares.max():.2f} % of the rows"
    )


def describe(tables: GroupedTables) -> str:
    """What was summed, in a line."""
    first = tables.whole.by_variation
    names = " and ".join(table.spec.variation.name for table in tables.whole)
    groups = "" if tables.by is None else f", {len(tables.groups)} groups by {tables.by!r}"
    return f"{first.n_rows} rows, {first.n_classes} classes, {first.n_bins} bins by {names}{groups}"
