"""An example with real predictions: three classifiers on scikit-learn's digits, assessed and printed.

The predictions are out-of-fold: every row was predicted by a model that had not seen it. They were made by
``scripts/make_digits_example.py`` and are shipped with the package.
"""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from trueness.metrics import (
    expected_calibration_error,
    ranked_calibration_error,
    signed_parts,
    uncertainty_calibration_error,
    variation_calibration_error,
    variation_gap,
)
from trueness.table import CalibrationTable
from trueness.tabulation import tabulate

BAR_WIDTH = 30

HOW_TO_READ = """\
VCE is the mean distance between the entropy a model predicts and the entropy of the ranks that came true; net is
the same with its sign, so that net > 0 says over-confident: what came true was more spread out than predicted.
VCE cannot see which rank came true, RCE can: trust a small VCE only beside a small RCE."""

FOOTNOTES = """\
UCE*        not zero even for a perfectly calibrated model: it compares an error rate with an entropy
tied        rows whose true class has exactly the same probability as another class
impossible  rows whose true class was given probability 0"""


class Digits(NamedTuple):
    """The example: labels (rows,) and, for each model by name, probabilities (rows, classes)."""

    y_true: npt.NDArray[Any]
    y_prob: Mapping[str, npt.NDArray[Any]]


class ModelAnswer(NamedTuple):
    """One model's two tables; every number of the demo is read off them."""

    name: str
    by_entropy: CalibrationTable
    by_confidence: CalibrationTable

    @property
    def accuracy(self) -> float:
        """The share of rows whose true class has rank 1."""
        return float(self.by_entropy.rank_count[:, 0].sum() / self.by_entropy.n_rows)

    @property
    def vce(self) -> float:
        """The variation calibration error, by entropy."""
        return variation_calibration_error(self.by_entropy)

    @property
    def net(self) -> float:
        """The signed part of it: above 0 over-confident, below 0 under-confident."""
        return signed_parts(self.by_entropy).net


def load_digits() -> Digits:
    """The shipped predictions.

    >>> digits = load_digits()
    >>> digits.y_true.shape, sorted(digits.y_prob)
    ((1797,), ['logistic_regression', 'naive_Bayes', 'random_forest'])
    """
    with files("trueness").joinpath("data", "digits.npz").open("rb") as file:
        arrays = dict(np.load(file, allow_pickle=False))
    return Digits(y_true=arrays.pop("y_true"), y_prob=arrays)


def assess_models(digits: Digits) -> list[ModelAnswer]:
    """Each model's table by entropy and table by confidence, in the order of the models."""
    return [
        ModelAnswer(
            name=name.replace("_", " "),
            by_entropy=tabulate(digits.y_true, y_prob, variation="entropy"),
            by_confidence=tabulate(digits.y_true, y_prob, variation="confidence"),
        )
        for name, y_prob in digits.y_prob.items()
    ]


def answer() -> str:
    """The whole printed answer: one line per model, the bins of the worst, and how to read them.

    >>> print(answer())
    Handwritten digits, 10 classes: ...
    model                 rows accuracy    VCE  net ...
    naive Bayes           1797    0.835  0.256  +0.256 over-confident ...
    """
    answers = assess_models(load_digits())
    worst = max(answers, key=lambda model: model.vce)
    title = "Handwritten digits, 10 classes: every row predicted by a model that had not seen it"
    parts = [
        title,
        model_lines(answers),
        FOOTNOTES,
        bin_title(worst),
        bin_lines(worst.by_entropy),
        HOW_TO_READ,
    ]
    return "\n\n".join(parts)


def model_lines(answers: Sequence[ModelAnswer]) -> str:
    """A heading and one line per model."""
    heading = (
        f"{'model':<20} {'rows':>5} {'accuracy':>8} {'VCE':>6}  {'net':<22} {'ECE':>6} {'UCE*':>6}"
        f" {'RCE tv':>6} {'RCE w1':>6} {'tied':>5} {'impossible':>10}"
    )
    return "\n".join([heading, *map(_model_line, answers)])


def _model_line(model: ModelAnswer) -> str:
    table = model.by_entropy
    return (
        f"{model.name:<20} {table.n_rows:>5} {model.accuracy:>8.3f} {model.vce:>6.3f}"
        f"  {model.net:<+6.3f} {confidence_word(model.net):<15} {expected_calibration_error(model.by_confidence):>6.3f}"
        f" {uncertainty_calibration_error(table):>6.3f} {ranked_calibration_error(table, 'tv'):>6.3f}"
        f" {ranked_calibration_error(table, 'w1'):>6.3f} {table.tied_rows:>5} {table.impossible_rows:>10}"
    )


def confidence_word(net: float) -> str:
    """What the sign of a net gap means, at the three decimals that are printed.

    >>> confidence_word(0.02), confidence_word(-0.02), confidence_word(0.0001)
    ('over-confident', 'under-confident', 'balanced')
    """
    if abs(net) < 0.0005:
        return "balanced"
    return "over-confident" if net > 0 else "under-confident"


def bin_title(model: ModelAnswer) -> str:
    """What the lines of `bin_lines` show."""
    return f"The bins of {model.name} (V: the entropy of a row, 0 for a certain one, 1 for a uniform one)"


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
