"""A gate for pipelines: whether an assessment passes."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from trueness.cli import _inputs

if TYPE_CHECKING:
    from trueness.assessment import Assessment

DEFAULT_RESAMPLES = 999
LEAST_LIMIT = 1e-5
"""Of --fail-below-p: more than a million draws would be needed for a smaller one."""


def add_inference(parser: argparse.ArgumentParser) -> None:
    """Level, draws and seed."""
    group = parser.add_argument_group("how sure it is")
    group.add_argument("--level", type=float, default=0.95, metavar="P", help="of intervals (default: 0.95)")
    group.add_argument(
        "--resamples", type=int, metavar="R", help=f"draws under calibration (default: {DEFAULT_RESAMPLES})"
    )
    group.add_argument(
        "--seed",
        type=_inputs.seed,
        default=0,
        metavar="S",
        help="the same seed gives the same numbers (default: 0)",
    )


def add_tolerance(parser: argparse.ArgumentParser) -> None:
    """The size of an error that does not matter."""
    parser.add_argument(
        "--tolerance",
        metavar="X",
        help="the largest error that does not matter, for VCE, ECE and RCE alike or by metric (vce=.02,ece=.01); the "
        "verdict then says whether the error is negligible, beyond it, or cannot be told",
    )


def add_gate(parser: argparse.ArgumentParser) -> None:
    """What makes the command fail."""
    group = parser.add_argument_group(
        "gate", "Exit code 1 if it fails: for all rows together, or for a group of --by that is large enough."
    )
    group.add_argument(
        "--fail-above",
        metavar="X",
        help="if the debiased VCE is above X; vce=.05,ece=.03,rce=.05,net=.02 sets limits by metric (the size of the "
        "net gap, whatever its sign)",
    )
    group.add_argument(
        "--surely",
        action="store_true",
        help="for --fail-above: only if the lower end of the interval is above X",
    )
    group.add_argument(
        "--fail-below-p",
        type=float,
        metavar="P",
        help="if the p-value of the verdict, which is that of all the evidence together, is below P; of groups, the "
        "adjusted one",
    )


def limits_of(option: str, text: str | None, bare: tuple[str, ...]) -> dict[str, float] | None:
    """The limits that an option names: a number for the metrics `bare`, or metric=number, separated by commas."""
    from trueness.assessment import as_limits
    from trueness.files import InputError

    if text is None:
        return None
    example = f"such as {option} 0.05, or {option} vce=.05,ece=.03"
    parts = [part.rpartition("=") for part in text.split(",")]
    numbers = [_number(value) for _, _, value in parts]
    names = [key.strip().lower() for key, _, _ in parts]
    is_bare = len(parts) == 1 and "=" not in text
    if None in numbers or len(set(names)) < len(names) or ("" in names and not is_bare):
        raise InputError(f"{option} {text} is not a number, nor numbers of different metrics", example)
    limits = numbers[0] if is_bare else dict(zip(names, numbers, strict=True))
    try:
        return as_limits(option, limits, bare)
    except ValueError as error:
        raise InputError(str(error), example) from error


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def tolerance_of(arguments: argparse.Namespace) -> dict[str, float] | None:
    """The tolerance that was asked for."""
    from trueness.assessment.reported import bounding

    return limits_of("--tolerance", arguments.tolerance, tuple(metric.key for metric in bounding()))


def resamples_of(arguments: argparse.Namespace) -> int:
    """As many draws as were asked for; where a gate or a correction needs more, `assess_table` draws more."""
    _refuse_odd(arguments)
    return int(arguments.resamples or DEFAULT_RESAMPLES)


def resolution_of(arguments: argparse.Namespace) -> float | None:
    """The smallest p-value that must be attainable: a gate that no data could fail would not be a gate."""
    limit: float | None = getattr(arguments, "fail_below_p", None)
    return None if limit is None else 0.9 * min(limit, 1 - arguments.level)


def _refuse_odd(arguments: argparse.Namespace) -> None:
    """Before files are read, which may take hours."""
    from trueness.assessment import Settings
    from trueness.files import InputError

    level, limit = getattr(arguments, "level", 0.95), getattr(arguments, "fail_below_p", None)
    if not 0.5 <= level < 1:
        raise InputError(f"--level must be from 0.5 to below 1, got {level:g}", "such as 0.95")
    if arguments.resamples is not None and arguments.resamples < 1:
        raise InputError(
            f"--resamples must be a whole number from 1 up, got {arguments.resamples}",
            f"leave it out for {DEFAULT_RESAMPLES}",
        )
    if limit is not None and not LEAST_LIMIT <= limit < 1:
        raise InputError(
            f"--fail-below-p must be from {LEAST_LIMIT:g} to below 1, got {limit:g}", "such as 0.01"
        )
    if getattr(arguments, "surely", False) and arguments.fail_above is None:
        raise InputError(
            "--surely is about --fail-above, which is missing", "add --fail-above, or leave it out"
        )
    try:
        Settings.of(level, int(arguments.resamples or DEFAULT_RESAMPLES), 0)
    except ValueError as error:
        raise InputError(str(error), "such as --level 0.95 --resamples 999") from error
    limits_of("--fail-above", getattr(arguments, "fail_above", None), ("vce",))
    limits_of("--tolerance", getattr(arguments, "tolerance", None), ("vce",))


def failures_of(result: Assessment, arguments: argparse.Namespace) -> list[str]:
    """What fails the gate, in words; refused before anything is written if a limit is about a missing metric."""
    parts = [("all rows", result, result.p_value)]
    parts += [
        (f"group {group.name!r}", group.assessment, group.adjusted_p_value)
        for group in result.groups
        if group.assessment is not None
    ]
    failures = [failure for part in parts for failure in _failures(*part, arguments)]
    below = arguments.fail_below_p
    if below is not None and any(caution.code == "few-resamples" for caution in result.warnings):
        failures.append(
            f"no draw reached a test, and more draws are needed to tell whether p is below {below:g}"
        )
    return failures


def exit_code(failures: list[str]) -> int:
    """0 if the gate passes, else 1; what failed is printed to stderr."""
    for failure in failures:
        print(f"gate failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _failures(name: str, result: Assessment, p_value: float, arguments: argparse.Namespace) -> list[str]:
    found = []
    limits, below = limits_of("--fail-above", arguments.fail_above, ("vce",)), arguments.fail_below_p
    for key, limit in (limits or {}).items():
        said, value = _size_of(result, key, arguments.surely)
        # Written so that NaN fails.
        if not value <= limit:
            found.append(f"{name}: {said} {value:.6g} is above {limit:g}")
    if below is not None and not p_value >= below:
        found.append(f"{name}: p = {p_value:.6g} is below {below:g}")
    return found


def _size_of(result: Assessment, key: str, surely: bool) -> tuple[str, float]:
    """What a limit is compared with: the debiased value, or the lower end of its interval."""
    from trueness.assessment import REPORTED
    from trueness.files import InputError

    metric = REPORTED[key]
    estimate = metric.of(result)
    if estimate is None:
        raise InputError(
            f"--fail-above {key}: these tables have no {metric.label}",
            "make them with trueness tabulate, which adds a table by confidence",
        )
    low, value, _ = metric.magnitude(estimate)
    return (f"lower end of {metric.label}", low) if surely else (f"debiased {metric.label}", value)
