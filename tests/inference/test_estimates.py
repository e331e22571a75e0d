"""Noise floors, p-values, debiased values and intervals, against exact enumeration.

Tolerances come from the Monte-Carlo error: a share p of R draws has the standard error √(p(1-p)/R), a mean of draws
sd/√R. With five of them a correct implementation fails in one of two million runs.
"""

import math

import inference_oracle as exact
import numpy as np
import oracle
import pytest

import trueness as tn
from trueness.old_inference._bias import fitted_bias, most_likely_beta
from trueness.old_inference.estimates import ResampledTable
from trueness.old_inference.null import NullBins

A_ROWS = [[0.9, 0.1]] * 10


def right(k: int) -> list[int]:
    """Labels of the A rows with k right."""
    return [0] * k + [1] * (10 - k)


class TestExactNullOfTheARows:
    """n = 10, q = (.9, .1): eleven outcomes, known to the last digit."""

    R = 99_999
    P = oracle.entropy([0.9, 0.1])
    LAW = exact.null_law(10, [0.9, 0.1], lambda r: abs(oracle.entropy(r) - oracle.entropy([0.9, 0.1])))

    @pytest.mark.parametrize(("k", "p"), [(5, 0.0014880348), (7, 0.418868893), (1, 1.0)])
    def test_p_value_and_noise_floor(self, k: int, p: float) -> None:
        result = tn.assess(right(k), A_ROWS, resamples=self.R, rng=11)
        assert result.vce.p_value == pytest.approx(p, abs=exact.five_errors(p, self.R))
        error = 5 * exact.sd(self.LAW) / math.sqrt(self.R)
        assert result.vce.noise_floor == pytest.approx(0.24265317736138, abs=error)

    def test_centred_and_net(self) -> None:
        """Of one bin both are |H(r) - E0[H]|, and the net's floor is E0[H] - H(q), exactly."""
        e0 = 0.3845914668839
        law = exact.null_law(10, [0.9, 0.1], lambda r: abs(oracle.entropy(r) - e0))
        for k in (10, 9, 7, 5):
            result = tn.assess(right(k), A_ROWS, resamples=self.R, rng=12)
            p = exact.at_least(law, abs(oracle.entropy([k / 10, 1 - k / 10]) - e0))
            tolerance = exact.five_errors(p, self.R)
            assert result.vce.centred_p_value == pytest.approx(p, abs=tolerance)
            assert result.net.centred_p_value == pytest.approx(p, abs=tolerance)
            assert result.net.noise_floor == pytest.approx(e0 - self.P, abs=1e-12)
            assert result.vce.bins.expected[4] == pytest.approx(e0, abs=1e-12)

    def test_ranked_error_and_uce(self) -> None:
        """For two classes RCE is |r1 - .9|; UCE is |1 - r1 - H(.9)|, on either side of its mean."""
        law = exact.null_law(10, [0.9, 0.1], lambda r: abs(r[0] - 0.9))
        result = tn.assess(right(7), A_ROWS, resamples=self.R, rng=13)
        p = exact.at_least(law, 0.2)
        for estimate in (result.rce, result.rce_w1, result.ece):
            assert estimate is not None
            assert estimate.p_value == pytest.approx(p, abs=exact.five_errors(p, self.R))
            assert estimate.noise_floor == pytest.approx(
                exact.mean(law), abs=5 * exact.sd(law) / math.sqrt(self.R)
            )
        uce = exact.null_law(10, [0.9, 0.1], lambda r: abs(1 - r[0] - self.P))
        assert result.uce is not None
        error = 5 * exact.sd(uce) / math.sqrt(self.R)
        assert result.uce.calibrated_value == pytest.approx(exact.mean(uce), abs=error)
        off = exact.null_law(10, [0.9, 0.1], lambda r: abs(abs(1 - r[0] - self.P) - exact.mean(uce)))
        # The mean is drawn too; no outcome lies between the two, so that the p-value is not moved by its error.
        p = exact.at_least(off, abs(abs(0.3 - self.P) - exact.mean(uce)) - error)
        assert result.uce.p_value == pytest.approx(p, abs=exact.five_errors(p, self.R))

    def test_three_classes_by_all_outcomes(self) -> None:
        """Nine rows at (.5, .3, .2): 55 outcomes; TV and W1 are no longer the same."""
        q, ranks = [0.5, 0.3, 0.2], [0] * 3 + [1] * 4 + [2] * 2
        result = tn.assess(ranks, [q] * 9, resamples=self.R, rng=14)
        r = [3 / 9, 4 / 9, 2 / 9]
        for estimate, number in (
            (result.vce, lambda x: abs(oracle.entropy(x) - oracle.entropy(q))),
            (result.rce, lambda x: oracle.total_variation(x, q)),
            (result.rce_w1, lambda x: oracle.wasserstein(x, q)),
        ):
            law = exact.null_law(9, q, number)
            p = exact.at_least(law, number(r))
            assert estimate.value == pytest.approx(number(r), abs=1e-12)
            assert estimate.p_value == pytest.approx(p, abs=exact.five_errors(p, self.R))
            assert estimate.noise_floor == pytest.approx(
                exact.mean(law), abs=5 * exact.sd(law) / math.sqrt(self.R)
            )

    def test_sd_is_the_larger_of_predicted_and_observed(self) -> None:
        """σ = max(sd at q̄, sd at (n·r̄ + q̄)/(n + 1)); an sd from R draws is off by about 1/√(2R) of it."""
        for k in (9, 5):
            mixed = [(k + 0.9) / 11, (10 - k + 0.1) / 11]
            want = max(exact.sd(exact.null_law(10, x, oracle.entropy)) for x in ([0.9, 0.1], mixed))
            result = tn.assess(right(k), A_ROWS, resamples=self.R, rng=15)
            assert result.vce.bins.sd[4] == pytest.approx(want, rel=0.02)

    def test_the_band_of_a_bin(self) -> None:
        """2.5 % and 97.5 % points of H of Bin(10, .9)/10, a lattice: exactly one of its values."""
        result = tn.assess(right(5), A_ROWS, resamples=9999, rng=16)
        law = sorted(exact.null_law(10, [0.9, 0.1], oracle.entropy))
        shares = np.cumsum([p for _, p in law])
        for level, got in ((0.025, result.vce.bins.low[4]), (0.975, result.vce.bins.high[4])):
            assert got == pytest.approx(law[int(np.searchsorted(shares, level))][0], abs=1e-12)


class TestEstimatesAddUp:
    """The debiased value and the intervals of a whole table from its own parts, by the plain formulas."""

    @pytest.mark.parametrize("exponent", [0.8, 1.4])
    def test_from_bins_to_number(self, exponent: float) -> None:
        y_true, truth = tn.simulate.calibrated(500, [2.0] * 5, rng=31)
        table = tn.tabulate(y_true, tn.simulate.sharpen(truth, exponent), bins=6)
        result = tn.assess_table(table, rng=1)
        bins = NullBins.of(table)
        beta, _ = most_likely_beta(bins)
        w, sd = bins.weight.tolist(), result.vce.bins.sd[bins.index].tolist()
        g = []
        for n, q, r in zip(bins.count.tolist(), bins.predicted.tolist(), bins.observed.tolist(), strict=True):
            g.append(oracle.entropy(r) + exact.bias(n, q, beta) - oracle.entropy(q))
        total = math.fsum(a * abs(b) for a, b in zip(w, g, strict=True))
        assert result.vce.debiased == pytest.approx(exact.debiased(w, g, sd, total), abs=1e-7)
        net = math.fsum(a * b for a, b in zip(w, g, strict=True))
        assert result.net.debiased == pytest.approx(net, abs=1e-8)
        error = fitted_bias(bins, 99, [0]).standard_error
        reach = 1.959963984540054 * (math.sqrt(sum((a * s) ** 2 for a, s in zip(w, sd, strict=True))) + error)
        assert result.net.interval.low == pytest.approx(net - reach, abs=1e-7)
        assert result.net.interval.high == pytest.approx(net + reach, abs=1e-7)
        middle = (result.vce.interval.high + result.vce.interval.low) / 2
        if result.vce.interval.low > 0:
            assert middle == pytest.approx(total, abs=1e-8)
        gap = [math.nan if not n else o for n, o in zip(table.row_count, result.vce.centred_gap, strict=True)]
        want = [
            oracle.entropy(r) - exact.expected_entropy(n, q)
            for n, q, r in zip(
                bins.count.tolist(), bins.predicted.tolist(), bins.observed.tolist(), strict=True
            )
        ]
        np.testing.assert_allclose(np.array(gap)[bins.index], want, atol=1e-9)

    def test_detectable_gap_has_the_stated_power(self) -> None:
        """Normal: a net gap of (z(1-α/4) + z(.8))·sd is detected with 80 % power by the doubled p-value."""
        y_true, y_prob = tn.simulate.calibrated(1000, [1.0] * 3, rng=2)
        result = tn.assess(y_true, y_prob, resamples=9999, rng=0)
        resampled = ResampledTable.of(result.table, 9999, [5])
        gaps = (resampled.null.variation - resampled.expected) @ resampled.bins.weight
        # Two-sided at 2.5 %, as Holm requires of the smaller of two; the shifted null exceeds it in 80 of 100 draws.
        limit = np.quantile(np.abs(gaps), 0.975)
        found = np.mean(np.abs(gaps + result.detectable_net_gap) >= limit)
        assert found == pytest.approx(0.8, abs=0.03)
