"""Accuracy, Brier score and log loss of a table."""

from dataclasses import replace

import numpy as np
import pytest

import trueness as tn


class TestScores:
    """Accuracy, Brier score and log-loss; their values are tested in test_against_oracle and test_outside_oracles."""

    def test_without_rows_there_are_none(self) -> None:
        for weighted in (False, True):
            spec = replace(tn.tabulate([0], [[0.5, 0.5]]).spec, weighted=weighted)
            empty = tn.CalibrationTable.empty(spec)
            assert np.isnan([empty.accuracy, empty.brier_score, empty.log_loss]).all()

    def test_an_impossible_row_makes_the_log_loss_infinite(self) -> None:
        table = tn.tabulate([0, 1], [[1.0, 0.0], [1.0, 0.0]])
        assert (table.accuracy, table.brier_score, table.log_loss) == (0.5, 1.0, np.inf)

    @pytest.mark.parametrize("engine", ["portable", pytest.param("compiled", marks=pytest.mark.compiled)])
    def test_the_ends_of_their_ranges(self, engine: str) -> None:
        sure = np.eye(3)
        best, worst = (tn.tabulate(labels, sure, engine=engine) for labels in ([0, 1, 2], [1, 2, 0]))
        assert (best.accuracy, best.brier_score, best.log_loss) == (1.0, 0.0, 0.0)
        assert (worst.accuracy, worst.brier_score, worst.log_loss) == (0.0, 2.0, np.inf)

    @pytest.mark.parametrize("engine", ["portable", pytest.param("compiled", marks=pytest.mark.compiled)])
    @pytest.mark.parametrize("off", [1e-6, 1e-7, 2.0**-40, 2.0**-53])
    def test_a_nearly_perfect_model_keeps_its_digits(self, off: float, engine: str) -> None:
        """2·off² per row, which the difference of float sums would lose; a unit of rounding for each value."""
        table = tn.tabulate(np.zeros(5000, int), np.tile([1 - off, off], (5000, 1)), engine=engine)
        assert table.brier_score == pytest.approx(2 * off * off, abs=3 * 2.0**-52)
        assert table.brier_score >= 0

    def test_ties_that_are_split_give_the_expected_accuracy(self) -> None:
        labels, rows = [0, 1, 2], np.full((3, 3), 1 / 3)
        assert tn.tabulate(labels, rows).accuracy == 1 / 3
        assert tn.tabulate([0, 0], [[0.5, 0.5], [0.5, 0.5]], ties="split").accuracy == 0.5
        assert tn.tabulate([0, 0], [[0.5, 0.5], [0.5, 0.5]]).accuracy == 1.0
