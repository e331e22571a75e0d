"""Print a shell completion script for commands, options, their choices and file names."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

EXAMPLES = """\
examples:
  trueness completion bash > trueness.bash && source trueness.bash
  trueness completion zsh
"""

SHELLS = ("bash", "zsh", "tcsh", "fish", "powershell")
"""The same as `shtab.SUPPORTED_SHELLS`, which `--help` must not import; a test compares them."""

_FILES, _FOLDERS = ("FILE", "JSON", "HTML", "NPY"), ("DIR",)
"""Placeholders of arguments that are completed with names of files and of folders."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    parser.add_argument("shell", choices=SHELLS, help="shell to print the script for")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    from trueness.cli._parser import make_parser
    from trueness.refusals import MissingLibraryError

    try:
        import shtab
    except ImportError as error:
        raise MissingLibraryError(
            "missing-library", "shell completion needs shtab", "pip install 'trueness[cli]'"
        ) from error

    parser = make_parser()
    for action in _actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.metavar in _FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    print(shtab.complete(parser, arguments.shell))
    return 0


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """The arguments of a parser and of its commands."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
