"""The exact mean entropy of rank frequencies, against enumeration."""

import inference_oracle as exact
import numpy as np
import oracle
import pytest

from trueness.variation.expectation import MANY, expected_entropy


class TestExpectedEntropy:
    def test_the_A_rows(self) -> None:
        assert expected_entropy(np.array([10]), np.array([[0.9, 0.1]]))[0] == pytest.approx(
            0.3845914668839, abs=1e-13
        )
        assert exact.expected_entropy(10, [0.9, 0.1]) == pytest.approx(0.3845914668839, abs=1e-13)

    @pytest.mark.parametrize("n", [1, 2, 3, 7, 12])
    def test_against_all_outcomes(self, n: int) -> None:
        for q in (
            [0.5, 0.3, 0.2],
            [0.999, 0.001, 0.0],
            [1 / 3] * 3,
            [1 - 1e-12, 1e-12, 0.0],
            [1.0, 0.0, 0.0],
        ):
            law = exact.null_law(n, q, oracle.entropy)
            assert expected_entropy(np.array([n]), np.array([q]))[0] == pytest.approx(
                exact.mean(law), abs=1e-13
            )

    @pytest.mark.parametrize("n", [1, 5, 30, 1000, 33_333, 1_000_000, 20_000_000])
    def test_against_binomials_small_and_huge(self, n: int) -> None:
        lines = [[1 - q, q] for q in (1e-12, 1e-7, 1e-4, 0.01, 0.3, 0.5)]
        got = expected_entropy(np.full(len(lines), n), np.array(lines))
        want = [exact.expected_entropy(n, line) for line in lines]
        np.testing.assert_allclose(got, want, rtol=2e-11, atol=1e-14)

    def test_no_step_where_the_series_begins(self) -> None:
        """Just below and just above n·q = 500 both must lie on the exact curve, to 1e-12."""
        n = 40_000
        for q in (MANY / n * (1 - 1e-9), MANY / n * (1 + 1e-9), 0.99, 0.24):
            line = [q, 1 - q]
            want = exact.expected_entropy(n, line)
            assert expected_entropy(np.array([n]), np.array([line]))[0] == pytest.approx(want, abs=1e-12)

    def test_many_lines_of_many_widths_at_once(self) -> None:
        rng = np.random.default_rng(3)
        q = -np.sort(-rng.dirichlet(np.full(60, 0.1), 12), axis=1)
        n = rng.integers(1, 4000, 12)
        want = [exact.expected_entropy(int(m), line) for m, line in zip(n, q.tolist(), strict=True)]
        np.testing.assert_allclose(expected_entropy(n, q), want, rtol=1e-11)
