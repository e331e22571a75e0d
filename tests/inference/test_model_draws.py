"""Noise by formula instead of draws: within the Monte-Carlo error, and the draws stay what they are."""

import math

import numpy as np
import pytest

import trueness as tn
from trueness.old_inference.model_draws import SHARE_OF_ERROR, ModelDraws, simulation_error
from trueness.old_inference.null import NullBins, Resamples, multinomial_frequencies, resample

SEED = [4, 0]


def bins_of(n_rows: int, n_classes: int, variation: str = "entropy") -> NullBins:
    y_true, y_prob = tn.simulate.calibrated(n_rows, [1.0] * n_classes, rng=n_rows)
    return NullBins.of(tn.tabulate(y_true, y_prob, variation=variation))


def drawn_at_once(bins: NullBins, resamples: int) -> Resamples:
    return resample(bins, multinomial_frequencies(bins, resamples, SEED), resamples)


@pytest.mark.parametrize("variation", ["entropy", "confidence"])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize("n_rows", [300, 3000, 100_000])
def test_sd_is_that_of_many_draws(n_rows: int, n_classes: int, variation: str) -> None:
    """√((κ - 1)/4R) of the sd of R draws with kurtosis κ, five times, and the error that a formula may have."""
    bins, resamples = bins_of(n_rows, n_classes, variation), 999
    found, many = ModelDraws(bins, resamples, SEED), drawn_at_once(bins, 20_000).variation
    apart = many - many.mean(axis=0)
    variance = (apart**2).mean(axis=0)
    kurtosis = np.divide((apart**4).mean(axis=0), variance**2, out=np.ones(len(variance)), where=variance > 0)
    error = 5 * np.sqrt((kurtosis - 1) / (4 * len(many)))
    own = np.where(
        found.is_drawn,
        5 * np.sqrt((kurtosis - 1) / (4 * resamples)),
        SHARE_OF_ERROR * simulation_error(resamples),
    )
    assert (np.abs(found.sd - np.sqrt(variance)) <= (error + own) * np.sqrt(variance) + 1e-15).all()
    if n_rows == 100_000 and n_classes == 3:
        assert found.is_drawn.sum() <= 1


def test_measures_without_a_formula_are_drawn() -> None:
    bins = bins_of(100_000, 3, "iqv")
    found = ModelDraws(bins, 99, SEED)
    assert found.is_drawn.all()
    np.testing.assert_array_equal(found.sd, drawn_at_once(bins, 99).sd)


def test_a_comparison_of_many_rows_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    y_true, y_prob = tn.simulate.calibrated(20_000, [5.0] * 3, rng=0)

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("trueness.old_inference.model_draws.resample", refuse)
    bins = tn.Edges([0, 0.8, 0.9, 1])
    result = tn.compare(y_true, {"a": y_prob, "b": tn.simulate.sharpen(y_prob, 1.2)}, bins=bins)
    assert not math.isnan(result.pairs[0].p_value)
