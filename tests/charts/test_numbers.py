"""The numbers of each chart, against those of its table."""

from __future__ import annotations

import numpy as np
import pytest
from charted import charts, days_of, forest_of, table_of

import trueness as tn
from trueness.arguments import Settings
from trueness.charts import (
    Chart,
    Mark,
    class_chart,
    class_charts,
    cumulative_chart,
    evidence_chart,
    forest_chart,
    rank_chart,
    rank_map,
    reliability_chart,
    trend_chart,
)
from trueness.charts.forest import range_of, strip
from trueness.document import Entry
from trueness.exact_sums import FloatArray
from trueness.inference.binomial import frequency_band
from trueness.today import read, tabulate_rows


def marks_of(chart: Chart, kind: str, role: str | None = None) -> list[Mark]:
    return [mark for mark in chart.marks if mark.kind == kind and role in (None, mark.role)]


def points_of(chart: Chart) -> FloatArray:
    """All points, filled and hollow, from left to right."""
    found = np.concatenate([np.stack([mark.x, mark.y], 1) for mark in marks_of(chart, "points")])
    return np.asarray(found[np.argsort(found[:, 0])])


class TestReliability:
    def test_points_are_predicted_and_observed_variation_of_bins_with_rows(self) -> None:
        table = table_of("ten")
        filled = ~np.isnan(table.predicted_variation)
        expected = np.stack([table.predicted_variation, table.observed_variation], 1)[filled]
        assert points_of(charts()["reliability"]) == pytest.approx(expected)

    def test_empty_bins_are_not_drawn(self) -> None:
        rows = [[0.5, 0.5], [1.0, 0.0]] * 40
        table = tabulate_rows(read([0, 0] * 20 + [1, 0] * 20, rows))
        chart = reliability_chart(table)
        assert points_of(chart)[:, 0].tolist() == [0.0, 1.0]
        assert len(marks_of(chart, "band")[0].x) == 2
        (counts,) = chart.strip
        assert counts.words == ("40 rows", "40 rows")

    def test_bins_of_few_rows_are_hollow(self) -> None:
        chart, rows = charts()["reliability"], table_of("ten").rank_bins().rows[0]
        hollow = [mark for mark in chart.marks if mark.is_hollow]
        few = (rows > 0) & (rows < 10)
        assert sum(len(mark.x) for mark in hollow) == few.sum() > 0

    def test_the_gap_is_what_is_observed_less_what_is_predicted(self) -> None:
        x, y = points_of(charts()["reliability"]).T
        assert points_of(charts()["gap"]) == pytest.approx(np.stack([x, y - x], 1))

    def test_the_band_holds_a_calibrated_model_and_not_this_one(self) -> None:
        y, p = tn.simulate.calibrated(20_000, [0.5] * 10, rng=3)
        for power, least, most in ((1.0, 0.8, 1.0), (1.5, 0.0, 0.4)):
            table = tabulate_rows(read(y, tn.simulate.sharpen(p, power)))
            chart = reliability_chart(table, Settings(resamples=199))
            band, inside = marks_of(chart, "band")[0], []
            for x, y_point in points_of(chart):
                k = int(np.abs(band.x - x).argmin())
                assert band.y2 is not None
                inside.append(band.y[k] - 1e-9 <= y_point <= band.y2[k] + 1e-9)
            assert least <= np.mean(inside) <= most

    def test_the_same_settings_give_the_same_chart(self) -> None:
        table = table_of("ten")
        assert reliability_chart(table).svg() == reliability_chart(table).svg()

    def test_confidence_and_accuracy(self) -> None:
        (n,), (p,), (y,) = table_of("ten").top_bins()
        kept = n > 0
        expected = np.stack([p[kept] / n[kept], y[kept] / n[kept]], 1)
        assert points_of(charts()["confidence"]) == pytest.approx(expected)

    def test_rare_classes_are_shown_by_log_odds(self) -> None:
        assert {
            name: charts()[name].x.scale for name in ("class", "rare class", "frequent class")
        } == {
            "class": "linear",
            "rare class": "logit",
            "frequent class": "linear",
        }
        bins = table_of("rare").class_bins()
        total = charts()["rare class"].strip[0].words
        shown = sum(int(it.split()[0].replace(",", "")) for it in total)
        assert shown <= int(bins.rows[0].sum())
        rows = [
            int(word.split()[0].replace(",", ""))
            for mark in marks_of(charts()["rare class"], "points")
            for word in mark.words
        ]
        assert sum(rows) == 4000

    def test_a_class_is_found_by_name_and_index(self) -> None:
        y, p = tn.simulate.calibrated(500, [1, 1, 1], rng=0)
        names = np.array(["cat", "dog", "ox"])
        table = tabulate_rows(read(names[y], p, classes=names))
        assert class_chart(table, "dog").svg() == class_chart(table, 1).svg()
        assert [chart.title for chart in class_charts(table, ["ox", 0])] == [
            "Class ox",
            "Class cat",
        ]
        assert len(class_charts(table_of("ten"), range(10))) == 4
        with pytest.raises(tn.Refusal, match="no class 'dgo'"):
            class_chart(table, "dgo")


class TestRanks:
    def test_bars_and_points_are_shares_of_rows(self) -> None:
        table, chart = table_of("ten"), charts()["ranks"]
        bins, n = table.rank_bins(), table.n_rows
        (bars,), (points,) = marks_of(chart, "bars"), marks_of(chart, "points")
        assert bars.y2 == pytest.approx(bins.predicted.sum(axis=(0, 1)) / n)
        assert points.y == pytest.approx(bins.observed.sum(axis=(0, 1)) / n)
        (spans,) = marks_of(chart, "spans")
        low, high = frequency_band(np.full(10, float(n)), np.asarray(bars.y2), 0.95)
        assert spans.y == pytest.approx(low)
        assert spans.y2 == pytest.approx(high)

    def test_one_bin(self) -> None:
        bins = table_of("ten").rank_bins()
        (points,) = marks_of(charts()["ranks of a bin"], "points")
        assert points.y == pytest.approx(bins.observed[0, 4] / bins.rows[0, 4])
        y, p = tn.simulate.calibrated(100, [50, 50], rng=0)
        with pytest.raises(tn.Refusal, match="bin 1 of 10 has no rows"):
            rank_chart(tabulate_rows(read(y, p)), bin=1)

    def test_many_ranks_are_grouped_on_logarithmic_axes(self) -> None:
        chart = charts()["many ranks"]
        assert (chart.x.scale, chart.y.scale) == ("log", "log")
        (line,) = marks_of(chart, "line")
        assert len(line.x) < 30

    def test_cells_of_the_map_have_the_sign_and_size_of_the_gap(self) -> None:
        table, chart = table_of("ten"), rank_map(table_of("ten"))
        bins = table.rank_bins()
        filled = np.flatnonzero(bins.rows[0] > 0)
        gap = (bins.observed - bins.predicted)[0, filled]
        for mark in chart.marks:
            across, down, right, _ = mark.corners
            rank = np.rint((across + right) / 2).astype(int)
            line = np.rint(down + (right - across) / 2).astype(int)
            signs = np.sign(gap[line, rank])
            assert np.all(signs == (1 if mark.role == "observed" else -1))
            assert np.all(right - across <= 0.92 + 1e-9)
        assert chart.right == tuple(f"{n:,.0f}" for n in bins.rows[0, filled])


class TestForest:
    def test_points_spans_and_words(self) -> None:
        chart = forest_chart(forest_of())
        (points,), (spans,) = marks_of(chart, "points"), marks_of(chart, "spans")
        assert points.x.tolist() == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
        assert len(spans.x) == 4
        assert points.words[3] == "Øst\n100 rows\n+0.30 [+0.20, +0.40]\nwhy"
        (rule,) = marks_of(chart, "rule")
        assert rule.x.tolist() == [0]

    def test_the_furthest_are_shown_in_their_order(self) -> None:
        forest = forest_of(tuple(f"g{k}" for k in range(9)))
        assert forest_chart(forest, most=3).y.names == ("g6", "g7", "g8")

    def test_entries_without_a_value_are_left_out(self) -> None:
        forest = forest_of()._replace(entries=(Entry("none", None), Entry("one", 0.5)))
        chart = forest_chart(forest)
        assert chart.y.names == ("one",)
        assert strip(Entry("none", None), chart.x, None) == ""

    def test_a_strip_is_on_the_axis_of_all(self) -> None:
        forest = forest_of()
        axis = forest_chart(forest).x
        assert axis.range == range_of(forest, 0.0)
        assert strip(forest.entries[1], axis, 0.0).count("<path") == 2


class TestCumulative:
    def test_the_line_ends_at_observed_less_expected(self) -> None:
        for of, name in ((3, "class 3"), (None, "the top label")):
            chart = cumulative_chart(table_of("ten"), of)
            bins = table_of("ten").class_bins() if of else table_of("ten").top_bins()
            k = of or 0
            difference = (bins.observed[k] - bins.predicted[k]).sum() / 4000
            (line,) = marks_of(chart, "line")
            assert line.y[0] == 0
            assert line.y[-1] == pytest.approx(difference)
            assert chart.title == f"Cumulative differences of {name}"
            (band,) = marks_of(chart, "band")
            assert np.all(np.diff(band.y) <= 0)


class TestTrend:
    def test_evidence_is_in_powers_of_ten(self) -> None:
        chart = evidence_chart(["a", "b", "c"], np.log([1.0, 10.0, 1e40]), np.log(100.0), alarm=2)
        (points,) = marks_of(chart, "points")
        assert points.y[:2].tolist() == pytest.approx([0.0, 1.0])
        assert points.y[2] == chart.y.range[1] < 12
        assert points.words[2] == "c\nevidence 10^40.0\nalarm"
        assert [mark.legend for mark in marks_of(chart, "rule")] == ["limit of the alarm", "alarm"]

    def test_days_with_tolerance(self) -> None:
        chart = trend_chart(days_of(3), tolerance=0.05)
        (band,) = marks_of(chart, "band")
        assert band.y2 is not None
        assert (band.y[0], band.y2[0]) == (-0.05, 0.05)
        assert points_of(chart).tolist() == [[0.0, 0.0], [1.0, 0.01], [2.0, 0.02]]

    def test_a_curve_is_on_a_logarithmic_axis(self) -> None:
        chart = charts()["curve"]
        assert chart.x.scale == "log"
        assert points_of(chart).tolist() == [[1e3, 1.0], [1e4, 0.5], [1e5, 0.25], [1e6, 0.125]]
