"""The pictures of an event: bins, exact bands, axes, curve, and the cumulative differences."""

import numpy as np
import pytest
from artists import NAMES, class_weighted_event, event_rows, legend_of

import trueness as tn
from trueness.old_inference.binomial import frequency_band
from trueness.old_inference.events.of_table import event_cells
from trueness.plots import ClassDiagramDisplay, DifferencesDisplay, EventDisplay
from trueness.plots.class_diagrams import called_classes, called_diagram_of, class_diagram_of
from trueness.plots.event.axis import ProbabilityAxis
from trueness.plots.event.data import ODDS_BINS, diagram_of, event_diagram_of, is_rare
from trueness.plots.event.differences import differences_of


class TestLinear:
    def test_points_are_the_bins_of_ece_with_the_exact_band(self):
        event = class_weighted_event()
        r, bins = event_diagram_of(event), event.bins
        np.testing.assert_array_equal(r.x, bins.predicted / bins.count)
        np.testing.assert_array_equal(r.y, bins.observed / bins.count)
        low, high = frequency_band(bins.count, r.x, 0.95)
        np.testing.assert_array_equal(r.low, low)
        np.testing.assert_array_equal(r.high, high)
        assert r.axis == ProbabilityAxis(0.0, 1.0, False)
        assert (r.y < r.low).all()  # forecast too often everywhere

    def test_they_are_what_scikit_learn_calls_prob_true_and_prob_pred(self):
        from sklearn.calibration import calibration_curve

        y_true, y_prob = event_rows(shift=np.log(99))
        observed, predicted = calibration_curve(y_true, y_prob, n_bins=10)
        r = event_diagram_of(class_weighted_event())
        np.testing.assert_allclose(r.y, observed, atol=1e-12)
        np.testing.assert_allclose(r.x, predicted, atol=1e-12)

    def test_the_histogram_counts_all_rows(self):
        r = event_diagram_of(class_weighted_event())
        assert r.histogram_share.sum() == pytest.approx(1)
        left, right, height = r.histogram_bars
        assert (left[0], right[-1], height.max()) == (0, 1, 1)

    def test_the_curve_is_that_of_ici(self):
        event = class_weighted_event()
        r = event_diagram_of(event)
        (cells,) = event_cells(event.table)
        found = np.searchsorted(cells.mean_predicted, r.curve_x)
        np.testing.assert_array_equal(r.curve_y, event.curve.fitted[found])
        assert 2 < len(r.curve_x) <= 200


class TestRare:
    def test_axes_are_by_log_odds_and_labelled_with_probabilities(self, event):
        r = event_diagram_of(event)
        assert r.axis.by_log_odds
        for place, words in r.axis.ticks:
            assert 1 / (1 + np.exp(-place)) == pytest.approx(float(words))
        assert r.axis.low < r.x.min() < r.x.max() < r.axis.high

    def test_bins_add_up_to_all_rows_and_expect_at_least_one(self, event):
        r = event_diagram_of(event)
        (cells,) = event_cells(event.table)
        assert r.rows.sum() == 6000
        assert (r.x * r.rows).sum() == pytest.approx(cells.predicted.sum())
        assert (r.y * r.rows).sum() == pytest.approx(cells.observed.sum())
        assert (r.x * r.rows)[0] >= 1

    def test_the_threshold_is_nine_tenths_of_the_rows_below_a_twentieth(self):
        def table(share):
            p = np.where(np.arange(1000) < 1000 * share, 0.01, 0.5)
            return tn.tabulate_events(np.arange(1000) % 2, p)

        below, above = (event_cells(table(share))[0] for share in (0.89, 0.9))
        assert not is_rare(below)
        assert is_rare(above)

    def test_frequent_events_are_mirrored(self):
        y_true, y_prob = event_rows()
        r = diagram_of(tn.tabulate_events(1 - y_true, 1 - y_prob), 10, 0.95, name="x", summary="y")
        assert r.axis.by_log_odds
        assert r.axis.high > 0.99

    def test_edges_are_on_both_grids(self):
        y_true, y_prob = event_rows()
        table = tn.tabulate_events(y_true, y_prob)
        on_class_grid = tn.tabulate_events(y_true, y_prob, grid="class")
        np.testing.assert_array_equal(table.coarsen(ODDS_BINS).count, on_class_grid.coarsen(ODDS_BINS).count)


@pytest.mark.parametrize(
    "rows",
    [([1], [0.001]), ([0], [0.0]), ([0, 1] * 50, [0.0, 1.0] * 50), ([0] * 30, [1e-12] * 30)],
    ids=["one row", "certain", "all certain", "tiny"],
)
def test_extreme_events_are_drawn(rows):
    event = tn.assess_event(*rows, resamples=99)
    for picture in tn.plots.event_pictures():
        assert "nan" not in picture.svg(picture.data(event))


class TestDifferences:
    def test_the_path_against_the_share_of_the_rows(self, event):
        r = differences_of(event)
        y_true, y_prob = event_rows()
        order = np.argsort(y_prob)
        assert (r.share[0], r.share[-1], r.path[0]) == (0, 1, 0)
        cumulated = np.cumsum((y_true - y_prob)[order]) / 6000
        at = np.rint(r.share[1:] * 6000).astype(int) - 1
        np.testing.assert_allclose(r.path[1:], cumulated[at], atol=1e-12)
        assert r.path[-1] == pytest.approx(-event.in_the_large.value)

    def test_the_band_is_2_2414_standard_deviations(self, event):
        _, y_prob = event_rows()
        sd = np.sqrt((y_prob * (1 - y_prob)).sum()) / 6000
        assert differences_of(event).reach == pytest.approx(2.2414 * sd, rel=1e-4)

    def test_it_leaves_the_band_if_forecast_too_often(self):
        r = differences_of(class_weighted_event())
        assert r.path[-1] < -r.reach
        assert r.y_limit > abs(r.path[-1])


class TestDisplays:
    @pytest.mark.parametrize("display", [EventDisplay, DifferencesDisplay])
    def test_rows_and_result_give_one_picture(self, event, display):
        y_true, y_prob = event_rows()
        made = display.from_predictions(y_true, y_prob, resamples=99)
        other = display.from_event(event)
        assert made.data.summary == other.data.summary
        np.testing.assert_array_equal(made.ax_.lines[-1].get_ydata(), other.ax_.lines[-1].get_ydata())

    def test_the_result_draws_itself_on_the_axes_that_are_passed(self, event):
        from matplotlib.figure import Figure

        axes = Figure().subplots(1, 2)
        display = event.plot(ax=axes[1])
        assert isinstance(display, EventDisplay)
        assert display.ax_ is axes[1]
        assert not axes[0].has_data()
        assert "smooth curve" in legend_of(display.ax_)


class TestClasses:
    def test_called_classes_have_diagrams_clearest_first(self, classes):
        called = called_classes(classes)
        assert len(called) >= 6
        p_values = [each.adjusted_p_value for each in called]
        assert p_values == sorted(p_values)
        for place, each in enumerate(called[:6]):
            r = called_diagram_of(classes, place)
            assert r.name == f"class {each.name}"
            assert each.words in r.summary

    def test_bins_are_those_of_the_class(self, classes):
        r, table = class_diagram_of(classes, "cat"), classes.tables.by_class.select(2).coarsen(10)
        filled = table.count[0] > 0
        np.testing.assert_array_equal(r.rows, table.count[0][filled])
        np.testing.assert_allclose(r.y, (table.observed_count[0] / np.maximum(table.count[0], 1))[filled])

    def test_an_unknown_class_is_refused(self, classes, result):
        with pytest.raises(tn.Refusal, match="there is no class 'cow'"):
            class_diagram_of(classes, "cow")
        with pytest.raises(tn.Refusal, match="this assessment has no classes"):
            class_diagram_of(tn.assess([0, 1, 2] * 9, [[0.2, 0.3, 0.5]] * 27, by_class=False), 0)

    def test_two_classes_are_an_event_and_have_none(self):
        answer = tn.assess([0, 1] * 200, [[0.1, 0.9]] * 400, resamples=99)
        assert called_classes(answer) == []

    def test_the_display_takes_a_class_or_the_clearest(self, classes):
        assert ClassDiagramDisplay.from_assessment(classes, of_class="elk").data.name == "class elk"
        clearest = called_classes(classes)[0].name
        assert ClassDiagramDisplay.from_assessment(classes).data.name == f"class {clearest}"
        assert clearest in NAMES
