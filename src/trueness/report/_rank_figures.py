"""The diagrams of ranks as SVG: one bin or all rows, and bins × ranks."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness.plots.rank_readings import HeatMap, Ranks
from trueness.plots.ranks import MOST_BARS, floor_of, gap_text
from trueness.plots.readings import rows_text
from trueness.plots.style import LARGEST_GAP
from trueness.report._figures import LEFT, RIGHT, WIDTH
from trueness.report._frame import Frame, chart, label, linear_ticks, log_ticks, mark
from trueness.report._markup import Markup, tag

X_LABEL = "rank of the true class"


def rank_chart(r: Ranks) -> Markup:
    """Mean ordered probabilities beside the frequencies of the ranks that came true."""
    many = r.n_classes > MOST_BARS
    frame, parts = (_logarithmic if many else _as_bars)(r)
    outside = int(np.count_nonzero((r.observed > r.high) | (r.observed < r.low)))
    groups = "groups of ranks" if r.grouped else "ranks"
    name = f"Rank diagram of {r.title}"
    description = (
        f"{outside} of {len(r.first)} {groups} came true more or less often than a calibrated model's would. "
        f"Rank 1 was predicted for {100 * r.predicted[0]:.3g} % of the rows and came true in "
        f"{100 * r.observed[0]:.3g} %."
    )
    return chart(WIDTH, frame.bottom + 46, name, description, parts)


def _words(r: Ranks, k: int) -> str:
    what = f"ranks {r.labels[k]}, each" if r.last[k] > r.first[k] else f"rank {r.labels[k]}"
    return (
        f"{what}: predicted {r.predicted[k]:.4g}, came true {r.observed[k]:.4g}\n"
        f"if calibrated: {r.low[k]:.4g} to {r.high[k]:.4g}\nstandardised gap {gap_text(r.gap[k])}"
    )


def _as_bars(r: Ranks) -> tuple[Frame, list[Any]]:
    top = 1.06 * max(float(r.predicted.max()), float(r.observed.max()), float(r.high.max()))
    frame = Frame(LEFT, 12, WIDTH - LEFT - RIGHT, 250, (0.4, r.n_classes + 0.6), (0.0, top))
    ticks = [(float(k), str(k)) for k in range(1, r.n_classes + 1)]
    parts: list[Any] = [frame.axes(ticks, linear_ticks(0, top), X_LABEL, "share of rows")]
    half = 0.36 * frame.width / (r.n_classes + 0.2)
    for k in range(len(r.first)):
        x, y = frame.x(float(r.first[k])), frame.y(float(r.predicted[k]))
        up, down = frame.y(float(r.high[k])), frame.y(float(r.low[k]))
        parts.append(
            mark(
                _words(r, k),
                tag("rect", class_="reach", x=x - half, y=frame.top, width=2 * half, height=frame.height),
                tag(
                    "rect", class_="predicted bars", x=x - half, y=y, width=2 * half, height=frame.bottom - y
                ),
                tag("rect", class_="band", x=x - 5, y=up, width=10, height=max(down - up, 1.0)),
                tag("line", class_="predicted level", x1=x - half, x2=x + half, y1=y, y2=y),
                tag("circle", class_="dot", cx=x, cy=frame.y(float(r.observed[k])), r=4.5),
            )
        )
    return frame, parts


def _logarithmic(r: Ranks) -> tuple[Frame, list[Any]]:
    floor = floor_of(r)
    frame = Frame(
        LEFT + 14,
        12,
        WIDTH - LEFT - RIGHT - 14,
        270,
        (0.85, r.n_classes * 1.15),
        (floor, 1.3),
        log_x=True,
        log_y=True,
    )
    x = np.sqrt(r.first * r.last.astype(float)).tolist()
    low, high = (np.maximum(column, floor).tolist() for column in (r.low, r.high))
    known = r.predicted > floor / 2
    parts: list[Any] = [
        frame.axes(
            log_ticks(1, r.n_classes),
            log_ticks(floor, 1),
            f"{X_LABEL}, logarithmic",
            "share of rows per rank" if r.grouped else "share of rows",
        ),
        frame.band(x, low, high),
        tag(
            "polyline",
            class_="curve predicted",
            points=frame.points(np.array(x)[known].tolist(), r.predicted[known].tolist()),
        ),
    ]
    for k in range(len(x)):
        px, never = frame.x(x[k]), r.observed[k] <= 0
        py = frame.bottom - 5 if never else frame.y(float(r.observed[k]))
        words = _words(r, k) + ("\nnever came true" if never else "")
        parts.append(
            mark(
                words,
                tag("rect", class_="reach", x=px - 6, y=frame.top, width=12, height=frame.height),
                tag("circle", class_="dot small" if never else "dot", cx=px, cy=py, r=4.0),
            )
        )
    return frame, parts


CELL_HEIGHT, NAME_WIDTH = 24.0, 104.0


def heat_chart(r: HeatMap) -> Markup:
    """Bins × ranks, coloured by the standardised gap; the lowest V at the bottom as in the other diagrams."""
    n_bins, n_ranks = r.gap.shape
    cell = max(30.0, min(64.0, (WIDTH - NAME_WIDTH - RIGHT) / n_ranks))
    turned = n_ranks > 12
    width, height = NAME_WIDTH + cell * n_ranks + RIGHT, CELL_HEIGHT * n_bins
    parts: list[Any] = []
    for m in range(n_bins - 1, -1, -1):
        y = 8 + CELL_HEIGHT * (n_bins - 1 - m)
        parts.append(label(NAME_WIDTH - 6, y + 16, r.span[m], class_="tick", anchor="end"))
        parts += [_cell(r, m, c, x=NAME_WIDTH + cell * c, y=y, width=cell) for c in range(n_ranks)]
    for c, words in enumerate(r.labels):
        x, y = NAME_WIDTH + cell * (c + 0.5), 8 + height + 16
        turn = f"rotate(-60 {x:.1f} {y:.1f})" if turned else None
        parts.append(label(x, y, words, class_="tick", anchor="end" if turned else "middle", transform=turn))
    foot = 8 + height + (78 if turned else 38)
    parts.append(label(NAME_WIDTH + cell * n_ranks / 2, foot, X_LABEL))
    parts.append(label(NAME_WIDTH - 6, foot, "V of the bin", anchor="end"))
    large = int(np.count_nonzero(np.abs(r.gap) > 3))
    description = (
        f"{large} of {r.gap.size} cells are more than three standard deviations from what was predicted; "
        "orange ones came true more often, blue ones less often."
    )
    return chart(width, foot + 10, "Standardised gap by bin and rank", description, parts, columns=n_ranks)


def _cell(r: HeatMap, m: int, c: int, *, x: float, y: float, width: float) -> Markup:
    gap = float(r.gap[m, c])
    strength = min(abs(gap) / LARGEST_GAP, 1.0)
    what = "ranks" if r.last[c] > r.first[c] else "rank"
    words = (
        f"V in {r.span[m]}, {rows_text(float(r.rows[m]))}; {what} {r.labels[c]}\n"
        f"predicted {r.predicted[m, c]:.4g}, came true {r.observed[m, c]:.4g}\nstandardised gap {gap_text(gap)}"
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
