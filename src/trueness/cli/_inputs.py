"""The options that every command with files of predictions has, and what they mean."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trueness._printing import visible
from trueness.formats import format_names

if TYPE_CHECKING:
    from trueness.files import Input, Inputs, Plan, Request, RowOptions, Source

DEFAULT_BINS = 10


def add_files(
    parser: argparse.ArgumentParser, what: str = "files, globs or folders; - for standard input"
) -> None:
    """The files themselves."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=what)


def add_rows(parser: argparse.ArgumentParser) -> None:
    """How files are read: columns, classes, scale, filter, bad rows."""
    group = parser.add_argument_group(
        "what is in the files",
        "Unspecified columns are detected where only one reading is possible; which class is read from which column is "
        "printed.",
    )
    group.add_argument("--format", choices=format_names(), help="of all files, whatever their endings")
    group.add_argument("--label", metavar="COLUMN", help="the true classes")
    group.add_argument(
        "--probs",
        metavar="COLUMNS",
        help="'p_*' (by number, else in the order of the file), a,b,c or 1-10 (in this order), or one list column",
    )
    group.add_argument("--label-file", metavar="NPY", help="the labels of an NPY file")
    group.add_argument(
        "--classes",
        metavar="NAMES",
        help="cat,dog: labels are names, matched to the columns by name; `columns`: those of the columns; `index`",
    )
    group.add_argument(
        "--no-header", action="store_true", help="CSV without a line of names: columns are named 1, 2, 3, …"
    )
    group.add_argument("--weight", metavar="COLUMN", help="weights of the rows")
    scale = group.add_mutually_exclusive_group()
    scale.add_argument("--logits", action="store_true", help="the numbers are logits: take their softmax")
    scale.add_argument("--logprobs", action="store_true", help="the numbers are logarithms of probabilities")
    scale.add_argument(
        "--percent", action="store_true", help="the numbers are percentages, 85 or 85%%: divide them by 100"
    )
    scale.add_argument("--normalize", action="store_true", help="divide each row by its sum")
    group.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="CONDITION",
        help="'age >= 65', 'day < 2026-11-16', 'site in a, b'; all of several must hold",
    )
    group.add_argument(
        "--on-bad-rows", choices=("refuse", "skip"), default="refuse", help="skip counts them by reason"
    )


def add_groups(parser: argparse.ArgumentParser, what: str) -> None:
    """The columns of groups."""
    parser.add_argument(
        "--groups",
        "--by",
        dest="by",
        action="append",
        metavar="COLUMN",
        help=f"{what}; region,sex, or the option twice: the combinations",
    )


def add_tables(parser: argparse.ArgumentParser) -> None:
    """Which tables are made of the rows."""
    group = parser.add_argument_group("how rows are summed")
    group.add_argument("--variation", default="entropy", metavar="NAME", help="measure (default: entropy)")
    add_bins(group)
    group.add_argument(
        "--exact",
        action="store_true",
        help="bins of --equal-mass from all values, in two passes over the files",
    )
    group.add_argument("--ties", choices=("first", "split"), default="first", help="equal probabilities")
    group.add_argument(
        "--engine",
        choices=("auto", "portable", "fused"),
        default="auto",
        help="auto: fused from 4 million values on",
    )
    group.add_argument(
        "--threads", type=int, metavar="N", help="for the sums; the table does not depend on it"
    )


def add_bins(group: Any) -> None:
    """Which bins."""
    bins = group.add_mutually_exclusive_group()
    bins.add_argument("--bins", type=int, metavar="M", help=f"bins of equal width (default: {DEFAULT_BINS})")
    bins.add_argument(
        "--equal-mass",
        type=int,
        metavar="M",
        help="bins of equally many rows, from a grid of 4000 in one pass",
    )
    bins.add_argument("--edges", metavar="E0,E1,…", help="bins between these values of the measure")
    group.add_argument(
        "--confidence-bins",
        type=_whole_number_of_bins,
        metavar="M",
        help="bins of confidence that ECE is made with, of equal width (default: as the bins of the measure)",
    )


def add_checkpoint(parser: argparse.ArgumentParser) -> None:
    """Going on after a run was stopped."""
    group = parser.add_argument_group("long runs")
    group.add_argument("--checkpoint", metavar="FILE", help="keep the sums so far, and go on from them")
    group.add_argument(
        "--checkpoint-every",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="at most so often (default: 10)",
    )


def bins_of(arguments: argparse.Namespace) -> Any:
    """The bins that were asked for; None if nothing was said."""
    from trueness.bins import Edges, EqualMass, EqualWidth, FineGrid
    from trueness.files import InputError

    if arguments.equal_mass is not None:
        return EqualMass(arguments.equal_mass)
    if arguments.edges is not None:
        try:
            return Edges([float(edge) for edge in arguments.edges.split(",")])
        except ValueError as error:
            raise InputError(
                f"--edges {arguments.edges!r}: {error}", "write numbers: --edges 0,0.2,0.5,1"
            ) from error
    if getattr(arguments, "grid", None) is not None:
        return FineGrid(arguments.grid)
    return None if arguments.bins is None else EqualWidth(arguments.bins)


def plan_of(arguments: argparse.Namespace) -> Plan:
    """Which tables are asked for."""
    from trueness.bins import EqualWidth
    from trueness.files import InputError, Plan
    from trueness.variation import as_variation

    as_variation(arguments.variation)  # refused before files are looked at
    bins = bins_of(arguments) or EqualWidth(DEFAULT_BINS)
    if arguments.threads is not None and arguments.threads < 1:
        raise InputError(
            f"--threads must be a whole number from 1 up, got {arguments.threads}", "leave it out"
        )
    chosen = arguments.confidence_bins
    return Plan.of(
        arguments.variation,
        bins,
        None if chosen is None else EqualWidth(chosen),
        arguments.ties,
        exact=arguments.exact,
        engine=arguments.engine,
        n_threads=arguments.threads,
    )


def request_of(arguments: argparse.Namespace) -> Request:
    """What was said about columns."""
    from trueness.files import Request, parse_condition

    return Request(
        label=arguments.label,
        probs=arguments.probs,
        weight=arguments.weight,
        by=tuple(getattr(arguments, "by", None) or ()) or None,
        where=tuple(parse_condition(text) for text in arguments.where),
        classes=arguments.classes,
        header=not arguments.no_header,
    )


def row_options_of(arguments: argparse.Namespace) -> RowOptions:
    """How numbers are meant."""
    from trueness.files import RowOptions

    scales = [scale for scale in ("logits", "logprobs", "percent") if getattr(arguments, scale)]
    scale = scales[0] if scales else "probabilities"
    return RowOptions(scale, arguments.normalize, arguments.on_bad_rows)


def inputs_of(arguments: argparse.Namespace) -> list[Input]:
    """The files."""
    from trueness.files import find_inputs

    found = find_inputs(arguments.files, arguments.format)
    note_others(found)
    return found.files


def note_others(found: Inputs) -> None:
    """Say what was found in folders beside the files that are read."""
    if found.left_out:
        note(f"{found.left_out} files in the folders have endings that are not known, and are not read")
    if found.repeated:
        note(f"{found.repeated} links lead to files that are read already, and are not read again")


def paths_read(arguments: argparse.Namespace, inputs: Sequence[Input]) -> list[str | None]:
    """Every file that a run over these inputs reads: no result may be written to any of them."""
    return [*(input.path for input in inputs), arguments.label_file]


def source_of(arguments: argparse.Namespace, inputs: list[Input]) -> Source:
    """The rows of the files; what was found by itself is printed."""
    from trueness.files import Source

    source = Source(
        inputs,
        request_of(arguments),
        row_options_of(arguments),
        label_file=arguments.label_file,
        remarks=note,
    )
    for line in source.choice.found:
        note(line)
    return source


def _whole_number_of_bins(text: str) -> int:
    """A number of bins."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of bins is a whole number from 1 up, not {text!r}")
    return int(text)


def seed(text: str) -> int:
    """A seed of the random draws."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a seed is a whole number from 0 up, not {text!r}")
    return int(text)


def note(text: str) -> None:
    """Something to know that is no result: on stderr, so that results can be piped."""
    print(visible(text), file=sys.stderr)
