"""A gate for pipelines: whether an assessment passes, and how many draws that question needs."""

from __future__ import annotations

import argparse
import math
import sys
from typing import TYPE_CHECKING

from trueness.cli import _inputs

if TYPE_CHECKING:
    from trueness.assessment import Assessment

DEFAULT_RESAMPLES = 999
MOST_RESAMPLES = 100_000


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


def add_gate(parser: argparse.ArgumentParser) -> None:
    """What makes the command fail."""
    group = parser.add_argument_group(
        "gate", "Exit code 1 if it fails: for all rows together, or for a group of --by that is large enough."
    )
    group.add_argument("--fail-above", type=float, metavar="X", help="if the debiased VCE is above X")
    group.add_argument(
        "--fail-below-p",
        type=float,
        metavar="P",
        help="if the p-value of the verdict is below P; of groups, the adjusted one",
    )


def resamples_of(arguments: argparse.Namespace, n_groups: int) -> int:
    """As many draws as were asked for, or as the gate needs.

    A p-value from R draws is at least 1/(R + 1) (statistics: counted with the observed one), twice that after the
    correction for two tests, and that times the number of groups after theirs. A gate that no data could fail is none.
    """
    from trueness.files import InputError

    _refuse_odd(arguments)
    limit = getattr(arguments, "fail_below_p", None)
    if limit is None:
        return int(arguments.resamples or DEFAULT_RESAMPLES)
    if not 0 < limit < 1:
        raise InputError(f"--fail-below-p must be between 0 and 1, got {limit}", "such as 0.01")
    needed = math.ceil(2 * max(1, n_groups) / limit)
    if arguments.resamples is not None and arguments.resamples < needed:
        raise InputError(
            f"with {arguments.resamples} draws no p-value can be below {limit}",
            f"pass --resamples {needed} or more",
        )
    if needed > MOST_RESAMPLES and arguments.resamples is None:
        raise InputError(
            f"a gate at {limit} needs {needed} draws",
            f"raise the limit, group less, or pass --resamples {needed}",
        )
    return int(arguments.resamples or max(DEFAULT_RESAMPLES, needed))


def _refuse_odd(arguments: argparse.Namespace) -> None:
    """Before files are read, which may take hours."""
    from trueness.files import InputError

    level, above = getattr(arguments, "level", 0.95), getattr(arguments, "fail_above", None)
    if not 0.5 <= level < 1:
        raise InputError(f"--level must be from 0.5 to below 1, got {level:g}", "such as 0.95")
    if arguments.resamples is not None and arguments.resamples < 1:
        raise InputError(
            f"--resamples must be a whole number from 1 up, got {arguments.resamples}",
            f"leave it out for {DEFAULT_RESAMPLES}",
        )
    if above is not None and math.isnan(above):
        raise InputError("--fail-above must be a number, got nan", "such as 0.05")


def gate(result: Assessment, arguments: argparse.Namespace) -> int:
    """The exit code; what failed is said on stderr."""
    parts = [("all rows", result, result.p_value)]
    parts += [
        (f"group {group.name!r}", group.assessment, group.adjusted_p_value)
        for group in result.groups
        if group.assessment is not None
    ]
    failures = [failure for part in parts for failure in _failures(*part, arguments)]
    for failure in failures:
        print(f"gate failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def _failures(name: str, result: Assessment, p_value: float, arguments: argparse.Namespace) -> list[str]:
    found = []
    above, below = arguments.fail_above, arguments.fail_below_p
    # Written so that NaN fails.
    if above is not None and not result.vce.debiased <= above:
        found.append(f"{name}: debiased VCE {result.vce.debiased:.6g} is above {above:g}")
    if below is not None and not p_value >= below:
        found.append(f"{name}: p = {p_value:.6g} is below {below:g}")
    return found
