"""The result of `assess`: printed, as JSON, and as a value."""

import json

import numpy as np
import pytest
from assessment_data import RESULT, SITE, Y_PROB, Y_TRUE

import trueness as tn
from trueness.old_assessment import REPORTED, text


class TestAssessment:
    def test_to_dict_survives_json(self) -> None:
        certain = tn.assess([0, 1] * 30, np.eye(2)[[0, 0] * 30], rng=0)
        for result in (RESULT, certain, tn.assess(Y_TRUE, Y_PROB, groups=SITE, variation="iqv", rng=3)):
            content = result.to_dict()
            assert json.loads(json.dumps(content, allow_nan=False)) == content
            assert (content["schema"], content["kind"]) == (2, "assessment")
            assert content["trueness"] == tn.__version__
            assert content["verdict"]["text"] == str(result.verdict)
            assert content["verdict"]["kind"] == result.verdict.kind
            assert [finding["p_value"] for finding in content["evidence"]] == [
                finding.p_value for finding in result.evidence
            ]
            assert content["vce"]["interval"]["low"] == result.vce.interval.low
            back = [tn.CalibrationTable.from_dict(table) for table in content["tables"]]
            assert back == [result.table, result.confidence_table]
            assert tn.EventTable.from_dict(content["class_table"]) == result.tables.by_class
        assert certain.to_dict()["log_score_z"]["value"] is None
        assert "cannot vary" in certain.to_dict()["log_score_z"]["reason"]
        assert certain.to_dict()["impossible_rows"] == 30
        assert certain.to_dict()["log_loss"] is None
        assert "infinite" in certain.to_dict()["log_loss_reason"]

    def test_reasons_for_missing_metrics(self) -> None:
        content = tn.assess_table(tn.tabulate(Y_TRUE, Y_PROB, variation="iqv"), rng=0).to_dict()
        assert content["ece"] is None
        assert content["ece_reason"] == REPORTED["ece"].missing
        assert content["uce"] is None
        assert content["uce_reason"] == text.NO_UCE
        json.dumps(content, allow_nan=False)
        assert text.NO_UCE in str(tn.assess(Y_TRUE, Y_PROB, variation="iqv", rng=0, resamples=39))

    def test_every_metric_is_listed_by_dir(self) -> None:
        result = tn.assess(Y_TRUE, Y_PROB, rng=0, resamples=39)
        assert {*REPORTED, "estimates", "write_html"} <= {*dir(result)}
        for key in REPORTED:
            assert getattr(result, key) is result.estimates[key]
        (pair,) = tn.compare(Y_TRUE, {"a": Y_PROB, "b": Y_PROB}, resamples=39).pairs
        assert {*pair.contrasts, "first", "second"} <= {*dir(pair)}

    def test_it_is_frozen_and_not_hashable(self) -> None:
        with pytest.raises(AttributeError):
            RESULT.level = 0.9  # type: ignore[misc]
        with pytest.raises(TypeError):
            hash(RESULT)

    def test_empty_bins_are_nan(self) -> None:
        result = tn.assess([0] * 40, [[0.9, 0.1]] * 40, rng=0)
        assert np.isfinite(result.vce.centred_gap).sum() == 1
        assert np.isnan(result.vce.bins.low).sum() == 9
        assert result.to_dict()["vce"]["centred_gap"].count(None) == 9
