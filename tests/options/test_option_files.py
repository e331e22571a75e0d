"""Files whose rows have options of their own, through the command: assess, tabulate, merge, compare."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from option_rows import N_OPTIONS, ROWS, Y_PROB, Y_TRUE

import trueness as tn
from trueness.cli import main

EXAMPLE = Path(__file__).parents[1] / "fixtures" / "ragged.jsonl"
"""90 rows of 2 to 5 options; an independent implementation gave the numbers below."""

EXPECTED = {
    "vce": 0.14095158590792317,
    "net": -0.10654770603321846,
    "rce": 0.14311083639916386,
    "rce_w1": 0.08391741348839266,
    "uce": 0.27100290063479693,
    "ece": 0.08987157011177703,
    "log_score_z": -2.1399339782393882,
}

GROUPS = ["even", "odd"] * 100


def written(path: Path, rows: Any = ROWS, labels: Any = Y_TRUE) -> str:
    """The rows as a file with a list column, in the format of its ending."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    labels = np.asarray(labels).tolist()
    if path.suffix == ".jsonl":
        lines = [
            json.dumps({"y": y, "p": row, "site": site, "doc": k // 4})
            for k, (y, row, site) in enumerate(zip(labels, rows, GROUPS, strict=False))
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return str(path)
    table = pa.table(
        {"y": labels, "p": pa.array(rows), "site": GROUPS[: len(rows)], "doc": np.arange(len(rows)) // 4}
    )
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=37)
    else:
        pyarrow.feather.write_feather(table, str(path))
    return str(path)


def command(capsys: Any, *arguments: Any, code: int = 0) -> tuple[str, str]:
    assert main([*map(str, arguments)]) == code
    ended = capsys.readouterr()
    return ended.out, ended.err


@pytest.mark.parametrize("ending", [".jsonl", ".parquet", ".feather"])
@pytest.mark.parametrize("batch", [10**6, 50])
def test_every_format_gives_the_tables_of_the_library(
    ending: str, batch: int, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", batch)
    path, out = written(tmp_path / f"rows{ending}"), tmp_path / "t.json"
    summary, _ = command(capsys, "tabulate", path, "--ragged", "-o", out)
    assert "200 rows, 2 to 7 options (2: 30, 3: 60, 4: 90, 7: 20)" in summary
    assert tn.OptionTables.load(out) == tn.tabulate(Y_TRUE, ROWS)


def test_assess_is_that_of_the_library(tmp_path: Path, capsys: Any) -> None:
    path = written(tmp_path / "rows.parquet")
    options = ["--ragged", "--groups", "site", "--clusters", "doc", "--resamples", 99]
    text, _ = command(capsys, "assess", path, *options)
    expected = tn.assess(Y_TRUE, ROWS, groups=GROUPS, clusters=np.arange(200) // 4, resamples=99)
    assert text == f"{expected}\n"


def test_shards_with_other_options_merge(tmp_path: Path, capsys: Any) -> None:
    """In order of their options, so that some shards have one number alone; with groups and without."""
    order = np.argsort(N_OPTIONS, kind="stable")
    for more in ([], ["--groups", "site"]):
        shards = []
        for k, part in enumerate(np.split(order, [20, 30, 120])):
            path = written(tmp_path / f"{k}.jsonl", [ROWS[i] for i in part], Y_TRUE[part])
            shards.append(tmp_path / f"{k}.json")
            command(capsys, "tabulate", path, "--ragged", "-o", shards[-1], *more)
        summary, _ = command(capsys, "merge", *shards, "-o", tmp_path / "all.json")
        assert "200 rows, 2 to 7 options" in summary
        text, _ = command(capsys, "assess", tmp_path / "all.json", "--resamples", 99)
        expected = tn.assess(Y_TRUE, ROWS, resamples=99)
        assert text.splitlines()[2:12] == str(expected).splitlines()[2:12]


def test_models_are_compared_on_the_same_options(tmp_path: Path, capsys: Any) -> None:
    flat = np.where(Y_PROB > 0, np.sqrt(Y_PROB), 0.0)
    flat /= flat.sum(axis=1, keepdims=True)
    other = [row[:c].tolist() for row, c in zip(flat, N_OPTIONS.tolist(), strict=True)]
    paths = [written(tmp_path / "a.jsonl"), written(tmp_path / "b.parquet", other)]
    text, _ = command(capsys, "compare", *paths, "--ragged", "--resamples", 99)
    expected = tn.compare(Y_TRUE, {"a": ROWS, "b": other}, resamples=99)
    assert text == f"{expected}\n"
    for name, path in zip("ab", paths, strict=True):
        command(capsys, "tabulate", path, "--ragged", "-o", tmp_path / f"{name}.json")
    text, _ = command(capsys, "compare", tmp_path / "a.json", tmp_path / "b.json", "--resamples", 99)
    assert "2 to 7 options" in text


class TestRefusals:
    def test_one_list_column_is_needed(self, tmp_path: Path, capsys: Any) -> None:
        path = tmp_path / "wide.csv"
        path.write_text("y,p_0,p_1\n0,0.4,0.6\n", encoding="utf-8")
        _, message = command(capsys, "assess", path, "--ragged", code=2)
        assert "--ragged needs one list column" in message
        _, message = command(
            capsys, "assess", written(tmp_path / "r.jsonl"), "--ragged", "--classes", "a,b", code=2
        )
        assert "--classes cannot be used with --ragged" in message

    def test_bad_rows_are_named_by_their_number(self, tmp_path: Path, capsys: Any) -> None:
        rows = [list(row) for row in ROWS]
        rows[7] = [0.5]
        rows[9] = [0.9, 0.9, 0.2]
        labels = Y_TRUE.copy()
        labels[11] = 6
        path = written(tmp_path / "rows.jsonl", rows, labels)
        _, message = command(capsys, "assess", path, "--ragged", code=2)
        assert "row 8" in message
        assert "must have at least 2 probabilities, got 1" in message
        out = tmp_path / "t.json"
        _, notes = command(capsys, "tabulate", path, "--ragged", "--on-bad-rows", "skip", "-o", out)
        skipped = {7, 9, *([11] if N_OPTIONS[11] <= 6 else [])}
        kept = np.array([k for k in range(200) if k not in skipped])
        assert f"skipped {len(skipped)} of 200 rows" in notes
        assert tn.OptionTables.load(out) == tn.tabulate(Y_TRUE[kept], [ROWS[k] for k in kept])

    def test_saved_tables_have_their_options(self, tmp_path: Path, capsys: Any) -> None:
        out = tmp_path / "t.json"
        command(capsys, "tabulate", written(tmp_path / "rows.jsonl"), "--ragged", "-o", out)
        _, message = command(capsys, "assess", out, "--ragged", code=2)
        assert "--ragged applies to rows" in message

    def test_tables_of_classes_and_of_options_do_not_merge(self, tmp_path: Path, capsys: Any) -> None:
        four = N_OPTIONS == 4
        rows = Y_PROB[four, :4].tolist()
        path = written(tmp_path / "four.jsonl", rows, Y_TRUE[four])
        command(capsys, "tabulate", path, "--no-by-class", "-o", tmp_path / "plain.json")
        command(capsys, "tabulate", path, "--ragged", "-o", tmp_path / "own.json")
        _, message = command(
            capsys, "merge", tmp_path / "plain.json", tmp_path / "own.json", "-o", tmp_path / "x.json", code=2
        )
        assert "does not add" in message


@pytest.mark.adapters
def test_dask_gives_the_same_tables(tmp_path: Path) -> None:
    import dask

    from trueness.adapters import dask as on_dask

    parts = np.array_split(np.arange(200), 3)
    paths = [
        written(tmp_path / f"{k}.parquet", [ROWS[i] for i in part], Y_TRUE[part])
        for k, part in enumerate(parts)
    ]
    columns: dict[str, Any] = {"label": "y", "probs": "p", "ragged": True}
    with dask.config.set(scheduler="threads"):
        assert on_dask.tabulate(paths, **columns) == tn.tabulate(Y_TRUE, ROWS)
        found = on_dask.assess(paths, **columns, resamples=99)
    assert found == tn.assess(Y_TRUE, ROWS, resamples=99)
