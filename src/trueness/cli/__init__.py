"""The command ``trueness``: it parses arguments and hands over; the work is done by the modules below.

Whatever is asked, the package is imported and NumPy with it. A command is a module of this package with two functions,
``add_arguments(parser)`` and ``run(arguments) -> exit code``; it is imported when it is called, so that the others do
not wait for it.
"""

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from trueness._version import __version__

COMMANDS = {
    "demo": "assess three real classifiers that are shipped with the package",
    "reproduce": "the paper's experiments: numbers, figures, and a verdict on each",
}
"""Each command with its line of help."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 if all is well, 1 if a check failed, 2 if the input was wrong.

    Parameters
    ----------
    argv
        The arguments after the command's name; those of the process if None.
    """
    given = sys.argv[1:] if argv is None else list(argv)
    arguments = _parser(given).parse_args(given)
    code: int = arguments.run(arguments)
    return code


def _parser(given: Sequence[str]) -> argparse.ArgumentParser:
    """The parser, with the arguments of the command that was called."""
    parser = argparse.ArgumentParser(
        prog="trueness", description="How true is a classifier's stated uncertainty?"
    )
    parser.add_argument("--version", action="version", version=f"trueness {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    called = next((argument for argument in given if not argument.startswith("-")), None)
    for name, help_line in COMMANDS.items():
        command = commands.add_parser(name, help=help_line, description=help_line)
        if name == called:
            module = import_module(f"trueness.cli.{name}")
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser
