"""A gate for pipelines: whether an assessment passes the limits of the command line."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from trueness.cli._inference import fail_above_of
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment


def add_gate_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that make the command fail."""
    group = parser.add_argument_group(
        "gate", "Exit code 1 if the gate fails for all rows, or for a sufficiently large group of --groups."
    )
    group.add_argument(
        "--fail-above",
        metavar="X",
        help="fail if the debiased VCE is above X; vce=.05,ece=.03,rce=.05,net=.02,cwece=.02,gap=.05 sets limits by "
        "metric (for gaps, on the absolute value; with --event: gap and ece, which is also meant by a number alone)",
    )
    group.add_argument(
        "--lower-end",
        action="store_true",
        help="with --fail-above: compare the lower end of the interval instead of the debiased value",
    )
    group.add_argument(
        "--fail-below-p",
        type=float,
        metavar="P",
        help="fail if the p-value of the verdict, which combines all tests, is below P (for groups: the "
        "adjusted p-value)",
    )


def failures_of(result: Assessment, arguments: argparse.Namespace) -> list[str]:
    """The reasons why the gate fails; empty if it passes. A limit on a missing metric is refused."""
    parts = [("all rows", result, result.p_value)]
    parts += [
        (f"group {group.name!r}", group.assessment, group.adjusted_p_value)
        for group in result.groups
        if group.assessment is not None
    ]
    failures = [failure for part in parts for failure in _failures(*part, arguments)]
    below = arguments.fail_below_p
    if below is not None and any(warning.code == "few-resamples" for warning in result.warnings):
        failures.append(
            f"no resample is as extreme as the data, and more are needed to decide whether p is below {below:g}"
        )
    return failures


def exit_code(failures: list[str]) -> int:
    """0 if the gate passes, else 1; failures are printed to standard error."""
    for failure in failures:
        print(f"gate failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _failures(name: str, result: Assessment, p_value: float, arguments: argparse.Namespace) -> list[str]:
    failures, below = [], arguments.fail_below_p
    for key, limit in fail_above_of(arguments).items():
        label, value = _compared_value(result, key, lower_end=arguments.lower_end)
        if not value <= limit:  # so that NaN fails
            failures.append(f"{name}: {label} {value:.6g} is above {limit:g}")
    if below is not None and not p_value >= below:
        failures.append(f"{name}: p = {p_value:.6g} is below {below:g}")
    return failures


def _compared_value(result: Assessment, key: str, *, lower_end: bool) -> tuple[str, float]:
    """The label and the number that a limit is compared with: the debiased value, or the lower end of its interval."""
    from trueness.old_assessment import REPORTED

    metric = REPORTED[key]
    estimate = metric.of(result)
    if estimate is None:
        cause = f"--fail-above {key}: these tables have no {metric.label}"
        remedy = "make them with trueness tabulate, which adds tables by confidence and by class"
        raise InvalidValueError("missing-metric", cause, remedy, argument="--fail-above")
    low, value, _ = metric.magnitude(estimate)
    return (f"lower end of {metric.label}", low) if lower_end else (f"debiased {metric.label}", value)
