"""The cells of the paper's experiments: their scenarios, and tables that are those of the library."""

import math
import tracemalloc

import numpy as np
import pytest

import trueness as tn
from trueness.reproduction import cells
from trueness.reproduction.metric_values import FURTHER_METRICS, PAPER_METRICS, measures_of
from trueness.reproduction.scenarios import (
    PAPER_SCENARIOS,
    Cell,
    grid,
    parse_alpha,
    sizes_up_to,
    skewed_scenario,
)

THREE, TEN = skewed_scenario(3, 10), skewed_scenario(10, 1)


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

    @pytest.mark.usefixtures("compiled")
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
