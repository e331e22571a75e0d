"""The band of the observed number of an event, by convolution of the binomials of its cells."""

import numpy as np
import pytest

from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.cumulative import largest_quantile, largest_tail
from trueness.old_inference.events.observed_band import observed_bands


def cells_of(n, p, weight=1.0):
    n, p = np.asarray(n, float), np.asarray(p, float)
    return EventCells(n * weight, n * p * weight, np.zeros_like(n), n * weight**2, weight != 1.0)


def probabilities(n, p):
    """P(X = k) of the sum of the binomials, by adding one row after another."""
    law = np.array([1.0])
    for count, chance in zip(n, p, strict=True):
        for _ in range(count):
            law = np.convolve(law, [1 - chance, chance])
    return law


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
@pytest.mark.parametrize(
    ("n", "p"),
    [([10], [0.9]), ([40, 30, 5], [0.01, 0.3, 0.99]), ([200, 1], [0.002, 0.5]), ([5, 5], [0.0, 1.0])],
)
def test_it_is_the_smallest_number_that_reaches_each_tail(n, p, level):
    below = np.cumsum(probabilities(n, p))
    tail = (1 - level) / 2
    expected = [int(np.argmax(below >= share - 1e-12)) for share in (tail, 1 - tail)]
    low, high = observed_bands([cells_of(n, p)], level)
    assert [low[0], high[0]] == expected


def test_events_together_equal_events_alone_and_no_rows_are_nan():
    events = [cells_of([50], [0.1]), cells_of([], []), cells_of([20, 20], [0.5, 0.7])]
    together = np.stack(observed_bands(events, 0.95))
    for k in (0, 2):
        np.testing.assert_array_equal(together[:, k], np.ravel(observed_bands([events[k]], 0.95)))
    assert np.isnan(together[:, 1]).all()


def test_weights_scale_a_normal_band():
    low, high = observed_bands([cells_of([400], [0.25], weight=2.0)], 0.95)
    sd = 2 * np.sqrt(400 * 0.25 * 0.75)
    np.testing.assert_allclose([low[0], high[0]], [200 - 1.959964 * sd, 200 + 1.959964 * sd], rtol=1e-6)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_the_band_of_a_path_is_left_with_the_stated_probability(level):
    assert largest_tail(largest_quantile(level)) == pytest.approx(1 - level, rel=1e-9)
