"""The map of bins and ranks as SVG."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness._markup import Markup, tag
from trueness._printing import shorten
from trueness.plots._rank_groups import X_LABEL, gap_text
from trueness.plots.rank_map.data import LARGEST_GAP, RankMap
from trueness.plots.svg import RIGHT, WIDTH, chart, label, mark

CELL_HEIGHT, NAME_WIDTH = 24.0, 104.0


def rank_map_chart(r: RankMap) -> Markup:
    """Bins × ranks, coloured by the standardised gap; the lowest V at the bottom, as in the other diagrams."""
    n_bins, n_ranks = r.gap.shape
    cell = max(30.0, min(64.0, (WIDTH - NAME_WIDTH - RIGHT) / n_ranks))
    turned = n_ranks > 12
    width, height = NAME_WIDTH + cell * n_ranks + RIGHT, CELL_HEIGHT * n_bins
    spans, descriptions = r.bins.spans, r.bins.descriptions
    parts: list[Any] = []
    for m in range(n_bins - 1, -1, -1):
        y = 8 + CELL_HEIGHT * (n_bins - 1 - m)
        parts.append(label(NAME_WIDTH - 6, y + 16, spans[m], class_="tick", anchor="end"))
        parts += [
            _cell(r, m, c, descriptions[m], x=NAME_WIDTH + cell * c, y=y, width=cell) for c in range(n_ranks)
        ]
    for c, words in enumerate(r.labels):
        x, y = NAME_WIDTH + cell * (c + 0.5), 8 + height + 16
        turn = f"rotate(-60 {x:.1f} {y:.1f})" if turned else None
        parts.append(label(x, y, words, class_="tick", anchor="end" if turned else "middle", transform=turn))
    foot = 8 + height + (78 if turned else 38)
    parts.append(label(NAME_WIDTH + cell * n_ranks / 2, foot, X_LABEL))
    parts.append(label(NAME_WIDTH - 6, foot, shorten(r.bins.measure, 14), anchor="end"))
    large = int(np.count_nonzero(np.abs(r.gap) > 3))
    description = (
        f"{large} of {r.gap.size} cells are more than three standard deviations from the prediction; "
        "orange ones were observed more often than predicted, blue ones less often."
    )
    return chart(width, foot + 10, "Standardised gap by bin and rank", description, parts, columns=n_ranks)


def _cell(r: RankMap, m: int, c: int, description: str, *, x: float, y: float, width: float) -> Markup:
    gap = float(r.gap[m, c])
    strength = min(abs(gap) / LARGEST_GAP, 1.0)
    what = "ranks" if r.last[c] > r.first[c] else "rank"
    words = (
        f"{description}; {what} {r.labels[c]}\n"
        f"predicted {r.predicted[m, c]:.4g}, observed {r.observed[m, c]:.4g}\nstandardised gap {gap_text(gap)}"
    )
    return mark(
        words,
        tag(
            "rect",
            class_="cell more" if gap > 0 else "cell less",
            x=x,
            y=y,
            width=width - 1,
            height=CELL_HEIGHT - 1,
            fill_opacity=round(strength, 3),
        ),
        label(x + width / 2, y + 16, gap_text(gap), class_="in-cell strong" if strength > 0.7 else "in-cell"),
    )
