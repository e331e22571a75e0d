"""For scikit-learn: scorers, an assessment out of fold, recalibration judged and recalibration by variation.

>>> from sklearn.datasets import load_iris
>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.model_selection import cross_val_score
>>> X, y = load_iris(return_X_y=True)
>>> print(round(cross_val_score(LogisticRegression(max_iter=1000), X, y, scoring=vce_scorer, cv=3).mean(), 1))
-0.2

Predictions are those of `predict_proba`, their columns in the order of the model's `classes_`, which may be numbers or
names.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from trueness._border import require_choice
from trueness.assessment import Assessment, Comparison, assess, compare
from trueness.binning import Bins
from trueness.metrics import (
    expected_calibration_error,
    ranked_calibration_error,
    variation_calibration_error,
)
from trueness.plots import GapDisplay, RankDisplay, ReliabilityDisplay
from trueness.recalibration import DEFAULT_BINS, tempered, variation_temperature
from trueness.table import CalibrationTable
from trueness.tabulation import tabulate
from trueness.variation import Variation

__all__ = [
    "CalibrationDisplay",
    "CalibrationGapDisplay",
    "CalibrationRankDisplay",
    "CalibrationScorer",
    "VariationTemperature",
    "assess_estimator",
    "compare_recalibrations",
    "ece_scorer",
    "rce_scorer",
    "vce_scorer",
]

NUMBERS = ("vce", "ece", "rce")
METHODS = ("sigmoid", "isotonic", "temperature", "variation")
AS_IT_IS = "as it is"


@dataclass(frozen=True)
class CalibrationScorer:
    """A scorer: minus a calibration error, so that greater is better, as scikit-learn wants it.

    Parameters
    ----------
    number : "vce", "ece" or "rce"
        The calibration error.
    variation, bins, ties, normalize
        As in `trueness.tabulate`; ECE is by confidence, whatever the variation.
    norm, distance
        As in the readers of a table; `distance` for RCE.

    Examples
    --------
    >>> from trueness import EqualMass
    >>> CalibrationScorer("ece", bins=EqualMass(15)).bins
    EqualMass(n_bins=15)
    """

    number: str = "vce"
    variation: str | Variation = "entropy"
    bins: int | Bins = 10
    ties: str = "first"
    normalize: bool = False
    norm: str = "l1"
    distance: str = "tv"
    sample_weight: bool | str | None = None
    """What `set_score_request` said of it."""

    def __post_init__(self) -> None:
        require_choice("number", self.number, NUMBERS)

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Minus the error of a fitted model's predictions for X."""
        table = tabulate(
            y,
            _probabilities(estimator, X),
            variation="confidence" if self.number == "ece" else self.variation,
            bins=self.bins,
            ties=self.ties,
            sample_weight=sample_weight,
            normalize=self.normalize,
            classes=estimator.classes_,
        )
        return -self._error(table)

    def _error(self, table: CalibrationTable) -> float:
        if self.number == "ece":
            return expected_calibration_error(table, norm=self.norm)
        if self.number == "rce":
            return ranked_calibration_error(table, self.distance, norm=self.norm)
        return variation_calibration_error(table, norm=self.norm)

    def set_score_request(self, *, sample_weight: bool | str | None) -> CalibrationScorer:
        """A scorer like this one that asks for `sample_weight` (metadata routing); this one stays as it is."""
        return replace(self, sample_weight=sample_weight)

    def get_metadata_routing(self) -> MetadataRequest:
        """What scikit-learn's metadata routing asks a scorer."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self.sample_weight)
        return request


vce_scorer = CalibrationScorer("vce")
"""Minus the variation calibration error by entropy in ten bins; `CalibrationScorer` for other choices."""
ece_scorer = CalibrationScorer("ece")
"""Minus the expected calibration error in ten bins over [1/C, 1]."""
rce_scorer = CalibrationScorer("rce")
"""Minus the ranked calibration error by total variation in ten bins of entropy."""


def assess_estimator(
    model: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> Assessment:
    """`trueness.assess` for a model: with its predictions for X, or out of fold.

    Parameters
    ----------
    model : classifier
        With `predict_proba`; a pipeline or a search is as good.
    cv : int, splitter or None
        None: the model is fitted, and has not seen X. Else each row is predicted by a copy that was fitted without it
        (`cross_val_predict`), and the assessment is of the way in which the model is made.
    params : mapping
        For fitting and splitting, as `cross_val_predict` takes them.
    options
        Of `assess`, such as `bins`, `groups`, `sample_weight` (which weighs the assessment, not the fit) and `rng`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> result = assess_estimator(LogisticRegression(max_iter=1000), X, y, cv=5, rng=0)
    >>> result.table.n_rows
    150
    """
    if cv is None:
        if params is not None:
            raise ValueError("params are for fitting, and with cv=None nothing is fitted")
        return assess(y, _probabilities(model, X), classes=model.classes_, **options)
    return assess(
        y, _out_of_fold(model, X, y, cv, params, n_jobs=n_jobs), classes=np.unique(np.asarray(y)), **options
    )


class _FromEstimator:
    """What a Display of `trueness.plots` lacks for scikit-learn."""

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        cv: Any = None,
        params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        **options: Any,
    ) -> Self:
        """Draw a model's predictions for X, or those out of fold; `cv` and `params` as in `assess_estimator`.

        `options` are those of `from_predictions`, such as `bins` and `ax`.
        """
        predicted, classes = _predicted(model, X, y, cv, params, n_jobs=n_jobs)
        drawn: Self = cls.from_predictions(y, predicted, classes=classes, **options)  # type: ignore[attr-defined]
        return drawn


class CalibrationDisplay(_FromEstimator, ReliabilityDisplay):
    """The reliability diagram: predicted against observed, with the band in which a calibrated model would be.

    `metric` is "vce", "ece" or "uce". Like scikit-learn's `CalibrationDisplay`, of all classes at once.
    """


class CalibrationGapDisplay(_FromEstimator, GapDisplay):
    """The signed gap of each bin: above 0 over-confident."""


class CalibrationRankDisplay(_FromEstimator, RankDisplay):
    """Which ranks came true beside those predicted, in one bin or in all."""


def compare_recalibrations(
    model: Any,
    X: Any,
    y: Any,
    *,
    methods: Sequence[str] = METHODS,
    cv: Any = 5,
    prefit: bool = False,
    params: Mapping[str, Any] | None = None,
    n_jobs: int | None = None,
    **options: Any,
) -> Comparison:
    """A model as it is beside the same model recalibrated, out of fold on the same rows, by `trueness.compare`.

    Parameters
    ----------
    methods : names
        "sigmoid", "isotonic" and "temperature" are scikit-learn's `CalibratedClassifierCV`, "variation" is
        `VariationTemperature`.
    cv : int or splitter
        Each row is judged by a model that was fitted and recalibrated without it.
    prefit : bool
        Whether the model is fitted already and has not seen X; then only the recalibration is fitted.
    params, n_jobs
        As in `assess_estimator`.
    options
        Of `compare`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> result = compare_recalibrations(GaussianNB(), X, y, methods=["temperature"], rng=0)
    >>> print(result.verdict)
    temperature is better calibrated than as it is: VCE as it is - temperature = ...
    """
    for method in methods:
        require_choice("methods", method, METHODS)
    base = FrozenEstimator(model) if prefit else model
    models = {AS_IT_IS: base} | {method: _recalibrated(base, method) for method in methods}
    predictions = {
        name: _out_of_fold(candidate, X, y, cv, params, n_jobs=n_jobs) for name, candidate in models.items()
    }
    return compare(y, predictions, classes=np.unique(np.asarray(y)), **options)


def _recalibrated(model: Any, method: str) -> Any:
    if method == "variation":
        return VariationTemperature(model)
    return CalibratedClassifierCV(model, method=method, ensemble=False)


class VariationTemperature(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are put through one temperature, found by variation.

    The temperature is that at which outcomes vary as much as predicted, all bins taken together
    (`trueness.recalibration`); it is found on predictions out of fold, and the model is then fitted to all rows. One
    number leaves the order of the classes, and so the accuracy, as they are.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba`. A fitted one in `sklearn.frozen.FrozenEstimator` is not fitted again, and X should be rows
        that it has not seen. By default a logistic regression.
    variation, bins
        As in `trueness.tabulate`; by default ten bins of equal mass.
    cv : int or splitter
        For the predictions out of fold.

    Attributes
    ----------
    temperature_ : float
        Above 1 if the model was over-confident.
    temperature_error_ : float
        Its standard error.
    estimator_ : classifier
        The fitted model.
    classes_ : array

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> VariationTemperature(GaussianNB()).fit(X, y).temperature_ > 5
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        variation: str | Variation = "entropy",
        bins: int | Bins | None = None,
        cv: Any = 5,
    ) -> None:
        self.estimator = estimator
        self.variation = variation
        self.bins = bins
        self.cv = cv

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the temperature, then fit the model; weights are for both, if the model takes any."""
        if y is None:
            raise ValueError("VariationTemperature requires y to be passed, but the target y is None")
        model, y = self._model(), column_or_1d(y, warn=True)
        weighs = sample_weight is not None and has_fit_parameter(model, "sample_weight")
        weights = {"sample_weight": sample_weight} if weighs else {}
        found = variation_temperature(
            y,
            _out_of_fold(model, X, y, self.cv, weights or None),
            variation=self.variation,
            bins=DEFAULT_BINS if self.bins is None else self.bins,
            sample_weight=sample_weight,
            classes=np.unique(y),
        )
        if math.isinf(found.standard_error):
            warnings.warn(
                f"no temperature makes predictions as varied as their outcomes; the nearest, {found.value:g}, is taken",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.temperature_, self.temperature_error_ = found.value, found.standard_error
        self.estimator_ = clone(model).fit(X, y, **weights)
        self.classes_ = self.estimator_.classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _model(self) -> Any:
        return LogisticRegression() if self.estimator is None else self.estimator

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(self._model()).input_tags.sparse
        return tags

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The model's probabilities at the temperature, (rows, classes)."""
        check_is_fitted(self)
        return tempered(_probabilities(self.estimator_, X), self.temperature_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _probabilities(model: Any, X: Any) -> NDArray[Any]:
    """In the dtype the model gives them, which says how exact they are."""
    if not hasattr(model, "predict_proba"):
        raise TypeError(
            f"{type(model).__name__} has no predict_proba, and scores are no probabilities: wrap it in "
            "sklearn.calibration.CalibratedClassifierCV"
        )
    return np.asarray(model.predict_proba(X))


def _predicted(
    model: Any, X: Any, y: Any, cv: Any, params: Mapping[str, Any] | None, *, n_jobs: int | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Predictions as the model is, or out of fold if there is a `cv`, and the classes of their columns."""
    if cv is not None:
        return _out_of_fold(model, X, y, cv, params, n_jobs=n_jobs), np.unique(np.asarray(y))
    if params is not None:
        raise ValueError("params are for fitting, and with cv=None nothing is fitted")
    return _probabilities(model, X), model.classes_


def _out_of_fold(
    model: Any, X: Any, y: Any, cv: Any, params: Mapping[str, Any] | None = None, *, n_jobs: int | None = None
) -> NDArray[Any]:
    given = None if params is None else dict(params)
    return np.asarray(
        cross_val_predict(model, X, y, cv=cv, method="predict_proba", params=given, n_jobs=n_jobs)
    )
