"""The rank diagram, checked by what was drawn."""

import numpy as np
import pytest

import trueness as tn
from trueness.plots import RankDisplay
from trueness.plots._rank_groups import rank_starts
from trueness.plots.ranks import ranks_of
from trueness.plots.ranks.data import worst_bin


class TestRanks:
    def test_bars_are_predicted_and_dots_observed(self, result):
        display = result.plot_ranks(bin=3)
        heights = [bar.get_height() for bar in display.ax_.patches]
        np.testing.assert_allclose(heights, result.table.mean_ordered[2], rtol=1e-12)
        (dots,) = [line for line in display.ax_.lines if line.get_label() == "observed"]
        np.testing.assert_allclose(dots.get_ydata(), result.table.rank_frequency[2], rtol=1e-12)
        np.testing.assert_array_equal(dots.get_xdata(), [1, 2, 3, 4])
        assert display.ax_.get_title().startswith("bin 3 of 7, entropy in (0.4, 0.6]")

    def test_all_rows_together(self, result):
        r = ranks_of(result)
        np.testing.assert_allclose(r.predicted, result.table.ordered_sum.sum(axis=0) / result.n_rows)
        np.testing.assert_allclose(r.observed, result.table.rank_count.sum(axis=0) / result.n_rows)
        assert r.title == "all 3,000 rows"

    def test_many_classes_have_logarithmic_axes_and_groups_of_ranks(self):
        y_true, y_prob = tn.simulate.calibrated(3000, np.full(200, 0.1), rng=0)
        display = RankDisplay.from_predictions(y_true, y_prob, rng=0)
        r = display.data
        assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
        width = r.last - r.first + 1
        assert r.first[0] == 1
        assert r.last[-1] == 200
        np.testing.assert_array_equal(r.first[1:], r.last[:-1] + 1)
        np.testing.assert_allclose([(r.predicted * width).sum(), (r.observed * width).sum()], 1)
        (never,) = [line for line in display.ax_.lines if line.get_label() == "never observed"]
        assert len(never.get_xdata()) == np.count_nonzero(r.observed == 0)

    @pytest.mark.parametrize("n_classes", [2, 3, 30, 31, 100, 1000, 50_000])
    def test_groups_of_ranks_begin_one_by_one_and_are_few(self, n_classes):
        starts = rank_starts(n_classes)
        assert starts[:4].tolist() == list(range(min(n_classes, 4)))
        assert np.all(np.diff(starts) > 0)
        assert len(starts) <= 30
        assert starts[-1] < n_classes

    @pytest.mark.parametrize("bin", [0, 8, -1])
    def test_a_missing_bin_is_refused(self, result, bin):
        with pytest.raises(ValueError, match="`bin` must be"):
            result.plot_ranks(bin=bin)

    def test_an_empty_bin_is_refused(self, result):
        with pytest.raises(ValueError, match="bin 7 of 7 has no rows; bins with rows are 1, 2, 3, 4, 5, 6"):
            result.plot_ranks(bin=7)

    def test_the_worst_bin_adds_most_to_the_ranked_error(self, result):
        parts = tn.ranked_gap(result.table) * result.table.count
        assert worst_bin(result) == int(np.nanargmax(np.abs(parts))) + 1

    def test_few_rows_of_clusters_widen_the_band(self):
        y_true, y_prob = tn.simulate.calibrated(200, [1, 1, 1], rng=0)
        often = [np.repeat(y_true, 10), np.repeat(y_prob, 10, axis=0)]
        alone = tn.assess(*often, rng=0)
        together = tn.assess(*often, clusters=np.repeat(np.arange(200), 10), rng=0)
        narrow, wide = ranks_of(alone), ranks_of(together)
        assert np.all((wide.high - wide.low) > 2 * (narrow.high - narrow.low))
        assert np.nanmedian(together.vce.bins.independent_rows / alone.vce.bins.independent_rows) < 0.2
