"""The command ``trueness``: it parses arguments and hands over; the work is done by the modules below.

Whatever is asked, the package is imported and NumPy with it. What a command needs beyond that is imported when it is
called, so that the others do not wait for it.
"""

import argparse
import sys
from collections.abc import Sequence

from trueness._version import __version__


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 if all is well, 2 if the arguments were wrong.

    Parameters
    ----------
    argv
        The arguments after the command's name; those of the process if None.
    """
    arguments = _parser().parse_args(argv)
    code: int = arguments.run(arguments)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="trueness", description="How true is a classifier's stated uncertainty?"
    )
    parser.add_argument("--version", action="version", version=f"trueness {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)
    demo = commands.add_parser("demo", help="assess three real classifiers that are shipped with the package")
    demo.set_defaults(run=_demo)
    return parser


def _demo(_: argparse.Namespace) -> int:
    from trueness.demo import tell

    encoding = (sys.stdout.encoding or "").lower()
    print(tell(ascii_only=not encoding.startswith("utf")))
    return 0
