"""Numbers in an order: the evidence of a monitor by day, and a number over bins or rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from trueness.charts.chart import Axis, Chart, Mark
from trueness.charts.forest import range_of, words_of
from trueness.document import Forest
from trueness.exact_sums import FloatArray
from trueness.formatting import number

ROOM_ABOVE = 8.0
"""Powers of ten above the limit that are shown; more evidence is cut off."""


def evidence_chart(
    names: Sequence[str],
    log_e: FloatArray,
    log_limit: float,
    *,
    alarm: int | None = None,
    began: int | None = None,
) -> Chart:
    """The evidence E against calibration after each look, as powers of ten, with the alarm's limit.

    `alarm` and `began` are the places of the look that alarms, and of the one at which the change
    began by the estimate.
    """
    e = np.maximum(np.asarray(log_e, np.float64) / math.log(10), -300.0)
    limit = log_limit / math.log(10)
    low = min(math.floor(float(e.min(initial=0.0))), -1.0)
    high = min(math.ceil(float(e.max(initial=0.0))), limit + ROOM_ABOVE)
    axis = Axis("evidence (power of ten)", (low - 0.5, max(high, limit) + 0.5))
    at, y = np.arange(len(e), dtype=np.float64), np.clip(e, *axis.range)
    words = [
        f"{name}\nevidence 10^{number(float(it), 1)}" for name, it in zip(names, e, strict=True)
    ]
    level = Mark("rule", np.empty(0), np.array([limit]), "ink", words=("limit of the alarm",))
    marks = [level, Mark("line", at, y, "observed")]
    for place, text, role in (
        (began, "began, by the estimate", "quiet"),
        (alarm, "alarm", "observed"),
    ):
        if place is not None:
            marks.append(Mark("rule", np.array([float(place)]), np.empty(0), role, words=(text,)))
            words[place] += f"\n{text}"
    marks.append(Mark("points", at, y, "observed", words=tuple(words)))
    return Chart("Evidence against calibration", Axis.of_names("", list(names)), axis, tuple(marks))


def trend_chart(
    looks: Forest, *, running: FloatArray | None = None, tolerance: float = 0.0
) -> Chart:
    """A number of each look with its interval, the running number, and what is tolerated.

    `looks` has one entry for each look, in their order; `running` is the number over all looks so
    far. Looks without a number keep their place. Within the band of ± `tolerance` a difference does
    not matter.
    """
    low, high = range_of(looks, 0.0)
    reach = max(-low, high, 1.1 * tolerance)
    at = np.arange(len(looks.entries), dtype=np.float64)
    known = np.array([it.low is not None for it in looks.entries], bool)
    has = np.array([it.value is not None for it in looks.entries], bool)
    value, first, last = (
        np.array([getattr(it, name) or 0.0 for it in looks.entries])
        for name in ("value", "low", "high")
    )
    marks = [Mark("rule", np.empty(0), np.zeros(1), "ink", words=("no difference",))]
    if tolerance > 0:
        ends = np.array([-0.5, len(at) - 0.5])
        wide = np.full(2, tolerance)
        marks.append(Mark("band", ends, -wide, "band", None, wide, ("tolerated",)))
    marks.append(Mark("spans", at[known], first[known], "observed", None, last[known]))
    if running is not None:
        marks.append(
            Mark("line", at, np.asarray(running), "predicted", words=("all looks so far",))
        )
    words = tuple(words_of(it) for it in looks.entries if it.value is not None)
    marks.append(Mark("points", at[has], value[has], "observed", words=words))
    across = Axis.of_names("", [it.name for it in looks.entries])
    return Chart(looks.title, across, Axis(looks.unit, (-reach, reach)), tuple(marks))


def curve_chart(
    title: str, x: tuple[str, FloatArray], forest: Forest, *, expected: FloatArray | None = None
) -> Chart:
    """A number with its intervals over rows or bins, on a logarithmic axis.

    `x` is what the axis says, and where the entries of `forest` are on it; `expected` is a curve
    beside them, such as a theory.
    """
    label, at = x
    entries = forest.entries
    value, low, high = (
        np.array([np.nan if (v := getattr(it, name)) is None else v for it in entries])
        for name in ("value", "low", "high")
    )
    has, known = np.isfinite(value), np.isfinite(low) & np.isfinite(high)
    marks = [Mark("spans", at[known], low[known], "observed", None, high[known])]
    if expected is not None:
        marks.append(Mark("line", at, expected, "predicted", words=("expected",)))
    words = tuple(words_of(it) for it in entries if it.value is not None)
    marks.append(Mark("line", at[has], value[has], "observed"))
    marks.append(Mark("points", at[has], value[has], "observed", words=words))
    across = Axis(label, (float(at.min()) / 1.2, float(at.max()) * 1.2), "log")
    ends = range_of(forest, None)
    if expected is not None:
        ends = min(ends[0], float(expected.min())), max(ends[1], float(expected.max()))
    return Chart(title, across, Axis(forest.unit, ends), tuple(marks))
