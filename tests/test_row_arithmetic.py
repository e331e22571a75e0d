"""Logarithms, exponentials, units and sums against exact numbers, and against `rule_oracle`, to the last bit."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import rule_oracle
from numpy.typing import NDArray

import trueness as tn
from trueness import _row_arithmetic as rule
from trueness._scratch import Scratch
from trueness.ranking import LEAST_LOG, underflowed_log_p

ENGINES = ["portable", "compiled"]


def magnitudes(n: int, seed: int = 0) -> NDArray[np.float64]:
    """Numbers from 2⁻¹⁰²² to 1, many of them near powers of two and near the edges of eighths."""
    rng = np.random.default_rng(seed)
    spread = 2.0 ** -rng.integers(0, 1022, n) * rng.uniform(0.5, 1, n)
    edges = (1 + np.arange(8) / 8)[:, None] * 2.0 ** -np.arange(1, 60)
    near = np.concatenate([np.nextafter(edges, 0), edges, np.nextafter(edges, 1)]).ravel()
    beside_one = 1 - np.arange(1, 200) * 2.0**-53
    return np.concatenate([spread, rng.uniform(0, 1, n), near, beside_one, [1.0]])


def logarithm(p: float) -> Decimal:
    with localcontext() as context:
        context.prec = 40
        return Decimal(p).ln() / Decimal(2).ln()


class TestLog2:
    def test_against_exact_logarithms(self) -> None:
        p = magnitudes(1500)
        for x, found in zip(p.tolist(), rule.log2(p, Scratch()).tolist(), strict=True):
            assert abs(float(Decimal(found) - logarithm(x))) <= 2.1e-15 + math.ulp(found) / 2, x

    def test_powers_of_two_are_exact(self) -> None:
        k = np.arange(-1022, 1022)
        np.testing.assert_array_equal(rule.log2(2.0**k, Scratch()), k)

    def test_subnormal_numbers(self) -> None:
        k = np.arange(-1074, 1)
        np.testing.assert_array_equal(rule.log2_of_positive(2.0**k, Scratch()), k)
        p = np.array([5e-324, 1e-320, 3e-310, 2.0**-1022, 0.3])
        expected = [rule_oracle.log2_of_true(x) for x in p.tolist()]
        np.testing.assert_array_equal(rule.log2_of_positive(p, Scratch()), expected)

    def test_bits_of_the_oracle(self) -> None:
        p = magnitudes(3000, seed=1)
        np.testing.assert_array_equal(rule.log2(p, Scratch()), [rule_oracle.log2(x) for x in p.tolist()])

    def test_never_above_zero_and_finite_at_zero(self) -> None:
        p = magnitudes(3000, seed=2)
        assert (rule.log2(p, Scratch()) <= 0).all()
        assert np.isfinite(rule.log2(np.array([0.0, -0.0, 5e-324]), Scratch())).all()

    def test_constants_are_those_of_the_oracle(self) -> None:
        assert [rule_oracle.centre(j) for j in range(8)] == list(rule.LOG2_CENTRES)
        assert float(Decimal(2).ln()) == rule.LN2 == rule_oracle.LN2
        assert rule_oracle.bits(1.0) == rule.ONE_BITS
        assert rule_oracle.bits(2.0) == rule.TWO_BITS

    @pytest.mark.parametrize("n_classes", [2, 3, 4, 10, 256, 1000, 21843])
    def test_the_factor_to_base_c_is_the_nearest_float(self, n_classes: int) -> None:
        w = rule.bits_to_classes(n_classes)
        with localcontext() as context:
            context.prec = 60
            exact = Decimal(2).ln() / Decimal(n_classes).ln()
            assert abs(exact - Decimal(w)) <= Decimal(math.ulp(w)) / 2

    def test_the_factor_is_exact_for_powers_of_two(self) -> None:
        assert [rule.bits_to_classes(2**k) for k in (1, 2, 4)] == [1.0, 0.5, 0.25]


def test_units_are_the_nearest_multiples() -> None:
    p = np.concatenate([magnitudes(500), [0.0, -0.0, 5e-324, 2.0**-53, 1.5 * 2.0**-52]])
    assert rule.units(p).tolist() == [round(Fraction(x) * 2**52) for x in p.tolist()]


class TestExp:
    def test_against_exact_exponentials(self) -> None:
        rng = np.random.default_rng(0)
        x = -np.concatenate([rng.uniform(0, 1, 800), rng.uniform(0, 40, 800), rng.uniform(0, 745, 800)])
        with localcontext() as context:
            context.prec = 40
            for at, found in zip(x.tolist(), rule.exp(x.copy(), Scratch()).tolist(), strict=True):
                assert abs(Decimal(found) - Decimal(at).exp()) <= Decimal("1.25") * Decimal(
                    math.ulp(found)
                ), at

    def test_bits_of_the_oracle(self) -> None:
        rng = np.random.default_rng(1)
        x = -np.concatenate(
            [
                rng.uniform(0, 800, 3000),
                rng.uniform(0, 1, 1000),
                np.arange(0, 760, 0.5),
                [1e-300, 1e7, 1e300, np.inf],
            ]
        )
        np.testing.assert_array_equal(
            rule.exp(x.copy(), Scratch()), [rule_oracle.exp(at) for at in x.tolist()]
        )

    def test_ends(self) -> None:
        found = rule.exp(np.array([0.0, -0.0, -745.13, -745.2, -746.0, -1e300, -np.inf, np.nan]), Scratch())
        np.testing.assert_array_equal(found, [1.0, 1.0, 5e-324, 0.0, 0.0, 0.0, 0.0, np.nan])

    def test_many_values_are_those_of_each(self) -> None:
        x = -np.random.default_rng(2).uniform(0, 800, rule.CHUNK_VALUES + 77)
        alone = [rule.exp(x[at : at + 1].copy(), Scratch())[0] for at in range(0, len(x), 501)]
        np.testing.assert_array_equal(rule.exp(x.copy(), Scratch())[::501], alone)

    def test_the_table_has_the_nearest_floats(self) -> None:
        assert rule.exp_table().tolist() == [rule_oracle.power(j) for j in range(rule.EXP_STEPS)]

    def test_the_step_in_two_parts(self) -> None:
        with localcontext() as context:
            context.prec = 60
            step = Decimal(2).ln() / 2048
            assert float(step - Decimal(rule.EXP_STEP_HIGH)) == rule.EXP_STEP_LOW
            assert float(1 / step) == rule.EXP_TO_STEPS
        assert (rule.EXP_STEP_HIGH * 2.0**40).is_integer()


class TestUnderflow:
    def test_log_probabilities_of_logits(self) -> None:
        z = np.array([[0.0, -1000.0, -np.inf], [5.0, 5.0, -2000.0], [0.0, -1e300, 1.0], [1e308, -1e308, 0.0]])
        labels = np.array([1, 2, 1, 1])
        found = underflowed_log_p(z, labels)
        assert found.tolist() == [
            rule_oracle.underflowed_log_p(*row) for row in zip(z.tolist(), labels.tolist(), strict=True)
        ]
        np.testing.assert_allclose(found, [-1000, -2005 - math.log(2), LEAST_LOG, LEAST_LOG], rtol=1e-15)
        assert underflowed_log_p(z[:1], np.array([2])).tolist() == [-math.inf]

    @pytest.mark.parametrize("engine", ENGINES)
    def test_thousands_of_the_least_logarithm_are_summed_exactly(self, engine: str) -> None:
        n = 20_000
        table = tn.tabulate(np.ones(n, int), np.tile([0.0, -1e300], (n, 1)), from_logits=True, engine=engine)
        assert table.sums.log_likelihood.units == -(2**62) * n
        assert table.sums.impossible_rows == 0
