"""Errors as the command prints them, and their exit codes: refused input, or a fault of the program."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from trueness._printing import visible
from trueness.cli.vocabulary import COMMAND
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
    cause, remedy = refusal.render(COMMAND)
    return f"{program}: {one_line(cause)}\n  {one_line(remedy or f'see {program} --help')}"


def _as_json(refusal: Refusal, *, refused: bool) -> str:
    import json

    content = refusal.to_dict(COMMAND)
    return json.dumps(content if refused else {**content, "kind": "fault"})


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
        "{file}{reason}",
        "check the name, the permissions and the free disk space",
        argument=error.filename,
        file=f"{error.filename}: " if error.filename else "",
        reason=error.strerror or str(error) or type(error).__name__,
    )


def _internal_error(error: Exception, program: str, *, debug: bool) -> Refusal:
    """An internal error with its location, and what to put into a report."""
    import traceback

    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if f"{os.sep}{_PACKAGE}{os.sep}" in frame.filename] or frames
    return Refusal(
        "unexpected-error",
        "unexpected error{where}: {what}",
        "this is a bug in trueness or a broken installation, not a problem of your data: please report it, with "
        "{details}",
        where=f" ({os.path.basename(own[-1].filename)}, line {own[-1].lineno})" if own else "",
        what=f"{type(error).__name__}: {error}".removesuffix(": "),
        details="the lines above"
        if debug
        else f"the output of the same command with --debug ({program} … --debug)",
    )


def refuse_argument(argument: str, value: Any, cause: str, remedy: str, **facts: Any) -> InvalidValueError:
    """A refusal of an option's value."""
    return InvalidValueError("bad-argument", cause, remedy, argument=argument, value=value, **facts)


def whole_number(argument: str, value: int, least: int) -> int:
    """The value of an option; refused if it is too small."""
    if value < least:
        raise refuse_argument(
            argument,
            value,
            "{argument} must be an integer of at least {least}, got {value}",
            "pass {least} or more",
            least=least,
        )
    return value


def parse_numbers(argument: str, text: str, remedy: str) -> list[float]:
    """The numbers of an option, which are separated by commas."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise refuse_argument(
            argument, text, "{argument} must be numbers separated by commas, got {value!r}", remedy
        ) from error


@contextmanager
def name_option(argument: str, value: Any, remedy: str) -> Iterator[None]:
    """Name the option in refusals of the library; `remedy` is used if a refusal has none."""
    try:
        yield
    except Refusal as refusal:
        reason, own_remedy = refusal.render(COMMAND)
        raise InvalidValueError(
            refusal.code,
            "{argument} {value}: {reason}",
            "{advice}",
            argument=argument,
            value=value,
            reason=reason,
            advice=own_remedy or remedy,
        ) from refusal


def one_line(text: str) -> str:
    """The text on one line with visible control characters: a file must not write to the terminal."""
    return visible(" ".join(text.split()))
