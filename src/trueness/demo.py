"""An example with real predictions: three classifiers on scikit-learn's digits, assessed and printed.

The predictions are out-of-fold: every row was predicted by a model that had not seen it. They were made by
``scripts/make_digits_example.py`` and are shipped with the package.
"""

import os
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from trueness.assessment import Comparison, compare
from trueness.metrics import variation_gap
from trueness.plots.readings import reliability
from trueness.plots.text import reliability_text
from trueness.table import CalibrationTable

SEED = 0
REPORT = "trueness-demo.html"
"""Where the report goes if nothing else is said: in the folder where the command was given."""

BAR_WIDTH = 30

HOW_TO_READ = """\
VCE is the mean distance between the entropy that a model predicts and the entropy of the observed ranks of the true
class. The plug-in value is inflated by noise at this sample size; the debiased value estimates it with unlimited data.
The net gap has a sign: above 0 means over-confident. VCE cannot see which rank was observed, RCE can: the verdict rests
on both, and on the other metrics."""


class Digits(NamedTuple):
    """The example: labels (rows,) and, for each model by name, probabilities (rows, classes)."""

    y_true: npt.NDArray[Any]
    y_prob: Mapping[str, npt.NDArray[Any]]


def load_digits() -> Digits:
    """The shipped predictions.

    >>> digits = load_digits()
    >>> digits.y_true.shape, sorted(digits.y_prob)
    ((1797,), ['logistic_regression', 'naive_Bayes', 'random_forest'])
    """
    with files("trueness").joinpath("data", "digits.npz").open("rb") as file:
        arrays = dict(np.load(file, allow_pickle=False))
    return Digits(y_true=arrays.pop("y_true"), y_prob=arrays)


def compared(digits: Digits) -> Comparison:
    """All models on the same rows, each with its assessment."""
    return compare(digits.y_true, digits.y_prob, rng=SEED)


def answer(*, ascii_only: bool = False) -> str:
    """All that the demo prints: one line and one sentence per model, the differences, the bins of the worst.

    >>> print(answer())
    Handwritten digits, 10 classes: ...
                          plug-in  debiased  debiased  debiased  debiased
    model                     VCE       VCE   net gap       ECE       RCE       p  accuracy   Brier  log-loss
    naive_Bayes            0.2...
    """
    return _printed(compared(load_digits()), ascii_only=ascii_only)


def run_demo(report: str | os.PathLike[str] = REPORT, *, ascii_only: bool = False) -> str:
    """The printed answer, and the report of the worst model written to a file, whose path is the last line."""
    comparison = compared(load_digits())
    worst = _worst(comparison)
    comparison.assessments[worst].write_html(
        report, title=f"{worst} on handwritten digits", made_by="trueness demo"
    )
    told = f"The report of {worst}, to be opened in a browser: {os.path.abspath(os.fsdecode(report))}"
    return f"{_printed(comparison, ascii_only=ascii_only)}\n\n{told}"


def _worst(comparison: Comparison) -> str:
    return max(comparison.assessments, key=lambda name: comparison.assessments[name].vce.debiased)


def _printed(comparison: Comparison, *, ascii_only: bool) -> str:
    worst = _worst(comparison)
    return "\n\n".join(
        [
            "Handwritten digits, 10 classes: every row predicted by a model that had not seen it",
            comparison.model_table,
            "\n".join(f"{name}: {it.verdict}" for name, it in comparison.assessments.items()),
            comparison.verdict,
            bin_title(worst),
            bin_lines(comparison.assessments[worst].table),
            reliability_text(reliability(comparison.assessments[worst]), ascii_only=ascii_only),
            HOW_TO_READ,
        ]
    )


def bin_title(model: str) -> str:
    """What the lines of `bin_lines` show."""
    return f"The bins of {model} (V: the entropy of a row, 0 for a certain one, 1 for a uniform one)"


def bin_lines(table: CalibrationTable) -> str:
    """A heading and one line per bin: its range, its rows, both variations, and the gap as a number and a bar."""
    heading = f"{'V':<12} {'rows':>5} {'predicted':>9} {'observed':>8} {'gap':>6}"
    return "\n".join([heading, *(_bin_line(table, index) for index in range(table.n_bins))])


def _bin_line(table: CalibrationTable, index: int) -> str:
    low, high = table.edges[index : index + 2]
    span = f"{'[' if index == 0 else '('}{low:.2f}, {high:.2f}]"
    if table.count[index] == 0:
        return f"{span:<12} {0:>5}"
    gap = float(variation_gap(table)[index])
    return (
        f"{span:<12} {table.count[index]:>5} {table.predicted_variation[index]:>9.3f}"
        f" {table.observed_variation[index]:>8.3f} {gap:>+6.3f}  {bar(gap)}"
    ).rstrip()


def bar(gap: float) -> str:
    """A bar of a gap, `BAR_WIDTH` characters for a gap of 1: ``+`` for over-confident, ``-`` for under-confident.

    >>> bar(0.2), bar(-0.1), bar(0.0)
    ('++++++', '---', '')
    """
    return ("+" if gap > 0 else "-") * round(BAR_WIDTH * abs(gap))
