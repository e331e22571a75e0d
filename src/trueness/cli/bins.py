"""How do the numbers depend on the number of bins? VCE and its noise floor for several, from one pass over the rows."""

from __future__ import annotations

import argparse

from trueness._printing import STANDARD_OUTPUT
from trueness.cli import _gate, _inputs
from trueness.cli._outputs import write_text_to

EXAMPLES = """\
examples:
  trueness bins preds.parquet
  trueness bins grid.json --numbers 5,10,20,50 --kind width
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Files or a saved grid, and which numbers of bins."""
    _inputs.add_files(parser, "predictions, or tables saved with --grid (.json)")
    parser.add_argument(
        "--numbers", default="5,10,20,40,80", metavar="M1,M2,…", help="of bins (default: 5,10,20,40,80)"
    )
    parser.add_argument(
        "--kind", choices=("mass", "width"), default="mass", help="equally many rows, or equally wide"
    )
    parser.add_argument(
        "--json", metavar="FILE", help="the sweep for machines; - for standard output instead of text"
    )
    _inputs.add_rows(parser)
    group = parser.add_argument_group("how rows are summed")
    group.add_argument("--variation", default="entropy", metavar="NAME", help="measure (default: entropy)")
    group.add_argument("--ties", choices=("first", "split"), default="first", help="equal probabilities")
    group.add_argument(
        "--engine", choices=("auto", "portable", "fused"), default="auto", help="which code sums"
    )
    group.add_argument("--threads", type=int, metavar="N", help="for the sums")
    _gate.add_inference(parser)
    _inputs.add_checkpoint(parser)
    parser.set_defaults(bins=None, equal_mass=None, edges=None, confidence_bins=None, exact=False, grid=4000)


def run(arguments: argparse.Namespace) -> int:
    """Sum on a grid, and merge its cells into each number of bins."""
    import json

    from trueness.assessment.sweep import sweep_bins
    from trueness.cli._running import remove_checkpoint, run_over
    from trueness.cli._saved import are_tables, refuse_options_of_rows, saved_paths
    from trueness.files import check_outputs, merge_files

    numbers = _numbers(arguments.numbers)
    resamples = _gate.resamples_of(arguments)  # refused before files are read
    saved = are_tables(arguments.files)
    if saved:
        refuse_options_of_rows(arguments)
    paths = saved_paths(arguments.files) if saved else []
    inputs = [] if saved else _inputs.inputs_of(arguments)
    check_outputs([arguments.json, arguments.checkpoint], [*paths, *_inputs.paths_read(arguments, inputs)])
    tables = merge_files(paths) if saved else run_over(arguments, inputs).tables
    _refuse_more_than(tables.whole.by_variation.n_bins, numbers)
    sweep = sweep_bins(
        tables.whole.by_variation,
        numbers,
        kind=arguments.kind,
        level=arguments.level,
        resamples=resamples,
        rng=arguments.seed,
    )
    if arguments.json is not None:
        write_text_to(arguments.json, json.dumps(sweep.to_dict(), allow_nan=False, indent=1) + "\n")
    if arguments.json != STANDARD_OUTPUT:
        print(sweep)
    remove_checkpoint(arguments)
    return 0


def _refuse_more_than(cells: int, numbers: list[int]) -> None:
    from trueness.files import InputError

    if max(numbers) > cells:
        raise InputError(
            f"{max(numbers)} bins cannot be made of {cells}",
            f"save the tables with trueness tabulate --grid, or pass --numbers up to {cells}",
        )


def _numbers(text: str) -> list[int]:
    from trueness.files import InputError

    if not all(part.strip().isdecimal() for part in text.split(",")):
        raise InputError(f"--numbers must be whole numbers with commas, got {text!r}", "such as 5,10,20")
    return [int(part) for part in text.split(",")]
