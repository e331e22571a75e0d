"""Families of bets: which bets there are on a look, what each means, and their weights.

The weights of a family are fixed before the first look and add up to 1, so that every mixture is an e-value if each bet
is (section 4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from trueness._arrays import FloatArray
from trueness.monitoring.bets import log_bets
from trueness.monitoring.cells import Cells
from trueness.monitoring.directions import Direction, event_directions, rank_directions
from trueness.monitoring.strengths import SIZES
from trueness.monitoring.watched import Watched
from trueness.old_table import CalibrationTable, EventSpec, option_tables

ALL_BINS = 3 / 4
"""The weight of bets on all bins together; the rest is shared by the bins, empty ones included."""

OF_CLASSES = 1 / 4
"""The weight of bets on classes, if a look has both tables (docs/guide/monitoring.md, "Classes")."""


@dataclass(frozen=True, slots=True)
class Bet:
    """What a bet is on."""

    direction: str
    """Short: "flat", "sharp", "top-", …; of an event "too often", "too seldom", "too extreme", "too timid"."""
    meaning: str
    """In words: "over-confident", …"""
    bin: int | None = None
    """The bin that the bet is on, counted from 0; None if it is on all."""
    event: str | None = None
    """The class or event that it is on; None if it is on ranks."""


class Family(Protocol):
    """A family of bets."""

    @property
    def bets(self) -> tuple[Bet, ...]:
        """What each bet is on, J of them."""
        ...

    @property
    def weights(self) -> FloatArray:
        """v_j, (J,); they add up to 1."""
        ...

    def log_values(self, looks: Sequence[Watched]) -> FloatArray:
        """ln e_j of each look by itself, (L, J)."""
        ...


@dataclass(frozen=True)
class RankBets:
    """Bets on the ranks of the true class (section 2)."""

    n_classes: int
    n_bins: int
    tolerance: float
    largest_cluster: float
    """W: the largest weight of a cluster (equation 5)."""

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        """The directions of the bets."""
        return rank_directions(self.n_classes)

    @cached_property
    def bets(self) -> tuple[Bet, ...]:
        """By direction, size, and place: all bins, then each."""
        places: list[int | None] = [None, *range(self.n_bins)]
        return tuple(
            Bet(each.name, each.meaning, place) for each in self.directions for _ in SIZES for place in places
        )

    @cached_property
    def weights(self) -> FloatArray:
        """The product of the three weights: direction, size and place."""
        place = np.array([ALL_BINS, *[(1 - ALL_BINS) / self.n_bins] * self.n_bins])
        return _products([each.weight for each in self.directions], place)

    def log_values(self, looks: Sequence[Watched]) -> FloatArray:
        """ln e_j of each look by itself, (L, J)."""
        tables = [look.ranks for look in looks if isinstance(look.ranks, CalibrationTable)]
        return self.of_cells(Cells.of_tables(tables))

    def of_cells(self, cells: Cells) -> FloatArray:
        """ln e_j of each look of cells, (L, J)."""
        values = log_bets(cells, self.directions, self.tolerance)
        return np.asarray(values.reshape(cells.n_looks, -1) / self.largest_cluster)


@dataclass(frozen=True)
class OptionBets:
    """Bets on the ranks of rows with options of their own: the product of the bets on each number of options.

    Rows are independent, so that the product is an e-value if the RCE of the rows of each number of options is within
    the tolerance. A bet is the same direction and size at all of them; of two options none is on the third rank.
    """

    n_bins: int
    tolerance: float
    largest_cluster: float

    @cached_property
    def _of_many(self) -> RankBets:
        """The bets on rows of three or more options."""
        return RankBets(3, self.n_bins, self.tolerance, self.largest_cluster)

    @property
    def bets(self) -> tuple[Bet, ...]:
        """By direction, size, and place: all bins, then each."""
        return self._of_many.bets

    @property
    def weights(self) -> FloatArray:
        """Those of three or more classes."""
        return self._of_many.weights

    def log_values(self, looks: Sequence[Watched]) -> FloatArray:
        """ln e_j of each look by itself, (L, J)."""
        return np.array([self._of_look(look) for look in looks])

    def _of_look(self, look: Watched) -> FloatArray:
        values = np.zeros(len(self.bets))
        for table in [] if look.ranks is None else option_tables(look.ranks):
            family = RankBets(table.n_cells, self.n_bins, self.tolerance, self.largest_cluster)
            of_table = family.of_cells(Cells.of_tables([table]))[0]
            values[: len(of_table)] += of_table  # two options lack the last direction
        return values


@dataclass(frozen=True)
class EventBets:
    """Bets on each event by itself: the same construction with two outcomes, the event and its opposite.

    Sizes are relative to rare events: ε·min(1, 10·π, 10·(1 - π)) with π the mean probability of the event in the look.
    """

    spec: EventSpec
    tolerance: float
    largest_cluster: float

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        """The directions of the bets."""
        return event_directions()

    @cached_property
    def bets(self) -> tuple[Bet, ...]:
        """By event, direction and size."""
        names = [self.spec.name_of(event) for event in self.spec.events]
        return tuple(
            Bet(each.name, each.meaning, event=name)
            for name in names
            for each in self.directions
            for _ in SIZES
        )

    @cached_property
    def weights(self) -> FloatArray:
        """Equal weights of events and sizes, times those of the directions."""
        n_events = len(self.spec.events)
        return np.tile(_products([each.weight for each in self.directions], np.ones(1)), n_events) / n_events

    def log_values(self, looks: Sequence[Watched]) -> FloatArray:
        """ln e_j of each look by itself, (L, J)."""
        return self.of_cells(Cells.of_events([look.by_class for look in looks if look.by_class is not None]))

    def of_cells(self, cells: Cells) -> FloatArray:
        """ln e_j of each look of cells, in which each event is a look of its own, (L, J)."""
        values = log_bets(
            cells, self.directions, self.tolerance, single_bins=False, sizes=_sizes_of_events(cells)
        )
        n_looks = cells.n_looks // len(self.spec.events)
        return np.asarray(values.reshape(n_looks, -1) / self.largest_cluster)


def _sizes_of_events(cells: Cells) -> FloatArray:
    """ε_i·min(1, 10·π, 10·(1 - π)), (L, I)."""
    mean = (cells.share * cells.p[:, :, 0]).sum(axis=-1)
    scale = np.minimum(1.0, 10 * np.minimum(mean, 1 - mean))
    return np.asarray(np.maximum(scale, 1e-9)[:, None] * np.array(SIZES))


def _products(directions: Sequence[float], places: FloatArray) -> FloatArray:
    """The weights of directions, sizes and places multiplied, flattened in this order."""
    sizes = np.full(len(SIZES), 1 / len(SIZES))
    return np.asarray(np.array(directions)[:, None, None] * sizes[:, None] * np.asarray(places)).ravel()


STAKES_OF_LOOKS = (0.1, 0.25, 0.5, 1.0)


@dataclass(frozen=True)
class WholeLookBets:
    """One bet a look, on the frequency of the top label: valid however the rows of a look depend on one another.

    e = 1 + c·((1 - r̄_1)/(1 - q̄_1) - 1) and 1 + c·(r̄_1/q̄_1 - 1); with a tolerance δ, q̄_1 is moved by δ against the bet,
    since the mean of the top label's frequency is within δ of q̄_1 if RCE is at most δ.
    """

    tolerance: float

    @cached_property
    def bets(self) -> tuple[Bet, ...]:
        """Down, then up, with each stake."""
        down, up = rank_directions(2)[2:4]
        return tuple(Bet(each.name, each.meaning) for each in (down, up) for _ in STAKES_OF_LOOKS)

    @cached_property
    def weights(self) -> FloatArray:
        """Equal weights."""
        return np.full(len(self.bets), 1 / len(self.bets))

    def log_values(self, looks: Sequence[Watched]) -> FloatArray:
        """ln e_j of each look by itself, (L, J)."""
        return np.array([self._of_look(look) for look in looks])

    def _of_look(self, look: Watched) -> FloatArray:
        table = look.ranks
        if table is None or table.n_rows == 0:
            return np.zeros(len(self.bets))
        ordered = table.ordered_sum.sum(axis=0)
        q, r = float(ordered[0] / ordered.sum()), table.accuracy
        parts = []
        for frequency, expected in (
            (1 - r, min(1 - q + self.tolerance, 1.0)),
            (r, min(q + self.tolerance, 1.0)),
        ):
            ratio = frequency / expected if expected > 0 else 1.0
            parts += [1 + c * (ratio - 1) for c in STAKES_OF_LOOKS]
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(parts, 0.0))


@dataclass(frozen=True)
class MixedBets:
    """Several families with the weight of each."""

    families: tuple[Family, ...]
    shares: tuple[float, ...]

    @cached_property
    def bets(self) -> tuple[Bet, ...]:
        """The bets of all families."""
        return tuple(bet for family in self.families for bet in family.bets)

    @cached_property
    def weights(self) -> FloatArray:
        """The weights of each family times its share."""
        parts = [share * family.weights for family, share in zip(self.families, self.shares, strict=True)]
        return np.concatenate(parts)

    def log_values(self, looks: Sequence[Watched]) -> FloatArray:
        """ln e_j of each look by itself, (L, J)."""
        return np.concatenate([family.log_values(looks) for family in self.families], axis=1)


def log_weights(family: Family) -> FloatArray:
    """ln v_j, (J,)."""
    assert math.isclose(float(family.weights.sum()), 1.0)
    return np.asarray(np.log(family.weights))
