"""Bootstrap replicates of events, and how far an L1 error over their bins or classes is off in each of them.

Those of rows have the weights of the rank tables of the same units, so that models of the same rows are compared row by
row. Those of a table are drawn from it alone, and are independent of those of other tables.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.bootstrap_weights import BootstrapWeights
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.draws import few_cells, independent_rows
from trueness.old_inference.events.in_the_large import frequency_sd
from trueness.old_inference.events.of_table import event_cells
from trueness.old_inference.normal import folded_mean
from trueness.old_inference.products import in_tiles
from trueness.old_inference.replicates import on_grid
from trueness.old_table import EventTable
from trueness.old_table.cluster_sums import ClusterSums, EventCellSums, event_bins_grid
from trueness.old_table.event_content import EventSpec

_STEPS = 65
"""Points at which the mean of an L1 error under noise is computed, between which it is interpolated."""

_CLEAR = 2.5
"""Standard deviations from 0 at which the sign of a gap is taken as known."""

_SCORES = 2**32 - 1
"""The stream of the scores, which no event has."""


@dataclass(frozen=True, slots=True, eq=False)
class EventReplicates:
    """B replicates of the gaps of K events in ten bins of their probability, as shares of the rows."""

    gaps: FloatArray
    """Σw(p - y)/Σw, (B, K, G): the sum over the bins is the gap of the event."""
    brier_score: FloatArray | None = None
    """(B,), of two classes."""
    log_loss: FloatArray | None = None
    """(B,), of two classes; without outcomes of probability 0, for which it is infinite."""


@dataclass(frozen=True, slots=True, eq=False)
class GapNoise:
    """Gaps, their standard deviations, and the noise of each in every replicate."""

    gap: FloatArray
    """(n,)."""
    sd: FloatArray
    """(n,)."""
    noise: FloatArray
    """(B, n), at least as wide as `sd`."""

    @classmethod
    def of(cls, gap: FloatArray, sd: FloatArray, replicates: FloatArray) -> GapNoise:
        """From replicates of the gaps, (B, n), and their standard deviations if the model is calibrated, (n,)."""
        noise = replicates - replicates.mean(axis=0)
        seen = noise.std(axis=0)
        noise *= np.maximum(np.divide(sd, seen, out=np.ones_like(sd), where=seen > 0), 1.0)
        return cls(gap, np.maximum(sd, seen), noise)

    @property
    def errors(self) -> list[FloatArray]:
        """Σ|g| in each replicate, (B,), in two ways: as if all gaps were within noise, and as if all were clear.

        The first is debiased as the sum is. In the second the sum errs as the sum of the gaps with their signs.
        """
        return [self._debiased, self.clear_errors]

    @property
    def clear_errors(self) -> FloatArray:
        """The second of the two ways of `errors`, (B,)."""
        return np.asarray(self.noise @ np.sign(self.gap))

    def opposite_errors(self, other: GapNoise) -> FloatArray:
        """The noise of the difference of two sums Σ|g|, (B,), if gaps within noise have opposite signs in the two.

        Such gaps have either sign in the table, and the sums then err less in opposite directions than they do in
        truth. Rows are paired: g_b - g_a is known much better than the gaps, and shows which sign each would have.
        Gaps that are clear in either model keep the signs of the table.
        """
        unclear = (np.abs(self.gap) < _CLEAR * self.sd) & (np.abs(other.gap) < _CLEAR * other.sd)
        apart = np.sign(other.gap - self.gap)
        mine, theirs = (
            np.where(unclear, sign, np.sign(each.gap)) for sign, each in ((-apart, self), (apart, other))
        )
        return np.asarray(self.noise @ mine - other.noise @ theirs)

    @property
    def _debiased(self) -> FloatArray:
        """t·Σ|g|, with t such that gaps t·g with noise would give the replicate's sum on average.

        As `debiased_total`, with the profile |g| of the table for all replicates: the own one of each
        would take a hundred times as long.
        """
        size = np.abs(self.gap)
        total, drawn = float(size.sum()), np.abs(self.gap + self.noise).sum(axis=1)
        if total == 0:
            return np.asarray(drawn)
        t = np.linspace(0.0, max(2.0, float(drawn.max()) / total), _STEPS)
        means = folded_mean(t[:, None] * size, np.broadcast_to(self.sd, (_STEPS, len(size))))[0].sum(axis=1)
        return np.asarray(np.interp(drawn, means, t * total))


@dataclass(frozen=True, slots=True, eq=False)
class ClassNoise:
    """The noise of the gaps of all events of a table: in their bins, and of each event as a whole."""

    of_bins: GapNoise
    of_events: GapNoise

    @property
    def errors_of_bins(self) -> list[FloatArray]:
        """Σ|g| over the bins of all events in each replicate, (B,), in the two ways of `GapNoise`, and in a third one.

        Gaps of one sign that are within noise have any sign in the table; in the sum over the bins of an event they
        show theirs. The error is then that of the gaps of the events.
        """
        return [*self.of_bins.errors, self.of_events.clear_errors]

    @classmethod
    def of(cls, table: EventTable, replicates: EventReplicates) -> ClassNoise:
        """Of a table of any grid, with its replicates."""
        coarse = table.coarsen(event_bins_grid())
        rows = coarse.count.sum(axis=1, keepdims=True)
        gap = np.asarray((coarse.predicted_sum - coarse.observed_count) / rows)
        sd = np.zeros(gap.shape)
        for k, cells in enumerate(event_cells(coarse)):
            sd[k, coarse.row_count[k] > 0] = frequency_sd(cells) * cells.count / cells.total
        made = replicates.gaps
        return cls(
            GapNoise.of(gap.ravel(), sd.ravel(), made.reshape(len(made), -1)),
            GapNoise.of(gap.sum(axis=1), np.sqrt((sd**2).sum(axis=1)), made.sum(axis=2)),
        )


def bootstrap_events(
    of_tables: Sequence[ClusterSums],
    weights: BootstrapWeights,
    scores: Sequence[FloatArray | None] = (),
) -> list[EventReplicates]:
    """The replicates of event tables of the same units, such as those of several models: all get the same weights.

    `scores` are the sums of Brier score and log-loss of each unit, (units, 2), for each table.
    """
    given, n_units = list(scores) or [None] * len(of_tables), weights.n_units
    columns = [_mass_of_units(of_tables[0], n_units)]
    columns += [_gaps_of_units(sums, n_units) for sums in of_tables]
    columns += [np.empty((n_units, 0)) if score is None else score for score in given]
    made = _weighted_sums(columns, weights)
    mass = np.where(made[0] > 0, made[0], 1.0)
    shares = [part / mass for part in made[1:]]
    return [
        _with_scores(EventReplicates(gaps.reshape(weights.resamples, *_shape(sums))), score)
        for sums, gaps, score in zip(of_tables, shares, shares[len(of_tables) :], strict=False)
    ]


def _with_scores(made: EventReplicates, scores: FloatArray) -> EventReplicates:
    if not scores.shape[1]:
        return made
    return replace(made, brier_score=scores[:, 0], log_loss=scores[:, 1])


def _shape(sums: ClusterSums) -> tuple[int, int]:
    assert isinstance(sums.spec, EventSpec)
    return sums.spec.shape


def _weighted_sums(columns: Sequence[FloatArray], weights: BootstrapWeights) -> list[FloatArray]:
    """The sums of each column over the units, (B, …), with the weights that other tables of the same units have."""
    dense = np.concatenate([on_grid(column) for column in columns], axis=1).T
    made = np.empty((len(dense), weights.resamples))
    for replicates, drawn in weights.batches():
        made[:, replicates] = in_tiles(dense, drawn)
    return np.split(made.T, np.cumsum([column.shape[1] for column in columns])[:-1], axis=1)


def _gaps_of_units(sums: ClusterSums, n_units: int) -> FloatArray:
    """Σ(p - y) of each unit, event and bin, (units, K·G)."""
    of_cells = sums.sums
    assert isinstance(of_cells, EventCellSums)
    k, g = _shape(sums)
    dense = np.zeros((n_units, k * g))
    dense[sums.units, sums.bins] = of_cells.predicted.value - of_cells.observed.value
    return dense


def _mass_of_units(sums: ClusterSums, n_units: int) -> FloatArray:
    """The number of rows of each unit, or their weight, (units, 1): those of the first event, as every row has it."""
    _, g = _shape(sums)
    of_first = sums.bins < g
    return np.asarray(np.bincount(sums.units[of_first], sums.mass[of_first], n_units)[:, None], np.float64)


def bootstrap_event_table(table: EventTable, resamples: int, seed: list[int]) -> EventReplicates:
    """The replicates of a table of independent rows, from the table alone; each event has its own stream.

    The numbers of rows of a bin in which the event was observed, and in which it was not, are Poisson around the
    smoothed observed ones. The predictions of a bin stay as they are. Of two classes, Brier score and log-loss come
    from cells of the event grid, which are so narrow that p̄ stands for all of their rows.
    """
    coarse = table.coarsen(event_bins_grid())
    gaps = np.zeros((resamples, *coarse.count.shape))
    for k, cells in enumerate(event_cells(coarse)):
        happened, others = _drawn_shares(cells, resamples, [*seed, k])
        gaps[:, k, coarse.row_count[k] > 0] = (happened + others) * cells.mean_predicted - happened
    if table.n_classes != 2:
        return EventReplicates(gaps)
    (whole,) = event_cells(table)
    return replace(EventReplicates(gaps), **_scores_of_cells(few_cells(whole), resamples, [*seed, _SCORES]))


def _drawn_shares(cells: EventCells, resamples: int, seed: list[int]) -> tuple[FloatArray, FloatArray]:
    """The share of all rows that is in a cell with the event, and without it, (B, F) each."""
    n = independent_rows(cells)
    r = (n * cells.mean_observed + cells.mean_predicted) / (n + 1)
    stream, unit = np.random.default_rng(seed), cells.count / n
    happened, others = (stream.poisson(n * share, (resamples, len(n))) * unit for share in (r, 1 - r))
    mass = (happened + others).sum(axis=1, keepdims=True)
    mass[mass == 0] = 1.0
    return happened / mass, others / mass


def _scores_of_cells(cells: EventCells, resamples: int, seed: list[int]) -> dict[str, FloatArray]:
    """Brier score (over both classes) and log-loss in each replicate, (B,)."""
    happened, others = _drawn_shares(cells, resamples, seed)
    p = np.clip(cells.mean_predicted, 2.0**-1000, 1 - math.ulp(0.5))
    return {
        "brier_score": 2 * (happened @ (1 - p) ** 2 + others @ p**2),
        "log_loss": -(happened @ np.log(p) + others @ np.log1p(-p)),
    }
