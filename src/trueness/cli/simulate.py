"""Write predictions that are calibrated by design, or wrong by a known amount.

Rows are drawn from a Dirichlet distribution, and each label from its row.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from trueness._printing import STANDARD_OUTPUT
from trueness.cli import _inputs
from trueness.cli._outputs import TO_STANDARD_OUTPUT, print_summary, written

if TYPE_CHECKING:
    from trueness.simulate import Predictions

EXAMPLES = """\
examples:
  trueness simulate --rows 1e4 --alpha 10,1,1 -o preds.parquet
  trueness simulate --rows 5000 --alpha 1,1,1 --sharpen 1.5 --seed 7 -o over-confident.csv
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Size, distribution, seed and target."""
    parser.add_argument("--rows", required=True, metavar="N", help="how many, such as 50000 or 1e6")
    parser.add_argument(
        "--alpha", required=True, metavar="A,B,…", help="Dirichlet parameters, one for each class"
    )
    parser.add_argument(
        "--sharpen", type=float, metavar="A", help="p ∝ p^A: above 1 over-, below 1 under-confident"
    )
    parser.add_argument(
        "--seed",
        type=_inputs.seed,
        default=0,
        metavar="S",
        help="the same seed gives the same rows (default: 0)",
    )
    parser.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help=f".parquet .arrow .csv .tsv .jsonl .npz; .csv.gz …; {TO_STANDARD_OUTPUT}",
    )
    parser.add_argument(
        "--format",
        choices=("parquet", "arrow", "csv", "tsv", "jsonl", "npz"),
        help="of what goes to standard output (default: csv); files have that of their ending",
    )


def run(arguments: argparse.Namespace) -> int:
    """Draw and write, a chunk at a time."""
    from trueness import simulate
    from trueness._progress import rows_bar
    from trueness.files import InputError, check_outputs, write_predictions

    if arguments.format is not None and arguments.output != STANDARD_OUTPUT:
        raise InputError("--format is for standard output (-o -)", "choose the format by the file's ending")
    n_rows, alpha = _whole(arguments.rows), _numbers(arguments.alpha)
    check_outputs([arguments.output])
    chunks = simulate.calibrated_chunks(n_rows, alpha, arguments.seed)
    if arguments.sharpen is not None:
        simulate.sharpen([[0.5, 0.5]], arguments.sharpen)  # refused before anything is written
        chunks = (
            simulate.Predictions(part.y_true, simulate.sharpen(part.y_prob, arguments.sharpen))
            for part in chunks
        )
    with (
        rows_bar("simulate", n_rows) as advance,
        written(arguments.output, f".{arguments.format or 'csv'}") as target,
    ):
        write_predictions(target, _told(chunks, advance), n_rows, len(alpha))
    print_summary(arguments.output, f"{n_rows} rows, {len(alpha)} classes")
    return 0


def _told(chunks: Iterable[Predictions], advance: Callable[[int], None]) -> Iterator[Predictions]:
    """The chunks, each reported when the next one is asked for: then it has been written."""
    for part in chunks:
        yield part
        advance(len(part.y_true))


def _whole(text: str) -> int:
    """A number of rows, also written as 1e6."""
    from trueness.files import InputError

    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not (1 <= number < 2**53 and number.is_integer()):
        raise InputError(f"--rows must be a whole number from 1 up, got {text!r}", "such as 50000 or 1e6")
    return int(number)


def _numbers(text: str) -> list[float]:
    from trueness.files import InputError

    try:
        return [float(part) for part in text.split(",")]
    except ValueError as error:
        raise InputError(f"--alpha must be numbers with commas, got {text!r}", "such as 10,1,1") from error
