"""Bad labels are refused with the row and the value, and what would be accepted."""

import re
from typing import Any

import numpy as np
import pytest
from refused_calls import ENGINES, GOOD, LABELS, refused

import trueness as tn

BAD_FACTORS = (np.nan, -1.0, 3.0, 0.5)


BAD_LABELS = (99.0, -1.0, 0.5, np.nan)


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        ([0, 1, 3, 1], "3"),
        ([0, 1, -1, 1], "-1"),
        (np.array([0, 1, 200, 1], np.uint8), "200"),
        (np.array([0, 1, 2**63, 1], np.uint64), "9223372036854775808"),
        ([0.0, 1.0, 3.0, 1.0], "3"),
    ],
)
def test_labels_out_of_range(labels: Any, shown: str) -> None:
    refused(ValueError, "y_true", "row 2", shown, "0 to 2", y_true=labels, y_prob=GOOD)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_classes", [2**k + d for k in (7, 8, 15, 16) for d in (-1, 0, 1)])
def test_labels_at_the_ends_of_every_integer_type(n_classes: int, engine: str) -> None:
    """-1 seen as unsigned is 255 (int8) or 65535 (int16), which may be a class, but must be refused as -1."""
    y_prob = np.zeros((4, n_classes), np.float32)
    y_prob[:, 0] = 1.0
    accumulator = tn.Accumulator(n_classes, engine=engine)
    for dtype in map(np.dtype, ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i2", ">u2")):
        ends = np.iinfo(dtype)
        for label in {ends.min, ends.min + 1, -1, 0, 1, n_classes - 1, n_classes, ends.max - 1, ends.max}:
            if not ends.min <= label <= ends.max:
                continue
            y_true = np.array([0, 0, label, 0], dtype)
            if 0 <= label < n_classes:
                table = tn.tabulate(y_true, y_prob, engine=engine)
                assert table.accuracy == (1.0 if label == 0 else 0.75)
                continue
            for function in (lambda *rows: tn.tabulate(*rows, engine=engine), accumulator.update):
                with pytest.raises(
                    ValueError, match=rf"`y_true` is {label} in row 2; .*0 to {n_classes - 1}\b"
                ):
                    function(y_true, y_prob)
    assert accumulator.n_rows == 0


@pytest.mark.parametrize(
    ("bad", "shown"), [(1.5, "1.5"), (np.nan, "nan"), (np.inf, "inf"), (1 + 1e-9, "1.000000001")]
)
def test_labels_that_are_not_whole(bad: float, shown: str) -> None:
    refused(ValueError, "y_true", "row 2", re.escape(shown), y_true=[0.0, 1.0, bad, 1.0], y_prob=GOOD)


def test_labels_of_another_length() -> None:
    for labels in (LABELS[:3], np.append(LABELS, 0), LABELS[:0]):
        refused(ValueError, "y_true", rf"\b{len(labels)}\b", r"\b4\b", y_true=labels, y_prob=GOOD)


@pytest.mark.parametrize("shape", [(4, 2), (2, 2), (1, 4)])
def test_labels_of_another_shape(shape: tuple[int, ...]) -> None:
    refused(ValueError, "y_true", re.escape(str(shape)), y_true=np.zeros(shape, int), y_prob=GOOD)


@pytest.mark.parametrize(
    "y_true", [LABELS.astype(complex), LABELS.astype("datetime64[s]"), LABELS.astype("V8")]
)
def test_labels_of_a_strange_type(y_true: Any) -> None:
    refused(TypeError, "y_true", y_true=y_true, y_prob=GOOD)


def test_string_labels_without_classes() -> None:
    refused(TypeError, "y_true", "classes=", "'cat'", y_true=["cat", "dog", "cow", "dog"], y_prob=GOOD)


class TestOneHotLabels:
    @pytest.mark.parametrize(
        "bad", [[0, 0, 0], [1, 1, 0], [0, 2, 0], [0.5, 0.5, 0], [np.nan, 1, 0], [-1, 1, 1]]
    )
    def test_rows_that_are_not_one_hot(self, bad: list[float]) -> None:
        y_true = np.eye(3)[LABELS]
        y_true[2] = bad
        refused(ValueError, "y_true", "row 2", "one-hot", y_true=y_true, y_prob=GOOD)

    def test_another_number_of_columns(self) -> None:
        refused(ValueError, "y_true", r"\(4, 4\)", r"\(4, 3\)", y_true=np.eye(4), y_prob=GOOD)


class TestClasses:
    NAMES = ("cat", "dog", "cow")

    def test_a_name_that_is_not_one_of_them(self) -> None:
        refused(
            ValueError,
            "y_true",
            "'cowl'",
            "row 2",
            y_true=["cat", "dog", "cowl", "dog"],
            y_prob=GOOD,
            classes=self.NAMES,
        )

    @pytest.mark.parametrize("classes", [("cat", "dog"), ("cat", "dog", "cow", "pig")])
    def test_another_number_of_names(self, classes: tuple[str, ...]) -> None:
        fragments = ("classes", rf"\b{len(classes)}\b", r"\b3\b")
        refused(ValueError, *fragments, y_true=["cat"] * 4, y_prob=GOOD, classes=classes)

    def test_a_name_given_twice(self) -> None:
        refused(
            ValueError, "classes", "'cat'", y_true=["cat"] * 4, y_prob=GOOD, classes=["cat", "dog", "cat"]
        )

    @pytest.mark.parametrize(
        "classes", ["cat", 3, b"cat", {"cat", "dog", "cow"}, frozenset({"cat", "dog", "cow"})]
    )
    def test_classes_that_are_not_a_list(self, classes: Any) -> None:
        refused(TypeError, "classes", y_true=["cat"] * 4, y_prob=GOOD, classes=classes)

    @pytest.mark.parametrize("missing", [None, np.nan])
    def test_a_missing_name(self, missing: Any) -> None:
        labels = np.array(["cat", "dog", missing, "dog"], object)
        refused(ValueError, "y_true", "row 2", y_true=labels, y_prob=GOOD, classes=self.NAMES)

    def test_indices_are_not_names(self) -> None:
        """With classes= labels are names; 0 is not the name of the first class. The remedy tells both ways."""
        name = self.NAMES[LABELS[0]]
        fragments = (
            "y_true",
            "row 0",
            f"class {LABELS[0]} is '{name}'",
            "for class indices leave out `classes`",
        )
        refused(ValueError, *fragments, y_true=LABELS, y_prob=GOOD, classes=self.NAMES)

    def test_a_name_that_is_like_none_is_answered_with_those_there_are(self) -> None:
        labels = ["cat", "dog", "xyz", "dog"]
        refused(
            ValueError, "'xyz'", "available: 'cat', 'dog'", y_true=labels, y_prob=GOOD, classes=self.NAMES
        )
