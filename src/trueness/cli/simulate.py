"""Simulate predictions that are calibrated, or miscalibrated by a known amount.

Rows are drawn from a Dirichlet distribution, and the label of each row from its probabilities.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from trueness._printing import STANDARD_OUTPUT
from trueness.cli._errors import name_option, parse_numbers, refuse_argument
from trueness.cli._options import add_options, add_output
from trueness.cli._outputs import output_path, print_summary

if TYPE_CHECKING:
    from trueness.simulate import Predictions

EXAMPLES = """\
examples:
  trueness simulate --n-rows 1e4 --alpha 10,1,1 -o preds.parquet
  trueness simulate --n-rows 5000 --alpha 1,1,1 --sharpen 1.5 --rng-seed 7 -o over-confident.csv
"""

_ALPHA_EXAMPLE = "such as --alpha 10,1,1"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add sample size, distribution, seed and output."""
    parser.add_argument("--n-rows", required=True, metavar="N", help="number of rows, such as 50000 or 1e6")
    parser.add_argument(
        "--alpha", required=True, metavar="A,B,…", help="Dirichlet parameters, one for each class"
    )
    parser.add_argument(
        "--sharpen",
        type=float,
        metavar="A",
        help="raise probabilities to the power A: over-confident above 1, under-confident below",
    )
    add_options(parser, "--rng-seed")
    add_output(parser, "FILE", "file for the rows: .parquet .arrow .csv .tsv .jsonl .npz, also .csv.gz …")
    parser.add_argument(
        "--format",
        choices=("parquet", "arrow", "csv", "tsv", "jsonl", "npz"),
        help="format of standard output (default: csv); for files, the format follows from the extension",
    )


def run(arguments: argparse.Namespace) -> int:
    """Draw and write, a chunk at a time."""
    from trueness import simulate
    from trueness._progress import rows_bar
    from trueness.files import check_outputs, write_predictions

    if arguments.format is not None and arguments.output != STANDARD_OUTPUT:
        cause = "--format is for standard output (-o -)"
        remedy = "choose the format by the file's ending"
        raise refuse_argument("--format", arguments.format, cause, remedy)
    n_rows, alpha = (
        _number_of_rows(arguments.n_rows),
        parse_numbers("--alpha", arguments.alpha, _ALPHA_EXAMPLE),
    )
    check_outputs([arguments.output])
    with name_option("--alpha", arguments.alpha, _ALPHA_EXAMPLE):
        chunks = simulate.calibrated_chunks(n_rows, alpha, arguments.rng_seed)
    if arguments.sharpen is not None:
        with name_option("--sharpen", arguments.sharpen, "such as --sharpen 1.5"):
            simulate.sharpen([[0.5, 0.5]], arguments.sharpen)  # refuse before anything is written
        chunks = (
            simulate.Predictions(part.y_true, simulate.sharpen(part.y_prob, arguments.sharpen))
            for part in chunks
        )
    with (
        rows_bar("simulate", n_rows) as advance,
        output_path(arguments.output, f".{arguments.format or 'csv'}") as target,
    ):
        write_predictions(target, _with_progress(chunks, advance), n_rows, len(alpha))
    print_summary(arguments.output, f"{n_rows} rows, {len(alpha)} classes")
    return 0


def _with_progress(chunks: Iterable[Predictions], advance: Callable[[int], None]) -> Iterator[Predictions]:
    """The chunks; each one counts as done when the next is requested, because it has been written then."""
    for part in chunks:
        yield part
        advance(len(part.y_true))


def _number_of_rows(text: str) -> int:
    """A number of rows, also written as 1e6."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not (1 <= number < 2**53 and number.is_integer()):
        cause = f"--n-rows must be an integer of at least 1, got {text!r}"
        raise refuse_argument("--n-rows", text, cause, "such as 50000 or 1e6")
    return int(number)
