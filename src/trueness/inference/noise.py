"""Draws of a calibrated model from the table alone: the only random numbers of inference.

If a model is calibrated, the true class of a row has rank c with probability q_c. So the ranks of
a bin of n rows are Multinomial(n, q̄) to an excellent approximation (Vaicenavicius et al. 2019 call
this consistency resampling), and no rows are needed. Rows that are worth fewer independent ones are
drawn as n/D rows. Every bin has a random stream of its own, which depends on the seed, the purpose
and the name of the group: no number depends on what else is computed, or in which order.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from trueness.exact_sums import FloatArray, IntArray
from trueness.inference.sample import Sample, Stratum

_SLACK = 1e-9  # draws are on a lattice: those that differ by rounding are as extreme
_BATCH_VALUES = 2**20  # frequencies in memory at a time, eight megabytes

_PURPOSES = ("ranks", "observed ranks", "bias", "score", "top label", "units")


@dataclass(frozen=True, slots=True)
class Streams:
    """The random streams of one group of rows."""

    seed: int = 0
    group: str | None = None

    def of(self, purpose: str, *numbers: int) -> np.random.Generator:
        """The stream of a purpose, and of a number of options and a bin."""
        name = b"" if self.group is None else self.group.encode("utf-8", "surrogatepass")
        group = int.from_bytes(blake2b(name, digest_size=8).digest(), "little")
        return np.random.default_rng([self.seed, _PURPOSES.index(purpose), group, *numbers])


class RankDraws(NamedTuple):
    """R draws of the observed ranks if the model is calibrated, as numbers to compare."""

    variation: FloatArray  # V(r̄*) of each bin, the mean over numbers of options, (R, M)
    score: FloatArray  # Σ n(r̄* - q̄)·ln q̄ of each bin, in effective rows, (R, M)
    score_variance: FloatArray  # of that, (M,)
    ahead: FloatArray  # Σ w(r̄* - q̄) over bins and the ranks up to each but the last, (R, C - 1)
    ahead_variance: FloatArray  # of that, (C - 1,)
    distance: FloatArray  # RCE, Σ w·½‖r̄* - q̄‖₁/Σw, (R,)
    sizes: FloatArray  # mean |r̄*_c - q̄_c| of each rank, (M, C)

    @property
    def size(self) -> int:
        """The number of draws R."""
        return len(self.variation)


def draw_ranks(sample: Sample, resamples: int, streams: Streams) -> RankDraws:
    """The draws of all bins, with the design effect of the sample."""
    n_bins, n_ranks = sample.ranks.predicted.shape[-2:]
    variation, score, sizes = (np.zeros((n, n_bins)) for n in (resamples, resamples, n_ranks))
    ahead, distance = np.zeros((resamples, n_ranks - 1)), np.zeros(resamples)
    spread, variance = np.zeros(n_ranks - 1), np.zeros(n_bins)
    batch = max(1, _BATCH_VALUES // n_ranks)
    for m, cells in enumerate(_cells(sample, streams)):
        variance[m] = sum(n * (q @ logs**2 - (q @ logs) ** 2) for _, n, q, logs, _ in cells)
        for weight, n, q, _, _ in cells:
            among = np.clip(np.cumsum(q)[:-1], 0.0, 1.0)
            spread[: len(among)] += weight**2 / n * among * (1 - among)
        for start in range(0, resamples, batch if cells else resamples):
            rows = slice(start, min(start + batch, resamples))
            apart = np.zeros((rows.stop - start, n_ranks))
            for weight, n, q, logs, stream in cells:
                r = stream.multinomial(n, q, rows.stop - start) / n
                variation[rows, m] += weight * sample.variation.of(r)
                r -= q
                score[rows, m] += n * (r @ logs)
                apart[:, : len(q)] += weight * r
            ahead[rows] += np.cumsum(apart, axis=1)[:, :-1]
            np.abs(apart, out=apart)
            distance[rows] += apart.sum(axis=1) / 2
            sizes[:, m] += apart.sum(axis=0) / resamples
    weight = sample.ranks.rows.sum(axis=0)
    filled = np.where(weight > 0, weight, 1.0)
    distance /= sample.totals.mass
    return RankDraws(
        variation / filled, score, variance, ahead, spread, distance, sizes.T / filled[:, None]
    )


def _cells(sample: Sample, streams: Streams) -> list[list[Any]]:
    """For each bin its numbers of options: weight, rows, q̄, ln q̄ and stream."""
    found: list[list[Any]] = [[] for _ in range(sample.ranks.rows.shape[-1])]
    for stratum in sample.strata:
        count, q = effective_counts(stratum, sample.design.effect), stratum.predicted
        logs = bounded_logs(q, count)
        for f, m in enumerate(stratum.bins.tolist()):
            stream = streams.of("ranks", q.shape[1], m)
            found[m].append((stratum.weight[f], count[f], q[f], logs[f], stream))
    return found


def effective_counts(stratum: Stratum, effect: float) -> IntArray:
    """The independent rows that each bin is drawn with, n/D, (F,)."""
    return np.maximum(np.rint(stratum.rows / effect), 1.0).astype(np.int64)


def bounded_logs(q: FloatArray, count: IntArray) -> FloatArray:
    """ln q̄, bounded below where less than a thousandth of a row is expected, (F, C)."""
    return np.asarray(np.log(np.maximum(q, 1e-3 / (count[:, None] * q.shape[1]))))


def draw_variation(
    sample: Sample, s: int, q: FloatArray, resamples: int, streams: Streams, purpose: str
) -> FloatArray:
    """V(r̄*) of the bins of one number of options with other frequencies than q̄, (R, F)."""
    stratum, batch = sample.strata[s], max(1, _BATCH_VALUES // q.shape[1])
    found = np.empty((resamples, len(q)))
    for f, n in enumerate(effective_counts(stratum, sample.design.effect).tolist()):
        stream = streams.of(purpose, q.shape[1], int(stratum.bins[f]))
        for start in range(0, resamples, batch):
            some = found[start : start + batch, f]
            some[:] = sample.variation.of(stream.multinomial(n, q[f], len(some)) / n)
    return found


def draw_top_errors(sample: Sample, effect: float, resamples: int, streams: Streams) -> FloatArray:
    """ECE of draws in which the predicted class is right as often as it says, (R,)."""
    assert sample.top is not None
    n, predicted, _, square = (each[0, sample.top.rows[0] > 0] for each in sample.top)
    p = np.clip(predicted / n, 0.0, 1.0)
    count = np.maximum(np.rint(n**2 / square / effect), 1.0).astype(np.int64)
    drawn = streams.of("top label").binomial(count, p, (resamples, len(n))) / count
    return np.asarray(np.abs(drawn - p) @ (n / n.sum()))


def draw_score_maxima(sd: FloatArray, resamples: int, streams: Streams) -> FloatArray:
    """max_j |Σ_{m≤j} s_m| of independent normal s_m with these standard deviations, (R,)."""
    steps = streams.of("score").standard_normal((resamples, len(sd))) * sd
    return np.asarray(np.abs(np.cumsum(steps, axis=1)).max(axis=1))


def unit_multipliers(n_units: int, resamples: int, streams: Streams) -> FloatArray:
    """Standard normal multipliers of units, (R, U), the same for all that share these units."""
    return streams.of("units").standard_normal((resamples, n_units))


def p_value(draws: FloatArray, observed: float) -> float:
    """(k + 1)/(R + 1), k draws of R being at least as large (Davison and Hinkley 1997)."""
    slack = _SLACK * max(1.0, abs(observed))
    return float((np.count_nonzero(draws >= observed - slack) + 1) / (len(draws) + 1))
