"""p-values and intervals of differences whose noise is a bootstrap of few clusters."""

import math

import numpy as np
import pytest

import trueness as tn
from trueness.old_inference.few_clusters import p_value_of_clusters, reach_of_clusters
from trueness.old_inference.normal import normal_quantile
from trueness.old_inference.tail import tail_p_values


def tail_p_value(noise: np.ndarray, size: float) -> float:
    return float(tail_p_values(noise[None], np.array([size]))[0])


def bootstrap_p_values(
    rng: np.random.Generator, sizes: np.ndarray, runs: int, resamples: int
) -> tuple[np.ndarray, np.ndarray]:
    """p-values of a mean over clusters that is 0, by a Poisson bootstrap of them; and whether intervals cover 0."""
    n = float(sizes.sum() ** 2 / (sizes**2).sum())
    found, covers = [], []
    for _ in range(runs):
        sums = rng.standard_normal(len(sizes)) * sizes
        weights = rng.poisson(1.0, (resamples, len(sizes)))
        mass = weights @ sizes
        means = np.divide(weights @ sums, mass, out=np.zeros(resamples), where=mass > 0)
        noise, size = np.abs(means - means.mean()), abs(float(sums.sum() / sizes.sum()))
        found.append(p_value_of_clusters(tail_p_value(noise, size), n))
        covers.append(size <= reach_of_clusters(noise, 0.95, n))
    return np.array(found), np.array(covers)


@pytest.mark.parametrize("sizes", [(1,) * 5, (1,) * 10, (1,) * 30, tuple(range(1, 13)), (40, *(5,) * 20)])
def test_p_values_of_few_clusters_are_not_too_small(sizes: tuple[int, ...]) -> None:
    """P(p ≤ a) ≤ a for a = .05, .01 and .001, plus four standard errors.

    Without the correction they are .12, .043 and .037 of five clusters, and .08, .024 and .004 of ten.
    """
    runs = 2000
    p, covers = bootstrap_p_values(np.random.default_rng(len(sizes)), np.array(sizes), runs, 199)
    for level in (0.05, 0.01, 0.001):
        assert np.mean(p <= level) <= level + 4 * math.sqrt(level * (1 - level) / runs)
    assert np.mean(covers) >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / runs)


def test_many_clusters_change_little_and_independent_rows_nothing() -> None:
    for p in (0.9, 0.05, 1e-3, 1e-6):
        assert p_value_of_clusters(p, math.inf) == p
        assert p <= p_value_of_clusters(p, 4000) <= 1.05 * p
        assert p_value_of_clusters(p, 10) > p_value_of_clusters(p, 20) > p
    noise = np.abs(np.random.default_rng(0).standard_normal(999))
    assert reach_of_clusters(noise, 0.95, math.inf) == np.quantile(noise, 0.95)
    assert 1 < reach_of_clusters(noise, 0.95, 4000) / np.quantile(noise, 0.95) < 1.01
    assert p_value_of_clusters(1.0, 5) == 1


@pytest.mark.parametrize("n_clusters", [5.0, 12.5, 100.0])
def test_what_is_beyond_an_interval_has_a_small_p_value(n_clusters: float) -> None:
    """And a difference with a large p-value is within it, also if the noise is not normal."""
    rng = np.random.default_rng(4)
    for noise in (
        np.abs(rng.standard_normal(999)),
        rng.exponential(size=999),
        np.abs(rng.standard_t(3, 999)),
    ):
        reach = reach_of_clusters(noise, 0.95, n_clusters)
        assert p_value_of_clusters(tail_p_value(noise, 1.5 * reach), n_clusters) <= 0.05
        within = [p_value_of_clusters(tail_p_value(noise, share * reach), n_clusters) for share in (0.5, 0.7)]
        assert min(within) > 0.05


def test_one_large_cluster_has_a_finite_interval() -> None:
    noise = np.abs(np.random.default_rng(0).standard_normal(999))
    ratio = reach_of_clusters(noise, 0.95, 1.0) / np.quantile(noise, 0.95)
    assert ratio == pytest.approx(12.706 * math.sqrt(2) / normal_quantile(0.95), rel=1e-3)
    assert p_value_of_clusters(1e-6, 1.0) > 0.05


def test_effective_number_of_clusters() -> None:
    """(Σn)²/Σn² of the rows of each cluster, also of weighted rows, and with tables of classes."""
    y_true, y_prob = tn.simulate.calibrated(120, [1.0] * 3, rng=0)
    sizes = np.array([5, 10, 15, 20, 30, 40])
    names = np.repeat(np.arange(6), sizes)
    for weight in (1.0, 0.5):
        tables = tn.assess(
            y_true, y_prob, clusters=names, sample_weight=np.full(120, weight), resamples=39
        ).tables
        assert tables.clusters is not None
        assert tables.clusters.effective_units == pytest.approx(120**2 / (sizes**2).sum())


def test_differences_of_few_clusters_have_longer_intervals_and_larger_p_values() -> None:
    """The same rows, in clusters of one row each or in six clusters that are alike in nothing."""
    y_true, y_prob = tn.simulate.calibrated(600, [1.0] * 3, rng=1)
    models = {"a": y_prob, "b": tn.simulate.sharpen(y_prob, 1.3)}
    many, few = (
        tn.compare(y_true, models, clusters=np.arange(600) % n, resamples=199, rng=0).pairs[0].net
        for n in (600, 6)
    )
    assert many.p_value < 0.005 < few.p_value
    assert (few.interval.high - few.interval.low) > (many.interval.high - many.interval.low)
