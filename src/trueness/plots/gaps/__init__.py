"""Signed gaps: by how much each bin is over- or under-confident."""

from trueness.plots.gaps.data import Gaps, gaps_of
from trueness.plots.gaps.display import GapDisplay
from trueness.plots.gaps.svg import gap_chart
from trueness.plots.picture import BINS, Picture

__all__ = ["GapDisplay", "Gaps", "gap_chart", "gaps_of"]

GAPS = Picture(
    key="gaps",
    title="Signed gap",
    caption=(
        "How much more the outcomes vary than a calibrated model's would on as many rows. Above 0 the model is "
        "over-confident, below 0 under-confident, whatever the variation measure."
    ),
    section=BINS,
    data=gaps_of,
    svg=gap_chart,
    display=GapDisplay,
)

PICTURES = (GAPS,)
