"""Edges and curves of other libraries to the bit, and the error of HLE under its own name."""

import numpy as np
import pytest
from convention_rows import ROWS, random_rows

import trueness as tn
from trueness.conventions import CONVENTIONS
from trueness.conventions.assignments import torch_linspace


@pytest.mark.adapters
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_edges_are_those_of_torch(dtype: str) -> None:
    import torch

    for n_bins in range(1, 120):
        theirs = torch.linspace(0, 1, n_bins + 1, dtype=getattr(torch, dtype)).numpy()
        np.testing.assert_array_equal(torch_linspace(n_bins, np.dtype(dtype)), theirs)


@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_curves_are_those_of_scikit_learn(kind: str, n_classes: int, dtype: str, strategy: str) -> None:
    from sklearn.calibration import calibration_curve

    y_true, y_prob = ROWS[kind](n_classes, dtype)
    event, number = (y_true == 1, y_prob[:, 1])
    if n_classes > 2:
        event, number = y_prob.argmax(axis=1) == y_true, y_prob.max(axis=1)
    name = "scikit-learn" if strategy == "uniform" else "scikit-learn-quantile"
    for n_bins in (10, 15):
        theirs = calibration_curve(event, number, n_bins=n_bins, strategy=strategy)
        curve = CONVENTIONS[name].compute(y_true, y_prob, bins=n_bins).curve
        np.testing.assert_array_equal((curve.observed, curve.predicted), theirs)


def test_hle_is_hle_calibration_error() -> None:
    """`hle_calibration_error` sorts equal confidences stably; these are all different."""
    y_true, y_prob = random_rows(3, n_rows=1050)
    expected = tn.hle_calibration_error(y_prob.max(axis=1), y_prob.argmax(axis=1) == y_true)
    found = tn.ece(y_true, y_prob, convention="hle", norm="l2")
    assert found == pytest.approx(expected, abs=1e-12)
