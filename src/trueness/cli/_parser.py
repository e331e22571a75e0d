"""The argument parser: commands, the options common to all of them, and refusals of wrong arguments."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from trueness._version import __version__

COMMANDS = {
    "demo": "assess three real classifiers shipped with the package",
    "assess": "assess the calibration of a model",
    "compare": "compare the calibration of several models on the same rows",
    "tabulate": "sum predictions into a table, from which every metric is computed",
    "merge": "add tables of shards, days or machines",
    "monitor": "watch a model from the tables of its days, with alarms that hold however often one looks",
    "simulate": "simulate predictions that are calibrated, or miscalibrated by a known amount",
    "reproduce": "run the experiments of the paper and compare them with theory",
    "completion": "print a shell completion script",
}
"""Name and help of each command. Its module has `add_arguments(parser)` and `run(arguments)`, the exit code."""

GLOBAL_OPTIONS = {
    "--debug": "show the traceback of an error",
    "--json-errors": "print errors as one line of JSON",
}
"""Accepted before and after the command."""


def load_command(name: str) -> ModuleType:
    """Import the module of a command."""
    return import_module(f"{__package__}.{name}")


def parse(given: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments after the name of the program."""
    name = command_in(given)
    parser = make_parser([] if name is None else [name])
    arguments, unknown = parser.parse_known_args(given)
    if unknown:
        _refuse_unknown(unknown[0], arguments.command)
    return arguments


def command_in(given: Sequence[str]) -> str | None:
    """The name of the command among the arguments; None if there is none."""
    return next((argument for argument in given if argument in COMMANDS), None)


class _Parser(argparse.ArgumentParser):
    """A parser that raises refusals, which are printed like all others."""

    def error(self, message: str) -> NoReturn:
        from trueness.refusals import InvalidValueError

        raise InvalidValueError("bad-command-line", message, f"see {self.prog} --help")


def make_parser(names: Iterable[str] = tuple(COMMANDS)) -> argparse.ArgumentParser:
    """The parser for the whole command, with the options of the named subcommands only.

    The modules of the others are not imported, so that no command waits for the imports of another.
    """
    parser = _Parser(
        prog="trueness",
        description="Measure the calibration of a classifier's predicted uncertainty.",
        epilog="`trueness COMMAND --help` describes a command, with examples. `trueness demo` needs no files.",
    )
    parser.add_argument("--version", action="version", version=f"trueness {__version__}")
    _add_global_options(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for name, help in COMMANDS.items():
        module = load_command(name) if name in names else None
        command = commands.add_parser(
            name,
            help=help,
            description=module.__doc__ if module else None,
            epilog=getattr(module, "EXAMPLES", None),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,  # an option added later must not change the meaning of a script
        )
        _add_global_options(command)
        if module is not None:
            module.add_arguments(command)
    return parser


def _add_global_options(parser: argparse.ArgumentParser) -> None:
    for name, help in GLOBAL_OPTIONS.items():
        parser.add_argument(name, action="store_true", help=help)


def _options_of(name: str) -> list[str]:
    """The options of a command."""
    parser = argparse.ArgumentParser()
    _add_global_options(parser)
    load_command(name).add_arguments(parser)
    return list(parser._option_string_actions)


def _refuse_unknown(argument: str, command: str) -> NoReturn:
    """Refuse an argument that a command does not have, and suggest a similar option."""
    from difflib import get_close_matches

    from trueness.refusals import InvalidValueError

    option = argument.partition("=")[0]
    near = get_close_matches(option, _options_of(command), n=1, cutoff=0.7)
    kind = "option" if argument.startswith("-") else "argument"
    suggestion = f"did you mean {near[0]}? " if near else ""
    raise InvalidValueError(
        "unknown-option" if argument.startswith("-") else "bad-command-line",
        f"unknown {kind} {argument}",
        f"{suggestion}see trueness {command} --help",
        argument=option,
        value=argument,
    )
