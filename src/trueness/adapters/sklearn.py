"""For scikit-learn: scorers, assessment by cross-validation, recalibration by variation, and its comparison.

>>> from sklearn.datasets import load_iris
>>> from sklearn.linear_model import LogisticRegression
>>> from sklearn.model_selection import cross_val_score
>>> X, y = load_iris(return_X_y=True)
>>> print(round(cross_val_score(LogisticRegression(max_iter=1000), X, y, scoring=vce_scorer, cv=3).mean(), 1))
-0.2

Predictions come from `predict_proba`. Its columns are in the order of the model's `classes_`, which may be numbers or
names.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
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
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from trueness._arguments import require_choice
from trueness.adapters._scorers import (
    CalibrationScorer,
    cwece_scorer,
    ece_scorer,
    probabilities,
    rce_scorer,
    vce_scorer,
)
from trueness.bins import Bins
from trueness.old_assessment import Assessment, Comparison, assess, compare
from trueness.plots import GapDisplay, RankDisplay, ReliabilityDisplay
from trueness.recalibration import DEFAULT_BINS, scale_by_temperature, variation_temperature
from trueness.refusals import InvalidValueError
from trueness.variation import Variation

__all__ = [
    "CalibrationDisplay",
    "CalibrationGapDisplay",
    "CalibrationRankDisplay",
    "CalibrationScorer",
    "VariationTemperature",
    "assess_estimator",
    "compare_recalibrations",
    "cwece_scorer",
    "ece_scorer",
    "rce_scorer",
    "vce_scorer",
]

METHODS = ("sigmoid", "isotonic", "temperature", "variation")
UNCALIBRATED = "uncalibrated"


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
    """Assess a model by `trueness.assess`, on its predictions for X or on cross-validated predictions.

    Parameters
    ----------
    model : classifier
        With `predict_proba`; it may be a pipeline or a search.
    cv : int, splitter or None
        None: the model is already fitted, on rows other than X. Otherwise each row is predicted by a copy of the model
        that was fitted without this row (`cross_val_predict`), so the procedure of fitting is assessed.
    params : mapping
        Parameters for fitting and splitting, as in `cross_val_predict`.
    options
        Options of `assess`, such as `bins`, `groups`, `sample_weight` (for the assessment, not for fitting) and `rng`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> result = assess_estimator(LogisticRegression(max_iter=1000), X, y, cv=5, rng=0)
    >>> result.table.n_rows
    150
    """
    predicted, classes = _predict(model, X, y, cv, params, n_jobs=n_jobs)
    return assess(y, predicted, classes=classes, **options)


class _FromEstimator:
    """Adds scikit-learn's `from_estimator` to a Display of `trueness.plots`."""

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
        """Plot a model's predictions for X, or cross-validated ones.

        `cv` and `params` are as in `assess_estimator`, `options` those of `from_predictions`, such as `bins` and `ax`.
        """
        predicted, classes = _predict(model, X, y, cv, params, n_jobs=n_jobs)
        drawn: Self = cls.from_predictions(y, predicted, classes=classes, **options)  # type: ignore[attr-defined]
        return drawn


class CalibrationDisplay(_FromEstimator, ReliabilityDisplay):
    """Reliability diagram: observed against predicted, with the band in which a calibrated model is expected.

    `metric` is "vce", "ece" or "uce". Unlike scikit-learn's `CalibrationDisplay`, it covers all classes at once.
    """


class CalibrationGapDisplay(_FromEstimator, GapDisplay):
    """Plot of the signed gap of each bin; gaps above 0 are over-confident."""


class CalibrationRankDisplay(_FromEstimator, RankDisplay):
    """Plot of observed and predicted frequencies of the true class's rank, in one bin or in all."""


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
    """Compare a model with recalibrated versions of it by `trueness.compare`, on cross-validated predictions.

    Parameters
    ----------
    methods : names
        "sigmoid", "isotonic" and "temperature" are scikit-learn's `CalibratedClassifierCV`, "variation" is
        `VariationTemperature`.
    cv : int or splitter
        Each row is predicted by a model that was fitted and recalibrated without this row.
    prefit : bool
        Whether the model is already fitted, on rows other than X; then only the recalibration is fitted.
    params, n_jobs
        As in `assess_estimator`.
    options
        Options of `compare`.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> result = compare_recalibrations(GaussianNB(), X, y, methods=["temperature"], rng=0)
    >>> print(result.verdict)
    temperature is better calibrated than uncalibrated: VCE(uncalibrated) - VCE(temperature) = ...
    """
    for method in methods:
        require_choice("methods", method, METHODS)
    base = FrozenEstimator(model) if prefit else model
    models = {UNCALIBRATED: base} | {method: _recalibrated_model(base, method) for method in methods}
    predictions = {
        name: _out_of_fold(candidate, X, y, cv, params, n_jobs=n_jobs) for name, candidate in models.items()
    }
    return compare(y, predictions, classes=np.unique(np.asarray(y)), **options)


def _recalibrated_model(model: Any, method: str) -> Any:
    if method == "variation":
        return VariationTemperature(model)
    return CalibratedClassifierCV(model, method=method, ensemble=False)


class VariationTemperature(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier with temperature scaling, where the temperature is found by the variation of outcomes.

    At this temperature the predicted variation equals the observed variation, summed over all bins
    (`trueness.recalibration`). It is found on cross-validated predictions, and the model is then fitted to all rows.
    Temperature scaling does not change the order of the classes, and so not the accuracy.

    Parameters
    ----------
    estimator : classifier
        With `predict_proba`; by default a logistic regression. A fitted model in a `FrozenEstimator` is not fitted
        again, and X should then be rows that it was not fitted on.
    variation, bins
        As in `trueness.tabulate`; by default ten bins of equal mass.
    cv : int or splitter
        For the cross-validated predictions.

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
        """Find the temperature, then fit the model; weights are used for both, if the model supports them."""
        if y is None:
            cause = "VariationTemperature requires y to be passed, but the target y is None"
            raise InvalidValueError("missing-argument", cause, argument="y")
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
                "no temperature makes the predicted variation equal to the observed one; the nearest, "
                f"{found.value:g}, is used",
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
        """The model's probabilities after temperature scaling, (rows, classes)."""
        check_is_fitted(self)
        return scale_by_temperature(probabilities(self.estimator_, X), self.temperature_)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        check_is_fitted(self)
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])


def _predict(
    model: Any, X: Any, y: Any, cv: Any, params: Mapping[str, Any] | None, *, n_jobs: int | None
) -> tuple[NDArray[Any], NDArray[Any]]:
    """The model's predictions, cross-validated if `cv` is given, and the classes of their columns."""
    if cv is not None:
        return _out_of_fold(model, X, y, cv, params, n_jobs=n_jobs), np.unique(np.asarray(y))
    if params is not None:
        cause = "params are for fitting, but with cv=None nothing is fitted"
        remedy = "leave out params or pass cv"
        raise InvalidValueError("bad-argument", cause, remedy, argument="params")
    return probabilities(model, X), model.classes_


def _out_of_fold(
    model: Any, X: Any, y: Any, cv: Any, params: Mapping[str, Any] | None = None, *, n_jobs: int | None = None
) -> NDArray[Any]:
    given = None if params is None else dict(params)
    return np.asarray(
        cross_val_predict(model, X, y, cv=cv, method="predict_proba", params=given, n_jobs=n_jobs)
    )
