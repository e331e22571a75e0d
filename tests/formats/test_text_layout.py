"""Delimiters, decimal signs and encodings as other writers leave them: detected if only one reading is possible."""

import io
from pathlib import Path
from typing import Any

import predictions as same
import pytest
from reading import EXPECTED, all_tables, message, refused, summed, tables

from trueness.cli import main
from trueness.formats import TextLayout
from trueness.formats._text_layout import detect_delimiter

OPTIONS = ["--probs", "p_*", "--classes", "index"]


def frame() -> Any:
    import pandas as pd

    return pd.DataFrame(same.wide())


def test_what_was_detected_is_printed_once(tmp_path: Path, capsys: Any) -> None:
    for name in ("a.csv", "b.csv"):
        frame().to_csv(tmp_path / name, index=False, sep=";", decimal=",", encoding="utf-16")
    all_tables(tmp_path, tmp_path / "a.csv", tmp_path / "b.csv", *OPTIONS)
    printed = capsys.readouterr().err
    for line in ("columns separated by ';'", "decimal comma", "encoding utf-16"):
        assert printed.count(line) == 1
        assert f"{tmp_path / 'a.csv'}: {line}" in printed


def test_a_usual_file_prints_nothing_about_its_layout(tmp_path: Path, capsys: Any) -> None:
    frame().to_csv(tmp_path / "a.csv", index=False)
    all_tables(tmp_path, tmp_path / "a.csv", *OPTIONS)
    printed = capsys.readouterr().err
    assert "separated" not in printed
    assert "decimal" not in printed


def test_on_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(frame().to_csv(index=False, sep=";", decimal=",").encode("utf-16"))

    monkeypatch.setattr("sys.stdin", Stdin())
    assert tables(tmp_path, "-", *OPTIONS) == EXPECTED


class TestDecimals:
    def test_a_column_of_points_beside_one_of_commas_is_ambiguous(self, tmp_path: Path) -> None:
        (tmp_path / "x.csv").write_text("y;p_0;p_1;v\n0;0,25;0,75;1.5\n1;0,25;0,75;2.5\n")
        assert "--decimal" in message(tmp_path / "x.csv")
        found = summed(tmp_path / "x.csv", layout=TextLayout(decimal=","))
        assert found.tables.n_rows == 2

    def test_commas_in_text_do_not_matter(self, tmp_path: Path) -> None:
        (tmp_path / "x.tsv").write_text("y\tp_0\tp_1\tnote\n0\t0.25\t0.75\ta, b\n1\t0.25\t0.75\t1,5\n")
        assert summed(tmp_path / "x.tsv").tables.n_rows == 2

    def test_thousands_are_not_decimals(self, tmp_path: Path) -> None:
        """1,234 may be 1234: with it alone, nothing is decided."""
        (tmp_path / "x.csv").write_text("y;p_0;p_1;w\n0;1;0;1,234\n1;0;1;2,345\n")
        assert summed(tmp_path / "x.csv").tables.n_rows == 2
        assert refused(tmp_path / "x.csv", weight="w").code == "decimal-comma"

    def test_percentages_conditions_and_bad_rows(self, tmp_path: Path) -> None:
        from trueness.files import parse_condition

        (tmp_path / "x.csv").write_text(
            "y;p_0;p_1;age\n0;25,5%;74,5%;1,5\n1;25,5%;74,5%;2,5\n1;25,5%;74,5%;0,5\n"
        )
        found = summed(
            tmp_path / "x.csv",
            scale="percent",
            where=(parse_condition("age >= 1.5"),),
            layout=TextLayout(decimal=","),
        )
        assert found.tables.n_rows == 2
        (tmp_path / "y.csv").write_text("y;p_0;p_1\n0;0,25;0,75\n1;0,25;0,75\n1;zero;0,75\n1;0,5;0,5\n")
        assert "row 3: 'zero' is not a number" in refused(tmp_path / "y.csv").cause
        assert summed(tmp_path / "y.csv", skip=True).tables.n_rows == 3


class TestDelimiters:
    def test_the_delimiter_of_the_ending_comes_first(self) -> None:
        assert detect_delimiter("y,p\n0,a;b\n1,c;d\n", ",", "x") == ","
        assert detect_delimiter("y,n\n0,a;b\n1,c\n", ",", "x") == ","

    def test_two_possible_readings_are_refused(self, tmp_path: Path) -> None:
        """Without a header, 0;0,25;0,75 has three fields by commas too."""
        (tmp_path / "x.csv").write_text("0;0,25;0,75\n1;0,25;0,75\n1;0,25;0,75\n")
        found = refused(tmp_path / "x.csv", header=False, label="1", probs="2-3")
        assert found.code == "ambiguous-delimiter"
        given = TextLayout(delimiter=";")
        assert (
            summed(tmp_path / "x.csv", header=False, label="1", probs="2-3", layout=given).tables.n_rows == 3
        )

    @pytest.mark.parametrize("text", ["ab", '"', "\n", "é"])
    def test_what_cannot_be_a_delimiter(self, text: str, capsys: Any) -> None:
        with pytest.raises(SystemExit):
            main(["assess", "x.csv", "--delimiter", text])
        assert "delimiter" in capsys.readouterr().err


def test_text_that_ends_inside_of_a_character(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes("y,p_0,p_1\n0,0.5,0.5\n".encode("utf-16")[:-1])
    assert refused(tmp_path / "x.csv").code == "not-utf-8"
