"""Readers of a table that a judge does not use, against `oracle.py`."""

import numpy as np
import oracle
import pytest

import trueness as tn

Y_TRUE, Y_PROB = tn.simulate.calibrated(150, [1.0] * 3, rng=3)
TABLE, EXPECTED = tn.tabulate(Y_TRUE, Y_PROB), oracle.tabulate(Y_TRUE, Y_PROB)


def test_top_label_error() -> None:
    gaps = oracle.gaps(EXPECTED, "ece")
    assert tn.top_label_gap(TABLE).tolist() == pytest.approx(gaps, nan_ok=True, abs=1e-12)
    for norm in ("l1", "l2", "max"):
        expected = oracle.error(EXPECTED, "ece", norm)
        assert tn.top_label_error(TABLE, norm=norm) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("which", ["vce", "ece", "uce", "tv", "w1"])
def test_signed_parts(which: str) -> None:
    gap = {"vce": tn.variation_gap, "ece": tn.top_label_gap, "uce": tn.uncertainty_gap}.get(
        which, lambda table: tn.ranked_gap(table, which)
    )
    parts = tn.signed_parts(TABLE, gap)
    expected = oracle.signed_parts(EXPECTED, which)
    assert (parts.over, parts.under, parts.net) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 100])
@pytest.mark.parametrize("name", tn.variations)
def test_range_and_direction_of_a_measure(name: str, n_classes: int) -> None:
    measure = tn.variations[name]
    assert measure.range_for(n_classes) == oracle.range_of(name, n_classes)
    assert measure.grows_with_dispersion == (name not in oracle.SHRINKS_WITH_DISPERSION)
    assert measure.name == name


def test_names_of_measures_of_an_order() -> None:
    assert (tn.renyi(2).name, tn.tsallis(0.5).name) == ("renyi(2)", "tsallis(0.5)")


def test_rows_are_worth_less_with_weights() -> None:
    weights = np.random.default_rng(3).gamma(0.5, 1.0, len(Y_TRUE))
    table = tn.tabulate(Y_TRUE, Y_PROB, sample_weight=weights)
    expected = oracle.tabulate(Y_TRUE, Y_PROB, weights=weights)
    effective = [
        float(n) ** 2 / float(s) if s else 0.0
        for n, s in zip(expected["count"], expected["weight_square"], strict=True)
    ]
    assert table.effective_count.tolist() == pytest.approx(effective, rel=1e-12)


def test_fitted_bins_of_equal_mass() -> None:
    fitted = tn.EqualMass(7).fit(Y_PROB, variation="iqv")
    expected = oracle.equal_mass(7, [oracle.iqv(sorted(p)) for p in Y_PROB.tolist()], 0.0, 1.0)
    assert list(fitted.edges) == pytest.approx(expected, abs=1e-12)
