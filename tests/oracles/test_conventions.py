"""Every convention with bins against its published definition in plain loops."""

from collections.abc import Callable

import convention_oracle as oracle
import numpy as np
import pytest
import speak
from convention_rows import ROWS, random_rows, rows_on_edges

FLOAT32 = 2e-6  # sums of 1500 float32 numbers
FLOAT64 = 1e-12

Oracle = Callable[[np.ndarray, np.ndarray, int], float]

DEFINITIONS: dict[str, tuple[Oracle, float]] = {
    "torchmetrics": (oracle.torchmetrics, FLOAT32),
    "netcal": (oracle.netcal, FLOAT64),
    "scikit-learn": (oracle.scikit_learn, FLOAT64),
    "uncertainty-calibration": (oracle.uncertainty_calibration, FLOAT64),
    "uncertainty-calibration-equal-mass": (
        lambda y, p, n: oracle.equal_mass(oracle.top_label(y, p), n),
        FLOAT64,
    ),
    "mapie": (oracle.mapie, FLOAT64),
}


@pytest.mark.parametrize("n_bins", [10, 15])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("name", DEFINITIONS)
def test_number_against_the_definition(name: str, kind: str, n_classes: int, n_bins: int) -> None:
    definition, close = DEFINITIONS[name]
    y_true, y_prob = ROWS[kind](n_classes)
    expected = definition(y_true, y_prob, n_bins)
    assert expected > 0.01
    assert speak.ece(y_true, y_prob, convention=name, bins=n_bins) == pytest.approx(expected, abs=close)


@pytest.mark.parametrize("norm", ["l2", "max"])
def test_norms_of_torchmetrics(norm: str) -> None:
    y_true, y_prob = rows_on_edges(3)
    expected = oracle.torchmetrics(y_true, y_prob, 10, norm)
    assert speak.ece(y_true, y_prob, convention="torchmetrics", bins=10, norm=norm) == pytest.approx(
        expected, abs=FLOAT32
    )


@pytest.mark.parametrize("n_classes", [3, 6])
@pytest.mark.parametrize("kind", ROWS)
def test_helm_counts_shared_maxima_as_wrong(kind: str, n_classes: int) -> None:
    y_true, y_prob = ROWS[kind](n_classes)
    y_prob[-200:], y_true[-200:] = 1 / n_classes, 0
    assert speak.ece(y_true, y_prob, convention="helm") == pytest.approx(
        oracle.helm(y_true, y_prob), abs=FLOAT64
    )
    how = {"convention": "uncertainty-calibration-equal-mass", "bins": 10}
    assert abs(speak.ece(y_true, y_prob, **how) - oracle.helm(y_true, y_prob)) > 0.01


@pytest.mark.parametrize("n_rows", [100, 199, 200, 1000, 1050])
def test_hle_leaves_out_the_last_bin(n_rows: int) -> None:
    y_true, y_prob = random_rows(3, n_rows=n_rows)
    expected = oracle.humanitys_last_exam(oracle.top_label(y_true, y_prob))
    found = speak.ece(y_true, y_prob, convention="hle", norm="l2")
    assert found == pytest.approx(expected, abs=FLOAT64)
    assert (found == 0) == (n_rows < 200)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_uce_of_the_authors_drops_certain_rows(n_classes: int, dtype: str) -> None:
    """Their logarithm of C and their shares are float32."""
    y_true, y_prob = random_rows(n_classes, dtype)
    y_prob[:100] = np.eye(n_classes)[0]
    expected = oracle.laves_uce(y_true, y_prob.astype(np.float64), 15)
    found = speak.uce(y_true, y_prob, convention="laves-uce")
    assert found == pytest.approx(expected, abs=FLOAT32)


def test_probmetrics_is_torchmetrics_away_from_0_and_1() -> None:
    """Clamping to [1e-7, 1 - 1e-7] changes no bin of these rows."""
    y_true, y_prob = random_rows(3)
    expected = oracle.torchmetrics(y_true, y_prob, 15)
    assert speak.ece(y_true, y_prob, convention="probmetrics") == pytest.approx(expected, abs=FLOAT32)


def test_probmetrics_has_no_bin_for_1_alone() -> None:
    """1 becomes 1 - 1e-7 or less, below the last edge: .95 right and 1 wrong share a bin."""
    y_true, y_prob = np.array([1, 0]), np.array([0.95, 1.0])
    assert speak.ece(y_true, y_prob, convention="torchmetrics", bins=10) == pytest.approx((0.05 + 1) / 2)
    assert speak.ece(y_true, y_prob, convention="probmetrics", bins=10) == pytest.approx(0.475, abs=1e-6)


def test_smooth_error_of_a_constant_prediction_is_its_gap() -> None:
    """All residuals have one sign, so the kernel takes nothing away: smECE = |.7 - .4|."""
    y_true = np.array([1] * 40 + [0] * 60)
    assert speak.ece(y_true, np.full(100, 0.7), convention="relplot") == pytest.approx(0.3, abs=2e-3)
