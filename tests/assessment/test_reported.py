"""The list of reported metrics: the laws of its entries, and a further entry that appears everywhere."""

import copy
import pickle

import pytest
from assessment_data import RESULT, Y_PROB, Y_TRUE

import trueness as tn
from trueness.old_assessment import REPORTED
from trueness.old_assessment.reported import headline_metrics

MODELS = {"sharp": Y_PROB, "flat": tn.simulate.sharpen(Y_PROB, 0.5)}


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
