"""Drift from a reference: bets that a model is worse than it was on other rows (section 7)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trueness._arrays import FloatArray
from trueness.monitoring.cells import Cells
from trueness.monitoring.directions import Direction, event_directions, rank_directions
from trueness.monitoring.families import OF_CLASSES, Bet
from trueness.monitoring.strengths import strength_over_bins
from trueness.monitoring.watched import Watched
from trueness.old_table import CalibrationTable

STAKES = tuple(2.0**-i for i in range(5, -1, -1))
SIZE = 0.08
"""The total variation at which the score of a direction is made; halved until it is reached."""

_MOST_HALVINGS = 40


@dataclass(frozen=True)
class Score:
    """The score h of each direction, made of the reference, and the bound on its mean there (equation 6)."""

    h: FloatArray
    """(D, M, C): min(max(u/f, ½), 2) - 1, 0 in bins that are empty in the reference."""
    mean: FloatArray
    """H̄: the mean of h over the predictions of the reference, (D,)."""
    variance: FloatArray
    """The variance of h within bins if the reference is calibrated, (D,)."""
    stake: FloatArray
    """c of equation 6, (D,)."""
    bound: FloatArray
    """U: above the mean of h(r) - h·q with probability 1 - γ_j each, (D,)."""

    @property
    def span(self) -> FloatArray:
        """g = max_b (max h_b - min h_b), (D,)."""
        return np.asarray((self.h.max(axis=-1) - self.h.min(axis=-1)).max(axis=-1))


def score_of(
    cells: Cells, directions: Sequence[Direction], n_rows: float, log_level: float, largest_cluster: float
) -> Score:
    """The scores of a reference (one look of `cells`), with ln(1/γ_j) = `log_level`."""
    h = np.stack([_score(cells, direction) for direction in directions])
    count, q = n_rows * cells.share[0], cells.q[0]
    by_bin = (q * h).sum(axis=-1)
    mean = (count * by_bin).sum(axis=-1) / n_rows
    variance = (count * ((q * h**2).sum(axis=-1) - by_bin**2)).sum(axis=-1) / n_rows
    level = largest_cluster * log_level
    with np.errstate(divide="ignore", invalid="ignore"):
        stake = np.minimum(np.sqrt(2 * level / (n_rows * variance)), 0.9 / h.max(axis=(1, 2)))
    stake = np.where(np.isfinite(stake) & (stake > 0), stake, 0.0)
    log_terms = (cells.observed[0] * np.log1p(-stake[:, None, None] * h)).sum(axis=(1, 2))
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = -np.expm1((log_terms - level) / n_rows) / stake - mean
    return Score(h, mean, variance, stake, np.where(stake > 0, bound, 0.0))


def _score(cells: Cells, direction: Direction) -> FloatArray:
    """h of a direction, (M, C); zero if the direction does not change the prediction at all."""
    size = SIZE
    for _ in range(_MOST_HALVINGS):
        s = strength_over_bins(cells, direction, np.full((1, 1, 1), size))
        if not np.isnan(s).any():
            u = direction.alternative(cells.p[:, None], s)[0, 0]
            h = np.clip(u / cells.f[0], 0.5, 2.0) - 1
            return np.asarray(np.where(cells.share[0][:, None] > 0, h, 0.0))
        size /= 2
    return np.zeros(cells.f.shape[1:])


@dataclass(frozen=True)
class DriftBets:
    """Bets that the mean score of a look exceeds that of the reference (equation 7)."""

    reference: Watched
    tolerance: float
    largest_cluster: float
    level: float
    """γ: the probability with which some bound on the reference may be wrong."""

    @cached_property
    def _parts(self) -> list[tuple[Cells, tuple[Direction, ...], str | None]]:
        """The cells of the ranks and of each event of the reference, with their directions and the event's name."""
        ranks, events = self.reference.ranks, self.reference.by_class
        names: list[str | None] = [] if ranks is None else [None]
        names += [] if events is None else [events.spec.name_of(event) for event in events.events]
        n_classes = 2 if ranks is None else ranks.n_cells
        return [
            (cells, rank_directions(n_classes) if name is None else event_directions(), name)
            for cells, name in zip(_cells_of(self.reference), names, strict=True)
        ]

    @cached_property
    def scores(self) -> list[Score]:
        """The scores of the ranks, then of each event."""
        n_scores = sum(len(directions) for _, directions, _ in self._parts)
        log_level = math.log(n_scores / self.level)
        return [
            score_of(cells, directions, self.reference.weight, log_level, self.largest_cluster)
            for cells, directions, _ in self._parts
        ]

    @cached_property
    def bets(self) -> tuple[Bet, ...]:
        """By score, direction and stake."""
        return tuple(
            Bet(each.name, f"{each.meaning}, more than in the reference", event=event)
            for _, directions, event in self._parts
            for each in directions
            for _ in STAKES
        )

    @cached_property
    def weights(self) -> FloatArray:
        """Those of the directions times 1/6; ranks and classes as without a reference."""
        n_events = sum(event is not None for _, _, event in self._parts)
        both = self.reference.ranks is not None and n_events > 0
        parts = []
        for _, directions, event in self._parts:
            share = 1.0 if event is None else 1 / n_events
            if both:
                share *= 1 - OF_CLASSES if event is None else OF_CLASSES
            parts += [share * each.weight / len(STAKES) for each in directions for _ in STAKES]
        return np.array(parts)

    def log_values(self, looks: Sequence[Watched]) -> FloatArray:
        """ln e_j of each look by itself, (L, J)."""
        return np.stack([self._of_look(look) for look in looks])

    def _of_look(self, look: Watched) -> FloatArray:
        pairs = zip(self.scores, _cells_of(look), strict=True)
        values = [drift_log_values(score, cells, look.weight, self.tolerance) for score, cells in pairs]
        return np.concatenate(values) / self.largest_cluster


def _cells_of(look: Watched) -> list[Cells]:
    """The cells of the ranks and of each event, one look each."""
    parts = [Cells.of_tables([look.ranks])] if isinstance(look.ranks, CalibrationTable) else []
    if look.by_class is not None:
        cells = Cells.of_events([look.by_class])
        parts += [cells.part(slice(k, k + 1)) for k in range(cells.n_looks)]
    return parts


def drift_log_values(score: Score, cells: Cells, n_rows: float, tolerance: float) -> FloatArray:
    """Σ R·ln(1 + c·h) - N·ln(1 + c·min(H̄_t + U + δ·g, max h)) of each direction and stake, (D·6,)."""
    mean = (cells.share[0] * (cells.q[0] * score.h).sum(axis=-1)).sum(axis=-1)
    most, least = score.h.max(axis=(1, 2)), score.h.min(axis=(1, 2))
    limit = np.clip(mean + score.bound + tolerance * score.span, least, most)
    c = np.array(STAKES)
    gained = (cells.observed[0] * np.log1p(c[:, None, None] * score.h[:, None])).sum(axis=(2, 3))
    return np.asarray(gained - n_rows * np.log1p(c * limit[:, None])).ravel()
