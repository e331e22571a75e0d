"""Each class: expected, observed, slope."""

from __future__ import annotations

import numpy as np
import pytest
from answered import FLAT, answered, clustered, rows, shifted
from scipy.optimize import minimize

from trueness.answers.assessment import assess
from trueness.answers.class_results import ClassResults


def slope_of(y: np.ndarray, p: np.ndarray) -> float:
    """The slope of greatest likelihood, from the rows."""
    x = np.log(p) - np.log1p(-p)

    def loss(ab: np.ndarray) -> float:
        eta = ab[0] + ab[1] * x
        return float((np.logaddexp(0, eta) - y * eta).sum())

    return float(minimize(loss, [0.0, 1.0]).x[1])


@pytest.mark.parametrize("power", [0.3, 0.6, 1.5, 3.0, 5.0])
def test_slope_is_that_of_the_rows(power: float) -> None:
    given = rows(3000, FLAT, power)
    classes = assess(**given).classes
    assert classes is not None
    for k, it in enumerate(classes):
        y, p = given["y_true"] == k, given["y_prob"][:, k].clip(2.0**-30, 1 - 2.0**-30)
        assert it.slope.low is not None
        assert it.slope.high is not None
        half_error = (it.slope.high - it.slope.low) / 2 / 1.96 / 2
        assert it.slope.value == pytest.approx(slope_of(y, p), abs=max(0.01, half_error))
        assert (it.expected, it.observed) == pytest.approx((p.sum(), y.sum()), abs=1e-4)


def test_wrong_classes_come_by_size() -> None:
    classes = answered("shifted").classes
    assert classes is not None
    assert classes.wrong[0].name == "0"
    assert classes["0"].words == "under-predicted"
    assert classes["2"].words == "over-predicted"
    assert classes[1].name == "1"
    sizes = [it.size for it in classes.wrong]
    assert sizes == sorted(sizes, reverse=True)


def test_two_classes_are_one_event() -> None:
    classes = answered("two classes").classes
    assert classes is not None
    assert [it.name for it in classes] == ["1"]
    assert classes[0].words == "too extreme"


def test_a_class_that_never_came_true_has_a_reason() -> None:
    given = rows(100, [5.0, 5.0, 0.01])
    classes = assess(given["y_true"].clip(0, 1), given["y_prob"]).classes
    assert classes is not None
    assert classes[2].slope.value is None
    assert classes[2].slope.reason == "it was never observed"
    assert "it was never observed" in str(classes.listing().lines())


def test_names() -> None:
    given = shifted()
    names = ["cat", "dog", "e\tl"]
    classes = assess(np.array(names)[given["y_true"]], given["y_prob"], classes=names).classes
    assert classes is not None
    assert [it.name for it in classes] == ["cat", "dog", r"e\tl"]


def test_it_prints_shortly() -> None:
    """Not pages, and not the representation of arrays."""
    assert str(answered("calibrated").classes) == "No error is found in 3 classes."
    p = np.random.default_rng(0).dirichlet([1.0] * 60, 20_000)
    y = np.random.default_rng(1).integers(0, 30, 20_000)
    text = str(assess(y, p).classes)
    assert len(text.splitlines()) <= 22
    assert max(map(len, text.splitlines())) <= 100
    heads = ["class", "expected", "observed", "gap", "slope", "p_value", "finding"]
    assert text.splitlines()[0].split() == heads
    assert "more classes" in text


def test_few_clusters_have_no_p_value() -> None:
    classes = assess(**clustered(7, 60)).classes
    assert classes is not None
    assert {it.p_value for it in classes} == {None}
    assert {it.fault for it in classes} == {""}
    assert {it.slope.low for it in classes} == {None}


def test_options_have_no_classes() -> None:
    assert answered("options").classes is None


def test_plain() -> None:
    classes = answered("shifted").classes
    assert isinstance(classes, ClassResults)
    first = classes.to_dict()[0]
    assert first["name"] == "0"
    slope = first["slope"]
    assert isinstance(slope, dict)
    assert set(slope) == {"value", "noise_floor", "debiased", "low", "high", "reason"}
