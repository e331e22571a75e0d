"""Pictures of a monitor: its evidence, the trend of the gap, and the evidence bin by bin."""

from trueness.plots.monitoring.data import (
    BinEvidence,
    EvidencePath,
    TrendLines,
    bin_evidence_of,
    evidence_of,
    trend_lines_of,
)
from trueness.plots.monitoring.display import EvidenceDisplay, TrendDisplay
from trueness.plots.monitoring.svg import bin_evidence_chart, evidence_chart, trend_chart

__all__ = [
    "BinEvidence",
    "EvidenceDisplay",
    "EvidencePath",
    "TrendDisplay",
    "TrendLines",
    "bin_evidence_chart",
    "bin_evidence_of",
    "evidence_chart",
    "evidence_of",
    "trend_chart",
    "trend_lines_of",
]

PICTURES = ()
"""None of an assessment: the page of a monitor draws them."""
