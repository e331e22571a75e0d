"""Bad input is refused with the argument, the first offending row and value, and what would be accepted.

Every function that takes rows stands behind the same border, so each refusal is asked of all of them.
"""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import trueness as tn

GOOD = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.5, 0.25, 0.25]])
LABELS = np.array([0, 1, 2, 1])


def with_value(row: int, column: int, value: float) -> np.ndarray:
    y_prob = GOOD.copy()
    y_prob[row, column] = value
    return y_prob


def accumulate(y_true: Any, y_prob: Any, *, sample_weight: Any = None, **options: Any) -> Any:
    accumulator = tn.Accumulator(n_classes=3, weighted=sample_weight is not None, **options)
    accumulator.update(y_true, y_prob, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    return accumulator.table


ENTRANCES = {
    "tabulate": tn.tabulate,
    "vce": tn.vce,
    "ece": tn.ece,
    "uce": tn.uce,
    "rce": tn.rce,
    "update": accumulate,
}
ENGINES = ["portable", pytest.param("fused", marks=pytest.mark.fast)]
Refused = type[Exception] | tuple[type[Exception], ...]


def refused(kind: Refused, *fragments: str, **call: Any) -> None:
    """Every entrance refuses the call with a message that contains all fragments (regular expressions).

    Values are shown as a person writes them, not as NumPy's repr.
    """
    for name, entrance in ENTRANCES.items():
        with pytest.raises(kind) as caught:
            entrance(
                call["y_true"],
                call["y_prob"],
                **{k: v for k, v in call.items() if k not in {"y_true", "y_prob"}},
            )
        assert "np." not in str(caught.value).replace("np.stack", ""), str(caught.value)
        for fragment in fragments:
            assert re.search(fragment, str(caught.value)), (name, fragment, str(caught.value))


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
def test_a_value_that_is_no_probability(row: int, value: float, shown: str) -> None:
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


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_classes", [2, 3, 10, 40, 1000])
def test_decimals_of_five_digits_that_miss_by_one_unit_are_accepted(n_classes: int, engine: str) -> None:
    """Not by chance: whatever the rounding of their sum. Two units are too many."""
    rng = np.random.default_rng(n_classes)
    units = 10**5 + rng.integers(-1, 2, 3000)
    y_prob = rng.multinomial(units, rng.dirichlet(np.full(n_classes, 0.5), 3000)) / 10**5
    y_prob = np.minimum(y_prob, 1.0)
    y_true = rng.integers(0, n_classes, 3000)
    assert np.count_nonzero(units != 10**5) > 1500
    assert tn.tabulate(y_true, y_prob, engine=engine).n_rows == 3000
    y_prob[1234] = 0.0
    y_prob[1234, :2] = 0.5, 0.50002
    with pytest.raises(ValueError, match=r"y_prob sums to 1\.00002 in row 1234, not to 1 within 1e-05;"):
        tn.tabulate(y_true, y_prob, engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("n_classes", [2, 3, 10, 40])
def test_the_tolerance_has_four_roundings_for_each_class(n_classes: int, engine: str) -> None:
    """1e-5 + 4·C·2^-52: well within it, and well beyond it."""
    for roundings, accepted in ((1.0, True), (-1.0, True), (8.0, False), (-8.0, False)):
        row = np.zeros((1, n_classes))
        off = np.sign(roundings) * 1e-5 + roundings * n_classes * 2.0**-52
        row[0, :2] = 0.5, 0.5 + off
        if accepted:
            assert tn.tabulate([0], row, engine=engine).n_rows == 1
        else:
            with pytest.raises(ValueError, match="row 0"):
                tn.tabulate([0], row, engine=engine)


def test_float32_rows_cast_to_float64_keep_only_the_common_tolerance() -> None:
    y_prob = np.array([[0.5, 0.25, 0.25 + 2.0**-10]], np.float16)
    assert tn.tabulate([0], y_prob).n_rows == 1
    refused(ValueError, "row 0", y_true=[0], y_prob=y_prob.astype(np.float64))


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


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("bad", [(5_000, 9_000), (100, 9_999), (9_000, 9_001)])
def test_the_first_bad_row_is_named_whoever_finds_it(bad: tuple[int, int], threads: int) -> None:
    rng = np.random.default_rng(1)
    y_prob = rng.dirichlet(np.ones(2), 10_000)
    y_prob[list(bad)] = np.nan
    with pytest.raises(ValueError, match=rf"row {bad[0]}\b"):
        tn.tabulate(np.zeros(10_000, int), y_prob, n_threads=threads)


@pytest.mark.parametrize("bins", [10, tn.EqualMass(10), tn.FineGrid(100)])
def test_every_kind_of_bins_stands_behind_the_border(bins: Any) -> None:
    with pytest.raises(ValueError, match=r"y_prob.*nan.*row 3\b"):
        tn.tabulate(LABELS, with_value(3, 0, np.nan), bins=bins)
    with pytest.raises(ValueError, match=r"y_true.*row 1\b"):
        tn.tabulate([0, 9, 0, 0], GOOD, bins=bins)


def test_fitting_bins_refuses_bad_rows_too() -> None:
    with pytest.raises(ValueError, match=r"y_prob.*nan.*row 2\b"):
        tn.EqualMass(3).fit(with_value(2, 0, np.nan))
    with pytest.raises(ValueError, match=r"sample_weight.*row 1\b"):
        tn.EqualMass(3).fit(GOOD, sample_weight=[1, -1, 1, 1])


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
    """-1 seen as unsigned is 255 (int8) or 65535 (int16), which may be a class: judged as the number that it is."""
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
            for entrance in (lambda *rows: tn.tabulate(*rows, engine=engine), accumulator.update):
                with pytest.raises(
                    ValueError, match=rf"y_true is {label} in row 2; .*0 to {n_classes - 1}\b"
                ):
                    entrance(y_true, y_prob)
    assert accumulator.n_rows == 0


BAD_FACTORS = (np.nan, -1.0, 3.0, 0.5)
BAD_LABELS = (99.0, -1.0, 0.5, np.nan)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("bins", [10, tn.EqualMass(4), tn.FineGrid(100)], ids=["ten", "mass", "fine"])
@pytest.mark.parametrize("n_classes", [3, 5, 20])
def test_the_first_bad_row_is_named_and_its_prediction_before_its_label(
    n_classes: int, bins: Any, engine: str
) -> None:
    """Whatever is wrong with other rows, in the same eight, the same block or another."""
    rng = np.random.default_rng(0)
    n_rows = 9_000
    good = rng.dirichlet(np.ones(n_classes), n_rows)
    options: dict[str, Any] = {"engine": engine, "bins": bins}
    fitted = bins.fit(good) if isinstance(bins, tn.EqualMass) else bins
    stream = tn.Accumulator(n_classes, engine=engine, bins=fitted)
    entrances = (lambda *rows: tn.tabulate(*rows, **options), stream.update)
    # The rows of a bad prediction and of a bad label.
    cases = [(3, 5), (5, 3), (4, 4), (2, 8_500), (8_500, 2), (4_094, 4_096), (4_096, 4_094), (8_999, 0)]
    for k, (prediction, label) in enumerate(cases):
        y_prob, y_true = good.copy(), rng.integers(0, 2, n_rows).astype(float)
        y_prob[prediction] *= BAD_FACTORS[k % 4]
        y_true[label], y_true[-2] = BAD_LABELS[k % 4], np.nan
        named = (
            f"y_true is .* in row {label}\\b" if label < prediction else f"y_prob .* in row {prediction}\\b"
        )
        for entrance in entrances:
            with pytest.raises(ValueError, match=named):
                entrance(y_true, y_prob)
    assert stream.n_rows == 0


def test_of_two_bad_labels_the_first_is_named_whatever_is_wrong_with_it() -> None:
    refused(ValueError, "y_true", "row 1", "0 to 2", y_true=[0.0, 7.0, 1.5, 1.0], y_prob=GOOD)
    refused(ValueError, "y_true", "row 1", "whole", y_true=[0.0, 1.5, 7.0, 1.0], y_prob=GOOD)


@pytest.mark.parametrize(
    ("bad", "shown"), [(1.5, "1.5"), (np.nan, "nan"), (np.inf, "inf"), (1 + 1e-9, "1.000000001")]
)
def test_labels_that_are_not_whole(bad: float, shown: str) -> None:
    refused(ValueError, "y_true", "row 2", re.escape(shown), y_true=[0.0, 1.0, bad, 1.0], y_prob=GOOD)


def test_labels_of_another_length() -> None:
    for labels in (LABELS[:3], np.append(LABELS, 0), LABELS[:0]):
        refused(ValueError, "y_true", rf"\b{len(labels)}\b", r"\b4\b", y_true=labels, y_prob=GOOD)


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


@pytest.mark.parametrize("shape", [(4, 2), (2, 2), (1, 4)])
def test_labels_of_another_shape(shape: tuple[int, ...]) -> None:
    refused(ValueError, "y_true", re.escape(str(shape)), y_true=np.zeros(shape, int), y_prob=GOOD)


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
    refused(ValueError, "y_prob", "rectangular", y_true=[0, 1], y_prob=[[0.5, 0.5], [1.0]])


@pytest.mark.parametrize(
    ("y_prob", "word"),
    [
        (GOOD.astype(complex), "complex"),
        (GOOD.astype(str), "<U|str"),
        (GOOD.astype("S"), r"\|S|bytes"),
        (GOOD.astype("datetime64[s]"), "datetime"),
    ],
)
def test_predictions_that_are_no_numbers(y_prob: Any, word: str) -> None:
    refused(TypeError, "y_prob", word, y_true=LABELS, y_prob=y_prob)


@pytest.mark.parametrize(
    "y_true", [LABELS.astype(complex), LABELS.astype("datetime64[s]"), LABELS.astype("V8")]
)
def test_labels_of_a_strange_type(y_true: Any) -> None:
    refused(TypeError, "y_true", y_true=y_true, y_prob=GOOD)


@pytest.mark.parametrize("value", [None, "0.5", b"0.5", {"a": 1}, 3.5, object(), len, {1, 2}])
def test_things_that_are_no_arrays(value: Any) -> None:
    refused((TypeError, ValueError), "y_prob", y_true=LABELS, y_prob=value)
    refused((TypeError, ValueError), "y_true", y_true=value, y_prob=GOOD)


def test_none_says_what_would_be_accepted() -> None:
    refused(TypeError, "y_prob", "None", "array", y_true=LABELS, y_prob=None)
    refused(TypeError, "y_true", "None", "array", y_true=None, y_prob=GOOD)


def test_string_labels_without_classes() -> None:
    refused(TypeError, "y_true", "classes=", "'cat'", y_true=["cat", "dog", "cow", "dog"], y_prob=GOOD)


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

    def test_a_row_of_weight_zero_is_still_looked_at(self) -> None:
        """Nothing is dropped silently: a bad row is bad whatever its weight."""
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


class TestNames:
    @pytest.mark.parametrize(
        ("call", "wrong", "accepted"),
        [
            (
                lambda: tn.vce(LABELS, GOOD, variation="entropie"),
                "entropie",
                ["entropy", "iqv", "margin", "renyi"],
            ),
            (lambda: tn.vce(LABELS, GOOD, ties="random"), "random", ["first", "split"]),
            (lambda: tn.tabulate(LABELS, GOOD, engine="gpu"), "gpu", ["auto", "portable"]),
            (lambda: tn.rce(LABELS, GOOD, distance="l2"), "l2", ["tv", "w1", "hellinger"]),
            (lambda: tn.vce(LABELS, GOOD, norm="L3"), "L3", ["l1", "l2", "max"]),
            (lambda: tn.ece(LABELS, GOOD, norm="rms"), "rms", ["l1", "l2", "max"]),
            (
                lambda: tn.ranked_calibration_error(tn.tabulate(LABELS, GOOD), "kl"),
                "kl",
                ["tv", "w1", "hellinger"],
            ),
            (lambda: tn.ranked_gap(tn.tabulate(LABELS, GOOD), "kl"), "kl", ["tv", "w1", "hellinger"]),
            (
                lambda: tn.variation_calibration_error(tn.tabulate(LABELS, GOOD), norm="l0"),
                "l0",
                ["l1", "l2", "max"],
            ),
            (lambda: tn.Accumulator(n_classes=3, ties="last"), "last", ["first", "split"]),
            (lambda: tn.Accumulator(n_classes=3, variation="gini"), "gini", ["entropy", "iqv"]),
        ],
    )
    def test_an_unknown_name_lists_the_known_ones(
        self, call: Callable[[], Any], wrong: str, accepted: list[str]
    ) -> None:
        with pytest.raises(ValueError, match=re.escape(repr(wrong))) as caught:
            call()
        assert all(name in str(caught.value) for name in accepted)

    @pytest.mark.parametrize("variation", [None, 3, np.mean, ["entropy"]])
    def test_a_variation_that_is_no_variation(self, variation: Any) -> None:
        with pytest.raises(TypeError, match="variation"):
            tn.vce(LABELS, GOOD, variation=variation)

    @pytest.mark.parametrize("alpha", [0, -1, np.nan, np.inf, "two", None])
    @pytest.mark.parametrize("family", [tn.renyi, tn.tsallis])
    def test_orders_that_have_no_formula(self, family: Any, alpha: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="alpha"):
            family(alpha)

    @pytest.mark.parametrize("threads", [0, -1, 1.5, "two"])
    def test_a_number_of_threads_that_is_none(self, threads: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="n_threads"):
            tn.tabulate(LABELS, GOOD, n_threads=threads)

    def test_options_are_keyword_only(self) -> None:
        for entrance in (tn.tabulate, tn.vce, tn.ece, tn.uce, tn.rce):
            with pytest.raises(TypeError, match="positional"):
                entrance(LABELS, GOOD, "entropy")


class TestBins:
    @pytest.mark.parametrize("bins", [0, -3, 2.5, True, "10", None, [0, 0.5, 1]])
    def test_bins_that_are_none(self, bins: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="bins"):
            tn.vce(LABELS, GOOD, bins=bins)

    @pytest.mark.parametrize("make", [tn.EqualWidth, tn.EqualMass, tn.FineGrid])
    @pytest.mark.parametrize("n", [0, -1, 1.5, True, "3"])
    def test_numbers_of_bins(self, make: Any, n: Any) -> None:
        with pytest.raises((TypeError, ValueError), match=r"bins|cells"):
            make(n)

    @pytest.mark.parametrize(
        "edges", [[], [0], [0, 0], [1, 0], [0, 0.5, 0.5, 1], [0, np.nan, 1], [0, np.inf], [0, 0.7, 0.3, 1]]
    )
    def test_edges_that_do_not_increase(self, edges: list[float]) -> None:
        with pytest.raises(ValueError, match="edges"):
            tn.Edges(edges)

    @pytest.mark.parametrize("snap", [-1e-9, np.nan, np.inf])
    def test_a_snap_that_is_none(self, snap: float) -> None:
        with pytest.raises(ValueError, match="snap"):
            tn.Edges([0, 1], snap)

    @pytest.mark.parametrize("edges", [[0.2, 1], [0, 0.8], [0.5, 0.6]])
    def test_edges_that_do_not_cover_the_range(self, edges: list[float]) -> None:
        """Rows outside would have no bin, and the counts would not add up to N."""
        with pytest.raises(ValueError, match=r"edges.*range|range.*edges|edges run"):
            tn.vce(LABELS, GOOD, bins=tn.Edges(edges))

    def test_an_unfitted_equal_mass_cannot_accumulate(self) -> None:
        with pytest.raises(ValueError, match=r"EqualMass.*fit"):
            tn.Accumulator(n_classes=3, bins=tn.EqualMass(10))

    @pytest.mark.parametrize(
        ("dtype", "fine", "too_fine"), [("float16", 127, 128), ("float32", 1_000_000, 1_048_576)]
    )
    def test_bins_finer_than_the_dtype(self, dtype: str, fine: int, too_fine: int) -> None:
        """A snap of 4 eps against half a bin 1/(2M): refused from M = 1/(8 eps) on."""
        assert 1 / (8 * float(np.finfo(dtype).eps)) == too_fine
        y_prob = np.array([[0.5, 0.5], [0.75, 0.25]], dtype)
        assert tn.tabulate([0, 0], y_prob, bins=fine).n_rows == 2
        with pytest.raises(ValueError, match=r"bins.*(dtype|y_prob)"):
            tn.tabulate([0, 0], y_prob, bins=too_fine)

    def test_coarsening_to_edges_that_are_not_there(self) -> None:
        table = tn.tabulate(LABELS, GOOD, bins=10)
        with pytest.raises(ValueError, match="edge"):
            table.coarsen(3)
        with pytest.raises(ValueError, match="edge"):
            table.coarsen(tn.Edges([0, 0.25, 1]))


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
    def test_no_list(self, classes: Any) -> None:
        refused(TypeError, "classes", y_true=["cat"] * 4, y_prob=GOOD, classes=classes)

    @pytest.mark.parametrize("missing", [None, np.nan])
    def test_a_missing_name(self, missing: Any) -> None:
        labels = np.array(["cat", "dog", missing, "dog"], object)
        refused(ValueError, "y_true", "row 2", y_true=labels, y_prob=GOOD, classes=self.NAMES)

    def test_indices_are_not_names(self) -> None:
        """With classes= labels are names; 0 is not the name of the first class."""
        refused(ValueError, "y_true", "row 0", "classes", y_true=LABELS, y_prob=GOOD, classes=self.NAMES)


class TestPercentages:
    """Values above 1, none above 100, that sum to 100: the remedy is to divide, not to call them logits."""

    @pytest.mark.parametrize("n_classes", [2, 3, 10])
    @pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
    def test_the_remedy(self, n_classes: int, dtype: str) -> None:
        rows = np.zeros((4, n_classes), dtype)
        rows[:, 0], rows[:, 1] = 60, 40
        with pytest.raises(ValueError, match=r"row 0, class 0;.*percentages.*divide y_prob by 100") as caught:
            tn.vce(np.zeros(4, int), rows)
        assert "logits" not in str(caught.value)

    def test_rounded_ones(self) -> None:
        refused(
            ValueError, "y_prob", "percentages", "normalize=True", y_true=[0], y_prob=[[33.3, 33.3, 33.3]]
        )

    def test_of_class_1(self) -> None:
        with pytest.raises(ValueError, match=r"y_prob is 85.0 in row 1;.*divide y_prob by 100.*from_logits"):
            tn.vce([0, 1], [0.5, 85.0])

    def test_logits_are_still_called_so(self) -> None:
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

    def test_logits_taken_for_probabilities_are_told_so(self) -> None:
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


class TestAccumulator:
    def test_another_number_of_classes(self) -> None:
        accumulator = tn.Accumulator(n_classes=4)
        with pytest.raises(ValueError, match=r"y_prob.*3.*4|4.*3"):
            accumulator.update(LABELS, GOOD)
        assert accumulator.n_rows == 0

    @pytest.mark.parametrize("n", [1, 0, -2, 2.5, True, None])
    def test_numbers_of_classes(self, n: Any) -> None:
        with pytest.raises((TypeError, ValueError), match="n_classes"):
            tn.Accumulator(n_classes=n)

    def test_merging_unlike_accumulators(self) -> None:
        one, other = tn.Accumulator(n_classes=3), tn.Accumulator(n_classes=3, bins=5)
        with pytest.raises(ValueError, match="bins"):
            one.merge(other)


class TestReaders:
    def test_ece_needs_a_table_by_confidence(self) -> None:
        for reader in (tn.expected_calibration_error,):
            with pytest.raises(ValueError, match=r"confidence.*entropy|entropy.*confidence"):
                reader(tn.tabulate(LABELS, GOOD))

    def test_uce_needs_a_table_by_entropy(self) -> None:
        with pytest.raises(ValueError, match=r"entropy.*iqv|iqv.*entropy"):
            tn.uncertainty_calibration_error(tn.tabulate(LABELS, GOOD, variation="iqv"))

    def test_min_count_belongs_to_the_maximum(self) -> None:
        table = tn.tabulate(LABELS, GOOD)
        for norm in ("l1", "l2"):
            with pytest.raises(ValueError, match="min_count"):
                tn.variation_calibration_error(table, norm=norm, min_count=5)

    def test_no_bin_is_large_enough(self) -> None:
        with pytest.raises(ValueError, match=r"min_count.*100|100.*min_count|100"):
            tn.variation_calibration_error(tn.tabulate(LABELS, GOOD), norm="max", min_count=100)

    def test_a_table_of_no_rows_has_no_numbers(self) -> None:
        empty = tn.CalibrationTable.empty(tn.tabulate(LABELS, GOOD).spec)
        for reader in (
            tn.variation_calibration_error,
            tn.top_label_error,
            tn.ranked_calibration_error,
            tn.signed_parts,
        ):
            with pytest.raises(ValueError, match="rows"):
                reader(empty)


class TestOwnMeasures:
    def test_a_measure_that_gives_no_number_is_refused(self) -> None:
        broken = tn.Variation("broken", lambda x: x[..., 0] * np.nan)
        with pytest.raises(ValueError, match=r"broken.*row 0|broken.*nan"):
            tn.vce(LABELS, GOOD, variation=broken)

    def test_a_measure_that_writes_into_its_input_spoils_no_table(self) -> None:
        """Refused, because what it is given cannot be written to; or harmless."""

        def careless(x: np.ndarray) -> np.ndarray:
            x -= x
            return x.sum(axis=-1)

        with pytest.raises(ValueError, match="read-only"):
            tn.tabulate(LABELS, GOOD, variation=tn.Variation("careless", careless))

    def test_a_measure_of_another_shape_is_refused(self) -> None:
        with pytest.raises(ValueError, match="sideways"):
            tn.vce(LABELS, GOOD, variation=tn.Variation("sideways", lambda x: x))

    @pytest.mark.parametrize("range_", [(1, 0), (0, 0), (0, np.inf), (np.nan, 1)])
    def test_a_range_that_is_none(self, range_: tuple[float, float]) -> None:
        with pytest.raises(ValueError, match="range"):
            tn.vce(LABELS, GOOD, variation=tn.Variation("mine", lambda x: x[..., 0], range=range_))


class TestExtremes:
    @pytest.mark.parametrize("weight", [1e200, 1e-200])
    def test_weights_whose_squares_are_no_numbers(self, weight: float) -> None:
        with pytest.raises(ValueError, match=r"sample_weight is .* in row 2\b.*1e-140 to 1e140"):
            tn.vce(LABELS, GOOD, sample_weight=[1, 1, weight, *[1] * (len(LABELS) - 3)])

    def test_rows_whose_sum_is_no_number(self) -> None:
        with pytest.raises(ValueError, match=r"y_prob sums to inf in row 1\b.*normalised"):
            tn.vce([0, 1], [[0.5, 0.5], [1e308, 1e308]], normalize=True)

    @pytest.mark.parametrize("name", ["entropy", "renyi(2)"])
    def test_a_measure_with_the_name_of_another(self, name: str) -> None:
        with pytest.raises(ValueError, match="name of a measure"):
            tn.Variation(name, lambda x: x[..., 0])

    def test_snap_goes_by_the_measure_s_range_not_by_wider_edges(self) -> None:
        """Confidence with C = 2 spans 1/2, so 1.5e-7 above an edge is off it, though edges that span 1 snap 2.4e-7."""
        y_prob = [[0.75 + 1.5e-7, 0.25 - 1.5e-7]]
        table = tn.tabulate([0], y_prob, variation="confidence", bins=tn.Edges([0, 0.75, 1]))
        assert table.count.tolist() == [0, 1]
        table = tn.tabulate([0], y_prob, variation="wilcox_variation_ratio", bins=tn.Edges([0, 0.5, 1]))
        assert table.count.tolist() == [1, 0]


class TestWordsForOddArguments:
    @pytest.mark.parametrize("edges", [5, "01", [[0, 1]], ["a", "b"]])
    def test_edges_that_are_no_numbers(self, edges: object) -> None:
        with pytest.raises(TypeError, match="edges must be a"):
            tn.Edges(edges)

    def test_classes_that_cannot_be_names(self) -> None:
        with pytest.raises(TypeError, match="classes must be names"):
            tn.vce(LABELS, GOOD, classes=[[0], [1], [2]])

    def test_labels_that_are_missing(self) -> None:
        with pytest.raises(ValueError, match=r"y_true has a missing value in row 1\b"):
            tn.vce([0, None], [[0.5, 0.5], [0.4, 0.6]])
        with pytest.raises(ValueError, match=r"y_prob has a missing value in row 1\b"):
            tn.vce([0, 1], [[0.5, 0.5], [None, 0.6]])

    def test_too_many_bins(self) -> None:
        with pytest.raises(ValueError, match="at most 10000000"):
            tn.EqualWidth(10**12)

    def test_normalising_one_dimension(self) -> None:
        with pytest.raises(ValueError, match=r"probability of class 1 already.*normalize"):
            tn.vce([0, 1], [0.4, 0.6], normalize=True)

    def test_a_point_bin_that_the_finer_bins_do_not_have(self) -> None:
        table = tn.tabulate(LABELS, GOOD, bins=10)
        with pytest.raises(ValueError, match=r"a bin for the value 0\.0 alone"):
            table.coarsen(tn.Edges([0, 0, 1]))
        with pytest.raises(ValueError, match="apart"):
            tn.tabulate(LABELS, GOOD, bins=1).coarsen(tn.Edges([0, 0, 1]))
