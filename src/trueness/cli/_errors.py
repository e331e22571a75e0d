"""Errors as the command prints them, and their exit codes: refused input, or a fault of the program."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from trueness._printing import visible
from trueness.refusals import InvalidValueError, Refusal

BAD_INPUT = 2
UNEXPECTED = 70
"""EX_SOFTWARE of sysexits.h: an internal error. Not Python's 1, which is the code of a failed gate."""

_PACKAGE = __name__.partition(".")[0]


def report_error(error: Exception, program: str, *, debug: bool, as_json: bool) -> int:
    """Print the cause and the remedy, on a line each or as one line of JSON, and return the exit code."""
    refusal = _refusal_of(error)
    printed = refusal or _internal_error(error, program, debug=debug)
    with suppress(OSError):  # if nothing can be printed, the exit code remains
        if debug:
            import traceback

            traceback.print_exception(error)
        print(
            _as_json(printed, refused=refusal is not None) if as_json else _as_text(printed, program),
            file=sys.stderr,
        )
    return UNEXPECTED if refusal is None else BAD_INPUT


def _as_text(refusal: Refusal, program: str) -> str:
    cause, remedy = map(as_options, (refusal.cause, refusal.remedy))
    return f"{program}: {one_line(cause)}\n  {one_line(remedy or f'see {program} --help')}"


def _as_json(refusal: Refusal, *, refused: bool) -> str:
    import json

    facts = refusal.to_dict()
    del facts["type"]
    if isinstance(facts["value"], float) and not math.isfinite(facts["value"]):
        facts["value"] = str(facts["value"])
    texts = {"cause": as_options(refusal.cause), "remedy": as_options(refusal.remedy)}
    return json.dumps({"kind": "refusal" if refused else "fault", **facts, **texts})


OF_COMMAND: Mapping[str, str] = {
    "divide `y_prob` by 100": "pass --percent",
    "`y_true`": "the label",
    "`y_prob`": "the prediction",
    "`sample_weight` is": "the weight is",
    "`labels`": "--label-file",
    "`EqualWidth(4000)`": "--grid",
    "`bins=EqualMass(10)`": "--equal-mass",
    "`classes=['cat', 'dog']`": "--classes cat,dog",
    "`compare_groups('rest')`": "--compare-groups",
    "`reading='stated'`": "--stated-confidence",
    "`reading='letters'`": "--letters",
    "`reading='votes'`": "--votes",
    "remove such rows first": "skip such rows with --on-bad-rows skip",
    "call assess, compare or tabulate with": "pass",
    "check the conditions and": "check --where, --on-bad-rows and",
    "name the folder of labels, such as": "name the folder of labels with --label-dir, such as",
    "write a header, or use the command with --no-header": (
        "pass --no-header, which names the columns 1, 2, 3, …: --no-header --label 11 --probs 1-10"
    ),
    "the ending must be that of one of": "pass --format with one of",
    "rename it if its ending is wrong": "pass --format if its ending is wrong",
    "write it with commas": "pass --delimiter, such as --delimiter ';' or --delimiter tab",
    "write decimals with a point": "pass --decimal . or --decimal ,",
    "create the file again in UTF-8": (
        "pass its encoding, such as --encoding latin-1, or create the file again in UTF-8"
    ),
    "save it with one sheet": "pass its name: --sheet NAME",
    "join them by a key": "name the column by which they are joined: --key COLUMN",
    "save both as NPZ": "name a file with them: --label-file labels.npy",
    "read them with pandas or csv and call assess_event(correct, confidence)": (
        "pass --stated-confidence and --correct"
    ),
}
"""What the command says in place of Python's words, where its option is not named like the argument."""


def as_options(text: str) -> str:
    """The text of a refusal with options of the command in place of the arguments in backticks.

    >>> as_options("pass `from_logits=True`, `engine='portable'` or `by_class=False`; `y_prob` is nan")
    'pass --from-logits, --engine portable or --no-by-class; the prediction is nan'
    """
    for python, command in OF_COMMAND.items():
        text = text.replace(python, command)
    return re.sub(r"`([a-z_]+)(?:=(True|False|[^`]*))?`", _option, text)


def _option(argument: re.Match[str]) -> str:
    name, value = argument[1].replace("_", "-"), argument[2]
    if value in (None, "", "True"):
        return f"--{name}"
    return f"--no-{name}" if value == "False" else f"--{name} " + re.sub(r"^'(\w+)'$", r"\1", value)


def _refusal_of(error: Exception) -> Refusal | None:
    """The error as a refusal; None if it is an internal error."""
    if isinstance(error, Refusal):
        return error
    if isinstance(error, OSError):
        return _system_refusal(error)
    if isinstance(error, MemoryError):
        return InvalidValueError(
            "out-of-memory", "out of memory", "use fewer bins or groups; --debug shows where it was needed"
        )
    return None


def _system_refusal(error: OSError) -> Refusal:
    return InvalidValueError(
        "system-error",
        (f"{error.filename}: " if error.filename else "")
        + (error.strerror or str(error) or type(error).__name__),
        "check the name, the permissions and the free disk space",
        argument=error.filename,
    )


def _internal_error(error: Exception, program: str, *, debug: bool) -> Refusal:
    """An internal error with its location, and what to put into a report."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}{_PACKAGE}{os.sep}" in frame.filename] or frames
    where = f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})" if own else ""
    what = f"{type(error).__name__}: {error}".removesuffix(": ")
    with_debug = f"the output of the same command with --debug ({program} … --debug)"
    remedy = (
        "this is a bug in trueness or a broken installation, not a problem of your data: please report it, "
        f"with {'the lines above' if debug else with_debug}"
    )
    return Refusal("unexpected-error", f"unexpected error{where}: {what}", remedy)


def refuse_argument(argument: str, value: Any, cause: str, remedy: str) -> InvalidValueError:
    """A refusal of an option's value."""
    return InvalidValueError("bad-argument", cause, remedy, argument=argument, value=value)


def whole_number(argument: str, value: int, least: int) -> int:
    """The value of an option; refused if it is too small."""
    if value < least:
        cause = f"{argument} must be an integer of at least {least}, got {value}"
        raise refuse_argument(argument, value, cause, f"pass {least} or more")
    return value


def parse_numbers(argument: str, text: str, remedy: str) -> list[float]:
    """The numbers of an option, which are separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        cause = f"{argument} must be numbers separated by commas, got {text!r}"
        raise refuse_argument(argument, text, cause, remedy) from error


@contextmanager
def name_option(argument: str, value: Any, remedy: str) -> Iterator[None]:
    """Name the option in refusals of the library; `remedy` is used if a refusal has none."""
    try:
        yield
    except Refusal as refusal:
        cause, remedy = f"{argument} {value}: {refusal.cause}", refusal.remedy or remedy
        raise InvalidValueError(refusal.code, cause, remedy, argument=argument, value=value) from refusal


def one_line(text: str) -> str:
    """The text on one line with visible control characters: a file must not write to the terminal."""
    return visible(" ".join(text.split()))
