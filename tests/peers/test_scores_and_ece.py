"""ECE against other libraries, where the bins are the same; and where they are not, how much they differ.

Accuracy, Brier score and log-loss have no bins, and must agree everywhere.

Bins here cover [1/C, 1] in M parts, theirs [0, 1] in M' parts. The two agree on [1/C, 1] if M' = M C/(C-1) is whole
(the width (1 - 1/C)/M is 1/M' and 1/C a multiple of it): 20 for C = 2, 15 for C = 3, 12 for C = 6, with M = 10.
"""

from typing import Any

import numpy as np
import pytest
import speak
from speak import simulate, sums_of

CASES = {2: 20, 3: 15, 6: 12}


def rows_away_from_edges(
    n_classes: int, n_bins: int, dtype: str = "float64"
) -> tuple[np.ndarray, np.ndarray]:
    """Over-confident rows whose confidence is at least 1e-4 of the range from every edge of n_bins over [0, 1]."""
    y_true, y_prob = simulate.calibrated(4000, np.ones(n_classes), rng=n_classes)
    y_prob = simulate.sharpen(y_prob, 1.5)
    top = y_prob.max(axis=1) * n_bins
    keep = np.abs(top - np.round(top)) > 1e-4 * n_bins
    return y_true[keep], y_prob[keep].astype(dtype)


@pytest.mark.parametrize("n_classes", CASES)
def test_ece_against_scikit_learn(n_classes: int) -> None:
    """The top label as a binary problem, with the confidence as the probability that it is correct."""
    from sklearn.calibration import calibration_curve

    n_bins = CASES[n_classes]
    y_true, y_prob = rows_away_from_edges(n_classes, n_bins)
    right, confidence = y_prob.argmax(axis=1) == y_true, y_prob.max(axis=1)
    accuracy, mean = calibration_curve(right, confidence, n_bins=n_bins, strategy="uniform")
    count = np.histogram(confidence, np.arange(n_bins + 1) / n_bins)[0]
    theirs = np.abs(accuracy - mean) @ count[count > 0] / len(y_true)
    assert theirs > 0.03
    assert speak.ece(y_true, y_prob) == pytest.approx(theirs, abs=1e-12)


def test_equal_mass_against_scikit_learn() -> None:
    """strategy="quantile" takes np.percentile as edges: with N = M k rows and no ties, groups of k rows each."""
    from sklearn.calibration import calibration_curve

    y_true, y_prob = (part[:3000] for part in rows_away_from_edges(3, 15))
    right, confidence = y_prob.argmax(axis=1) == y_true, y_prob.max(axis=1)
    accuracy, mean = calibration_curve(right, confidence, n_bins=10, strategy="quantile")
    assert speak.ece(y_true, y_prob, bins=speak.EqualMass(10)) == pytest.approx(
        np.abs(accuracy - mean).mean(), abs=1e-12
    )


@pytest.mark.peers
@pytest.mark.parametrize("n_classes", CASES)
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_ece_against_torchmetrics(n_classes: int, norm: str) -> None:
    """Their sums are float32 over some 4000 rows: 1e-5. Their extra bin for confidence 1 stays empty here."""
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    n_bins = CASES[n_classes]
    y_true, y_prob = rows_away_from_edges(n_classes, n_bins, "float32")
    theirs = multiclass_calibration_error(
        torch.tensor(y_prob), torch.tensor(y_true), num_classes=n_classes, n_bins=n_bins, norm=norm
    )
    assert float(theirs) > 0.03
    assert speak.ece(y_true, y_prob, norm=norm) == pytest.approx(float(theirs), abs=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 3, 10, 100])
def test_scores_against_scikit_learn(n_classes: int, dtype: str, weighted: bool) -> None:
    """Their brier_score_loss sums over the classes too with scale_by_half=False; float32 rows are given as float64."""
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

    y_true, y_prob = simulate.calibrated(3000, np.full(n_classes, 0.7), rng=n_classes)
    y_prob = y_prob.astype(dtype)
    weight = np.random.default_rng(1).gamma(1.0, 1.0, 3000) if weighted else None
    found = sums_of(speak.tabulate(y_true, y_prob, sample_weight=weight))
    y_prob = y_prob.astype(np.float64)
    y_prob /= y_prob.sum(axis=1, keepdims=True)
    how: dict[str, Any] = {"sample_weight": weight}
    labels = np.arange(n_classes)
    brier = (
        2 * brier_score_loss(y_true, y_prob[:, 1], scale_by_half=True, **how)
        if n_classes == 2
        else brier_score_loss(y_true, y_prob, labels=labels, scale_by_half=False, **how)
    )
    close = 1e-6 if dtype == "float32" else 1e-12  # theirs needs rows that are divided by their sums
    assert found["accuracy"] == pytest.approx(accuracy_score(y_true, y_prob.argmax(axis=1), **how), rel=1e-12)
    assert found["brier_score"] == pytest.approx(brier, rel=close)
    assert found["log_loss"] == pytest.approx(log_loss(y_true, y_prob, labels=labels, **how), rel=close)


@pytest.mark.peers
@pytest.mark.parametrize("n_classes", [2, 10, 100])
def test_scores_of_logits_against_torch(n_classes: int) -> None:
    """cross_entropy takes ln p from the logits, too: logits that differ by thousands still have a finite loss."""
    import torch
    from torch.nn.functional import cross_entropy, mse_loss, one_hot

    rng = np.random.default_rng(n_classes)
    logits, labels = rng.normal(0, 3, (2000, n_classes)), rng.integers(0, n_classes, 2000)
    logits[:50] *= 1000
    z, y = torch.tensor(logits), torch.tensor(labels)
    found = sums_of(speak.tabulate(labels, logits, from_logits=True))
    assert found["log_loss"] == pytest.approx(cross_entropy(z, y).item(), rel=1e-12)
    squares = mse_loss(z.softmax(dim=1), one_hot(y, n_classes).double(), reduction="sum")
    assert found["brier_score"] == pytest.approx(squares.item() / 2000, rel=1e-12)
    assert found["accuracy"] == (z.argmax(dim=1) == y).double().mean().item()


# Confidences .1, .2, ..., 1.0 over ten classes, a hundred rows each, of which so many are right: the gaps alternate
# in sign, so that rows which fall into a neighbour's bin cancel instead of adding up.
RIGHT = {1: 20, 2: 10, 3: 40, 4: 30, 5: 60, 6: 50, 7: 80, 8: 70, 9: 100, 10: 90}
EDGES = [k / 10 for k in range(11)]
GROUPED = (
    sum(abs(right / 100 - k / 10) for k, right in RIGHT.items()) / 10
)  # each confidence its own bin: 1/10


def rows_on_edges(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    top = np.repeat(np.arange(1, 11) / 10, 100)
    rest = (1 - top) / 9
    y_prob = np.column_stack([top, *[rest] * 9]).astype(dtype)
    y_true = np.concatenate([[0] * right + [1] * (100 - right) for right in RIGHT.values()])
    return y_true, y_prob


@pytest.mark.parametrize("dtype", ["float64", "float32", "float32 cast", "float16"])
def test_decimals_on_edges_are_grouped_exactly(dtype: str) -> None:
    """Ten confidences, ten bins ((k-1)/10, k/10]: the exact value, in any precision."""
    y_true, y_prob = rows_on_edges(dtype.partition(" ")[0])
    if "cast" in dtype:
        y_prob = y_prob.astype(np.float64)
    exact = {"float64": 1e-12, "float32": 1e-7, "float32 cast": 1e-7, "float16": 1e-3}[dtype]
    assert pytest.approx(0.1) == GROUPED
    assert speak.ece(y_true, y_prob, bins=speak.Edges(EDGES)) == pytest.approx(GROUPED, abs=exact)


def scikit_learn(y_true: np.ndarray, y_prob: np.ndarray) -> float:
    """ECE from calibration_curve; the counts, which it does not return, follow from its edges."""
    from sklearn.calibration import calibration_curve

    right, confidence = (y_true == 0), y_prob[:, 0]
    accuracy, mean = calibration_curve(right, confidence, n_bins=10, strategy="uniform")
    where = np.searchsorted(np.linspace(0, 1, 11)[1:-1], confidence)
    count = np.bincount(where, minlength=10)
    return float(np.abs(accuracy - mean) @ count[count > 0] / len(right))


def torchmetrics(y_true: np.ndarray, y_prob: np.ndarray) -> float:
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    rows, labels = torch.tensor(y_prob), torch.tensor(y_true)
    return float(multiclass_calibration_error(rows, labels, num_classes=10, n_bins=10, norm="l1"))


def binned(where: np.ndarray, y_true: np.ndarray, y_prob: np.ndarray) -> float:
    """ECE of the rows in the bins of another library."""
    right, confidence = y_true == 0, y_prob[:, 0].astype(np.float64)
    groups = [where == m for m in np.unique(where)]
    return float(sum(abs(right[g].mean() - confidence[g].mean()) * g.mean() for g in groups))


def digitize(y_true: np.ndarray, y_prob: np.ndarray) -> float:
    return binned(np.digitize(y_prob[:, 0], np.linspace(0, 1, 11)[1:-1]), y_true, y_prob)


def digitize_right(y_true: np.ndarray, y_prob: np.ndarray) -> float:
    return binned(np.digitize(y_prob[:, 0], np.linspace(0, 1, 11)[1:-1], right=True), y_true, y_prob)


def ceiling(y_true: np.ndarray, y_prob: np.ndarray) -> float:
    return binned(np.ceil(y_prob[:, 0] * 10), y_true, y_prob)


def floor(y_true: np.ndarray, y_prob: np.ndarray) -> float:
    return binned(np.minimum(np.floor(y_prob[:, 0] * 10), 9), y_true, y_prob)


@pytest.mark.parametrize(
    ("library", "dtype", "value"),
    [
        (scikit_learn, "float64", 0.1),
        (scikit_learn, "float32", 0.04),  # .4 joins .5, .6 joins .7, .8 joins .9
        (scikit_learn, "float16", 0.060022),
        pytest.param(torchmetrics, "float64", 0.1, marks=pytest.mark.peers),
        pytest.param(torchmetrics, "float32", 0.1, marks=pytest.mark.peers),
        pytest.param(torchmetrics, "float16", 0.060022, marks=pytest.mark.peers),
        (digitize, "float64", 0.04),  # .2 joins .3, .5 joins .6, .9 joins 1.0
        (digitize, "float32", 0.06),
        (digitize_right, "float64", 0.1),
        (digitize_right, "float32", 0.04),
        (ceiling, "float64", 0.1),
        (floor, "float64", 0.08),
    ],
)
def test_other_libraries_on_decimals_on_edges(library: Any, dtype: str, value: float) -> None:
    """The numbers of the table in the docs, which are out of date if this fails."""
    assert library(*rows_on_edges(dtype)) == pytest.approx(value, abs=1e-5)


def rows_near_certainty() -> tuple[np.ndarray, np.ndarray]:
    """Fifty rows of confidence 1 with 45 right, fifty of .95 all right: one bin (.9, 1], |.95 - .975| = .025."""
    y_prob = np.zeros((100, 10))
    y_prob[:, 0], y_prob[50:, :2] = 1.0, (0.95, 0.05)
    return np.repeat([0, 1, 0], [45, 5, 50]), y_prob


def test_certainty_shares_the_last_bin() -> None:
    y_true, y_prob = rows_near_certainty()
    assert speak.ece(y_true, y_prob, bins=speak.Edges(EDGES)) == pytest.approx(0.025, abs=1e-12)


@pytest.mark.parametrize(
    ("library", "value"),
    [
        (scikit_learn, 0.025),
        pytest.param(torchmetrics, 0.075, marks=pytest.mark.peers),  # bin 11 of 10: |.9 - 1|/2 + |1 - .95|/2
    ],
)
def test_other_libraries_on_certain_predictions(library: Any, value: float) -> None:
    assert library(*rows_near_certainty()) == pytest.approx(value, abs=1e-6)


@pytest.mark.peers
@pytest.mark.parametrize("n_bins", [10, 15])
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_error_of_each_class_against_torchmetrics(n_bins: int, norm: str) -> None:
    """On random rows, which are on no edge; in float64 torchmetrics keeps them so."""
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    y_true, y_prob = simulate.calibrated(3000, np.ones(4), rng=4)
    y_prob = simulate.sharpen(y_prob, 1.4)
    of_classes = []
    for c in range(4):
        y, p = (y_true == c).astype(int), y_prob[:, c]
        theirs = binary_calibration_error(torch.tensor(p), torch.tensor(y), n_bins, norm).item()
        ours = speak.cwece(y, np.column_stack([1 - p, p]), bins=n_bins, norm=norm)
        assert ours == pytest.approx(theirs, abs=1e-14)
        of_classes.append(theirs)
    found = speak.cwece(y_true, y_prob, bins=n_bins, norm=norm)
    assert found == pytest.approx(np.mean(of_classes), abs=1e-14)
