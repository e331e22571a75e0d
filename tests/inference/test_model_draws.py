"""Noise by formula instead of draws: within the Monte-Carlo error, and the draws stay what they are."""

import math
from dataclasses import fields

import numpy as np
import pytest

import trueness as tn
from trueness.inference.model_draws import SHARE_OF_ERROR, ModelDraws, simulation_error
from trueness.inference.null import NullBins, Resamples, multinomial_frequencies, resample

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


@pytest.mark.parametrize(("n_rows", "n_drawn"), [(30, "all"), (3000, "some"), (200_000, "none")])
def test_draws_do_not_depend_on_which_bins_have_a_formula(n_rows: int, n_drawn: str) -> None:
    bins = bins_of(n_rows, 3)
    if n_drawn == "none":
        bins = bins.take(np.arange(4, len(bins.index)))
    found, whole = ModelDraws(bins, 499, SEED), drawn_at_once(bins, 499)
    share = found.is_drawn.mean()
    assert n_drawn == ("none" if share == 0 else "all" if share == 1 else "some")
    for field in fields(Resamples):
        mine, want = getattr(found.resamples, field.name), getattr(whole, field.name)
        if isinstance(want, np.ndarray):
            np.testing.assert_array_equal(mine, want, err_msg=field.name)
        else:
            assert mine == want
    np.testing.assert_allclose(found.sd[found.is_drawn], whole.sd[found.is_drawn], rtol=1e-12)


def test_measures_without_a_formula_are_drawn() -> None:
    bins = bins_of(100_000, 3, "iqv")
    found = ModelDraws(bins, 99, SEED)
    assert found.is_drawn.all()
    np.testing.assert_array_equal(found.sd, drawn_at_once(bins, 99).sd)


def test_a_comparison_of_many_rows_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    y_true, y_prob = tn.simulate.calibrated(20_000, [5.0] * 3, rng=0)

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("trueness.inference.model_draws.resample", refuse)
    bins = tn.Edges([0, 0.8, 0.9, 1])
    result = tn.compare(y_true, {"a": y_prob, "b": tn.simulate.sharpen(y_prob, 1.2)}, bins=bins)
    assert not math.isnan(result.pairs[0].p_value)
