"""Stated confidences and grades as columns of values: scales, grades, what is left out, refusals."""

from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.language.stated_confidence import confidence_of, grade_of, stated_rows


@pytest.mark.parametrize("value", [True, 1, 1.0, "TRUE", "1", "Yes", "correct", "CORRECT", " right "])
def test_right(value: Any) -> None:
    assert grade_of(value) is True


@pytest.mark.parametrize("value", [False, 0, 0.0, np.float64(0), "false", "0", "no", "INCORRECT", "Wrong"])
def test_wrong(value: Any) -> None:
    assert grade_of(value) is False


@pytest.mark.parametrize("value", ["NOT_ATTEMPTED", "not attempted", "No answer"])
def test_not_attempted(value: Any) -> None:
    assert grade_of(value) is None


@pytest.mark.parametrize("value", ["PARTIAL", 0.5, 2, "", None, "C"])
def test_anything_else_is_refused_with_its_value(value: Any) -> None:
    with pytest.raises(tn.Refusal, match="is neither right nor wrong"):
        grade_of(value)


def test_the_row_is_named() -> None:
    with pytest.raises(tn.Refusal, match="'PARTIAL' is neither right nor wrong") as error:
        stated_rows([0.5, 0.5], ["yes", "PARTIAL"])
    assert error.value.row == 1


class TestScale:
    def test_percent(self) -> None:
        assert stated_rows([85, 100, "0"], [1, 1, 0], percent=True).stated.tolist() == [0.85, 1.0, 0.0]

    def test_it_is_never_guessed(self) -> None:
        with pytest.raises(tn.Refusal, match=r"85\.0; confidences are from 0 to 1; pass `percent=True`"):
            stated_rows([0.5, 85], [1, 0])

    def test_percent_of_values_from_0_to_1(self) -> None:
        with pytest.raises(tn.Refusal, match="no stated confidence is above 1 %; leave out `percent=True`"):
            stated_rows([0.5, 0.9, 1.0], [1, 0, 1], percent=True)

    @pytest.mark.parametrize(("value", "percent"), [(101, True), (-1, True), (-0.1, False), (1e9, False)])
    def test_outside_values_are_not_clamped(self, value: float, percent: bool) -> None:
        with pytest.raises(tn.Refusal, match="the stated confidence is"):
            confidence_of(value, percent)

    @pytest.mark.parametrize("value", [None, float("nan"), "", "high", True])
    def test_missing_confidence_is_a_bad_row(self, value: Any) -> None:
        with pytest.raises(tn.Refusal, match="a missing confidence is not 100 %"):
            confidence_of(value)


class TestWhatIsLeftOut:
    def test_not_attempted_is_left_out_and_counted(self) -> None:
        found = stated_rows([0.9, 0.8, None], ["yes", "no", "NOT_ATTEMPTED"])
        assert found.event.tolist() == [True, False]
        assert found.rows.tolist() == [0, 1]
        assert found.left_out == {"not attempted": 1}

    def test_or_counts_as_wrong(self) -> None:
        found = stated_rows([0.9, 0.8], ["yes", "NOT_ATTEMPTED"], not_attempted="incorrect")
        assert found.event.tolist() == [True, False]
        assert not found.left_out

    def test_bad_rows_may_be_skipped(self) -> None:
        found = stated_rows([0.9, None, 0.5, 7], ["yes", "no", "maybe", "no"], skip=True)
        assert found.rows.tolist() == [0]
        assert found.left_out == {"missing-confidence": 1, "not-right-or-wrong": 1, "outside-range": 1}

    def test_no_rows(self) -> None:
        with pytest.raises(tn.Refusal, match="no row has a stated confidence"):
            stated_rows([0.5], ["not attempted"])


def test_rows_are_assessed() -> None:
    found = stated_rows([90] * 10 + [50] * 4, ["yes"] * 7 + ["no"] * 3 + ["yes"] * 3 + ["no"], percent=True)
    result = tn.assess_event(found.event, found.stated, what="right")
    assert result.ece.value == pytest.approx((10 * 0.2 + 4 * 0.25) / 14)
