"""Evaluation logs of language models among the arguments: which format they have, and their rows."""

from __future__ import annotations

import argparse
import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from trueness.cli._language_options import (
    FORMATS,
    STATED,
    TOKENS,
    VOTES,
    given,
    refuse_language_options,
    refuse_other_options,
)
from trueness.cli._outputs import print_note
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.files import GroupedTables
    from trueness.language import Options
    from trueness.language.results import Reading

SAME_TO = 0.0005
"""Metrics at the two readings of options that are not listed are both printed if they differ by more than this."""


class Log(NamedTuple):
    """Files of one format."""

    format: str
    paths: list[str]


def find_log(arguments: argparse.Namespace) -> Log | None:
    """The files as evaluation logs; None if they hold predictions or tables."""
    if arguments.format in FORMATS:
        return _checked(arguments, Log(arguments.format, _paths(arguments.files)))
    if arguments.format is None and (found := _recognised(arguments)) is not None:
        return _checked(arguments, found)
    kind = _kind_by_options(arguments)
    if kind is not None:
        return _checked(arguments, Log(kind, _paths(arguments.files)))
    refuse_language_options(arguments)
    return None


def _checked(arguments: argparse.Namespace, log: Log) -> Log:
    refuse_other_options(arguments, log.format)
    return log


def _kind_by_options(arguments: argparse.Namespace) -> str | None:
    for name, kind in (("stated_confidence", STATED), ("correct", STATED), ("votes", VOTES)):
        if given(arguments, name):
            return kind
    return TOKENS if given(arguments, "tokens") or _are_token_lists(arguments.files) else None


def _are_token_lists(names: list[str]) -> bool:
    """Whether the first file is JSON Lines with lists of tokens."""
    from trueness.language.recognition import has_token_lists

    paths = [path for name in names for path in _matches(name)]
    return bool(paths) and has_token_lists(paths[0])


def _recognised(arguments: argparse.Namespace) -> Log | None:
    """The files, if all of them are logs of one format; what they are is printed."""
    from trueness.language import recognise

    paths = [path for name in arguments.files for path in _matches(name)]
    found = {path: recognise(path) for path in paths}
    formats = {None if kind is None else kind.format for kind in found.values()}
    if formats <= {None}:
        return None
    if len(formats) > 1:
        listed = {kind.format if kind else "another kind": path for path, kind in found.items()}
        listed_text = ", ".join(f"{path} is {name}" for name, path in listed.items())
        cause = f"the files have different formats: {listed_text}"
        raise InvalidValueError("mixed-inputs", cause, "name files of one format")
    first = next(iter(found.values()))
    print_note(str(first))
    assert first is not None
    return Log(first.format, paths)


def _matches(name: str) -> list[str]:
    from trueness.files import matching_paths

    return [name] if os.path.exists(name) or name == "-" else matching_paths(name)


def _paths(names: list[str]) -> list[str]:
    """The files that names and globs match."""
    paths = []
    for name in names:
        matches = _matches(name)
        if not matches:
            cause = f"the file {name!r} does not exist"
            raise InvalidValueError("missing-file", cause, "check the name", argument=name)
        paths += matches
    return paths


def read_log(arguments: argparse.Namespace, log: Log) -> Reading:
    """The rows of the files; what was found and left out is printed."""
    reading: Reading = _READERS[log.format](arguments, log.paths)
    for remark in reading.remarks:
        print_note(remark)
    left_out = sum(reading.left_out.values())
    if left_out:
        print_note(f"left out {left_out}:")
        for reason, count in reading.left_out.most_common():
            print_note(f"  {reason}: {count}")
    return reading


def _shared(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "groups": _groups(arguments),
        "clusters": arguments.clusters,
        "on_bad_rows": arguments.on_bad_rows,
    }


def _groups(arguments: argparse.Namespace) -> list[str] | None:
    """The columns of --groups; None for the task, which is the default."""
    columns = [name.strip() for part in arguments.groups or () for name in part.split(",")]
    return None if columns in ([], ["task"]) else columns


def _only(paths: list[str], format: str) -> str:
    if len(paths) > 1:
        cause = f"{format} files are read one at a time"
        raise InvalidValueError("mixed-inputs", cause, "name one of them")
    return paths[0]


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",")]


def _read_lm_eval(arguments: argparse.Namespace, paths: list[str]) -> Reading:
    from trueness.language import read_lm_eval

    return read_lm_eval(
        paths,
        normalise_by=arguments.normalise_by or "none",
        target=arguments.target,
        filter=arguments.filter,
        **_shared(arguments),
    )


def _letter_options(arguments: argparse.Namespace) -> dict[str, Any]:
    return {
        "options": _split(arguments.options),
        "answer_at": arguments.answer_at,
        "missing": arguments.missing or "cap",
    }


def _read_inspect(arguments: argparse.Namespace, paths: list[str]) -> Reading:
    from trueness.language import read_inspect

    names = {"stated_confidence": "stated", "letters": "letters", "votes": "votes"}
    readings = [reading for name, reading in names.items() if given(arguments, name)]
    if len(readings) > 1:
        cause = "--letters and other readings were given"
        remedy = "give one of --stated-confidence, --letters and --votes"
        raise InvalidValueError("conflicting-arguments", cause, remedy, argument="--letters")
    return read_inspect(
        paths,
        reading=readings[0] if readings else None,
        scorer=arguments.scorer,
        not_attempted=arguments.not_attempted or "skip",
        partial=arguments.partial,
        **_letter_options(arguments),
        **_shared(arguments),
    )


def _read_openai(arguments: argparse.Namespace, paths: list[str]) -> Reading:
    from trueness.language import read_openai

    if arguments.label_file is None:
        cause = "--label-file is missing: the output of a batch holds no labels"
        remedy = "write: --label-file labels.csv --key custom_id --label answer"
        raise InvalidValueError("missing-argument", cause, remedy, argument="--label-file")
    return read_openai(
        _only(paths, "openai"),
        arguments.label_file,
        key=arguments.key or "custom_id",
        label=arguments.label,
        reading=next((name for name in ("tokens", "votes") if given(arguments, name)), None),
        **_letter_options(arguments),
        **_shared(arguments),
    )


def _read_helm(arguments: argparse.Namespace, paths: list[str]) -> Reading:
    from trueness.language import read_helm
    from trueness.language.results import join_statements

    _refuse_groups(arguments)
    parts = [
        read_helm(path, perturbation=arguments.perturbation, on_bad_rows=arguments.on_bad_rows)
        for path in paths
    ]
    return join_statements(parts)


def _read_hle(arguments: argparse.Namespace, paths: list[str]) -> Reading:
    from trueness.language import read_hle
    from trueness.language.results import join_statements
    from trueness.old_metrics import hle_calibration_error

    _refuse_groups(arguments)
    read = join_statements([read_hle(path, on_bad_rows=arguments.on_bad_rows) for path in paths])
    own = hle_calibration_error(read.stated, read.event)
    shown = "not defined for fewer than 100 rows" if math.isnan(own) else f"{100 * round(own, 2):.0f}"
    print_note(f"HLE's own calibration error: {shown}")
    return read


def _read_stated(arguments: argparse.Namespace, paths: list[str]) -> Reading:
    from trueness.language import read_stated

    for name, other in (("stated_confidence", "correct"), ("correct", "stated_confidence")):
        if getattr(arguments, name) in (None, True):
            cause = f"{_option(name)} names no column, and {_option(other)} is given"
            remedy = "write: --stated-confidence confidence --correct grade"
            raise InvalidValueError("missing-argument", cause, remedy, argument=_option(name))
    return read_stated(
        paths,
        arguments.stated_confidence,
        arguments.correct,
        percent=arguments.percent,
        not_attempted=arguments.not_attempted or "skip",
        header=not arguments.no_header,
        **_shared(arguments),
    )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _read_votes(arguments: argparse.Namespace, paths: list[str]) -> Reading:
    from trueness.language import read_votes

    if arguments.votes is True or arguments.label is None:
        cause = "--votes needs the columns of the votes, and --label that of the right option"
        remedy = "write: --votes A,B,C,D --label answer"
        raise InvalidValueError("missing-argument", cause, remedy, argument="--votes")
    return read_votes(
        paths,
        _split(arguments.votes) or [],
        arguments.label,
        header=not arguments.no_header,
        **_shared(arguments),
    )


def _read_tokens(arguments: argparse.Namespace, paths: list[str]) -> Reading:
    from trueness.language import read_token_lists

    return read_token_lists(
        paths,
        label=arguments.label,
        labels=arguments.label_file,
        key=arguments.key or "custom_id",
        **_shared(arguments),
    )


def _refuse_groups(arguments: argparse.Namespace) -> None:
    if _groups(arguments) is not None:
        value = ",".join(arguments.groups)
        cause = f"--groups {value}: these files have no groups but the runs"
        remedy = "write --groups task"
        raise InvalidValueError("missing-column", cause, remedy, argument="--groups", value=value)


_READERS: dict[str, Any] = {
    "lm-eval": _read_lm_eval,
    "inspect": _read_inspect,
    "openai": _read_openai,
    "helm": _read_helm,
    "hle": _read_hle,
    STATED: _read_stated,
    VOTES: _read_votes,
    TOKENS: _read_tokens,
}


def groups_of(arguments: argparse.Namespace, reading: Reading) -> tuple[str | None, Any]:
    """The name and the values of the groups: those that were asked for, or the tasks if there are several."""
    if arguments.groups or len(set(reading.group.tolist())) > 1:
        return ",".join(arguments.groups or ["task"]), reading.group
    return None, None


def clusters_of(reading: Reading) -> Any:
    """The clusters, if one of them has two rows; None otherwise."""
    from trueness.language.repeats import repeats_of

    found = repeats_of(reading.cluster)
    if found.remark is not None:
        print_note(found.remark)
    return found.clusters


def tables_of(arguments: argparse.Namespace, reading: Options, file: str) -> GroupedTables:
    """The tables of rows with options of their own."""
    from trueness.cli._binning import in_requested_bins, plan_of
    from trueness.files import sum_source
    from trueness.files.array_source import ArraySource
    from trueness.rows.groups import encode_names

    by, groups = groups_of(arguments, reading)
    clusters = clusters_of(reading)
    source = ArraySource(
        file,
        reading.y_true,
        reading.y_prob,
        reading.n_options,
        by,
        None if groups is None else encode_names(groups),
        None if clusters is None else encode_names(clusters),
    )
    arguments.ragged = True
    plan = plan_of(arguments)
    tables = in_requested_bins(sum_source(source, plan).tables, arguments)
    if reading.unlisted is not None and reading.unlisted.any():
        zero = replace(source, y_prob=reading.without_unlisted(), by=None, groups=None, clusters=None)
        own = replace(source, by=None, groups=None, clusters=None)
        _note_other_reading(*(sum_source(each, plan).tables.whole for each in (own, zero)))
    return tables


def _note_other_reading(own: Any, zero: Any) -> None:
    """Print the metrics with probability 0 for options that are not listed, if they differ."""
    before, after = _metrics(own), _metrics(zero)
    if any(abs(after[name] - before[name]) > SAME_TO for name in before):
        listed = ", ".join(f"{name} {before[name]:.4f} → {value:.4f}" for name, value in after.items())
        print_note(f"plug-in values if options that are not listed get 0 (--missing zero): {listed}")


def _metrics(tables: Any) -> Mapping[str, float]:
    from trueness.old_metrics import expected_calibration_error, signed_parts, variation_calibration_error

    return {
        "VCE": variation_calibration_error(tables.by_variation),
        "net gap": signed_parts(tables.by_variation).net,
        "ECE": expected_calibration_error(tables.by_confidence),
    }
