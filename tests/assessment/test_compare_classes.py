"""Comparisons of classes and events: classwise errors, the gap of an event, Brier score and log-loss."""

from __future__ import annotations

import math

import numpy as np
import pytest
from comparison_data import assert_same

import trueness as tn
from trueness.old_table import clusters

N = 3000
_STREAM = np.random.default_rng(0)
P = _STREAM.uniform(0.02, 0.6, N)
Y = (_STREAM.random(N) < P).astype(int)
HIGH, LOW = P + 0.05, np.clip(P - 0.05, 0.001, 1)
TWO = tn.compare(Y, {"good": P, "high": HIGH}, rng=0)
(PAIR,) = TWO.pairs

Y5, GOOD = tn.simulate.calibrated(N, [1.0] * 5, rng=1)
WEIGHTED = GOOD * np.array([1.4, 1, 1, 1, 1])
WEIGHTED /= WEIGHTED.sum(axis=1, keepdims=True)
FIVE = tn.compare(Y5, {"good": GOOD, "weighted": WEIGHTED}, rng=0)


class TestTwoClasses:
    def test_differences_are_those_of_the_events(self) -> None:
        good, high = tn.assess_event(Y, P, rng=0), tn.assess_event(Y, HIGH, rng=0)
        assert isinstance(good, tn.EventAssessment)
        assert isinstance(high, tn.EventAssessment)
        wanted = {
            "event_gap": good.in_the_large.value - high.in_the_large.value,
            "brier_score": 2 * (good.brier_score - high.brier_score),  # over both classes
            "log_loss": good.log_loss - high.log_loss,
            "cwece": good.ece.debiased - high.ece.debiased,
        }
        for key, value in wanted.items():
            assert PAIR.contrasts[key].difference == pytest.approx(value, abs=1e-9), key

    @pytest.mark.parametrize("key", ["brier_score", "log_loss"])
    def test_interval_is_that_of_paired_rows(self, key: str) -> None:
        """1.96 standard errors of the mean of the differences of single rows, to the error of 999 replicates."""
        scores = {
            "brier_score": lambda p: 2 * (p - Y) ** 2,
            "log_loss": lambda p: -np.log(np.where(Y == 1, p, 1 - p)),
        }[key]
        apart = scores(P) - scores(HIGH)
        reach = 1.96 * apart.std() / math.sqrt(N)
        interval = PAIR.contrasts[key].interval
        assert (interval.high - interval.low) / 2 == pytest.approx(reach, rel=0.12)

    def test_gap_of_the_same_shift_has_hardly_any_noise(self) -> None:
        """Rows are paired: what both models have in common cancels."""
        gap = PAIR.contrasts["event_gap"]
        assert gap.difference == pytest.approx(-0.05, abs=1e-12)
        assert gap.interval.high - gap.interval.low < 0.002

    def test_p_value_of_a_shift_is_that_of_the_point_between(self) -> None:
        """Models that differ by a constant are equally far off if the gap of the first is minus half of it.

        The shift of 0.05 is six standard errors from 0, but three from that point, so that the p-value of the class
        gap is about 0.001 and not 1e-9. The gap with its sign has hardly any noise, and its p-value none to speak of.
        """
        gap = TWO.assessments["good"].classes.classes[0].gap.value
        z = (gap + 0.025) / math.sqrt(float((P * (1 - P)).sum()) / N**2)
        assert 3 < z < 3.7
        replicated = [
            tn.compare(Y, {"good": P, "high": HIGH}, rng=seed).pairs[0].contrasts["gap"].p_value
            for seed in range(5)
        ]
        assert 1e-6 < float(np.median(replicated)) < 10 * math.erfc(z / math.sqrt(2))
        assert PAIR.contrasts["event_gap"].p_value <= 1e-6

    def test_log_loss_is_left_out_if_infinite(self) -> None:
        impossible = np.where((np.arange(N) == 5) & (Y == 1), 0.0, P)
        impossible[np.flatnonzero(Y == 1)[0]] = 0.0
        (pair,) = tn.compare(Y, {"good": P, "impossible": impossible}, rng=0, resamples=99).pairs
        assert "log_loss" not in pair.contrasts
        assert "brier_score" in pair.contrasts

    def test_scores_alone_do_not_make_models_differ_in_calibration(self) -> None:
        """A constant forecast of the prevalence is calibrated; its Brier score is worse."""
        result = tn.compare(Y, {"good": P, "constant": np.full(N, Y.mean())}, rng=0, bins=1)
        (pair,) = result.pairs
        assert pair.contrasts["brier_score"].p_value < 0.01
        assert "brier_score" not in pair.clear_keys(0.95)

    def test_text_json_and_forest_have_them(self) -> None:
        text, content = str(TWO), TWO.to_dict()["pairs"][0]
        for label in ("classwise ECE", "class gap", "gap of class 1", "Brier score", "log-loss"):
            assert label in text
        for key in ("cwece", "cwece_total", "gap", "event_gap", "brier_score", "log_loss"):
            assert {"difference", "interval", "p_value", "adjusted_p_value"} <= content[key].keys()
            assert getattr(PAIR, key) is PAIR.contrasts[key]

    def test_weights_of_one_change_nothing(self) -> None:
        (pair,) = tn.compare(Y, {"good": P, "high": HIGH}, rng=0, sample_weight=np.ones(N)).pairs
        for key, contrast in PAIR.contrasts.items():
            assert pair.contrasts[key].difference == pytest.approx(contrast.difference, abs=1e-9), key
            assert pair.contrasts[key].interval.low == pytest.approx(contrast.interval.low, abs=2e-3), key


class TestManyClasses:
    def test_differences_are_those_of_assessments(self) -> None:
        (pair,) = FIVE.pairs
        good, weighted = (tn.assess(Y5, p, rng=0) for p in (GOOD, WEIGHTED))
        for key in ("cwece_total", "cwece", "gap"):
            wanted = good.estimates[key].debiased - weighted.estimates[key].debiased
            assert pair.contrasts[key].difference == pytest.approx(wanted, abs=1e-12)
        assert "event_gap" not in pair.contrasts

    def test_the_mean_is_the_total_in_other_units(self) -> None:
        (pair,) = FIVE.pairs
        total, mean = pair.contrasts["cwece_total"], pair.contrasts["cwece"]
        assert mean.difference == pytest.approx(total.difference * 2 / 5)
        assert mean.interval.low == pytest.approx(total.interval.low * 2 / 5)
        assert mean.p_value == pytest.approx(total.p_value)

    def test_assessments_have_their_classes(self) -> None:
        for result in FIVE.assessments.values():
            assert result.classes is not None
            assert len(result.classes.classes) == 5

    def test_without_classes(self) -> None:
        (pair,) = tn.compare(Y5, {"a": GOOD, "b": WEIGHTED}, rng=0, by_class=False, resamples=99).pairs
        assert pair.contrasts.keys() == {"vce", "net", "ece", "rce", "rce_w1"}

    def test_more_classes_than_units_have_sums_for(self) -> None:
        y, p = tn.simulate.calibrated(2000, [0.1] * 70, rng=1)
        result = tn.compare(y, {"good": p, "sharp": tn.simulate.sharpen(p, 1.5)}, rng=0, resamples=199)
        contrast = result.pairs[0].contrasts["cwece_total"]
        assert contrast.interval.high < 0
        assert contrast.p_value <= 0.01

    def test_names_of_the_classes(self) -> None:
        names = ["a", "b", "c", "d", "e"]
        result = tn.compare(np.array(names)[Y5], {"x": GOOD, "y": WEIGHTED}, classes=names, resamples=99)
        classes = result.assessments["x"].classes
        assert classes is not None
        assert [each.name for each in classes.classes] == names


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize("clusters", [None, np.arange(N) // 10])
def test_batches_give_the_same(two: bool, clusters: np.ndarray | None) -> None:
    y, models = (Y, {"a": P, "b": HIGH}) if two else (Y5, {"a": GOOD, "b": WEIGHTED})
    comparer = tn.Comparer(2 if two else 5, models=["a", "b"], rng=0, resamples=99)
    for part in (slice(0, 700), slice(700, N)):
        names = None if clusters is None else clusters[part]
        comparer.update(y[part], {name: p[part] for name, p in models.items()}, clusters=names)
    whole = tn.compare(y, models, rng=0, resamples=99, clusters=clusters)
    assert_same(comparer.result(), whole)
    (mine,), (theirs,) = comparer.result().pairs, whole.pairs
    assert mine.contrasts.keys() == theirs.contrasts.keys()
    for key in mine.contrasts:
        assert mine.contrasts[key].interval.low == pytest.approx(
            theirs.contrasts[key].interval.low, abs=1e-10
        )


def test_blocks_of_rows_give_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than 1024 rows are resampled in blocks.

    The length of an interval has an error of 2.2 % from 999 replicates and of 2.2 % from 1024 blocks: 0.15 is more than
    three standard errors of the ratio of two such lengths.
    """
    monkeypatch.setattr(clusters, "MAX_ROW_BLOCKS", N)
    (single,) = tn.compare(Y, {"good": P, "high": HIGH}, rng=0).pairs
    for key in ("brier_score", "log_loss", "cwece", "gap"):
        of_blocks, of_rows = (it.contrasts[key].interval for it in (PAIR, single))
        ratio = (of_blocks.high - of_blocks.low) / (of_rows.high - of_rows.low)
        assert ratio != 1, key
        assert ratio == pytest.approx(1, rel=0.15), key


def test_groups_have_them() -> None:
    group = np.where(np.arange(N) % 2, "odd", "even")
    result = tn.compare(Y, {"good": P, "high": HIGH}, rng=0, resamples=99, groups=group)
    for part in result.groups:
        assert part.comparison is not None
        assert {"cwece", "event_gap", "log_loss"} <= part.comparison.pairs[0].contrasts.keys()


class TestDifferentRows:
    def test_two_classes(self) -> None:
        a, b = tn.assess(Y[: N // 2], P[: N // 2]).tables, tn.assess(Y[N // 2 :], HIGH[N // 2 :]).tables
        (pair,) = tn.compare_tables({"a": a, "b": b}, rng=0).pairs
        assert {"cwece", "event_gap", "brier_score", "log_loss"} <= pair.contrasts.keys()
        sd = math.sqrt((P * (1 - P)).mean() / (N / 2) * 2)
        interval = pair.contrasts["event_gap"].interval
        assert (interval.high - interval.low) / 2 == pytest.approx(1.96 * sd, rel=0.1)

    @pytest.mark.parametrize("key", ["brier_score", "log_loss"])
    def test_scores_have_the_noise_of_their_rows(self, key: str) -> None:
        """The variance of the mean score of independent rows; cells of the event grid stand for their rows."""
        a, b = tn.assess(Y[: N // 2], P[: N // 2]).tables, tn.assess(Y[N // 2 :], HIGH[N // 2 :]).tables
        contrast = tn.compare_tables({"a": a, "b": b}, rng=0).pairs[0].contrasts[key]
        parts = [(Y[: N // 2], P[: N // 2]), (Y[N // 2 :], HIGH[N // 2 :])]
        scores = [
            2 * (p - y) ** 2 if key == "brier_score" else -np.log(np.where(y == 1, p, 1 - p))
            for y, p in parts
        ]
        reach = 1.96 * math.sqrt(sum(it.var() / len(it) for it in scores))
        assert (contrast.interval.high - contrast.interval.low) / 2 == pytest.approx(reach, rel=0.12)
        assert contrast.difference == pytest.approx(scores[0].mean() - scores[1].mean(), abs=1e-9)

    def test_groups_of_an_assessment(self) -> None:
        result = tn.assess(Y5, GOOD, groups=np.arange(N) % 2, resamples=99)
        for pair in result.compare_groups().pairs:
            assert {"cwece_total", "gap"} <= pair.contrasts.keys()
