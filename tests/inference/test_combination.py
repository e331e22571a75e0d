"""One p-value for several tests of the same rows."""

import math

import inference_oracle as exact
import numpy as np
import pytest

from trueness.old_inference.combination import combined_p_value


class TestCombination:
    """One p-value for several tests of the same rows."""

    def test_against_the_definition(self) -> None:
        rng = np.random.default_rng(0)
        for size in range(1, 12):
            for p in rng.random((20, size)) ** 3:
                assert combined_p_value(p.tolist()) == pytest.approx(
                    exact.cauchy_combination(p.tolist()), abs=1e-14
                )

    def test_tests_that_agree_and_one_alone(self) -> None:
        for p in (1e-12, 1e-4, 0.03, 0.4, 0.89, 0.97, 1.0):
            assert combined_p_value([p] * 6) == pytest.approx(p, rel=1e-9)
        assert combined_p_value([1e-5, *[0.5] * 5]) == pytest.approx(6e-5, rel=1e-6)
        assert combined_p_value([1e-5, *[1.0] * 5]) == pytest.approx(6e-5, rel=2e-3)  # no p-value cancels it
        assert combined_p_value([0.0, 0.5]) < 1e-299
        assert combined_p_value([0.02, math.nan]) == combined_p_value([0.02])
        assert math.isnan(combined_p_value([]))

    def test_weights_count_as_repetitions(self) -> None:
        rng = np.random.default_rng(3)
        for a, b, c in rng.random((20, 3)) ** 2:
            repeated, weighted = combined_p_value([a, b, b, c]), combined_p_value([a, b, c], [1, 2, 1])
            assert weighted == pytest.approx(repeated, rel=1e-12)
        assert combined_p_value([0.02, math.nan], [1, 5]) == combined_p_value([0.02])

    def test_it_grows_with_each_p_value_and_order_does_not_matter(self) -> None:
        rng = np.random.default_rng(1)
        for p in rng.random((200, 5)):
            larger = p.copy()
            larger[rng.integers(5)] += 0.05
            assert combined_p_value(larger.tolist()) >= combined_p_value(p.tolist()) - 1e-15
            assert combined_p_value(p[::-1].tolist()) == pytest.approx(
                combined_p_value(p.tolist()), rel=1e-12
            )

    @pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
    def test_size_whatever_the_dependence(self, correlation: float) -> None:
        """Six normal tests with a common part: at 5 % between .03 and .06, less and plus four errors of 20 000 runs."""
        rng = np.random.default_rng(2)
        common, own = rng.standard_normal((20_000, 1)), rng.standard_normal((20_000, 6))
        z = math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own
        p = np.vectorize(math.erfc)(np.abs(z) / math.sqrt(2))
        share = np.mean([combined_p_value(row) <= 0.05 for row in p.tolist()])
        four = 4 * math.sqrt(0.05 * 0.95 / 20_000)
        assert 0.03 - four <= share <= 0.06 + four
