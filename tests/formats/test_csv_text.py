"""CSV: quotes, separators, long lines."""

import gzip
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import MEGABYTE, csv, message, refused, summed

from trueness.cli import main

SITED = [f"{number % 2},0.25,0.75,site {number % 3}" for number in range(20_000)]


STRAY = {
    "last field": '0,0.25,0.75,"site 1',
    "first field": '"0,0.25,0.75,site 1',
    "doubled": '0,0.25,0.75,"site ""1""',
    "after a quote inside of a field": '0,0.25,0.75,"site 1" or "2\n0,0.25,0.75,"',
}


class TestStrayQuotes:
    """An end of the file inside of quotes is refused: they would hold all rows from there on."""

    @pytest.mark.parametrize("stray", STRAY.values(), ids=STRAY)
    @pytest.mark.parametrize("row", [1, 101, 20_000])
    @pytest.mark.parametrize("block", [2**10, 2**20])
    @pytest.mark.parametrize("skip", [False, True])
    def test_the_row_where_it_began_is_named(
        self, tmp_path: Path, stray: str, row: int, block: int, skip: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("trueness.formats._text_stream.BLOCK_BYTES", block)
        monkeypatch.setattr("trueness.formats._text_stream.MAX_BLOCK_BYTES", block)
        rows = [*SITED[: row - 1], stray, *SITED[row:]]
        began = row + stray.count("\n")
        path = csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site")
        assert f"{path}, row {began}: a quote" in refused(path, skip=skip).cause
        packed = tmp_path / "x.csv.gz"
        packed.write_bytes(gzip.compress(Path(path).read_bytes(), 1))
        assert f"{packed}, row {began}: a quote" in refused(packed, skip=skip).cause

    def test_on_standard_input(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        rows = [*SITED[:100], STRAY["last field"], *SITED[101:]]
        path = csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site")
        with open(path) as file:
            monkeypatch.setattr("sys.stdin", file)
            assert "standard input, row 101: a quote" in refused("-").cause

    @pytest.mark.parametrize("skip", [False, True])
    @pytest.mark.parametrize(
        "other", ['0,0.5,0.5,"b"', '0,0.5,0.5,"b'], ids=["a good one", "another stray one"]
    )
    def test_rows_between_two_quotes_are_not_lost(
        self, tmp_path: Path, other: str, skip: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A stray quote ends at the next one, whose text then follows the closing quote."""
        for block in (2**10, 2**20):
            monkeypatch.setattr("trueness.formats._text_stream.BLOCK_BYTES", block)
            monkeypatch.setattr("trueness.formats._text_stream.MAX_BLOCK_BYTES", block)
            rows = ['0,0.5,0.5,"a"', *SITED[:99], '1,0.4,0.6,"a', *SITED[:200], other, *SITED[:50]]
            path = csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site")
            assert f"{path}, row 101: a quote" in refused(path, skip=skip).cause

    def test_quotes_inside_of_quotes_and_spaces_after_them(self, tmp_path: Path) -> None:
        rows = [
            '0,0.5,0.5,"a ""b"" c"',
            '1,0.5,0.5,"x, y" ',
            '1,0.5,0.5,"two\nlines"',
            '0,0.5,0.5,plain "one"',
        ]
        assert summed(csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site")).tables.n_rows == 4

    def test_in_the_line_of_names(self, tmp_path: Path) -> None:
        path = csv(tmp_path / "x.csv", *SITED, head='y,p_0,p_1,"site')
        assert "the first line" in refused(path).cause

    def test_a_quote_that_is_not_closed_within_the_longest_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("BLOCK_BYTES", "MAX_BLOCK_BYTES"):
            monkeypatch.setattr(f"trueness.formats._text_stream.{name}", 2**10)
        monkeypatch.setattr("trueness.formats._text_stream.MAX_LINE_BYTES", 2**14)
        rows = [*SITED[:100], STRAY["last field"], *SITED[101:], '0,0.25,0.75,"']
        path = csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site")
        assert "row 101: a quote" in refused(path).cause


@given(
    text=st.text('",\n\ra', max_size=60),
    cuts=st.lists(st.integers(1, 20), min_size=60, max_size=60),
)
def test_rows_are_cut_where_pyarrow_ends_them(text: str, cuts: list[int]) -> None:
    """The oracle is pyarrow: blocks that are cut at the ends of rows hold the rows of the whole text."""

    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    from trueness.formats._csv_quotes import Quotes

    def parsed(data: bytes) -> list[str]:
        skipped: list[str] = []

        def skip(row: Any) -> str:
            skipped.append(row.text)
            return "skip"

        try:
            table = arrow_csv.read_csv(
                io.BytesIO(data),
                arrow_csv.ReadOptions(use_threads=False, column_names=["a"], block_size=1000),
                arrow_csv.ParseOptions(newlines_in_values=True, invalid_row_handler=skip),
                arrow_csv.ConvertOptions(column_types={"a": pa.string()}),
            )
        except pa.ArrowInvalid:  # nothing but ends of lines
            return []
        return sorted([*table.column("a").to_pylist(), *skipped])

    quotes, rest, found = Quotes(","), b"", []
    data = text.encode()
    for size in cuts:
        rest, data = rest + data[:size], data[size:]
        end = quotes.end_of_rows(rest)
        found += parsed(rest[:end])
        rest = rest[end:]
    assert sorted([*found, *parsed(rest)]) == parsed(text.encode())
    assert not quotes.is_open_at_end(rest) or quotes.end_of_rows(rest) == 0


@pytest.mark.parametrize(("ending", "separator"), [("csv", ";"), ("csv", "\t"), ("tsv", ",")])
def test_another_separator_is_named_if_rows_are_irregular(
    tmp_path: Path, ending: str, separator: str
) -> None:
    path = tmp_path / f"x.{ending}"
    lines = ["y", "p_0", "p_1"], ["0", "0.5", "0.5"], ["0", "0.5"], ["0", "0.5", "0.5"]
    path.write_text("\n".join(separator.join(line) for line in lines))
    printed = message(path)
    assert f"separated by {separator!r}" in printed
    assert "--delimiter" in printed


def test_a_long_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.csv").write_bytes(b"y,p_0,p_1\n0,0.5," + b"5" * 4 * MEGABYTE)
    assert "x.csv" in message(tmp_path / "x.csv")
    monkeypatch.setattr("trueness.formats._text_stream.MAX_LINE_BYTES", 2 * MEGABYTE)
    (tmp_path / "x.jsonl").write_bytes(b'{"y": 0, "p": [' + b"0," * 4 * MEGABYTE)
    assert "a line of more than" in message(tmp_path / "x.jsonl")


def test_text_of_a_file_cannot_write_to_the_terminal(tmp_path: Path, capsys: Any) -> None:
    (tmp_path / "x.csv").write_bytes(b"y,p_0,p_1\n\x1b[2J\x1b]0;owned\x07,0.5,0.5\n")
    assert (
        main(["tabulate", str(tmp_path / "x.csv"), "--classes", "index", "-o", str(tmp_path / "t.json")]) == 2
    )
    assert "\x1b" not in capsys.readouterr().err
    (tmp_path / "x.csv").write_bytes(b"y,p_0,p_1\n0,0.5,0.5\n0,0.5,0.5\n0,\x1b[2J,0.5\n")
    assert main(["tabulate", str(tmp_path / "x.csv"), "-o", str(tmp_path / "t.json")]) == 2
    printed = capsys.readouterr().err
    assert "row 3: '\\x1b[2J' is not a number" in printed
    assert "\x1b" not in printed
