"""Simulation of the observed ranks of a calibrated model, from the table alone.

If the model is calibrated, the true class of a row has rank c with probability q_c, so the rank counts of a bin of n
rows are, to an excellent approximation, Multinomial(n, q̄). No rows are needed, so tables that were streamed or merged
can be assessed as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from trueness._arrays import FloatArray, IntArray, cumulated
from trueness._threads import Span, available_cores, in_threads
from trueness.old_table import CalibrationTable
from trueness.refusals import InvalidValueError
from trueness.variation import Variation

BATCH_VALUES = 2**20
"""Frequencies in memory at a time, eight megabytes."""

VALUES_AT_ONCE = 2**17
"""Frequencies of several bins that are turned into numbers at once, a megabyte."""

MANY_VALUES = 2**20
"""From this number on, bins are distributed to threads; each has its own random stream, so the numbers are the same."""

SLACK = 1e-12
"""Simulated values are on a lattice: those that differ by rounding only count as equal."""


@dataclass(frozen=True, slots=True)
class NullBins:
    """The bins of a table that have rows, as arrays."""

    index: IntArray
    """Their indices among all bins of the table, (F,)."""
    count: IntArray
    """n_m: rows, or the effective number (Σw)²/Σw² of them, rounded, (F,)."""
    weight: FloatArray
    """w_m, the share of each bin, (F,)."""
    predicted: FloatArray
    """q̄_m, summing to 1, (F, C)."""
    observed: FloatArray
    """r̄_m, (F, C)."""
    variation: Variation

    @classmethod
    def of(cls, table: CalibrationTable) -> NullBins:
        """The filled bins of a table with rows."""
        index = np.flatnonzero(table.row_count)
        if not index.size:
            raise InvalidValueError("no-rows", "a table without rows cannot be assessed", argument="table")
        mass = table.count[index].astype(np.float64)
        ordered, ranks = table.ordered_sum[index], table.rank_count[index]
        effective = np.maximum(np.rint(table.effective_count[index]), 1.0).astype(np.int64)
        return cls(
            index=index,
            count=effective,
            weight=mass / mass.sum(),
            predicted=ordered / ordered.sum(axis=1, keepdims=True),
            observed=ranks / mass[:, None],
            variation=table.spec.variation,
        )

    @property
    def n_classes(self) -> int:
        """The number of classes C."""
        return int(self.predicted.shape[1])

    @property
    def sign(self) -> float:
        """The factor that makes a gap positive for over-confidence."""
        return self.variation.sign

    @property
    def largest_gap(self) -> float:
        """The largest possible |𝒪 - 𝒫|."""
        return self.variation.largest_gap_for(self.n_classes)

    @property
    def log_predicted(self) -> FloatArray:
        """ln q̄_m, and 0 where the frequency is 0, (F, C)."""
        logs = np.log(np.where(self.predicted > 0, self.predicted, 1.0))
        return np.where(self.predicted > 0, logs, 0.0)

    @property
    def log_score(self) -> FloatArray:
        """Σ_c (r̄_c - q̄_c)·ln q̄_c of each bin, (F,)."""
        return np.asarray(((self.observed - self.predicted) * self.log_predicted).sum(axis=1))

    def smooth(self) -> NullBins:
        """These bins with (n·r̄ + q̄)/(n + 1) as predictions: the observed frequencies and one predicted row."""
        n = self.count[:, None]
        mixed = (n * self.observed + self.predicted) / (n + 1)
        return replace(self, predicted=mixed / mixed.sum(axis=1, keepdims=True))

    def take(self, which: IntArray) -> NullBins:
        """Some of these bins."""
        kept = {
            name: getattr(self, name)[which] for name in ("index", "count", "weight", "predicted", "observed")
        }
        return replace(self, **kept)

    def expected_variation(self, resamples: FloatArray) -> FloatArray:
        """E[𝒱(r̄*)] of each bin, (F,): exact where the measure has a formula, else the mean of the resamples, (R, F)."""
        exact = self.variation.expectation_for(self.count, self.predicted)
        return np.asarray(resamples.mean(axis=0)) if exact is None else exact


class CellResamples(NamedTuple):
    """Resamples of the cells of one number of options, if rows have options of their own, (R, K) each."""

    variation: FloatArray
    """𝒱(r̄*)."""
    log_score: FloatArray
    """Σ_c (r̄*_c - q̄_c)·ln q̄_c."""


@dataclass(frozen=True, slots=True)
class Resamples:
    """Numbers of each bin for each resample of its rank frequencies, (R, F) each."""

    variation: FloatArray
    """𝒱(r̄*)."""
    first: FloatArray
    """r̄*₁, the accuracy."""
    tv: FloatArray
    """Total variation distance from q̄."""
    w1: FloatArray
    """Wasserstein distance from q̄ over ranks, divided by C - 1."""
    log_score: FloatArray
    """Σ_c (r̄*_c - q̄_c)·ln q̄_c: the log-score of the ranks against its mean, (R, F)."""
    cells: tuple[CellResamples, ...] = ()
    """Of each number of options, if rows have options of their own."""
    tv_noise: FloatArray | None = None
    """Mean of |r̄*_c - q̄_c|, (F, C), if rows have options of their own; else it is known without resamples."""
    w1_noise: FloatArray | None = None
    """Mean of |Σ_{j≤c}(r̄*_j - q̄_j)|, (F, C - 1), as `tv_noise`."""

    @property
    def sd(self) -> FloatArray:
        """The standard deviation of 𝒱(r̄*) of each bin, (F,)."""
        return np.asarray(self.variation.std(axis=0))


Frequencies = Callable[[int], Iterator[FloatArray]]
"""For each bin, batches of rank frequencies, (k, C), R of them in all."""


def multinomial_frequencies(
    bins: NullBins, resamples: int, seed: list[int], batch: int | None = None
) -> Frequencies:
    """Multinomial(n_m, q̄_m)/n_m, each bin from its own random stream, independent of other bins and of batches."""
    batch = batch or max(1, BATCH_VALUES // bins.n_classes)

    def of_bin(m: int) -> Iterator[FloatArray]:
        stream = np.random.default_rng([*seed, m])
        for start in range(0, resamples, batch):
            size = min(batch, resamples - start)
            yield stream.multinomial(bins.count[m], bins.predicted[m], size) / bins.count[m]

    return of_bin


def resample(bins: NullBins, frequencies: Frequencies, resamples: int) -> Resamples:
    """The numbers of all bins for R resamples of the rank frequencies."""
    n_bins, n_classes = bins.predicted.shape
    variation, first, tv, w1, log_score = (np.empty((resamples, n_bins)) for _ in range(5))
    logs = bins.log_predicted

    def fill(spans: Iterable[Span]) -> None:
        for start, stop in spans:
            some, done = slice(start, stop), 0
            q, log_q = bins.predicted[some].T[..., None], logs[some].T[..., None]
            for batch in zip(*map(frequencies, range(start, stop)), strict=True):
                rows = slice(done, done + len(batch[0]))
                done += len(batch[0])
                r = _by_class(batch)
                variation[rows, some] = bins.variation.of(r.reshape(n_classes, -1).T).reshape(r.shape[1:]).T
                first[rows, some] = r[0].T
                apart = r - q
                log_score[rows, some] = (log_q * apart).sum(axis=0).T
                ahead = np.abs(cumulated(apart[:-1]))
                np.abs(apart, out=apart)
                tv[rows, some] = apart.sum(axis=0).T / 2
                w1[rows, some] = ahead.sum(axis=0).T / (n_classes - 1)

    step = max(1, VALUES_AT_ONCE // (resamples * n_classes))
    n_threads = available_cores() if resamples * bins.predicted.size >= MANY_VALUES else 1
    in_threads(fill, [(m, min(m + step, n_bins)) for m in range(0, n_bins, step)], n_threads)
    return Resamples(variation, first, tv, w1, log_score)


def _by_class(batch: Sequence[FloatArray]) -> FloatArray:
    """The frequencies of some bins, (k, C) each, as (C, bins, k): sums over classes are then sums of arrays."""
    r = np.empty((batch[0].shape[1], len(batch), len(batch[0])))
    for m, frequency in enumerate(batch):
        r[:, m] = frequency.T
    return r


def mean_variation(bins: NullBins, resamples: int, seed: list[int]) -> FloatArray:
    """E[𝒱(r̄*)] of each bin under its q̄, (F,); simulated only where it is not known exactly."""
    return mean_variations([bins], resamples, seed)[0]


def mean_variations(alike: Sequence[NullBins], resamples: int, seed: list[int]) -> list[FloatArray]:
    """`mean_variation` of the same bins with other predictions each time, in one call of the exact formula."""
    count, predicted = (
        np.concatenate([getattr(bins, of) for bins in alike]) for of in ("count", "predicted")
    )
    exact = alike[0].variation.expectation_for(count, predicted)
    if exact is not None:
        return np.split(exact, len(alike))
    return [_simulated_mean(bins, resamples, seed) for bins in alike]


def _simulated_mean(bins: NullBins, resamples: int, seed: list[int]) -> FloatArray:
    frequencies = multinomial_frequencies(bins, resamples, seed)
    totals = [sum(float(bins.variation.of(r).sum()) for r in frequencies(m)) for m in range(len(bins.count))]
    return np.array(totals) / resamples


def p_value(null: FloatArray, observed: float) -> float:
    """(k + 1)/(R + 1), where k of R null values are at least the observed one."""
    return float((np.count_nonzero(null >= observed - SLACK) + 1) / (len(null) + 1))
