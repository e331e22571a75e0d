"""Pictures of assessments, as SVG for the report and with matplotlib (extra `plots`).

Each picture is a folder or a module: `data` computes what it shows, `svg` draws it for the report, `display` draws it
with matplotlib, which is imported when something is drawn: on the `ax=` that is passed or on new axes, with no setting
of matplotlib changed.

A folder that is part of the report lists its `PICTURES`; to add one, add a folder.
"""

import pkgutil
from importlib import import_module
from typing import Any

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
    "pictures",
]

_FIRST = ("reliability", "gaps", "ranks", "rank_map", "forest")
"""The order of the folders in the report; further folders follow by name."""


def pictures() -> tuple[Picture[Any], ...]:
    """The pictures of the report in their order: the `PICTURES` of every folder of this package."""
    found = {module.name for module in pkgutil.iter_modules(__path__) if module.ispkg}
    names = [*(name for name in _FIRST if name in found), *sorted(found.difference(_FIRST))]
    return tuple(picture for name in names for picture in import_module(f"{__name__}.{name}").PICTURES)
