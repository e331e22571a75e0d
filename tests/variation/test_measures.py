"""Variation measures at the limits of their formulas, and user-defined measures."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

import trueness as tn

ROWS = np.sort(np.random.default_rng(3).dirichlet([0.5] * 5, 300), axis=1)[:, ::-1]


def gini(x):
    return 1 - (x**2).sum(axis=1)


class TestOrdersNearOne:
    @pytest.mark.parametrize("alpha", [0.99, 1.01])
    def test_rows_whose_sum_is_rounded(self, alpha: float) -> None:
        """float16 rows sum to 1 within 1e-3; divided by 1 - α that would be a tenth of the range."""
        half = ROWS.astype(np.float16)
        exact = tn.renyi(alpha)(ROWS)
        np.testing.assert_allclose(tn.renyi(alpha)(half.astype(float)), exact, atol=5e-3)
        assert tn.tabulate(np.zeros(300, int), half, variation=tn.renyi(alpha)).n_rows == 300


class TestUserDefinedMeasures:
    def test_a_function_of_axis_1(self) -> None:
        """With as many filled bins as classes, ranks must not be mistaken for bins."""
        mine = tn.Variation("gini", gini, range=lambda c: (0, 1 - 1 / c))
        y_true, y_prob = tn.simulate.calibrated(20_000, [0.35] * 10, rng=0)
        table = tn.tabulate(y_true, y_prob, variation=mine)
        assert np.count_nonzero(table.count) == 10
        np.testing.assert_allclose(table.predicted_variation, gini(table.mean_ordered), rtol=1e-14)
        np.testing.assert_allclose(table.observed_variation, gini(table.rank_frequency), rtol=1e-14)

    def test_values_outside_the_declared_range_are_refused(self) -> None:
        loud = tn.Variation("loud", lambda x: 1.015 * x.max(axis=-1))
        with pytest.raises(ValueError, match=r"'loud' is 1\.015.*declared range"):
            tn.tabulate([0, 1], np.eye(2), variation=loud)

    @pytest.mark.parametrize("range_", [(0, 1e15), (-1e19, 0), (0, 1e-9)])
    def test_ranges_that_cannot_be_summed_exactly_are_refused(self, range_: tuple[float, float]) -> None:
        with pytest.raises(ValueError, match="scale the measure"):
            tn.tabulate([0], [[0.5, 0.5]], variation=tn.Variation("far", lambda x: x[..., 0], range=range_))

    @pytest.mark.parametrize("range_", [None, (0, 1, 2), "ab"])
    def test_ranges_that_are_not_pairs(self, range_: object) -> None:
        with pytest.raises(TypeError, match="range"):
            tn.tabulate([0], [[0.5, 0.5]], variation=tn.Variation("odd", lambda x: x[..., 0], range=range_))

    def test_different_measures_with_the_same_name_do_not_add(self) -> None:
        one = tn.Variation("v", lambda x: x[..., 0])
        turned = tn.Variation("v", lambda x: x[..., 0], grows_with_dispersion=False)
        other = tn.Variation("v", lambda x: 1 - x[..., 0])
        tables = [tn.tabulate([0], [[0.7, 0.3]], variation=v) for v in (one, turned, other)]
        for table in tables[1:]:
            with pytest.raises(ValueError, match="variation differs"):
                tables[0] + table
        again = tn.Variation("v", lambda x: x[..., 0])
        assert (tables[0] + tn.tabulate([1], [[0.7, 0.3]], variation=again)).n_rows == 2

    def test_a_renamed_measure_of_trueness_can_be_pickled(self) -> None:
        mine = dataclasses.replace(tn.variations["iqv"], name="my_iqv")
        for twin in (copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))):
            assert twin == mine
            np.testing.assert_array_equal(twin(ROWS), tn.variations["iqv"](ROWS))

    def test_the_name_of_a_measure_with_another_function_is_refused(self) -> None:
        with pytest.raises(ValueError, match="name of a built-in measure"):
            tn.Variation("entropy", tn.variations["iqv"].function)


def test_error_state_of_numpy_does_not_matter() -> None:
    y_true, y_prob = tn.simulate.calibrated(500, [0.01] * 5, rng=0)
    with np.errstate(all="raise"):
        strict = tn.vce(y_true, y_prob)
        assert tn.vce(y_true, np.log(np.maximum(y_prob, 1e-300)) * 3, from_logits=True) > 0
    assert strict == tn.vce(y_true, y_prob)
