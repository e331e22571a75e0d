"""Calibration errors of events and of all classes, read from an `EventTable`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import require_choice, whole_number
from trueness._arrays import FloatArray
from trueness.bins import Bins, EqualMass, as_bins
from trueness.old_table import EventTable
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows import Rows, refuse_bad_rows
from trueness.rows.containers import contents_of

CLASS_WEIGHTS = ("expected", "observed")
"""By which number the errors of the classes are weighted; with None the mean is not weighted."""


def event_calibration_error(table: EventTable, bins: int | Bins = 10, *, norm: str = "l1") -> float:
    """ECE = Σ_m n_m/N · |p̄_m - ȳ_m| of the one event of a table, in bins of its probability over [0, 1].

    0 for a calibrated model with unlimited data, at most 1. `bins` are cells of the table merged: a number that its
    grid merges into, or EqualMass. `norm` may also be "l2" (√Σ n_m/N · gap²) or "max" (the largest gap).

    >>> from trueness import tabulate_events
    >>> event_calibration_error(tabulate_events([0, 1, 1, 1], [0.2, 0.3, 0.7, 0.8])).__round__(6)
    0.35
    """
    require_event_table("event_calibration_error", table)
    if len(table.events) != 1:
        cause = f"event_calibration_error needs a table of one event, this one has {len(table.events)}"
        remedy = "select one with table.select(event)"
        raise InvalidValueError("several-events", cause, remedy, argument="table")
    return float(event_errors(table, bins, norm=norm)[0])


def classwise_error(
    table: EventTable, bins: int | Bins = 10, weights: str | None = None, *, norm: str = "l1"
) -> float:
    """Classwise ECE = (1/C)·Σ_c ECE_c, with the ECE of each class over [0, 1] (Kull et al. 2019), of a table by class.

    0 for a calibrated model with unlimited data, at most 2/C. With `weights="expected"` it is Σ_c E_c/N · ECE_c, where
    E_c = Σp_c is the expected number of class c, with "observed" the observed number instead. With two classes it is
    the ECE of class 1, as the other class is its mirror image. `bins` and `norm`, of each class, are as in
    `event_calibration_error`; bins of equal mass are made of the rows of each class on their own.
    """
    require_event_table("classwise_error", table)
    require_class_weights(weights)
    if not table.spec.is_by_class:
        events = ", ".join(map(str, table.events[:20]))
        cause = f"classwise_error needs a table of all classes, this one has the events {events}"
        remedy = "make it with tabulate_events without events="
        raise InvalidValueError("wrong-events", cause, remedy, argument="table")
    errors = event_errors(table, bins, norm=norm)
    if weights is None or len(errors) == 1:
        return float(errors.mean())
    total = table.expected_total if weights == "expected" else table.observed_total
    return float(total @ errors / table.count[0].sum())


def classwise_total(table: EventTable, bins: int | Bins = 10, *, norm: str = "l1") -> float:
    """½·Σ_c ECE_c of a table by class, from 0 to 1; the ECE of class 1 of two.

    Unlike the mean over classes it does not fall with their number.
    """
    mean = classwise_error(table, bins, norm=norm)
    return mean * max(len(table.events) / 2, 1.0)


def class_gap(table: EventTable) -> float:
    """½·Σ_c |E_c - O_c|/N of a table by class: how far the frequencies of classes are from the mean prediction.

    From 0 to 1; |E_1 - O_1|/N with two classes.
    """
    require_event_table("class_gap", table)
    apart = np.abs(table.expected_total - table.observed_total) / table.count[0].sum()
    return float(apart.sum() * (0.5 if len(apart) > 1 else 1.0))


def event_errors(table: EventTable, bins: int | Bins = 10, *, norm: str = "l1") -> FloatArray:
    """The calibration error of each event of a table, (K,)."""
    require_event_table("event_errors", table)
    require_choice("norm", norm, tuple(_NORMS))
    if not table.n_rows:
        raise InvalidValueError("no-rows", "a table without rows has no calibration error", argument="table")
    chosen = as_bins(bins)
    if isinstance(chosen, EqualMass) and len(table.events) > 1:
        parts = [event_errors(table.select(event), chosen, norm=norm) for event in table.events]
        return np.concatenate(parts)
    merged = table.coarsen(chosen)
    count = merged.count.astype(np.float64)
    # An empty bin has gap 0, whatever it is divided by.
    gaps = (merged.predicted_sum - merged.observed_count) / np.where(count > 0, count, 1.0)
    return _NORMS[norm](count / count.sum(axis=1, keepdims=True), np.abs(gaps))


_NORMS: Mapping[str, Callable[[FloatArray, FloatArray], FloatArray]] = MappingProxyType(
    {
        "l1": lambda weight, gaps: np.asarray((weight * gaps).sum(axis=1)),
        "l2": lambda weight, gaps: np.asarray(np.sqrt((weight * gaps**2).sum(axis=1))),
        "max": lambda _, gaps: np.asarray(gaps.max(axis=1)),
    }
)
"""From the weights and the sizes of the gaps of all bins, (K, M) each, to one number for each event, (K,)."""


def top_label_event(y_true: Any, y_prob: Any, **options: Any) -> tuple[NDArray[np.bool_], FloatArray]:
    """Whether the class of the largest probability is the true one, and that probability, (rows,) each.

    Of equal probabilities the lower class index is the first. For the diagram and the ECE of the top class over [0, 1]:
    `assess_event(*top_label_event(y_true, y_prob), what="right")`. Options are those of rows, as in `tabulate`:
    from_logits, normalize, classes.

    >>> right, confidence = top_label_event([0, 1], [[0.7, 0.3], [0.6, 0.4]])
    >>> right.tolist(), confidence.tolist()
    ([True, False], [0.7, 0.6])
    """
    rows = Rows.of(y_true, y_prob, **options)
    refuse_bad_rows(rows, 0, rows.n_rows)
    assert rows.labels is not None
    right, confidence = np.empty(rows.n_rows, np.bool_), np.empty(rows.n_rows)
    for start, stop in rows.spans():
        block = rows.block(start, stop)
        first = block.argmax(axis=1)
        right[start:stop] = first == rows.labels.block(start, stop)
        confidence[start:stop] = np.take_along_axis(block, first[:, None], axis=1)[:, 0]
    return right, confidence


def hle_calibration_error(stated: Any, correct: Any, bin_size: int = 100) -> float:
    """The RMS calibration error as Humanity's Last Exam publishes it, for comparison with its figures only.

    Rows are sorted by confidence (equal ones stay in their order) and cut into ⌊N/100⌋ bins of 100, the last of which
    goes to the end; the sum runs over all bins but the last, with weights n_b/N of all rows. So the 100 to 199 most
    confident rows do not count, and with fewer than 200 rows it is 0 whatever the rows are; NaN with fewer than 100.
    The published figure is 100·round(x, 2). `assess_event(correct, stated).rms` counts all rows.

    >>> stated = [0.5] * 100 + [0.9] * 100
    >>> round(hle_calibration_error(stated, [True] * 60 + [False] * 140), 6)
    0.070711
    """
    bin_size = whole_number("bin_size", bin_size, 1)
    confidence, right = (
        np.asarray(contents_of(values, name).flat.data, np.float64)
        for values, name in ((stated, "stated"), (correct, "correct"))
    )
    if confidence.ndim != 1 or right.shape != confidence.shape:
        cause = f"stated has shape {confidence.shape} and correct {right.shape}"
        remedy = "pass one number each for every row"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="stated")
    n_rows, n_bins = len(confidence), len(confidence) // bin_size
    if n_bins == 0:
        return float("nan")
    order = np.argsort(confidence, kind="stable")
    gap = (confidence - right)[order][: (n_bins - 1) * bin_size].reshape(n_bins - 1, bin_size).mean(axis=1)
    return float(np.sqrt(np.sum(gap**2) * bin_size / n_rows))


def require_class_weights(weights: Any) -> None:
    """Refuse other weights of classes than None, "expected" and "observed"."""
    if weights is not None:
        require_choice("weights", weights, CLASS_WEIGHTS)


def require_event_table(reader: str, value: Any) -> None:
    """Refuse what is not an event table."""
    if not isinstance(value, EventTable):
        cause = f"{reader} reads an EventTable, got {type(value).__name__}"
        remedy = "make one with tabulate_events"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="table")
