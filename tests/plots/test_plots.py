"""Pictures, judged by what was drawn: positions, sizes and words are read back from the artists."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trueness as tn
from trueness.inference.binomial import frequency_band, standardised_gap
from trueness.plots import (
    ConvergenceDisplay,
    ForestDisplay,
    GapDisplay,
    RankDisplay,
    RankHeatMapDisplay,
    ReliabilityDisplay,
    SweepDisplay,
)
from trueness.plots.forest import Line, most_telling, of_groups, of_pairs
from trueness.plots.rank_readings import heat_map, rank_starts, ranks, worst_bin
from trueness.plots.readings import Judgement, gaps, reliability
from trueness.plots.style import LARGEST_GAP
from trueness.plots.text import reliability_text

plots = pytest.mark.plots


def rows(n_rows=3000, alpha=(4, 2, 1, 1), exponent=1.6, seed=0):
    y_true, y_prob = tn.simulate.calibrated(n_rows, alpha, rng=seed)
    return y_true, tn.simulate.sharpen(y_prob, exponent)


@pytest.fixture(scope="module")
def result():
    """Over-confident rows, with a bin of few rows and an empty one."""
    y_true, y_prob = rows()
    edges = tn.Edges([0, 0.2, 0.4, 0.6, 0.8, 0.98, 0.999999, 1])
    answer = tn.assess(y_true, y_prob, bins=edges, rng=0, groups=np.arange(3000) % 4)
    assert 0 < answer.table.row_count[-2] < 10
    assert answer.table.row_count[-1] == 0
    return answer


@pytest.fixture(autouse=True)
def _closed(request):
    """No figure outlives its test, and no setting of matplotlib's changes."""
    if request.node.get_closest_marker("plots") is None:
        yield
        return
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


def scattered(ax):
    """Offsets, areas and whether filled of all points with a marker."""
    from matplotlib.collections import PathCollection

    found = [c for c in ax.collections if isinstance(c, PathCollection)]
    offsets = np.concatenate([c.get_offsets() for c in found])
    sizes = np.concatenate([c.get_sizes() for c in found])
    filled = np.concatenate(
        [np.full(len(c.get_offsets()), not np.allclose(c.get_facecolor()[0], 1)) for c in found]
    )
    order = np.argsort(offsets[:, 0])
    return offsets[order], sizes[order], filled[order]


def band_of(ax):
    """x -> (low, high) of the filled band."""
    from matplotlib.collections import FillBetweenPolyCollection

    (band,) = [c for c in ax.collections if isinstance(c, FillBetweenPolyCollection)]
    ends = {}
    for x, y in band.get_paths()[0].vertices:
        low, high = ends.get(x, (y, y))
        ends[x] = min(low, y), max(high, y)
    return ends


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@plots
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

    def test_areas_grow_in_proportion_to_rows(self, result):
        _, areas, _ = scattered(result.plot().ax_)
        counts = result.table.count[result.table.row_count > 0]
        slope = np.diff(areas) / np.diff(counts)
        np.testing.assert_allclose(slope, slope[0])

    def test_the_band_is_where_a_calibrated_model_would_be(self, result):
        ends, noise = band_of(result.plot().ax_), result.vce.bins
        for m in np.flatnonzero(result.table.row_count):
            low, high = ends[result.table.predicted_variation[m]]
            assert (low, high) == (noise.low[m], noise.high[m])

    def test_the_legend_tells_the_number_and_its_noise(self, result):
        vce = result.vce
        noise = f"(noise floor {vce.noise_floor:.4f}), centred p = {vce.centred_p_value:.3f}"
        words = f"VCE plug-in {vce.value:.4f} {noise}"
        assert words in [label.replace("\n", " ") for label in legend_of(result.plot().ax_)]

    def test_the_diagonal_is_dashed(self, result):
        lines = [line for line in result.plot().ax_.lines if line.get_linestyle() == "--"]
        x, y = lines[0].get_data()
        np.testing.assert_array_equal(x, y)

    def test_the_histogram_shows_how_many_rows_are_where(self, result):
        bars = result.plot().ax_.patches
        widths, heights = np.array([(bar.get_width(), bar.get_height()) for bar in bars]).T
        shares = result.table.count / result.table.n_rows
        made = widths * heights  # the histogram's areas are the shares, up to one factor
        wide = np.diff(result.table.edges) > 0.01
        np.testing.assert_allclose((made / made.sum())[wide], shares[wide], atol=1e-3)

    def test_bars_are_the_noise_of_single_bins(self, result):
        r = reliability(result)
        inside = (r.bar_low > 0) & (r.bar_high < 1)
        sd = result.vce.bins.sd[result.table.row_count > 0]
        np.testing.assert_allclose((r.bar_high - r.bar_low)[inside], (2 * 1.959964 * sd)[inside], rtol=1e-6)

    def test_accuracy_against_confidence(self):
        y_true, y_prob = rows()
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
        (curve,) = [line for line in display.ax_.lines if line.get_label() == "calibrated: mean"]
        np.testing.assert_allclose(curve.get_ydata(), 1 - table.mean_ordered[filled, 0])
        assert any(
            f"calibrated {result.uce.calibrated_value:.4f}" in words for words in legend_of(display.ax_)
        )

    def test_a_calibrated_model_follows_that_curve(self):
        table = tn.tabulate(*tn.simulate.calibrated(20_000, [1, 1, 1], rng=1))
        r = reliability(Judgement.of(table, rng=0), "uce")
        assert np.all(np.abs(r.y - r.expected) < 5 * np.sqrt(0.25 / r.rows))
        assert np.abs(r.expected - r.x).max() > 0.2  # which the diagonal does not

    def test_a_single_bin_has_a_band_too(self):
        display = ReliabilityDisplay.from_predictions([0, 1] * 20, [[0.9, 0.1]] * 40, rng=0)
        assert len(scattered(display.ax_)[0]) == 1
        bars = [c for c in display.ax_.collections if c.get_linewidth()[0] > 10]
        assert len(bars) == 1

    def test_few_distinct_values_zoom_in(self):
        y_true, y_prob = tn.simulate.calibrated(2000, np.full(50, 1.0), rng=0)
        r = reliability(Judgement.of(tn.tabulate(y_true, y_prob, bins=tn.EqualMass(5)), rng=0))
        low, high = r.view
        assert high - low < 0.55
        assert low < min(r.x.min(), r.y.min())
        assert high > max(r.x.max(), r.y.max())

    @pytest.mark.parametrize("measure", ["margin", "iqv", "max_probability", "renyi(2)"])
    def test_any_measure_can_be_drawn(self, measure):
        y_true, y_prob = rows(500)
        display = ReliabilityDisplay.from_predictions(y_true, y_prob, variation=measure, rng=0)
        table = tn.tabulate(y_true, y_prob, variation=measure)
        points, _, _ = scattered(display.ax_)
        np.testing.assert_array_equal(points[:, 0], np.sort(table.predicted_variation[table.row_count > 0]))

    def test_the_legend_leaves_the_points_free(self, result):
        under = tn.assess(*tn.simulate.calibrated(3000, [1, 1, 1], rng=0), rng=0)
        y_true, y_prob = tn.simulate.calibrated(3000, [4, 1, 1], rng=0)
        flat = tn.assess(y_true, tn.simulate.sharpen(y_prob, 0.3), rng=0)
        for answer, metric in ((result, "vce"), (under, "ece"), (flat, "ece"), (flat, "vce")):
            display = answer.plot(metric=metric)
            display.figure_.draw_without_rendering()
            box = display.ax_.get_legend().get_window_extent()
            points, _, _ = scattered(display.ax_)
            covered = [box.contains(*at) for at in display.ax_.transData.transform(points)]
            assert sum(covered) == 0


@plots
class TestRoomInTheDiagram:
    def test_a_part_of_the_range_is_drawn_above_the_strip(self):
        """Rows of one kind: the picture is enlarged, and the band and the bar are longer than it is."""
        shown = ReliabilityDisplay.from_predictions([0, 1, 2] * 50, [[0.5, 0.3, 0.2]] * 150, rng=0)
        low, high = shown.reading.view
        assert shown.reading.low.min() < low
        ends = [y for lines in shown.ax_.collections if hasattr(lines, "get_segments") for y in _ends(lines)]
        assert len(ends) == 4
        assert min(ends) >= low
        assert max(ends) <= high

    def test_the_legend_covers_no_point_of_a_calibrated_model(self):
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 3, figsize=(14, 5), layout="constrained")
        answer = tn.assess(*tn.simulate.calibrated(20_000, [1, 1, 1], rng=0), rng=0)
        for metric, ax in zip(["vce", "ece", "uce"], axes, strict=True):
            ReliabilityDisplay.from_assessment(answer, metric=metric, ax=ax)
        figure.canvas.draw()
        for ax in axes:
            box = ax.get_legend().get_window_extent()
            places = ax.transData.transform(
                np.vstack([s.get_offsets() for s in ax.collections if len(s.get_offsets())])
            )
            assert not any(box.contains(x, y) for x, y in places)

    def test_words_and_bands_are_not_covered_when_all_rows_are_tied(self):
        answer = tn.assess(np.arange(400) % 4, np.full((400, 4), 0.25), rng=0)
        gap = GapDisplay.from_assessment(answer)
        gap.figure_.draw_without_rendering()
        legend = gap.ax_.get_legend().get_window_extent()
        assert not any(legend.overlaps(words.get_window_extent()) for words in gap.ax_.texts)
        ranked = RankDisplay.from_assessment(answer)
        ranked.figure_.draw_without_rendering()
        below = ranked.ax_.transData.inverted().transform(ranked.ax_.get_legend().get_window_extent())[0, 1]
        assert ranked.reading.high.max() < below


def _ends(lines):
    return [y for segment in lines.get_segments() for y in segment[:, 1]]


@plots
class TestWhereItIsDrawn:
    DISPLAYS = (ReliabilityDisplay, GapDisplay, RankDisplay, RankHeatMapDisplay)

    @pytest.mark.parametrize("display", DISPLAYS)
    def test_the_axes_that_are_given_are_used_and_no_others_made(self, result, display):
        import matplotlib.pyplot as plt
        from matplotlib.figure import Figure

        axes = Figure().subplots(1, 2)
        drawn = display.from_assessment(result, ax=axes[1])
        assert drawn.ax_ is axes[1]
        assert drawn.figure_ is axes[1].figure
        assert not axes[0].has_data()
        assert plt.get_fignums() == []

    @pytest.mark.parametrize("display", DISPLAYS)
    def test_rows_table_and_answer_give_one_picture(self, display):
        y_true, y_prob = rows(400)
        table = tn.tabulate(y_true, y_prob, ties="split")
        seed = {"rng": 5} if display is not RankHeatMapDisplay else {}
        made = [
            display.from_predictions(y_true, y_prob, ties="split", **seed),
            display.from_table(table, **seed),
            display.from_assessment(tn.assess(y_true, y_prob, ties="split", rng=5)),
        ]
        first = made[0].reading
        for other in made[1:]:
            for name in type(first).__slots__:
                ours, theirs = getattr(first, name), getattr(other.reading, name)
                if name == "net":
                    ours, theirs = ours.debiased, theirs.debiased
                np.testing.assert_array_equal(ours, theirs)

    def test_a_display_can_be_drawn_again(self, result):
        from matplotlib.figure import Figure

        display = result.plot()
        elsewhere = Figure().subplots()
        assert display.plot(elsewhere) is display
        assert display.ax_ is elsewhere

    def test_something_else_than_axes_is_refused(self, result):
        with pytest.raises(TypeError, match=r"ax must be matplotlib Axes.*got int"):
            result.plot(ax=3)

    def test_everything_can_be_saved_without_a_warning(self, result, tmp_path):
        for display in self.DISPLAYS:
            path = tmp_path / f"{display.__name__}.png"
            display.from_assessment(result).figure_.savefig(path)
            assert path.stat().st_size > 5000


def test_without_matplotlib_the_remedy_is_told(result, monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'trueness\[plots\]'"):
        result.plot()


def test_computing_needs_no_matplotlib():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import trueness as tn; from trueness.plots.readings import *; from trueness.plots.rank_readings import *\n"
        "r = tn.assess([0, 1] * 50, [[0.8, 0.2]] * 100, rng=0); reliability(r); gaps(r); ranks(r); heat_map(r)"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


@plots
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
        table = tn.tabulate(*rows(), variation=measure, bins=6)
        r = gaps(Judgement.of(table, rng=0))
        assert np.all(r.low <= 1e-12)
        assert np.all(r.high >= -1e-12)
        enough = ~r.small
        assert np.mean(r.gap[enough] > r.high[enough]) > 0.5

    def test_a_single_bin_and_a_perfect_one(self):
        display = GapDisplay.from_predictions([0] * 20, [[1.0, 0.0]] * 20, rng=0)
        assert scattered(display.ax_)[0].tolist() == [[0.0, 0.0]]


@plots
class TestRanks:
    def test_bars_are_what_was_predicted_and_dots_what_came_true(self, result):
        display = result.plot_ranks(bin=3)
        heights = [bar.get_height() for bar in display.ax_.patches]
        np.testing.assert_allclose(heights, result.table.mean_ordered[2], rtol=1e-12)
        (dots,) = [line for line in display.ax_.lines if line.get_label() == "came true"]
        np.testing.assert_allclose(dots.get_ydata(), result.table.rank_frequency[2], rtol=1e-12)
        np.testing.assert_array_equal(dots.get_xdata(), [1, 2, 3, 4])
        assert display.ax_.get_title().startswith("bin 3 of 7, entropy in (0.4, 0.6]")

    def test_all_rows_together(self, result):
        r = ranks(result)
        np.testing.assert_allclose(r.predicted, result.table.ordered_sum.sum(axis=0) / result.n_rows)
        np.testing.assert_allclose(r.observed, result.table.rank_count.sum(axis=0) / result.n_rows)
        assert r.title == "all 3,000 rows"

    def test_many_classes_have_logarithmic_axes_and_groups_of_ranks(self):
        y_true, y_prob = tn.simulate.calibrated(3000, np.full(200, 0.1), rng=0)
        display = RankDisplay.from_predictions(y_true, y_prob, rng=0)
        r = display.reading
        assert display.ax_.get_xscale() == display.ax_.get_yscale() == "log"
        width = r.last - r.first + 1
        assert r.first[0] == 1
        assert r.last[-1] == 200
        np.testing.assert_array_equal(r.first[1:], r.last[:-1] + 1)
        np.testing.assert_allclose([(r.predicted * width).sum(), (r.observed * width).sum()], 1)
        (never,) = [line for line in display.ax_.lines if line.get_label() == "never came true"]
        assert len(never.get_xdata()) == np.count_nonzero(r.observed == 0)

    @pytest.mark.parametrize("n_classes", [2, 3, 30, 31, 100, 1000, 50_000])
    def test_groups_of_ranks_begin_one_by_one_and_are_few(self, n_classes):
        starts = rank_starts(n_classes)
        assert starts[:4].tolist() == list(range(min(n_classes, 4)))
        assert np.all(np.diff(starts) > 0)
        assert len(starts) <= 30
        assert starts[-1] < n_classes

    @pytest.mark.parametrize("bin", [0, 8, -1])
    def test_a_bin_that_is_not_there(self, result, bin):
        with pytest.raises(ValueError, match="bin must be"):
            result.plot_ranks(bin=bin)

    def test_an_empty_bin(self, result):
        with pytest.raises(ValueError, match="bin 7 of 7 holds no rows; filled are 1, 2, 3, 4, 5, 6"):
            result.plot_ranks(bin=7)

    def test_the_worst_bin_adds_most_to_the_ranked_error(self, result):
        parts = tn.ranked_gap(result.table) * result.table.count
        assert worst_bin(result) == int(np.nanargmax(np.abs(parts))) + 1

    def test_few_rows_of_clusters_widen_the_band(self):
        y_true, y_prob = tn.simulate.calibrated(200, [1, 1, 1], rng=0)
        often = [np.repeat(y_true, 10), np.repeat(y_prob, 10, axis=0)]
        alone = tn.assess(*often, rng=0)
        together = tn.assess(*often, clusters=np.repeat(np.arange(200), 10), rng=0)
        narrow, wide = ranks(alone), ranks(together)
        assert np.all((wide.high - wide.low) > 2 * (narrow.high - narrow.low))
        assert np.nanmedian(together.vce.bins.independent_rows / alone.vce.bins.independent_rows) < 0.2


@plots
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

    def test_what_was_ruled_out_and_came_true_has_the_strongest_colour(self):
        display = RankHeatMapDisplay.from_predictions([0, 1], [[1.0, 0.0]] * 2)
        assert display.reading.gap.tolist() == [[-np.inf, np.inf]]
        assert display.ax_.images[0].get_array().tolist() == [[-LARGEST_GAP, LARGEST_GAP]]
        assert [text.get_text() for text in display.ax_.texts] == ["−∞", "+∞"]


def test_standardised_gaps_of_calibrated_models_are_like_normal_numbers():
    """Their squares have mean 1: over 200 models, the standard error of the mean is that of the squares / √200."""
    squares = []
    for seed in range(200):
        y_true, y_prob = tn.simulate.calibrated(1000, [2, 1, 1, 1], rng=seed)
        gap = heat_map(Judgement.of(tn.tabulate(y_true, y_prob, bins=4), resamples=1, rng=0)).gap
        squares.append(np.mean(gap[-2:] ** 2))  # well filled bins
    error = np.std(squares) / np.sqrt(len(squares))
    # Rows differ within a bin, so that counts vary a little less than binomial ones: never more.
    assert 0.85 < np.mean(squares) < 1 + 4 * error


@pytest.mark.sklearn
def test_frequency_bands_are_the_binomial_quantiles():
    from scipy.stats import binom

    rng = np.random.default_rng(0)
    n = np.floor(10 ** rng.uniform(0, 6, 20_000))
    q = 10 ** rng.uniform(-7, 0, 20_000)
    q[:2], q[10_000:] = (0.0, 1.0), 1 - q[10_000:]
    for level in (0.5, 0.95, 0.999):
        for band, share in zip(frequency_band(n, q, level), ((1 - level) / 2, (1 + level) / 2), strict=True):
            # Where many rows are expected, one row more or less is allowed.
            slack = np.where(n * q * (1 - q) > 400, 1.01, 0.01)
            assert np.all(np.abs(band * n - binom.ppf(share, n, q)) <= slack)


def test_standardised_gaps_by_hand():
    """±√(2n·KL): for n = 100, r = 0.6, q = 0.5 it is √(200·(0.6·ln 1.2 + 0.4·ln 0.8)) = 2.006764."""
    n, r, q = np.array([100.0] * 4), np.array([0.6, 0.4, 0.5, 1.0]), np.array([0.5, 0.5, 0.5, 1.0])
    np.testing.assert_allclose(standardised_gap(n, r, q), [2.006764, -2.006764, 0, 0], atol=1e-6)


@plots
class TestForest:
    def test_one_line_for_each_group_and_one_for_all_rows(self, result):
        display = ForestDisplay.from_assessment(result, number="vce")
        points, _, _ = scattered(display.ax_)
        values = {group.assessment.vce.debiased for group in result.groups} | {result.vce.debiased}
        assert set(points[:, 0]) == values
        labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
        assert labels == ["0", "1", "2", "3", "all rows"]

    def test_pairs_of_models(self):
        y_true, y_prob = rows(600)
        models = {
            "sharp": y_prob,
            "flat": tn.simulate.sharpen(y_prob, 0.4),
            "$x$": tn.simulate.sharpen(y_prob, 0.6),
        }
        comparison = tn.compare(y_true, models, rng=0, resamples=99)
        display = comparison.plot(number="ece")
        points, _, _ = scattered(display.ax_)
        assert sorted(points[:, 0]) == sorted(pair.ece.difference for pair in comparison.pairs)
        display.figure_.draw_without_rendering()  # a dollar sign is no mathematics
        assert r"sharp − \$x\$" in [tick.get_text() for tick in display.ax_.get_yticklabels()]
        assert [line.low for line in of_pairs(comparison).lines] == [
            p.vce.interval.low for p in comparison.pairs
        ]

    def test_of_many_groups_those_that_stand_out_are_shown(self):
        lines = [Line(str(k), 10, k / 100, 0, 1, p) for k, p in enumerate([0.9, 0.01, np.nan, 0.9, 0.02])]
        assert [line.name for line in most_telling(lines, 0.0, 3)] == ["1", "3", "4"]
        assert [line.name for line in most_telling(lines, 0.0, 9)] == list("01234")

    def test_it_is_said_how_many_are_not_shown(self, result):
        display = ForestDisplay.from_assessment(result, most=3)
        assert "(1 more are not shown)" in display.ax_.get_xlabel()

    def test_no_groups(self, result):
        y_true, y_prob = rows(300)
        with pytest.raises(ValueError, match="pass groups= to assess"):
            of_groups(tn.assess(y_true, y_prob, rng=0))
        small = tn.assess(y_true, y_prob, rng=0, groups=np.arange(300) % 10)
        with pytest.raises(ValueError, match="lower min_group_size"):
            of_groups(small)
        with pytest.raises(ValueError, match="number must be one of"):
            of_groups(result, "nonsense")


@plots
class TestAgainstBinsAndRows:
    def test_a_sweep_over_the_number_of_bins(self):
        fine = tn.tabulate(*rows(), bins=tn.FineGrid())
        sweep = tn.sweep_bins(fine, [20, 5, 10], rng=0)
        ax = sweep.plot().ax_
        drawn = {line.get_label(): line.get_data() for line in ax.lines}
        x, y = drawn["plug-in"]
        assert x.tolist() == [5, 10, 20]
        np.testing.assert_array_equal(y, sweep.value[[1, 2, 0]])
        np.testing.assert_array_equal(drawn["debiased"][1], sweep.debiased[[1, 2, 0]])
        np.testing.assert_array_equal(
            drawn["noise floor: plug-in of a calibrated model"][1], sweep.noise_floor[[1, 2, 0]]
        )
        assert band_of(ax)[5] == (sweep.low[1], sweep.high[1])
        assert SweepDisplay.from_sweep(sweep).reading is sweep

    def test_convergence_from_saved_tables(self, tmp_path):
        paths = []
        for n_rows in (300, 3000, 1000):
            paths.append(tmp_path / f"{n_rows}.json")
            tn.tabulate(*tn.simulate.calibrated(n_rows, [1, 1, 1], rng=n_rows)).save(paths[-1])
        display = ConvergenceDisplay.from_tables(map(str, paths), rng=0)
        r = display.reading
        assert r.n_rows.tolist() == [300, 1000, 3000]
        expected = [
            tn.assess_table(tn.CalibrationTable.load(path), rng=0).vce for path in sorted(paths, key=_size)
        ]
        np.testing.assert_array_equal(r.value, [it.value for it in expected])
        np.testing.assert_array_equal(r.debiased, [it.debiased for it in expected])
        zero = [line for line in display.ax_.lines if line.get_label() == "debiased: 0"]
        assert len(zero[0].get_xdata()) == np.count_nonzero(r.debiased == 0)
        # The noise floor falls as one over the root of the rows.
        slope = np.polyfit(np.log(r.n_rows), np.log(r.noise_floor), 1)[0]
        assert -0.6 < slope < -0.4

    def test_tables_can_be_summed_up_one_after_the_other(self):
        y_true, y_prob = rows(900)
        parts = [tn.tabulate(y_true[k::3], y_prob[k::3]) for k in range(3)]
        r = ConvergenceDisplay.from_tables(parts, cumulative=True, rng=0).reading
        assert r.n_rows.tolist() == [300, 600, 900]
        assert r.value[-1] == pytest.approx(tn.vce(y_true, y_prob))

    def test_odd_tables(self):
        with pytest.raises(ValueError, match="tables is empty"):
            ConvergenceDisplay.from_tables([])
        y_true, y_prob = rows(300)
        mixed = [tn.tabulate(y_true, y_prob, variation=name) for name in ("entropy", "margin")]
        with pytest.raises(ValueError, match="different measures: entropy, margin"):
            ConvergenceDisplay.from_tables(mixed)


def _size(path: Path) -> int:
    return int(path.stem)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: reliability(Judgement.of(t), "nonsense"), "metric must be one of"),
        (lambda t: reliability(Judgement.of(t), "ece"), "metric='ece' needs a table binned by confidence"),
        (lambda t: reliability(Judgement.of(t), "uce"), "metric='uce' needs a table binned by entropy"),
        (lambda t: Judgement.of(t, level=2), "level must be a number from 0.5 to below 1"),
        (lambda t: Judgement.of(t, resamples=0), "resamples must be"),
    ],
)
def test_odd_arguments(call, words):
    table = tn.tabulate([0, 1], [[0.9, 0.1]] * 2, variation="iqv")
    with pytest.raises(ValueError, match=words):
        call(table)


def test_something_else_than_a_table():
    with pytest.raises(TypeError, match="table must be a CalibrationTable"):
        Judgement.of("monday.json")


def test_the_text_shows_each_bin_where_it_is(result):
    r = reliability(result)
    lines = reliability_text(r).splitlines()
    canvas = [line[7:].ljust(61) for line in lines[1:22]]
    low, high = r.view
    for x, y, small in zip(r.x, r.y, r.small, strict=True):
        row, column = 20 - round((y - low) / (high - low) * 20), round((x - low) / (high - low) * 60)
        assert canvas[row][column] == ("○" if small else "●")
    assert lines[0].endswith(r.summary)
    assert reliability_text(r, ascii_only=True).isascii()
