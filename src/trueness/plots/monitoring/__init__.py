"""Pictures of a monitor: its evidence, and the trend of the gap."""

from trueness.plots.monitoring.data import EvidencePath, TrendLines, evidence_of, trend_lines_of
from trueness.plots.monitoring.display import EvidenceDisplay, TrendDisplay
from trueness.plots.monitoring.svg import evidence_chart, trend_chart

__all__ = [
    "EvidenceDisplay",
    "EvidencePath",
    "TrendDisplay",
    "TrendLines",
    "evidence_chart",
    "evidence_of",
    "trend_chart",
    "trend_lines_of",
]

PICTURES = ()
"""None of an assessment: the page of a monitor draws them."""
