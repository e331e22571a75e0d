"""The diagram of signed gaps, checked by what was drawn."""

import numpy as np
import pytest
from artists import legend_of, over_confident_rows, scattered

import trueness as tn
from trueness.plots import GapDisplay
from trueness.plots.gaps import gaps_of
from trueness.plots.table_estimates import TableEstimates


class TestGaps:
    def test_gaps_are_centred_and_positive_if_over_confident(self, result):
        display = GapDisplay.from_assessment(result)
        filled = result.table.row_count > 0
        points, _, _ = scattered(display.ax_)
        np.testing.assert_array_equal(points[:, 1], result.net.centred_gap[filled])
        assert points[0, 1] > 0
        assert any(words.startswith("net gap +") for words in legend_of(display.ax_))
        assert {"over-confident", "under-confident"} <= {text.get_text() for text in display.ax_.texts}

    @pytest.mark.parametrize("measure", ["entropy", "confidence"])
    def test_the_band_lies_around_zero_whatever_the_measure(self, measure):
        table = tn.tabulate(*over_confident_rows(), variation=measure, bins=6)
        r = gaps_of(TableEstimates.of(table, rng=0))
        assert np.all(r.low <= 1e-12)
        assert np.all(r.high >= -1e-12)
        enough = ~r.bins.small
        assert np.mean(r.gap[enough] > r.high[enough]) > 0.5

    def test_a_single_bin_and_a_perfect_one(self):
        display = GapDisplay.from_predictions([0] * 20, [[1.0, 0.0]] * 20, rng=0)
        assert scattered(display.ax_)[0].tolist() == [[0.0, 0.0]]
