"""`sweep_bins`: VCE against the number of bins."""

import json
import math

import numpy as np
import pytest
from assessment_data import Y_PROB, Y_TRUE

import trueness as tn
from trueness.event_metrics import class_gap
from trueness.old_inference.estimates import ResampledTable, variation_error
from trueness.refusals import InvalidValueError


class TestSweep:
    FINE = tn.tabulate(Y_TRUE, Y_PROB, bins=tn.EqualWidth(4000))

    @pytest.mark.parametrize("kind", ["mass", "width"])
    def test_against_assess_table_on_the_coarsened_table(self, kind: str) -> None:
        numbers = [2, 5, 10, 40]
        sweep = tn.sweep_bins(self.FINE, numbers, kind=kind, resamples=9999, rng=4)
        for k, number in enumerate(numbers):
            coarse = self.FINE.coarsen(tn.EqualMass(number) if kind == "mass" else tn.EqualWidth(number))
            result = tn.assess_table(coarse, resamples=9999, rng=4)
            assert sweep.n_bins[k] == np.count_nonzero(coarse.row_count)
            assert sweep.value[k] == pytest.approx(tn.variation_calibration_error(coarse), abs=1e-12)
            # Draws of another stream: within their error.
            assert sweep.noise_floor[k] == pytest.approx(result.vce.noise_floor, rel=0.03)
            assert sweep.p_value[k] == pytest.approx(
                result.vce.centred_p_value, abs=5 * math.sqrt(2 * 0.25 / 9999)
            )
            assert sweep.debiased[k] == pytest.approx(result.vce.debiased, abs=2e-3)
            assert sweep.net[k] == pytest.approx(result.net.debiased, abs=1e-9)
            assert sweep.low[k] == pytest.approx(result.vce.interval.low, abs=3e-3)
            assert sweep.high[k] == pytest.approx(result.vce.interval.high, abs=3e-3)
            share = coarse.count[coarse.row_count > 0] / 1200
            assert sweep.smallest_share[k] == pytest.approx(share.min())
            assert sweep.largest_share[k] == pytest.approx(share.max())
            # And of the same stream exactly.
            resampled = ResampledTable.of(coarse, 9999, [4, 7])
            assert sweep.high[k] == variation_error(resampled, 0.95, [4, 7]).interval.high

    def test_calibrated_noise_grows_with_the_bins(self) -> None:
        table = tn.tabulate(*tn.simulate.calibrated(3000, [1.0] * 3, rng=1), bins=tn.EqualWidth(4000))
        sweep = tn.sweep_bins(table, rng=0)
        assert sweep.n_bins.tolist() == [5, 10, 20, 40, 80]
        assert (np.diff(sweep.noise_floor) > 0).all()

    def test_words_and_dict(self) -> None:
        sweep = tn.sweep_bins(self.FINE, [5, 10], rng=4)
        assert len(str(sweep).splitlines()) == 4
        assert "bins of equal mass" in repr(sweep)
        content = json.loads(json.dumps(sweep.to_dict(), allow_nan=False))
        assert (content["schema"], content["kind"]) == (2, "bin-sweep")
        assert content["n_bins"] == [5, 10]
        assert content["value"] == sweep.value.tolist()

    def test_refusals(self) -> None:
        with pytest.raises(TypeError, match="`table` must be a CalibrationTable"):
            tn.sweep_bins(Y_PROB)
        with pytest.raises(ValueError, match="kind"):
            tn.sweep_bins(self.FINE, kind="area")
        with pytest.raises(ValueError, match="at least one number of bins"):
            tn.sweep_bins(self.FINE, [])
        with pytest.raises(ValueError, match="n_bins"):
            tn.sweep_bins(self.FINE, [0])
        with pytest.raises(ValueError, match="7"):
            tn.sweep_bins(self.FINE, [7], kind="width")


class TestClassesAndEvents:
    BY_CLASS = tn.tabulate_events(Y_TRUE, Y_PROB)

    @pytest.mark.parametrize("kind", ["mass", "width"])
    def test_against_assess_in_these_bins(self, kind: str) -> None:
        sweep = tn.sweep_bins(self.BY_CLASS, [5, 10, 15], kind=kind, rng=4)
        assert sweep.metric == "classwise ECE"
        for k, number in enumerate((5, 10, 15)):
            bins = tn.EqualMass(number) if kind == "mass" else tn.EqualWidth(number)
            mean = tn.assess(Y_TRUE, Y_PROB, class_bins=bins, rng=4).classes.mean  # type: ignore[union-attr]
            assert sweep.value[k] == pytest.approx(tn.classwise_error(self.BY_CLASS, bins), abs=1e-12)
            assert sweep.value[k] == mean.value
            assert sweep.noise_floor[k] == mean.noise_floor
            assert (sweep.p_value[k], sweep.debiased[k]) == (mean.p_value, mean.debiased)
            assert mean.interval is not None
            assert (sweep.low[k], sweep.high[k]) == (mean.interval.low, mean.interval.high)
        assert sweep.net == pytest.approx([class_gap(self.BY_CLASS)] * 3)

    def test_one_event(self) -> None:
        table = tn.tabulate_events(Y_TRUE, Y_PROB, events="top", grid="event")
        sweep = tn.sweep_bins(table, kind="width")
        assert sweep.metric == "ECE of the top label"
        for k, number in enumerate((5, 10, 15, 20, 30, 60)):
            assert sweep.value[k] == pytest.approx(tn.event_calibration_error(table, number), abs=1e-12)
        gap = (table.expected_total - table.observed_total)[0] / table.n_rows
        assert sweep.net == pytest.approx([gap] * 6)
        assert "ECE of the top label" in str(sweep)
        assert sweep.to_dict()["metric"] == "ECE of the top label"

    def test_several_events_are_refused(self) -> None:
        table = tn.tabulate_events(Y_TRUE, Y_PROB, events=[0, 1], grid="event")
        with pytest.raises(InvalidValueError, match="select one"):
            tn.sweep_bins(table)

    def test_picture_names_the_metric(self) -> None:
        display = tn.sweep_bins(self.BY_CLASS, [5, 10]).plot()
        assert display.ax_.get_ylabel() == "classwise ECE"
