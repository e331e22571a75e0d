"""Accuracy, Brier score and log loss of a table."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import trueness as tn

ENGINES = ["portable", "compiled"]


class TestScores:
    """Accuracy, Brier score and log-loss; their values are tested in tests/oracles and tests/peers."""

    def test_without_rows_there_are_none(self) -> None:
        for weighted in (False, True):
            spec = replace(tn.tabulate([0], [[0.5, 0.5]]).spec, weighted=weighted)
            empty = tn.CalibrationTable.empty(spec)
            assert np.isnan([empty.accuracy, empty.brier_score, empty.log_loss]).all()

    @pytest.mark.parametrize("engine", ["portable", "compiled"])
    @pytest.mark.parametrize("off", [1e-6, 1e-7, 2.0**-40, 2.0**-53])
    def test_a_nearly_perfect_model_keeps_its_digits(self, off: float, engine: str) -> None:
        """2·off² per row, which the difference of float sums would lose; a unit of rounding for each value."""
        table = tn.tabulate(np.zeros(5000, int), np.tile([1 - off, off], (5000, 1)), engine=engine)
        assert table.brier_score == pytest.approx(2 * off * off, abs=3 * 2.0**-52)
        assert table.brier_score >= 0


def scores_in_plain_loops(labels: Any, rows: Any) -> list[list[float]]:
    """Of each row: ln p_y + H, its variance, p_y - ‖p‖² and its variance; the class of the largest probability."""
    found = []
    for y, row in zip(labels.tolist(), rows.tolist(), strict=True):
        logs = [math.log(p) if p else 0.0 for p in row]
        entropy = -math.fsum(p * log for p, log in zip(row, logs, strict=True))
        second = math.fsum(p * log * log for p, log in zip(row, logs, strict=True))
        norm = math.fsum(p * p for p in row)
        cube = math.fsum(p**3 for p in row)
        found.append(
            [logs[y] + entropy, second - entropy**2, row[y] - norm, cube - norm**2, row.index(max(row))]
        )
    return found


class TestScoreColumns:
    """Sums of scores by bin and by predicted class; the oracle is a plain loop."""

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("n_classes", [2, 3, 10, 40])
    def test_they_are_those_of_plain_loops(self, n_classes: int, engine: str) -> None:
        rng = np.random.default_rng(n_classes)
        rows = rng.dirichlet(np.ones(n_classes), 6000)
        rows[::10] = 1 / n_classes
        labels = rng.integers(0, n_classes, 6000)
        table = tn.tabulate(labels, rows, bins=5, engine=engine)
        loops = np.array(scores_in_plain_loops(labels, rows))
        at = np.searchsorted(table.edges[1:-1] + 1e-9, tn.variations["entropy"].of(-np.sort(-rows)))
        for where, log, brier in (
            (at, table.log_scores, table.brier_residuals),
            (
                loops[:, 4].astype(int),
                table.log_scores_by_predicted_class,
                table.brier_residuals_by_predicted_class,
            ),
        ):
            assert log is not None
            assert brier is not None
            size = len(log.rows)
            assert log.rows.tolist() == brier.rows.tolist() == np.bincount(where, minlength=size).tolist()
            for column, sums in enumerate((log.score, log.variance, brier.score, brier.variance)):
                np.testing.assert_allclose(sums, np.bincount(where, loops[:, column], size), atol=1e-9)
        assert table.log_scores is not None
        assert table.log_score_sum == pytest.approx(table.log_scores.score.sum(), abs=1e-9)

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("label", [0, 1, 2])
    def test_thousands_of_equal_rows_in_one_bin(self, label: int, engine: str) -> None:
        """Negative residuals have fractions near 1: four thousand of them are more than 63 bits."""
        rows = np.tile([0.5, 0.3, 0.2], (5000, 1))
        table = tn.tabulate(np.full(5000, label), rows, engine=engine)
        brier, by_class = table.brier_residuals, table.brier_residuals_by_predicted_class
        assert brier is not None
        assert by_class is not None
        assert brier.score.sum() == pytest.approx(5000 * (rows[0, label] - 0.38), rel=1e-12)
        assert by_class.score.tolist() == [brier.score.sum(), 0, 0]
        assert brier.variance.sum() == pytest.approx(5000 * (0.16 - 0.38**2), rel=1e-12)

    def test_weights_of_two_are_rows_twice(self) -> None:
        labels, rows = tn.simulate.calibrated(300, [1, 1, 1], rng=1)
        weight = 1.0 + np.arange(300) % 2
        twice = np.repeat(np.arange(300), weight.astype(int))
        weighted = tn.tabulate(labels, rows, sample_weight=weight)
        repeated = tn.tabulate(labels[twice], rows[twice], sample_weight=np.ones(len(twice)))
        for name in ("log_scores", "brier_residuals"):
            found, expected = getattr(weighted, name), getattr(repeated, name)
            np.testing.assert_allclose(found.score, expected.score, rtol=1e-9, atol=1e-11)
            np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-9)

    def test_bins_merge_and_predicted_classes_stay(self) -> None:
        labels, rows = tn.simulate.calibrated(900, [1, 1, 1], rng=1)
        fine = tn.tabulate(labels, rows, bins=tn.EqualWidth(500))
        assert fine.coarsen(10) == tn.tabulate(labels, rows)
