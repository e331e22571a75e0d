"""Excel workbooks, written by openpyxl and by pandas."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from reading import all_tables, refused, summed, tables

import trueness as tn

Y_TRUE = np.array([0, 1, 2, 1] * 700)
Y_PROB = np.tile([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0, 0, 1], [0.25, 0.375, 0.375]], (700, 1))
"""Multiples of 1/8, since openpyxl writes 16 digits and not 17."""


def book(path: Path, *rows: list[Any], sheets: tuple[str, ...] = ("Sheet",)) -> Path:
    from openpyxl import Workbook

    made = Workbook()
    made.remove(made.active)
    for sheet in map(made.create_sheet, sheets):
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


HEAD = ["y", "p_0", "p_1"]


def test_a_workbook_of_pandas_gives_the_table_of_the_rows(tmp_path: Path) -> None:
    import pandas as pd

    columns = {
        "site": ["north", "süd"] * 1400,
        "y_true": Y_TRUE,
        **{f"p_{c}": Y_PROB[:, c] for c in range(3)},
    }
    pd.DataFrame(columns).to_excel(tmp_path / "x.xlsx", index=False)
    expected = [tn.tabulate(Y_TRUE, Y_PROB, variation=name) for name in ("entropy", "confidence")]
    assert tables(tmp_path, tmp_path / "x.xlsx") == expected
    assert set(summed(tmp_path / "x.xlsx", by="site").tables.groups) == {"north", "süd"}


def test_names_truth_values_and_empty_rows(tmp_path: Path) -> None:
    path = book(tmp_path / "x.xlsx", ["y", "p"], [True, 0.5], [None, None], [False, 0.25], [True, 1])
    assert summed(path).tables.n_rows == 3
    path = book(tmp_path / "x.xlsx", ["label", "p_cat", "p_dog"], ["cat", 0.5, 0.5], ["dog", 0, 1])
    assert all_tables(tmp_path, path).by_variation == tn.tabulate([0, 1], [[0.5, 0.5], [0, 1]])


def test_text_among_numbers_is_a_bad_row(tmp_path: Path) -> None:
    path = book(tmp_path / "x.xlsx", HEAD, [0, 0.5, 0.5], [1, "n/a", 0.5], [1, 0.5, 0.5])
    assert "row 2: 'n/a' is not a number" in refused(path).cause
    assert summed(path, skip=True).tables.n_rows == 2


def test_a_part_that_was_compressed_far_too_much(tmp_path: Path) -> None:
    path = book(tmp_path / "x.xlsx", HEAD, [0, 0.5, 0.5])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/bomb.xml", bytes(2**26))
    assert refused(path).code == "damaged-file"
