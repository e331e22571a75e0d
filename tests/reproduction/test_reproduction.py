"""Runs of the paper's experiments at small sizes: resumed, compared with theory, and beside miscalibrated twins."""

import csv
import io
import json
import math

import numpy as np
import pytest

import trueness as tn
from trueness.reproduction import cells, results, run
from trueness.reproduction.metric_values import FURTHER_METRICS, PAPER_METRICS, measures_of
from trueness.reproduction.scenarios import Cell, parse_alpha, skewed_scenario
from trueness.reproduction.store import Store, TimingLog
from trueness.reproduction.theory import Limit
from trueness.reproduction.twins import tabulate_twins, twin_values, twins_for

THREE, TEN = skewed_scenario(3, 10), skewed_scenario(10, 1)


class Quiet:
    """A progress callback that prints nothing and may interrupt the run."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.rows, self.stop_after, self.started = 0, stop_after, []

    def __call__(self, name, n_rows):
        self.started.append((name, n_rows))
        return self

    def __enter__(self):
        return self.tick

    def __exit__(self, *_):
        return None

    def tick(self, rows):
        self.rows += rows
        if self.stop_after is not None and self.rows >= self.stop_after:
            raise KeyboardInterrupt


def settings(out, **changed):
    chosen = {
        "scenarios": (THREE,),
        "sizes": (10_000,),
        "metrics": PAPER_METRICS,
        "repeats": 2,
        "draws_figures": False,
    }
    return run.RunSettings(out=out, **(chosen | changed))


class TestResumption:
    def test_an_interrupted_run_resumes_with_the_same_results(self, tmp_path):
        chosen = {"scenarios": (THREE, TEN), "repeats": 120, "metrics": PAPER_METRICS}
        with pytest.raises(KeyboardInterrupt):
            run.reproduce(settings(tmp_path / "a", **chosen), Quiet(stop_after=1_500_000))
        second = Quiet()
        resumed = run.reproduce(settings(tmp_path / "a", **chosen), second)
        whole = run.reproduce(settings(tmp_path / "b", **chosen), Quiet())
        assert 0 < second.rows < 2_400_000  # some cells were saved, some were missing
        assert resumed.readings == whole.readings
        assert (tmp_path / "a" / "results.csv").read_bytes() == (tmp_path / "b" / "results.csv").read_bytes()
        third = Quiet()
        run.reproduce(settings(tmp_path / "a", **chosen), third)
        assert third.rows == 0

    def test_a_damaged_cell_is_computed_again(self, tmp_path):
        first = run.reproduce(settings(tmp_path), Quiet())
        files = sorted((tmp_path / "cells").glob("*/c3-*.json"))
        assert len(files) == 2
        files[0].write_text(files[0].read_text()[:-40])
        again = Quiet()
        assert run.reproduce(settings(tmp_path), again).readings == first.readings
        assert again.rows == 10_000

    @pytest.mark.parametrize("damaged", ["", "{", "[1, 2]"])
    def test_damaged_limits_and_timings_are_computed_again(self, tmp_path, damaged):
        first = run.reproduce(settings(tmp_path), Quiet())
        files = [
            *(tmp_path / "cells").glob("*/limits-*.json"),
            *(tmp_path / "cells").glob("*/timings-*.json"),
        ]
        assert len(files) == 2
        for file in files:
            file.write_text(damaged)
        again = run.reproduce(settings(tmp_path), Quiet())
        assert (again.readings, again.verdicts) == (first.readings, first.verdicts)
        assert again.timing is None  # not timed as a whole

    def test_tables_of_other_rows_are_not_taken(self, tmp_path):
        store = Store(tmp_path)
        (done,) = cells.tabulate_cells([Cell(THREE, 10_000, 0)]).cells
        store.save("some", list(done.tables.values()))
        assert store.load("some", 10_000) == list(done.tables.values())
        assert store.load("some", 10_001) is None
        assert store.load("none", 10_000) is None

    def test_more_measures_need_a_new_cell_and_fewer_do_not(self, tmp_path):
        run.reproduce(settings(tmp_path), Quiet())
        more, fewer = Quiet(), Quiet()
        run.reproduce(settings(tmp_path, metrics=(*PAPER_METRICS, FURTHER_METRICS[2])), more)
        run.reproduce(settings(tmp_path), fewer)
        assert (more.rows, fewer.rows) == (20_000, 0)

    @pytest.mark.usefixtures("compiled")
    def test_another_engine_finds_the_cells_of_the_first(self, tmp_path):
        """Tables do not depend on the engine."""
        first = run.reproduce(settings(tmp_path, engine="portable"), Quiet())
        second = Quiet()
        again = run.reproduce(settings(tmp_path, engine="compiled"), second)
        assert second.rows == 0
        assert again.readings == first.readings
        assert (first.engine, again.engine) == ("portable", "compiled")

    def test_timings_are_of_the_whole_grid_or_none(self, tmp_path):
        chosen = settings(tmp_path)
        outcome = run.reproduce(chosen, Quiet())
        assert outcome.timing is not None
        assert outcome.timing.ratio == pytest.approx(outcome.timing.seconds / outcome.timing.drawing_seconds)
        log = TimingLog(Store(tmp_path), measures_of(PAPER_METRICS), 1)
        assert log.total(chosen.first_seed) == outcome.timing
        assert log.total([*chosen.first_seed, Cell(TEN, 10_000, 0)]) is None


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """40 runs of 10⁴ rows and of 10⁵: the command's path with every metric, at small sizes."""
    out = tmp_path_factory.mktemp("small")
    chosen = settings(
        out,
        scenarios=(THREE,),
        sizes=(10_000, 100_000),
        metrics=(*PAPER_METRICS, *FURTHER_METRICS),
        repeats=40,
        n_threads=2,
        twins=True,
    )
    return run.reproduce(chosen, Quiet())


class TestResults:
    def test_every_cell_agrees_with_theory(self, outcome):
        assert len(outcome.verdicts) == 2 * 2 * 8
        assert outcome.failed == []

    def test_the_spread_agrees_with_theory(self, outcome):
        """The sd over R runs has a relative error of about 1/√(2(R - 1)), 0.11 here; more, as runs are skewed."""
        ratios = [verdict.sd / verdict.spread for verdict in outcome.verdicts]
        assert np.all(np.abs(np.array(ratios) - 1) < 5 * 0.13)

    def test_slopes(self, outcome):
        for slope in outcome.slopes:
            expected = 0.0 if slope.place.metric == "uce" else -0.5
            assert slope.expected == pytest.approx(expected, abs=1e-9)
            assert abs(slope.value - expected) < 5 * slope.spread

    def test_the_csv_file(self, outcome):
        text = (outcome.settings.out / "results.csv").read_text()
        lines = list(csv.DictReader(io.StringIO(text)))
        assert text.splitlines()[0] == "classes,alpha,binning,metric,n_rows,seed,value,expected,spread,z"
        assert len(lines) == 2 * 2 * 8 * 40
        assert {line["binning"] for line in lines} == {"width", "mass"}
        assert {line["metric"] for line in lines} >= {"vce", "ece", "uce"}
        for line in lines[::97]:
            value, expected, spread, z = (float(line[name]) for name in ("value", "expected", "spread", "z"))
            assert line["alpha"] == "10,1,1"
            assert line["classes"] == "3"
            assert z == pytest.approx((value - expected) / spread)
        line = next(
            one for one in lines if (one["metric"], one["binning"], one["seed"]) == ("vce", "width", "11")
        )
        rows = tn.simulate.calibrated(int(line["n_rows"]), [10, 1, 1], rng=11)
        assert float(line["value"]) == tn.vce(*rows)

    def test_the_json_file(self, outcome):
        content = json.loads((outcome.settings.out / "results.json").read_text(), parse_constant=pytest.fail)
        assert content["schema"] == 1
        assert len(content["verdicts"]) == 32
        assert all(verdict["holds"] for verdict in content["verdicts"])
        assert sum(len(reading["value"]) for reading in content["readings"]) == 2 * 2 * 8 * 40
        assert 0.0999 < content["equal_frequency_shares"][0] <= content["equal_frequency_shares"][1] < 0.1001

    def test_a_wrong_theory_fails(self, outcome):
        """a off by 40 % is 9 sd of the mean of 40 runs."""
        wrong = Limit(0.0, 1.4 * 1.5772, 0.4262)
        readings = [
            one._replace(expected=wrong.expected(one.n_rows))
            for one in outcome.readings
            if one.place.binning == "width" and one.place.metric == "vce"
        ]
        verdicts = results.judge(readings, {THREE: {("width", "vce"): wrong}})
        assert not any(verdict.holds for verdict in verdicts)
        assert "**FAILS**" in results.verdict_lines(verdicts)[-1]

    def test_a_single_run_has_a_wider_limit_and_no_sd(self, outcome):
        one = outcome.readings[0]
        (verdict,) = results.judge([one], {THREE: {one.place[1:]: Limit(0.0, 0.0, 1.0)}})
        assert verdict.limit == 5.5
        assert math.isnan(verdict.sd)
        assert results.slopes([verdict]) == []

    def test_a_spread_of_zero(self):
        assert results.in_spreads(0.0, 0.0) == 0
        assert results.in_spreads(-1.0, 0.0) == -math.inf


class TestTwins:
    def test_which_metric_detects_what(self, outcome):
        """All but UCE detect sharpened rows; ECE does not detect a flat tail; only RCE detects swapped lower ranks."""
        cell = Cell(THREE, 100_000, 0)
        values = outcome.twins[cell]
        calibrated = {
            metric: values["calibrated", metric] for metric in ("vce", "ece", "uce", "rce_tv", "rce_w1")
        }

        def times(twin):
            return {metric: values[twin, metric] / value for metric, value in calibrated.items()}

        assert all(times("sharpened")[metric] > 5 for metric in ("vce", "ece", "rce_tv", "rce_w1"))
        assert times("sharpened")["uce"] < 1  # worse predictions, better UCE
        assert times("tail flattened")["ece"] == pytest.approx(1)
        assert times("tail flattened")["rce_tv"] > 3
        assert times("ranks swapped") == pytest.approx(
            {"vce": 1, "ece": 1, "uce": 1}
            | {name: times("ranks swapped")[name] for name in ("rce_tv", "rce_w1")}
        )
        assert times("ranks swapped")["rce_tv"] > 5

    def test_the_calibrated_twin_is_the_cell_itself(self, outcome):
        cell = Cell(THREE, 10_000, 0)
        rows = tn.simulate.calibrated(10_000, THREE.alpha, rng=0)
        assert outcome.twins[cell]["calibrated", "vce"] == tn.vce(*rows)
        assert outcome.twins[cell]["sharpened", "vce"] == tn.vce(
            rows.y_true, tn.simulate.sharpen(rows.y_prob, 1.5)
        )

    def test_two_classes(self):
        cell = Cell(parse_alpha("3,1"), 10_000, 0)
        values = twin_values(cell, tabulate_twins(cell, "portable", 1))
        assert {twin for twin, _ in values} == {twin.name for twin in twins_for(2)}
        assert values["ranks swapped", "ece"] > 10 * values["calibrated", "ece"]

    def test_twins_are_saved_too(self, outcome):
        again = Quiet()
        assert run.reproduce(outcome.settings, again).twins == outcome.twins
        assert again.rows == 0
