"""Assessments and comparisons as rows of named cells, for data frames, CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trueness.assessment.compared import compared_numbers
from trueness.assessment.reported import REPORTED

if TYPE_CHECKING:
    from trueness.assessment._comparison_result import Comparison, Pair
    from trueness.assessment._group_result import GroupAssessment
    from trueness.assessment._result import Assessment
    from trueness.assessment._seeds import SeedsComparison
    from trueness.inference.results import Estimate

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
    """One row for each model: its debiased metrics with their intervals, and its scores."""
    return [
        {
            "model": name,
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
