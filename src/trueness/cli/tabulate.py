"""Sum files of predictions into a table, from which every number is read.

Reads Parquet, Arrow IPC (Feather), CSV, TSV and JSON Lines (also .gz, .zst), NPY and NPZ, in one pass and in bounded
memory. Tables add (`trueness merge`), so every shard, day or machine can make its own.
"""

from __future__ import annotations

import argparse

from trueness.cli import _inputs
from trueness.cli._outputs import TO_STANDARD_OUTPUT, print_summary, written

EXAMPLES = """\
examples:
  trueness tabulate preds.parquet -o table.json
  trueness tabulate preds.csv --label y_true --probs 'p_*' --where 'y_true != 2' -o table.json
  trueness tabulate shard-*.parquet --checkpoint run.checkpoint -o table.json
  trueness tabulate preds.parquet --grid -o grid.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Files, columns, bins, and where the table goes."""
    _inputs.add_files(parser)
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="JSON",
        help=f"the tables, written whole or not at all; {TO_STANDARD_OUTPUT}",
    )
    _inputs.add_groups(parser, "one table for each value of this column")
    parser.add_argument(
        "--grid",
        type=int,
        nargs="?",
        const=4000,
        metavar="CELLS",
        help="narrow cells (default: 4000) instead of bins: they merge, and bins are chosen at the end",
    )
    _inputs.add_rows(parser)
    _inputs.add_tables(parser)
    _inputs.add_checkpoint(parser)
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="on a running Dask cluster, file by file; files may be whatever fsspec reads, such as s3://…",
    )


def run(arguments: argparse.Namespace) -> int:
    """Read, sum and write."""
    from trueness.cli._running import describe, finished, remove_checkpoint, run_on_cluster, run_over
    from trueness.files import InputError, check_outputs, save_tables

    if arguments.grid is not None and (arguments.bins or arguments.equal_mass or arguments.edges):
        raise InputError("--grid leaves the choice of bins for later", "leave out either")
    if arguments.dask is not None:
        summed = run_on_cluster(arguments)
    else:
        inputs = _inputs.inputs_of(arguments)
        check_outputs([arguments.output, arguments.checkpoint], _inputs.paths_read(arguments, inputs))
        summed = run_over(arguments, inputs)
    tables = finished(summed.tables, arguments)
    with written(arguments.output) as target:
        save_tables(tables, target)
    remove_checkpoint(arguments)
    print_summary(arguments.output, describe(tables))
    return 0
