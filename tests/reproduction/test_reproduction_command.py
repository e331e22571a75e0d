"""The command ``trueness reproduce`` and the figures it draws."""

import itertools
import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from trueness import _progress
from trueness.cli import COMMANDS, main, reproduce
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

    @pytest.mark.slow
    def test_a_scenario_whose_curvature_matters(self, tmp_path):
        """With 20 nearly uniform classes, the curvature matters at 10⁴ rows, as theory allows."""
        assert reproduced("--out", tmp_path, *SMALL, "--n-classes", 20, "--alpha", 50) == 0

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

    def test_help_names_all_commands(self, capsys):
        with pytest.raises(SystemExit, match="0"):
            main(["--help"])
        text = capsys.readouterr().out
        assert all(name in text for name in COMMANDS)


class TestProgress:
    def test_on_a_terminal_it_has_a_name_and_the_time_left(self, capsys, monkeypatch):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
        monkeypatch.setattr(_progress, "APPEARS_AFTER", 0.0)
        seconds = itertools.count()
        monkeypatch.setattr(
            "tqdm.std.time", lambda: float(next(seconds))
        )  # tqdm draws ten times a second at most
        with _progress.rows_bar("calibrated rows", 10) as tick:
            tick(5)
            tick(2)
        shown = capsys.readouterr().err
        assert "calibrated rows:  70%|" in shown
        assert "rows/s]" in shown

    @pytest.mark.parametrize(("n_rows", "terminal"), [(0, True), (10, False)])
    def test_no_bar_without_work_or_without_a_terminal(self, capsys, monkeypatch, n_rows, terminal):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
        monkeypatch.setattr(_progress, "APPEARS_AFTER", 0.0)
        with _progress.rows_bar("rows", n_rows) as tick:
            tick(5)
        assert capsys.readouterr().err == ""


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

    def test_the_same_numbers_give_the_same_bytes(self, tmp_path):
        from trueness.plots import paper

        curve = paper.Curve(
            "VCE", 0, [10**4, 10**5], [0.01, 0.004], [0.003, 0.001], [0.01, 0.003], [0.003, 0.001]
        )
        for name in ("one", "two"):
            paper.save(paper.metric_panels([paper.Panel("panel", [curve])], "title"), tmp_path / name)
        for suffix in paper.FORMATS:
            one, two = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("one", "two"))
            assert one == two

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

    def test_reliability_has_a_dashed_diagonal_and_the_value_in_the_legend(self):
        from trueness.plots import paper

        (done,) = cells.tabulate_cells([Cell(skewed_scenario(3, 1), 20_000, 0)]).cells
        axes = paper.reliability_panels(figures.reliability(done), "title").axes
        assert len(axes) == 3
        for axis in axes:
            diagonal = axis.lines[0]
            assert diagonal.get_linestyle() == "--"
            np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
            texts = [text.get_text() for text in axis.get_legend().get_texts()]
            assert texts[0] == "perfect calibration"
            assert "CE = 0." in texts[1]

    def test_panels_show_their_data(self):
        from trueness.plots import paper

        sizes = [10**4, 10**5]
        curve = paper.Curve(
            "VCE", 0, sizes, [0.012, 0.004], [0.003, np.nan], [0.0116, 0.0037], [0.003, 0.001]
        )
        figure = paper.metric_panels([paper.Panel("one", [curve])] * 3, "title")
        visible = [axis for axis in figure.axes if axis.get_visible()]
        assert [axis.get_title() for axis in visible] == ["one"] * 3
        assert all(axis.get_xscale() == axis.get_yscale() == "log" for axis in visible)
        theory = visible[0].lines[0]
        np.testing.assert_allclose(theory.get_ydata()[1:-1], curve.expected)
        # Beyond the points the line continues with the same power of N.
        slope = np.diff(np.log(theory.get_ydata())) / np.diff(np.log(theory.get_xdata()))
        np.testing.assert_allclose(slope, slope[1])

    def test_one_size_is_a_level_line(self):
        from trueness.plots import paper

        curve = paper.Curve("VCE", 0, [10**4], [0.012], [np.nan], [0.0116], [0.003])
        line = paper.metric_panels([paper.Panel("one", [curve])], "title").axes[0].lines[0]
        np.testing.assert_array_equal(line.get_ydata(), 0.0116)

    def test_pictures_of_the_theory(self):
        from trueness.plots import theory

        rng = np.random.default_rng(0)
        bound = theory.BoundCurve("entropy", "Theorem 3", [0.1, 0.01], [0.5, 0.05], [0.11, 0.011])
        figure = theory.bound_panels([theory.BoundPanel("C = 3", [100, 10_000], [bound])])
        assert len(figure.axes[0].lines) == 3
        limit = np.abs(rng.standard_normal(5000))
        figure = theory.limit_panels([theory.LimitPanel("one bin", limit[:500], limit)])
        heights = np.array([patch.get_height() for patch in figure.axes[0].patches])
        widths = np.array([patch.get_width() for patch in figure.axes[0].patches])
        assert heights @ widths == pytest.approx(1)
        line = np.linspace(0.4, 0.6, 5)
        spots = theory.BlindSpots(
            ((0.9, 0.1), (0.1, 0.9)),
            (line, line),
            ((0.6, 0.3, 0.1), (0.5, 0.4, 0.1)),
            (line, line),
            (line, line),
        )
        figure = theory.blind_spot_panels(spots)
        assert [patch.get_height() for patch in figure.axes[0].patches] == [0.9, 0.1, 0.1, 0.9]


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
