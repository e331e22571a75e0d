"""Pictures of a monitor: their data, and matplotlib's Displays."""

import math

import pytest
from monitored import T1, T2, stream, watched

from trueness.plots.monitoring import evidence_of, trend_lines_of

ALARMED = watched(stream(12, 600, exponent=1.7, after=6, seed=5))


class TestData:
    def test_evidence(self) -> None:
        data = evidence_of(ALARMED)
        assert data.limit == pytest.approx(math.log10(20))
        assert data.log10_e[-1] == pytest.approx(ALARMED.log_e_value / math.log(10))
        assert data.alarm is not None
        assert ALARMED.alarm is not None
        assert data.names[data.alarm] == ALARMED.alarm.at
        low, high = data.range
        assert low <= data.log10_e.min()
        assert high > data.limit

    def test_the_trend_sorts_looks_by_name(self) -> None:
        monitor = watched([])
        for at, table in (("b", T1), ("a", T2)):
            monitor.update(table, at=at)
        data = trend_lines_of(monitor)
        assert data.names == ("a", "b")
        assert data.arrived == ("b", "a")
        assert data.gap.tolist() == pytest.approx([monitor.looks[1].gap, monitor.looks[0].gap])


class TestDisplays:
    def test_evidence_and_trend_are_drawn(self) -> None:
        import matplotlib.pyplot as plt

        from trueness.plots import EvidenceDisplay, TrendDisplay

        for display in (EvidenceDisplay, TrendDisplay):
            drawn = display.from_monitor(ALARMED)
            assert drawn.ax_.get_xlabel() == "look"
            assert len(drawn.ax_.lines) >= 2
            _, ax = plt.subplots()
            assert display(drawn.data).plot(ax).ax_ is ax
