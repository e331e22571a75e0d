"""p-values beyond all replicates: never too small in the long run, whatever the tail of the noise."""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest

from trueness.old_inference.null import p_value
from trueness.old_inference.student import student_tail
from trueness.old_inference.tail import (
    tail_p_values,
)

SAMPLES = 200


def tail_p_value(noise: np.ndarray, size: float) -> float:
    return float(tail_p_values(noise[None], np.array([size]))[0])


def normal_tail(x: float) -> float:
    """P(|Z| ≥ x)."""
    return math.erfc(x / math.sqrt(2))


def poisson_tail(x: float, mean: float) -> float:
    """P(|X - mean| ≥ x) for a Poisson variable."""
    k = np.arange(60)
    mass = np.exp(k * math.log(mean) - mean - np.array([math.lgamma(i + 1) for i in k.tolist()]))
    return float(mass[np.abs(k - mean) >= x - 1e-9].sum())


class Noise(NamedTuple):
    """Noise with a known tail."""

    draw: Callable[[np.random.Generator, int], np.ndarray]
    tail: Callable[[float], float]
    """P(noise ≥ x) for x > 0."""


def student(degrees: int) -> Noise:
    return Noise(lambda rng, n: np.abs(rng.standard_t(degrees, n)), lambda x: student_tail(x, degrees))


def poisson(mean: float) -> Noise:
    return Noise(lambda rng, n: np.abs(rng.poisson(mean, n) - mean), lambda x: poisson_tail(x, mean))


def mixed(share: float) -> Noise:
    """Normal, and three times as wide in some replicates: seldom larger, but then by far."""
    return Noise(
        lambda rng, n: np.abs(rng.standard_normal(n)) * np.where(rng.random(n) < share, 3, 1),
        lambda x: share * normal_tail(x / 3) + (1 - share) * normal_tail(x),
    )


NOISES = {
    "normal": Noise(lambda rng, n: np.abs(rng.standard_normal(n)), normal_tail),
    "t3": student(3),
    "t5": student(5),
    "t10": student(10),
    "skewed": Noise(
        lambda rng, n: np.abs(rng.lognormal(0, 0.5, n) - math.exp(0.125)),
        # From 1.2 on all of it is above the mean.
        lambda x: normal_tail(math.log(math.exp(0.125) + x) / 0.5) / 2,
    ),
    "exponential": Noise(lambda rng, n: rng.exponential(size=n), lambda x: math.exp(-x)),
    "mostly 0": Noise(
        lambda rng, n: np.maximum(rng.standard_normal(n) - 1.3, 0), lambda x: normal_tail(x + 1.3) / 2
    ),
    "a tenth wide": mixed(0.1),
    "a fiftieth wide": mixed(0.02),
    "Poisson, mean 0.1": poisson(0.1),
    "Poisson, mean 5": poisson(5.0),
}


def least_size(noise: np.ndarray, level: float) -> float:
    """The least size with a p-value of at most the level."""
    low, high = float(noise.max()), 1e3 * float(noise.max())
    for _ in range(24):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if tail_p_value(noise, middle) <= level else (middle, high)
    return high


@pytest.mark.slow
@pytest.mark.parametrize(("resamples", "level"), [(99, 1e-3), (999, 1e-4)])
@pytest.mark.parametrize("name", NOISES)
def test_p_values_are_not_too_small(name: str, resamples: int, level: float) -> None:
    """P(p ≤ a) ≤ a at a tenth of 1/(B + 1), plus four standard errors.

    For each sample of replicates the size from which on p ≤ a is found; the probability of such a size is known, so
    that only the samples have a Monte-Carlo error. By a normal tail it was 5 to 10 times a for all noises but a normal
    one.
    """
    rng = np.random.default_rng([resamples, *name.encode()])
    noise = NOISES[name]
    found = [noise.tail(least_size(noise.draw(rng, resamples), level)) for _ in range(SAMPLES)]
    assert np.mean(found) <= level + 4 * float(np.std(found)) / math.sqrt(SAMPLES)


def test_a_clear_difference_stays_clear_after_a_correction() -> None:
    """Beyond ten standard deviations p is at most 0.05/1000 of 999 replicates, and 0.05/50 of 99.

    In 98 of 100 samples, that is: about 90 % are near the least p-values, 10⁻⁶ and 10⁻⁴.
    """
    rng = np.random.default_rng(2)
    for resamples, limit in ((999, 0.05 / 1000), (99, 0.05 / 50)):
        found = [tail_p_value(np.abs(rng.standard_normal(resamples)), 10.0) for _ in range(100)]
        assert np.quantile(found, 0.98) <= limit


def test_what_replicates_count_is_kept() -> None:
    noise = np.abs(np.random.default_rng(0).standard_normal(999))
    for size in (0.1, 1.0, float(noise.max())):
        assert tail_p_value(noise, size) == p_value(noise, size)
    assert tail_p_value(noise, 1.001 * noise.max()) == 1 / 1000


def test_least_p_values() -> None:
    noise = np.abs(np.random.default_rng(0).standard_normal(9999))
    assert tail_p_value(noise, 1e9) == 1e-6
    assert tail_p_value(noise[:99], 1e9) == 1e-4  # 1/(B + 1)²
    assert tail_p_value(noise[:49], 1e9) == 0.02  # too few replicates for a tail


def test_noise_without_a_tail() -> None:
    assert tail_p_value(np.zeros(99), 0.1) == 0.01
    assert tail_p_value(np.ones(99), 1.1) == 0.01
    rounded = 0.1 + 1e-17 * np.arange(99)
    assert tail_p_value(rounded, 0.2) == 0.01
    assert tail_p_value(np.append(np.zeros(97), [1.0, 2.0]), 50.0) == 0.01


@pytest.mark.parametrize("resamples", [99, 999])
def test_p_values_never_rise_with_the_size(resamples: int) -> None:
    noise = np.abs(np.random.default_rng(1).standard_t(3, resamples))
    sizes = np.linspace(0, 9 * noise.max(), 300)
    found = [tail_p_value(noise, float(size)) for size in sizes]
    assert all(a >= b for a, b in pairwise(found))


def test_units_do_not_matter() -> None:
    noise = np.abs(np.random.default_rng(3).standard_normal(999))
    assert tail_p_value(1e-9 * noise, 6e-9) == pytest.approx(tail_p_value(noise, 6.0), rel=1e-9)
