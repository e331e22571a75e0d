"""One check of rows: its codes, their three uses, and the engines' own checks against it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn
from trueness.refusals import Refusal
from trueness.rows import RowCode, Rows, count_codes, refusal_of_row, row_codes, sum_tolerance
from trueness.tabulation import RunningSums, tabulate_rows

NAN, INF = np.nan, np.inf
ENGINES = ["portable", "compiled"]
NASTY = [NAN, -NAN, INF, -INF, -1e-300, -1e-12, -0.5, np.nextafter(1, 2), 1.5, 100.0, 1e308, 0.0, 5e-324, 1.0]


def spec_for(n_classes: int) -> tn.TableSpec:
    return tn.TableSpec(n_classes, tn.variations["entropy"], tn.EqualWidth(10).resolve(0.0, 1.0))


def nasty_rows(seed: int, n_classes: int, n_rows: int = 60) -> tuple[Any, Any, Any]:
    """Labels, predictions and weights, of which about half are bad in some way, several of them in several ways."""
    rng = np.random.default_rng(seed)
    y_true, y_prob = tn.simulate.calibrated(n_rows, [0.5] * n_classes, rng=rng)
    labels, weight = y_true.astype(np.float64), rng.uniform(0, 2, n_rows)
    for row in np.flatnonzero(rng.random(n_rows) < 0.3):
        y_prob[row, rng.integers(n_classes, size=rng.integers(1, 3))] = rng.choice(NASTY)
    off = np.flatnonzero(rng.random(n_rows) < 0.2)
    tolerance = sum_tolerance(n_classes, np.finfo(float).eps)
    y_prob[off] *= 1 + rng.choice([-2, -1.001, -0.999, 0.999, 1.001, 2], (len(off), 1)) * tolerance
    for row in np.flatnonzero(rng.random(n_rows) < 0.15):
        labels[row] = rng.choice([-1, n_classes, 0.5, NAN, INF, 1e300])
    for row in np.flatnonzero(rng.random(n_rows) < 0.1):
        weight[row] = rng.choice([-1.0, NAN, INF, 1e-200, 1e200])
    return labels, y_prob, weight


def first_refusal(rows: Rows, engine: str) -> Refusal | None:
    try:
        tabulate_rows(rows, [spec_for(rows.n_classes)], engine)
    except Refusal as error:
        return error
    return None


@pytest.mark.parametrize(
    ("row", "options", "code"),
    [
        ([0.3, 0.7], {}, RowCode.GOOD),
        ([0.0, 1.0], {}, RowCode.GOOD),
        ([NAN, 1.0], {}, RowCode.NOT_FINITE),
        ([-INF, 1.5], {}, RowCode.NOT_FINITE),
        ([-1e-300, 1.0], {}, RowCode.OUTSIDE_RANGE),
        ([np.nextafter(1, 2), 0.0], {}, RowCode.OUTSIDE_RANGE),
        ([0.5, 0.4], {}, RowCode.SUM_NOT_1),
        ([0.5, 0.5 + 9e-6], {}, RowCode.GOOD),
        ([0.5, 0.5 + 1.1e-5], {}, RowCode.SUM_NOT_1),
        ([3.0, 1.0], {"normalize": True}, RowCode.GOOD),
        ([NAN, -1.0], {"normalize": True}, RowCode.NOT_FINITE),
        ([3.0, -1.0], {"normalize": True}, RowCode.OUTSIDE_RANGE),
        ([0.0, 0.0], {"normalize": True}, RowCode.CANNOT_BE_NORMALIZED),
        ([1e308, 1e308], {"normalize": True}, RowCode.CANNOT_BE_NORMALIZED),
        ([-INF, 7.0], {"from_logits": True}, RowCode.GOOD),
        ([INF, 7.0], {"from_logits": True}, RowCode.BAD_LOGITS),
        ([NAN, 7.0], {"from_logits": True}, RowCode.BAD_LOGITS),
        ([-INF, -INF], {"from_logits": True}, RowCode.BAD_LOGITS),
    ],
)
def test_the_code_of_a_prediction(row: list[float], options: dict[str, bool], code: RowCode) -> None:
    """Alone and among others; and the refusal of the row carries the same code."""
    y_prob = np.array([[0.4, 0.6], row, [0.2, 0.8]])
    rows = Rows.of_arrays(np.zeros(3), y_prob, **options)
    assert row_codes(rows).tolist() == [0, code, 0]
    assert row_codes(rows.take(slice(1, 2))).tolist() == [code]
    if code != RowCode.GOOD:
        refusal = refusal_of_row(rows, 1)
        assert (refusal.code, refusal.row, refusal.argument) == (code.refusal_code, 1, "y_prob")


def test_several_faults_of_a_row_count_as_the_first() -> None:
    y_prob = np.array([[NAN, 2.0], [0.5, 2.0], [0.5, 0.1], [0.5, 0.5], [0.5, 0.5]])
    rows = Rows.of_arrays(np.array([9, 9, 9, 9, 0]), y_prob, np.full(5, -1.0))
    codes = row_codes(rows)
    assert [RowCode(code).refusal_code for code in codes] == [
        "not-finite",
        "outside-range",
        "sum-not-1",
        "label-out-of-range",
        "bad-weight",
    ]
    assert [refusal_of_row(rows, row).code for row in range(5)] == [
        RowCode(code).refusal_code for code in codes
    ]
    assert count_codes(codes).tolist() == [0, 1, 1, 1, 0, 0, 1, 1]


@pytest.mark.parametrize("row", [0, 2])
@pytest.mark.parametrize(
    ("labels", "classes"),
    [(["a", "b", "c"], ["a", "b"]), ([[1, 0], [0, 1], [1, 1]], None), ([0, 1, 2], None)],
)
def test_labels_of_every_kind_have_codes(labels: list[Any], classes: Any, row: int) -> None:
    rows = Rows.of(labels, np.full((3, 2), 0.5), classes=classes).take(np.array([2, 0, 2])[row:])
    assert row_codes(rows).tolist() == [6, 0, 6][row:]
    assert refusal_of_row(rows, 0).code == "label-out-of-range"


def test_a_file_names_its_own_row() -> None:
    rows = Rows.of_arrays(np.array([0]), np.array([[1.5, 0.5]]))
    refusal = refusal_of_row(rows, 0).with_facts(source="preds.csv", row=18)
    assert str(refusal).startswith("preds.csv, row 18: `y_prob` is 1.5 in class 0; probabilities are")
    assert (refusal.row, refusal.class_index, refusal.value) == (18, 0, 1.5)


@pytest.mark.parametrize("options", [{}, {"from_logits": True}, {"normalize": True}])
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_classes", [2, 5, 17, 40])
def test_engines_refuse_the_first_row_that_has_a_code(n_classes: int, engine: str, options: Any) -> None:
    for seed in range(15):
        labels, y_prob, _ = nasty_rows(seed, n_classes)
        rows = Rows.of_arrays(labels, y_prob, **options)
        bad = np.flatnonzero(row_codes(rows))
        refusal = first_refusal(rows, engine)
        assert refusal is not None
        expected = refusal_of_row(rows, int(bad[0]))
        assert (refusal.code, str(refusal)) == (expected.code, str(expected))
        good = rows.take(np.flatnonzero(row_codes(rows) == RowCode.GOOD))
        assert first_refusal(good, engine) is None
        for row in bad[:10].tolist():
            assert first_refusal(rows.take(slice(row, row + 1)), engine) is not None


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("engine", ENGINES)
def test_running_sums_skip_and_count_what_has_a_code(engine: str, n_threads: int) -> None:
    for seed in range(15):
        labels, y_prob, _ = nasty_rows(seed, 5, 5000)
        rows, spec = Rows.of_arrays(labels, y_prob), spec_for(5)
        running, codes = RunningSums([spec], engine), row_codes(rows)
        skipped = running.add(rows, n_threads)
        assert skipped.tolist() == [0, *count_codes(codes).tolist()[1:]]
        sums = running.take()
        good = rows.take(np.flatnonzero(codes == RowCode.GOOD))
        assert sums is not None
        assert [tn.CalibrationTable(spec, sums[0])] == tabulate_rows(good, [spec], engine)


@given(
    st.lists(st.sampled_from(NASTY) | st.floats(0, 1), min_size=2, max_size=12), st.sampled_from([0, 1, 2])
)
def test_a_row_is_refused_exactly_if_it_has_a_code(row: list[float], how: int) -> None:
    options: Any = [{}, {"from_logits": True}, {"normalize": True}][how]
    rows = Rows.of_arrays(np.array([0]), np.array([row]), **options)
    refusal = first_refusal(rows, "portable")
    assert (refusal is None) == (row_codes(rows)[0] == RowCode.GOOD)
    if refusal is not None:
        assert refusal.code == RowCode(row_codes(rows)[0]).refusal_code
