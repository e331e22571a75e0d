"""The list of reported metrics: the laws of its entries, and a further entry that appears everywhere."""

import copy
import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from assessment_data import RESULT, SITE, Y_PROB, Y_TRUE

import trueness as tn
from trueness.assessment import REPORTED
from trueness.assessment._sample import SampleWithResamples
from trueness.assessment.reported import ByNorm, ReportedMetric, bounding_metrics, headline_metrics
from trueness.inference.results import Estimate, Interval
from trueness.metrics import top_label_error

MODELS = {"sharp": Y_PROB, "flat": tn.simulate.sharpen(Y_PROB, 0.5)}


def top_label_estimate(sample: SampleWithResamples) -> Estimate:
    """The top-label error in the bins of the measure, with the noise of the draws."""
    e, w = sample.by_variation, sample.by_variation.bins.weight
    gap = np.abs(e.bins.observed[:, 0] - e.bins.predicted[:, 0])
    resamples = np.abs(e.null.first - e.bins.predicted[:, 0])
    value, floor = float(w @ gap), float((resamples @ w).mean())
    reach = float(np.quantile(resamples @ w, sample.level))
    p = (1 + np.count_nonzero(resamples @ w >= value)) / (1 + len(resamples))
    return Estimate(
        value=value,
        noise_floor=floor,
        p_value=p,
        centred_p_value=p,
        debiased=max(0.0, value - floor),
        interval=Interval(max(0.0, value - reach), min(1.0, value + reach), sample.level, "triangle"),
        centred_gap=e.to_all_bins(gap - resamples.mean(axis=0)),
        debiased_gap=e.to_all_bins(gap),
        bins=e.noise(gap, resamples.mean(axis=0), resamples, resamples.std(axis=0), sample.level),
    )


TOP = ReportedMetric(
    "top",
    "top-label",
    "top-label error in the bins of the measure",
    "The distance between confidence and accuracy in the bins of {measure}.",
    reveals="top-class",
    estimate=top_label_estimate,
    read=top_label_error,
    contrast=ByNorm(lambda gaps: np.abs(gaps[..., 0])),
    centred=False,
)


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(REPORTED, "top", TOP)


@pytest.mark.usefixtures("registered")
class TestAFurtherMetric:
    """An entry in the list is all it takes."""

    def test_in_an_assessment(self) -> None:
        result: Any = tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3)
        assert result.top.value == pytest.approx(top_label_error(result.table), abs=1e-12)
        assert result.top is result.estimates["top"]
        assert "top" in [finding.key for finding in result.evidence]
        printed = str(result).splitlines()
        assert any(line.startswith("top-label ") for line in printed)
        heads = next(line for line in printed if line.startswith("group"))
        assert heads.split()[2:10] == ["VCE", "net", "gap", "ECE", "RCE", "classwise", "total", "top-label"]
        content = json.loads(json.dumps(result.to_dict(), allow_nan=False))
        assert content["top"]["debiased"] == result.top.debiased
        assert content["groups"][0]["assessment"]["top"]["value"] > 0

    def test_in_the_report(self) -> None:
        from trueness import report

        page = report.page(tn.assess(Y_TRUE, Y_PROB, rng=3))
        assert "<small>top-label error in the bins of the measure</small>" in page
        assert "in the bins of entropy." in page

    def test_in_a_comparison(self) -> None:
        comparison = tn.compare(Y_TRUE, MODELS, rng=3, resamples=99)
        (pair,) = comparison.pairs
        first, second = (comparison.assessments[name].top.debiased for name in MODELS)
        contrast: Any = pair.top
        assert contrast is pair.contrasts["top"]
        assert contrast.difference == first - second
        assert contrast.interval.method == "triangle"
        assert contrast.interval.low < contrast.difference < contrast.interval.high
        assert contrast.adjusted_p_value == contrast.p_value
        assert comparison.to_dict()["pairs"][0]["top"]["difference"] == contrast.difference
        assert f"top-label {second:10.4f}".split()[1] in str(comparison)
        assert "top-label" in comparison.model_table

    def test_as_a_tolerance(self) -> None:
        assert "top" in [metric.key for metric in bounding_metrics()]
        loose = tn.assess(Y_TRUE, Y_PROB, rng=3, tolerance={"vce": 1, "top": 1})
        assert loose.verdict.size == "negligible"
        strict = tn.assess(Y_TRUE, Y_PROB, rng=3, tolerance={"vce": 1, "ece": 1, "rce": 1, "top": 0.001})
        assert strict.verdict.size == "beyond"
        assert "top-label [" in str(strict.verdict)

    @pytest.mark.parametrize(("limit", "code"), [("top=.001", 1), ("top=.9", 0)])
    def test_as_a_gate(self, limit: str, code: int, tmp_path: Path, capsys: Any) -> None:
        from trueness.cli import main

        np.savez(tmp_path / "x.npz", y_true=Y_TRUE, y_prob=Y_PROB)
        assert main(["assess", str(tmp_path / "x.npz"), "--fail-above", limit]) == code
        assert ("debiased top-label" in capsys.readouterr().err) == bool(code)

    def test_in_a_forest(self) -> None:
        from trueness.plots import ForestDisplay

        result: Any = tn.assess(Y_TRUE, Y_PROB, groups=SITE, rng=3)
        display = ForestDisplay.from_assessment(result, metric="top")
        assert display.data.x_label == "top-label, debiased"
        assert display.data.whole is not None
        assert display.data.whole.value == result.top.debiased
        pairs = tn.compare(Y_TRUE, MODELS, rng=3, resamples=99).plot(metric="top")
        assert pairs.data.x_label == "difference in top-label, debiased"

    def test_as_a_scorer(self) -> None:
        from sklearn.linear_model import LogisticRegression

        from trueness.adapters.sklearn import CalibrationScorer

        model = LogisticRegression().fit(Y_PROB, Y_TRUE)
        score = CalibrationScorer("top")(model, Y_PROB, Y_TRUE)
        table = tn.tabulate(Y_TRUE, model.predict_proba(Y_PROB))
        assert score == pytest.approx(-top_label_error(table))

    def test_it_alone_decides_a_verdict(self) -> None:
        """Its kind of miscalibration is the one that the entry names."""
        result = tn.assess(Y_TRUE, Y_PROB, rng=3)
        quiet = {
            key: replace(estimate, p_value=0.9, centred_p_value=0.9)
            for key, estimate in result.estimates.items()
            if estimate is not None
        }
        quiet["top"] = replace(quiet["top"], p_value=0.0001)
        calm = replace(result.log_score_z, p_value=0.9, drawn_p_value=0.9)
        verdict = replace(result, estimates=quiet, log_score_z=calm).verdict
        assert verdict.kind == "top-class"
        assert "top-label " in verdict.sentence


class TestTheList:
    def test_keys_are_attributes(self) -> None:
        for key, metric in REPORTED.items():
            assert metric.key == key
            assert getattr(RESULT, key) is RESULT.estimates[key] is metric.of(RESULT)
        with pytest.raises(AttributeError, match="has no attribute 'vcx'"):
            getattr(RESULT, "vcx")  # noqa: B009  mypy would refuse RESULT.vcx
        (pair,) = tn.compare(Y_TRUE, MODELS, resamples=39).pairs
        for key in pair.contrasts:
            assert getattr(pair, key) is pair.contrasts[key]
        with pytest.raises(AttributeError, match="has no attribute 'top'"):
            getattr(pair, "top")  # noqa: B009

    def test_the_plug_in_value_is_that_of_the_reader(self) -> None:
        for metric in REPORTED.values():
            tables = RESULT.tables
            table = (
                tables.by_class
                if metric.by_class
                else tables.by_confidence
                if metric.by_confidence
                else tables.by_variation
            )
            estimate = metric.of(RESULT)
            assert estimate is not None
            assert estimate.value == pytest.approx(metric.read(table), abs=1e-12)

    def test_bounds_hold(self) -> None:
        for metric in REPORTED.values():
            if metric.bounded_by is not None:
                small, large = metric.of(RESULT), REPORTED[metric.bounded_by].of(RESULT)
                assert small is not None
                assert large is not None
                assert abs(small.value) <= large.value + 1e-12

    def test_headline_metrics_have_a_column(self) -> None:
        assert [metric.key for metric in headline_metrics()] == ["vce", "net", "ece", "rce", "cwece_total"]

    def test_results_are_copied_and_pickled(self) -> None:
        for again in (copy.deepcopy(RESULT), pickle.loads(pickle.dumps(RESULT))):
            assert again == RESULT
            assert again.vce.value == RESULT.vce.value
