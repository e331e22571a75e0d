"""The forest plot of groups and of pairs of models, checked by what was drawn."""

import numpy as np
import pytest
from artists import over_confident_rows, scattered

import trueness as tn
from trueness.plots import ForestDisplay
from trueness.plots.forest import forest_of_compared_groups, forest_of_groups, forest_of_pairs
from trueness.plots.forest.data import Line, most_striking


class TestForest:
    def test_one_line_for_each_group_and_one_for_all_rows(self, result):
        display = ForestDisplay.from_assessment(result, metric="vce")
        points, _, _ = scattered(display.ax_)
        values = {group.assessment.vce.debiased for group in result.groups} | {result.vce.debiased}
        assert set(points[:, 0]) == values
        labels = [tick.get_text() for tick in display.ax_.get_yticklabels()]
        assert labels == ["0", "1", "2", "3", "all rows"]

    def test_pairs_of_models(self):
        y_true, y_prob = over_confident_rows(600)
        models = {
            "sharp": y_prob,
            "flat": tn.simulate.sharpen(y_prob, 0.4),
            "$x$": tn.simulate.sharpen(y_prob, 0.6),
        }
        comparison = tn.compare(y_true, models, rng=0, resamples=99)
        display = comparison.plot(metric="ece")
        points, _, _ = scattered(display.ax_)
        assert sorted(points[:, 0]) == sorted(pair.ece.difference for pair in comparison.pairs)
        display.figure_.draw_without_rendering()  # a dollar sign does not start a formula
        assert r"sharp − \$x\$" in [tick.get_text() for tick in display.ax_.get_yticklabels()]
        assert [line.low for line in forest_of_pairs(comparison).lines] == [
            p.vce.interval.low for p in comparison.pairs
        ]

    def test_differences_between_groups(self, result):
        whole = result.with_compared_groups()
        forest = forest_of_compared_groups(whole, "ece")
        pairs = whole.compared_groups.comparison.pairs
        assert [(line.name, line.value, line.p_value) for line in forest.lines] == [
            (pair.first, pair.ece.difference, pair.ece.adjusted_p_value) for pair in pairs
        ]
        rows = {group.name: group.n_rows for group in result.groups}
        assert {line.name: line.n_rows for line in forest.lines} == rows
        display = ForestDisplay(forest).plot()
        points, _, _ = scattered(display.ax_)
        assert sorted(points[:, 0]) == sorted(line.value for line in forest.lines)
        each = forest_of_compared_groups(result.with_compared_groups("each"))
        assert [line.name for line in each.lines][:2] == ["0 − 1", "0 − 2"]
        with pytest.raises(ValueError, match="with_compared_groups"):
            forest_of_compared_groups(result)

    def test_of_many_groups_those_that_stand_out_are_shown(self):
        lines = [Line(str(k), 10, k / 100, 0, 1, p) for k, p in enumerate([0.9, 0.01, np.nan, 0.9, 0.02])]
        assert [line.name for line in most_striking(lines, 0.0, 3)] == ["1", "3", "4"]
        assert [line.name for line in most_striking(lines, 0.0, 9)] == list("01234")

    def test_the_number_of_groups_not_shown_is_stated(self, result):
        display = ForestDisplay.from_assessment(result, most=3)
        assert "(1 more not shown)" in display.ax_.get_xlabel()

    def test_an_assessment_without_groups_is_refused(self, result):
        y_true, y_prob = over_confident_rows(300)
        with pytest.raises(ValueError, match="pass groups= to assess"):
            forest_of_groups(tn.assess(y_true, y_prob, rng=0))
        small = tn.assess(y_true, y_prob, rng=0, groups=np.arange(300) % 10)
        with pytest.raises(ValueError, match="lower min_group_size"):
            forest_of_groups(small)
        with pytest.raises(ValueError, match="`metric` must be one of"):
            forest_of_groups(result, "nonsense")
