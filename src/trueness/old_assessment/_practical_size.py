"""Whether an error is large enough to matter in practice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trueness._printing import plural
from trueness.old_assessment._case import Case
from trueness.old_assessment.reported import REPORTED, ReportedMetric, bounding_metrics

if TYPE_CHECKING:
    from trueness.old_assessment._result import Assessment

SMALL = 0.01
"""Without a tolerance, an error is small if all metrics are at most this, and their intervals at most twice this."""


def practical_size(result: Assessment, case: Case) -> tuple[str | None, str, str | None]:
    """The size in one word, the headline with it, and a remark for the sentence."""
    if result.tolerance is not None:
        return _against_tolerance(result, case, result.tolerance)
    found = case.kind not in ("none", "too-few-rows")
    sizes = [metric.magnitude(e) for metric in bounding_metrics() if (e := metric.of(result)) is not None]
    if found and all(value <= SMALL and high <= 2 * SMALL for _, value, high in sizes):
        return (
            "small",
            f"Slightly {case.headline[0].lower()}{case.headline[1:]}",
            "the error is significant but small",
        )
    return None, case.headline, None


def _against_tolerance(
    result: Assessment, case: Case, tolerance: Mapping[str, float]
) -> tuple[str, str, str]:
    checked = [
        _Checked(metric.label, limit, low, high)
        for metric, limit in _limits(tolerance)
        if (estimate := metric.of(result)) is not None
        for low, _, high in [metric.magnitude(estimate)]
    ]
    beyond = [it for it in checked if it.low > it.limit]
    unknown = [it for it in checked if it.high > it.limit]
    found = case.kind not in ("none", "too-few-rows")
    if beyond and found:
        return (
            "beyond",
            f"{case.headline} beyond the tolerance",
            f"beyond the tolerance {_beside_limits(beyond)}",
        )
    if unknown:
        rows = f"{plural(result.n_rows, 'row')} {'is' if result.n_rows == 1 else 'are'}"
        return (
            "undecided",
            f"{case.headline}; undecided whether the error exceeds the tolerance",
            f"{rows} too few: these intervals include values above the tolerance {_beside_limits(unknown)}",
        )
    return "negligible", "Negligible, within the tolerance", f"within the tolerance {_beside_limits(checked)}"


def _limits(tolerance: Mapping[str, float]) -> list[tuple[ReportedMetric, float]]:
    """The tolerance of each metric that is checked; a metric without one has the largest of the others."""
    others = [metric.key for metric in bounding_metrics() if metric.key not in tolerance]
    return [(REPORTED[key], tolerance.get(key, max(tolerance.values()))) for key in (*tolerance, *others)]


class _Checked(NamedTuple):
    """The interval of the size of an error, and its tolerance."""

    label: str
    limit: float
    low: float
    high: float


def _beside_limits(checked: Sequence[_Checked]) -> str:
    """The tolerance, once if it is the same for all metrics, and the intervals that were compared with it."""
    spans = [f"{it.label} [{it.low:.4f}, {it.high:.4f}]" for it in checked]
    limits = [f"{it.limit:g}" for it in checked]
    if len(set(limits)) == 1:
        return f"{limits[0]}: {', '.join(spans)}"
    return ", ".join(f"{limit}: {span}" for limit, span in zip(limits, spans, strict=True))
