"""Resamples of rank frequencies around the predictions of bins, drawn when they are needed, and their noise.

The standard deviation of 𝒱(r̄*) has a formula for some measures. Where its error is much less than that of R draws it
is used instead of them, so that a number which needs no more than that, such as a debiased value, needs no draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference.null import NullBins, Resamples, multinomial_frequencies, resample
from trueness.old_inference.option_bins import AnyBins, OptionBins, draw_options

SHARE_OF_ERROR, LARGEST_ERROR = 1 / 3, 0.05
"""A formula is used if its error is at most this share of the standard error of R draws, and no larger than this."""


def simulation_error(resamples: int) -> float:
    """The relative standard error of a standard deviation that is estimated by R draws, 1/√(2R)."""
    return 1 / math.sqrt(2 * resamples)


class Draws(Protocol):
    """Resamples of all bins, and the noise of each."""

    @property
    def resamples(self) -> Resamples:
        """The resamples."""

    @property
    def sd(self) -> FloatArray:
        """The standard deviation of 𝒱(r̄*) of each bin, (F,)."""

    @property
    def is_drawn(self) -> NDArray[np.bool_]:
        """Whether that comes from draws, (F,)."""


@dataclass(frozen=True)
class GivenDraws:
    """Resamples that were made, such as those of clusters."""

    resamples: Resamples

    @cached_property
    def sd(self) -> FloatArray:
        """The standard deviation of 𝒱(r̄*) of each bin, (F,)."""
        return self.resamples.sd

    @property
    def is_drawn(self) -> NDArray[np.bool_]:
        """True for all bins, (F,)."""
        return np.ones(self.resamples.variation.shape[1], np.bool_)


@dataclass(frozen=True)
class ModelDraws:
    """Resamples of the rank frequencies of independent rows, drawn around the predictions of the bins when needed."""

    bins: AnyBins
    size: int
    """The number of resamples R."""
    seed: list[int]

    @cached_property
    def resamples(self) -> Resamples:
        """The resamples of all bins; those of bins without a formula are drawn once."""
        if isinstance(self.bins, OptionBins):
            return draw_options(self.bins, self.size, self.seed)
        others = np.flatnonzero(~self.is_drawn)
        if not others.size:
            return self._few
        return _placed([(np.flatnonzero(self.is_drawn), self._few), (others, self._draw(others))])

    @cached_property
    def sd(self) -> FloatArray:
        """The standard deviation of 𝒱(r̄*) of each bin, (F,): by formula where that is as good as draws."""
        if isinstance(self.bins, OptionBins):
            return self.resamples.sd
        sd, is_drawn = self._by_formula.copy(), self.is_drawn
        if is_drawn.any():
            sd[is_drawn] = self._few.sd
        return sd

    @cached_property
    def is_drawn(self) -> NDArray[np.bool_]:
        """Whether the standard deviation of a bin comes from draws, (F,)."""
        if isinstance(self.bins, OptionBins):
            return np.ones(len(self.bins.index), np.bool_)
        return np.isnan(self._by_formula)

    @cached_property
    def _by_formula(self) -> FloatArray:
        """The standard deviation of each bin by formula, (F,); NaN where that is not known as well as by draws."""
        assert isinstance(self.bins, NullBins)
        known = self.bins.variation.variance_for(self.bins.count, self.bins.predicted)
        if known is None:
            return np.full(len(self.bins.index), np.nan)
        variance, error = known
        limit = min(SHARE_OF_ERROR * simulation_error(self.size), LARGEST_ERROR)
        return np.where(error <= limit, np.sqrt(variance), np.nan)

    @cached_property
    def _few(self) -> Resamples:
        """The resamples of the bins without a formula."""
        return self._draw(np.flatnonzero(self.is_drawn))

    def _draw(self, which: IntArray) -> Resamples:
        """The resamples of some of the bins, each from its own stream."""
        assert isinstance(self.bins, NullBins)
        of_bin = multinomial_frequencies(self.bins, self.size, self.seed)
        return resample(self.bins.take(which), lambda m: of_bin(int(which[m])), self.size)


def _placed(parts: list[tuple[IntArray, Resamples]]) -> Resamples:
    """The resamples of all bins, from those of some of them and of the others."""
    n_resamples, n_bins = len(parts[0][1].variation), sum(len(which) for which, _ in parts)

    def placed(name: str) -> FloatArray:
        values = np.empty((n_resamples, n_bins))
        for which, some in parts:
            values[:, which] = getattr(some, name)
        return values

    return Resamples(
        variation=placed("variation"),
        first=placed("first"),
        tv=placed("tv"),
        w1=placed("w1"),
        log_score=placed("log_score"),
    )
