"""Numbers with intervals beneath one another, on a common axis.

A page shows them as a table with a strip in each line, which can be read on a phone; matplotlib and
a terminal as a forest plot.
"""

from __future__ import annotations

import numpy as np

from trueness.charts.chart import Axis, Chart, Mark
from trueness.document import Entry, Forest
from trueness.exact_sums import FloatArray
from trueness.formatting import counted, estimate, shortened

MOST_LINES = 40
"""More lines are hard to read: those furthest from `around` are shown, in their order."""

STRIP_WIDTH, STRIP_HEIGHT = 160, 20


def forest_chart(forest: Forest, *, around: float | None = None, most: int = MOST_LINES) -> Chart:
    """A point and an interval for each entry that has a value; a rule at `around`.

    Without `around` it is 0 if the numbers are differences, and there is no rule if they are not.
    Entries without a value are left out; those without an interval are a point alone. Beside each
    are its numbers, where there is room.
    """
    shown = [it for it in forest.entries if it.value is not None]
    centre = centre_of(forest) if around is None else around
    if len(shown) > most:
        middle = float(np.median(_column(shown, "value"))) if centre is None else centre
        far = sorted(range(len(shown)), key=lambda k: -abs((shown[k].value or 0.0) - middle))
        shown = [shown[k] for k in sorted(far[:most])]
    low, high = range_of(forest, centre)
    at, value = np.arange(len(shown), dtype=np.float64), _column(shown, "value")
    known = np.array([it.low is not None for it in shown], bool)
    words = tuple(words_of(it) for it in shown)
    ends = [_column([it for it in shown if it.low is not None], name) for name in ("low", "high")]
    marks = [] if centre is None else [Mark("rule", np.array([centre]), np.empty(0), "ink")]
    marks.append(Mark("spans", ends[0], at[known], "observed", ends[1]))
    marks.append(Mark("points", value, at, "observed", words=words))
    up = Axis.of_names("", [it.name for it in shown])
    right = tuple(" ".join(estimate(it.value, it.low, it.high, sign=it.signed)) for it in shown)
    title = forest.title or forest.unit
    return Chart(title, Axis(forest.unit, (low, high)), up, tuple(marks), (), right)


def centre_of(forest: Forest) -> float | None:
    """0 if the numbers are differences, else None."""
    return 0.0 if any(it.signed for it in forest.entries) else None


def range_of(forest: Forest, centre: float | None) -> tuple[float, float]:
    """From the lowest to the highest end, with some room."""
    ends = [end for it in forest.entries for end in (it.value, it.low, it.high) if end is not None]
    ends += [] if centre is None else [centre]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
    return low - room, high + room


def words_of(it: Entry) -> str:
    """An entry in words: name, rows, value, interval and what else is to be said."""
    value, interval = estimate(it.value, it.low, it.high, sign=it.signed)
    rows = [] if it.rows is None else [counted(it.rows, "row")]
    return "\n".join(
        [shortened(it.name, 100), *rows, f"{value} {interval}".strip(), *filter(None, [it.words])]
    )


def strip(it: Entry, axis: Axis, centre: float | None) -> str:
    """The interval of one entry as a small SVG, for the line of a table that says its numbers."""
    if it.value is None:
        return ""
    middle = STRIP_HEIGHT / 2
    places: FloatArray = 4 + (STRIP_WIDTH - 8) * axis.place([it.low or 0, it.value, it.high or 0])
    low, value, high = places.tolist()
    parts = []
    if centre is not None:
        x = 4 + (STRIP_WIDTH - 8) * float(axis.place(centre))
        parts.append(f'<path class="rule" d="M{x:.1f} 0V{STRIP_HEIGHT}" stroke="currentColor"/>')
    if it.low is not None:
        line = f'd="M{low:.1f} {middle:g}H{high:.1f}" stroke="#D55E00" stroke-width="2.4"'
        parts.append(f'<path class="spans observed" {line}/>')
    dot = f'cx="{value:.1f}" cy="{middle:g}" r="4" fill="#D55E00"'
    parts.append(f'<circle class="points observed" {dot}/>')
    size = (
        f'viewBox="0 0 {STRIP_WIDTH} {STRIP_HEIGHT}" width="{STRIP_WIDTH}" height="{STRIP_HEIGHT}"'
    )
    return f'<svg class="strip" {size} aria-hidden="true">{"".join(parts)}</svg>'


def _column(entries: list[Entry], name: str) -> FloatArray:
    return np.array([getattr(it, name) for it in entries], np.float64)


def strip_axis(axis: Axis) -> str:
    """The numbers above the strips."""
    texts = "".join(
        f'<text x="{4 + (STRIP_WIDTH - 8) * float(axis.place(value)):.1f}" y="12">{text}</text>'
        for value, text in axis.ticks(32)
    )
    style = 'font-size="10" text-anchor="middle" fill="currentColor"'
    style += f' viewBox="0 0 {STRIP_WIDTH} 15"'
    return f'<svg class="strip" {style} aria-hidden="true">{texts}</svg>'
