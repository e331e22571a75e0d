"""Bad predictions are refused with the row, the class and the value, and what would be accepted."""

import re
from typing import Any

import numpy as np
import pytest
from refused_calls import GOOD, LABELS, refused, with_value

import trueness as tn


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (np.nan, "nan"),
        (np.inf, "inf"),
        (-np.inf, "-inf"),
        (-0.25, r"-0\.25"),
        (1.5, r"1\.5"),
        (-1e-9, "-1e-09"),
    ],
)
@pytest.mark.parametrize("row", [0, 2, 3])
def test_a_value_that_is_not_a_probability(row: int, value: float, shown: str) -> None:
    refused(
        ValueError,
        "y_prob",
        rf"row {row}\b",
        shown,
        "0 to 1|finite",
        y_true=LABELS,
        y_prob=with_value(row, 1, value),
    )


def test_the_class_of_a_bad_value_is_named() -> None:
    refused(ValueError, "row 2", "class 1", y_true=LABELS, y_prob=with_value(2, 1, -0.5))


@pytest.mark.parametrize("total", [0.5, 0.9999, 1.0001, 1.5])
def test_rows_that_do_not_sum_to_one(total: float) -> None:
    y_prob = GOOD.copy()
    y_prob[2] *= total
    shown = re.escape(f"{total:g}")
    refused(
        ValueError,
        "y_prob",
        "row 2",
        shown,
        "from_logits=True",
        "normalize=True",
        y_true=LABELS,
        y_prob=y_prob,
    )


@pytest.mark.parametrize(
    ("dtype", "off", "accepted"),
    [
        ("float64", 0.9e-5, True),
        ("float64", 1.2e-5, False),
        ("float32", 0.9e-5, True),
        ("float32", 1.3e-5, False),
        ("float16", 2.0**-10, True),  # eps of float16, the wider of the two
        ("float16", 2.0**-9, False),
    ],
)
def test_the_tolerance_of_a_row_sum_is_1e_5_or_the_eps_of_the_dtype(
    dtype: str, off: float, accepted: bool
) -> None:
    """And four roundings for each class: see the next test."""
    y_prob = np.array([[0.5, 0.25, 0.25], [0.5 + off, 0.25, 0.25]], dtype)
    if accepted:
        assert tn.tabulate([0, 0], y_prob).n_rows == 2
    else:
        refused(ValueError, "row 1", "normalize=True", y_true=[0, 0], y_prob=y_prob)


@pytest.mark.parametrize("n_classes", [2, 3, 40])
@pytest.mark.parametrize("n", [10_000, 9_001])
def test_a_bad_row_deep_inside_has_its_true_number(n: int, n_classes: int) -> None:
    """Past the internal blocks, and the first of two."""
    rng = np.random.default_rng(0)
    y_prob = rng.dirichlet(np.ones(n_classes), n)
    y_true = rng.integers(0, n_classes, n)
    y_prob[9_000, 1] = np.nan
    y_prob[min(n - 1, 9_500), 0] = np.nan
    with pytest.raises(ValueError, match=r"y_prob.*nan.*row 9000\b"):
        tn.vce(y_true, y_prob)
    y_prob = rng.dirichlet(np.ones(n_classes), n)
    y_prob[9_000] *= 3
    with pytest.raises(ValueError, match=r"row 9000\b"):
        tn.vce(y_true, y_prob)
    y_prob = rng.dirichlet(np.ones(n_classes), n)
    y_true[9_000] = n_classes
    with pytest.raises(ValueError, match=rf"y_true.*{n_classes}.*row 9000\b"):
        tn.vce(y_true, y_prob)


@pytest.mark.parametrize("bins", [10, tn.EqualMass(10), tn.EqualWidth(100)])
def test_bad_rows_are_refused_with_every_kind_of_bins(bins: Any) -> None:
    with pytest.raises(ValueError, match=r"y_prob.*nan.*row 3\b"):
        tn.tabulate(LABELS, with_value(3, 0, np.nan), bins=bins)
    with pytest.raises(ValueError, match=r"y_true.*row 1\b"):
        tn.tabulate([0, 9, 0, 0], GOOD, bins=bins)


class TestPercentages:
    """Values above 1, none above 100, that sum to 100: the remedy is to divide, not to call them logits."""

    @pytest.mark.parametrize("n_classes", [2, 3, 10])
    @pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
    def test_the_remedy(self, n_classes: int, dtype: str) -> None:
        rows = np.zeros((4, n_classes), dtype)
        rows[:, 0], rows[:, 1] = 60, 40
        with pytest.raises(
            ValueError, match=r"row 0, class 0;.*percentages.*divide `y_prob` by 100"
        ) as caught:
            tn.vce(np.zeros(4, int), rows)
        assert "logits" not in str(caught.value)

    def test_rounded_ones(self) -> None:
        refused(
            ValueError, "y_prob", "percentages", "normalize=True", y_true=[0], y_prob=[[33.3, 33.3, 33.3]]
        )

    def test_of_class_1(self) -> None:
        with pytest.raises(
            ValueError, match=r"`y_prob` is 85.0 in row 1;.*divide `y_prob` by 100.*from_logits"
        ):
            tn.vce([0, 1], [0.5, 85.0])

    def test_logits_are_still_suggested(self) -> None:
        for row in ([60.0, -40.0], [60.0, 30.0], [160.0, -60.0]):
            with pytest.raises(ValueError, match="from_logits=True") as caught:
                tn.vce([0], [row])
            assert "100" not in str(caught.value)


class TestLogits:
    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_logits_that_have_no_softmax(self, value: float) -> None:
        logits = np.zeros((4, 3))
        logits[2, 1] = value
        refused(ValueError, "y_prob", "row 2", str(value), y_true=LABELS, y_prob=logits, from_logits=True)

    def test_a_row_that_rules_out_every_class(self) -> None:
        logits = np.zeros((4, 3))
        logits[1] = -np.inf
        refused(ValueError, "y_prob", "row 1", y_true=LABELS, y_prob=logits, from_logits=True)

    def test_the_remedy_for_logits_passed_as_probabilities(self) -> None:
        refused(
            ValueError, "from_logits=True", "row 0", y_true=LABELS, y_prob=np.tile([3.0, -1.0, 0.5], (4, 1))
        )

    def test_not_both(self) -> None:
        with pytest.raises(ValueError, match=r"from_logits.*normalize"):
            tn.vce(LABELS, GOOD, from_logits=True, normalize=True)


class TestNormalize:
    @pytest.mark.parametrize("row", [[0, 0, 0], [-1, 1, 1], [np.nan, 1, 1], [np.inf, 1, 1]])
    def test_rows_that_cannot_be_normalised(self, row: list[float]) -> None:
        y_prob = GOOD.copy()
        y_prob[3] = row
        refused(ValueError, "y_prob", "row 3", y_true=LABELS, y_prob=y_prob, normalize=True)


class TestBinary:
    @pytest.mark.parametrize(("value", "shown"), [(1.25, r"1\.25"), (-0.5, r"-0\.5"), (np.nan, "nan")])
    def test_a_bad_probability_of_class_1(self, value: float, shown: str) -> None:
        """The value as it was given, not that of its complement."""
        with pytest.raises(ValueError, match=rf"y_prob.*{shown}.*row 2\b"):
            tn.vce([0, 1, 1], [0.2, 0.9, value])

    def test_a_label_that_is_neither(self) -> None:
        with pytest.raises(ValueError, match=r"y_true.*2.*row 1\b.*0 to 1"):
            tn.vce([0, 2], [0.5, 0.5])
