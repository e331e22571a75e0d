"""Bad rows are refused by the compiled engine as by the portable one, and leave nothing in the sums."""

import struct
from typing import Any

import numpy as np
import pytest
from compiled_rows import assert_same, nasty, rows

import trueness as tn
from trueness.rows import Rows, sum_tolerance_units
from trueness.tabulation.running_sums import RunningSums

pytestmark = pytest.mark.usefixtures("compiled")


def outcome(engine: str, y_true: Any, y_prob: Any, **how: Any) -> Any:
    """The table, or the words of the refusal."""
    try:
        return tn.tabulate(y_true, y_prob, engine=engine, **how)
    except ValueError as error:
        return str(error)


def same_outcome(y_true: Any, y_prob: Any, **how: Any) -> Any:
    one, other = (outcome(engine, y_true, y_prob, **how) for engine in ("compiled", "portable"))
    assert one == other
    return one


def payload(bits: int) -> float:
    """A NaN of these bits."""
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


NANS = {
    "quiet": payload(0x7FF8000000000000),
    "negative": payload(0xFFF8000000000000),
    "signalling": payload(0x7FF0000000000001),
    "all ones": payload(0xFFFFFFFFFFFFFFFF),
    "payload": payload(0x7FF8DEADBEEF0000),
}


@pytest.mark.parametrize("n_classes", [3, 10, 50])
@pytest.mark.parametrize(
    ("value", "shown"),
    [(np.nan, "nan"), (np.inf, "inf"), (-1e-18, "-1e-18"), (1.0000000000000002, "1.0000000000000002")],
)
@pytest.mark.parametrize("row", [0, 70_001, 70_007])
def test_bad_rows_are_named_as_by_the_portable_engine(
    row: int, value: float, shown: str, n_classes: int
) -> None:
    y_true, y_prob = np.zeros(70_010, int), np.zeros((70_010, n_classes))
    y_prob[:, 1] = 1.0
    y_prob[row, :2] = (value, 1 - value) if np.isfinite(value) else (value, 0.5)
    messages = []
    for engine, n_threads in (("portable", 1), ("compiled", 1), ("compiled", 2)):
        for bins in (10, tn.EqualMass(5)):
            with pytest.raises(ValueError, match=rf"y_prob is {shown} in row {row}\b") as caught:
                tn.tabulate(y_true, y_prob, bins=bins, engine=engine, n_threads=n_threads)
            messages.append(str(caught.value))
    assert len(set(messages)) == 1


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 3, 8, 15, 16, 17, 33, 100])
def test_nothing_bad_is_overlooked(n_classes: int, dtype: str, columns: bool) -> None:
    """At every place of a row, in every lane of a group, for every true class and both measures."""
    y_true, y_prob = nasty(n_classes, dtype=dtype)
    y_true, y_prob = y_true[:19], y_prob[:19]
    values = [
        *NANS.values(),
        np.inf,
        -np.inf,
        -0.5,
        -1e-40,
        np.nextafter(np.float32(1), np.float32(2)),
        2.0,
        1e30,
    ]
    places = sorted({0, 1, n_classes // 2, n_classes - 2, n_classes - 1})
    for number, value in enumerate(values):
        for place in places:
            row, how = (7 * number + 3 * place) % 19, {"variation": ("entropy", "confidence")[place % 2]}
            given = y_prob.copy(order="F" if columns else "C")
            with np.errstate(over="ignore"):
                given[row, place] = value
            assert f"row {row}" in same_outcome(y_true, given, **how)
            assert f"row {row}" in same_outcome(y_true, given, bins=tn.EqualMass(2), **how)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 3, 10, 16, 40])
def test_several_infinities_and_nan_in_one_row(n_classes: int, dtype: str) -> None:
    """Their sums may be finite, NaN, or wrap round."""
    y_true, y_prob = nasty(n_classes, dtype=dtype)
    for values in (
        [np.inf, np.inf],
        [np.inf, -np.inf],
        [-np.inf, -np.inf],
        [np.nan, np.inf],
        [np.nan, np.nan],
    ):
        for row in (0, 5, len(y_true) - 1):
            given = y_prob.copy()
            given[row, :2] = values
            assert f"row {row}" in same_outcome(y_true, given)
            given[row] = values[0]
            assert f"row {row}" in same_outcome(y_true, given)


@pytest.mark.parametrize("n_classes", [2, 15, 16])
def test_of_two_bad_rows_the_first_is_named(n_classes: int) -> None:
    y_true, y_prob = rows(40, n_classes)
    for first, second in ((3, 4), (7, 8), (8, 15), (38, 39)):
        given = y_prob.copy()
        given[first] *= 1.5
        given[second, 0] = np.nan
        assert f"row {first}" in same_outcome(y_true, given)
        labels = y_true.copy()
        labels[first - 1] = n_classes
        assert f"row {first - 1}" in same_outcome(labels, given)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [4, 16, 40])
def test_minus_zero_is_zero_and_hides_nothing(n_classes: int, dtype: str) -> None:
    """As bits it is less than any other number."""
    y_prob = np.zeros((11, n_classes), dtype)
    y_prob[:, 1], y_prob[:, 2:] = 1.0, -0.0
    table = assert_same(np.arange(11) % n_classes, y_prob)
    assert table == tn.tabulate(np.arange(11) % n_classes, y_prob + 0.0, engine="compiled")
    y_prob[5, 0], y_prob[5, 2] = 0.5, -0.5
    assert "y_prob is -0.5 in row 5, class 2" in same_outcome(np.zeros(11, int), y_prob)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [4096, 4097, 5000])
def test_a_sum_that_wraps_round_is_refused(n_classes: int, dtype: str) -> None:
    """Words hold sums below 4096: what sums to 4097 has the same bits as what sums to 1."""
    for n_ones in (4095, 4096, 4097, n_classes):
        y_prob = np.zeros((3, n_classes), dtype)
        y_prob[:, 17] = 1.0
        y_prob[1, : min(n_ones, n_classes)] = 1.0
        for bins in (10, tn.EqualMass(2)):
            assert f"y_prob sums to {min(n_ones, n_classes)} in row 1" in same_outcome(
                [17] * 3, y_prob, bins=bins
            )


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 3, 9, 15, 16, 17, 40, 300])
def test_sums_at_the_tolerance_and_one_unit_beyond(n_classes: int, dtype: str) -> None:
    """The largest sum that is good, the next one that is not, and the same on the other side of 1."""
    slack = sum_tolerance_units(n_classes, float(np.finfo(dtype).eps))
    step = 1 if dtype == "float64" else 2**28  # float32 below 1/2 has multiples of 2⁻²⁵ and fewer bits
    most = slack // step * step
    rng = np.random.default_rng(n_classes)
    y_true, y_prob = nasty(n_classes, dtype=dtype)
    for sign in (-1, 1):
        for off, is_good in ((most - step, True), (most, True), (most + step, False)):
            parts = np.zeros(n_classes, np.int64)
            parts[1] = 2**51 + sign * off
            parts[0] = 2**52 + sign * off - parts[1]
            given = y_prob.copy()
            given[len(given) // 2] = rng.permutation(parts * 2.0**-52).astype(dtype)
            for bins in (10, tn.EqualMass(3)):
                found = same_outcome(y_true, given, bins=bins)
                assert isinstance(found, tn.CalibrationTable) == is_good


@pytest.mark.parametrize("n_classes", [2, 3, 10, 40, 300])
@pytest.mark.parametrize(("dtype", "parts"), [("float64", 10**5), ("float16", 2**10)])
def test_rows_that_miss_1_by_one_unit_are_not_checked_twice(
    n_classes: int, dtype: str, parts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Decimals of five digits, and a coarse dtype: such sums are common, and a second look takes far longer."""
    from trueness.tabulation import compiled

    seen: list[int] = []
    monkeypatch.setattr(compiled, "refuse_bad_rows", lambda *_: seen.append(1))
    rng = np.random.default_rng(0)
    units = rng.multinomial(parts + rng.integers(-1, 2, 3000), rng.dirichlet(np.ones(n_classes), 3000))
    y_true, y_prob = rng.integers(0, n_classes, 3000), np.clip(units / parts, 0, 1).astype(dtype)
    assert np.count_nonzero(np.abs(y_prob.sum(axis=1, dtype=float) - 1) > 0.9 / parts) > 1200
    for bins in (10, tn.EqualMass(3)):
        tn.tabulate(y_true, y_prob, engine="compiled", bins=bins)
    assert seen == []
    monkeypatch.undo()
    assert_same(y_true, y_prob)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 3, 7, 15, 16, 33])
def test_the_rows_before_a_bad_one_are_in_running_sums(n_classes: int, dtype: str, columns: bool) -> None:
    """Wherever it is in its group, and though the sums are used again afterwards."""
    measures = [tn.variations[name] for name in ("entropy", "confidence")]
    specs = [tn.TableSpec(n_classes, v, tn.EqualWidth(10).resolve(*v.range_for(n_classes))) for v in measures]
    y_true, y_prob = nasty(n_classes, dtype=dtype)
    y_prob = y_prob.copy(order="F" if columns else "C")
    running = RunningSums(specs, "compiled")
    expected = [tn.CalibrationTable.empty(spec) for spec in specs]
    for number, value in enumerate([np.nan, -np.nan, np.inf, -np.inf, -0.5, 7.0, 0.999]):
        row = 11 * number % 30
        given = y_prob.copy(order="K")
        given[row, number % n_classes] = value
        if value == 0.999:
            given[row] = value
        assert running.add(Rows.of(y_true, given)).sum() == 1
        good = np.arange(len(y_true)) != row
        expected = [
            total
            + tn.tabulate(
                y_true[good], y_prob[good], variation=spec.variation, bins=spec.bins, engine="portable"
            )
            for total, spec in zip(expected, specs, strict=True)
        ]
    sums = running.take()
    assert sums is not None
    assert [tn.CalibrationTable(spec, of) for spec, of in zip(specs, sums, strict=True)] == expected


def test_sums_and_labels_are_refused_too() -> None:
    y_true, y_prob = rows(100, 4)
    with pytest.raises(ValueError, match=r"y_prob sums to 1\.\d+ in row 50"):
        tn.tabulate(y_true, y_prob + 0.1 * (np.arange(100) == 50)[:, None] / 4, engine="compiled")
    with pytest.raises(ValueError, match=r"y_true is 4 in row 99"):
        tn.tabulate([*y_true[:-1], 4], y_prob, engine="compiled")


def test_bad_logits_are_refused() -> None:
    z = np.zeros((20, 3))
    for bad in ([np.inf, 0, 0], [np.nan, 0, 0], [-np.inf] * 3, [np.inf, np.inf, 0]):
        z[13] = bad
        assert "row 13" in same_outcome(np.zeros(20, int), z, from_logits=True)
