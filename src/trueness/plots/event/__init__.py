"""Pictures of an event: its reliability diagram over [0, 1], and the cumulative differences."""

from trueness.plots.event.data import EventDiagram, event_diagram_of
from trueness.plots.event.differences import Differences, differences_of
from trueness.plots.event.display import DifferencesDisplay, EventDisplay
from trueness.plots.event.svg import differences_chart, event_chart
from trueness.plots.picture import EVENT, Numbers, Picture

__all__ = [
    "Differences",
    "DifferencesDisplay",
    "EventDiagram",
    "EventDisplay",
    "bin_numbers",
    "differences_chart",
    "differences_of",
    "event_chart",
    "event_diagram_of",
]


def _caption(r: EventDiagram) -> str:
    rare = (
        " Nine tenths of the rows are near one end, so both axes are by log-odds, and so are the bins."
        if r.axis.by_log_odds
        else ""
    )
    return (
        f"Each point is a bin of the probability of {r.name}, its area the number of rows; hollow points have too few "
        "rows for a conclusion, or the event was never observed there. Below the dashed line it is forecast too often. "
        "Grey band: where noise alone would put a calibrated model. Orange line: smooth calibration curve. Bottom: "
        f"rows per probability.{rare}"
    )


def bin_numbers(r: EventDiagram) -> Numbers:
    """The bins of a diagram as a table."""
    columns = (r.x.tolist(), r.rows.tolist(), r.y.tolist(), r.low.tolist(), r.high.tolist())
    lines = [
        [f"{p:.5g}", f"{n:,.6g}", f"{y:.5g}", f"{low:.4g} to {high:.4g}", f"{p - y:+.4f}".replace("-", "−")]
        for p, n, y, low, high in zip(*columns, strict=True)
    ]
    return Numbers(f"Bins of {r.name}", ["predicted", "rows", "observed", "if calibrated", "gap"], lines)


def _differences_caption(r: Differences) -> str:
    return (
        "Observed less predicted, added up from the lowest probability to the highest. Where the line falls, "
        f"{r.name} is forecast too often, where it rises, too seldom; its slope is the gap. No bins are chosen. A "
        f"calibrated model stays in the grey band in {100 * r.level:g} % of samples."
    )


RELIABILITY = Picture(
    key="event-reliability",
    title="Observed frequency against predicted probability",
    caption=_caption,
    section=EVENT,
    data=event_diagram_of,
    svg=event_chart,
    display=EventDisplay,
    numbers=bin_numbers,
)
DIFFERENCES = Picture(
    key="event-differences",
    title="Cumulative differences",
    caption=_differences_caption,
    section=EVENT,
    data=differences_of,
    svg=differences_chart,
    display=DifferencesDisplay,
)

EVENT_PICTURES = (RELIABILITY, DIFFERENCES)
