"""Add tables that `trueness tabulate` wrote, such as those of shards, days or machines.

The sum is exact: it equals the table of all rows at once.
"""

from __future__ import annotations

import argparse

from trueness.cli._options import add_options, add_output
from trueness.cli._outputs import output_path, print_summary

EXAMPLES = """\
examples:
  trueness merge shard-1.json shard-2.json -o all.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the input tables and the output."""
    parser.add_argument("files", nargs="+", metavar="JSON", help="files or globs of tables")
    add_output(parser, "JSON", "file for the sum")
    add_options(parser, "--by-class", help="require tables by class, or leave them out (default: keep them)")


def run(arguments: argparse.Namespace) -> int:
    """Load, add and write."""
    from trueness.cli._binning import summary_of
    from trueness.cli._saved_tables import merge_saved, saved_paths
    from trueness.files import check_outputs, save_tables

    paths = saved_paths(arguments.files)
    check_outputs([arguments.output], paths)
    tables = merge_saved(paths, arguments.by_class)
    with output_path(arguments.output) as target:
        save_tables(tables, target)
    print_summary(arguments.output, summary_of(tables))
    return 0
