"""Rank diagrams: how often the model's first, second, … choice is the true class, predicted and observed."""

from dataclasses import replace

from trueness._printing import capitalise
from trueness.plots._rank_groups import gap_text
from trueness.plots.picture import RANKS, Numbers, Picture
from trueness.plots.ranks.data import Ranks, ranks_of, worst_ranks_of
from trueness.plots.ranks.display import RankDisplay
from trueness.plots.ranks.svg import rank_chart

__all__ = ["RankDisplay", "Ranks", "rank_chart", "ranks_of"]


def _caption(r: Ranks) -> str:
    groups = " Ranks further down are shown in groups." if r.grouped else ""
    return (
        f"{capitalise(r.title)}. Blue: how often the model expects its first, second, … choice to be the true class. "
        f"Orange: how often it was. Grey: where noise alone would put a calibrated model.{groups}"
    )


def _worst_caption(r: Ranks) -> str:
    return f"{capitalise(r.title)}. This bin adds most to the ranked calibration error."


def _numbers(r: Ranks) -> Numbers:
    columns = (r.labels, r.predicted, r.observed, r.low, r.high, r.gap)
    lines = [
        [label, f"{p:.5g}", f"{o:.5g}", f"{low:.4g} to {high:.4g}", gap_text(gap)]
        for label, p, o, low, high, gap in zip(*columns, strict=True)
    ]
    per = " per rank" if r.grouped else ""
    heads = ["rank", f"predicted{per}", f"observed{per}", "if calibrated", "standardised gap"]
    return Numbers(f"Ranks, {r.title}", heads, lines)


ALL_ROWS = Picture(
    key="ranks",
    title="Rank of the true class, all rows",
    caption=_caption,
    section=RANKS,
    data=ranks_of,
    svg=rank_chart,
    display=RankDisplay,
    numbers=_numbers,
)
WORST_BIN = replace(
    ALL_ROWS,
    key="ranks-worst-bin",
    title="Rank of the true class, worst bin",
    caption=_worst_caption,
    data=worst_ranks_of,
)

PICTURES = (ALL_ROWS, WORST_BIN)
