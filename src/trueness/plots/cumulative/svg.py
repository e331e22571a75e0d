"""The picture of the log-score as SVG."""

from __future__ import annotations

from typing import Any

from trueness._markup import Markup, tag
from trueness._printing import p_text, rows_text, shorten
from trueness.plots.cumulative.data import Y_LABEL, PredictedClassBar, PredictedClasses
from trueness.plots.svg import Frame, chart, label, linear_ticks, mark

WIDE, NAMES, LINE = 620.0, 150.0, 20.0


def predicted_class_chart(r: PredictedClasses) -> Markup:
    """A bar for each predicted class: below 0 the model is over-confident where it predicts it."""
    limit = r.limit
    frame = Frame(NAMES, 24, WIDE - NAMES - 14, LINE * len(r.bars) + 6, (-limit, limit), (0.0, 1.0))
    left, right, zero = frame.x(-r.reach), frame.x(r.reach), frame.x(0)
    parts: list[Any] = [
        frame.axes(linear_ticks(-limit, limit), [], f"Z: {Y_LABEL}", ""),
        label(frame.left + 2, 14, "← over-confident", class_="aside-text", anchor="start"),
        label(frame.right - 2, 14, "under-confident →", class_="aside-text", anchor="end"),
        tag("rect", class_="band", x=left, y=frame.top, width=right - left, height=frame.height),
        tag("line", class_="diagonal", x1=zero, x2=zero, y1=frame.top, y2=frame.bottom),
    ]
    parts += [_class_bar(frame, bar, frame.top + 3 + LINE * (k + 0.5)) for k, bar in enumerate(r.bars)]
    description = (
        f"{r.n_called} of {len(r.bars) + r.n_left_out} predicted classes are significant. {r.summary}."
    )
    return chart(WIDE, frame.bottom + 44, "Log-score by predicted class", description, parts)


def _class_bar(frame: Frame, bar: PredictedClassBar, y: float) -> Markup:
    words = (
        f"{bar.name}: {rows_text(bar.rows)}\nZ {bar.corrected:+.2f}, adjusted p {p_text(bar.adjusted_p_value)}"
    ).replace("-", "−")
    zero, end = frame.x(0), frame.x(bar.corrected)
    kind = "score over" if bar.corrected < 0 else "score under"
    return mark(
        words,
        tag("rect", class_="reach", x=0, y=y - LINE / 2, width=WIDE, height=LINE),
        label(
            frame.left - 8,
            y + 4,
            shorten(bar.name, 21),
            class_="tick called" if bar.called else "tick",
            anchor="end",
        ),
        tag("rect", class_=kind, x=min(zero, end), y=y - 6, width=max(abs(end - zero), 1.0), height=12.0),
    )
