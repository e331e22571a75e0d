"""The evidence of each group, and the first look at which it sufficed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trueness._arrays import FloatArray
from trueness.bins import Bins, EqualMass
from trueness.monitoring._entries import Entry
from trueness.monitoring.families import (
    OF_CLASSES,
    Bet,
    EventBets,
    Family,
    MixedBets,
    OptionBets,
    RankBets,
    WholeLookBets,
    log_weights,
)
from trueness.monitoring.reference import DriftBets
from trueness.monitoring.settings import Settings
from trueness.monitoring.starts import Evidence, flagged, log_sum
from trueness.monitoring.watched import Watched, in_bins, rank_bins
from trueness.old_table import OptionTables
from trueness.refusals import InvalidValueError


@dataclass(frozen=True, slots=True)
class AlarmPlace:
    """Where the first alarm was."""

    look: int
    """Its number among all looks, counted from 0."""
    group: str | None
    """The group with the largest evidence then."""
    n_looks: int
    """How many looks of this group were counted until then."""


class Streams:
    """The evidence of each group (under None without groups)."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._families: dict[str | None, Family] = {}
        self._bins: Bins | None = settings.bins
        self._log_weights: dict[str | None, FloatArray] = {}
        self.by_group: dict[str | None, Evidence] = {}
        self.counted: dict[str | None, list[int]] = {}
        """The looks of each group that had rows, by number."""
        self.alarm: AlarmPlace | None = None
        self._peak = -math.inf
        self._log_mean = -math.inf if settings.average_run is not None else 0.0

    # Bets

    def with_bets(self, entry: Entry) -> Entry:
        """The entry with the values of its bets, which do not depend on other looks."""
        filled = {name: each for name, each in entry.tables.items() if each.n_rows > 0}
        if not filled:
            return replace(entry, log_bets={})
        self._fit_bins(filled.values())
        given = entry.log_bets
        if given.keys() == filled.keys() and all(
            given[name].shape == (len(self.family(name, each).bets),) for name, each in filled.items()
        ):
            return entry
        return replace(entry, log_bets=self._values(filled))

    def _fit_bins(self, filled: Iterable[Watched]) -> None:
        """Fit bins of equal mass to the first look with rows."""
        ranks = [each.ranks for each in filled if each.ranks is not None]
        if isinstance(self._bins, EqualMass) and ranks:
            self._bins = sum(ranks[1:], start=ranks[0]).coarsen(self._bins).bins

    def _values(self, filled: dict[str | None, Watched]) -> dict[str | None, FloatArray]:
        """ln e_j of each group; groups that share a family are computed together."""
        groups: dict[int, list[str | None]] = {}
        for name, each in filled.items():
            groups.setdefault(id(self.family(name, each)), []).append(name)
        found: dict[str | None, FloatArray] = {}
        for names in groups.values():
            family = self.family(names[0], filled[names[0]])
            values = family.log_values([self._in_bins(filled[name]) for name in names])
            found |= dict(zip(names, values, strict=True))
        return {name: found[name] for name in filled}

    def _in_bins(self, each: Watched) -> Watched:
        ranks = each.ranks
        return each if ranks is None else replace(each, ranks=in_bins(ranks, rank_bins(ranks, self._bins)))

    def family(self, group: str | None, like: Watched) -> Family:
        """The bets on a group; all groups share them unless each has a reference of its own."""
        shared = self._settings.reference is None or None in self._settings.reference
        key = None if shared else group
        if key not in self._families:
            family = self._new_family(key, like)
            self._families[key] = family
            self._log_weights[key] = log_weights(family)
        return self._families[key]

    def _new_family(self, group: str | None, like: Watched) -> Family:
        settings, size = self._settings, self._settings.largest_cluster
        reference = settings.reference_for(group)
        if reference is not None and settings.reference is not None:
            like + reference
            if isinstance(like.ranks, OptionTables):
                cause = "`reference` is not supported for rows with options of their own"
                remedy = "leave it out, or watch each number of options by itself"
                raise InvalidValueError("wrong-table", cause, remedy, argument="reference")
            level = settings.reference_level / len(settings.reference)
            return DriftBets(self._in_bins(reference), settings.tolerance, size, level)
        if settings.dependence == "look":
            if like.ranks is None:
                cause = "`dependence`='look' needs a table of ranks"
                remedy = "pass the CalibrationTable"
                raise InvalidValueError("wrong-table", cause, remedy, argument="dependence")
            return WholeLookBets(settings.tolerance)
        families: list[Family] = []
        if like.ranks is not None:
            table = self._in_bins(like).ranks
            assert table is not None
            families.append(
                OptionBets(table.n_bins, settings.tolerance, size)
                if isinstance(table, OptionTables)
                else RankBets(table.n_cells, table.n_bins, settings.tolerance, size)
            )
        if like.by_class is not None:
            families.append(EventBets(like.by_class.spec, settings.tolerance, size))
        if len(families) == 1:
            return families[0]
        return MixedBets(tuple(families), (1 - OF_CLASSES, OF_CLASSES))

    def bet(self, group: str | None, j: int) -> Bet:
        """What a bet of a group is on."""
        return self._family_of(group).bets[j]

    def _family_of(self, group: str | None) -> Family:
        return self._families[group if group in self._families else None]

    # Evidence

    def add(self, entry: Entry, look: int) -> None:
        """Count a look whose bets are computed; a group counts from its first look with rows."""
        for name, log_bets in entry.log_bets.items():
            if name not in self.by_group:
                weights = self._log_weights[name if name in self._log_weights else None]
                self.by_group[name] = Evidence(weights, self._settings.average_run is not None)
                self.counted[name] = []
            self.by_group[name].add(log_bets)
            self.counted[name].append(look)
        if not self.by_group:
            return
        values = np.array([evidence.log_e_value for evidence in self.by_group.values()])
        self._log_mean = float(log_sum(values) - math.log(len(values)))
        self._peak = max(self._peak, self._log_mean)
        if self.alarm is None and (names := self.flagged_names):
            leading = max(names, key=lambda name: self.by_group[name].log_e_value)
            self.alarm = AlarmPlace(look, leading, len(self.counted[leading]))

    def by_bin(self, group: str | None) -> FloatArray:
        """ln Σ_j v_j·e_j over the bets on each bin alone, with weights that add up to 1, (looks, bins)."""
        evidence = self.by_group.get(group)
        if evidence is None:
            return np.zeros((0, 0))
        bins = np.array([-1 if bet.bin is None else bet.bin for bet in self._family_of(group).bets])
        log_bets, found = np.stack(evidence.log_bets), []
        for k in range(int(bins.max()) + 1):
            weights = evidence.log_weights[bins == k]
            found.append(log_sum(log_bets[:, bins == k] + weights - log_sum(weights)))
        return np.stack(found, axis=1) if found else np.zeros((len(log_bets), 0))

    @property
    def log_e_value(self) -> float:
        """ln E as of now; of groups, of the mean of their E."""
        return self._log_mean

    @property
    def p_value(self) -> float:
        """The p-value as of now."""
        return self.p_value_of(self._peak)

    def p_value_of(self, log_peak: float) -> float:
        """min(1, 1/max E); with a reference, more by the level of its bounds. NaN with `average_run`."""
        if self._settings.average_run is not None:
            return math.nan
        return min(1.0, math.exp(-max(log_peak, 0.0)) + self._settings.reference_level)

    @property
    def log_limit_of_group(self) -> float:
        """ln E of a group from which nothing is flagged wrongly in any group, at level α."""
        return self._settings.log_limit + math.log(max(1, len(self.by_group)))

    @property
    def flagged_names(self) -> list[str | None]:
        """The groups that alarm as of now: by e-BH, or by the average run; None stands for the only stream."""
        names = list(self.by_group)
        values = [self.by_group[name].log_e_value for name in names]
        if self._settings.average_run is not None:
            return [
                name for name, value in zip(names, values, strict=True) if value >= self.log_limit_of_group
            ]
        return [names[g] for g in flagged(values, self._settings.level)]

    @property
    def flagged(self) -> Sequence[str]:
        """The names of the groups that alarm as of now."""
        return [str(name) for name in self.flagged_names if name is not None]
