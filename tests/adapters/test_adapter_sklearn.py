"""The scikit-learn adapter beyond conformance: scorers, folds, routing, names, recalibration."""

from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.recalibration import variation_temperature


def blobs(n_rows: int = 600, names: Any = None) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_classification

    x, y = make_classification(
        n_rows, n_classes=3, n_informative=5, class_sep=0.7, flip_y=0.1, random_state=0
    )
    return x, y if names is None else np.array(names)[y]


def forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(20, random_state=0)


# Scorers


@pytest.mark.parametrize(
    "names", [None, ["cat", "dog", "axolotl"], [10, 30, 20]], ids=["index", "names", "numbers"]
)
def test_scorers_are_minus_the_errors_of_the_core(names: Any) -> None:
    from trueness.adapters.sklearn import cwece_scorer, ece_scorer, rce_scorer, vce_scorer

    x, y = blobs(names=names)
    model = forest().fit(x[:300], y[:300])
    y_prob = model.predict_proba(x[300:])
    index = np.searchsorted(model.classes_, y[300:])
    of_scorers = (
        (vce_scorer, tn.vce),
        (ece_scorer, tn.ece),
        (rce_scorer, tn.rce),
        (cwece_scorer, tn.cwece),
    )
    for scorer, error in of_scorers:
        assert scorer(model, x[300:], y[300:]) == pytest.approx(-error(index, y_prob), abs=1e-12)


def test_options_of_a_scorer() -> None:
    from trueness.adapters.sklearn import CalibrationScorer

    x, y = blobs()
    model = forest().fit(x[:300], y[:300])
    y_prob = model.predict_proba(x[300:])
    for scorer, expected in [
        (
            CalibrationScorer("vce", variation="iqv", ties="split"),
            tn.vce(y[300:], y_prob, variation="iqv", ties="split"),
        ),
        (CalibrationScorer("ece", bins=tn.EqualMass(5)), tn.ece(y[300:], y_prob, bins=tn.EqualMass(5))),
        (
            CalibrationScorer("rce", distance="w1", norm="l2"),
            tn.rce(y[300:], y_prob, distance="w1", norm="l2"),
        ),
        (
            CalibrationScorer("cwece", bins=15, weights="expected", norm="l2"),
            tn.cwece(y[300:], y_prob, bins=15, weights="expected", norm="l2"),
        ),
        (
            CalibrationScorer("cwece_total", bins=tn.EqualMass(4)),
            1.5 * tn.cwece(y[300:], y_prob, bins=tn.EqualMass(4)),
        ),
        (CalibrationScorer("gap"), np.abs(y_prob.mean(0) - np.eye(3)[y[300:]].mean(0)).sum() / 2),
    ]:
        assert scorer(model, x[300:], y[300:]) == pytest.approx(-expected, abs=1e-12)
    with pytest.raises(ValueError, match=r"`metric` must be one of 'vce', 'net', 'ece', 'rce', 'rce_w1'"):
        CalibrationScorer("brier")


def test_weights_are_routed() -> None:
    """Weight 0 leaves a row out: the score of each fold is that of its heavy rows."""
    from sklearn import config_context
    from sklearn.exceptions import UnsetMetadataPassedError
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    from trueness.adapters.sklearn import vce_scorer

    x, y = blobs()
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    folds = StratifiedKFold(3)
    with config_context(enable_metadata_routing=True):
        model = LogisticRegression().set_fit_request(sample_weight=False)
        weighing = vce_scorer.set_score_request(sample_weight=True)
        scores = cross_val_score(model, x, y, cv=folds, scoring=weighing, params={"sample_weight": weight})
        with pytest.raises((UnsetMetadataPassedError, ValueError), match="sample_weight"):
            cross_val_score(model, x, y, cv=folds, scoring=vce_scorer, params={"sample_weight": weight})
    for score, (train, test) in zip(scores, folds.split(x, y), strict=True):
        heavy = test[weight[test] > 0]
        fitted = LogisticRegression().fit(x[train], y[train])
        assert score == pytest.approx(-tn.vce(y[heavy], fitted.predict_proba(x[heavy])), abs=1e-9)


def test_a_model_without_probabilities_is_refused_with_a_remedy() -> None:
    from sklearn.svm import LinearSVC

    from trueness.adapters.sklearn import assess_estimator, vce_scorer

    x, y = blobs()
    model = LinearSVC().fit(x, y)
    for call in (lambda: vce_scorer(model, x, y), lambda: assess_estimator(model, x, y)):
        with pytest.raises(TypeError, match=r"LinearSVC has no predict_proba.*CalibratedClassifierCV"):
            call()


def test_a_class_missing_from_the_model_is_named() -> None:
    from trueness.adapters.sklearn import vce_scorer

    x, y = blobs(names=["a", "b", "c"])
    model = forest().fit(x[y != "c"], y[y != "c"])
    with pytest.raises(ValueError, match=r"`y_true` is 'c' in row .*, which is not one of the classes"):
        vce_scorer(model, x, y)


# Assessments


def test_out_of_fold_against_a_loop() -> None:
    from sklearn.model_selection import KFold

    from trueness.adapters.sklearn import assess_estimator

    x, y = blobs(names=["c", "b", "a"])
    folds = KFold(4, shuffle=True, random_state=1)
    y_prob = np.empty((len(y), 3))
    for train, test in folds.split(x):
        y_prob[test] = forest().fit(x[train], y[train]).predict_proba(x[test])
    expected = tn.assess(y, y_prob, classes=["a", "b", "c"], rng=0, bins=5)
    assert assess_estimator(forest(), x, y, cv=folds, rng=0, bins=5) == expected


def test_a_fitted_model_is_assessed_uncalibrated() -> None:
    from trueness.adapters.sklearn import assess_estimator

    x, y = blobs()
    model = forest().fit(x[:300], y[:300])
    weight = np.linspace(0, 1, 300)
    result = assess_estimator(model, x[300:], y[300:], rng=0, sample_weight=weight)
    assert result == tn.assess(y[300:], model.predict_proba(x[300:]), rng=0, sample_weight=weight)
    with pytest.raises(ValueError, match="with cv=None nothing is fitted"):
        assess_estimator(model, x, y, params={"sample_weight": weight})


def test_weights_for_fitting_go_through_params() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    from trueness.adapters.sklearn import assess_estimator

    x, y = blobs()
    weight = np.random.default_rng(0).uniform(0.1, 3, len(y))
    given = {"params": {"sample_weight": weight}, "cv": 3}
    y_prob = cross_val_predict(LogisticRegression(), x, y, method="predict_proba", **given)
    assert assess_estimator(LogisticRegression(), x, y, rng=0, **given) == tn.assess(y, y_prob, rng=0)


@pytest.mark.parametrize("prefit", [False, True])
def test_recalibrations_against_a_loop(prefit: bool) -> None:
    """Before and after on the same folds; a Gaussian naive Bayes model is over-confident, and all methods help."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator
    from sklearn.model_selection import StratifiedKFold
    from sklearn.naive_bayes import GaussianNB

    from trueness.adapters.sklearn import VariationTemperature, compare_recalibrations

    x, y = blobs(900)
    x = np.hstack(
        [x, x + 0.1 * np.random.default_rng(0).normal(size=x.shape)]
    )  # duplicated features make it over-confident
    model: Any = GaussianNB()
    if prefit:
        model, x, y = model.fit(x[:300], y[:300]), x[300:], y[300:]
    result = compare_recalibrations(model, x, y, cv=3, rng=0, resamples=199, prefit=prefit)
    base = FrozenEstimator(model) if prefit else model
    models = {
        "uncalibrated": base,
        "sigmoid": CalibratedClassifierCV(base, method="sigmoid", ensemble=False),
        "isotonic": CalibratedClassifierCV(base, method="isotonic", ensemble=False),
        "temperature": CalibratedClassifierCV(base, method="temperature", ensemble=False),
        "variation": VariationTemperature(base),
    }
    y_probs = {name: np.empty((len(y), 3)) for name in models}
    for train, test in StratifiedKFold(3).split(x, y):
        for name, candidate in models.items():
            y_probs[name][test] = candidate.fit(x[train], y[train]).predict_proba(x[test])
    expected = tn.compare(y, y_probs, rng=0, resamples=199)
    assert str(result) == str(expected)
    uncalibrated = tn.vce(y, y_probs["uncalibrated"])
    assert all(tn.vce(y, y_probs[name]) < 0.7 * uncalibrated for name in list(models)[1:])
    with pytest.raises(ValueError, match="`methods` must be one of"):
        compare_recalibrations(model, x, y, methods=["platt"])


@pytest.mark.parametrize("out_of_fold", [False, True])
def test_displays_plot_the_predictions(out_of_fold: bool) -> None:
    from matplotlib.figure import Figure
    from sklearn.model_selection import cross_val_predict

    from trueness.adapters import sklearn as adapter

    x, y = blobs(names=["a", "b", "c"])
    model = forest().fit(x[:300], y[:300])
    y_prob = model.predict_proba(x[300:])
    if out_of_fold:
        y_prob = cross_val_predict(forest(), x[300:], y[300:], cv=3, method="predict_proba")
    for name, options in (
        ("CalibrationDisplay", {"metric": "ece"}),
        ("CalibrationDisplay", {}),
        ("CalibrationGapDisplay", {}),
        ("CalibrationRankDisplay", {"bin": 8}),
    ):
        display = getattr(adapter, name)
        ax = Figure().subplots()
        cv = {"cv": 3} if out_of_fold else {}
        drawn = display.from_estimator(model, x[300:], y[300:], rng=0, ax=ax, **cv, **options)
        again = display.from_predictions(
            y[300:], y_prob, classes=["a", "b", "c"], rng=0, ax=Figure().subplots(), **options
        )
        assert isinstance(drawn, display)
        assert drawn.ax_ is ax
        assert ax.get_xlabel()
        assert repr(drawn.data) == repr(again.data)
    with pytest.raises(ValueError, match="with cv=None nothing is fitted"):
        adapter.CalibrationDisplay.from_estimator(model, x, y, params={})


# The temperature


def test_the_estimator_passes_the_checks_of_scikit_learn() -> None:
    """All checks of scikit-learn but one: weights differ from repeated rows, which may be in different folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.utils.estimator_checks import check_estimator

    from trueness.adapters.sklearn import VariationTemperature

    folds = "rows are split into folds, so repeated rows differ from weights"
    expected = dict.fromkeys(
        ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
        folds,
    )
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about the small data in the checks
        made = check_estimator(
            VariationTemperature(LogisticRegression()), expected_failed_checks=expected, on_skip=None
        )
    passed = [check for check in made if check["status"] == "passed"]
    assert len(passed) > 55
    assert {check["check_name"] for check in made if check["status"] == "xfail"} == set(expected)


def test_the_estimator_in_use() -> None:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import GaussianNB

    from trueness.adapters.sklearn import VariationTemperature

    x, y = blobs(900, names=["one", "two", "three"])
    x = np.hstack([x, x])
    model = VariationTemperature(GaussianNB(), cv=4).fit(x[:600], y[:600])
    held_out = cross_val_predict(GaussianNB(), x[:600], y[:600], cv=4, method="predict_proba")
    found = variation_temperature(y[:600], held_out, classes=np.unique(y))
    assert (model.temperature_, model.temperature_error_) == (found.value, found.standard_error)
    assert model.temperature_ > 1 + 4 * model.temperature_error_
    plain = GaussianNB().fit(x[:600], y[:600])
    np.testing.assert_array_equal(model.predict(x[600:]), plain.predict(x[600:]))
    before, after = (tn.vce(y[600:], m.predict_proba(x[600:]), classes=m.classes_) for m in (plain, model))
    assert after < 0.8 * before
    weighted = VariationTemperature(GaussianNB()).fit(x, y, sample_weight=np.arange(len(y)))
    assert weighted.temperature_ != model.temperature_
    with pytest.warns(ConvergenceWarning, match="no temperature makes the predicted variation equal"):
        VariationTemperature().fit(np.repeat([[0.0], [1.0]], 50, axis=0), np.repeat([0, 1], 50))
