"""What the command says of an error, and the exit code: bad input, or a fault of the program itself."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from trueness._printing import visible
from trueness.cli.vocabulary import COMMAND
from trueness.refusals import Refusal

BAD_INPUT = 2
UNEXPECTED = 70
"""EX_SOFTWARE of sysexits.h: an internal error. Not Python's 1, which is the code of a gate that failed."""

_SYSTEM = (OSError, MemoryError)
_PACKAGE = __name__.partition(".")[0]


def failed(error: Exception, program: str, *, debug: bool) -> int:
    """Say what went wrong and what to do, in a line each, and return the exit code."""
    import traceback

    expected = isinstance(error, _SYSTEM) or is_refusal(error)
    cause, remedy = _in_two(error, program) if expected else _unexpected(error, program, debug=debug)
    with suppress(OSError):  # where nothing can be printed, the exit code still says it
        if debug:
            traceback.print_exception(error)
        print(f"{program}: {line(cause)}\n  {line(remedy)}", file=sys.stderr)
    return BAD_INPUT if expected else UNEXPECTED


def is_refusal(error: Exception) -> bool:
    """Whether this package raised the error itself, to refuse what it was given.

    A ValueError or a missing library that other code ran into, or an operation of this package's own code, is a fault:
    the input should have been refused before.
    """
    import dis

    if isinstance(error, Refusal):
        return True
    if not isinstance(error, (ValueError, ImportError)):
        return False
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or last.tb_frame.f_globals.get("__name__", "").partition(".")[0] != _PACKAGE:
        return False
    # A statement `raise`, and not a call or an operation that failed.
    return dis.opname[last.tb_frame.f_code.co_code[last.tb_lasti]] == "RAISE_VARARGS"


def _in_two(error: Exception, program: str) -> tuple[str, str]:
    """Cause and remedy of an error that the user can do something about."""
    if isinstance(error, Refusal):
        cause, remedy = error.rendered(COMMAND)
        return cause, remedy or f"{program} --help lists the options"
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}", "check the name, the permissions and the space on the disk"
    if isinstance(error, MemoryError):
        return "there is not enough memory", "take fewer bins or groups; --debug shows where it was needed"
    cause, _, remedy = str(error).partition("; ")
    return cause or type(error).__name__, remedy or f"{program} --help lists the options"


def _unexpected(error: Exception, program: str, *, debug: bool) -> tuple[str, str]:
    """What happened where, and what to put into a report."""
    import traceback

    places = traceback.extract_tb(error.__traceback__)
    ours = [place for place in places if f"{os.sep}{_PACKAGE}{os.sep}" in place.filename] or places
    where = f" ({os.path.basename(ours[-1].filename)}, line {ours[-1].lineno})" if ours else ""
    told = f"{type(error).__name__}: {error}".removesuffix(": ")
    shown = "the lines above" if debug else f"what the same command prints with --debug ({program} … --debug)"
    return (
        f"unexpected error{where}: {told}",
        f"this is a fault of trueness or of its installation, not of your data: please report it, with {shown}",
    )


def line(text: str) -> str:
    """The text on one line, with control characters made visible: a file must not write to the terminal."""
    return visible(" ".join(text.split()))
