"""The bias of V of observed frequencies, and the temperature at which it is evaluated."""

import math

import inference_oracle as exact
import numpy as np
import pytest

import trueness as tn
from trueness.old_inference._bias import fitted_bias, most_likely_beta
from trueness.old_inference.null import NullBins


class TestBias:
    @pytest.mark.parametrize("exponent", [0.5, 1.0, 1.8])
    def test_beta_and_bias(self, exponent: float) -> None:
        y_true, truth = tn.simulate.calibrated(400, [1.0] * 6, rng=21)
        table = tn.tabulate(y_true, tn.simulate.sharpen(truth, exponent), bins=4)
        bins = NullBins.of(table)
        plain = list(zip(bins.count.tolist(), bins.predicted.tolist(), bins.observed.tolist(), strict=True))
        beta = exact.most_likely_beta(plain)
        got, error = most_likely_beta(bins)
        assert got == pytest.approx(beta, abs=1e-5)
        # The information is minus the second derivative of the log-likelihood.
        h = 1e-3
        second = (
            exact.log_likelihood(plain, beta + h)
            - 2 * exact.log_likelihood(plain, beta)
            + exact.log_likelihood(plain, beta - h)
        ) / h**2
        assert error == pytest.approx(1 / math.sqrt(-second), rel=1e-3)
        want = fitted_bias(bins, 99, [0])
        np.testing.assert_allclose(
            want.by_bin, [exact.bias(n, q, got) for n, q, _ in plain], rtol=1e-6, atol=1e-9
        )
        mass = sum(n for n, _, _ in plain)
        shift = [
            sum(n * exact.bias(n, q, max(b, 0.0)) for n, q, _ in plain) / mass
            for b in (got - error, got + error)
        ]
        assert want.standard_error == pytest.approx(abs(shift[1] - shift[0]) / 2, rel=1e-5)

    def test_beta_finds_the_temperature(self) -> None:
        """Predictions ∝ π^a have β ≈ 1/a if π is the same in all rows of a bin, as here."""
        rng = np.random.default_rng(4)
        truth = np.tile([0.5, 0.25, 0.15, 0.1], (20_000, 1))
        y_true = tn.simulate.draw_labels(truth, rng)
        bins = NullBins.of(tn.tabulate(y_true, tn.simulate.sharpen(truth, 2.0)))
        beta, error = most_likely_beta(bins)
        assert beta == pytest.approx(0.5, abs=5 * error)
        assert error < 0.01

    @pytest.mark.parametrize("y_prob", [[1 / 3] * 3, [1.0, 0.0, 0.0], [0.6, 0.4, 0.0]])
    def test_flat_and_certain_predictions_have_a_finite_answer(self, y_prob: list[float]) -> None:
        result = tn.assess([0] * 30 + [1] * 20, [y_prob] * 50, rng=0)
        for estimate in (result.vce, result.net):
            assert math.isfinite(estimate.debiased)
            assert estimate.interval.low <= estimate.debiased <= estimate.interval.high

    def test_every_label_right_or_wrong(self) -> None:
        """β is at its bounds; the net gap is finite and has the right sign."""
        y_prob = np.tile([0.6, 0.3, 0.1], (200, 1))
        assert tn.assess([0] * 200, y_prob, rng=0).net.debiased < -0.5
        assert tn.assess([0, 1, 2, 0] * 50, y_prob, rng=0).net.debiased > 0
