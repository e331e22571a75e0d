"""Conditions on rows: numbers, dates and text, compared without rounding."""

from decimal import Decimal
from operator import eq, ge, gt, le, lt, ne
from pathlib import Path

import numpy as np
import predictions as same
import pytest
from reading import csv, refused, summed, tables

import trueness as tn
from trueness.cli import main
from trueness.files import Request, RowOptions, Source, find_inputs, load_tables, parse_condition
from trueness.refusals import Refusal


def _write_ids(path: Path, ids: list[int]) -> None:
    """A row for each id."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    dtype = np.uint64 if max(ids) >= 2**63 else np.int64
    if path.suffix == ".npz":
        np.savez(path, y=[0] * len(ids), y_prob=[[0.5, 0.5]] * len(ids), id=np.array(ids, dtype))
    elif path.suffix == ".parquet":
        columns = {"y": [0] * len(ids), "p_0": [0.5] * len(ids), "p_1": [0.5] * len(ids)}
        pq.write_table(pa.table({**columns, "id": np.array(ids, dtype)}), path)
    elif path.suffix == ".csv":
        rows = [f"0,0.5,0.5,{number}\n" for number in ids]
        path.write_text("".join(["y,p_0,p_1,id\n", *rows]), encoding="utf-8")
    else:
        lines = [f'{{"y": 0, "p": [0.5, 0.5], "id": {number}}}\n' for number in ids]
        path.write_text("".join(lines), encoding="utf-8")


class TestConditions:
    def test_conditions(self, parquet: Path) -> None:
        chosen = (same.AGE >= 40) & np.isin(same.HOSPITAL, ["north", "größe"])
        got = tables(
            parquet.parent, parquet, *same.WIDE, "--where", "age >= 40", "--where", "hospital in north, größe"
        )
        assert got[0] == tn.tabulate(same.Y_TRUE[chosen], same.Y_PROB[chosen])

    def test_numbers_in_names_of_folders_are_compared_as_numbers(self, tmp_path: Path) -> None:
        for month in ("2", "9", "10", "11"):
            folder = tmp_path / "data" / f"month={month}"
            folder.mkdir(parents=True)
            rows = "0,0.5,0.5\n" * int(month)
            (folder / "x.csv").write_text("y,p_0,p_1\n" + rows, encoding="utf-8")
        for where, n_rows in (
            ("month >= 9", 30),
            ("month < 10", 11),
            ("month = 09", 9),
            ("month != 2", 30),
            ("month in 2, 11.0", 13),
            ("month = '09'", None),
        ):
            arguments = ["tabulate", str(tmp_path / "data"), "--where", where, "-o", str(tmp_path / "t")]
            assert main(arguments) == (2 if n_rows is None else 0)
            assert n_rows is None or load_tables(str(tmp_path / "t")).n_rows == n_rows

    @pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl", "npz"])
    @pytest.mark.parametrize(
        "values",
        [
            [2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2],
            [-(2**63), -(2**53) - 1, 0, 2**63 - 1],
            [0, 2**63, 2**64 - 2, 2**64 - 1],
        ],
        ids=["around 2**53", "int64", "uint64"],
    )
    def test_whole_numbers_are_compared_exactly(self, tmp_path: Path, ending: str, values: list[int]) -> None:
        """The oracle is Python, whose integers and decimals are exact."""
        if ending == "jsonl" and max(values) >= 2**63:
            values = values[:1]  # pyarrow reads larger ones of JSON as float64
        path = tmp_path / f"x.{ending}"
        _write_ids(path, values)
        bounds = [str(value) for value in values] + [f"{values[-1]}.5", "1e3", "-0.25", "1e30"]
        for sign, compare in (("=", eq), ("!=", ne), ("<", lt), ("<=", le), (">", gt), (">=", ge)):
            for bound in bounds:
                where = (parse_condition(f"id {sign} {bound}"),)
                source = Source(find_inputs([str(path)]).files, Request(where=where), RowOptions())
                found = sum(len(batch) for batch in source.batches())
                assert found == sum(compare(value, Decimal(bound)) for value in values), (sign, bound)

    def test_text_that_is_numbers_or_dates(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        decimals = ["9007199254740992.1", "9007199254740992.2", "1.0", "2.0"]
        columns = {
            "y": [0] * 4,
            "p": [0.5] * 4,
            "age": ["9", "65", " 070 ", None],
            "day": ["2026-01-31", "2026-02-01", "2026-11-16", ""],
            "time": pa.array([0, 10**9, 2 * 10**9, None], pa.timestamp("ns")),
            "exact": pa.array([Decimal(text) for text in decimals], pa.decimal128(30, 1)),
            "zip": ["01234", "1234", "x", "NA"],
        }
        pq.write_table(pa.table(columns), tmp_path / "x.parquet")
        for where, n_rows in (
            ("age >= 65", 2),
            ("age != 65", 2),
            ("age in 9.0, 70", 2),
            ("day >= 2026-02-01", 2),
            ("day < 2026-02-01T00:00", 1),
            ("time > 1970-01-01", 2),
            ("time = 1970-01-01T00:00:01", 1),
            ("exact = 9007199254740992.2", 1),
            ("exact < 9007199254740992.2", 3),
            ("zip = 1234", 2),
            ("zip = '1234'", 1),
            ("zip != 1234", 1),
        ):
            assert tables(tmp_path, tmp_path / "x.parquet", "--where", where)[0].n_rows == n_rows, where
        for where in ("zip >= 1234", "day > a", "age > '9'"):
            arguments = ["tabulate", str(tmp_path / "x.parquet"), "--where", where, "-o", str(tmp_path / "t")]
            assert main(arguments) == 2, where

    def test_decimals_are_rounded_as_the_column_was(self, tmp_path: Path) -> None:
        y_prob = [[0.5, 0.5]] * 3
        for dtype in (np.float16, np.float32, np.float64):
            share = np.array([0.1, 0.2, np.inf], dtype)
            np.savez(tmp_path / "x.npz", y_true=[0] * 3, y_prob=y_prob, share=share)
            for where, n_rows in (
                ("share = 0.1", 1),
                ("share > 0.1", 2),
                ("share < 1e30", 2),
                ("share > 1e400", 0),
            ):
                condition = (parse_condition(where),)
                source = Source(
                    find_inputs([str(tmp_path / "x.npz")]).files, Request(where=condition), RowOptions()
                )
                assert sum(len(batch) for batch in source.batches()) == n_rows, (dtype, where)


class TestRefusedConditions:
    @pytest.mark.parametrize("where", ["age", ">= 3", ""])
    def test_text_that_is_not_a_condition(self, where: str) -> None:
        from trueness.files import parse_condition

        with pytest.raises(Refusal, match="not a condition"):
            parse_condition(where)

    @pytest.mark.parametrize(
        ("where", "n_rows"),
        [
            ("site in 'a', b, 'c'", 60),
            ("site in 'a', \"b\"", 40),
            ("site in 'a, b', c", 20),
            ("site in a,,b", 40),
            ("code in '10', 7", 30),
            ("code in 10", 30),
            ("code = 10", 30),
        ],
    )
    def test_items_in_quotes(self, tmp_path: Path, where: str, n_rows: int) -> None:
        """Each item of a list has quotes of its own; 1_0 is not a number."""
        from trueness.files import parse_condition

        rows = [f"0,0.5,0.5,{'abc'[k % 3]},{('10', '1_0')[k % 2]}" for k in range(60)]
        path = csv(tmp_path / "x.csv", *rows, head="y,p_0,p_1,site,code")
        assert summed(path, where=(parse_condition(where),)).tables.n_rows == n_rows

    def test_items_with_a_quote_that_is_not_closed(self) -> None:
        from trueness.files import parse_condition

        for where in ("site in 'a, b", "site in a, 'b", "site in 'a'b, c"):
            with pytest.raises(Refusal, match="a quote that is not closed"):
                parse_condition(where)

    def test_conditions_of_the_wrong_kind(self, tmp_path: Path) -> None:
        from trueness.files import parse_condition

        np.savez(
            tmp_path / "x.npz", y_true=[0, 1], y_prob=[[0.5, 0.5]] * 2, ok=[True, False], name=["a", "b"]
        )
        path = tmp_path / "x.npz"
        assert "holds numbers" in refused(path, where=(parse_condition("y_true = cat"),)).cause
        assert "is neither" in refused(path, where=(parse_condition("ok = 1"),)).cause
        for text in ("ok = true", "name = 'a'", "y_true in 0,7"):
            assert summed(path, where=(parse_condition(text),)).tables.n_rows == 1
        assert "compares numbers or dates" in refused(path, where=(parse_condition("name < b"),)).cause
        error = refused(path, where=(parse_condition("name < 3"),))
        assert error.cause.startswith(f"{path}, row 1: column 'name' is 'a'")
        assert "= or in" in error.remedy
