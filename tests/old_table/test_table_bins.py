"""Bins and measures of tables: coarsening, bins of equal mass, measures of a user's own."""

from typing import Any

import numpy as np
import pytest
from close_tables import assert_close
from table_rows import WEIGHT, Y_PROB, Y_TRUE

import trueness as tn


class TestCoarsening:
    @pytest.mark.parametrize("starts", [[], [1], [1, 3], [0, 0], [0, 3, 3], [0, 5, 2]], ids=str)
    def test_runs_of_bins_that_lose_or_repeat_some_are_refused(self, starts: list[int]) -> None:
        with pytest.raises(ValueError, match="begin with 0"):
            tn.tabulate(Y_TRUE, Y_PROB).sums.merge_runs(np.array(starts, dtype=np.int64))

    def test_a_bin_for_the_lowest_value_alone_stays(self) -> None:
        rows = np.array([[1.0, 0.0]] * 8 + [[0.9, 0.1], [0.5, 0.5]])
        table = tn.tabulate(np.zeros(10, int), rows, bins=tn.EqualMass(10))
        assert table.edges[0] == table.edges[1]
        assert table.coarsen(table.bins) == table
        merged = table.coarsen(tn.Edges([0, table.edges[2], 1]))
        assert merged.count.tolist() == [9, 1]

    def test_by_confidence_whose_range_depends_on_the_classes(self) -> None:
        fine = tn.tabulate(Y_TRUE, Y_PROB, variation="confidence", bins=tn.EqualWidth(4000))
        for m in (7, 10, 16):
            if 4000 % m == 0:
                one, other = fine.coarsen(m), fine.coarsen(tn.Edges(fine.edges[:: 4000 // m]))
                assert one.sums.same(other.sums)
                np.testing.assert_allclose(one.edges, other.edges, rtol=2.0**-51)
        direct = tn.tabulate(Y_TRUE, Y_PROB, variation="confidence", bins=10)
        np.testing.assert_array_equal(fine.coarsen(10).count, direct.count)

    def test_equal_mass_sizes_are_within_a_cell(self) -> None:
        """4000 cells on 20,000 rows: statistics promises sizes within 1 % of N/M for few classes."""
        rng = np.random.default_rng(0)
        y_prob = rng.dirichlet([1.0, 1.0, 1.0], 20_000)
        fine = tn.tabulate(rng.integers(0, 3, 20_000), y_prob, bins=tn.EqualWidth(4000))
        coarse = fine.coarsen(tn.EqualMass(10))
        assert coarse.n_bins == 10
        assert np.abs(coarse.count / 2000 - 1).max() < 0.01

    def test_a_weighted_table(self) -> None:
        fine = tn.tabulate(Y_TRUE, Y_PROB, bins=100, sample_weight=WEIGHT)
        assert_close(fine.coarsen(10), tn.tabulate(Y_TRUE, Y_PROB, bins=10, sample_weight=WEIGHT))


class TestBinningObjects:
    def test_the_first_two_edges_may_be_equal(self) -> None:
        """A bin for the lowest value alone: one-hot rows apart from the rest."""
        rows = np.array([[1.0, 0, 0], [0, 1.0, 0], [0.5, 0.5, 0], [0.4, 0.3, 0.3]])
        table = tn.tabulate([0, 0, 0, 0], rows, bins=tn.Edges([0, 0, 1]))
        assert table.count.tolist() == [2, 2]

    def test_equal_mass_of_many_one_hot_rows(self) -> None:
        """8 of 10 rows with V = 0: the first bin takes them all; 10 bins asked, 3 made (V = 0, and two values)."""
        rows = np.array([[1.0, 0.0]] * 8 + [[0.9, 0.1], [0.5, 0.5]])
        table = tn.tabulate(np.zeros(10, int), rows, bins=tn.EqualMass(10))
        assert table.count.tolist() == [8, 1, 1]
        assert table.edges[0] == table.edges[1] == 0
        assert table.edges[-1] == 1

    def test_equal_mass_of_equal_rows_is_one_bin(self) -> None:
        for row in ([1.0, 0.0], [0.5, 0.5], [0.9, 0.1]):
            table = tn.tabulate([0] * 7, [row] * 7, bins=tn.EqualMass(3))
            assert table.count.tolist() == [7]
            assert table.edges.tolist() == [0, 1]

    def test_equal_mass_of_values_that_differ_in_the_last_bit(self) -> None:
        """(.8, .1, .1) and its permutations have one V; as sums in another order they might not."""
        rows = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]] * 10)
        rows[:15, :] += np.array([0, 1e-16, -1e-16])
        table = tn.tabulate(np.zeros(30, int), rows, bins=tn.EqualMass(5))
        assert table.count.tolist() == [30]

    def test_fitted_edges_take_rows_beyond_those_they_were_fitted_on(self) -> None:
        fitted = tn.EqualMass(4).fit([[0.6, 0.4], [0.7, 0.3], [0.75, 0.25], [0.8, 0.2]])
        table = tn.tabulate([0, 0], [[1.0, 0.0], [0.5, 0.5]], bins=fitted)
        assert table.count[0] == 1
        assert table.count[-1] == 1

    def test_fit_with_logits_and_weights(self) -> None:
        logits = np.log(Y_PROB)
        exact = tn.EqualMass(5).fit(Y_PROB)
        assert tn.EqualMass(5).fit(logits, from_logits=True).edges == pytest.approx(exact.edges, abs=1e-12)
        assert tn.EqualMass(5).fit(Y_PROB * 3, normalize=True).edges == pytest.approx(exact.edges, abs=1e-12)
        half = tn.EqualMass(5).fit(Y_PROB, sample_weight=np.arange(200) < 100)
        assert half.edges == tn.EqualMass(5).fit(Y_PROB[:100]).edges

    def test_numbers_of_numpy_are_numbers(self) -> None:
        ten, three = np.int64(10), np.int32(3)
        assert tn.tabulate(Y_TRUE, Y_PROB, bins=ten) == tn.tabulate(Y_TRUE, Y_PROB, bins=tn.EqualWidth(ten))
        assert tn.Accumulator(n_classes=three, bins=ten).table.spec == tn.tabulate(Y_TRUE, Y_PROB).spec
        assert tn.renyi(np.float64(2)) == tn.renyi(np.int64(2)) == tn.renyi(2)

    def test_equal_objects_are_equal(self) -> None:
        assert tn.EqualWidth(10) == tn.EqualWidth(10) != tn.EqualWidth(11)
        assert tn.Edges([0, 0.5, 1]) == tn.Edges((0.0, 0.5, 1.0)) == tn.Edges(np.array([0, 0.5, 1]))
        assert tn.Edges([0, 1]) != tn.Edges([0, 1], snap=1e-12)


class TestOwnMeasures:
    GINI = tn.Variation("gini", lambda x: 1 - (x**2).sum(axis=-1), range=lambda c: (0, 1 - 1 / c))

    @pytest.mark.parametrize("bins", [10, tn.EqualMass(4)])
    def test_a_user_defined_measure(self, bins: Any) -> None:
        """Gini is (C-1)/C times the IQV, range included: the same bins, and the same factor in VCE."""
        mine = tn.tabulate(Y_TRUE, Y_PROB, variation=self.GINI, bins=bins)
        iqv = tn.tabulate(Y_TRUE, Y_PROB, variation="iqv", bins=bins)
        assert mine.count.tolist() == iqv.count.tolist()
        assert tn.vce(Y_TRUE, Y_PROB, variation=self.GINI, bins=bins) == pytest.approx(
            2 / 3 * tn.vce(Y_TRUE, Y_PROB, variation="iqv", bins=bins), abs=1e-13
        )

    def test_a_range_below_zero(self) -> None:
        """V = ln p_1 - ln p_2 bounded by hand: sums of negative numbers are exact too, split = whole."""
        negative = tn.Variation(
            "negative", lambda x: -1.5 - x[..., 0], range=(-2.5, -1.5), grows_with_dispersion=True
        )
        whole = tn.tabulate(Y_TRUE, Y_PROB, variation=negative)
        halves = [tn.tabulate(Y_TRUE[s], Y_PROB[s], variation=negative) for s in (slice(77), slice(77, 200))]
        assert sum(halves) == whole
        np.testing.assert_allclose(whole.variation_sum.sum(), (-1.5 - Y_PROB.max(axis=1)).sum(), rtol=1e-12)

    def test_a_large_range(self) -> None:
        bits = tn.Variation("perplexity", lambda x: 1 / (x**2).sum(axis=-1), range=lambda c: (1, c))
        table = tn.tabulate(Y_TRUE, Y_PROB, variation=bits)
        np.testing.assert_allclose(table.variation_sum.sum(), (1 / (Y_PROB**2).sum(axis=1)).sum(), rtol=1e-12)

    def test_names_of_families_are_understood(self) -> None:
        assert tn.tabulate(Y_TRUE, Y_PROB, variation="renyi(2)") == tn.tabulate(
            Y_TRUE, Y_PROB, variation=tn.renyi(2)
        )
        one = tn.tabulate(Y_TRUE, Y_PROB, variation=tn.tsallis(2))
        np.testing.assert_array_equal(one.count, tn.tabulate(Y_TRUE, Y_PROB, variation="iqv").count)
