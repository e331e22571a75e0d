"""The command ``trueness``: it parses arguments and hands over; the work is done by the modules below.

Each command is a module of its own, imported when that command is called, so that none waits for what another needs:
``trueness --help`` does not even load NumPy.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn, TextIO

from trueness._version import __version__
from trueness.cli._errors import failed, line

COMMANDS = {
    "demo": "assess three real classifiers that are shipped with the package",
    "assess": "how far can a model's stated uncertainty be trusted? The whole answer",
    "compare": "which of several models is better calibrated, on the same rows",
    "bins": "how the numbers depend on the number of bins",
    "tabulate": "sum files of predictions into a table, from which every number is read",
    "merge": "add tables: shards, days, machines",
    "simulate": "write predictions that are calibrated by design, or wrong by a known amount",
    "reproduce": "the paper's experiments: numbers, figures, and a verdict on each",
    "completion": "print what makes a shell complete this command",
}
"""Name and help of each command; its module has `add_arguments(parser)` and `run(arguments)`, the exit code."""

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code.

    0 fine, 1 a gate or check failed, 2 bad input or arguments, 70 an error of the program itself, 130 after Ctrl-C. No
    other error ends with 1, which a pipeline takes for a gate that failed.

    Parameters
    ----------
    argv
        The arguments after the command's name; those of the process if None.
    """
    given = sys.argv[1:] if argv is None else list(argv)
    name = next((argument for argument in given if argument in COMMANDS), None)
    try:
        code = _run(given, name)
        sys.stdout.flush()  # a reader that went away shows here, and not at the interpreter's end
        return code
    except KeyboardInterrupt as stop:
        return _stopped(stop)
    except BrokenPipeError:
        _drop(sys.stdout)
        return 0
    except Exception as error:
        return failed(error, f"trueness {name or ''}".strip(), debug="--debug" in given)


def _run(given: list[str], name: str | None) -> int:
    parser = make_parser({} if name is None else {name: command(name)})
    arguments, unknown = parser.parse_known_args(given)
    if unknown:
        parser.exit(2, _unknown(unknown[0], arguments.command))
    code: int = command(arguments.command).run(arguments)
    return code


def process() -> NoReturn:
    """The whole life of the command's process.

    pyarrow's own threads may still be about to ask a file of Python's for more when all is done; the interpreter's end
    would then abort the process (exit code 134). So it ends without: files are closed by then, and streams flushed.
    """
    # A stream that was closed before the process began is None.
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115  open until the process ends
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    code = main()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # main has said so; the interpreter would try again at its end, and end with 120
            _drop(stream)
    if "pyarrow" in sys.modules:
        os._exit(code)
    sys.exit(code)


def _drop(stream: TextIO) -> None:
    """What a stream still holds goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def command(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(f"{__name__}.{name}")


class _Parser(argparse.ArgumentParser):
    """Wrong arguments are refused as everything else is: a line of cause, a line of remedy."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {line(message)}\n  {self.prog} --help lists what there is\n")


def _unknown(argument: str, name: str) -> str:
    """An argument that a command does not have, and the one that was probably meant."""
    from difflib import get_close_matches

    known = _Parser(add_help=True)
    known.add_argument("--debug")
    command(name).add_arguments(known)
    option = argument.partition("=")[0]
    near = get_close_matches(option, list(known._option_string_actions), n=1, cutoff=0.7)
    remedy = f"did you mean {near[0]}? " if near else ""
    cause = f"trueness {name}: there is no {'option' if argument.startswith('-') else 'argument'} {line(argument)}"
    return f"{cause}\n  {remedy}trueness {name} --help lists what there is\n"


def make_parser(modules: dict[str, ModuleType]) -> argparse.ArgumentParser:
    """The parser, with the options of those commands that are given."""
    parser = _Parser(
        prog="trueness",
        description="How true is a classifier's stated uncertainty?",
        epilog="trueness COMMAND --help explains a command, with examples. `trueness demo` needs nothing.",
    )
    parser.add_argument("--version", action="version", version=f"trueness {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, text in COMMANDS.items():
        module = modules.get(name)
        below = commands.add_parser(
            name,
            help=text,
            description=module.__doc__ if module else None,
            epilog=getattr(module, "EXAMPLES", None),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,  # an option added later must not change what a script means
        )
        below.add_argument("--debug", action="store_true", help="show the traceback of an error")
        if module is not None:
            module.add_arguments(below)
    return parser


def _stopped(stop: KeyboardInterrupt) -> int:
    """After Ctrl-C: what is left, and what to do next."""
    next_step = stop.args[0] if stop.args else "nothing was written; run the same command to begin again"
    print(f"\nstopped: {next_step}", file=sys.stderr)
    return INTERRUPTED
