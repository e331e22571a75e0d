"""JSON Lines: one object per line; lines that cannot be read are named or skipped."""

import json
from collections import Counter
from pathlib import Path

import pytest
from reading import refused, summed

import trueness as tn


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (b'{"y": 0, "p": [0.5, 0.', "not JSON"),
        (b"[1, 2]", "not a JSON object"),
        (b'{"y": "cat", "p": [0.5, 0.5]}', "'y' is not of type int64"),
        (b'{"y": 0, "p": "none"}', "'p' is not of type list"),
        (b"[" * 100_000, "nested more than 64 levels deep"),
        (b'{"x": ' * 65 + b"1" + b"}" * 65, "nested more than 64 levels deep"),
    ],
    ids=["cut off", "array", "other type", "text", "deep", "deep objects"],
)
@pytest.mark.parametrize("first_block", [False, True])
def test_bad_lines_of_json(
    tmp_path: Path, line: bytes, expected: str, first_block: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not first_block:
        monkeypatch.setattr("trueness.formats._text_stream.BLOCK_BYTES", 64)
    good = b'{"y": 1, "p": [0.25, 0.75]}\n'
    path = tmp_path / "x.jsonl"
    path.write_bytes(good * 20 + b"\n" + line + b"\n" + good * 5)
    error = refused(path)
    assert f"row 21: {expected}" in error.cause
    assert len(error.cause) < 500
    left = summed(path, skip=True)
    assert left.skipped == Counter({"unreadable-row": 1})
    assert left.tables.whole.by_variation == tn.tabulate([1] * 25, [[0.25, 0.75]] * 25)


def test_unusual_json_that_is_valid(tmp_path: Path) -> None:
    """Whole numbers, nulls in other fields, blank lines and a last line without an end are all fine."""
    lines = [
        json.dumps({"y": 1, "p": [0, 1], "note": None}),
        "",
        json.dumps({"y": 0, "p": [0.5, 0.5], "note": "x"}),
    ]
    (tmp_path / "x.jsonl").write_text("\n".join(lines))
    assert summed(tmp_path / "x.jsonl").tables.whole.by_variation == tn.tabulate([1, 0], [[0, 1], [0.5, 0.5]])


DATED = [
    json.dumps({"y": n % 2, "p": [0.25, 0.75], "day": f"2026-01-{n % 28 + 1:02}"}) for n in range(30_000)
]


class TestDatesInJson:
    """What is bad is decided by the parser that reads, which takes some texts for dates."""

    def test_one_bad_line_costs_one_row(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text("\n".join([*DATED[:20_000], '{"y": 1, "p": [0.25, 0.', *DATED[20_000:]]))
        assert "row 20001: not JSON" in refused(path, by="day").cause
        for by in (None, "day"):
            left = summed(path, skip=True, by=by)
            assert left.skipped == Counter({"unreadable-row": 1})
            assert left.tables.n_rows == 30_000
        assert sorted(map(str, left.tables.groups))[:2] == ["2026-01-01", "2026-01-02"]

    def test_dates_and_other_texts_in_one_column(self, tmp_path: Path) -> None:
        path = tmp_path / "x.jsonl"
        path.write_text("\n".join([*DATED, DATED[0].replace("2026-01-01", "unknown")]))
        assert {"unknown", "2026-01-28"} <= set(summed(path, by="day").tables.groups)


@pytest.mark.parametrize(
    "line", ['{"y": 0, "p": [0.5, 0.5]} {"y": 0, "p": [0.5, 0.5]}', '{"y": 0,\n"p": [0.5, 0.5]}']
)
def test_a_line_is_an_object(tmp_path: Path, line: str) -> None:
    """Two in a line, or one in two lines, are bad, whatever the other lines."""
    path, good = tmp_path / "x.jsonl", '{"y": 1, "p": [0.25, 0.75]}\n'
    path.write_text(good * 3 + line + "\n" + good * 2)
    assert "row 4: not" in refused(path).cause
    assert summed(path, skip=True).tables.n_rows == 5


def test_json_that_is_nested_as_deep_as_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f'{{"y": 1, "x": {"[" * 63}{"]" * 63}, "p": [0.25, 0.75]}}\n' * 3)
    assert summed(path).tables.n_rows == 3
