"""An event in groups of the rows, and the events of a multi-label model: one correction, text, JSON and report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import trueness as tn
from trueness.old_inference.corrections import benjamini_hochberg
from trueness.old_report import event_tables_in
from trueness.refusals import InvalidValueError

N = 3000
_STREAM = np.random.default_rng(3)
P = _STREAM.uniform(0.02, 0.6, N)
REGION = np.array(["north", "south", "west"])[np.arange(N) % 3]
REGION[:30] = "sea"
Y = (_STREAM.random(N) < np.where(REGION == "south", P + 0.1, P)).astype(int)
RESULT = tn.assess_event(Y, P, groups=REGION, rng=3)
assert isinstance(RESULT, tn.EventAssessment)

NAMES = ["fever", "cough", "rash", "pain"]
MANY_P = _STREAM.uniform(0.02, 0.6, (2000, 4))
MANY_Y = (_STREAM.random((2000, 4)) < MANY_P * np.array([1.0, 1.3, 1.0, 0.7])).astype(int)
MANY = tn.assess_event(MANY_Y, MANY_P, multilabel=True, classes=NAMES, rng=3)
assert isinstance(MANY, tn.EventAssessments)


class TestGroups:
    def test_each_group_is_its_rows_alone(self) -> None:
        for group in RESULT.groups:
            if group.assessment is None:
                continue
            rows = group.name == REGION
            alone = tn.assess_event(Y[rows], P[rows], rng=group.assessment.seed)
            assert group.assessment == alone

    def test_p_values_are_corrected_over_the_assessed(self) -> None:
        assessed = [group for group in RESULT.groups if group.assessment is not None]
        adjusted = benjamini_hochberg([group.p_value for group in assessed])
        assert [group.adjusted_p_value for group in assessed] == adjusted
        assert [group.name for group in RESULT.groups if group.flagged] == ["south"]
        (small,) = [group for group in RESULT.groups if group.assessment is None]
        assert (small.name, small.n_rows, small.reason) == ("sea", 30, "fewer than 100 rows")

    def test_bins_of_equal_mass_are_those_of_all_rows(self) -> None:
        result = tn.assess_event(Y, P, groups=REGION, bins=tn.EqualMass(5), rng=3, resamples=99)
        assert isinstance(result, tn.EventAssessment)
        upper = np.cumsum(result.bins.count) / N
        assert upper == pytest.approx([0.2, 0.4, 0.6, 0.8, 1.0], abs=0.01)
        for group in result.groups:
            if group.assessment is not None:
                ends = group.assessment.bins.mean_predicted
                assert ends == pytest.approx(result.bins.mean_predicted, abs=0.02)

    def test_tables_give_the_same(self) -> None:
        parts = {
            name: tn.tabulate_events(Y[name == REGION], P[name == REGION])
            for name in np.unique(REGION).tolist()
        }
        whole = parts["north"] + parts["sea"] + parts["south"] + parts["west"]
        assert tn.assess_event_table(whole, groups=parts, rng=3) == RESULT

    def test_text_and_json(self) -> None:
        text = str(RESULT)
        assert "adjusted p  verdict" in text
        assert text.index("south ") < text.index("north ")  # the flagged one first
        assert "fewer than 100 rows" in text
        content = json.loads(json.dumps(RESULT.to_dict()))
        assert [group["name"] for group in content["groups"]] == ["north", "sea", "south", "west"]
        assert content["groups"][2]["flagged"] is True
        assert content["groups"][2]["assessment"]["kind"] == "event-assessment"

    def test_report(self, tmp_path: Path) -> None:
        path = tmp_path / "event.html"
        RESULT.write_html(path)
        page = path.read_text(encoding="utf-8")
        assert "1 of 3 groups is miscalibrated" in page
        for name in ("north", "south", "west", "sea"):
            assert name in page
        assert event_tables_in(path) == [RESULT.table]

    def test_more_than_two_classes_and_weights(self) -> None:
        y, p = tn.simulate.calibrated(900, [1.0] * 3, rng=0)
        groups = np.arange(900) % 2
        plain = tn.assess_event(y, p, event=2, groups=groups, resamples=99)
        weighted = tn.assess_event(
            y, p, event=2, groups=groups, resamples=99, sample_weight=np.full(900, 2.0)
        )
        assert isinstance(plain, tn.EventAssessment)
        assert isinstance(weighted, tn.EventAssessment)
        for a, b in zip(plain.groups, weighted.groups, strict=True):
            assert a.assessment is not None
            assert b.assessment is not None
            assert a.assessment.in_the_large.value == pytest.approx(b.assessment.in_the_large.value)

    def test_too_many_groups_are_refused(self) -> None:
        with pytest.raises(InvalidValueError, match="fewer groups"):
            tn.assess_event(np.zeros(5000, int), np.full(5000, 0.5), groups=np.arange(5000))


class TestManyEvents:
    def test_one_correction_over_all(self) -> None:
        events = list(MANY.events.values())
        adjusted = benjamini_hochberg([event.p_value for event in events])
        assert [event.adjusted_p_value for event in events] == adjusted
        assert MANY.p_value == min(adjusted)
        assert [event.name for event in MANY.flagged] == ["pain", "cough"]

    def test_text(self) -> None:
        lines = str(MANY).splitlines()
        assert lines[0] == "4 events, 2000 rows; p adjusted for the number of events"
        assert [line.split()[0] for line in lines[3:7]] == ["pain", "cough", "fever", "rash"]
        assert str(MANY.verdict).startswith("2 of 4 events are miscalibrated: pain forecast too often, ")
        assert MANY["pain"].label == "event pain"
        assert str(MANY["pain"].verdict).startswith("forecasts event pain too often")

    def test_json(self) -> None:
        content = json.loads(json.dumps(MANY.to_dict()))
        assert content["kind"] == "event-assessments"
        assert content["flagged"] == ["pain", "cough"]
        assert content["p_value"] == MANY.p_value
        assert content["verdict"]["kind"] == "events"
        assert [event["name"] for event in content["events"]] == NAMES
        assert content["events"][3]["adjusted_p_value"] == MANY["pain"].adjusted_p_value

    def test_report(self, tmp_path: Path) -> None:
        path = tmp_path / "events.html"
        MANY.write_html(path, title="Symptoms")
        page = path.read_text(encoding="utf-8")
        assert "2 of 4 events are miscalibrated" in page
        assert page.count("How often is event") == 2  # sections of those that are called
        tables = event_tables_in(path)
        assert tables == [event.table for event in MANY.events.values()]
        again = tn.assess_event_table(tables[3], rng=3)
        assert again.in_the_large == MANY["pain"].in_the_large

    def test_groups_are_refused(self) -> None:
        with pytest.raises(InvalidValueError, match="one by one"):
            tn.assess_event(MANY_Y, MANY_P, multilabel=True, groups=np.zeros(2000))


def test_the_event_of_an_assessment_is_made_once() -> None:
    result = tn.assess(Y, P, resamples=99)
    assert result.event is result.event


class TestWordsOfClasses:
    def test_a_large_gap_is_not_called_too_extreme(self) -> None:
        """Odds of class 0 times four: the slope is 1, but the test of the spread responds to the gap."""
        y_true, y_prob = tn.simulate.calibrated(4000, [0.5, 3.0, 3.0], rng=1)
        wrong = y_prob * np.array([4.0, 1.0, 1.0])
        result = tn.assess(y_true, wrong / wrong.sum(axis=1, keepdims=True), resamples=199)
        assert result.classes is not None
        first = result.classes.classes[0]
        assert first.adjusted_spread_p_value < 0.001
        assert first.remaining_spread is not None
        assert first.remaining_spread.p_value > 0.05
        assert first.gap_explains_spread
        assert first.words == "predicted too often: 795 expected, 308 observed"

    def test_both_are_said_if_both_are_wrong(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(6000, [1.0, 1.0, 1.0], rng=2)
        wrong = tn.simulate.sharpen(y_prob, 1.6) * np.array([2.0, 1.0, 1.0])
        result = tn.assess(y_true, wrong / wrong.sum(axis=1, keepdims=True), resamples=199)
        assert result.classes is not None
        words = result.classes.classes[0].words
        assert words.startswith("predicted too often")
        assert "too extreme" in words


class TestWordsOfEvents:
    def test_the_slope_says_whether_an_event_with_a_large_gap_is_too_timid(self) -> None:
        """Half of each log-odds, and odds times 50: the spread is negative from the gap alone, the slope is 2."""
        rng = np.random.default_rng(4)
        odds = np.exp(rng.normal(-4.5, 1.5, 20_000))
        y = rng.random(20_000) < odds / (1 + odds)
        forecast = 50 * odds**0.5
        result = tn.assess_event(y, forecast / (1 + forecast), resamples=199)
        assert result.spread.statistic < 0
        assert result.cox.slope.interval.low > 1.5
        assert "too timid, slope" in str(result.verdict)
        assert "too extreme" not in str(result.verdict)
