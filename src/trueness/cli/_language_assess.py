"""The assessment of evaluation logs: of options, of stated confidences, of votes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from trueness.cli import _gate
from trueness.cli._event import failures_of, resamples_for_gate
from trueness.cli._language import clusters_of, groups_of, tables_of
from trueness.cli._language_options import refuse_options_of_ranks
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.files import GroupedTables
    from trueness.language import Options, Statements, Votes
    from trueness.language.results import Reading
    from trueness.old_assessment import Assessment
    from trueness.old_assessment.votes import VoteAssessment


class Assessed(NamedTuple):
    """A result, its tables if they can be saved, and the reasons why the gate fails."""

    result: Any
    tables: GroupedTables | None
    failures: list[str]


def assess_reading(
    arguments: argparse.Namespace,
    reading: Reading,
    file: str,
    of_tables: Callable[[GroupedTables, argparse.Namespace], Assessment],
) -> Assessed:
    """The assessment of what was read, with the warnings about it; `of_tables` assesses tables of ranks."""
    from trueness.language import Options, Statements

    _refuse_gate_on_scores(arguments, reading)
    if isinstance(reading, Options):
        return _of_options(arguments, reading, file, of_tables)
    if isinstance(reading, Statements):
        return _of_statements(arguments, reading)
    return _of_votes(arguments, reading)


def _with_cautions(result: Any, reading: Reading) -> Any:
    from trueness.language.cautions import cautions_of

    return replace(result, warnings=(*result.warnings, *cautions_of(reading)))


def _of_options(
    arguments: argparse.Namespace,
    reading: Options,
    file: str,
    of_tables: Callable[[GroupedTables, argparse.Namespace], Assessment],
) -> Assessed:
    tables = tables_of(arguments, reading, file)
    result = _with_cautions(of_tables(tables, arguments), reading)
    return Assessed(result, tables, _gate.failures_of(result, arguments))


def _of_statements(arguments: argparse.Namespace, reading: Statements) -> Assessed:
    from trueness.cli._binning import bins_of
    from trueness.old_assessment import assess_event

    refuse_options_of_ranks(arguments, "stated probabilities")
    result: Any = assess_event(
        reading.event,
        reading.stated,
        bins=bins_of(arguments) or arguments.class_bins,
        level=arguments.level,
        resamples=resamples_for_gate(arguments),
        rng=arguments.rng_seed,
        what="right",
        default_confidence=reading.default_confidence,
        groups=groups_of(arguments, reading)[1],
        clusters=clusters_of(reading),
        n_threads=arguments.n_threads,
    )
    result = _with_cautions(result, reading)
    return Assessed(result, None, failures_of(result, arguments))


def _of_votes(arguments: argparse.Namespace, reading: Votes) -> Assessed:
    from trueness.cli._binning import bins_of
    from trueness.old_assessment import assess_votes

    refuse_options_of_ranks(arguments, "votes")
    for name in ("report", "plot", "fail_above", "groups"):
        _refuse(arguments, name, "votes")
    if len(set(reading.n_options.tolist())) > 1:
        numbers = ", ".join(map(str, sorted(set(reading.n_options.tolist()))))
        raise InvalidValueError(
            "wrong-number-of-options",
            f"the questions have {numbers} options, and votes are compared for one number",
            "read the log in Python and assess each number by itself: trueness.language.read_inspect",
        )
    result: VoteAssessment = assess_votes(
        reading.y_true,
        reading.votes,
        bins=bins_of(arguments) or 10,
        level=arguments.level,
        resamples=resamples_for_gate(arguments),
        rng=arguments.rng_seed,
    )
    below, p = arguments.fail_below_p, result.verdict.p_value
    failures = [f"all rows: p = {p:.6g} is below {below:g}"] if below is not None and not p >= below else []
    return Assessed(result, None, failures)


def _refuse(arguments: argparse.Namespace, name: str, what: str) -> None:
    if getattr(arguments, name):
        argument = f"--{name.replace('_', '-')}"
        cause = f"{argument} is not supported for {what}"
        raise InvalidValueError("conflicting-arguments", cause, "leave it out", argument=argument)


def _refuse_gate_on_scores(arguments: argparse.Namespace, reading: Reading) -> None:
    """Refuse a gate on scores that are not probabilities."""
    scale = getattr(reading, "scale", "probabilities")
    for name in ("fail_above", "fail_below_p"):
        if getattr(arguments, name) is not None and scale != "probabilities":
            argument = f"--{name.replace('_', '-')}"
            cause = f"{argument}: these are {scale}, not probabilities"
            remedy = "take --normalise-by none"
            raise InvalidValueError("conflicting-arguments", cause, remedy, argument=argument)
