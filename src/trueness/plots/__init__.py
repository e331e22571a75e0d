"""Pictures: the only place that knows matplotlib (extra `plots`), and not before something is drawn.

First the numbers of a picture are computed (`readings`, which the HTML report draws too), then they are drawn: on the
`ax=` that is given or on new axes, with no setting of matplotlib's changed.
"""

from trueness.plots.forest import ForestDisplay
from trueness.plots.over import ConvergenceDisplay, SweepDisplay
from trueness.plots.ranks import RankDisplay, RankHeatMapDisplay
from trueness.plots.reliability import GapDisplay, ReliabilityDisplay

__all__ = [
    "ReliabilityDisplay",
    "GapDisplay",
    "RankDisplay",
    "RankHeatMapDisplay",
    "ForestDisplay",
    "SweepDisplay",
    "ConvergenceDisplay",
]
