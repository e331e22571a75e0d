"""The strip of classes, and the picture of the log-score by predicted class."""

import math
from dataclasses import replace

import numpy as np
import pytest
from artists import NAMES

import trueness as tn
from trueness.plots import ClassDisplay, PredictedClassDisplay, pictures
from trueness.plots.classes import class_chart, class_strip_of
from trueness.plots.cumulative import predicted_classes_of


class TestStrip:
    def test_lines_are_sorted_by_adjusted_p_and_have_the_numbers_of_the_class(self, classes):
        strip = class_strip_of(classes)
        assert [line.name for line in strip.lines] == [
            each.name for each in classes.classes.by_adjusted_p_value
        ]
        by_name = {each.name: each for each in classes.classes.classes}
        for line in strip.lines:
            gap = by_name[line.name].gap
            assert (line.expected, line.observed) == (gap.expected, gap.observed)
            assert line.ratio == gap.observed / gap.expected
        assert strip.n_called == sum(line.called for line in strip.lines) >= 6
        assert strip.n_left_out == 0

    def test_the_band_agrees_with_the_exact_test(self, classes):
        """Outside the band if and only if the smaller exact tail is below 2.5 %."""
        by_name = {each.name: each.gap for each in classes.classes.classes}
        seen = set()
        for line in class_strip_of(classes).lines:
            gap = by_name[line.name]
            outside = not line.low <= line.ratio <= line.high
            assert outside == (min(gap.lower_tail, gap.upper_tail) < 0.025)
            seen.add(outside)
        assert True in seen

    def test_words_are_the_directions_that_are_called(self, classes):
        words = {line.name: line.words for line in class_strip_of(classes).lines}
        assert words["bat"].startswith("too often")
        assert words["ape"].startswith("too seldom")
        right = replace(classes.classes.classes[0], adjusted_gap_p_value=0.5, adjusted_spread_p_value=0.01)
        from trueness.plots.classes.data import short_words

        assert short_words(right, 0.05) in {"too extreme", "too timid"}
        assert short_words(right, 0.005) == ""

    def test_many_classes_are_folded_and_counted(self):
        y_true, y_prob = tn.simulate.calibrated(2000, [0.1] * 60, rng=0)
        answer = tn.assess(y_true, y_prob, resamples=99)
        strip = class_strip_of(answer)
        assert (len(strip.lines), strip.n_left_out) == (40, 20)
        (picture,) = [it for it in pictures() if it.key == "classes"]
        assert "20 more classes not shown" in picture.caption_for(strip)

    def test_a_class_that_was_never_predicted_has_a_name_and_no_point(self):
        y_prob = np.tile([0.6, 0.4, 0.0], (50, 1))
        strip = class_strip_of(tn.assess([0, 1, 0, 1, 0] * 10, y_prob, resamples=99))
        (line,) = [line for line in strip.lines if line.name == "2"]
        assert math.isnan(line.ratio)
        assert class_chart(strip).count('class="dot') == 2

    def test_two_classes_have_no_strip(self):
        answer = tn.assess([0, 1] * 20, [[0.4, 0.6]] * 40, resamples=99)
        (picture,) = [it for it in pictures() if it.key == "classes"]
        assert not picture.applies(answer)

    def test_the_display_draws_a_point_for_each_class(self, classes):
        from artists import scattered

        display = ClassDisplay.from_assessment(classes, most=5)
        offsets, _, filled = scattered(display.ax_)
        np.testing.assert_allclose(
            np.sort(offsets[:, 0]), np.sort([line.ratio for line in display.data.lines])
        )
        assert filled.all()
        assert [words.get_text() for words in display.ax_.get_yticklabels()] == [
            line.name for line in display.data.lines
        ]
        assert "3 more classes" in display.ax_.get_xlabel()


class TestPredictedClasses:
    def test_bars_are_the_terms_clearest_first(self, classes):
        r, test = predicted_classes_of(classes), classes.by_predicted_class
        assert {bar.name for bar in r.bars} == set(NAMES)
        assert {bar.corrected for bar in r.bars} == {term.corrected_value for term in test.terms}
        p_values = [bar.adjusted_p_value for bar in r.bars]
        assert p_values == sorted(p_values)
        assert r.limit > max(abs(bar.corrected) for bar in r.bars)
        assert sum(bar.rows for bar in r.bars) == classes.n_rows

    def test_pooled_classes_are_counted(self):
        y_true, y_prob = tn.simulate.calibrated(1500, [0.1] * 60, rng=0)
        answer = tn.assess(y_true, y_prob, resamples=99)
        (pooled,) = [term for term in answer.by_predicted_class.terms if len(term.classes) > 1]
        names = [bar.name for bar in predicted_classes_of(answer).bars]
        assert f"{len(pooled.classes)} rarer classes" in names

    def test_the_display_draws_the_bars(self, classes):
        display = PredictedClassDisplay.from_assessment(classes, most=3)
        widths = [bar.get_width() for bar in display.ax_.patches if bar.get_height() == pytest.approx(0.66)]
        assert widths == [bar.corrected for bar in display.data.bars]
        assert display.data.n_left_out == len(NAMES) - 3


def test_without_the_sums_the_picture_is_refused(result):
    with pytest.raises(tn.Refusal, match="no log-score by predicted class"):
        predicted_classes_of(replace(result, by_predicted_class=None))
