"""The metrics of the experiments, each with its table and its limit by theory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from trueness.old_metrics import (
    expected_calibration_error,
    ranked_calibration_error,
    uncertainty_calibration_error,
    variation_calibration_error,
)
from trueness.old_table import CalibrationTable
from trueness.reproduction.cells import BINNINGS
from trueness.reproduction.scenarios import PAPER_SCENARIOS, Scenario
from trueness.reproduction.theory import (
    BinMoments,
    Limit,
    Limits,
    bin_moments,
    published_limits,
    ranked_limit,
    uncertainty_limit,
    variation_limit,
)
from trueness.variation import variations


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric computed from the table of one variation measure, with its limit on calibrated rows."""

    name: str
    title: str
    measure: str
    read: Callable[[CalibrationTable], float]
    limit: Callable[[BinMoments, Scenario], Limit]


def _variation_metric(
    name: str,
    title: str,
    measure: str,
    read: Callable[[CalibrationTable], float] = variation_calibration_error,
) -> Metric:
    def limit(moments: BinMoments, _: Scenario) -> Limit:
        return variation_limit(moments, variations[measure])

    return Metric(name, title, measure, read, limit)


def _ranked_metric(name: str, title: str, distance: str) -> Metric:
    def limit(moments: BinMoments, _: Scenario) -> Limit:
        return ranked_limit(moments, distance)

    return Metric(name, title, "entropy", partial(ranked_calibration_error, distance=distance), limit)


PAPER_METRICS = (
    _variation_metric("vce", "VCE (entropy)", "entropy"),
    _variation_metric("ece", "ECE", "confidence", expected_calibration_error),
    Metric("uce", "UCE", "entropy", uncertainty_calibration_error, uncertainty_limit),
)
"""The three metrics of the paper's section 3."""

FURTHER_METRICS = (
    _variation_metric("vce_confidence", "VCE (confidence)", "confidence"),
    _variation_metric("vce_wvr", "VCE (WVR)", "wilcox_variation_ratio"),
    _variation_metric("vce_iqv", "VCE (IQV)", "iqv"),
    _ranked_metric("rce_tv", "RCE (TV)", "tv"),
    _ranked_metric("rce_w1", "RCE (W1)", "w1"),
)
"""VCE by the other variation measures of the paper, and RCE."""


def measures_of(metrics: Sequence[Metric]) -> tuple[str, ...]:
    """The variation measures by which rows are binned, each once.

    >>> measures_of(PAPER_METRICS)
    ('entropy', 'confidence')
    """
    return tuple(dict.fromkeys(metric.measure for metric in metrics))


def limits_of(scenario: Scenario, metrics: Sequence[Metric], n_threads: int) -> Limits:
    """The limit of each metric in each binning: published for the paper's scenarios, else computed."""
    known = published_limits(scenario) or {}
    missing = [metric for metric in metrics if ("width", metric.name) not in known]
    moments = bin_moments(scenario, measures_of(missing), n_threads) if missing else {}
    computed = {
        (binning, metric.name): metric.limit(moments[metric.measure, binning], scenario)
        for metric in missing
        for binning in BINNINGS
    }
    if scenario in PAPER_SCENARIOS:  # for which the finite-size error was measured
        computed = {name: replace(limit, curvature=0.0) for name, limit in computed.items()}
    return known | computed
