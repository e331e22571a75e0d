"""The map of bins and ranks, checked by what was drawn."""

import numpy as np

import trueness as tn
from trueness.plots import RankHeatMapDisplay
from trueness.plots.rank_map import rank_map_of
from trueness.plots.rank_map.data import LARGEST_GAP
from trueness.plots.table_estimates import TableEstimates


class TestHeatMap:
    def test_colours_are_the_standardised_gaps(self, result):
        display = RankHeatMapDisplay.from_assessment(result)
        shown = display.ax_.images[0].get_array()
        n = result.table.count[:6, None]
        q, r = result.table.mean_ordered[:6], result.table.rank_frequency[:6]
        expected = (r - q) / np.sqrt(q * (1 - q) / n)
        large = (n * q > 50) & (np.abs(expected) < LARGEST_GAP)
        assert large.sum() > 5
        np.testing.assert_allclose(shown[large], expected[large], rtol=0.2)
        assert np.abs(shown).max() <= LARGEST_GAP
        assert len(display.ax_.texts) == shown.size

    def test_an_observed_rank_of_probability_0_has_the_strongest_colour(self):
        display = RankHeatMapDisplay.from_predictions([0, 1], [[1.0, 0.0]] * 2)
        assert display.data.gap.tolist() == [[-np.inf, np.inf]]
        assert display.ax_.images[0].get_array().tolist() == [[-LARGEST_GAP, LARGEST_GAP]]
        assert [text.get_text() for text in display.ax_.texts] == ["−∞", "+∞"]


def test_standardised_gaps_of_calibrated_models_are_approximately_normal():
    """Their squares have mean 1: over 200 models, the standard error of the mean is that of the squares / √200."""
    squares = []
    for seed in range(200):
        y_true, y_prob = tn.simulate.calibrated(1000, [2, 1, 1, 1], rng=seed)
        gap = rank_map_of(TableEstimates.of(tn.tabulate(y_true, y_prob, bins=4), resamples=1, rng=0)).gap
        squares.append(np.mean(gap[-2:] ** 2))  # well filled bins
    error = np.std(squares) / np.sqrt(len(squares))
    # Rows differ within a bin, so that counts vary a little less than binomial ones: never more.
    assert 0.85 < np.mean(squares) < 1 + 4 * error
