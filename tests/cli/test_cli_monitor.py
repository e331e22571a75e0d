"""`trueness monitor`, and the tables of days that `trueness tabulate` writes for it."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from monitored import T1, T2, stream, watched

import trueness as tn
from trueness.cli import main
from trueness.old_table import GroupedTables
from trueness.old_table.grouped_file import load_tables, save_tables
from trueness.old_table.tables import Tables

CALM = stream(5, 300, seed=2)
OVER = stream(5, 500, exponent=1.7, seed=3)


@pytest.fixture
def days(tmp_path: Path) -> Path:
    folder = tmp_path / "days"
    folder.mkdir()
    for k, table in enumerate(CALM, 1):
        table.save(folder / f"2026-11-{k:02}.json")
    return folder


def result_of(capsys: Any) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(capsys.readouterr().out)
    return content


class TestMonitor:
    def test_a_folder_and_its_report(self, days: Path, tmp_path: Path, capsys: Any) -> None:
        report = tmp_path / "monitor.html"
        (days / "notes.txt").write_text("not a table")
        assert main(["monitor", str(days), "--report", str(report)]) == 0
        assert "no alarm in 5 looks, 1,500 rows" in capsys.readouterr().out
        assert tn.Monitor.load(report).table == sum(CALM[1:], start=CALM[0])

    def test_names_by_a_pattern_and_in_natural_order(self, tmp_path: Path, capsys: Any) -> None:
        for k in (1, 2, 10):
            CALM[k % 5].save(tmp_path / f"table of day {k} (final).json")
        pattern = str(tmp_path / "*.json")
        assert main(["monitor", pattern, "--at", r"day (\d+)", "--json", "-"]) == 0
        assert [look["at"] for look in result_of(capsys)["looks"]] == ["1", "2", "10"]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--at", "(unclosed"], "--at must be a regular expression"),
            (["--at", "week"], "does not occur in the name of"),
            (["--alpha", "2"], "alpha must be a number above 0"),
            (["--reference", "missing.json"], "--reference missing.json"),
            (["--max-cluster", "0"], "--max-cluster must be an integer"),
            (["--dependence", "day"], "invalid choice"),
        ],
    )
    def test_bad_options_have_exit_code_2(
        self, options: list[str], message: str, days: Path, capsys: Any
    ) -> None:
        try:
            code = main(["monitor", str(days), *options])
        except SystemExit as left:
            code = left.code  # type: ignore[assignment]
        assert code == 2
        assert message in capsys.readouterr().err

    def test_bad_files_have_exit_code_2(self, days: Path, tmp_path: Path, capsys: Any) -> None:
        T1.save(days / "2026-11-09.json")
        assert main(["monitor", str(days)]) == 2
        assert "2026-11-09.json: these tables cannot be added" in capsys.readouterr().err
        assert main(["monitor"]) == 2
        empty = tmp_path / "empty"
        empty.mkdir()
        assert main(["monitor", str(empty)]) == 2
        assert "has no file that ends in .json" in capsys.readouterr().err
        assert main(["monitor", str(tmp_path / "nothing.json")]) == 2

    def test_a_reference(self, days: Path, tmp_path: Path, capsys: Any) -> None:
        reference = tmp_path / "validation.json"
        stream(1, 5000, seed=8)[0].save(reference)
        assert main(["monitor", str(days), "--reference", str(reference), "--json", "-"]) == 0
        assert result_of(capsys)["settings"]["reference_rows"] == 5000

    def test_groups_of_the_tables(self, tmp_path: Path, capsys: Any) -> None:
        for k in range(3):
            groups = {"north": Tables(OVER[k]), "south": Tables(CALM[k])}
            save_tables(GroupedTables("region", groups), str(tmp_path / f"{k}.json"))
        assert main(["monitor", str(tmp_path / "*.json"), "--json", "-"]) == 1
        content = result_of(capsys)
        assert content["alarm"]["groups"] == ["north"]
        assert {group["name"]: group["flagged"] for group in content["groups"]} == {
            "north": True,
            "south": False,
        }


class TestState:
    def test_what_is_new_is_added_in_order_of_arrival(self, days: Path, tmp_path: Path, capsys: Any) -> None:
        state = tmp_path / "watch.monitor"
        first = days / "2026-11-03.json"
        assert (
            main(["monitor", str(first), "--state", str(state), "--alpha", "0.05", "--tolerance", "0"]) == 0
        )
        assert main(["monitor", str(days), "--state", str(state)]) == 0
        assert "4 new looks of 5 looks" in capsys.readouterr().err
        loaded = tn.Monitor.load(state)
        assert [(look.at[-1], look.late) for look in loaded.looks] == [
            ("3", False),
            ("1", True),
            ("2", True),
            ("4", False),
            ("5", False),
        ]
        assert main(["monitor", str(days), "--state", str(state)]) == 0
        assert "0 new looks of 5 looks" in capsys.readouterr().err
        assert main(["monitor", "--state", str(state)]) == 0
        assert "no alarm in 5 looks" in capsys.readouterr().out

    def test_changed_rows_of_a_known_day_are_refused(self, days: Path, tmp_path: Path, capsys: Any) -> None:
        state = tmp_path / "watch.monitor"
        assert main(["monitor", str(days), "--state", str(state)]) == 0
        before = state.read_bytes()
        (CALM[0] + CALM[1]).save(days / "2026-11-02.json")
        assert main(["monitor", str(days), "--state", str(state)]) == 2
        assert "2026-11-02 was counted already with other rows" in capsys.readouterr().err
        assert state.read_bytes() == before

    def test_a_state_is_not_read_as_a_table(self, days: Path, tmp_path: Path) -> None:
        state = days / "watch.json"
        shutil.copy(days / "2026-11-01.json", state)
        assert main(["monitor", str(days / "2026-11-01.json"), "--state", str(state)]) == 2

    def test_a_restarted_state_leaves_earlier_files_out(
        self, days: Path, tmp_path: Path, capsys: Any
    ) -> None:
        state = tmp_path / "watch.monitor"
        tn.Monitor().restarted("2026-11-04").save(state)
        assert main(["monitor", str(days), "--state", str(state)]) == 0
        assert (
            "3 files before 2026-11-04, where the monitor was restarted, left out" in capsys.readouterr().err
        )
        assert len(tn.Monitor.load(state).looks) == 2


class TestCumulative:
    def test_growing_tables_are_subtracted(self, tmp_path: Path, capsys: Any) -> None:
        total = None
        for k, table in enumerate(CALM, 1):
            total = table if total is None else total + table
            total.save(tmp_path / f"{k}.json")
        files = str(tmp_path / "*.json")
        options = ["--alpha", "0.05", "--tolerance", "0", "--json", "-"]
        assert main(["monitor", files, "--cumulative", *options]) == 0
        content = result_of(capsys)
        assert content["log_e_value"] == pytest.approx(watched(CALM).log_e_value)
        assert content["n_rows"] == 1500
        assert main(["monitor", files, *options]) == 0
        assert "cumulative" in {caution["code"] for caution in result_of(capsys)["warnings"]}

    def test_with_a_state(self, tmp_path: Path) -> None:
        state = str(tmp_path / "watch.monitor")
        CALM[0].save(tmp_path / "1.json")
        (CALM[0] + CALM[1]).save(tmp_path / "2.json")
        for files in (["1.json"], ["1.json", "2.json"], ["2.json"]):
            names = [str(tmp_path / name) for name in files]
            assert main(["monitor", *names, "--state", state, "--cumulative"]) == 0
        assert tn.Monitor.load(state).table == CALM[0] + CALM[1]
        assert len(tn.Monitor.load(state).looks) == 2

    def test_tables_that_do_not_grow_are_refused(self, days: Path, capsys: Any) -> None:
        assert main(["monitor", str(days), "--cumulative"]) == 2
        assert "does not contain the rows of the look before" in capsys.readouterr().err


class TestDayFiles:
    @pytest.fixture
    def rows(self, tmp_path: Path) -> str:
        y_true, y_prob = tn.simulate.calibrated(600, [2, 1, 1], rng=0)
        path = tmp_path / "rows.npz"
        day = np.array(["2026-11-16", "2026-11-17", "2026-11-18"])[np.arange(600) % 3]
        region = np.array(["east, 1", "west"])[np.arange(600) % 2]
        np.savez(path, y_true=y_true, y_prob=y_prob, day=day, region=region)
        return str(path)

    def test_at_writes_a_file_that_the_monitor_finds(self, rows: str, tmp_path: Path, capsys: Any) -> None:
        folder = tmp_path / "tables"
        assert main(["tabulate", rows, "--at", "2026-11-16", "-o", f"{folder}/"]) == 0
        assert [path.name for path in folder.iterdir()] == ["2026-11-16.json"]
        capsys.readouterr()
        assert main(["monitor", str(folder), "--json", "-"]) == 0
        assert result_of(capsys)["looks"][0]["at"] == "2026-11-16"

    def test_a_file_for_each_day(self, rows: str, tmp_path: Path, capsys: Any) -> None:
        folder = tmp_path / "tables"
        folder.mkdir()
        assert main(["tabulate", rows, "--by", "day", "-o", str(folder)]) == 0
        assert "3 files, 600 rows" in capsys.readouterr().out
        for day in ("16", "17", "18"):
            alone = tmp_path / "alone.json"
            assert main(["tabulate", rows, "--where", f"day == 2026-11-{day}", "-o", str(alone)]) == 0
            assert load_tables(str(folder / f"2026-11-{day}.json")) == load_tables(str(alone))

    def test_groups_within_days(self, rows: str, tmp_path: Path) -> None:
        folder = tmp_path / "tables"
        assert main(["tabulate", rows, "--by", "day", "--groups", "region", "-o", f"{folder}/"]) == 0
        found = load_tables(str(folder / "2026-11-17.json"))
        assert found.by == "region"
        assert set(found.groups) == {"east, 1", "west"}

    @pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "a\\b"])
    def test_names_that_lead_elsewhere_are_refused(
        self, name: str, rows: str, tmp_path: Path, capsys: Any
    ) -> None:
        assert main(["tabulate", rows, "--at", name, "-o", f"{tmp_path}/t/"]) == 2
        assert "cannot be the name of a file" in capsys.readouterr().err

    def test_a_folder_needs_names(self, rows: str, tmp_path: Path, capsys: Any) -> None:
        assert main(["tabulate", rows, "-o", str(tmp_path)]) == 2
        assert "needs one of --at and --by" in capsys.readouterr().err
        for option, value in (("--at", "x"), ("--by", "day")):
            assert main(["tabulate", rows, option, value, "-o", str(tmp_path / "file.json")]) == 2
            assert f"{option} writes into a folder" in capsys.readouterr().err


def test_a_command_with_class_tables_watches_them(tmp_path: Path, capsys: Any) -> None:
    y_prob = tn.simulate.calibrated(2000, [1] * 4, rng=0).y_prob
    path = tmp_path / "rows.npz"
    np.savez(path, y_true=tn.simulate.shift_labels(y_prob, [2, 1, 1, 1], rng=1), y_prob=y_prob)
    assert main(["tabulate", str(path), "--at", "1", "-o", f"{tmp_path}/t/"]) == 0
    capsys.readouterr()
    assert main(["monitor", f"{tmp_path}/t", "--json", "-"]) == 1
    alarm = result_of(capsys)["alarm"]
    assert (alarm["event"], alarm["meaning"]) == ("0", "predicted too seldom")
    assert main(["monitor", f"{tmp_path}/t", "--no-by-class", "--json", "-"]) == 0


def test_two_tables_of_one_look_add_in_none(tmp_path: Path, capsys: Any) -> None:
    T1.save(tmp_path / "a 2026-11-16.json")
    T2.save(tmp_path / "b 2026-11-16.json")
    assert main(["monitor", f"{tmp_path}/*.json", "--at", r"\d{4}-\d\d-\d\d"]) == 2
    assert "2026-11-16 was counted already with other rows" in capsys.readouterr().err
