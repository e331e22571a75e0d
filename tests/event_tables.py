"""Rows on edges, with ties and impossible labels, and event tables of every kind."""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueness as tn

RNG = np.random.default_rng(21)


def mixed_rows(n_rows: int, n_classes: int, dtype: str = "float64") -> tuple[Any, NDArray[Any]]:
    """Spread out, sharp, decimal, tied and certain rows; some labels have probability 0."""
    rng = np.random.default_rng([n_rows, n_classes])
    y_prob = rng.dirichlet(np.full(n_classes, 0.4), n_rows)
    y_prob[::3] = rng.multinomial(20, np.full(n_classes, 1 / n_classes), n_rows)[::3] / 20
    y_prob[::7] = np.eye(n_classes)[rng.integers(0, n_classes, n_rows)][::7]
    tail = 10.0 ** -rng.uniform(3, 12, n_rows)[::5]
    y_prob[::5, 2:] = 0
    y_prob[::5, 0], y_prob[::5, 1] = tail, 1 - tail
    return rng.integers(0, n_classes, n_rows), y_prob.astype(dtype)


Y_TRUE, Y_PROB = mixed_rows(300, 3)
WEIGHT = RNG.gamma(1.0, 1.0, 300)

TABLES: dict[str, tn.EventTable] = {
    "classes": tn.tabulate_events(Y_TRUE, Y_PROB),
    "named": tn.tabulate_events(np.array(["a", "b", "c"])[Y_TRUE], Y_PROB, classes=["a", "b", "c"]),
    "two classes": tn.tabulate_events(*mixed_rows(300, 2)),
    "top": tn.tabulate_events(Y_TRUE, Y_PROB, events="top"),
    "split": tn.tabulate_events(Y_TRUE, Y_PROB, events=["top", 1], ties="split"),
    "event grid": tn.tabulate_events(Y_TRUE, Y_PROB, grid="event"),
    "weighted": tn.tabulate_events(Y_TRUE, Y_PROB, sample_weight=WEIGHT),
    "weighted moments": tn.tabulate_events(Y_TRUE, Y_PROB, events=[2, 0], sample_weight=WEIGHT),
    "coarse": tn.tabulate_events(Y_TRUE, Y_PROB).coarsen(15),
    "empty": tn.EventTable.empty(tn.tabulate_events(Y_TRUE, Y_PROB).spec),
}


def plain(table: tn.EventTable) -> dict[str, Any]:
    """The content of a file with the table, as a new value."""
    content: dict[str, Any] = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    return content
