"""The command ``trueness reproduce`` and the figures it draws."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from trueness.cli import main, reproduce
from trueness.reproduction import cells, figures, metric_values
from trueness.reproduction.scenarios import Cell, skewed_scenario
from trueness.reproduction.theory import Limit

SMALL = ["--max-rows", "1e4", "--repeats", "3", "--no-figures", "--n-threads", "2"]


def reproduced(*arguments):
    return main(["reproduce", *map(str, arguments)])


class TestCommand:
    def test_the_paper_at_its_smallest_size(self, tmp_path, capsys):
        assert reproduced("--out", tmp_path, *SMALL) == 0
        out, err = capsys.readouterr()
        assert "24 of 24 cells agree with theory." in out
        assert "a ratio of" in out
        assert err == ""  # no progress bar without a terminal
        assert {path.name for path in tmp_path.iterdir()} == {
            "cells",
            "results.csv",
            "results.json",
            "verdict.md",
        }
        assert reproduced("--out", tmp_path, *SMALL) == 0
        assert capsys.readouterr().err == ""  # all cells were saved

    def test_a_scenario_of_the_user_beyond_the_paper(self, tmp_path, capsys):
        chosen = [
            "--n-classes",
            5,
            "--alpha",
            "2,1,1,1,1",
            "--more-metrics",
            "--miscalibrated",
            "--rng-seed",
            4,
        ]
        assert reproduced("--out", tmp_path, *SMALL, *chosen) == 0
        content = json.loads((tmp_path / "results.json").read_text())
        assert {limit["alpha"] for limit in content["limits"]} == {"2,1,1,1,1"}
        assert {reading["metric"] for reading in content["readings"]} >= {
            "vce_iqv",
            "vce_wvr",
            "vce_confidence",
            "rce_tv",
        }
        assert content["readings"][0]["seed"] == [4, 5, 6]
        assert (tmp_path / "twins.csv").exists()
        assert "16 of 16" in capsys.readouterr().out

    def test_a_cell_far_from_theory_ends_with_1(self, tmp_path, capsys, monkeypatch):
        def wrong(scenario):
            return {
                (binning, metric): Limit(0.0, 9.0, 0.1)
                for binning in ("width", "mass")
                for metric in ("vce", "ece", "uce")
            }

        monkeypatch.setattr(metric_values, "published_limits", wrong)
        assert reproduced("--out", tmp_path, *SMALL) == 1
        assert "FAILS: vce in bins of equal width, C = 3, all α = 1, N = 10000" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["--max-rows", "10"], "max_rows must be at least 10000"),
            (["--alpha", "1,x"], "alpha must be numbers"),
            (["--alpha", "1,1", "--n-classes", "3"], "alpha has 2 numbers, but there are 3 classes"),
            (["--n-classes", "1"], "--n-classes must be an integer of at least 2"),
            (["--repeats", "0"], "--repeats must be an integer of at least 1"),
            (["--n-threads", "0"], "--n-threads must be an integer of at least 1"),
        ],
    )
    def test_bad_input_ends_with_2(self, arguments, message, tmp_path, capsys):
        assert reproduced("--out", tmp_path, "--no-figures", *arguments) == 2
        cause, remedy = capsys.readouterr().err.splitlines()
        assert message in cause
        assert remedy.startswith("  ")
        assert reproduced("--out", tmp_path, "--no-figures", "--debug", *arguments) == 2
        assert capsys.readouterr().err.startswith("Traceback")

    def test_a_file_instead_of_a_folder(self, tmp_path, capsys):
        (tmp_path / "taken").write_text("")
        assert reproduced("--out", tmp_path / "taken", *SMALL) == 2
        assert "taken" in capsys.readouterr().err

    def test_figures_need_matplotlib(self, tmp_path, capsys, monkeypatch):
        monkeypatch.setattr(reproduce, "find_spec", lambda _: None)
        assert reproduced("--out", tmp_path) == 2
        assert "pip install 'trueness[reproduction]'" in capsys.readouterr().err

    def test_scipy_is_needed(self, tmp_path, capsys, monkeypatch):
        monkeypatch.delitem(sys.modules, "trueness.reproduction.dirichlet", raising=False)
        monkeypatch.setitem(sys.modules, "scipy.integrate", None)
        assert reproduced("--out", tmp_path / "out", *SMALL) == 2
        assert "pip install 'trueness[reproduction]'" in capsys.readouterr().err
        assert not (tmp_path / "out").exists()

    def test_an_interruption_prints_how_to_resume(self, tmp_path, capsys, monkeypatch):
        def interrupted(*_):
            raise KeyboardInterrupt

        monkeypatch.setattr("trueness.reproduction.run.reproduce", interrupted)
        assert reproduced("--out", tmp_path, *SMALL) == 130
        assert "the same command resumes" in capsys.readouterr().err

    def test_more_classes_than_theory_is_computed_for(self, tmp_path, capsys):
        assert reproduced("--out", tmp_path, "--no-figures", "--n-classes", 1000, "--alpha", 1) == 2
        assert "up to 200 classes, got 1000" in capsys.readouterr().err

    def test_classes_alone_mean_all_alpha_one(self):
        assert [s.label for s in reproduce._scenarios(4, None)] == ["1,1,1,1"]
        assert [s.label for s in reproduce._scenarios(None, ["1,2", "3,4", "1,2"])] == ["1,2", "3,4"]


class TestFigures:
    def test_the_command_draws_the_paper_s_figures(self, tmp_path):
        chosen = [
            "--max-rows",
            "1e4",
            "--repeats",
            2,
            "--more-metrics",
            "--miscalibrated",
            "--alpha",
            "1,1,1",
        ]
        assert reproduced("--out", tmp_path, *chosen) == 0
        wanted = ["figure1", "figure2", "figure3", "beyond-width", "beyond-mass", "twins"]
        starts = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}
        for name in wanted:
            for suffix, start in starts.items():
                content = (tmp_path / f"{name}.{suffix}").read_bytes()
                assert content.startswith(start)
                assert len(content) > 5_000
        assert b"C = 3, all" in (tmp_path / "figure1.svg").read_bytes()

    def test_reliability_shows_both_sides_of_each_metric(self):
        (done,) = cells.tabulate_cells([Cell(skewed_scenario(3, 1), 20_000, 0)]).cells
        diagrams = {one.title: one for one in figures.reliability(done)}
        for metric in metric_values.PAPER_METRICS:
            shown = diagrams[metric.title]
            gaps = np.abs(np.array(shown.predicted) - np.array(shown.observed))
            value = metric.read(done.tables[metric.measure, "width"])
            assert gaps @ np.array(shown.share) == pytest.approx(value)
            assert shown.legend == f"{metric.name.upper()} = {value:.2g}"
        assert diagrams["ECE"].low == pytest.approx(1 / 3)


STOPS_AFTER_A_BATCH = """
import sys
from trueness.cli import process
from trueness.reproduction.store import TimingLog

add = TimingLog.add

def add_and_wait(*arguments):
    add(*arguments)
    print("a batch of cells is saved", flush=True)
    sys.stdin.readline()  # until the interrupt

TimingLog.add = add_and_wait
process()
"""


def test_ctrl_c_stops_a_real_run_that_then_resumes(tmp_path):
    """The second run computes the cells that the first had not finished, and no others."""
    arguments = ["reproduce", "--out", str(tmp_path), "--max-rows", "1e5", "--no-figures", "--alpha", "1,1,1"]
    arguments += ["--repeats", "60", "--n-threads", "2"]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(
        [sys.executable, "-c", STOPS_AFTER_A_BATCH, *arguments], text=True, **pipes
    ) as first:
        assert first.stdout.readline() == "a batch of cells is saved\n"
        first.send_signal(signal.SIGINT)
        assert first.wait(timeout=120) == 130
        printed = first.stderr.read()
    assert "the same command resumes" in printed
    assert "Traceback" not in printed
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("cells/*/c3-*.json")}
    assert 0 < len(before) < 120
    second = subprocess.run(
        [sys.executable, "-m", "trueness", *arguments], capture_output=True, text=True, check=True
    )
    assert "12 of 12 cells agree with theory." in second.stdout
    after = {path: path.stat().st_mtime_ns for path in tmp_path.glob("cells/*/c3-*.json")}
    assert len(after) == 120
    assert before.items() <= after.items()
