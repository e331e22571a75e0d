"""Add tables that `trueness tabulate` wrote: shards, days, machines.

The sum is exact: it is the table that all rows at once would have given.
"""

from __future__ import annotations

import argparse

from trueness.cli._outputs import TO_STANDARD_OUTPUT, print_summary, written

EXAMPLES = """\
examples:
  trueness merge shard-1.json shard-2.json -o all.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Tables in, a table out."""
    parser.add_argument("files", nargs="+", metavar="JSON", help="tables; globs too")
    parser.add_argument(
        "-o", "--output", required=True, metavar="JSON", help=f"their sum; {TO_STANDARD_OUTPUT}"
    )


def run(arguments: argparse.Namespace) -> int:
    """Load, add and write."""
    from trueness.cli._running import describe
    from trueness.cli._saved import saved_paths
    from trueness.files import check_outputs, merge_files, save_tables

    paths = saved_paths(arguments.files)
    check_outputs([arguments.output], paths)
    tables = merge_files(paths)
    with written(arguments.output) as target:
        save_tables(tables, target)
    print_summary(arguments.output, describe(tables))
    return 0
