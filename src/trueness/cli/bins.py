"""Show how VCE, or the ECE of classes, and its noise floor depend on the number of bins; one pass over the rows."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from trueness._printing import STANDARD_OUTPUT
from trueness.cli import _options, _sources
from trueness.cli._errors import refuse_argument
from trueness.cli._inference import refuse_inference_options, resamples_of
from trueness.cli._outputs import print_note, write_json

if TYPE_CHECKING:
    from trueness.table import AnyRankTable, EventTable
    from trueness.table.tables import Tables

EXAMPLES = """\
examples:
  trueness bins preds.parquet
  trueness bins grid.json --n-bins 5,10,20,50 --kind width
  trueness bins preds.parquet --by-class
  trueness bins preds.parquet --event 1
  trueness bins a.npy --label-file masks.npy --class-axis 1 --clusters none
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add files or a saved grid, the numbers of bins, columns and inference."""
    _options.add_files(parser, "predictions, or tables saved with --grid (.json)")
    parser.add_argument(
        "--n-bins",
        metavar="M1,M2,…",
        help="numbers of bins (default: 5,10,20,40,80; for classes and events 5,10,15,20,30,60)",
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--by-class",
        action="store_true",
        help="classwise ECE instead of VCE, over bins of the probability of each class",
    )
    which.add_argument(
        "--event",
        metavar="CLASS",
        help="the ECE of a class (name or index), or of the top label (top), instead of VCE",
    )
    parser.add_argument(
        "--kind",
        choices=("mass", "width"),
        default="mass",
        help="bins with equally many rows (default), or of equal width",
    )
    parser.add_argument(
        "--clusters",
        metavar="none",
        help="needed for images: their pixels, like all rows here, are taken as independent; trueness assess counts "
        "clusters",
    )
    _options.add_options(parser, *_options.IMAGES)
    _options.add_json(parser)
    _options.add_column_options(parser)
    _options.add_options(
        parser.add_argument_group("tables"), "--variation", "--ties", "--engine", "--n-threads"
    )
    _options.add_inference_options(parser)
    _options.add_checkpoint_options(parser)
    parser.set_defaults(
        bins=None,
        equal_mass=None,
        edges=None,
        confidence_bins=None,
        grid=_options.GRID_CELLS,
    )


def run(arguments: argparse.Namespace) -> int:
    """Sum on a grid, and merge its cells into each number of bins."""
    from trueness.assessment import sweep_bins
    from trueness.assessment.sweep import EVENT_NUMBERS, NUMBERS
    from trueness.cli._images import inputs_of, refuse_clusters
    from trueness.cli._saved_tables import are_tables, merge_saved, refuse_row_options, saved_paths
    from trueness.cli._summation import remove_checkpoint, sum_inputs
    from trueness.files import check_outputs
    from trueness.table import EventTable

    default = NUMBERS if arguments.event is None and not arguments.by_class else EVENT_NUMBERS
    numbers = list(default) if arguments.n_bins is None else _numbers(arguments.n_bins)
    refuse_inference_options(arguments)
    saved = are_tables(arguments.files)
    if saved:
        refuse_row_options(arguments)
    refuse_clusters(arguments, "by this command", "use trueness assess, which counts clusters")
    paths = saved_paths(arguments.files) if saved else []
    inputs = [] if saved else inputs_of(arguments)
    check_outputs([arguments.json, arguments.checkpoint], [*paths, *_sources.paths_read(arguments, inputs)])
    if saved:
        tables = merge_saved(paths, arguments.by_class or arguments.event is not None)
        if tables.whole.clusters is not None:
            print_note("the clusters of these tables are not used: rows are taken as independent")
    else:
        tables = sum_inputs(arguments, inputs).tables
    table = _table_of(tables.whole, arguments)
    _refuse_more_than(table.grid.n_cells if isinstance(table, EventTable) else table.n_bins, numbers)
    sweep = sweep_bins(
        table,
        numbers,
        kind=arguments.kind,
        level=arguments.level,
        resamples=resamples_of(arguments),
        rng=arguments.rng_seed,
    )
    if arguments.json is not None:
        write_json(arguments.json, sweep.to_dict())
    if arguments.json != STANDARD_OUTPUT:
        print(sweep)
    remove_checkpoint(arguments)
    return 0


def _table_of(tables: Tables, arguments: argparse.Namespace) -> AnyRankTable | EventTable:
    """The table whose bins are merged."""
    from trueness.cli._event import table_of_event

    if arguments.event is not None:
        return table_of_event(arguments.event, tables.events)
    if not arguments.by_class:
        return tables.by_variation
    assert tables.by_class is not None  # refused before
    return tables.by_class


def _refuse_more_than(n_cells: int, numbers: list[int]) -> None:
    if max(numbers) > n_cells:
        raise refuse_argument(
            "--n-bins",
            max(numbers),
            "the {n_cells} bins of the tables cannot be divided into {value}",
            "save the tables with trueness tabulate --grid, or pass --n-bins up to {n_cells}",
            n_cells=n_cells,
        )


def _numbers(text: str) -> list[int]:
    if not all(part.strip().isdecimal() for part in text.split(",")):
        raise refuse_argument(
            "--n-bins",
            text,
            "{argument} must be integers separated by commas, got {value!r}",
            "such as 5,10,20",
        )
    return [int(part) for part in text.split(",")]
