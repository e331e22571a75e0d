"""Assessments and comparisons as rows of named cells, for data frames, CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from trueness.old_assessment.compared import compared_numbers
from trueness.old_assessment.event_numbers import event_numbers
from trueness.old_assessment.reported import REPORTED
from trueness.old_assessment.text import what_is_compared

if TYPE_CHECKING:
    from trueness.old_assessment._comparison_result import Comparison, Pair
    from trueness.old_assessment._event_result import EventAssessment
    from trueness.old_assessment._group_result import GroupAssessment
    from trueness.old_assessment._result import Assessment
    from trueness.old_assessment._seeds import SeedsComparison
    from trueness.old_inference.results import Estimate

_ESTIMATED = {
    "plug_in": "value",
    "noise_floor": "noise_floor",
    "p_value": "p_value",
    "centred_p_value": "centred_p_value",
    "debiased": "debiased",
}
"""The attributes of an estimate by the names of their cells."""


def metric_cells(result: Assessment) -> list[dict[str, Any]]:
    """One row for each metric: plug-in value, noise floor, p-values, debiased value and its interval."""
    return [{"metric": metric.label, **_of_estimate(metric.of(result))} for metric in REPORTED.values()]


def _of_estimate(estimate: Estimate | None) -> dict[str, Any]:
    if estimate is None:
        return dict.fromkeys((*_ESTIMATED, "low", "high"))
    found = {name: getattr(estimate, attribute) for name, attribute in _ESTIMATED.items()}
    return {**found, "low": estimate.interval.low, "high": estimate.interval.high}


def score_cells(result: Assessment) -> dict[str, Any]:
    """Accuracy, Brier score and log-loss."""
    return {
        "accuracy": result.accuracy,
        "brier_score": result.brier_score,
        "log_loss": result.log_loss,
    }


def debiased_cells(result: Assessment | None) -> dict[str, Any]:
    """The debiased value of each metric with its interval, side by side."""
    cells: dict[str, Any] = {}
    for key, metric in REPORTED.items():
        found = _of_estimate(None if result is None else metric.of(result))
        cells |= {key: found["debiased"], f"{key}_low": found["low"], f"{key}_high": found["high"]}
    return cells


def group_cells(result: Assessment) -> list[dict[str, Any]]:
    """One row for each group; those that are too small have a reason instead of numbers."""
    return [_of_group(group) for group in result.groups]


def _of_group(group: GroupAssessment[Assessment]) -> dict[str, Any]:
    return {
        "group": group.name,
        "n_rows": group.n_rows,
        **debiased_cells(group.assessment),
        "p_value": group.p_value,
        "adjusted_p_value": group.adjusted_p_value,
        "flagged": group.flagged,
        "verdict": group.kind,
        "reason": group.reason,
    }


def model_cells(result: Comparison) -> list[dict[str, Any]]:
    """One row for each model, or table of different rows: its debiased metrics with their intervals, and its scores."""
    return [
        {
            what_is_compared(result): name,
            "n_rows": alone.n_rows,
            **debiased_cells(alone),
            **score_cells(alone),
            "p_value": alone.p_value,
        }
        for name, alone in result.assessments.items()
    ]


def difference_cells(result: Comparison | SeedsComparison) -> list[dict[str, Any]]:
    """One row for each pair of models and metric: the difference, its interval and its p-values."""
    return [row for pair in result.pairs for row in _of_pair(pair)]


def _of_pair(pair: Pair) -> Iterator[dict[str, Any]]:
    numbers = compared_numbers()
    for key, contrast in pair.contrasts.items():
        yield {
            "first": pair.first,
            "second": pair.second,
            "metric": numbers[key].label,
            "difference": contrast.difference,
            "low": contrast.interval.low,
            "high": contrast.interval.high,
            "p_value": contrast.p_value,
            "adjusted_p_value": contrast.adjusted_p_value,
        }


def compared_group_cells(result: Comparison) -> list[dict[str, Any]]:
    """One row for each group, pair of models and metric; `group_p_value` is that of the pair, adjusted over groups."""
    rows = []
    for group in result.groups:
        pairs = () if group.comparison is None else group.comparison.pairs
        for pair, p_value in zip(pairs, group.adjusted_p_values, strict=True):
            rows += [
                {"group": group.name, "n_rows": group.n_rows, **row, "group_p_value": p_value}
                for row in _of_pair(pair)
            ]
    return rows


def event_number_cells(event: EventAssessment) -> list[dict[str, Any]]:
    """One row for each number of an event: its value and interval, beside that of a calibrated event."""
    return [
        {
            "metric": it.label.strip(),
            "calibrated": it.calibrated,
            "p_value": it.p_value,
            "value": it.value,
            "low": None if it.interval is None else it.interval.low,
            "high": None if it.interval is None else it.interval.high,
        }
        for it in event_numbers(event)
    ]


def event_group_cells(groups: Sequence[GroupAssessment[EventAssessment]], of: str) -> list[dict[str, Any]]:
    """One row for each group of an event, or for each event of a multi-label model."""
    return [_of_event_group(group, of) for group in groups]


def _of_event_group(group: GroupAssessment[EventAssessment], of: str) -> dict[str, Any]:
    numbers: dict[str, Any] = dict.fromkeys(("expected", "observed", "gap", "gap_low", "gap_high"))
    numbers |= dict.fromkeys(("slope", "ece", "ece_low", "ece_high", "brier_score", "log_loss"))
    if (event := group.assessment) is not None:
        gap, ends, ece = event.in_the_large, event.in_the_large.interval, event.ece
        numbers |= {"expected": gap.expected, "observed": gap.observed, "gap": gap.value}
        numbers |= {} if ends is None else {"gap_low": ends.low, "gap_high": ends.high}
        numbers |= {"slope": event.cox.slope.value, "ece": ece.debiased}
        numbers |= {"ece_low": ece.interval.low, "ece_high": ece.interval.high}
        numbers |= {"brier_score": event.brier_score, "log_loss": event.log_loss}
    return {
        of: group.name,
        "n_rows": group.n_rows,
        **numbers,
        "p_value": group.p_value,
        "adjusted_p_value": group.adjusted_p_value,
        "flagged": group.flagged,
        "verdict": group.kind,
        "reason": group.reason,
    }


def event_bin_cells(event: EventAssessment) -> list[dict[str, Any]]:
    """One row for each bin that holds rows, numbered from 1: mean probability and observed frequency."""
    bins = event.bins
    columns = (bins.count, bins.mean_predicted, bins.mean_observed)
    return [
        {"bin": number, "count": n, "predicted": p, "observed": y, "gap": p - y}
        for number, (n, p, y) in enumerate(zip(*(it.tolist() for it in columns), strict=True), 1)
    ]
