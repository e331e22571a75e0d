"""An example with real predictions: three classifiers on scikit-learn's digits, assessed and printed.

The predictions are out-of-fold: every row was predicted by a model fitted without it. They were made by
``scripts/make_digits_example.py`` and are shipped with the package.
"""

import os
from collections.abc import Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from trueness.old_assessment import Comparison, compare
from trueness.old_metrics import variation_gap
from trueness.old_table import AnyRankTable
from trueness.plots.reliability import reliability_of, reliability_text

SEED = 0
REPORT = "trueness-demo.html"
"""Default path of the report: in the current folder."""

BAR_WIDTH = 30

HOW_TO_READ = """\
VCE is the mean distance between the entropy that a model predicts and the entropy of the observed ranks of the true
class. The plug-in value is inflated by noise at this sample size; the debiased value estimates it with unlimited data.
The net gap has a sign: above 0 means over-confident. RCE detects swapped ranks, which VCE does not: the verdict
combines both with the other metrics."""


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


def compare_models(digits: Digits) -> Comparison:
    """Compare all models on the same rows."""
    return compare(digits.y_true, digits.y_prob, rng=SEED)


def answer(*, ascii_only: bool = False) -> str:
    """The text of the demo: one line and one verdict per model, the differences, and the bins of the worst model.

    >>> print(answer())
    Handwritten digits, 10 classes, ...
                          plug-in  debiased  debiased  debiased  debiased         debiased
    model                     VCE       VCE   net gap       ECE       RCE  classwise total       p ...
    naive_Bayes            0.2...
    """
    return _text(compare_models(load_digits()), ascii_only=ascii_only)


def run_demo(report: str | os.PathLike[str] = REPORT, *, ascii_only: bool = False) -> str:
    """Write the report of the worst model, and return the text of the demo with the path of the report."""
    comparison = compare_models(load_digits())
    worst = _worst(comparison)
    comparison.assessments[worst].write_html(
        report, title=f"{worst} on handwritten digits", made_by="trueness demo"
    )
    path = os.path.abspath(os.fsdecode(report))
    text = _text(comparison, ascii_only=ascii_only)
    return f"{text}\n\nReport of {worst}, to open in a browser: {path}"


def _worst(comparison: Comparison) -> str:
    return max(comparison.assessments, key=lambda name: comparison.assessments[name].vce.debiased)


def _text(comparison: Comparison, *, ascii_only: bool) -> str:
    worst = _worst(comparison)
    return "\n\n".join(
        [
            "Handwritten digits, 10 classes, cross-validated predictions",
            comparison.model_table,
            "\n".join(f"{name}: {it.verdict}" for name, it in comparison.assessments.items()),
            comparison.verdict,
            bin_title(worst),
            bin_lines(comparison.assessments[worst].table),
            reliability_text(reliability_of(comparison.assessments[worst]), ascii_only=ascii_only),
            HOW_TO_READ,
        ]
    )


def bin_title(model: str) -> str:
    """The title of `bin_lines`."""
    return f"The bins of {model} (V: the entropy of a row, from 0 for one certain class to 1 for uniform probabilities)"


def bin_lines(table: AnyRankTable) -> str:
    """A heading and one line per bin: range, rows, predicted and observed variation, and the gap with a bar."""
    heading = f"{'V':<12} {'rows':>5} {'predicted':>9} {'observed':>8} {'gap':>6}"
    return "\n".join([heading, *(_bin_line(table, index) for index in range(table.n_bins))])


def _bin_line(table: AnyRankTable, index: int) -> str:
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
    """The gap as a bar, `BAR_WIDTH` characters for a gap of 1: ``+`` for over-confident, ``-`` for under-confident.

    >>> bar(0.2), bar(-0.1), bar(0.0)
    ('++++++', '---', '')
    """
    return ("+" if gap > 0 else "-") * round(BAR_WIDTH * abs(gap))
