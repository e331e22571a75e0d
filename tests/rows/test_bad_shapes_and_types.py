"""Shapes, types and weights that do not fit are refused, and the message says what would be accepted."""

import re
from typing import Any

import numpy as np
import pytest
from refused_calls import GOOD, LABELS, refused, with_value

import trueness as tn


def test_swapped_arguments() -> None:
    refused(ValueError, "y_true", "y_prob", "order", y_true=GOOD, y_prob=LABELS)


def test_swapped_binary_arguments() -> None:
    with pytest.raises(ValueError, match=r"y_true.*(order|whole)"):
        tn.vce([0.2, 0.7, 0.9], [0, 1, 1])


def test_no_rows() -> None:
    for empty in (np.empty((0, 3)), GOOD[:0].astype(np.float32)):
        refused(ValueError, "y_prob", "no rows", y_true=LABELS[:0], y_prob=empty)
    with pytest.raises(ValueError, match=r"y_prob"):
        tn.vce([], [])


def test_no_classes() -> None:
    refused(ValueError, "y_prob", r"\(4, 0\)", y_true=np.zeros(4, int), y_prob=np.ones((4, 0)))


@pytest.mark.parametrize("shape", [(2, 2, 3), (1, 4, 3)])
def test_predictions_of_three_dimensions(shape: tuple[int, ...]) -> None:
    refused(ValueError, "y_prob", re.escape(str(shape)), y_true=LABELS, y_prob=np.full(shape, 1 / 3))


def test_scalars() -> None:
    refused(ValueError, "y_prob", y_true=LABELS, y_prob=np.array(0.5))
    refused(ValueError, "y_true", y_true=np.array(1), y_prob=GOOD)


def test_object_arrays() -> None:
    rows = np.empty(4, object)
    rows[:] = list(GOOD)
    refused(TypeError, "y_prob", "object", "np.stack|float", y_true=LABELS, y_prob=rows)
    refused(TypeError, "y_prob", "object", y_true=LABELS, y_prob=GOOD.astype(object))
    refused(TypeError, "y_true", "object", y_true=LABELS.astype(object), y_prob=GOOD)


def test_ragged_lists() -> None:
    """A row of one option where rows may have options of their own, else lists of different lengths."""
    refused(ValueError, "y_prob", "rectangular|at least 2 options", y_true=[0, 1], y_prob=[[0.5, 0.5], [1.0]])


@pytest.mark.parametrize(
    ("y_prob", "word"),
    [
        (GOOD.astype(complex), "complex"),
        (GOOD.astype(str), "<U|str"),
        (GOOD.astype("S"), r"\|S|bytes"),
        (GOOD.astype("datetime64[s]"), "datetime"),
    ],
)
def test_predictions_that_are_not_numbers(y_prob: Any, word: str) -> None:
    refused(TypeError, "y_prob", word, y_true=LABELS, y_prob=y_prob)


@pytest.mark.parametrize("value", [None, "0.5", b"0.5", {"a": 1}, 3.5, object(), len, {1, 2}])
def test_things_that_are_not_arrays(value: Any) -> None:
    refused((TypeError, ValueError), "y_prob", y_true=LABELS, y_prob=value)
    refused((TypeError, ValueError), "y_true", y_true=value, y_prob=GOOD)


def test_none_says_what_would_be_accepted() -> None:
    refused(TypeError, "y_prob", "None", "array", y_true=LABELS, y_prob=None)
    refused(TypeError, "y_true", "None", "array", y_true=None, y_prob=GOOD)


class TestMaskedArrays:
    def test_a_masked_prediction(self) -> None:
        mask = np.zeros(GOOD.shape, bool)
        mask[2, 1] = True
        refused(ValueError, "y_prob", "masked", "row 2", y_true=LABELS, y_prob=np.ma.array(GOOD, mask=mask))

    def test_a_masked_label(self) -> None:
        masked = np.ma.array(LABELS, mask=[False, True, False, False])
        refused(ValueError, "y_true", "masked", "row 1", y_true=masked, y_prob=GOOD)

    def test_a_masked_weight(self) -> None:
        masked = np.ma.array(np.ones(4), mask=[False, False, False, True])
        refused(
            ValueError, "sample_weight", "masked", "row 3", y_true=LABELS, y_prob=GOOD, sample_weight=masked
        )

    def test_masked_elements_inside_a_list(self) -> None:
        """NumPy turns them into nan, or drops the mask and takes what is behind it."""
        row = np.ma.array([0.5, 0.5], mask=[True, False])
        number = np.ma.array(0.5, mask=True)
        for rows in (
            [[0.5, 0.5], [np.ma.masked, 1.0]],
            [[0.5, 0.5], row],
            [np.array([0.5, 0.5]), row],
            (np.ma.array([0.5, 0.5]), row),
            [[0.5, 0.5], [number, 0.5]],
        ):
            refused(ValueError, "y_prob", "masked", r"row 1\b", y_true=[0, 1], y_prob=rows)
        refused(
            ValueError,
            "y_true",
            "masked",
            r"row 1\b",
            y_true=[0, np.ma.array(1, mask=True)],
            y_prob=[0.5] * 2,
        )
        refused(
            ValueError,
            "sample_weight",
            "masked",
            y_true=[0, 1],
            y_prob=[0.5, 0.5],
            sample_weight=[1.0, np.ma.masked],
        )

    def test_rows_of_masked_arrays_with_nothing_masked(self) -> None:
        assert tn.tabulate(LABELS, list(np.ma.array(GOOD))) == tn.tabulate(LABELS, GOOD)

    def test_nothing_masked_is_an_ordinary_array(self) -> None:
        assert tn.tabulate(LABELS, np.ma.array(GOOD)) == tn.tabulate(LABELS, GOOD)


class TestWeights:
    @pytest.mark.parametrize(
        ("bad", "shown"), [(-1.0, "-1"), (np.nan, "nan"), (np.inf, "inf"), (-1e-300, "-1e-300")]
    )
    def test_bad_values(self, bad: float, shown: str) -> None:
        weight = [1.0, 2.0, bad, 1.0]
        refused(ValueError, "sample_weight", "row 2", shown, y_true=LABELS, y_prob=GOOD, sample_weight=weight)

    def test_all_zero(self) -> None:
        refused(ValueError, "sample_weight", "0|zero", y_true=LABELS, y_prob=GOOD, sample_weight=np.zeros(4))

    @pytest.mark.parametrize("shape", [(3,), (5,), (4, 1), (1,), ()])
    def test_another_shape(self, shape: tuple[int, ...]) -> None:
        weight = np.ones(shape)
        fragments = ("sample_weight", re.escape(str(shape)), r"\b4\b")
        refused(ValueError, *fragments, y_true=LABELS, y_prob=GOOD, sample_weight=weight)

    @pytest.mark.parametrize("weight", [["a", "b", "c", "d"], np.ones(4, complex), np.array([1, 1, 1, None])])
    def test_no_numbers(self, weight: Any) -> None:
        refused((TypeError, ValueError), "sample_weight", y_true=LABELS, y_prob=GOOD, sample_weight=weight)

    def test_a_row_of_weight_zero_is_still_checked(self) -> None:
        """Nothing is dropped silently: a bad row is refused regardless of its weight."""
        weight = [1.0, 0.0, 1.0, 1.0]
        y_prob = with_value(1, 0, np.nan)
        refused(ValueError, "y_prob", "row 1", "nan", y_true=LABELS, y_prob=y_prob, sample_weight=weight)
        labels = [0, 7, 2, 1]
        refused(ValueError, "y_true", "row 1", "7", y_true=labels, y_prob=GOOD, sample_weight=weight)

    def test_an_accumulator_is_weighted_or_not(self) -> None:
        with pytest.raises(ValueError, match="sample_weight"):
            tn.Accumulator(n_classes=3, weighted=True).update(LABELS, GOOD)
        with pytest.raises(ValueError, match=r"weighted"):
            tn.Accumulator(n_classes=3).update(LABELS, GOOD, sample_weight=np.ones(4))
