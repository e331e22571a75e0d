"""From parsed arguments to the settings of the inference: level, resamples, tolerance and limits by metric."""

from __future__ import annotations

import argparse

from trueness.cli._errors import name_option, refuse_argument, whole_number
from trueness.cli._options import DEFAULT_CLASS_BINS, DEFAULT_RESAMPLES
from trueness.refusals import InvalidValueError

LEAST_LIMIT = 1e-5
"""Smallest limit of --fail-below-p: a smaller one would need more than a million resamples."""


def limits_of(option: str, text: str | None, bare: tuple[str, ...]) -> dict[str, float] | None:
    """The limits by metric: a number for the metrics `bare`, or metric=number separated by commas."""
    from trueness.old_assessment import as_limits

    if text is None:
        return None
    example = f"such as {option} 0.05, or {option} vce=.05,ece=.03"
    parts = [part.rpartition("=") for part in text.split(",")]
    numbers = [_number(value) for _, _, value in parts]
    names = [key.strip().lower() for key, _, _ in parts]
    is_bare = len(parts) == 1 and "=" not in text
    if None in numbers or len(set(names)) < len(names) or ("" in names and not is_bare):
        cause = f"{option} {text} is neither a number nor a list of different metrics"
        raise refuse_argument(option, text, cause, example)
    with name_option(option, text, example):
        return as_limits("the limit", numbers[0] if is_bare else dict(zip(names, numbers, strict=True)), bare)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def tolerance_of(arguments: argparse.Namespace) -> dict[str, float] | None:
    """The tolerance by metric."""
    from trueness.old_assessment.reported import bounding_metrics

    return limits_of("--tolerance", arguments.tolerance, tuple(metric.key for metric in bounding_metrics()))


def fail_above_of(arguments: argparse.Namespace, bare: str = "vce") -> dict[str, float]:
    """The limits of the gate by metric; a number alone is for the metric `bare`."""
    return limits_of("--fail-above", getattr(arguments, "fail_above", None), (bare,)) or {}


def resamples_of(arguments: argparse.Namespace) -> int:
    """The number of resamples; `assess_table` draws more where a gate or a correction needs them."""
    return int(arguments.resamples or DEFAULT_RESAMPLES)


def p_resolution_of(arguments: argparse.Namespace) -> float | None:
    """The smallest p-value that must be attainable, so that a gate on p-values can fail."""
    limit: float | None = getattr(arguments, "fail_below_p", None)
    return None if limit is None else 0.9 * min(limit, 1 - arguments.level)


def refuse_inference_options(arguments: argparse.Namespace) -> None:
    """Refuse impossible options before files are read, which may take hours."""
    from trueness.old_assessment import Settings

    _refuse_level_and_resamples(arguments)
    _refuse_gate_options(arguments)
    given = f"{arguments.resamples or DEFAULT_RESAMPLES} with --level {arguments.level:g}"
    with name_option("--resamples", given, "such as --level 0.95 --resamples 999"):
        Settings.of(arguments.level, resamples_of(arguments), 0)
    bins = getattr(arguments, "class_bins", DEFAULT_CLASS_BINS)
    with name_option("--class-bins", bins, "such as 10, 12, 15 or 20"):
        Settings.of(arguments.level, resamples_of(arguments), 0, class_bins=bins)
    fail_above_of(arguments)
    if getattr(arguments, "tolerance", None) is not None:
        tolerance_of(arguments)


def _refuse_level_and_resamples(arguments: argparse.Namespace) -> None:
    if not 0.5 <= arguments.level < 1:
        cause = f"--level must be from 0.5 to below 1, got {arguments.level:g}"
        raise refuse_argument("--level", arguments.level, cause, "such as 0.95")
    if arguments.resamples is not None:
        whole_number("--resamples", arguments.resamples, 1)


def _refuse_gate_options(arguments: argparse.Namespace) -> None:
    limit = getattr(arguments, "fail_below_p", None)
    if limit is not None and not LEAST_LIMIT <= limit < 1:
        cause = f"--fail-below-p must be from {LEAST_LIMIT:g} to below 1, got {limit:g}"
        raise refuse_argument("--fail-below-p", limit, cause, "such as 0.01")
    if getattr(arguments, "lower_end", False) and arguments.fail_above is None:
        cause = "--lower-end modifies --fail-above, which is missing"
        remedy = "add --fail-above, or leave out --lower-end"
        raise InvalidValueError("missing-argument", cause, remedy, argument="--lower-end")
