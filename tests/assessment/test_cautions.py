"""Warnings: each is given for data that deserve it, and not for data that do not."""

import math

import numpy as np
from assessment_data import EF, codes

import trueness as tn


class TestWarnings:
    """Each is given for data that deserve it, and not for data that do not."""

    GOOD = tn.assess(*tn.simulate.calibrated(5000, [1.0] * 3, rng=3), bins=EF, rng=0)

    def test_good_data_have_none(self) -> None:
        assert self.GOOD.warnings == ()
        assert "warnings" not in str(self.GOOD)

    def test_few_rows_names_the_bins_that_are_supported(self) -> None:
        result = tn.assess(*tn.simulate.calibrated(300, [1.0] * 100, rng=3), bins=EF, rng=0)
        (few,) = [c for c in result.warnings if c.code == "few-rows"]
        assert "use at most 3 bins" in few.remedy
        assert "300 rows are too few for 100 classes" in few.message
        fine = tn.assess(*tn.simulate.calibrated(300, [1.0] * 100, rng=3), bins=tn.EqualMass(3), rng=0)
        assert "few-rows" not in codes(fine)
        none = tn.assess([0, 1, 0], [[0.6, 0.4]] * 3, rng=0)
        assert "not even one bin is supported" in str(none)

    def test_small_bins(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(400, [1.0] * 3, rng=3)
        assert "small-bins" in codes(tn.assess(y_true, y_prob, rng=0))
        assert "small-bins" not in codes(tn.assess(y_true, y_prob, bins=EF, rng=0))

    def test_empty_bins(self) -> None:
        assert "empty-bins" in codes(tn.assess([0, 1] * 50, [[0.6, 0.4]] * 100, rng=0))

    def test_rank_order(self) -> None:
        y_true, y_prob = [0] * 30 + [1] * 60 + [2] * 10, [[0.4, 0.35, 0.25]] * 100
        result = tn.assess(y_true, y_prob, rng=0)
        (caution,) = [c for c in result.warnings if c.code == "rank-order"]
        assert "check RCE" in caution.remedy
        assert "rank-order" not in codes(tn.assess([0] * 40 + [1] * 35 + [2] * 25, y_prob, rng=0))

    def test_ties(self) -> None:
        y_prob = [[0.4, 0.4, 0.2]] * 100
        first, split = (tn.assess([0, 1] * 50, y_prob, ties=ties, rng=0) for ties in ("first", "split"))
        said = {r.table.spec.ties: next(c for c in r.warnings if c.code == "ties") for r in (first, split)}
        assert "ties='split'" in said["first"].remedy
        assert "split evenly" in said["split"].remedy
        assert "100 rows of 100" in str(said["first"])

    def test_impossible(self) -> None:
        result = tn.assess([0] * 50 + [2], [[0.7, 0.3, 0.0]] * 51, rng=0)
        assert "impossible" in codes(result)
        assert math.isfinite(result.log_score_z.value)
        assert "without 1 row" in str(result.log_score_z.reason)

    def test_uneven_weights(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(1000, [1.0] * 3, rng=3)
        heavy = np.where(np.arange(1000) < 20, 100.0, 1.0)
        assert "uneven-weights" in codes(tn.assess(y_true, y_prob, sample_weight=heavy, rng=0))
        assert "uneven-weights" not in codes(tn.assess(y_true, y_prob, sample_weight=heavy * 0 + 2, rng=0))

    def test_plug_in_misleads(self) -> None:
        """C = 100 and 30 rows a bin: the entropy of 30 ranks is at most .74, whatever the model."""
        y_true, truth = tn.simulate.calibrated(300, [1.0] * 100, rng=3)
        for exponent, word in ((0.7, "above"), (1.0, "above"), (2.5, "below")):
            result = tn.assess(y_true, tn.simulate.sharpen(truth, exponent), bins=EF, rng=0)
            (said,) = [c.message for c in result.warnings if c.code == "plug-in-misleads"]
            assert word in said
        between = tn.assess(y_true, tn.simulate.sharpen(truth, 1.7), bins=EF, rng=0)  # right, by chance
        assert "plug-in-misleads" not in codes(between)

    def test_plug_in_misleads_names_the_cause(self) -> None:
        """Noise is a twentieth of the value here: few rows for 1000 classes bias it."""
        y_true, y_prob = tn.simulate.calibrated(2000, np.full(1000, 0.02), rng=0)
        result = tn.assess(y_true, tn.simulate.sharpen(y_prob, 2))
        (said,) = [c for c in result.warnings if c.code == "plug-in-misleads"]
        assert result.vce.noise_floor < result.vce.value / 10
        assert "noise" not in said.remedy
        assert "biased" in said.remedy
        noisy = tn.assess(*tn.simulate.calibrated(300, [1.0] * 100, rng=3), bins=EF)
        assert "most of it is sampling noise" in next(
            c.remedy for c in noisy.warnings if c.code == "plug-in-misleads"
        )

    def test_certain_predictions_are_not_misled_by_rounding(self) -> None:
        result = tn.assess([0, 1] * 50, np.eye(2)[[0, 1] * 50], rng=0)
        assert "plug-in-misleads" not in codes(result)
        assert math.isnan(result.log_score_z.value)
        assert "cannot vary" in str(result.log_score_z.reason)
