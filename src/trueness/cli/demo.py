"""Assess three real classifiers shipped with the package."""

from __future__ import annotations

import argparse

EXAMPLES = """\
examples:
  trueness demo
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the demo has no options."""


def run(_: argparse.Namespace) -> int:
    """Print the comparison, and write the report of the least calibrated model."""
    import sys

    from trueness.demo import run_demo

    encoding = (sys.stdout.encoding or "").lower()
    print(run_demo(ascii_only=not encoding.startswith("utf")))
    return 0
