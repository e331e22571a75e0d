"""Assess three real classifiers that are shipped with the package."""

from __future__ import annotations

import argparse

EXAMPLES = """\
examples:
  trueness demo
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """There are none."""


def run(_: argparse.Namespace) -> int:
    """Print the answer, and write the report of the worst."""
    import sys

    from trueness.demo import tell

    encoding = (sys.stdout.encoding or "").lower()
    print(tell(ascii_only=not encoding.startswith("utf")))
    return 0
