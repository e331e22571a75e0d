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
    """Print the answer."""
    from trueness.demo import answer

    print(answer())
    return 0
