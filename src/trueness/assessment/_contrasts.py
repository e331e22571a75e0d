"""From tables and replicates of several models to the differences between them, with their noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np

from trueness._arrays import FloatArray
from trueness.assessment._answer import Assessment
from trueness.assessment._judge import Clusters, Material, Settings, judge
from trueness.assessment._side_by_side import Comparison, Contrast, GroupComparison, Pair
from trueness.assessment.reported import REPORTED
from trueness.inference.combination import combined_p_value
from trueness.inference.corrections import benjamini_hochberg, holm
from trueness.inference.estimates import Estimate, Interval
from trueness.inference.normal import debiased_total, normal_quantile
from trueness.inference.null import FilledBins, p_value
from trueness.inference.replicates import Replicates
from trueness.table import CalibrationTable

RANKED = ("rce", "rce_w1")
TAIL_LEVELS = (0.9, 0.95, 0.99)
LEAST_TAIL = 1e-6
LEAST_RESAMPLES_OF_TAIL = 99
"""Of fewer replicates the 99 % point says too little about the tail."""

_STREAM = 7

NUMBERS = tuple(metric.key for metric in REPORTED)


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
    assessments, repeats = {}, {}
    for name in part.tables:
        assessments[name] = judge(part.material(name), settings)
        repeats[name] = _repeats(assessments[name], part.replicates[name])
    pairs = []
    for a, b in combinations(assessments, 2):
        noises = {number: _noises(repeats[a][number], repeats[b][number]) for number in repeats[a]}
        noises |= _ranked_noises([(part.tables[name][0], part.replicates[name][0]) for name in (a, b)])
        contrasts = {
            number: _contrast(
                getattr(assessments[a], number),
                getattr(assessments[b], number),
                noises[number],
                "triangle" if number in RANKED else "bootstrap",
                settings,
            )
            for number in NUMBERS
        }
        pairs.append((a, b, contrasts))
    corrected = {number: holm([contrasts[number].p_value for _, _, contrasts in pairs]) for number in NUMBERS}
    together = [_together(contrasts, next(iter(assessments.values()))) for _, _, contrasts in pairs]
    return Comparison(
        assessments=assessments,
        pairs=tuple(
            Pair(
                a,
                b,
                **{n: replace(contrasts[n], adjusted_p_value=corrected[n][k]) for n in NUMBERS},
                p_value=together[k],
                adjusted_p_value=p,
            )
            for k, ((a, b, contrasts), p) in enumerate(zip(pairs, holm(together), strict=True))
        ),
        level=settings.level,
        resamples=settings.resamples,
        seed=settings.seed,
    )


def _together(contrasts: Mapping[str, Contrast], answer: Assessment) -> float:
    """The p-value of all differences of a pair: that the models differ in any metric.

    RCE stands for both of its distances: their noise is bounded, not estimated, and twice the same would weigh twice.
    So would VCE and ECE where rows are binned by confidence.
    """
    repeated = {"rce_w1"} | ({"ece"} if answer.confidence_table is answer.table else set())
    return combined_p_value([contrasts[number].p_value for number in NUMBERS if number not in repeated])


def _repeats(answer: Assessment, replicates: Sequence[Replicates]) -> dict[str, list[FloatArray]]:
    """For each number its values in the replicates, (B,), in one or two ways."""
    assert answer.confidence_table is not None
    assert answer.ece is not None
    net, vce = _variation_repeats(answer.vce, answer.table, replicates[0], answer.seed)
    _, ece = _variation_repeats(answer.ece, answer.confidence_table, replicates[1], answer.seed)
    return {"vce": vce, "net": [net], "ece": ece}


def _variation_repeats(
    estimate: Estimate, table: CalibrationTable, made: Replicates, seed: int
) -> tuple[FloatArray, list[FloatArray]]:
    """Net gap in each replicate; and the absolute one in two ways, between which the truth is.

    Where gaps are lost in noise, the sum of their sizes is as if they had any sign: each replicate is freed of noise as
    the table was. Where they all have the sign of the net gap, the sum errs as the net gap does.
    """
    bins = FilledBins.of(table)
    noise = np.empty((made.size, len(bins.count)))
    for m in range(len(bins.count)):
        ordered, ranks = made.means(bins, m)
        noise[:, m] = bins.sign * (bins.variation.of(ranks) - bins.variation.of(ordered))
    noise -= noise.mean(axis=0)
    share, gaps = made.shares(bins), estimate.debiased_gap[bins.index]
    # Ranks that were not observed have no noise in the replicates.
    sd, seen = estimate.bins.sd[bins.index], noise.std(axis=0)
    for unseen in np.flatnonzero((seen == 0) & (sd > 0)).tolist():
        # The same for all models, so that what they share cancels.
        stream = np.random.default_rng([seed, _STREAM, int(bins.index[unseen])])
        noise[:, unseen] = sd[unseen] * stream.standard_normal(made.size)
    net = ((gaps + noise) * share).sum(axis=1)
    # As wide as the assessment has it.
    noise *= np.maximum(np.divide(sd, seen, out=np.ones_like(sd), where=seen > 0), 1.0)
    one_way = math.copysign(1.0, float(bins.weight @ gaps)) * (noise * share).sum(axis=1)
    return net, [debiased_total(share, gaps + noise, sd), one_way]


def _noises(first: list[FloatArray], second: list[FloatArray]) -> list[FloatArray]:
    """How far a difference is from its mean in each replicate, (B,), in each way."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    return [np.abs(difference - difference.mean()) for difference in differences]


def _ranked_noises(models: Sequence[tuple[CalibrationTable, Replicates]]) -> dict[str, list[FloatArray]]:
    """By how much a difference in RCE can be wrong at most in each replicate, (B,).

    RCE is a norm of the gaps g of all bins and ranks, times the bins' shares, so that noise n moves it by ‖n‖ at most,
    and a difference by ‖n_a‖ + ‖n_b‖; but also, as |‖g_a‖ - ‖g_b‖| ≤ ‖g_a - g_b‖, by 2‖g_a - g_b‖ + ‖n_a - n_b‖ with g
    as observed, which is less where the models hardly differ.
    """
    n_bins, size, n_classes = models[0][0].n_bins, models[0][1].size, models[0][0].n_classes
    apart = dict.fromkeys(RANKED, 0.0)
    alone, between = ({name: np.zeros(size) for name in RANKED} for _ in range(2))
    weighted = [_weighted_gaps(table, made) for table, made in models]
    for m in range(n_bins):
        (gap_a, noise_a), (gap_b, noise_b) = (of_bin(m) for of_bin in weighted)
        for name in RANKED:
            norm = partial(_norm, n_classes=n_classes, cumulated=name == "rce_w1")
            apart[name] += float(norm(gap_a - gap_b))
            alone[name] += norm(noise_a) + norm(noise_b)
            between[name] += norm(noise_a - noise_b)
    return {name: [np.minimum(alone[name], 2 * apart[name] + between[name])] for name in RANKED}


def _weighted_gaps(
    table: CalibrationTable, made: Replicates
) -> Callable[[int], tuple[FloatArray, FloatArray]]:
    """For each bin its share times r̄ - q̄, (C,), and the noise of that in each replicate, (B, C)."""
    bins = FilledBins.of(table)
    place = {int(at): m for m, at in enumerate(bins.index)}
    share = made.shares(bins)

    def of_bin(at: int) -> tuple[FloatArray, FloatArray]:
        if at not in place:
            return np.zeros(bins.n_classes), np.zeros((made.size, bins.n_classes))
        m = place[at]
        gap = bins.observed[m] - bins.predicted[m]
        return bins.weight[m] * gap, share[:, [m]] * made.deviations(bins, m)

    return of_bin


def _norm(gaps: FloatArray, n_classes: int, *, cumulated: bool) -> FloatArray:
    """Total variation, or the Wasserstein distance over ranks divided by C - 1."""
    if cumulated:
        return np.asarray(np.abs(np.cumsum(gaps, axis=-1)[..., :-1]).sum(axis=-1) / (n_classes - 1))
    return np.asarray(np.abs(gaps).sum(axis=-1) / 2)


def _contrast(
    first: Estimate, second: Estimate, noises: Sequence[FloatArray], method: str, settings: Settings
) -> Contrast:
    """A difference with the widest of its noises, each widened by the error of the corrections.

    The replicates share these corrections, so that their error does not show in them.
    """
    difference = first.debiased - second.debiased
    wider = first.bias_error + second.bias_error if difference != 0 else 0.0
    if (
        method == "triangle"
    ):  # a bound for the plug-in values, which debiased ones may leave by what was corrected
        wider += abs(difference - (first.value - second.value))
    noises = [noise + wider for noise in noises]
    reach = max(float(np.quantile(noise, settings.level)) for noise in noises)
    interval = Interval(difference - reach, difference + reach, settings.level, method)
    p = max(tail_p_value(noise, abs(difference)) for noise in noises)
    return Contrast(difference, interval, p, math.nan)


def tail_p_value(noise: FloatArray, size: float) -> float:
    """The share of replicates whose noise is as large; beyond all of them, by a normal tail.

    Without the tail no p-value would be below 1/(B + 1), and a correction for many pairs or groups could not be passed
    whatever the models do. The normal distribution is the narrowest one under which none of the largest noises seen
    (90, 95, 99 %) is larger than expected. It is not trusted below 10⁻⁶.
    """
    counted = p_value(noise, size)
    if counted > (1 + 1e-9) / (len(noise) + 1) or len(noise) < LEAST_RESAMPLES_OF_TAIL:
        return counted
    seen = np.quantile(noise, TAIL_LEVELS)
    sd = max(float(q) / normal_quantile(level) for q, level in zip(seen, TAIL_LEVELS, strict=True))
    if sd <= 0:
        return counted
    return min(counted, max(math.erfc(size / (sd * math.sqrt(2))), LEAST_TAIL))


def adjusted(groups: list[GroupComparison], n_pairs: int) -> list[GroupComparison]:
    """With p-values of each pair corrected across the groups that were compared."""
    compared = [group for group in groups if group.comparison is not None]
    by_pair = [
        benjamini_hochberg(
            [group.comparison.pairs[k].adjusted_p_value for group in compared if group.comparison]
        )
        for k in range(n_pairs)
    ]
    columns = iter(zip(*by_pair, strict=True))
    return [
        group if group.comparison is None else replace(group, adjusted_p_values=next(columns))
        for group in groups
    ]
