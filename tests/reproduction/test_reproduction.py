"""The paper's experiments at small sizes: compared with the library's functions and with theory."""

import csv
import io
import json
import math
import tracemalloc

import numpy as np
import pytest

import trueness as tn
from trueness.reproduction import cells, results, run
from trueness.reproduction.metric_values import FURTHER_METRICS, PAPER_METRICS, measures_of
from trueness.reproduction.scenarios import (
    PAPER_SCENARIOS,
    Cell,
    Scenario,
    grid,
    parse_alpha,
    sizes_up_to,
    skewed_scenario,
)
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


class TestScenarios:
    def test_the_paper(self):
        assert [(s.n_classes, s.label) for s in PAPER_SCENARIOS] == [
            (3, "1,1,1"),
            (3, "10,1,1"),
            (10, "1,1,1,1,1,1,1,1,1,1"),
            (10, "10,1,1,1,1,1,1,1,1,1"),
        ]

    def test_grid_with_default_repeats(self):
        made = grid([THREE], [10_000, 100_000], seed=3)
        assert len(made) == 130
        assert [cell.n_rows for cell in made[:2]] == [10_000, 100_000]  # the first seed comes first
        assert {cell.seed for cell in made if cell.n_rows == 100_000} == set(range(3, 33))

    def test_names_of_files_differ(self):
        scenarios = [*PAPER_SCENARIOS, parse_alpha("1.5", 100), parse_alpha("1.25", 100)]
        names = {Cell(s, n, seed).name for s in scenarios for n in (10, 100) for seed in (0, 1)}
        assert len(names) == 24
        assert max(map(len, names)) < 60

    @pytest.mark.parametrize(
        ("text", "classes"),
        [("a,b", None), ("1", None), ("1,0", None), ("1,nan", None), ("1,1e9", None), ("1,1", 3)],
    )
    def test_bad_alpha(self, text, classes):
        with pytest.raises(ValueError, match="alpha"):
            parse_alpha(text, classes)

    def test_sizes(self):
        assert sizes_up_to(1e6) == (10_000, 100_000, 1_000_000)
        with pytest.raises(ValueError, match="max_rows"):
            sizes_up_to(9_999)

    def test_titles_stay_short(self):
        assert skewed_scenario(10, 10).title == "C = 10, α = (10, 1, …, 1)"
        assert Scenario((2.0, 1.0, 0.5)).title == "C = 3, α = (2, 1, 0.5)"


class TestCells:
    @pytest.mark.parametrize("scenario", [THREE, TEN])
    def test_metrics_equal_those_of_the_library(self, scenario):
        """A line of results.csv can be checked with two calls: calibrated(n_rows, alpha, seed), then the metric."""
        cell = Cell(scenario, 10_000, 7)
        (done,) = cells.tabulate_cells([cell], n_threads=2).cells
        rows = tn.simulate.calibrated(10_000, scenario.alpha, rng=7)
        for binning, bins in (("width", 10), ("mass", tn.EqualMass(10))):
            direct = {
                "vce": tn.vce(*rows, bins=bins),
                "ece": tn.ece(*rows, bins=bins),
                "uce": tn.uce(*rows, bins=bins),
            }
            for metric in PAPER_METRICS:
                assert metric.read(done.tables[metric.measure, binning]) == direct[metric.name]

    def test_threads_and_batches_change_no_bit(self):
        many = [Cell(THREE, 70_000, 0), Cell(TEN, 10_000, 1), Cell(THREE, 150_000, 2)]
        alone = [cells.tabulate_cells([cell]).cells[0] for cell in many]
        for n_threads in (1, 2, 3):
            together = cells.tabulate_cells(many, n_threads=n_threads).cells
            assert [done.cell for done in together] == many
            assert all(one.tables == other.tables for one, other in zip(alone, together, strict=True))

    def test_rows_drawn_again_are_the_same(self, monkeypatch):
        cell = Cell(THREE, 150_000, 4)
        kept = cells.tabulate_cells([cell]).cells[0].tables
        monkeypatch.setattr(cells, "KEPT_BYTES", 0)
        assert cells.tabulate_cells([cell]).cells[0].tables == kept

    def test_beyond_the_pilot_edges_are_those_of_the_first_rows(self, monkeypatch):
        """Sizes of bins then vary by the noise of a quantile: 5 sd of a share of 0.1 among so many pilot rows."""
        monkeypatch.setattr(cells, "PILOT_ROWS", 2**16)
        cell, pilot = Cell(THREE, 400_000, 5), 2**16
        table = cells.tabulate_cells([cell], n_threads=2).cells[0].tables["entropy", "mass"]
        first = tn.simulate.calibrated(400_000, THREE.alpha, rng=5).y_prob[:pilot]
        assert table.bins == tn.EqualMass(10).fit(first)
        assert table.n_rows == 400_000
        noise = math.sqrt(0.09 / pilot + 0.09 / 400_000)
        assert np.all(np.abs(table.count / 400_000 - 0.1) < 5 * noise)

    def test_further_measures(self):
        cell = Cell(THREE, 10_000, 3)
        measures = measures_of((*PAPER_METRICS, *FURTHER_METRICS))
        (done,) = cells.tabulate_cells([cell], measures).cells
        rows = tn.simulate.calibrated(10_000, THREE.alpha, rng=3)
        read = {m.name: m.read(done.tables[m.measure, "width"]) for m in FURTHER_METRICS}
        assert read == {
            "vce_confidence": tn.vce(*rows, variation="confidence"),
            "vce_wvr": tn.vce(*rows, variation="wilcox_variation_ratio"),
            "vce_iqv": tn.vce(*rows, variation="iqv"),
            "rce_tv": tn.rce(*rows),
            "rce_w1": tn.rce(*rows, distance="w1"),
        }

    @pytest.mark.compiled
    @pytest.mark.parametrize("scenario", [THREE, TEN])
    def test_both_engines_give_the_same_tables(self, scenario):
        cell = Cell(scenario, 100_000, 6)
        portable, compiled = (
            cells.tabulate_cells([cell], engine=name, n_threads=2).cells[0]
            for name in ("portable", "compiled")
        )
        assert portable == compiled

    def test_memory_does_not_grow_with_rows(self, monkeypatch):
        monkeypatch.setattr(cells, "PILOT_ROWS", 2**16)

        def peak(n_rows):
            tracemalloc.start()
            cells.tabulate_cells([Cell(THREE, n_rows, 0)])
            most = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            return most

        peak(70_000)  # imports and caches
        assert peak(800_000) < 1.2 * peak(200_000)

    def test_batches_hold_small_cells_together(self):
        made = [Cell(THREE, n, 0) for n in (10_000, 10_000, 1_000_000, 10_000_000, 10_000)]
        assert [[cell.n_rows for cell in batch] for batch in cells.batches(made)] == [
            [10_000, 10_000, 1_000_000],
            [10_000_000],
            [10_000],
        ]

    def test_drawing_takes_time(self):
        assert cells.drawing_seconds([Cell(THREE, 100_000, 0)], 2) > 0


@pytest.mark.reproduction
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

    @pytest.mark.compiled
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


@pytest.mark.reproduction
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


@pytest.mark.reproduction
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

    def test_threads_change_no_bit(self):
        cell = Cell(THREE, 140_000, 2)
        assert tabulate_twins(cell, "portable", 1) == tabulate_twins(cell, "portable", 3)

    def test_two_classes(self):
        cell = Cell(parse_alpha("3,1"), 10_000, 0)
        values = twin_values(cell, tabulate_twins(cell, "portable", 1))
        assert {twin for twin, _ in values} == {twin.name for twin in twins_for(2)}
        assert values["ranks swapped", "ece"] > 10 * values["calibrated", "ece"]

    def test_the_file(self, outcome):
        lines = list(csv.DictReader(io.StringIO((outcome.settings.out / "twins.csv").read_text())))
        assert len(lines) == 2 * 4 * 5
        assert {line["twin"] for line in lines} == {
            "calibrated",
            "sharpened",
            "tail flattened",
            "ranks swapped",
        }

    def test_twins_are_saved_too(self, outcome):
        again = Quiet()
        assert run.reproduce(outcome.settings, again).twins == outcome.twins
        assert again.rows == 0


def test_a_stream_can_be_drawn_in_any_order():
    streams = tn.simulate.calibrated_streams(150_000, [2, 1, 1], rng=4)
    bulk = tn.simulate.calibrated(150_000, [2, 1, 1], rng=4)
    parts = {number: streams[number] for number in (2, 0, 1)}
    assert len(streams) == 3
    np.testing.assert_array_equal(np.concatenate([parts[n].y_prob for n in range(3)]), bulk.y_prob)
    np.testing.assert_array_equal(np.concatenate([parts[n].y_true for n in range(3)]), bulk.y_true)
    np.testing.assert_array_equal(streams.predictions(1), parts[1].y_prob)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 300])
def test_labels_are_where_the_cumulative_sum_passes_the_level(n_classes):
    y_prob = np.random.default_rng(0).dirichlet([0.3] * n_classes, 5000)
    labels = tn.simulate.draw_labels(y_prob, np.random.default_rng(1))
    level = np.random.default_rng(1).random(5000)
    for row, u, label in zip(y_prob, level, labels, strict=True):
        cumulative = np.cumsum(row)
        assert label == np.argmax(cumulative > min(u * cumulative[-1], np.nextafter(cumulative[-1], 0)))
