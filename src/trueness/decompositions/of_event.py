"""Numbers of one event on the event grid that need no bins: smECE and the CORP decomposition."""

from __future__ import annotations

from typing import Any

from trueness._arguments import confidence_level, require_choice, whole_number
from trueness._random import Seed, root_seed
from trueness.bins import event_grid
from trueness.event_metrics import require_event_table
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.corp import CorpDecomposition, Score
from trueness.old_inference.events.corp import corp_decomposition as corp_of_cells
from trueness.old_inference.events.draws import event_seed
from trueness.old_inference.events.of_table import event_cells, totals_of
from trueness.old_inference.events.smooth import SmoothError, smooth_error, smooth_error_value
from trueness.old_table import TOP_LABEL, Event, EventTable, event_index
from trueness.refusals import InvalidValueError
from trueness.rows.containers import contents_of
from trueness.tabulation import tabulate_events

__all__ = ["CorpDecomposition", "SmoothError", "corp_decomposition", "smece", "smooth_calibration_error"]

SCORES: tuple[Score, ...] = ("brier", "log")


def smooth_calibration_error(
    table: EventTable, *, event: Event | None = None, resamples: int = 999, rng: Seed = 0
) -> SmoothError:
    """smECE of an event: the σ with ∫|Σ(y - p)·K_σ(t, p)/N|dt = σ, K_σ the Gaussian reflected at 0 and 1.

    From 0 to 1; above 0 for calibrated events too, so it comes with its noise floor. The table is on the event grid, as
    `tabulate_events(..., grid="event")` makes it, and tables merge. `event` may be left out if there is only one.

    References
    ----------
    Błasiok and Nakkiran (2023), Smooth ECE: principled reliability diagrams via kernel smoothing.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(1000, [1, 1], rng=1)
    >>> smooth = smooth_calibration_error(tn.tabulate_events(y_true, y_prob))
    >>> smooth.p_value > 0.05, 0 < smooth.noise_floor < 0.05
    (True, True)
    """
    chosen = _one_event("smooth_calibration_error", table, event)
    n_draws, seed = whole_number("resamples", resamples, 1), root_seed(rng)
    return smooth_error(_cells(chosen), _stream(chosen, seed, "smooth"), n_draws)


def smece(
    y_true: Any,
    y_prob: Any,
    *,
    event: Any = None,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
) -> float:
    """The smooth calibration error of class 1 of two, or of the top label of more; `event` names another class.

    Rows are as in `tabulate`. `smooth_calibration_error` of a table gives noise floor and p-value as well.

    >>> round(smece([0, 0, 1, 0, 0, 1, 0, 1, 1, 1], [.02, .07, .13, .24, .36, .41, .58, .66, .83, .97]), 6)
    0.096253
    """
    options: dict[str, Any] = {"sample_weight": sample_weight, "from_logits": from_logits}
    options |= {"normalize": normalize, "classes": classes, "grid": "event"}
    shape = contents_of(y_prob, "y_prob").flat.shape
    default = TOP_LABEL if len(shape) == 2 and shape[1] > 2 else 1
    chosen = default if event is None else event
    return smooth_error_value(_cells(tabulate_events(y_true, y_prob, events=chosen, **options)))


def corp_decomposition(
    table: EventTable,
    *,
    event: Event | None = None,
    score: Score = "brier",
    level: float = 0.95,
    resamples: int = 199,
    rng: Seed = 0,
) -> CorpDecomposition:
    """The Brier or log score of an event as miscalibration - discrimination + uncertainty, by isotonic regression.

    The table is on the event grid; the curve is fitted to its cells by pooling adjacent violators, and anew to each of
    `resamples` draws of a calibrated event, for noise floor, p-value and consistency band.

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021), Stable reliability diagrams for probabilistic classifiers.

    Examples
    --------
    >>> import trueness as tn
    >>> y = [0, 0, 1, 0, 0, 1, 0, 1, 1, 1]
    >>> table = tn.tabulate_events(y, [.02, .07, .13, .24, .36, .41, .58, .66, .83, .97])
    >>> corp = corp_decomposition(table)
    >>> round(corp.miscalibration, 6), round(corp.discrimination, 6), round(corp.uncertainty, 6)
    (0.061263, 0.133333, 0.25)
    """
    require_choice("score", score, SCORES)
    chosen = _one_event("corp_decomposition", table, event)
    n_draws, seed = whole_number("resamples", resamples, 1), root_seed(rng)
    return corp_of_cells(
        _cells(chosen),
        totals_of(chosen),
        score,
        level=confidence_level(level),
        seed=_stream(chosen, seed, "corp"),
        resamples=n_draws,
    )


def _one_event(reader: str, table: EventTable, event: Event | None) -> EventTable:
    """The table of the event that is named, or of the only one, on the event grid."""
    require_event_table(reader, table)
    if table.grid != event_grid():
        cause = f"{reader} needs a table on the event grid, this one has {table.grid.n_cells} cells"
        remedy = "make it with tabulate_events(..., grid='event')"
        raise InvalidValueError("wrong-table", cause, remedy, argument="table")
    if event is None and len(table.events) > 1:
        cause = f"the table has {len(table.events)} events"
        remedy = "name one of them as event="
        raise InvalidValueError("several-events", cause, remedy, argument="event")
    chosen = table.events[0] if event is None else event
    if chosen not in table.events and table.n_classes is not None:
        chosen = event_index(chosen, table.n_classes, table.spec.class_names, "event")
    return table.select(chosen)


def _cells(table: EventTable) -> EventCells:
    (cells,) = event_cells(table)
    return cells


def _stream(table: EventTable, seed: int, statistic: str) -> list[int]:
    event = table.events[0]
    return event_seed(seed, event if isinstance(event, int) else 0, statistic)
