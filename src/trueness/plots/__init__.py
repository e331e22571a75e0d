"""Pictures of assessments, as SVG for the report and with matplotlib (extra `plots`).

Each picture is a folder or a module: `data` computes what it shows, `svg` draws it for the report, `display` draws it
with matplotlib, which is imported when something is drawn: on the `ax=` that is passed or on new axes, with no setting
of matplotlib changed.
"""

from typing import Any

from trueness.plots import forest, gaps, rank_map, ranks, reliability
from trueness.plots.convergence import ConvergenceDisplay
from trueness.plots.forest import ForestDisplay
from trueness.plots.gaps import GapDisplay
from trueness.plots.picture import Picture
from trueness.plots.rank_map import RankHeatMapDisplay
from trueness.plots.ranks import RankDisplay
from trueness.plots.reliability import ReliabilityDisplay
from trueness.plots.sweep import SweepDisplay

__all__ = [
    "ReliabilityDisplay",
    "GapDisplay",
    "RankDisplay",
    "RankHeatMapDisplay",
    "ForestDisplay",
    "SweepDisplay",
    "ConvergenceDisplay",
    "Picture",
    "PICTURES",
]

PICTURES: tuple[Picture[Any], ...] = (
    reliability.VCE,
    reliability.ECE,
    reliability.UCE,
    gaps.GAPS,
    ranks.ALL_ROWS,
    ranks.WORST_BIN,
    rank_map.RANK_MAP,
    forest.NET_GAPS,
)
"""The pictures of the report, in their order. A new picture becomes part of it by its entry here."""
