"""Scorers for scikit-learn, and the predictions of a fitted model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import MetadataRequest

from trueness._arguments import require_choice
from trueness.bins import Bins
from trueness.old_assessment import REPORTED
from trueness.old_assessment.reported import ReportedMetric
from trueness.old_table import AnyRankTable
from trueness.refusals import InvalidTypeError
from trueness.tabulation import tabulate, tabulate_events
from trueness.variation import Variation


@dataclass(frozen=True)
class CalibrationScorer:
    """A scorer that returns minus a calibration error, since scikit-learn maximises scores.

    Parameters
    ----------
    metric : str
        The calibration error, by its key among the reported metrics: "vce", "ece", "rce", "rce_w1", "cwece",
        "cwece_total", "gap", or "net", of which the absolute value counts.
    variation, bins, ties, normalize
        As in `trueness.tabulate`; ECE is always binned by confidence, and metrics by class by the probability of each
        class: they ignore `variation`.
    norm, distance, weights
        As in `trueness.ranked_calibration_error` and `trueness.classwise_error`; `distance` is for RCE only, `weights`
        for classwise ECE only.

    Examples
    --------
    >>> from trueness import EqualMass
    >>> CalibrationScorer("ece", bins=EqualMass(15)).bins
    EqualMass(n_bins=15)
    """

    metric: str = "vce"
    variation: str | Variation = "entropy"
    bins: int | Bins = 10
    ties: str = "first"
    normalize: bool = False
    norm: str = "l1"
    distance: str = "tv"
    weights: str | None = None
    sample_weight: bool | str | None = None
    """Whether weights are requested by metadata routing; set it with `set_score_request`."""

    def __post_init__(self) -> None:
        require_choice("metric", self.metric, tuple(REPORTED))

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the error of a fitted model's predictions for X."""
        metric = REPORTED[self.metric]
        make = tabulate_events if metric.by_class else self._tabulator(metric)
        table = make(
            y,
            probabilities(estimator, X),
            ties=self.ties,
            sample_weight=sample_weight,
            normalize=self.normalize,
            classes=estimator.classes_,
        )
        return -abs(metric.read(table, **{option: getattr(self, option) for option in metric.read_options}))

    def _tabulator(self, metric: ReportedMetric) -> Callable[..., AnyRankTable]:
        """`tabulate` with the measure that the metric needs, and the bins."""
        variation = "confidence" if metric.by_confidence else self.variation
        return partial(tabulate, variation=variation, bins=self.bins)

    def set_score_request(self, *, sample_weight: bool | str | None) -> CalibrationScorer:
        """A copy of this scorer that requests `sample_weight` by metadata routing."""
        return replace(self, sample_weight=sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """The metadata that this scorer requests, for scikit-learn."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.sample_weight)
        return request


vce_scorer = CalibrationScorer("vce")
"""Minus the variation calibration error by entropy in ten bins; use `CalibrationScorer` for other options."""
ece_scorer = CalibrationScorer("ece")
"""Minus the expected calibration error in ten bins over [1/C, 1]."""
rce_scorer = CalibrationScorer("rce")
"""Minus the ranked calibration error by total variation in ten bins of entropy."""
cwece_scorer = CalibrationScorer("cwece")
"""Minus the classwise expected calibration error in ten bins over [0, 1] of each class."""


def probabilities(model: Any, X: Any) -> NDArray[Any]:
    """The predictions in the model's own dtype, which determines their rounding."""
    if not hasattr(model, "predict_proba"):
        cause = f"{type(model).__name__} has no predict_proba, and scores are not probabilities"
        remedy = "wrap it in sklearn.calibration.CalibratedClassifierCV"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="model")
    return np.asarray(model.predict_proba(X))
