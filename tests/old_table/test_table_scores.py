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
    """Of each row: ln p_y + H, its variance, this if p_y > 0, 1 - q₁; the predicted class."""
    found = []
    for y, row in zip(labels.tolist(), rows.tolist(), strict=True):
        logs = [math.log(p) if p else 0.0 for p in row]
        entropy = -math.fsum(p * log for p, log in zip(row, logs, strict=True))
        second = math.fsum(p * log * log for p, log in zip(row, logs, strict=True))
        score, variance = logs[y] + entropy, second - entropy**2
        possible, top = row[y] > 0, max(row)
        found.append([score * possible, variance, variance * possible, 1 - top, row.index(top)])
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
        rows[::7, -1] = 0.0
        rows[::7] /= rows[::7].sum(axis=1, keepdims=True)
        table = tn.tabulate(labels, rows, bins=5, engine=engine)
        loops = np.array(scores_in_plain_loops(labels, rows))
        at = np.searchsorted(table.edges[1:-1] + 1e-9, tn.variations["entropy"].of(-np.sort(-rows)))
        assert table.impossible_rows > 0
        sums: Any = table.sums
        of_classes = sums.predicted_possible_variance, sums.predicted_misses
        for where, log, others in (
            (at, table.log_scores, [sums.possible_variance]),
            (loops[:, 4].astype(int), table.log_scores_by_predicted_class, of_classes),
        ):
            assert log is not None
            size = len(log.rows)
            assert log.rows.tolist() == np.bincount(where, minlength=size).tolist()
            for column, found in enumerate((log.score, log.variance, *(it.value for it in others))):
                expected = np.bincount(where, loops[:, column], size)
                np.testing.assert_allclose(found, expected, atol=1e-9)
        assert table.log_scores is not None
        assert table.log_score_sum == pytest.approx(table.log_scores.score.sum(), abs=1e-9)

    @pytest.mark.parametrize("engine", ENGINES)
    @pytest.mark.parametrize("n_classes", [2, 3, 15, 16, 1000])
    def test_thousands_of_equal_rows_in_one_bin(self, n_classes: int, engine: str) -> None:
        """1 - q₁ is near 1: four thousand of them are more than 63 bits."""
        rows = np.full((20_000, n_classes), 1 / n_classes)
        table = tn.tabulate(np.zeros(20_000, int), rows, engine=engine, n_threads=1)
        misses = table.sums.predicted_misses
        assert misses is not None
        assert misses.value[0] == pytest.approx(20_000 * (1 - 1 / n_classes), rel=1e-12)
        assert not misses.value[1:].any()

    def test_weights_of_two_are_rows_twice(self) -> None:
        labels, rows = tn.simulate.calibrated(300, [1, 1, 1], rng=1)
        weight = 1.0 + np.arange(300) % 2
        twice = np.repeat(np.arange(300), weight.astype(int))
        weighted = tn.tabulate(labels, rows, sample_weight=weight)
        repeated = tn.tabulate(labels[twice], rows[twice], sample_weight=np.ones(len(twice)))
        found, expected = weighted.log_scores, repeated.log_scores
        np.testing.assert_allclose(found.score, expected.score, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(found.variance, expected.variance, rtol=1e-9)
        sums: Any = weighted.sums
        parts_of = (tn.tabulate(labels[weight == w], rows[weight == w]) for w in (1, 2))
        others: list[Any] = [part.sums for part in parts_of]
        once, four_times, both = (others[0], 1), (others[1], 4), (others[1], 2)
        for name, parts in (
            ("possible_variance", (once, four_times)),  # Σw²VE
            ("predicted_possible_variance", (once, four_times)),
            ("predicted_misses", (once, both)),
        ):
            total = sum(times * getattr(of, name).value for of, times in parts)
            np.testing.assert_allclose(getattr(sums, name).value, total, rtol=1e-12)

    def test_bins_merge_and_predicted_classes_stay(self) -> None:
        labels, rows = tn.simulate.calibrated(900, [1, 1, 1], rng=1)
        fine = tn.tabulate(labels, rows, bins=tn.EqualWidth(500))
        assert fine.coarsen(10) == tn.tabulate(labels, rows)
