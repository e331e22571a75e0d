"""The options that several commands share, declared once under the names of the Python arguments."""

from __future__ import annotations

import argparse
from typing import Any, TypeAlias

from trueness.cli._language_options import FORMATS
from trueness.formats import format_names

DEFAULT_BINS = 10
DEFAULT_CLASS_BINS = 10
DEFAULT_RESAMPLES = 999
GRID_CELLS = 4000


TO_STANDARD_OUTPUT = "- for standard output"

Parser: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"
"""A parser, or a group of its arguments."""


def number_of_bins(text: str) -> int:
    """Parse a number of bins."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"the number of bins must be an integer of at least 1, got {text!r}")
    return int(text)


def seed(text: str) -> int:
    """Parse a seed."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"the seed must be an integer of at least 0, got {text!r}")
    return int(text)


def delimiter(text: str) -> str:
    r"""Parse a delimiter: one character, or its name.

    >>> delimiter(";"), delimiter("tab")
    (';', '\t')
    """
    found = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(found) != 1 or not found.isascii() or found in '"\r\n':
        raise argparse.ArgumentTypeError(f"the delimiter must be one ASCII character or tab, got {text!r}")
    return found


def encoding(text: str) -> str:
    """Parse the name of an encoding of text.

    >>> encoding("Latin-1")
    'iso8859-1'
    """
    import codecs

    try:
        "".encode(text)  # refuses codecs such as hex, which are not for text
        return codecs.lookup(text).name
    except LookupError:
        raise argparse.ArgumentTypeError(
            f"unknown encoding {text!r}; examples are utf-8, latin-1, cp1252 and utf-16"
        ) from None


NNUNET = "nnunet"
"""The format of folders of predictions that nnU-Net v2 wrote with --save_probabilities."""

IMAGES = ("--class-axis", "--ignore-index", "--label-dir")

SHARED: dict[str, dict[str, Any]] = {
    "--groups": {
        "action": "append",
        "metavar": "COLUMN",
        "help": "column of groups; for combinations of columns write region,sex or repeat the option",
    },
    "--clusters": {
        "metavar": "COLUMN",
        "help": "column that names the rows that belong together, such as a patient or an image: intervals and "
        "p-values then count clusters instead of rows (with images: none, if pixels are independent)",
    },
    "--class-axis": {
        "type": int,
        "metavar": "AXIS",
        "help": "axis of the classes in NPY and NPZ arrays of images: 1 for (images, classes, height, width); each "
        "image is one cluster",
    },
    "--ignore-index": {"type": int, "metavar": "LABEL", "help": "leave out the pixels with this label"},
    "--label-dir": {
        "metavar": "FOLDER",
        "help": "folder of NIfTI labels for --format nnunet, a folder of predictions (extra: images)",
    },
    "--format": {
        "choices": [*format_names(), NNUNET, *FORMATS],
        "help": "format of all files (default: from the file extension)",
    },
    "--label": {"metavar": "COLUMN", "help": "column of true classes"},
    "--probs": {
        "metavar": "COLUMNS",
        "help": "columns of probabilities: 'p_*' (ordered by numeric suffix if there is one, otherwise as in the "
        "file), a,b,c or 1-10 (in this order), or one list column",
    },
    "--label-file": {
        "metavar": "FILE",
        "help": "file of the labels, in any format, in the order of the predictions or joined by --key",
    },
    "--key": {
        "metavar": "COLUMN",
        "help": "column of both files by which the labels of --label-file are joined; for openai, the column of "
        "--label-file that names the request (default: custom_id)",
    },
    "--delimiter": {
        "type": delimiter,
        "metavar": "CHARACTER",
        "help": "separator of columns in text, such as ';' or tab (default: detected if only one is possible)",
    },
    "--decimal": {
        "choices": (".", ","),
        "help": "decimal sign in CSV and TSV (default: detected if only one is possible)",
    },
    "--encoding": {
        "type": encoding,
        "metavar": "NAME",
        "help": "encoding of text, such as latin-1 (default: UTF-8, or UTF-16 if the file begins like it)",
    },
    "--sheet": {"metavar": "NAME", "help": "sheet of an Excel workbook (default: the only one with rows)"},
    "--ragged": {
        "action": "store_true",
        "help": "rows have options of their own: one list column, whose rows may have different lengths",
    },
    "--classes": {
        "metavar": "NAMES",
        "help": "class names such as cat,dog, matched to the columns by name; `columns`: the names of the columns; "
        "`index`: labels are class indices",
    },
    "--no-header": {
        "action": "store_true",
        "help": "CSV without a header line: columns are named 1, 2, 3, …",
    },
    "--sample-weight": {"metavar": "COLUMN", "help": "column of row weights"},
    "--where": {
        "action": "append",
        "default": [],
        "metavar": "CONDITION",
        "help": "keep rows that satisfy 'age >= 65', 'day < 2026-11-16' or 'site in a, b'; if repeated, all of them",
    },
    "--on-bad-rows": {
        "choices": ("refuse", "skip"),
        "default": "refuse",
        "help": "refuse the file (default), or skip bad rows and count them by reason",
    },
    "--variation": {"default": "entropy", "metavar": "NAME", "help": "variation measure (default: entropy)"},
    "--confidence-bins": {
        "type": number_of_bins,
        "metavar": "M",
        "help": "number of equal-width confidence bins for ECE (default: bins like those of the variation measure)",
    },
    "--by-class": {
        "action": argparse.BooleanOptionalAction,
        "default": None,  # on; argparse would append another default to the help
        "help": "also sum each class by its probability, for metrics by class (default: on)",
    },
    "--class-bins": {
        "type": number_of_bins,
        "default": DEFAULT_CLASS_BINS,
        "metavar": "M",
        "help": "number of equal-width bins of the probability of each class, over 0 to 1; it must divide 60 (default: "
        f"{DEFAULT_CLASS_BINS})",
    },
    "--ties": {
        "choices": ("first", "split"),
        "default": None,
        "help": "rank equal probabilities by class index (default), or share the count equally among the tied ranks "
        "(default with --ragged)",
    },
    "--n-threads": {
        "type": int,
        "metavar": "N",
        "help": "number of threads; results do not depend on it",
    },
    "--level": {
        "type": float,
        "default": 0.95,
        "metavar": "P",
        "help": "confidence level of intervals (default: 0.95)",
    },
    "--resamples": {
        "type": int,
        "metavar": "R",
        "help": f"number of resamples (default: {DEFAULT_RESAMPLES})",
    },
    "--rng-seed": {
        "type": seed,
        "default": 0,
        "metavar": "S",
        "help": "seed of the random number generator (default: 0)",
    },
    "--tolerance": {
        "metavar": "X",
        "help": "largest negligible error, for VCE, ECE and RCE alike or by metric (vce=.02,ece=.01); the verdict then "
        "says whether the error is negligible, larger, or undecided",
    },
}

_SCALES = {
    "--from-logits": "the numbers are logits: apply softmax",
    "--logprobs": "the numbers are logarithms of probabilities",
    "--percent": "the numbers are percentages such as 85 or 85%%: divide by 100",
    "--normalize": "divide each row by its sum",
}
_COLUMN_OPTIONS = (
    "--format",
    "--label",
    "--probs",
    "--ragged",
    "--label-file",
    "--key",
    "--classes",
    "--no-header",
    "--delimiter",
    "--decimal",
    "--encoding",
    "--sheet",
    "--sample-weight",
    "--where",
    "--on-bad-rows",
)


def add_options(parser: Parser, *names: str, help: str | None = None) -> None:
    """Add shared options by name; `help` replaces their usual help text."""
    for name in names:
        settings = SHARED[name]
        parser.add_argument(name, **(settings if help is None else {**settings, "help": help}))


def add_files(
    parser: argparse.ArgumentParser, help: str = "files, globs or folders; - for standard input"
) -> None:
    """Add the positional arguments that name files of predictions."""
    parser.add_argument("files", nargs="+", metavar="FILE", help=help)


def add_output(parser: argparse.ArgumentParser, metavar: str, help: str) -> None:
    """Add the option that names the output file."""
    parser.add_argument(
        "-o", "--output", required=True, metavar=metavar, help=f"{help}; {TO_STANDARD_OUTPUT}"
    )


def add_json(parser: Parser) -> None:
    """Add the option that writes the result as JSON instead of text."""
    parser.add_argument("--json", metavar="FILE", help=f"write the result as JSON; {TO_STANDARD_OUTPUT}")


def add_report(parser: Parser) -> None:
    """Add the option that writes a report."""
    parser.add_argument("--report", metavar="HTML", help="write an HTML report with figures and the tables")


def add_plot(parser: Parser, what: str) -> None:
    """Add the option that draws a picture."""
    parser.add_argument("--plot", metavar="FILE", help=f"draw {what} as .png, .svg or .pdf (extra: plots)")


CELLS = ("csv", "markdown", "latex")
"""The options that write a result as a table of cells."""


def add_cell_tables(parser: Parser, what: str) -> None:
    """Add the options that write the numbers as a table for a spreadsheet, a page or a paper."""
    for name, kind in zip(CELLS, ("CSV with all digits", "Markdown", "LaTeX (booktabs)"), strict=True):
        parser.add_argument(f"--{name}", metavar="FILE", help=f"write {what} as {kind}; {TO_STANDARD_OUTPUT}")


def add_column_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for reading files: columns, classes, scale of the numbers, filter, bad rows."""
    group = parser.add_argument_group(
        "input", "Unspecified columns are detected when unambiguous. The column of each class is printed."
    )
    add_options(group, *_COLUMN_OPTIONS)
    scale = group.add_mutually_exclusive_group()
    for name, text in _SCALES.items():
        scale.add_argument(name, action="store_true", help=text)


def add_soft_labels(parser: argparse.ArgumentParser) -> None:
    """Add the option for labels that are shares of the classes."""
    parser.add_argument(
        "--soft-labels",
        action="store_true",
        help="--label names the shares of the classes, such as those of annotators: a list column, or one column per "
        "class ('s_*')",
    )


def add_bin_options(group: Parser) -> None:
    """Add the options for the bins of the variation measure and of confidence."""
    bins = group.add_mutually_exclusive_group()
    bins.add_argument(
        "--bins", type=int, metavar="M", help=f"number of equal-width bins (default: {DEFAULT_BINS})"
    )
    bins.add_argument(
        "--equal-mass",
        type=int,
        metavar="M",
        help=f"number of bins with equally many rows, from a grid of {GRID_CELLS} cells in one pass",
    )
    bins.add_argument("--edges", metavar="E0,E1,…", help="bin edges, as values of the variation measure")
    add_options(group, "--confidence-bins")


def add_table_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for the tables that are computed from the rows."""
    group = parser.add_argument_group("tables")
    add_options(group, "--variation")
    add_bin_options(group)
    add_options(group, "--by-class", "--ties", "--n-threads")


def add_inference_options(parser: argparse.ArgumentParser, *further: str) -> None:
    """Add the options for intervals and p-values, and further shared options."""
    add_options(parser.add_argument_group("inference"), "--level", "--resamples", "--rng-seed", *further)
