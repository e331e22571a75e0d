"""The expected and observed confusion matrix."""

import numpy as np
import pytest
from event_rows import T_LABELS, T_PROBS
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn


def test_vector_T() -> None:
    table = tn.tabulate_confusion(T_LABELS, T_PROBS)
    want = [(1.87, 0.80, 0.33), (0.42, 1.76, 0.82), (0.27, 0.26, 1.47)]
    assert table.expected == pytest.approx(np.array(want), abs=1e-12)
    assert table.observed.tolist() == [[2, 1, 0], [0, 2, 1], [0, 0, 2]]
    assert table.n_rows == 8


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(1, 80))
def test_against_plain_loops_and_in_parts(seed: int, n_classes: int, cut: int) -> None:
    y, p = tn.simulate.calibrated(100, [0.4] * n_classes, rng=seed)
    expected, observed = np.zeros((n_classes,) * 2), np.zeros((n_classes,) * 2)
    for label, row in zip(y, p, strict=True):
        expected[row.argmax()] += row
        observed[row.argmax(), label] += 1
    table = tn.tabulate_confusion(y, p)
    assert table.expected == pytest.approx(expected, abs=1e-12)
    assert np.array_equal(table.observed, observed)
    assert sum(tn.tabulate_confusion(y[part], p[part]) for part in (slice(cut, None), slice(0, cut))) == table


def test_threads_do_not_change_a_bit() -> None:
    y, p = tn.simulate.calibrated(9000, [0.4] * 5, rng=0)
    assert tn.tabulate_confusion(y, p, n_threads=3) == tn.tabulate_confusion(y, p)


def test_gaps_of_a_calibrated_model_are_nearly_standard_normal() -> None:
    y, p = tn.simulate.calibrated(20_000, [0.5] * 6, rng=0)
    gaps = tn.tabulate_confusion(y, p).gap
    assert np.abs(gaps).max() < 4.5
    # Binomial noise of the mean is at most slightly wider than that of the rows.
    assert 0.7 < gaps.std() < 1.2


def test_a_class_that_is_never_predicted_has_no_gaps() -> None:
    table = tn.tabulate_confusion(["a", "b"], [[0.7, 0.2, 0.1], [0.6, 0.3, 0.1]], classes=["a", "b", "c"])
    assert np.isnan(table.gap[1:]).all()
    assert np.isfinite(table.gap[0]).all()
    assert table.name_of(2) == "c"


def test_refusals() -> None:
    y, p = tn.simulate.calibrated(5, np.ones(51), rng=1)
    with pytest.raises(tn.Refusal, match="at most 50 classes"):
        tn.tabulate_confusion(y, p)
    with pytest.raises(tn.Refusal, match="cannot be added"):
        tn.tabulate_confusion([0], [[0.7, 0.3]]) + tn.tabulate_confusion([0], [[0.7, 0.2, 0.1]])
    with pytest.raises(tn.Refusal) as caught:
        tn.tabulate_confusion([0, 1], [[0.7, 0.3], [0.7, 0.7]])
    assert caught.value.row == 1
