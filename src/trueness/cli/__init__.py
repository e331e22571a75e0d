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
from typing import NoReturn

from trueness._printing import visible
from trueness._version import __version__

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
    """Run the command and return its exit code: 0 fine, 1 a gate or check failed, 2 bad input or arguments.

    Parameters
    ----------
    argv
        The arguments after the command's name; those of the process if None.
    """
    given = sys.argv[1:] if argv is None else list(argv)
    name = next((argument for argument in given if argument in COMMANDS), None)
    module = None if name is None else command(name)
    parser = make_parser({} if name is None or module is None else {name: module})
    arguments, unknown = parser.parse_known_args(given)
    if unknown:
        parser.exit(2, _unknown(unknown[0], arguments.command))
    try:
        code: int = import_module(f"{__name__}.{arguments.command}").run(arguments)
        sys.stdout.flush()  # a reader that went away shows here, and not at the interpreter's end
        return code
    except KeyboardInterrupt as stop:
        return _stopped(stop)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError, MemoryError) as error:
        if arguments.debug:
            raise
        return _refuse(error, arguments.command)


def process() -> NoReturn:
    """The whole life of the command's process.

    pyarrow's own threads may still be about to ask a file of Python's for more when all is done; the interpreter's end
    would then abort the process (exit code 134). So it ends without: files are closed by then, and streams flushed.
    """
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    if "pyarrow" in sys.modules:
        os._exit(code)
    sys.exit(code)


def command(name: str) -> ModuleType:
    """The module of a command."""
    return import_module(f"{__name__}.{name}")


class _Parser(argparse.ArgumentParser):
    """Wrong arguments are refused as everything else is: a line of cause, a line of remedy."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {_line(message)}\n  {self.prog} --help lists what there is\n")


def _unknown(argument: str, name: str) -> str:
    """An argument that a command does not have, and the one that was probably meant."""
    from difflib import get_close_matches

    known = _Parser(add_help=True)
    known.add_argument("--debug")
    command(name).add_arguments(known)
    option = argument.partition("=")[0]
    near = get_close_matches(option, list(known._option_string_actions), n=1, cutoff=0.7)
    remedy = f"did you mean {near[0]}? " if near else ""
    cause = f"trueness {name}: there is no {'option' if argument.startswith('-') else 'argument'} {_line(argument)}"
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


def _refuse(error: Exception, name: str) -> int:
    """Say what is wrong and what to do, in a line each."""
    cause, remedy = getattr(error, "cause", None), getattr(error, "remedy", None)
    if cause is None or remedy is None:
        cause, remedy = _in_two(error, name)
    print(f"trueness {name}: {_line(cause)}\n  {_line(remedy)}", file=sys.stderr)
    return 2


def _in_two(error: Exception, name: str) -> tuple[str, str]:
    help = f"trueness {name} --help lists the options"
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        return f"{place}{error.strerror}", "check the name, the permissions and the space on the disk"
    if isinstance(error, MemoryError):
        return "there is not enough memory", "take fewer bins or groups; --debug shows where it was needed"
    cause, _, remedy = str(error).partition("; ")
    return cause or type(error).__name__, remedy or help


def _line(text: str) -> str:
    """One line, in which what a file brought cannot speak to the terminal."""
    return visible(" ".join(text.split()))


def _stopped(stop: KeyboardInterrupt) -> int:
    """After Ctrl-C: what is left, and what to do next."""
    next_step = stop.args[0] if stop.args else "nothing was written; run the same command to begin again"
    print(f"\nstopped: {next_step}", file=sys.stderr)
    return INTERRUPTED
