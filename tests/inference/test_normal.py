"""Normal noise: quantiles, folded means and debiased sums."""

import math

import inference_oracle as exact
import numpy as np
import pytest

from trueness.old_inference.normal import (
    debiased_total,
    erf,
    folded_mean,
    half_normal_quantile,
    normal_quantile,
)


class TestNormal:
    def test_erf(self) -> None:
        x = np.concatenate([np.linspace(0, 7, 9001), [0.0, 5.9999, 6.0, 40.0, 1e300]])
        np.testing.assert_allclose(erf(x), [math.erf(value) for value in x.tolist()], rtol=0, atol=1e-12)
        assert erf(x.reshape(2, -1)).shape == (2, len(x) // 2)

    def test_mean(self) -> None:
        mu, sigma = np.array([0, 0.1, -0.5, 2.0, 3.0, 0.0]), np.array([1, 0.2, 0.3, 1.0, 0.0, 0.0])
        want = [exact.folded_mean(m, s) for m, s in zip(mu.tolist(), sigma.tolist(), strict=True)]
        mean, slope = folded_mean(np.abs(mu), sigma)
        np.testing.assert_allclose(mean, want, atol=1e-9)
        ahead, _ = folded_mean(np.abs(mu) + 1e-6, sigma)
        np.testing.assert_allclose(slope[:4], (ahead - mean)[:4] / 1e-6, atol=1e-5)

    @pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 5.0])
    def test_debiased_total(self, scale: float) -> None:
        w, g = np.array([0.2, 0.5, 0.3]), scale * np.array([0.03, -0.05, 0.01])
        sigma = np.array([0.02, 0.01, 0.03])
        total = float(w @ np.abs(g))
        want = exact.debiased(w.tolist(), g.tolist(), sigma.tolist(), total)
        assert debiased_total(w, g, sigma) == pytest.approx(want, abs=1e-9)
        several = debiased_total(w, np.stack([g, np.zeros(3), 3 * g]), sigma)
        assert several.tolist() == pytest.approx(
            [want, 0.0, float(debiased_total(w, 3 * g, sigma))], abs=1e-12
        )

    @pytest.mark.parametrize("scale", [0.0, 0.5, 1.0, 3.0, 100.0])
    def test_debiased_totals_are_those_of_each(self, scale: float) -> None:
        rng = np.random.default_rng(1)
        sigma = np.array([0.02, 0.01, 0.03, 0.0])
        gaps = scale * np.array([0.03, -0.02, 0.01, 0.0]) + sigma * rng.standard_normal((200, 4))
        weights = rng.dirichlet(np.ones(4), 200)
        each = [float(debiased_total(w, g, sigma)) for w, g in zip(weights, gaps, strict=True)]
        assert 0.0 in each or scale >= 1
        for order in ("C", "F"):
            several = debiased_total(np.asarray(weights, order=order), np.asarray(gaps, order=order), sigma)
            np.testing.assert_allclose(several, each, rtol=0, atol=1e-10)

    @pytest.mark.parametrize("above", [1e-4, 1e-2, 0.1])
    def test_debiased_total_of_a_small_share_of_gaps_without_noise(self, above: float) -> None:
        """A gap without noise is linear in t, however small t is."""
        w, g, sigma = np.array([0.5, 0.5]), np.array([0.01, 0.02]), np.array([0.0, 0.1])
        g[1] = (1 + above) * 0.1 * math.sqrt(2 / math.pi) - g[0]
        total = float(w @ np.abs(g))
        want = exact.debiased(w.tolist(), g.tolist(), sigma.tolist(), total)
        assert 0 < want < 0.5 * total
        assert debiased_total(w, g, sigma) == pytest.approx(want, abs=1e-9)

    def test_debiased_total_of_rounding_errors(self) -> None:
        """Their squares underflow."""
        tiny = np.array([2.9e-278])
        assert debiased_total(np.ones(1), tiny, np.zeros(1)) == pytest.approx(2.9e-278, rel=1e-9)

    def test_debiased_total_of_noise_is_0(self) -> None:
        w, sigma = np.array([0.5, 0.5]), np.array([0.1, 0.1])
        mean = 0.1 * math.sqrt(2 / math.pi)
        assert debiased_total(w, np.array([mean, -mean]), sigma) == 0.0
        assert debiased_total(w, np.array([0.2, -0.2]), np.zeros(2)) == pytest.approx(0.2)

    def test_half_normal_quantile(self) -> None:
        """One bin: σ·z. Two equal bins: |Z1| + |Z2| ≤ x is a square, of probability erf(x/2)²."""
        # The quantile at .95 of 9999 draws: error √(.95·.05/9999)/density, five of them about 2 % here.
        assert half_normal_quantile(np.array([2.0]), 0.95, [1]) == pytest.approx(2 * 1.959964, rel=0.03)
        x = half_normal_quantile(np.array([1.0, 1.0]), 0.95, [2])
        assert math.erf(x / 2) ** 2 == pytest.approx(0.95, abs=exact.five_errors(0.95, 9999))

    def test_normal_quantile(self) -> None:
        for level in (0.5, 0.9, 0.95, 0.999):
            assert math.erf(normal_quantile(level) / math.sqrt(2)) == pytest.approx(level, abs=1e-12)
