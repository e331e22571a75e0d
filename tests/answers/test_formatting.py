"""Numbers and p-values as text follow one rule each."""

from __future__ import annotations

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueness.formatting import (
    aligned,
    counted,
    decimals,
    estimate,
    listed,
    number,
    p_cell,
    p_value,
    percent,
    shortened,
    wrapped,
)

ANY = st.floats(allow_nan=True, allow_infinity=True)
PLAIN = re.compile(r"[-+]?\d[\d,]*(\.\d+)?|–|infinite|minus infinite")


@given(ANY)
def test_a_number_has_digits_or_a_word(value: float) -> None:
    assert PLAIN.fullmatch(number(value))
    assert PLAIN.fullmatch(number(value, 3, sign=True))


@given(st.floats(1e-3, 1e6))
def test_a_number_is_right_to_three_digits(value: float) -> None:
    assert float(number(value).replace(",", "")) == pytest.approx(value, rel=5.1e-3)


@given(st.floats(-10, 10), st.floats(0, 10), st.floats(0, 10))
def test_an_interval_shows_two_digits(value: float, below: float, above: float) -> None:
    low, high = value - below, value + above
    places = decimals(low, high)
    assert 1 <= places <= 6
    if 1e-4 < below + above < 1:
        assert (high - low) * 10**places * (1 + 1e-9) >= 10
    text = " ".join(estimate(value, low, high))
    assert re.fullmatch(r"(-?[\d.]+) \[(-?[\d.]+), (-?[\d.]+)\]", text)
    assert len({len(it.partition(".")[2]) for it in re.findall(r"[\d.]+", text)}) == 1


@given(st.floats(0, 1))
def test_a_p_value_has_two_digits_at_most(p: float) -> None:
    cell = p_cell(p)
    digits = cell.lstrip("<>").replace(".", "").lstrip("0")
    assert len(digits) <= 2
    assert "e" not in cell
    if cell[0] not in "<>":
        assert float(cell) == pytest.approx(p, rel=0.05, abs=1e-9)
        assert p >= 1e-4


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0421, "p = 0.042"),
        (0.5, "p = 0.5"),
        (0.00012, "p = 0.00012"),
        (1e-300, "p < 0.0001"),
        (0.0, "p < 0.0001"),
        (1.0, "p > 0.99"),
        (None, "no p-value"),
    ],
)
def test_p_in_a_sentence(p: float | None, text: str) -> None:
    assert p_value(p) == text


@given(st.floats(0, 1))
def test_only_all_rows_are_100_percent(share: float) -> None:
    text = percent(share)
    assert (text == "100 %") == (share == 1)
    assert (text == "0 %") == (share == 0)
    if 1e-6 < share < 1 - 1e-6:
        assert 0 < float(text[:-2]) < 100


def test_signs() -> None:
    assert estimate(0.0, -0.2, 0.1, sign=True) == ("0.00", "[-0.20, +0.10]")
    assert number(-0.0, 3, sign=True) == "0.000"
    assert number(-1e-12, 3) == "0.000"


def test_missing_is_a_dash() -> None:
    assert number(None) == number(math.nan) == p_cell(None) == "–"
    assert estimate(0.5, None, 1.0) == ("0.500", "")


def test_lists_and_counts() -> None:
    assert listed(list("abcdefg"), 2) == "a, b and 5 more"
    assert counted(1234.0, "row") == "1,234 rows"
    assert listed(["a\x1b[31m"]) == r"a\x1b[31m"


@given(st.text(), st.integers(1, 50))
def test_shortened_text_fits(text: str, most: int) -> None:
    short = shortened(text, most)
    assert len(short) <= most
    assert "\n" not in short


def test_text_is_wrapped_without_breaking_numbers() -> None:
    lines = wrapped("about 12 of 96 groups-with-hyphens are wrong", 22, "- ")
    assert lines == ["- about 12 of 96", "  groups-with-hyphens", "  are wrong"]


def test_columns_are_aligned() -> None:
    assert aligned([["a", "1"], ["bb", "22"]], [False, True]) == ["a    1", "bb  22"]
