"""The reliability diagram, checked by what was drawn: positions, sizes and words are read back from the artists."""

import numpy as np
import pytest
from artists import band_of, legend_of, over_confident_rows, scattered

import trueness as tn
from trueness.plots import ReliabilityDisplay
from trueness.plots.reliability import reliability_of, reliability_text
from trueness.plots.table_estimates import TableEstimates


class TestReliability:
    def test_points_are_the_two_variations_of_each_filled_bin(self, result):
        display = result.plot()
        table = result.table
        filled = table.row_count > 0
        points, areas, solid = scattered(display.ax_)
        np.testing.assert_array_equal(points[:, 0], table.predicted_variation[filled])
        np.testing.assert_array_equal(points[:, 1], table.observed_variation[filled])
        assert np.array_equal(np.argsort(areas), np.argsort(table.count[filled]))
        assert np.array_equal(solid, table.count[filled] >= 10)
        assert display.ax_.get_xlabel() == "predicted entropy"
        assert display.ax_.get_ylabel() == "observed entropy"

    def test_the_band_is_where_a_calibrated_model_would_be(self, result):
        ends, noise = band_of(result.plot().ax_), result.vce.bins
        for m in np.flatnonzero(result.table.row_count):
            low, high = ends[result.table.predicted_variation[m]]
            assert (low, high) == (noise.low[m], noise.high[m])

    def test_the_histogram_shows_how_many_rows_are_where(self, result):
        bars = result.plot().ax_.patches
        widths, heights = np.array([(bar.get_width(), bar.get_height()) for bar in bars]).T
        shares = result.table.count / result.table.n_rows
        made = widths * heights  # the histogram's areas are the shares, up to one factor
        wide = np.diff(result.table.edges) > 0.01
        np.testing.assert_allclose((made / made.sum())[wide], shares[wide], atol=1e-3)

    def test_bars_are_the_noise_of_single_bins(self, result):
        r = reliability_of(result)
        inside = (r.bar_low > 0) & (r.bar_high < 1)
        sd = result.vce.bins.sd[result.table.row_count > 0]
        np.testing.assert_allclose((r.bar_high - r.bar_low)[inside], (2 * 1.959964 * sd)[inside], rtol=1e-6)

    def test_accuracy_against_confidence(self):
        y_true, y_prob = over_confident_rows()
        display = ReliabilityDisplay.from_predictions(y_true, y_prob, metric="ece", bins=8, rng=0)
        top = y_prob.max(axis=1)
        of = np.clip(np.ceil((top - 0.25) / 0.75 * 8 - 1e-9).astype(int), 1, 8)
        right = y_prob.argmax(axis=1) == y_true
        expected = [(top[of == m].mean(), right[of == m].mean()) for m in range(1, 9) if (of == m).any()]
        points, _, _ = scattered(display.ax_)
        np.testing.assert_allclose(points, expected, atol=1e-12)
        assert display.ax_.get_ylabel() == "accuracy"
        assert any(
            words.startswith(f"ECE plug-in {tn.ece(y_true, y_prob, bins=8):.4f}")
            for words in legend_of(display.ax_)
        )

    def test_error_rate_against_entropy_with_the_curve_of_a_calibrated_model(self, result):
        display = result.plot(metric="uce")
        table = result.table
        filled = table.row_count > 0
        points, _, _ = scattered(display.ax_)
        np.testing.assert_allclose(points[:, 0], table.variation_sum[filled] / table.count[filled])
        np.testing.assert_allclose(points[:, 1], 1 - table.rank_count[filled, 0] / table.count[filled])
        (curve,) = [line for line in display.ax_.lines if line.get_label() == "calibrated model: mean"]
        np.testing.assert_allclose(curve.get_ydata(), 1 - table.mean_ordered[filled, 0])
        assert any(
            f"calibrated {result.uce.calibrated_value:.4f}" in words for words in legend_of(display.ax_)
        )

    def test_a_calibrated_model_follows_that_curve(self):
        table = tn.tabulate(*tn.simulate.calibrated(20_000, [1, 1, 1], rng=1))
        r = reliability_of(TableEstimates.of(table, rng=0), "uce")
        assert np.all(np.abs(r.y - r.expected) < 5 * np.sqrt(0.25 / r.bins.rows))
        assert np.abs(r.expected - r.x).max() > 0.2  # which the diagonal does not

    def test_a_single_bin_has_a_band_too(self):
        display = ReliabilityDisplay.from_predictions([0, 1] * 20, [[0.9, 0.1]] * 40, rng=0)
        assert len(scattered(display.ax_)[0]) == 1
        bars = [c for c in display.ax_.collections if c.get_linewidth()[0] > 10]
        assert len(bars) == 1

    def test_few_distinct_values_zoom_in(self):
        y_true, y_prob = tn.simulate.calibrated(2000, np.full(50, 1.0), rng=0)
        r = reliability_of(TableEstimates.of(tn.tabulate(y_true, y_prob, bins=tn.EqualMass(5)), rng=0))
        low, high = r.view
        assert high - low < 0.55
        assert low < min(r.x.min(), r.y.min())
        assert high > max(r.x.max(), r.y.max())

    @pytest.mark.parametrize("measure", ["margin", "iqv", "max_probability", "renyi(2)"])
    def test_any_measure_can_be_drawn(self, measure):
        y_true, y_prob = over_confident_rows(500)
        display = ReliabilityDisplay.from_predictions(y_true, y_prob, variation=measure, rng=0)
        table = tn.tabulate(y_true, y_prob, variation=measure)
        points, _, _ = scattered(display.ax_)
        np.testing.assert_array_equal(points[:, 0], np.sort(table.predicted_variation[table.row_count > 0]))


class TestRoomInTheDiagram:
    def test_a_part_of_the_range_is_drawn_above_the_strip(self):
        """Rows of one kind: the picture is enlarged, and the band and the bar are longer than it is."""
        shown = ReliabilityDisplay.from_predictions([0, 1, 2] * 50, [[0.5, 0.3, 0.2]] * 150, rng=0)
        low, high = shown.data.view
        assert shown.data.low.min() < low
        ends = [y for lines in shown.ax_.collections if hasattr(lines, "get_segments") for y in _ends(lines)]
        assert len(ends) == 4
        assert min(ends) >= low
        assert max(ends) <= high


def _ends(lines):
    return [y for segment in lines.get_segments() for y in segment[:, 1]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: reliability_of(TableEstimates.of(t), "nonsense"), "`metric` must be one of"),
        (
            lambda t: reliability_of(TableEstimates.of(t), "ece"),
            "metric='ece' needs a table binned by confidence",
        ),
        (
            lambda t: reliability_of(TableEstimates.of(t), "uce"),
            "metric='uce' needs a table binned by entropy",
        ),
        (lambda t: TableEstimates.of(t, level=2), "level must be a number from 0.5 to below 1"),
        (lambda t: TableEstimates.of(t, resamples=0), "`resamples` must be"),
    ],
)
def test_bad_arguments_are_refused(call, words):
    table = tn.tabulate([0, 1], [[0.9, 0.1]] * 2, variation="iqv")
    with pytest.raises(ValueError, match=words):
        call(table)


def test_the_text_diagram_has_each_bin_at_its_place(result):
    r = reliability_of(result)
    lines = reliability_text(r).splitlines()
    canvas = [line[7:].ljust(61) for line in lines[1:22]]
    low, high = r.view
    for x, y, small in zip(r.x, r.y, r.bins.small, strict=True):
        row, column = 20 - round((y - low) / (high - low) * 20), round((x - low) / (high - low) * 60)
        assert canvas[row][column] == ("○" if small else "●")
    assert lines[0].endswith(r.summary)
    assert reliability_text(r, ascii_only=True).isascii()
