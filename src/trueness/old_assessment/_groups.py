"""Groups of rows: their assessments, with p-values adjusted for the number of groups."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from trueness._progress import Progress
from trueness.old_assessment._cautions import too_few_resamples
from trueness.old_assessment._estimation import (
    assessment_of,
    estimate_metrics,
    max_resamples,
    needs_more_resamples,
    resamples_for,
)
from trueness.old_assessment._group_result import GroupAssessment, correct_groups
from trueness.old_assessment._result import Assessment
from trueness.old_assessment._sample import Sample
from trueness.old_assessment._settings import Settings, settings_of_group

ByName: TypeAlias = dict[str, GroupAssessment[Assessment]]


def with_groups(
    whole: Assessment,
    samples: Mapping[str, Sample],
    settings: Settings,
    min_group_size: int,
    progress: Progress | None = None,
) -> Assessment:
    """The assessment of all rows with one for each group."""
    groups: ByName = {}
    for number, (name, sample) in enumerate(samples.items(), start=1):
        if progress is not None:
            progress(number / len(samples))
        groups[name] = _group(name, sample, settings, min_group_size)
    groups, needed = _with_enough_resamples(correct_groups(groups), samples, settings)
    if needed:
        count = len(_short_of_resamples(groups, settings))
        caution = too_few_resamples(needed, f" in {count} of {len(groups)} groups")
        whole = replace(whole, warnings=(*whole.warnings, caution))
    return replace(whole, groups=tuple(groups.values()))


def with_options(whole: Assessment, settings: Settings, min_group_size: int) -> Assessment:
    """The assessment with one for each number of options, as for groups; unchanged if rows have none of their own."""
    options = whole.options
    if options is None or len(options) < 2:
        return whole
    samples = {str(c): Sample(whole.tables.with_options(c)) for c in options}
    of_options = with_groups(whole, samples, settings, min_group_size)
    return replace(of_options, groups=(), by_options=of_options.groups)


def _group(name: str, sample: Sample, settings: Settings, min_group_size: int) -> GroupAssessment[Assessment]:
    reason = sample.reason_to_skip(min_group_size)
    if reason is not None:
        return GroupAssessment(name, sample.n_rows, None, math.nan, math.nan, reason)
    result = assessment_of(sample, settings_of_group(settings, name))
    return GroupAssessment(name, sample.n_rows, result, result.p_value, math.nan)


def _short_of_resamples(groups: ByName, settings: Settings) -> list[GroupAssessment[Assessment]]:
    """Groups that are not flagged only because, in one of their tests, no resample is as extreme as the data."""
    return [
        group
        for group in groups.values()
        if group.assessment is not None
        and needs_more_resamples(group.assessment, group.adjusted_p_value, settings)
    ]


def _with_enough_resamples(
    groups: ByName, samples: Mapping[str, Sample], settings: Settings
) -> tuple[ByName, int]:
    """Groups that are short of resamples assessed again, with four times as many each time.

    Also how many resamples would be needed if that cannot be reached, else 0. Clusters cannot be resampled again.
    """
    n_assessed = sum(group.assessment is not None for group in groups.values())
    while short := _short_of_resamples(groups, settings):
        again: ByName = {}
        needed = 0
        for group in short:
            assert group.assessment is not None
            sample = samples[group.name]
            needed = max(needed, resamples_for(settings.p_resolution / n_assessed, group.assessment))
            resamples = min(needed, 4 * group.assessment.resamples, max_resamples(sample))
            if sample.clusters is None and resamples > group.assessment.resamples:
                finer = replace(settings_of_group(settings, group.name), resamples=resamples)
                result = estimate_metrics(sample, finer)
                again[group.name] = replace(group, assessment=result, p_value=result.p_value)
        if not again:
            return groups, needed
        groups = correct_groups(groups | again)
    return groups, 0
