"""Verdicts: kind, direction, size, sentence and advice, and the evidence they rest on."""

import math
import re
from typing import Any

import numpy as np
import pytest
from assessment_data import RESULT, combined

import trueness as tn


class TestVerdict:
    Y, P = tn.simulate.calibrated(3000, [1.0] * 3, rng=6)

    def test_certain_predictions(self) -> None:
        """No gap "of 0 or more" is said to be detected, and UCE of a calibrated model is then 0."""
        right = tn.assess([0] * 50, [[1.0, 0.0]] * 50, rng=0)
        assert right.detectable_net_gap == 0
        assert right.verdict.kind == "none"
        assert "power" not in str(right)
        assert "expected for a calibrated model: 0.0000\n" in str(right)
        one_error = tn.assess([1] + [0] * 49, [[1.0, 0.0]] * 50, rng=0)
        assert one_error.verdict.kind == "over-confident"
        assert "correct in 98.0 % of rows, with a mean confidence of 100.0 %" in str(one_error.verdict)

    def test_p_value_is_that_of_all_the_evidence(self) -> None:
        for result in (RESULT, tn.assess(self.Y, self.P, rng=1)):
            assert [finding.key for finding in result.evidence] == [
                "vce",
                "net",
                "ece",
                "rce",
                "rce_w1",
                "log_score",
                "cumulative_log_score",
                "by_predicted_class",
                "classes",
            ]
            assert result.p_value == pytest.approx(combined(result))

    def test_no_metric_is_counted_twice(self) -> None:
        """With confidence as measure VCE and ECE are equal, and for two classes so are both distances of RCE."""
        two = tn.assess(*tn.simulate.calibrated(300, [1.0, 1.0], rng=4))
        scores = ["log_score", "cumulative_log_score", "by_predicted_class"]
        assert [f.key for f in two.evidence] == ["vce", "net", "ece", "rce", *scores, "classes"]
        by_confidence = tn.assess(self.Y, self.P, variation="confidence")
        assert [f.key for f in by_confidence.evidence] == ["vce", "net", "rce", "rce_w1", *scores, "classes"]
        alone = tn.assess_table(tn.tabulate(self.Y, self.P))
        assert [f.key for f in alone.evidence] == ["vce", "net", "rce", "rce_w1", *scores]

    def test_only_the_log_score(self) -> None:
        """A thousand rows, one of them with an outcome of stated probability 1e-9."""
        y_true = np.array([0] * 999 + [1])
        y_prob = np.tile([1 - 1e-9, 1e-9], (1000, 1))
        result = tn.assess(y_true, y_prob, rng=0, by_class=False)
        assert result.log_score_z.p_value < 1e-6
        assert result.verdict.kind == "over-confident"
        by_class = tn.assess(y_true, y_prob, rng=0).verdict
        assert str(by_class).startswith("forecasts class 1 too seldom: 1e-06 expected, 1 observed")

    def test_the_log_score_needs_its_drawn_p_value_too(self) -> None:
        """One event of stated probability 1e-4 in 1000 rows has a chance of .095; Z is -2.9, p = .003 if normal."""
        y_true = np.array([0] * 999 + [1])
        result = tn.assess(y_true, np.tile([0.9999, 0.0001], (1000, 1)), resamples=1999)
        chance = 1 - 0.9999**1000
        assert result.log_score_z.p_value < 0.005
        assert result.log_score_z.drawn_p_value == pytest.approx(chance, abs=4 * math.sqrt(0.1 * 0.9 / 1999))
        assert result.verdict.kind == "none"

    def test_an_impossible_row_is_reported_separately(self) -> None:
        """One row among 3001 whose true class had probability 0: the others decide the verdict."""
        ruled_out = np.vstack([self.P, [0.6, 0.4, 0.0]])
        result = tn.assess(np.append(self.Y, 2), ruled_out, rng=0)
        assert result.verdict.kind == "none"
        assert "in 1 row the predicted probability of the true class was 0" in str(result.verdict)
        assert result.log_score_z.reason == "without 1 row whose true class had probability 0"
        assert abs(result.log_score_z.value - tn.assess(self.Y, self.P).log_score_z.value) < 0.01
        assert result.log_loss == math.inf
        assert "log-loss infinite" in str(result)


class TestTolerance:
    Y, P = tn.simulate.calibrated(30_000, [1.0] * 3, rng=6)

    def said(self, exponent: float, tolerance: Any, rows: int = 30_000) -> Any:
        y_prob = tn.simulate.sharpen(self.P[:rows], exponent)
        return tn.assess(self.Y[:rows], y_prob, tolerance=tolerance).verdict

    def test_negligible_beyond_and_undecided(self) -> None:
        """Intervals decide: all within, one wholly outside, or neither."""
        assert self.said(1.05, 0.1).size == "negligible"
        assert self.said(1.05, 0.1).headline == "Negligible, within the tolerance"
        assert self.said(1.05, 0.1).kind == "over-confident"  # significant all the same
        beyond = self.said(1.5, 0.02)
        assert beyond.size == "beyond"
        assert beyond.headline == "Over-confident beyond the tolerance"
        assert "beyond the tolerance 0.02: VCE [0." in str(beyond)
        unknown = self.said(1.0, 0.01, rows=300)
        assert (unknown.kind, unknown.size) == ("none", "undecided")
        assert "300 rows are too few: these intervals include values above the tolerance" in str(unknown)

    def test_by_the_ends_of_the_intervals(self) -> None:
        result = tn.assess(self.Y, tn.simulate.sharpen(self.P, 1.1))
        high = max(it.interval.high for it in (result.vce, result.ece, result.rce) if it is not None)
        low = max(it.interval.low for it in (result.vce, result.ece, result.rce) if it is not None)
        assert self.said(1.1, high + 1e-9).size == "negligible"
        assert self.said(1.1, high - 1e-9).size == "undecided"
        assert self.said(1.1, low + 1e-9).size == "undecided"
        assert self.said(1.1, low - 1e-9).size == "beyond"

    def test_small_without_a_tolerance(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(400_000, [1.0] * 3, rng=1)
        result = tn.assess(y_true, tn.simulate.sharpen(y_prob, 1.02))
        assert result.p_value < 0.01
        assert (result.verdict.kind, result.verdict.size) == ("over-confident", "small")
        assert "the error is significant but small" in str(result.verdict)

    def test_a_metric_that_is_not_named_has_the_largest_tolerance(self) -> None:
        """A tolerance for VCE alone does not make a model that is 40 points off negligible."""
        y_true = (np.arange(2000) % 10 < 7).astype(int)
        result = tn.assess(y_true, np.full(2000, 0.3), tolerance={"vce": 0.05})
        assert result.verdict.size == "beyond"
        assert "ECE [0.3" in str(result.verdict)

    def test_too_few_rows_are_never_beyond(self) -> None:
        result = tn.assess([0, 1], [[0.9, 0.1], [0.6, 0.4]], tolerance=0.02)
        assert (result.verdict.kind, result.verdict.size) == ("too-few-rows", "undecided")
        assert (result.vce.interval.low, result.vce.interval.high) == (0, 1)

    def test_beyond_needs_evidence(self) -> None:
        """At tolerance 0 an interval of RCE can exclude it by chance; without evidence that is undecided."""
        for seed in range(30, 45):
            y_true, y_prob = tn.simulate.calibrated(1000, [1.0] * 3, rng=seed)
            verdict = tn.assess(y_true, y_prob, tolerance=0, resamples=199).verdict
            assert verdict.kind != "none" or verdict.size == "undecided"

    @pytest.mark.parametrize(
        ("tolerance", "message"),
        [
            (
                {"vcx": 0.1},
                "`tolerance` contains the unknown metric 'vcx'; the metrics are vce, net, ece, rce, rce_w1",
            ),
            (-0.1, "`tolerance` for vce must be a number from 0 to 2, got -0.1"),
            ("0.1", "`tolerance` for vce must be a number"),
            (math.nan, "`tolerance` for vce must be a number"),
            ({}, "`tolerance` is empty"),
        ],
    )
    def test_refusals(self, tolerance: Any, message: str) -> None:
        with pytest.raises(ValueError, match=re.escape(message)):
            tn.assess(self.Y[:100], self.P[:100], tolerance=tolerance)
