"""The option --convention: the numbers of other libraries for the rows of the files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from trueness.cli._errors import refuse_argument
from trueness.cli._images import are_images
from trueness.cli._sources import source_of
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.assessment import ConventionDifference, EventAssessment
    from trueness.conventions import Convention, Reading
    from trueness.files import InputFile
    from trueness.language.results import Reading as AnyReading
    from trueness.table import AnyRankTable, Tables

MOST_ROWS = 50_000_000
"""The rows of which the numbers are held in memory, 13 bytes each and convention."""

_OPTION = "--convention"


def add_convention_option(parser: argparse.ArgumentParser) -> None:
    """Add --convention."""
    parser.add_argument(
        _OPTION,
        action="append",
        metavar="NAME[:BINS]",
        help="also print the number that another library gives for the same rows, and why it differs, such as "
        "torchmetrics:15; may be repeated. Names: see trueness.conventions. Reads the files a second time",
    )


def requested(
    arguments: argparse.Namespace, inputs: list[InputFile], *, saved: bool
) -> list[tuple[Convention, int | None]]:
    """The conventions and their bins; refused where the rows are not at hand."""
    if not arguments.convention:
        return []
    _refuse_inputs(arguments, inputs, saved=saved)
    chosen = [_parsed(text) for text in arguments.convention]
    return chosen if arguments.event is None else [_of_events(it) for it in chosen]


def requested_of_log(
    arguments: argparse.Namespace, reading: AnyReading
) -> list[tuple[Convention, int | None]]:
    """The same for evaluation logs: other libraries read stated confidences, but neither options nor votes."""
    from trueness.language import Statements

    if arguments.convention and not isinstance(reading, Statements):
        raise _conflict(
            "needs stated confidences if the files are evaluation logs, and these have options or votes"
        )
    return [_of_events(_parsed(text)) for text in arguments.convention or ()]


def differences_of_log(
    reading: AnyReading, chosen: list[tuple[Convention, int | None]], result: EventAssessment
) -> list[ConventionDifference]:
    """The number of each convention for stated confidences."""
    import numpy as np

    from trueness.conventions import Reading

    if not chosen:
        return []
    stated: Any = reading
    rows = Reading(
        np.asarray(stated.stated, np.float64),
        np.asarray(stated.event, np.bool_),
        np.zeros(len(stated.stated), np.int32),
        np.ones(2, np.bool_),
        "a right answer",
    )
    return _of_reading(rows, chosen, result)


def differences_of_event(
    arguments: argparse.Namespace,
    inputs: list[InputFile],
    chosen: list[tuple[Convention, int | None]],
    result: EventAssessment,
) -> list[ConventionDifference]:
    """The number of each convention for the probability of one class, or of the top label."""
    from trueness.conventions import Reading, event_reader, read_rows
    from trueness.rows import Rows

    if not chosen:
        return []
    parts = []
    for batch, _ in source_of(arguments, inputs, with_notes=False).batches():
        rows = batch.rows()
        assert isinstance(rows, Rows)  # --ragged is refused
        parts.append(read_rows(rows, event_reader(result.table.events[0])))
    return _of_reading(Reading.joined(parts), chosen, result)


def _of_reading(
    reading: Reading, chosen: list[tuple[Convention, int | None]], result: EventAssessment
) -> list[ConventionDifference]:
    from trueness.assessment import event_difference_of

    return [
        event_difference_of(convention, convention.of_reading(reading, bins, convention.norms[0]), result)
        for convention, bins in chosen
    ]


def _of_events(chosen: tuple[Convention, int | None]) -> tuple[Convention, int | None]:
    """The convention, unless it is not of a probability."""
    if chosen[0].metric != "ece":
        raise _conflict(f"{chosen[0].name} reads the entropy of all classes, which an event does not have")
    return chosen


def differences(
    arguments: argparse.Namespace,
    inputs: list[InputFile],
    chosen: list[tuple[Convention, int | None]],
    tables: Tables,
) -> list[ConventionDifference]:
    """The number of each convention beside that of the tables of the same rows."""
    from trueness.assessment import difference_of
    from trueness.conventions import Reading, read_rows
    from trueness.rows import Rows

    if not chosen:
        return []
    own = [_table_of(convention, tables) for convention, _ in chosen]
    parts: list[list[Reading]] = [[] for _ in chosen]
    for batch, _ in source_of(arguments, inputs, with_notes=False).batches():
        rows = batch.rows()
        assert isinstance(rows, Rows)  # --ragged is refused
        for found, (convention, _) in zip(parts, chosen, strict=True):
            found.append(read_rows(rows, convention.read))
    return [
        difference_of(
            convention,
            convention.of_reading(Reading.joined(found), bins, convention.norms[0]),
            table,
        )
        for found, (convention, bins), table in zip(parts, chosen, own, strict=True)
    ]


def _parsed(text: str) -> tuple[Convention, int | None]:
    from trueness.conventions import CONVENTIONS

    name, colon, number = text.partition(":")
    if name not in CONVENTIONS:
        raise refuse_argument(
            _OPTION,
            name,
            "{argument} must be one of " + ", ".join(CONVENTIONS) + ", got {value!q}",
            "write NAME or NAME:BINS",
        )
    if colon and not number.isdecimal():
        raise refuse_argument(
            _OPTION,
            text,
            "the bins of {argument} {value!q} are not a whole number",
            "write a number, such as " + name + ":15",
        )
    convention = CONVENTIONS[name]
    return convention, convention.bins_or_default(int(number) if colon else None)


def _refuse_inputs(arguments: argparse.Namespace, inputs: list[InputFile], *, saved: bool) -> None:
    once = next((input.name for input in inputs if input.read_once), None)
    problems = {
        "needs the rows, which saved tables do not have": saved,
        "does not apply to images": are_images(arguments),
        "does not apply to --ragged": arguments.ragged,
        "does not apply to weighted rows: the other libraries have no weights": arguments.sample_weight
        is not None,
        f"needs files that can be read twice, and {once} can be read only once": once is not None,
    }
    for problem in (text for text, holds in problems.items() if holds):
        raise _conflict(problem)


def _conflict(problem: str) -> InvalidValueError:
    return InvalidValueError(
        "conflicting-arguments",
        "{argument} {problem}",
        "leave it out, or name files of predictions",
        argument=_OPTION,
        problem=problem,
    )


def _table_of(convention: Convention, tables: Tables) -> AnyRankTable:
    """The table of the metric that is compared."""
    table = tables.by_confidence if convention.metric == "ece" else tables.by_variation
    if table is None or (convention.metric == "uce" and not table.spec.is_by_entropy):
        raise refuse_argument(
            _OPTION,
            convention.name,
            "{argument} {value} is compared with UCE, which needs rows binned by entropy",
            "leave out --variation",
        )
    if table.n_rows > MOST_ROWS:
        raise refuse_argument(
            _OPTION,
            table.n_rows,
            "{argument} holds the numbers of all rows in memory, and {value} rows are more than "
            + str(MOST_ROWS),
            "assess a sample of the rows",
        )
    return table
