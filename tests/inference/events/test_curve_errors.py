"""Calibration curves over cells, and the distances from them."""

import math

import numpy as np
import pytest
from event_rows import NO_CELLS, calibrated_cells, cells_of, event_b, event_grid

from trueness.old_inference.events.curve_errors import MOST_LOESS_DRAWS, curve_errors
from trueness.old_inference.events.loess import loess_frequencies
from trueness.refusals import InvalidValueError


def loess_by_loops(p: np.ndarray, y: np.ndarray, span: float) -> list[float]:
    """A line for every row, fitted to the nearest ⌊span·N⌋ rows with tricube weights."""
    fitted = []
    for at in p:
        distance = np.abs(p - at)
        reach = np.sort(distance)[math.floor(span * len(p)) - 1]
        weight = np.clip(1 - (distance / reach) ** 3, 0, None) ** 3
        root = np.sqrt(weight)
        design = np.stack([root, root * (p - at)], axis=1)
        fitted.append(float(np.linalg.lstsq(design, root * y, rcond=None)[0][0]))
    return fitted


@pytest.mark.parametrize("span", [0.3, 0.75, 1.0])
def test_loess_by_loops(span):
    rng = np.random.default_rng(0)
    p = np.sort(rng.beta(0.5, 1.5, 150))
    y = (rng.random(150) < p).astype(float)
    found = loess_frequencies(p, np.ones(150), np.stack([y, 1 - y]), span)
    assert found[0].tolist() == pytest.approx(loess_by_loops(p, y, span), abs=1e-9)
    np.testing.assert_allclose(found[1], 1 - found[0], atol=1e-9)


def test_loess_in_blocks():
    """More cells than fit into one block of weights: a straight line is its own fit."""
    p = np.linspace(0.01, 0.99, 2500)
    np.testing.assert_allclose(
        loess_frequencies(p, np.ones(2500), (0.2 + 0.5 * p)[None])[0], 0.2 + 0.5 * p, atol=1e-9
    )


def test_loess_of_tied_rows_is_that_of_the_rows():
    rng = np.random.default_rng(1)
    p = np.sort(np.round(rng.random(200), 1).clip(0.05, 0.95))
    y = (rng.random(200) < p).astype(float)
    cells = cells_of(p, y)
    found = loess_frequencies(cells.mean_predicted, cells.count, cells.mean_observed[None])[0]
    want = np.array(loess_by_loops(p, y, 0.75))
    first = np.unique(p, return_index=True)[1]
    assert found.tolist() == pytest.approx(want[first].tolist(), abs=1e-9)


@pytest.mark.parametrize("p", [[0.4], [0.4] * 9 + [0.6], [0.1, 0.9]])
def test_loess_of_hardly_any_cells_is_their_frequency(p):
    y = np.arange(len(p)) % 2
    found = curve_errors(cells_of(p, y), "loess", [0], 9)
    cells = cells_of(p, y)
    assert found.fitted[0] == pytest.approx(cells.mean_observed[0])


def test_distances_are_over_rows():
    """Against np.quantile of all rows, each with the distance of its cell."""
    rng = np.random.default_rng(2)
    p = np.round(rng.random(997), 2)
    cells = cells_of(p, rng.random(997) < p)
    found = curve_errors(cells, "isotonic", [0], 1)
    rows = np.repeat(np.abs(found.fitted - cells.mean_predicted), cells.count.astype(int))
    assert found.ici.value == pytest.approx(rows.mean())
    assert found.e50.value == pytest.approx(np.quantile(rows, 0.5))
    assert found.e90.value == pytest.approx(np.quantile(rows, 0.9))
    assert found.e_max.value == pytest.approx(rows.max())


def test_the_logistic_curve_of_separated_outcomes_is_a_step():
    found = curve_errors(cells_of([0.1, 0.2, 0.7, 0.8], [0, 0, 1, 1]), "logistic", [0], 9)
    assert found.fitted.tolist() == pytest.approx([0, 0, 1, 1], abs=1e-6)


@pytest.mark.parametrize("curve", ["loess", "logistic", "isotonic"])
def test_draws(curve):
    found = curve_errors(event_b(), curve, [0, 1], 299)
    assert found.resamples == (MOST_LOESS_DRAWS if curve == "loess" else 299)
    again, other = curve_errors(event_b(), curve, [0, 1], 299), curve_errors(event_b(), curve, [0, 2], 299)
    assert (again.ici, again.e50, again.e90, again.e_max) == (found.ici, found.e50, found.e90, found.e_max)
    assert other.ici.noise_floor != found.ici.noise_floor
    assert other.ici.value == found.ici.value
    assert 0 < found.e50.noise_floor < found.e90.noise_floor < found.e_max.noise_floor


@pytest.mark.parametrize("curve", ["loess", "logistic", "isotonic"])
def test_miscalibration_is_seen(curve):
    rng = np.random.default_rng(3)
    cells = calibrated_cells(rng, rng.uniform(0.02, 0.98, 2000), event_grid(), slope=0.5)
    found = curve_errors(cells, curve, [0], 99)
    assert found.ici.p_value == 0.01
    assert found.ici.value > 3 * found.ici.noise_floor


def test_weights_of_any_unit():
    p, y, w = [0.1, 0.3, 0.35, 0.6, 0.8, 0.9], [0, 1, 0, 0, 1, 1], np.array([1.0, 2, 1, 3, 1, 1])
    for curve in ("loess", "logistic", "isotonic"):
        one, other = (curve_errors(cells_of(p, y, weight=unit * w), curve, [0], 19) for unit in (1, 1e-3))
        assert one.ici.value == pytest.approx(other.ici.value, rel=1e-9)
        assert one.e90.value == pytest.approx(other.e90.value, rel=1e-9)


def test_without_rows_and_with_another_curve():
    assert math.isnan(curve_errors(NO_CELLS, "loess", [0], 9).ici.value)
    assert curve_errors(NO_CELLS, "loess", [0], 9).reason == "no rows"
    with pytest.raises(InvalidValueError, match="`curve` must be one of 'loess', 'logistic', 'isotonic'"):
        curve_errors(event_b(), "spline", [0], 9)  # type: ignore[arg-type]


@pytest.mark.parametrize("curve", ["loess", "logistic", "isotonic"])
def test_size(curve):
    """300 calibrated events of 150 rows; four standard errors of a share of .05 are .05."""
    rng = np.random.default_rng(4)
    p = np.round(rng.random(150), 2).clip(0.01, 0.99)
    runs = [curve_errors(calibrated_cells(rng, p), curve, [k], 99) for k in range(300)]
    for name in ("ici", "e50", "e90", "e_max"):
        assert np.mean([getattr(run, name).p_value <= 0.05 for run in runs]) == pytest.approx(0.05, abs=0.05)
