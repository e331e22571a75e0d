"""The models that the tests of comparisons share."""

from __future__ import annotations

import pytest

import trueness as tn

Y_TRUE, GOOD = tn.simulate.calibrated(1500, [1.0] * 3, rng=1)
SHARP = tn.simulate.sharpen(GOOD, 1.5)
BLUNT = tn.simulate.sharpen(GOOD, 0.8)
MODELS = {"good": GOOD, "sharp": SHARP, "blunt": BLUNT}
RESULT = tn.compare(Y_TRUE, MODELS, rng=2, resamples=199)
METRICS = ("vce", "net", "ece", "rce", "rce_w1")
EF = tn.EqualMass(10)


def assert_same(got: tn.Comparison, want: tn.Comparison) -> None:
    """Tables to the bit, replicates to rounding: sums of another order."""
    for name, assessment in want.assessments.items():
        assert got.assessments[name] == assessment or got.assessments[name].table == assessment.table
        assert got.assessments[name].vce.debiased == pytest.approx(assessment.vce.debiased, abs=1e-10)
    assert [(pair.first, pair.second) for pair in got.pairs] == [
        (pair.first, pair.second) for pair in want.pairs
    ]
    for mine, theirs in zip(got.pairs, want.pairs, strict=True):
        for key in METRICS:
            a, b = getattr(mine, key), getattr(theirs, key)
            assert a.difference == pytest.approx(b.difference, abs=1e-10)
            assert a.interval.low == pytest.approx(b.interval.low, abs=1e-10)
            assert a.interval.high == pytest.approx(b.interval.high, abs=1e-10)
            assert a.p_value == pytest.approx(b.p_value, rel=1e-6)  # tails are not shares
            assert a.adjusted_p_value == pytest.approx(b.adjusted_p_value, rel=1e-6)
    assert len(got.groups) == len(want.groups)
    for mine_group, their_group in zip(got.groups, want.groups, strict=True):
        assert mine_group.name == their_group.name
        assert mine_group.adjusted_p_values == pytest.approx(their_group.adjusted_p_values)
