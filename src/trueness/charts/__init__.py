"""Pictures as values, which are drawn as SVG, with matplotlib, or in characters.

They are made from tables, samples and forests; what is said about them is said elsewhere.
"""

from trueness.charts.chart import Axis, Chart, Mark
from trueness.charts.cumulative import cumulative_chart
from trueness.charts.forest import forest_chart
from trueness.charts.ranks import rank_chart, rank_map
from trueness.charts.reliability import (
    class_chart,
    class_charts,
    confidence_chart,
    reliability_chart,
)
from trueness.charts.trend import curve_chart, evidence_chart, trend_chart

__all__ = [
    "Axis",
    "Chart",
    "Mark",
    "class_chart",
    "class_charts",
    "confidence_chart",
    "cumulative_chart",
    "curve_chart",
    "evidence_chart",
    "forest_chart",
    "rank_chart",
    "rank_map",
    "reliability_chart",
    "trend_chart",
]
