"""Tables of named cells, for programs and for people."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

from trueness import listing as module
from trueness.listing import Listing, Marked, plain

ROWS = Listing(
    ("group", "n_rows", "vce", "vce_low", "vce_high", "p_value", "none"),
    (
        ("a", 1200, 0.1204, 0.0763, 0.1662, 1e-9, None),
        ("b|<&_", 3, None, None, None, math.nan, None),
    ),
)


def test_all_digits_for_programs() -> None:
    (first, second) = csv.DictReader(io.StringIO(ROWS.csv()))
    assert first["vce"] == "0.1204"
    assert (second["vce"], second["p_value"]) == ("", "")
    assert ROWS.to_dict()["p_value"] == [1e-9, None]


def test_few_digits_for_people() -> None:
    assert ROWS.markdown().splitlines() == [
        "| group | n_rows | vce | p_value |",
        "| --- | --- | --- | --- |",
        "| a | 1,200 | 0.120 [0.076, 0.166] | &lt;0.0001 |",
        r"| b\|&lt;&_ | 3 |  |  |",
    ]
    assert r"b|$<$\&\_ & 3 &  &  \\" in ROWS.latex()
    assert r"\begin{tabular}{lrrr}" in ROWS.latex()
    assert ROWS.lines()[1].split() == ["a", "1,200", "0.120", "[0.076,", "0.166]", "<0.0001"]


def test_the_best_cell_is_bold() -> None:
    best = Listing(("model", "VCE"), (("a", Marked("0.1", best=True)), ("b", Marked("0.2"))))
    assert "**0.1**" in best.markdown()
    assert r"\textbf{0.1}" in best.latex()
    assert "**0.2**" not in best.markdown()
    assert "0.1" in best.csv()


def test_a_column_has_as_many_decimals_as_its_largest_number() -> None:
    lines = Listing(("gap",), ((0.9612,), (0.0004,), (-0.25,))).lines()
    assert [line.strip() for line in lines] == ["gap", "0.961", "0.000", "-0.250"]


def test_lines_fit() -> None:
    wide = Listing(("a", "b", "c", "d"), (("x" * 60,) * 4,))
    assert max(map(len, wide.lines(100))) <= 100
    assert wide.lines(100)[1].endswith("…")


def test_long_tables_are_cut() -> None:
    lines = Listing(("k",), tuple((k,) for k in range(1050))).lines()
    assert len(lines) == 42
    assert lines[-1] == "… and 1,010 more"


def test_formulas_are_not_run_by_a_spreadsheet() -> None:
    rows = Listing(("name",), (("=cmd|' /C calc'!A0",), ("+1",), ("fine",)))
    assert [row[0][:1] for row in csv.reader(io.StringIO(rows.csv()))][1:] == ["'", "'", "f"]


def test_control_characters_are_visible() -> None:
    assert "\x1b" not in Listing(("name",), (("\x1b[31m",),)).markdown()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(library)
    monkeypatch.setattr(module, "FRAMES", (library,))
    frame = ROWS.to_frame()
    assert type(frame).__module__.startswith(library)
    assert list(frame.columns) == list(ROWS.columns)
    assert frame["n_rows"].to_list() == [1200, 3]


def test_no_library_gives_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FRAMES", ())
    assert ROWS.to_frame() == ROWS.to_dict()


def test_empty() -> None:
    assert Listing.of([]) == Listing((), ())
    assert Listing((), ()).lines() == [""]
    assert Listing(("a",), ()).csv() == "a\n"


def test_plain_values_are_json() -> None:
    @dataclass
    class Pair:
        first: float
        second: object

    value = {"a": Pair(math.inf, np.array([[1.5, math.nan]])), "b": Marked("x"), 3: np.int64(4)}
    assert json.loads(json.dumps(plain(value), allow_nan=False)) == {
        "a": {"first": None, "second": [[1.5, None]]},
        "b": {"text": "x", "best": False},
        "3": 4,
    }
