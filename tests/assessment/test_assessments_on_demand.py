"""Comparisons have the debiased metrics of assessments, which are made when they are asked for."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from time import sleep
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.old_assessment import _assessments_on_demand
from trueness.old_assessment._estimation import assessment_of, has_enough_resamples
from trueness.old_assessment._sample import Sample, SampleWithResamples
from trueness.old_assessment._settings import Settings
from trueness.old_assessment.reported import REPORTED
from trueness.old_inference.results import Debiased

N = 1200
Y3, P3 = tn.simulate.calibrated(N, [1.0] * 3, rng=0)
Y2, P2 = tn.simulate.calibrated(N, [1.0] * 2, rng=1)
CLUSTERS = np.arange(N) // 10
SETTINGS = Settings.of(0.95, 299, 0)

RESULTS = {
    "three classes": lambda: tn.assess(Y3, tn.simulate.sharpen(P3, 1.3), resamples=299),
    "two classes": lambda: tn.assess(Y2, P2, resamples=299),
    "clusters": lambda: tn.assess(Y3, P3, clusters=CLUSTERS, resamples=299),
    "without classes": lambda: tn.assess(Y3, P3, by_class=False, resamples=299),
    "by confidence": lambda: tn.assess(Y3, P3, variation="confidence", resamples=299),
    "options": lambda: tn.assess(
        [0, 1, 2] * 100, [[0.5, 0.5], [0.2, 0.8], [0.2, 0.2, 0.6]] * 100, resamples=299
    ),
}

WITHOUT_NOISE_OF_BINS = ("rce", "rce_w1")
"""Metrics whose differences are bounded by norms, so that nothing needs the noise of their bins, which takes draws."""


@pytest.mark.parametrize("kind", RESULTS)
def test_debiased_metrics_are_those_of_the_estimates(kind: str) -> None:
    result = RESULTS[kind]()
    sample = SampleWithResamples(Sample(result.tables), SETTINGS)
    for key, metric in REPORTED.items():
        found, estimate = metric.debiased_of(sample), metric.of(result)
        assert (found is None) == (estimate is None), key
        if found is None or estimate is None:
            continue
        wanted = Debiased.of(estimate)
        assert (found.value, found.debiased, found.error) == (wanted.value, wanted.debiased, wanted.error), (
            key
        )
        np.testing.assert_array_equal(found.gap, wanted.gap, err_msg=key)
        if key in WITHOUT_NOISE_OF_BINS:
            assert found.sd.size == 0, key
        else:
            np.testing.assert_array_equal(found.sd, wanted.sd, err_msg=key)


class TestOnDemand:
    MODELS: dict[str, Any] = {"good": P3, "sharp": tn.simulate.sharpen(P3, 1.4)}  # noqa: RUF012

    def test_nothing_is_assessed_before_it_is_asked_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        made = []

        def counted(sample: SampleWithResamples) -> tn.Assessment:
            made.append(sample)
            return assessment_of(sample.sample, sample.settings)

        monkeypatch.setattr(_assessments_on_demand, "assess_resampled", counted)
        result = tn.compare(Y3, self.MODELS)
        assert list(result.assessments) == ["good", "sharp"]
        assert "good" in result.assessments
        assert "other" not in result.assessments
        assert made == []
        assert result.assessments["good"] == tn.assess(Y3, P3)
        assert result.assessments["good"] is result.assessments["good"]
        assert len(made) == 1

    def test_several_threads_may_ask_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each assessment is made once; a thread that comes later waits for it."""
        made: list[SampleWithResamples] = []

        def slowly(sample: SampleWithResamples) -> tn.Assessment:
            made.append(sample)
            sleep(0.05)
            return assessment_of(sample.sample, sample.settings)

        monkeypatch.setattr(_assessments_on_demand, "assess_resampled", slowly)
        assessments = tn.compare(Y3, self.MODELS).assessments
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(lambda _: assessments["good"], range(4)))
        assert len(made) == 1
        assert all(each is found[0] for each in found)

    def test_it_is_a_mapping_that_can_be_pickled(self) -> None:
        result = tn.compare(Y3, self.MODELS)
        again = pickle.loads(pickle.dumps(result))
        assert again.to_dict() == result.to_dict()
        assert type(again.assessments) is dict
        assert "sharp" in repr(result.assessments)
        with pytest.raises(KeyError):
            result.assessments["other"]

    @pytest.mark.parametrize("resamples", [99, 999])
    def test_differences_are_those_of_assessments(self, resamples: int) -> None:
        """With few resamples an assessment may need more: all are made first."""
        assert has_enough_resamples(Settings.of(0.95, resamples, 0)) == (resamples == 999)
        result = tn.compare(Y3, self.MODELS, resamples=resamples)
        (pair,) = result.pairs
        for key, contrast in pair.contrasts.items():
            good, sharp = (result.assessments[name].estimates[key] for name in ("good", "sharp"))
            assert good is not None
            assert sharp is not None
            assert contrast.difference == good.debiased - sharp.debiased, key
