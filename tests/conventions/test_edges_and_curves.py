"""Edges and curves of other libraries to the bit, and the error of HLE under its own name."""

import numpy as np
import pytest
from convention_rows import random_rows

import trueness as tn
from trueness.conventions.assignments import torch_linspace


@pytest.mark.adapters
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_edges_are_those_of_torch(dtype: str) -> None:
    import torch

    for n_bins in range(1, 120):
        theirs = torch.linspace(0, 1, n_bins + 1, dtype=getattr(torch, dtype)).numpy()
        np.testing.assert_array_equal(torch_linspace(n_bins, np.dtype(dtype)), theirs)


def test_hle_is_hle_calibration_error() -> None:
    """`hle_calibration_error` sorts equal confidences stably; these are all different."""
    y_true, y_prob = random_rows(3, n_rows=1050)
    expected = tn.hle_calibration_error(y_prob.max(axis=1), y_prob.argmax(axis=1) == y_true)
    found = tn.ece(y_true, y_prob, convention="hle", norm="l2")
    assert found == pytest.approx(expected, abs=1e-12)
