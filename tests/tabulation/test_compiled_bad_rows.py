"""Bad rows are refused by the compiled engine as by the portable one, and leave nothing in the sums."""

import struct
from typing import Any

import numpy as np
import pytest
from compiled_rows import assert_same, nasty

import trueness as tn
from trueness.rows import sum_tolerance_units

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


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [4, 16, 40])
def test_minus_zero_is_zero_and_hides_nothing(n_classes: int, dtype: str) -> None:
    """As bits it is less than any other number."""
    y_prob = np.zeros((11, n_classes), dtype)
    y_prob[:, 1], y_prob[:, 2:] = 1.0, -0.0
    table = assert_same(np.arange(11) % n_classes, y_prob)
    assert table == tn.tabulate(np.arange(11) % n_classes, y_prob + 0.0, engine="compiled")
    y_prob[5, 0], y_prob[5, 2] = 0.5, -0.5
    assert "`y_prob` is -0.5 in row 5, class 2" in same_outcome(np.zeros(11, int), y_prob)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [4096, 4097, 5000])
def test_a_sum_that_wraps_round_is_refused(n_classes: int, dtype: str) -> None:
    """Words hold sums below 4096: what sums to 4097 has the same bits as what sums to 1."""
    for n_ones in (4095, 4096, 4097, n_classes):
        y_prob = np.zeros((3, n_classes), dtype)
        y_prob[:, 17] = 1.0
        y_prob[1, : min(n_ones, n_classes)] = 1.0
        for bins in (10, tn.EqualMass(2)):
            assert f"`y_prob` sums to {min(n_ones, n_classes)} in row 1" in same_outcome(
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
