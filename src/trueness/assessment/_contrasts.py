"""From tables and replicates of several models to the differences between them, with their noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from trueness._sums import FloatArray
from trueness.assessment._answer import Assessment
from trueness.assessment._judge import Clusters, Material, Settings, judge
from trueness.assessment._side_by_side import Comparison, Contrast, GroupComparison, Pair
from trueness.inference._corrections import benjamini_hochberg, holm
from trueness.inference._estimates import Estimate, Interval
from trueness.inference._null import FilledBins, p_value
from trueness.inference._replicates import Replicates
from trueness.table import CalibrationTable

NUMBERS = ("vce", "net", "ece", "rce", "rce_w1")


@dataclass(frozen=True, slots=True)
class Part:
    """Tables and replicates of all models for some rows."""

    tables: dict[str, list[CalibrationTable]]
    replicates: dict[str, list[Replicates]]
    clusters: frozenset[int] | None
    """Which clusters the rows come in, if they do."""

    @property
    def n_rows(self) -> int:
        return next(iter(self.tables.values()))[0].n_rows

    def __add__(self, other: Part) -> Part:
        def added(mine: dict[str, list[Any]], theirs: dict[str, list[Any]]) -> dict[str, list[Any]]:
            return {name: [a + b for a, b in zip(mine[name], theirs[name], strict=True)] for name in mine}

        if (self.clusters is None) != (other.clusters is None):
            raise ValueError("clusters must be given with every batch of rows, or with none")
        clusters = None if self.clusters is None else self.clusters | (other.clusters or frozenset())
        return Part(added(self.tables, other.tables), added(self.replicates, other.replicates), clusters)

    def material(self, name: str) -> Material:
        """What one model is judged by."""
        by_variation, by_confidence = self.replicates[name]
        clusters = None if self.clusters is None else Clusters(by_variation, by_confidence, self.clusters)
        table, confidence_table = self.tables[name]
        if confidence_table.spec == table.spec:  # binned by confidence itself: one table, one answer
            confidence_table = table
        return Material(table, confidence_table, clusters)


def compared(part: Part, settings: Settings) -> Comparison:
    """All pairs of models on some rows."""
    assessments, values, repeats = {}, {}, {}
    for name in part.tables:
        assessments[name] = judge(part.material(name), settings)
        values[name] = {number: float(getattr(assessments[name], number).debiased) for number in NUMBERS}
        repeats[name] = _repeats(assessments[name], part.replicates[name])
    pairs = [
        (
            a,
            b,
            {
                n: _contrast(values[a][n] - values[b][n], repeats[a][n] - repeats[b][n], settings)
                for n in NUMBERS
            },
        )
        for a, b in combinations(assessments, 2)
    ]
    corrected = {number: holm([contrasts[number].p_value for _, _, contrasts in pairs]) for number in NUMBERS}
    return Comparison(
        assessments=assessments,
        pairs=tuple(
            Pair(a, b, **{n: replace(contrasts[n], adjusted_p_value=corrected[n][k]) for n in NUMBERS})
            for k, (a, b, contrasts) in enumerate(pairs)
        ),
        level=settings.level,
        resamples=settings.resamples,
        seed=settings.seed,
    )


def _repeats(answer: Assessment, replicates: Sequence[Replicates]) -> dict[str, FloatArray]:
    """For each number its values in the replicates, as noise around the debiased gaps, (B,)."""
    assert answer.confidence_table is not None
    assert answer.ece is not None
    repeats = {}
    for number, estimate, table, made in (
        ("vce", answer.vce, answer.table, replicates[0]),
        ("ece", answer.ece, answer.confidence_table, replicates[1]),
    ):
        gaps, noise, share = _variation_noise(estimate, table, made)
        repeats[number] = (np.abs(gaps + noise) * share).sum(axis=1)
        if number == "vce":
            repeats["net"] = ((gaps + noise) * share).sum(axis=1)
    repeats |= _ranked_repeats(answer, replicates[0])
    return repeats


def _variation_noise(
    estimate: Estimate, table: CalibrationTable, made: Replicates
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Debiased gaps of the filled bins, (F,), their noise in each replicate and the bins' shares, (B, F)."""
    bins = FilledBins.of(table)
    size = float(bins.weight @ np.abs(estimate.centred_gap[bins.index]))
    gaps = estimate.centred_gap[bins.index] * (estimate.debiased / size if size > 0 else 0.0)
    noise = np.empty((made.size, len(bins.count)))
    for m in range(len(bins.count)):
        ordered, ranks = made.means(bins, m)
        noise[:, m] = bins.sign * (bins.variation.of(ranks) - bins.variation.of(ordered))
    return gaps, noise - noise.mean(axis=0), made.shares(bins)


def _ranked_repeats(answer: Assessment, made: Replicates) -> dict[str, FloatArray]:
    bins = FilledBins.of(answer.table)
    apart, share = bins.observed - bins.predicted, made.shares(bins)
    totals = {name: np.zeros(made.size) for name in ("rce", "rce_w1")}
    for m in range(len(bins.count)):
        noise = made.deviations(bins, m)
        for name, estimate in (("rce", answer.rce), ("rce_w1", answer.rce_w1)):
            shrunk = noise + apart[m] * (estimate.debiased / estimate.value if estimate.value > 0 else 0.0)
            if name == "rce":
                distance = np.abs(shrunk).sum(axis=1) / 2
            else:
                distance = np.abs(np.cumsum(shrunk, axis=1)[:, :-1]).sum(axis=1) / (bins.n_classes - 1)
            totals[name] += share[:, m] * distance
    return totals


def _contrast(difference: float, noise: FloatArray, settings: Settings) -> Contrast:
    """A difference whose noise is that of its replicates around their mean."""
    noise = noise - noise.mean()
    low, high = np.quantile(noise, [(1 - settings.level) / 2, (1 + settings.level) / 2])
    interval = Interval(difference - float(high), difference - float(low), settings.level, "bootstrap")
    return Contrast(difference, interval, p_value(np.abs(noise), abs(difference)), math.nan)


def adjusted(groups: list[GroupComparison], n_pairs: int) -> list[GroupComparison]:
    """With p-values of each pair corrected across the groups that were compared."""
    compared = [group for group in groups if group.comparison is not None]
    by_pair = [
        benjamini_hochberg(
            [group.comparison.pairs[k].vce.adjusted_p_value for group in compared if group.comparison]
        )
        for k in range(n_pairs)
    ]
    columns = iter(zip(*by_pair, strict=True))
    return [
        group if group.comparison is None else replace(group, adjusted_p_values=next(columns))
        for group in groups
    ]
