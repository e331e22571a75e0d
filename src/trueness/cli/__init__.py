"""The command ``trueness``: it parses arguments and calls the library.

Each command is a module of its own and is imported when it is called, so that no command waits for the imports of
another: ``trueness --help`` does not import NumPy.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import NoReturn, TextIO

from trueness.cli._parser import COMMANDS, command_in, load_command, parse

__all__ = ["COMMANDS", "main", "process"]

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0 success, 1 a gate or check failed, 2 bad input or arguments, 70 an internal error, 130 after Ctrl-C. No other
    error ends with 1, so that a pipeline can rely on it as the code of a failed gate.

    Parameters
    ----------
    argv
        The arguments after the command's name; those of the process if None.
    """
    given = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _run(given)
        sys.stdout.flush()  # raises here, and not at the interpreter's exit, if the reader has closed the pipe
        return code
    except KeyboardInterrupt as interrupt:
        return _report_interrupt(interrupt)
    except BrokenPipeError:
        _discard(sys.stdout)
        return 0
    except Exception as error:
        return _report(error, given)


def _run(given: Sequence[str]) -> int:
    try:
        arguments = parse(given)
    except Exception as error:
        sys.exit(_report(error, given))
    code: int = load_command(arguments.command).run(arguments)
    return code


def _report(error: Exception, given: Sequence[str]) -> int:
    from trueness.cli._errors import report_error

    program = f"trueness {command_in(given) or ''}".strip()
    return report_error(error, program, debug="--debug" in given, as_json="--json-errors" in given)


def process() -> NoReturn:
    """Run the command as a process of its own.

    A thread of pyarrow may still be about to read from a Python file when the work is done, and the interpreter's exit
    would then abort the process (exit code 134). Therefore the process ends without it, after flushing its streams.
    """
    # A stream that was closed before the process began is None.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  open until the process ends
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # main has reported it; the interpreter would try again and exit with 120
            _discard(stream)
    if "pyarrow" in sys.modules:
        os._exit(code)
    sys.exit(code)


def _discard(stream: TextIO) -> None:
    """Discard the buffered output of a stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _report_interrupt(interrupt: KeyboardInterrupt) -> int:
    """Print what was saved and how to continue."""
    next_step = interrupt.args[0] if interrupt.args else "nothing was written; run the same command again"
    print(f"\nstopped: {next_step}", file=sys.stderr)
    return INTERRUPTED
