"""The pictures of the page, each with its caption and with its numbers as a table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness.bins import EqualMass
from trueness.plots.rank_readings import HeatMap, Ranks, heat_map, ranks, worst_bin
from trueness.plots.ranks import gap_text
from trueness.plots.readings import Judged, Judgement, count_text, gaps, reliability
from trueness.report._figures import gap_chart, reliability_chart
from trueness.report._markup import Markup, tag
from trueness.report._rank_figures import heat_chart, rank_chart
from trueness.report._tables import table_of

if TYPE_CHECKING:
    from trueness.assessment import Assessment

MOST_BINS = 40
"""More bins cannot be told apart in a picture: they are drawn in so many of equal mass."""

VARIATION = (
    "Each point is a bin, its area the number of rows; hollow ones hold too few to say much. In the grey band a "
    "calibrated model's points would be; the dashed line is observed = predicted. Points above it say over-confident "
    "if the measure grows with dispersion, as entropy does. Below: rows by their own V."
)
GAP = "Observed less what a calibrated model would show on as many rows; above 0 over-confident, whatever the measure."
RANKS = (
    "Blue: how often the model says that its first, second, … choice is the true class. Orange: how often it was. "
    "Grey: where a calibrated model's would be."
)
HEAT = (
    "Standardised gap of each rank in each bin. Orange: came true more often than predicted; blue: less often. If the "
    "model is calibrated these are like standard normal numbers, and few are beyond ±3."
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the pictures show: the answer, or its tables in fewer bins if these are too many to be seen."""

    by_variation: Judged
    by_confidence: Judged | None
    note: str | None

    @classmethod
    def of(cls, result: Assessment) -> Drawn:
        """Of an answer."""
        by_confidence: Judged | None = result if result.ece is not None else None
        if np.count_nonzero(result.table.row_count) <= MOST_BINS:
            return cls(result, by_confidence, None)
        settings: dict[str, Any] = {"level": result.level, "resamples": result.resamples, "rng": result.seed}
        bins = EqualMass(MOST_BINS)
        if result.confidence_table is not None:
            by_confidence = Judgement.of(result.confidence_table.coarsen(bins), **settings)
        alone = " Rows are taken to be independent there, not in clusters." if result.n_clusters else ""
        note = (
            f"Pictures and the table of bins show {MOST_BINS} bins of equal mass, since {result.table.n_bins} could "
            f"not be told apart; the numbers above are those of all bins.{alone}"
        )
        return cls(Judgement.of(result.table.coarsen(bins), **settings), by_confidence, note)


def figure(
    picture: Markup, caption: Any, numbers: Markup | None = None, *, wide: str | None = None
) -> Markup:
    """A picture with its caption; `wide` names one that scrolls by itself where the screen is narrow."""
    if wide:
        picture = tag("div", picture, class_="scroll", tabindex="0", role="region", aria_label=wide)
    return tag("figure", picture, tag("figcaption", caption), numbers, class_="wide" if wide else None)


def pictures(drawn: Drawn) -> Markup:
    it = drawn.by_variation
    found = [
        figure(
            reliability_chart(reliability(it, "vce")),
            [
                tag("strong", "Predicted against observed variation. "),
                VARIATION,
            ],
        ),
    ]
    if drawn.by_confidence is not None:
        caption = [
            tag("strong", "Accuracy against confidence"),
            ", the familiar diagram: the top label alone.",
        ]
        found.append(figure(reliability_chart(reliability(drawn.by_confidence, "ece")), caption))
    if it.uce is not None:
        caption = [
            tag("strong", "Error rate against entropy"),
            " (UCE). A calibrated model follows the blue curve, not the diagonal.",
        ]
        found.append(figure(reliability_chart(reliability(it, "uce")), caption))
    found.append(
        figure(
            gap_chart(gaps(it)),
            [
                tag("strong", "Signed gap. "),
                GAP,
            ],
        )
    )
    note = tag("p", drawn.note, class_="detail") if drawn.note else None
    return tag("section", tag("h2", "Bin by bin"), note, tag("div", found, class_="figures"))


def rank_pictures(drawn: Drawn) -> Markup:
    it = drawn.by_variation
    whole, worst, heat = ranks(it), ranks(it, worst_bin(it)), heat_map(it)
    groups = " Many ranks are shown in groups that widen downwards." if whole.grouped else ""
    found = [
        figure(
            rank_chart(whole),
            [
                tag("strong", f"Ranks, {whole.title}. "),
                RANKS,
                groups,
            ],
            _rank_numbers(whole),
        ),
        figure(
            rank_chart(worst),
            [
                tag("strong", f"Ranks, {worst.title}. "),
                "The bin that adds most to the ranked calibration error.",
            ],
            _rank_numbers(worst),
        ),
        figure(
            heat_chart(heat),
            [
                tag("strong", "Where the distribution is wrong. "),
                HEAT,
            ],
            _heat_numbers(heat),
            wide="Map of bins and ranks",
        ),
    ]
    return tag("section", tag("h2", "Rank by rank"), tag("div", found, class_="figures"))


def _folded(name: str, heads: list[str], lines: list[list[Any]]) -> Markup:
    return tag("details", tag("summary", "The numbers of this picture"), table_of(name, heads, lines))


def _rank_numbers(r: Ranks) -> Markup:
    lines: list[list[Any]] = [
        [label, f"{p:.5g}", f"{o:.5g}", f"{low:.4g} to {high:.4g}", gap_text(gap)]
        for label, p, o, low, high, gap in zip(
            r.labels, r.predicted, r.observed, r.low, r.high, r.gap, strict=True
        )
    ]
    per = " per rank" if r.grouped else ""
    heads = ["rank", f"predicted{per}", f"came true{per}", "if calibrated", "standardised gap"]
    return _folded(f"Ranks, {r.title}", heads, lines)


def _heat_numbers(r: HeatMap) -> Markup:
    lines: list[list[Any]] = [
        [r.span[m], count_text(float(r.rows[m])), *(gap_text(gap) for gap in r.gap[m])]
        for m in range(len(r.bins))
    ]
    return _folded("Standardised gap by bin and rank", ["V of the bin", "rows", *r.labels], lines)
