"""The rank diagram as SVG."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness._markup import Markup, tag
from trueness.plots._rank_groups import X_LABEL, gap_text
from trueness.plots.ranks.data import Ranks
from trueness.plots.svg import LEFT, RIGHT, WIDTH, Frame, chart, linear_ticks, log_ticks, mark


def rank_chart(r: Ranks) -> Markup:
    """Mean ordered probabilities beside the observed frequencies of the ranks."""
    frame, parts = (_logarithmic if r.logarithmic else _as_bars)(r)
    return chart(WIDTH, frame.bottom + 46, f"Rank diagram of {r.title}", _description(r), parts)


def _description(r: Ranks) -> str:
    outside = int(np.count_nonzero((r.observed > r.high) | (r.observed < r.low)))
    return (
        f"{outside} of {len(r.first)} {'groups of ranks' if r.grouped else 'ranks'} lie outside the band expected of "
        f"a calibrated model. The true class was predicted to have rank 1 in {100 * r.predicted[0]:.3g} % of the "
        f"rows, and had it in {100 * r.observed[0]:.3g} %."
    )


def _words(r: Ranks, k: int) -> str:
    what = f"ranks {r.labels[k]}, each" if r.last[k] > r.first[k] else f"rank {r.labels[k]}"
    return (
        f"{what}: predicted {r.predicted[k]:.4g}, observed {r.observed[k]:.4g}\n"
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
    floor = r.smallest_shown
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
        words = _words(r, k) + ("\nnever observed" if never else "")
        parts.append(
            mark(
                words,
                tag("rect", class_="reach", x=px - 6, y=frame.top, width=12, height=frame.height),
                tag("circle", class_="dot small" if never else "dot", cx=px, cy=py, r=4.0),
            )
        )
    return frame, parts
