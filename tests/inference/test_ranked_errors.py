"""The noise of the gaps of ranks is exact, and that which is simulated for rows with options is the same."""

import math

import numpy as np
import pytest

import trueness as tn
from trueness.old_inference.estimates import ResampledTable
from trueness.old_inference.null import multinomial_frequencies
from trueness.old_inference.ranked_errors import _mean_sizes, debiased_ranked_error

Y_TRUE, Y_PROB = tn.simulate.calibrated(400, [1.0] * 4, rng=6)
RAGGED = [row.tolist() for row in Y_PROB]
DISTANCES = ("tv", "w1")


@pytest.mark.parametrize("distance", DISTANCES)
def test_exact_sizes_are_the_means_of_draws(distance: str) -> None:
    """The mean of R draws has the standard error sd/√R; five of them are allowed."""
    resampled, draws = ResampledTable.of(tn.tabulate(Y_TRUE, Y_PROB), 99, [0]), 5000
    found = _mean_sizes(resampled, distance)
    drawn = multinomial_frequencies(resampled.bins, draws, [3])
    for m, q in enumerate(resampled.bins.predicted):
        apart = np.concatenate(list(drawn(m))) - q
        sizes = np.abs(apart if distance == "tv" else np.cumsum(apart, axis=1)[:, :-1])
        error = 5 * sizes.std(axis=0) / math.sqrt(draws)
        assert (np.abs(found[m] - sizes.mean(axis=0)) <= error + 1e-15).all()


@pytest.mark.parametrize("distance", DISTANCES)
def test_rows_with_equal_numbers_of_options_have_the_same_noise(distance: str) -> None:
    """Simulated there: a size is about σ·|Z|, whose mean of R draws has a relative error of √((π/2 - 1)/R)."""
    resamples = 20_000
    classes = ResampledTable.of(tn.tabulate(Y_TRUE, Y_PROB), resamples, [0])
    options = ResampledTable.of(tn.tabulate(Y_TRUE, RAGGED, n_options=[4] * len(RAGGED)), resamples, [0])
    assert type(classes.bins) is not type(options.bins)
    error = 6 * math.sqrt((math.pi / 2 - 1) / resamples)
    want, found = (_mean_sizes(each, distance) for each in (classes, options))
    np.testing.assert_allclose(found, want, rtol=2 * error, atol=1e-4)
    mine, theirs = (debiased_ranked_error(each, distance) for each in (classes, options))
    assert theirs.debiased == pytest.approx(mine.debiased, abs=error * mine.value)
