"""Bands that hold at all looks at once, and the trend (section 8)."""

import math

import numpy as np
import pytest
from monitored import NO_ROWS, T1, T2, stream, watched

from trueness.monitoring.bands import frequency_band, running_factor, wilson_interval


class TestFrequencyBand:
    def test_exact_values(self) -> None:
        """Section 12, α = .05."""
        low, high = frequency_band(np.array([5.0, 750.0]), np.array([10.0, 1000.0]), 0.05)
        assert low.tolist() == pytest.approx([0.078404575702, 0.701151018549], abs=1e-11)
        assert high.tolist() == pytest.approx([0.921595424298, 0.795102054295], abs=1e-11)

    def test_no_row_and_every_row(self) -> None:
        low, high = frequency_band(np.array([0.0, 50.0, 0.0]), np.array([50.0, 50.0, 0.0]), 0.05)
        assert (low[0], high[1]) == (0, 1)
        assert high[0] == pytest.approx(1 - low[1])
        assert (low[2], high[2]) == (0, 1)

    def test_width_beside_the_fixed_time_interval(self) -> None:
        """1.72 to 1.79 times that of the fixed-time interval from 100 to 3.65 million rows (section 8)."""
        n = np.array([100.0, 1e4, 3.65e6])
        low, high = frequency_band(n / 2, n, 0.05)
        ratio = (high - low) / (2 * 1.959964 * 0.5 / np.sqrt(n))
        assert np.all((ratio > 1.70) & (ratio < 1.81))

    def test_wilson_against_its_equation(self) -> None:
        """The ends m solve |r̄ - m| = z·√(m(1 - m)/n)."""
        for end in wilson_interval(np.array([0.3]), np.array([40.0]), 0.95):
            m = end.item()
            assert abs(0.3 - m) == pytest.approx(1.959964 * math.sqrt(m * (1 - m) / 40), rel=1e-5)

    def test_the_factor_of_the_net_gap(self) -> None:
        """Equation 9 by hand, as a multiple of the fixed-time interval, at N*, N*/3 and 60 N*."""
        factors = [running_factor(10 * n, 1.0, 0.05) / 1.959964 for n in (1, 1 / 3, 60)]
        assert factors == pytest.approx([1.5486, 1.6154, 1.7816], abs=1e-4)


class TestTrend:
    def test_the_running_gap_is_that_of_the_sum(self) -> None:
        looks = stream(4, 300, exponent=1.3)
        for point, k in zip(watched(looks).trend(), range(1, 5), strict=True):
            total = sum(looks[1:k], start=looks[0])
            gap = (total.ordered_sum[:, 0] - total.rank_count[:, 0]).sum() / total.n_rows
            assert point.running_gap == pytest.approx(gap)
            assert point.band_low < gap < point.band_high
            assert point.low < point.gap < point.high

    def test_a_look_without_rows_has_no_gap(self) -> None:
        points = watched([T1, NO_ROWS, T2]).trend()
        assert math.isnan(points[1].gap)
        assert points[1].running_gap == points[0].running_gap
        first = watched([NO_ROWS, T1]).trend()[0]
        assert math.isnan(first.running_gap)
        assert math.isnan(first.band_low)
        assert watched([]).trend() == ()

    def test_clusters_widen_it(self) -> None:
        alone, clustered = (watched([T1, T2], max_cluster=m).trend()[1] for m in (1, 4))
        assert clustered.band_high - clustered.band_low > alone.band_high - alone.band_low
        assert clustered.high - clustered.low > alone.high - alone.low

    def test_the_net_gap(self) -> None:
        looks = stream(3, 1000, exponent=1.3)
        points = watched([*looks, type(looks[0]).empty(looks[0].spec)]).trend("net")
        assert points[2].band_low > 0
        assert points[2].running_gap == pytest.approx(np.mean([point.gap for point in points[:3]]), abs=0.02)
        assert math.isnan(points[3].gap)
        assert points[3].running_gap == points[2].running_gap

    def test_an_unknown_gap_is_refused(self) -> None:
        with pytest.raises(ValueError, match="`gap` must be one of 'top-label', 'net'"):
            watched([T1]).trend("ranks")
