"""``trueness demo``: three real classifiers, assessed."""

import argparse

from trueness.demo import answer


def add_arguments(_: argparse.ArgumentParser) -> None:
    """None are needed."""


def run(_: argparse.Namespace) -> int:
    """Print the answer."""
    print(answer())
    return 0
