"""From tables (and replicates, if rows come in clusters) to an assessment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from trueness._arguments import whole_number
from trueness._progress import Progress
from trueness._random import Seed, root_seed
from trueness.assessment._answer import Assessment, GroupAssessment
from trueness.assessment._cautions import cautions, too_few_draws
from trueness.assessment.reported import BOUNDING, as_limits
from trueness.inference.bootstrap_weights import identity
from trueness.inference.combination import AGAINST
from trueness.inference.corrections import benjamini_hochberg
from trueness.inference.estimates import (
    Evidence,
    log_score_test,
    net_gap,
    ranked_error,
    uncertainty_reference,
    variation_error,
)
from trueness.inference.normal import normal_quantile
from trueness.inference.replicates import Replicates
from trueness.table import CalibrationTable

POWER = 0.8
"""A net gap that is seen so often is called detectable."""

LEAST_CLUSTERS = 5

MOST_DRAWS = 10**6
"""Tests at the floor of the draws are repeated with at most this many."""

DRAWN_VALUES = 2 * 10**7
"""Draws times bins that are held at a time: six numbers each make a gigabyte."""

_BY_VARIATION, _BY_CONFIDENCE = range(2)


@dataclass(frozen=True, slots=True)
class Settings:
    """What an assessment is made with."""

    level: float
    resamples: int
    seed: int
    tolerance: Mapping[str, float] | None = None
    p_resolution: float = 0.0
    """The smallest p-value that a test must be able to reach after all corrections."""

    @classmethod
    def of(
        cls, level: Any, resamples: Any, rng: Seed, tolerance: Any = None, p_resolution: float | None = None
    ) -> Settings:
        """The settings that arguments ask for, or an error that names the argument."""
        if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0.5 <= level < 1:
            raise ValueError(f"level must be a number from 0.5 to below 1, such as 0.95, got {level!r}")
        finest = 1 - level if p_resolution is None else p_resolution
        if isinstance(finest, bool) or not isinstance(finest, (int, float)) or not 0 < finest < 1:
            raise ValueError(f"p_resolution must be a number between 0 and 1, such as 0.001, got {finest!r}")
        needed = math.ceil(1 / (1 - level) * (1 - 1e-9)) - 1
        resamples = whole_number("resamples", resamples, 1, 10**7)
        if resamples < needed:
            raise ValueError(
                f"level={level} needs p-values of {1 - level:.3g} and less, but resamples={resamples} cannot give any "
                f"below {1 / (resamples + 1):.3g}: raise resamples to {needed} or more"
            )
        limits = None
        if tolerance is not None:
            limits = as_limits("tolerance", tolerance, tuple(metric.key for metric in BOUNDING))
        return cls(float(level), resamples, root_seed(rng), limits, float(finest))


@dataclass(frozen=True, slots=True)
class Clusters:
    """Replicates of the two tables by clusters, and which clusters these are."""

    by_variation: Replicates
    by_confidence: Replicates
    identities: frozenset[int]

    def __add__(self, other: Clusters) -> Clusters:
        return Clusters(
            self.by_variation + other.by_variation,
            self.by_confidence + other.by_confidence,
            self.identities | other.identities,
        )


@dataclass(frozen=True, slots=True)
class Material:
    """The tables of some rows, and their replicates if the rows come in clusters."""

    table: CalibrationTable
    confidence_table: CalibrationTable | None
    clusters: Clusters | None = None

    def __add__(self, other: Material) -> Material:
        table = self.table + other.table
        if self.confidence_table is self.table:
            by_confidence: CalibrationTable | None = table
        elif self.confidence_table is None or other.confidence_table is None:
            by_confidence = None
        else:
            by_confidence = self.confidence_table + other.confidence_table
        clusters = None
        if self.clusters is not None and other.clusters is not None:
            clusters = self.clusters + other.clusters
        return Material(table, by_confidence, clusters)

    @property
    def n_clusters(self) -> int | None:
        """How many clusters there are, if rows come in clusters."""
        return None if self.clusters is None else len(self.clusters.identities)


def judge(material: Material, settings: Settings) -> Assessment:
    """The assessment of one set of rows, with more draws where a test at their floor needs them."""
    answer = judge_once(material, settings)
    if not _is_stuck(answer, answer.p_value, settings):
        return answer
    needed = draws_for(settings.p_resolution, answer)
    draws = min(needed, most_draws(material))
    if material.clusters is None and draws > settings.resamples:
        answer = judge_once(material, replace(settings, resamples=draws))
    if not _is_stuck(answer, answer.p_value, settings):
        return answer
    return replace(answer, warnings=(*answer.warnings, too_few_draws(needed, "")))


def _is_stuck(answer: Assessment, p_value: float, settings: Settings) -> bool:
    """Whether a p-value is not small enough only because no draw reached one of the tests."""
    floor = (1 + 1e-9) / (answer.resamples + 1)
    at_floor = any(0 < finding.p_value <= floor for finding in answer.evidence)
    return at_floor and p_value > settings.p_resolution


def draws_for(p_value: float, answer: Assessment) -> int:
    """How many draws let one finding alone reach a p-value, if all others count against it.

    The Cauchy combination of 1/(R + 1) and of k - 1 times `AGAINST`, solved for R.
    """
    k = len(answer.evidence)
    needed = k / math.tan(math.pi * p_value) - (k - 1) / math.tan(math.pi * AGAINST)
    return math.ceil(math.pi / math.atan(1 / needed))


def most_draws(material: Material) -> int:
    """As many draws as a gigabyte holds."""
    return max(999, min(MOST_DRAWS, DRAWN_VALUES // material.table.n_bins))


def judge_once(material: Material, settings: Settings) -> Assessment:
    """The assessment of one set of rows, with the draws that were asked for."""
    table, by_confidence, level = material.table, material.confidence_table, settings.level
    evidence = _evidence(material, settings, _BY_VARIATION)
    vce = variation_error(evidence, level, [settings.seed, 3])
    if by_confidence is None:
        ece = None
    elif by_confidence is table:
        ece = vce
    else:
        ece = variation_error(_evidence(material, settings, _BY_CONFIDENCE), level, [settings.seed, 4])
    return Assessment(
        vce=vce,
        net=net_gap(evidence, level),
        ece=ece,
        uce=uncertainty_reference(evidence, table) if table.spec.is_by_entropy else None,
        rce=ranked_error(evidence, "tv", level),
        rce_w1=ranked_error(evidence, "w1", level),
        log_score_z=log_score_test(table, evidence),
        detectable_net_gap=_detectable(level, evidence),
        table=table,
        confidence_table=by_confidence,
        level=level,
        resamples=settings.resamples,
        seed=settings.seed,
        n_clusters=material.n_clusters,
        warnings=cautions(table, vce, material.n_clusters),
        tolerance=settings.tolerance,
    )


def _detectable(level: float, evidence: Evidence) -> float:
    """A gap whose p-value, twice over, is at most 1 - level with the power that is stated.

    Of six tests that partly agree a single one needs about half the p-value. Outcomes of certain predictions do not
    vary, and the first other one is seen.
    """
    if evidence.reveals_nothing:
        return math.inf
    return (normal_quantile((1 + level) / 2) + normal_quantile(2 * POWER - 1)) * evidence.null_net_sd


def _evidence(material: Material, settings: Settings, which: int) -> Evidence:
    table = material.confidence_table if which == _BY_CONFIDENCE else material.table
    assert table is not None
    seed = [settings.seed, which]
    clusters = material.clusters
    if clusters is None:
        return Evidence.of(table, settings.resamples, seed)
    if len(clusters.identities) < LEAST_CLUSTERS:
        raise ValueError(
            f"clusters has {len(clusters.identities)} distinct values; at least {LEAST_CLUSTERS} are needed"
        )
    replicates = clusters.by_confidence if which == _BY_CONFIDENCE else clusters.by_variation
    return Evidence.of_clusters(table, replicates, seed)


def with_groups(
    whole: Assessment,
    groups: Mapping[str, Material],
    settings: Settings,
    min_group_size: int,
    progress: Progress | None = None,
) -> Assessment:
    """The assessment of all rows with one for each group."""
    judged: dict[str, GroupAssessment] = {}
    for number, (name, material) in enumerate(groups.items(), start=1):
        if progress is not None:
            progress(number / len(groups))
        n_rows = material.table.n_rows
        reason = too_small(material, min_group_size)
        if reason is not None:
            judged[name] = GroupAssessment(name, n_rows, None, math.nan, math.nan, reason)
            continue
        answer = judge(material, _settings_of_group(settings, name))
        judged[name] = GroupAssessment(name, n_rows, answer, answer.p_value, math.nan)
    judged, needed = _with_enough_draws(_corrected(judged), groups, settings)
    if needed:
        names = [group.name for group in _stuck(judged, settings)]
        caution = too_few_draws(needed, f" in {len(names)} of {len(judged)} groups")
        whole = replace(whole, warnings=(*whole.warnings, caution))
    return replace(whole, groups=tuple(judged.values()))


Judged: TypeAlias = dict[str, GroupAssessment]


def _settings_of_group(settings: Settings, name: str) -> Settings:
    return replace(settings, seed=root_seed_of_group(settings.seed, name))


def _corrected(judged: Judged) -> Judged:
    """With p-values corrected across the groups that were assessed, by Benjamini and Hochberg."""
    assessed = [group for group in judged.values() if group.assessment is not None]
    adjusted = benjamini_hochberg([group.p_value for group in assessed])
    return judged | {
        group.name: replace(group, adjusted_p_value=p) for group, p in zip(assessed, adjusted, strict=True)
    }


def _stuck(judged: Judged, settings: Settings) -> list[GroupAssessment]:
    """Groups that the correction lets pass although no draw reached one of their tests."""
    return [
        group
        for group in judged.values()
        if group.assessment is not None and _is_stuck(group.assessment, group.adjusted_p_value, settings)
    ]


def _with_enough_draws(
    judged: Judged, groups: Mapping[str, Material], settings: Settings
) -> tuple[Judged, int]:
    """Groups that are stuck judged again, four times as many draws at a time, until the correction can be passed.

    Also how many draws would be needed if that cannot be reached, else 0. Clusters cannot be drawn anew.
    """
    n_assessed = sum(group.assessment is not None for group in judged.values())
    while stuck := _stuck(judged, settings):
        again: Judged = {}
        needed = 0
        for group in stuck:
            assert group.assessment is not None
            material = groups[group.name]
            needed = max(needed, draws_for(settings.p_resolution / n_assessed, group.assessment))
            draws = min(needed, 4 * group.assessment.resamples, most_draws(material))
            if material.clusters is None and draws > group.assessment.resamples:
                finer = replace(_settings_of_group(settings, group.name), resamples=draws)
                answer = judge_once(material, finer)
                again[group.name] = replace(group, assessment=answer, p_value=answer.p_value)
        if not again:
            return judged, needed
        judged = _corrected(judged | again)
    return judged, 0


def too_small(material: Material, min_group_size: int) -> str | None:
    """Why a group is not assessed, if so."""
    if material.table.n_rows < min_group_size:
        return f"fewer than {min_group_size} rows"
    if material.n_clusters is not None and material.n_clusters < LEAST_CLUSTERS:
        return f"fewer than {LEAST_CLUSTERS} clusters"
    return None


def root_seed_of_group(seed: int, name: str) -> int:
    """A seed that goes with the group's name, so that it does not matter which other groups there are."""
    return (seed ^ identity(name)) % 2**63
