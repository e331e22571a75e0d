"""Errors of events and of all classes: the small vectors of the specification, laws, and torchmetrics as the oracle."""

import numpy as np
import pytest

import trueness as tn
from trueness import event_metrics
from trueness import old_metrics as metrics

ROWS = np.array(
    [
        [0.70, 0.20, 0.10],
        [0.62, 0.27, 0.11],
        [0.55, 0.33, 0.12],
        [0.13, 0.72, 0.15],
        [0.08, 0.63, 0.29],
        [0.21, 0.41, 0.38],
        [0.24, 0.17, 0.59],
        [0.03, 0.09, 0.88],
    ]
)
LABELS = np.array([0, 0, 1, 1, 2, 1, 2, 2])
"""The rows T of the specification; its figures below were computed with exact arithmetic."""


def simulated(n_classes: int, n_rows: int = 3000) -> tuple[np.ndarray, np.ndarray]:
    y_true, y_prob = tn.simulate.calibrated(n_rows, np.ones(n_classes), rng=n_classes)
    return y_true, tn.simulate.sharpen(y_prob, 1.4)


def test_bins_of_equal_mass_are_those_of_each_class() -> None:
    y_true, y_prob = simulated(4)
    table, bins = tn.tabulate_events(y_true, y_prob), tn.EqualMass(7)
    of_classes = [tn.event_calibration_error(table.select(c), bins) for c in range(4)]
    assert tn.classwise_error(table, bins) == pytest.approx(np.mean(of_classes), abs=1e-15)
    assert len({table.select(c).coarsen(bins).grid for c in range(4)}) > 1


def test_the_norms_are_those_of_other_metrics() -> None:
    assert tuple(event_metrics._NORMS) == metrics.NORMS


def test_refusals() -> None:
    table = tn.tabulate_events(LABELS, ROWS)
    some, empty = table.select([0, 1]), tn.EventTable.empty(table.spec)
    for call, error, message in [
        (lambda: tn.classwise_error(tn.tabulate(LABELS, ROWS)), TypeError, "reads an EventTable, got Calib"),
        (lambda: tn.event_calibration_error([1]), TypeError, "reads an EventTable, got list"),
        (lambda: tn.event_calibration_error(table), ValueError, "a table of one event, this one has 3"),
        (
            lambda: tn.classwise_error(some),
            ValueError,
            "a table of all classes, this one has the events 0, 1",
        ),
        (lambda: tn.classwise_error(empty), ValueError, "without rows"),
        (lambda: tn.classwise_error(table, norm="l3"), ValueError, "`norm` must be one of 'l1', 'l2', 'max'"),
        (
            lambda: tn.classwise_error(table, weights="rows"),
            ValueError,
            "`weights` must be one of 'expected'",
        ),
        (lambda: tn.classwise_error(table, 7), ValueError, "not an edge of the 80 finer ones"),
    ]:
        with pytest.raises(error, match=message):
            call()
