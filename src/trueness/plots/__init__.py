"""Pictures of assessments, as SVG for the report and with matplotlib (extra `plots`).

Each picture is a folder or a module: `data` computes what it shows, `svg` draws it for the report, `display` draws it
with matplotlib, which is imported when something is drawn: on the `ax=` that is passed or on new axes, with no setting
of matplotlib changed.

A folder that is part of the report lists its `PICTURES`, or `EVENT_PICTURES` for those of an event; to add one, add a
folder.
"""

import pkgutil
from importlib import import_module
from typing import Any

from trueness.plots.class_diagrams import ClassDiagramDisplay
from trueness.plots.classes import ClassDisplay
from trueness.plots.convergence import ConvergenceDisplay
from trueness.plots.cumulative import PredictedClassDisplay
from trueness.plots.event import DifferencesDisplay, EventDisplay
from trueness.plots.forest import ForestDisplay
from trueness.plots.gaps import GapDisplay
from trueness.plots.monitoring import EvidenceDisplay, TrendDisplay
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
    "EventDisplay",
    "DifferencesDisplay",
    "ClassDisplay",
    "ClassDiagramDisplay",
    "PredictedClassDisplay",
    "ForestDisplay",
    "SweepDisplay",
    "ConvergenceDisplay",
    "EvidenceDisplay",
    "TrendDisplay",
    "Picture",
    "event_pictures",
    "pictures",
]

_FIRST = ("reliability", "gaps", "classes", "class_diagrams", "cumulative", "ranks", "rank_map", "forest")
"""The order of the folders in the report; further folders follow by name. Pictures of one section stand together."""


def pictures() -> tuple[Picture[Any], ...]:
    """The pictures of the report in their order: the `PICTURES` of every folder of this package."""
    found = _listed("PICTURES")
    sections = [*dict.fromkeys(picture.section for picture in found)]
    return tuple(sorted(found, key=lambda picture: sections.index(picture.section)))


def event_pictures() -> tuple[Picture[Any], ...]:
    """The pictures of an event in their order: the `EVENT_PICTURES` of every folder of this package."""
    return tuple(_listed("EVENT_PICTURES"))


def _listed(name: str) -> list[Picture[Any]]:
    found = {module.name for module in pkgutil.iter_modules(__path__) if module.ispkg}
    names = [*(folder for folder in _FIRST if folder in found), *sorted(found.difference(_FIRST))]
    folders = [import_module(f"{__name__}.{folder}") for folder in names]
    return [picture for folder in folders for picture in getattr(folder, name, ())]
