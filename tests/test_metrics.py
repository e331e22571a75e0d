"""What readers of a table refuse, and how large the numbers they return can be."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import trueness as tn

READERS = {
    reader.__name__: reader
    for reader in (
        tn.variation_calibration_error,
        tn.expected_calibration_error,
        tn.uncertainty_calibration_error,
        tn.ranked_calibration_error,
        tn.top_label_error,
        tn.variation_gap,
        tn.top_label_gap,
        tn.uncertainty_gap,
        tn.ranked_gap,
        tn.signed_parts,
    )
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
@pytest.mark.parametrize("value", [np.ones((3, 3)), None, [1, 2], tn.Accumulator(n_classes=3)], ids=repr)
def test_only_tables_are_read(reader: Callable[[Any], object], value: Any) -> None:
    with pytest.raises(TypeError, match=f"CalibrationTable.*got {type(value).__name__}$"):
        reader(value)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_the_sum_of_no_tables_is_named(reader: Callable[[Any], object]) -> None:
    with pytest.raises(TypeError, match="the sum of no tables is the number 0"):
        reader(sum([]))


def test_signed_parts_of_a_gap_of_ones_own_needs_a_table_too() -> None:
    with pytest.raises(TypeError, match="CalibrationTable"):
        tn.signed_parts(0, lambda _: np.zeros(10))


@pytest.mark.parametrize(
    ("variation", "most"),
    [("entropy", 1.0), ("iqv", 1.0), ("max_probability", 0.5), ("confidence", 1.0), ("margin", 2.0)],
)
def test_the_largest_errors(variation: str, most: float) -> None:
    """Two classes, predicted (1, 0). V of the outcomes is V of (1/2, 1/2) for half of them wrong, of (0, 1) for all.

    A symmetric measure sees the first, and has the predicted value for the second: at most the width of its
    range (max_probability runs from 1/2 to 1). `confidence` and `margin` of (0, 1) are 0 and 2, where the prediction
    has 1 and 0.
    """
    worst = max(tn.vce(labels, [[1.0, 0.0]] * 2, variation=variation) for labels in ([0, 1], [1, 1]))
    assert worst == pytest.approx(most, abs=1e-12)
