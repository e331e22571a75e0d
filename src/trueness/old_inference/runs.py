"""Several runs (seeds) of a model on the same rows: how much they differ, and how much of that is sampling error.

The value of run k is d_k = μ + a_k + e_k: a_k is what its seed changes, with variance τ² (between seeds), and e_k its
sampling error, with variance σ² (within). This is the random-effects model of a one-way layout (Searle, Casella and
McCulloch, Variance Components, 1992, section 3.5), with one difference: all runs have the same rows, so that their
sampling errors have a covariance c. With s² the variance of the d_k:

    E s² = τ² + σ² - c                     so that τ̂² = max(0, s² - (σ̂² - ĉ))
    Var(d̄) = (τ² + σ² - c)/K + c           estimated by s²/K + ĉ

If runs had rows of their own, c = 0, and these are the estimators of the analysis of variance.

The interval of d̄ has the reach √(t² s²/K + z² ĉ), with t of K - 1 degrees of freedom for the part that the few runs
estimate and z, normal, for the part that the rows do: the square root of the sum of the squared reaches of both parts
(Howe, J. Am. Stat. Assoc. 69, 1974; Graybill and Wang, ibid. 75, 1980). With one degree of freedom for both together,
as by Satterthwaite, intervals of two runs cover in 89 % of samples instead of 95 %.

In the difference of two models each has its own t. The test holds its level whatever the variances and numbers of runs,
and is conservative with few. At 5 %, if the variances are equal, it rejects 0.6 % of true hypotheses with 2 runs of
each model, 1.3 % with 3 and 2.4 % with 5. Welch's degrees of freedom would reject 2.3 %, 3.6 % and 4.4 %, but 6 to 10 %
with 2 runs against 5.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.normal import normal_quantile
from trueness.old_inference.results import Interval
from trueness.old_inference.student import student_deviate, student_quantile

METHOD = "seeds"
"""Of intervals by t for the variance between runs, and normal for the sampling error that they share."""

_BISECTIONS = 60
_FARTHEST = 37.0
"""Standard deviations of a normal distribution, beyond which p-values are 0."""


@dataclass(frozen=True, slots=True)
class SeedEstimate:
    """The mean of a number over the runs of a model, and its two variances."""

    mean: float
    interval: Interval
    """Of the mean over all seeds that training could have had, and all rows: it counts both variances."""
    between_sd: float
    """τ̂: how much the value of one seed differs from another with unlimited rows; NaN with a single run."""
    within_sd: float
    """σ̂: the sampling error of one run on these rows."""
    observed_sd: float
    """s: the standard deviation of the values of the runs, which has part of the sampling error; NaN with one run."""
    standard_error: float
    """√(s²/K + ĉ), of the mean."""


@dataclass(frozen=True, slots=True)
class Weighed:
    """A sum of the means of some models, with the parts of its variance."""

    value: float
    spreads: tuple[tuple[float, int], ...]
    """s²/K and K - 1 of each model with several runs."""
    shared: float
    """The variance of the sampling error that the runs of a model share."""

    @property
    def standard_error(self) -> float:
        """Of the value."""
        return math.sqrt(sum(variance for variance, _ in self.spreads) + self.shared)

    def reach(self, level: float) -> float:
        """Half the width of an interval."""
        parts = [student_quantile(level, degrees) ** 2 * variance for variance, degrees in self.spreads]
        return math.sqrt(sum(parts) + normal_quantile(level) ** 2 * self.shared)

    def interval(self, level: float, possible: tuple[float, float]) -> Interval:
        """The interval, clipped to the possible values."""
        return Interval.around(self.value, self.reach(level), possible, level, METHOD)

    @property
    def p_value(self) -> float:
        """One less the level of the interval that ends at 0."""
        if self.standard_error == 0:
            return float(self.value == 0)
        low, high = 0.0, _FARTHEST
        for _ in range(_BISECTIONS):  # of the normal deviate, in which small p-values are far apart
            middle = (low + high) / 2
            inside = self._reach_at(middle) < abs(self.value)
            low, high = (middle, high) if inside else (low, middle)
        return math.erfc(low / math.sqrt(2))

    def _reach_at(self, z: float) -> float:
        """Half the width of the interval whose level is that of a normal deviate."""
        tail = math.erfc(z / math.sqrt(2))
        reaches = [
            student_deviate(tail, degrees) * math.sqrt(variance)
            for variance, degrees in self.spreads
            if variance > 0  # runs that are all the same: the deviate may be infinite
        ]
        return math.hypot(*reaches, z * math.sqrt(self.shared))


def noise_between(covariance: FloatArray) -> float:
    """σ² - c: the part of the sampling variance that differs between runs; 0 with one run."""
    k = len(covariance)
    if k == 1:
        return 0.0
    total, own = float(covariance.sum()), float(np.trace(covariance))
    return own / k - (total - own) / (k * (k - 1))


def weigh(values: Sequence[FloatArray], signs: Sequence[float], covariance: FloatArray) -> Weighed:
    """The signed sum of the means of the runs of some models, Σ ±d̄, with its error.

    Parameters
    ----------
    values : the values of the runs of each model, (K,) each
    signs : 1 or -1 for each model
    covariance : of the sampling errors of all runs, in their order, (ΣK, ΣK)

    The variance is Σ s²/K over the models, and what all their runs share, wᵀΣw - Σ(σ² - c)/K. A single run has no
    spread between seeds.
    """
    sizes = [len(runs) for runs in values]
    weight = np.concatenate([np.full(k, sign / k) for k, sign in zip(sizes, signs, strict=True)])
    spreads = [(float(np.var(runs, ddof=1)) / len(runs), len(runs) - 1) for runs in values if len(runs) > 1]
    ends = np.cumsum([0, *sizes])
    own = [
        noise_between(covariance[a:b, a:b]) / k for a, b, k in zip(ends[:-1], ends[1:], sizes, strict=True)
    ]
    shared = max(float(weight @ covariance @ weight) - sum(own), 0.0)
    return Weighed(float(weight @ np.concatenate(values)), tuple(spreads), shared)


def seed_estimate(
    values: FloatArray, covariance: FloatArray, level: float, possible: tuple[float, float]
) -> SeedEstimate:
    """The mean of runs with its interval, and the spread between and within them.

    >>> found = seed_estimate(np.array([0.1, 0.3]), np.diag([0.01, 0.01]), 0.95, (-1.0, 1.0))
    >>> round(found.observed_sd, 4), round(found.between_sd, 4), round(found.within_sd, 4)
    (0.1414, 0.1, 0.1)
    """
    mean = weigh([values], [1.0], covariance)
    several = len(values) > 1
    observed = float(np.var(values, ddof=1)) if several else math.nan
    between = max(observed - noise_between(covariance), 0.0) if several else math.nan
    return SeedEstimate(
        mean=mean.value,
        interval=mean.interval(level, possible),
        between_sd=math.sqrt(between),
        within_sd=math.sqrt(float(np.trace(covariance)) / len(values)),
        observed_sd=math.sqrt(observed),
        standard_error=mean.standard_error,
    )
