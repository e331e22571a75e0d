"""The temperature at which predicted and observed variation are equal."""

import numpy as np
import pytest

import trueness as tn
from trueness.recalibration import HIGHEST, LOWEST, scale_by_temperature, variation_temperature

SETTINGS = [(3, [1.0, 1.0, 1.0]), (10, [10.0] + [1.0] * 9), (40, [0.1] * 40)]


@pytest.mark.parametrize(("n_classes", "alpha"), SETTINGS, ids=["C3", "C10 skew", "C40"])
@pytest.mark.parametrize("true_temperature", [1.7, 0.6])
def test_the_true_temperature_is_recovered_within_the_stated_error(
    n_classes: int, alpha: list[float], true_temperature: float
) -> None:
    """60 times 1000 rows: z = (T - truth)/error has sd 1 ± .091 and mean 0 ± .13 if the error is correct.

    Four of these are allowed on either side, and .05 more for the mean, since T has a bias of second order, 1/√1000 of
    its error.
    """
    z = []
    for seed in range(60):
        y_true, y_prob = tn.simulate.calibrated(1000, alpha, rng=seed)
        found = variation_temperature(y_true, tn.simulate.sharpen(y_prob, true_temperature))
        z.append((found.value - true_temperature) / found.standard_error)
    assert abs(np.mean(z)) < 4 * 0.13 + 0.05
    assert 1 - 4 * 0.091 < np.std(z) < 1 + 4 * 0.091


def test_the_gap_is_0_and_the_order_is_the_same() -> None:
    """Checked independently: `assess` simulates a calibrated model at that temperature."""
    y_true, y_prob = tn.simulate.calibrated(4000, np.ones(5), rng=1)
    sharp = tn.simulate.sharpen(y_prob, 2.0)
    found = variation_temperature(y_true, sharp)
    after = scale_by_temperature(sharp, found.value)
    np.testing.assert_allclose(after, tn.simulate.sharpen(sharp, 1 / found.value), atol=1e-12)
    np.testing.assert_array_equal(np.argsort(after, axis=1), np.argsort(sharp, axis=1))
    before_net = tn.assess(y_true, sharp, bins=tn.EqualMass(10), rng=0).net
    after_net = tn.assess(y_true, after, bins=tn.EqualMass(10), rng=0).net
    assert before_net.value > 0.1
    # V has changed, and with it the bins; the rows are the same, so the rest is well below the noise.
    noise = (after_net.interval.high - after_net.interval.low) / (2 * 1.96)
    assert abs(after_net.value - after_net.noise_floor) < noise / 2


@pytest.mark.parametrize("variation", ["confidence", "iqv", "margin"])
def test_other_measures_give_the_same_temperature(variation: str) -> None:
    y_true, y_prob = tn.simulate.calibrated(3000, np.ones(4), rng=2)
    found = variation_temperature(y_true, tn.simulate.sharpen(y_prob, 1.6), variation=variation)
    assert found.value == pytest.approx(1.6, abs=4 * found.standard_error)
    assert 0.01 < found.standard_error < 0.15


def test_logits_names_and_weights() -> None:
    y_true, y_prob = tn.simulate.calibrated(1500, np.ones(3), rng=3)
    plain = variation_temperature(y_true, y_prob)
    assert variation_temperature(y_true, np.log(y_prob), from_logits=True).value == pytest.approx(
        plain.value, rel=1e-6
    )
    names = np.array(["x", "y", "z"])[y_true]
    assert variation_temperature(names, y_prob, classes=["x", "y", "z"]) == plain
    twice = variation_temperature(y_true, y_prob, sample_weight=np.full(1500, 2.0))
    assert twice.value == pytest.approx(plain.value, rel=1e-6)
    some = np.arange(1500) % 2
    half = variation_temperature(y_true[some > 0], y_prob[some > 0])
    assert variation_temperature(y_true, y_prob, sample_weight=some).value == pytest.approx(
        half.value, rel=1e-6
    )


def test_if_no_temperature_closes_the_gap() -> None:
    """If every true class has rank 1 no prediction is sharp enough, if ranks are uniform none is dispersed enough."""
    _, y_prob = tn.simulate.calibrated(500, np.ones(3), rng=4)
    certain = variation_temperature(y_prob.argmax(axis=1), y_prob)
    assert (certain.value, certain.standard_error) == (LOWEST, np.inf)
    turned = variation_temperature(np.arange(300) % 3, np.tile([0.5, 0.3, 0.2], (300, 1)))
    assert (turned.value, turned.standard_error) == (HIGHEST, np.inf)
