"""The map of bins and ranks: where the predicted distribution is wrong."""

from trueness._printing import count_text
from trueness.plots._rank_groups import gap_text
from trueness.plots.picture import RANKS, Numbers, Picture
from trueness.plots.rank_map.data import RankMap, rank_map_of
from trueness.plots.rank_map.display import RankHeatMapDisplay
from trueness.plots.rank_map.svg import rank_map_chart

__all__ = ["RankHeatMapDisplay", "RankMap", "rank_map_chart", "rank_map_of"]


def _numbers(r: RankMap) -> Numbers:
    lines = [
        [span, count_text(float(rows)), *(gap_text(gap) for gap in gaps)]
        for span, rows, gaps in zip(r.bins.spans, r.bins.rows, r.gap, strict=True)
    ]
    return Numbers("Standardised gap by bin and rank", [r.bins.measure, "rows", *r.labels], lines)


RANK_MAP = Picture(
    key="rank-map",
    title="Map of bins and ranks",
    caption=(
        "Where the predicted distribution is wrong. Orange: the true class had this rank more often than predicted; "
        "blue: less often. The numbers are in standard deviations: for a calibrated model few are beyond ±3."
    ),
    section=RANKS,
    data=rank_map_of,
    svg=rank_map_chart,
    display=RankHeatMapDisplay,
    numbers=_numbers,
    wide=True,
)

PICTURES = (RANK_MAP,)
