"""Sum files of predictions into a table, from which every metric is computed.

Reads Parquet, Arrow IPC (Feather), CSV, TSV and JSON Lines (also .gz, .zst), NPY and NPZ, in one pass and in bounded
memory, and evaluation logs of language models whose rows have probabilities of options. Tables add (`trueness merge`),
so each shard, day or machine can make its own.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from trueness.cli import _day_files, _options, _sources
from trueness.cli._images import inputs_of
from trueness.cli._language_options import add_language_options
from trueness.cli._outputs import output_path, print_summary

if TYPE_CHECKING:
    from trueness.files import GroupedTables

EXAMPLES = """\
examples:
  trueness tabulate preds.parquet -o table.json
  trueness tabulate preds.csv --label y_true --probs 'p_*' --where 'y_true != 2' -o table.json
  trueness tabulate preds.parquet --grid -o grid.json
  trueness tabulate preds.parquet --at 2026-11-16 -o tables/
  trueness tabulate days.npz --by day -o tables/
  trueness tabulate samples_arc_2026-01-01T00-00-00.jsonl -o arc.json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add files, columns, bins and the output."""
    _options.add_files(parser)
    _options.add_output(parser, "JSON", "file for the tables, written atomically")
    _options.add_options(
        parser,
        "--groups",
        help="make one table for each value of this column; for combinations of columns write region,sex or repeat the "
        "option",
    )
    _options.add_options(parser, "--clusters", *_options.IMAGES)
    parser.add_argument(
        "--grid",
        type=int,
        nargs="?",
        const=_options.GRID_CELLS,
        metavar="CELLS",
        help=f"use a fine grid of CELLS bins (default: {_options.GRID_CELLS}), which can be merged into "
        "coarser bins later",
    )
    parser.add_argument(
        "--event",
        action="append",
        metavar="CLASS",
        help="also sum this class (name or index), or the top label (top), on the event grid, for trueness assess "
        "--event; may be repeated",
    )
    parser.add_argument(
        "--at",
        metavar="NAME",
        help="name of the rows, such as their day: -o names a folder, in which trueness monitor finds NAME.json",
    )
    parser.add_argument(
        "--by",
        action="append",
        metavar="COLUMN",
        help="write a file for each value of this column, such as day, into the folder that -o names",
    )
    _options.add_column_options(parser)
    add_language_options(parser)
    _options.add_soft_labels(parser)
    _options.add_table_options(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, sum and write."""
    from trueness.cli._binning import in_requested_bins, summary_of
    from trueness.files import save_tables
    from trueness.refusals import InvalidValueError

    if arguments.grid is not None and (arguments.bins or arguments.equal_mass or arguments.edges):
        cause = "--grid cannot be combined with other bins"
        remedy = "leave out one of them"
        raise InvalidValueError("conflicting-arguments", cause, remedy, argument="--grid")
    folder, columns = _into_folder(arguments)
    tables = _tables_of_log(arguments, folder) or in_requested_bins(_summed(arguments, folder), arguments)
    if folder is not None:
        _day_files.save_by_value(tables, folder, columns)
    else:
        with output_path(arguments.output) as target:
            save_tables(tables, target)
        print_summary(arguments.output, summary_of(tables))
    return 0


def _summed(arguments: argparse.Namespace, folder: str | None) -> GroupedTables:
    """The tables of files of predictions."""
    from trueness.cli._summation import sum_inputs
    from trueness.files import check_outputs

    inputs = inputs_of(arguments)
    check_outputs([None if folder else arguments.output], _sources.paths_read(arguments, inputs))
    return sum_inputs(arguments, inputs).tables


def _tables_of_log(arguments: argparse.Namespace, folder: str | None) -> GroupedTables | None:
    """The tables of evaluation logs; None if the files are predictions."""
    from trueness.cli._language import find_log, read_log, tables_of
    from trueness.files import check_outputs
    from trueness.language import Options
    from trueness.refusals import InvalidValueError

    log = find_log(arguments)
    if log is None:
        return None
    check_outputs([None if folder else arguments.output], [*log.paths, arguments.label_file])
    reading = read_log(arguments, log)
    if not isinstance(reading, Options):
        cause = f"{log.paths[0]} has no probabilities of options, and a table is made of them"
        remedy = f"assess it: trueness assess {log.paths[0]}"
        raise InvalidValueError("unsupported-input", cause, remedy)
    return tables_of(arguments, reading, log.paths[0])


def _into_folder(arguments: argparse.Namespace) -> tuple[str | None, list[str]]:
    """The folder for a file of each value of --by, and the columns of groups; --at and -o become one file."""
    folder, by = _day_files.folder_of(arguments), arguments.by
    if by is not None:
        arguments.groups = [*by, *(arguments.groups or [])]
    if folder is not None and arguments.at is not None:
        arguments.output = _day_files.file_in(folder, arguments.at, "--at")
        return None, []
    columns = [column.strip() for part in arguments.groups or [] for column in part.split(",")]
    return folder, columns
