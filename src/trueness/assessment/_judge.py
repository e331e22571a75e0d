"""From tables (and replicates, if rows come in clusters) to the answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from trueness._border import whole_number
from trueness._progress import Progress
from trueness._random import Seed, root_seed
from trueness.assessment._answer import Assessment, GroupAssessment
from trueness.assessment._cautions import cautions
from trueness.inference._corrections import benjamini_hochberg
from trueness.inference._estimates import (
    Evidence,
    log_score_test,
    net_gap,
    ranked_error,
    uncertainty_reference,
    variation_error,
)
from trueness.inference._folded import normal_quantile
from trueness.inference._poisson import identity
from trueness.inference._replicates import Replicates
from trueness.table import CalibrationTable

POWER = 0.8
"""A net gap that is seen so often is called detectable."""

LEAST_CLUSTERS = 5

_BY_VARIATION, _BY_CONFIDENCE = range(2)


@dataclass(frozen=True, slots=True)
class Settings:
    """What an assessment is made with."""

    level: float
    resamples: int
    seed: int

    @classmethod
    def of(cls, level: Any, resamples: Any, rng: Seed) -> Settings:
        """Checked."""
        if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0.5 <= level < 1:
            raise ValueError(f"level must be a number from 0.5 to below 1, such as 0.95, got {level!r}")
        # The verdict takes the smaller of two p-values, twice: it must be able to reach 1 - level.
        needed = math.ceil(2 / (1 - level) * (1 - 1e-9)) - 1
        resamples = whole_number("resamples", resamples, 1, 10**7)
        if resamples < needed:
            raise ValueError(
                f"level={level} needs corrected p-values of {1 - level:.3g} and less, but resamples={resamples} cannot "
                f"give any below {2 / (resamples + 1):.3g}: raise resamples to {needed} or more"
            )
        return cls(float(level), resamples, root_seed(rng))


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
    """Everything that is said of one set of rows."""
    table, by_confidence, level = material.table, material.confidence_table, settings.level
    evidence = _evidence(material, settings, _BY_VARIATION)
    vce = variation_error(evidence, level, [settings.seed, 3])
    if by_confidence is None:
        ece = None
    elif by_confidence is table:
        ece = vce
    else:
        ece = variation_error(_evidence(material, settings, _BY_CONFIDENCE), level, [settings.seed, 4])
    by_entropy = table.spec.variation.name == "entropy"
    return Assessment(
        vce=vce,
        net=net_gap(evidence, level),
        ece=ece,
        uce=uncertainty_reference(evidence, table) if by_entropy else None,
        rce=ranked_error(evidence, "tv", level),
        rce_w1=ranked_error(evidence, "w1", level),
        log_score_z=log_score_test(table, evidence),
        detectable_net_gap=_detectable(level, evidence.null_net_sd, certain=_certain(table)),
        table=table,
        confidence_table=by_confidence,
        level=level,
        resamples=settings.resamples,
        seed=settings.seed,
        n_clusters=material.n_clusters,
        warnings=cautions(table, vce, material.n_clusters),
    )


def _certain(table: CalibrationTable) -> bool:
    """Whether every row was predicted with probability 1."""
    return bool((table.mean_ordered[table.row_count > 0, 0] >= 1).all())


def _detectable(level: float, sd: float, certain: bool) -> float:
    """A gap whose p-value, doubled as in the verdict, is at most 1 - level with the power that is promised.

    Outcomes of certain predictions do not vary, and the first other one is seen. If those of uncertain ones do not vary
    either, there are too few: one row in a bin has an entropy of 0 whatever comes true.
    """
    if sd == 0 and not certain:
        return math.inf
    return (normal_quantile((1 + level) / 2) + normal_quantile(2 * POWER - 1)) * sd


def _evidence(material: Material, settings: Settings, which: int) -> Evidence:
    table = material.confidence_table if which == _BY_CONFIDENCE else material.table
    assert table is not None
    seed = [settings.seed, which]
    clusters = material.clusters
    if clusters is None:
        return Evidence.of(table, settings.resamples, seed)
    if len(clusters.identities) < LEAST_CLUSTERS:
        raise ValueError(
            f"clusters names {len(clusters.identities)}; fewer than {LEAST_CLUSTERS} do not tell how much they differ"
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
    """The assessment of all rows with one for each group beside it."""
    judged: list[GroupAssessment] = []
    for number, (name, material) in enumerate(groups.items(), start=1):
        if progress is not None:
            progress(number / len(groups))
        n_rows = material.table.n_rows
        reason = too_small(material, min_group_size)
        if reason is not None:
            judged.append(GroupAssessment(name, n_rows, None, math.nan, math.nan, reason))
            continue
        seed = root_seed_of_group(settings.seed, name)
        answer = judge(material, replace(settings, seed=seed))
        judged.append(GroupAssessment(name, n_rows, answer, answer.p_value, math.nan))
    assessed = [group for group in judged if group.assessment is not None]
    adjusted = iter(benjamini_hochberg([group.p_value for group in assessed]))
    return replace(
        whole,
        groups=tuple(
            group if group.assessment is None else replace(group, adjusted_p_value=next(adjusted))
            for group in judged
        ),
    )


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
