"""RCE: how far the frequencies of the observed ranks are from the predicted ones, with its noise."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray
from trueness.old_inference.binomial import absolute_deviation
from trueness.old_inference.estimates import ResampledTable
from trueness.old_inference.normal import debiased_total
from trueness.old_inference.null import NullBins, Resamples
from trueness.old_inference.option_bins import rank_gaps
from trueness.old_inference.results import Debiased, Estimate, Interval


class _RankGaps(NamedTuple):
    """The gaps of the ranks of all filled bins, of which a distance is a weighted sum of sizes, (F, K) each."""

    gap: FloatArray
    sd: FloatArray
    """The standard deviation of normal noise with the same mean absolute value."""
    share: float
    """The weight of a gap in the distance of its bin."""

    @property
    def observed(self) -> FloatArray:
        """The distance of each bin, (F,)."""
        return np.asarray(np.abs(self.gap).sum(axis=1) * self.share)

    def debiased(self, weight: FloatArray) -> float:
        """The debiased sum over the bins."""
        weights = np.broadcast_to((weight * self.share)[:, None], self.gap.shape)
        return float(debiased_total(weights.ravel(), self.gap.ravel(), self.sd.ravel()))


def _rank_gaps(resampled: ResampledTable, distance: str) -> _RankGaps:
    require_choice("distance", distance, ("tv", "w1"))
    e, apart = resampled, rank_gaps(resampled.bins, distance)
    sd = _mean_sizes(e, distance) * math.sqrt(math.pi / 2)
    if distance == "tv":
        return _RankGaps(apart, sd, 0.5)
    return _RankGaps(np.cumsum(apart, axis=1)[:, :-1], sd, 1 / (e.bins.n_classes - 1))


def _mean_sizes(resampled: ResampledTable, distance: str) -> FloatArray:
    """The mean size of the noise of each gap if the model is calibrated, (F, K).

    The count of a rank, and of all ranks up to one, is binomial, so that the mean is exact. If rows have options of
    their own, a gap is the sum of those of several numbers of options, and its noise is simulated.
    """
    bins = resampled.bins
    if isinstance(bins, NullBins):
        q = bins.predicted if distance == "tv" else np.cumsum(bins.predicted, axis=1)[:, :-1]
        return absolute_deviation(bins.count[:, None], q) / bins.count[:, None]
    found = resampled.null.tv_noise if distance == "tv" else resampled.null.w1_noise
    assert found is not None
    return found


def debiased_ranked_error(resampled: ResampledTable, distance: str) -> Debiased:
    """RCE by total variation ("tv") or Wasserstein distance over ranks ("w1").

    Both are sums of |differences| over bins and ranks, each with its own noise, so they are debiased as VCE is.
    """
    w, ranks = resampled.bins.weight, _rank_gaps(resampled, distance)
    value, debiased = float(w @ ranks.observed), ranks.debiased(w)
    gap = ranks.observed * (debiased / value if value > 0 else 0.0)
    return Debiased(value, debiased, resampled.to_all_bins(gap), np.empty(0))


def ranked_error(resampled: ResampledTable, distance: str, level: float) -> Estimate:
    """RCE with tests and interval."""
    e, w, found = resampled, resampled.bins.weight, debiased_ranked_error(resampled, distance)

    def distances(resamples: Resamples) -> FloatArray:
        return resamples.tv if distance == "tv" else resamples.w1

    null, observed = distances(e.null), _rank_gaps(e, distance).observed
    expected = null.mean(axis=0)
    reach = max(float(np.quantile(distances(resamples) @ w, level)) for resamples in e.all_resamples)
    return Estimate(
        value=found.value,
        noise_floor=float((null @ w).mean()),
        p_value=e.p_value(lambda null: (distances(null.resamples) @ w, found.value)),
        centred_p_value=e.p_value(lambda null: _centred_distances(distances(null.resamples), observed, w)),
        debiased=found.debiased,
        interval=Interval.around(found.value, reach, (0.0, 1.0), level, "triangle"),
        centred_gap=e.to_all_bins(observed - expected),
        debiased_gap=found.gap,
        bins=e.noise(observed, expected, null, null.std(axis=0), level),
    )


def _centred_distances(
    null: FloatArray, observed: FloatArray, weight: FloatArray
) -> tuple[FloatArray, float]:
    """The distance of the bins from their means under calibration, simulated and observed."""
    expected = null.mean(axis=0)
    return np.abs(null - expected) @ weight, float(weight @ np.abs(observed - expected))
