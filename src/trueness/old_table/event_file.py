"""Event tables as JSON: exact integers, without the cells that hold no rows."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness.bins import ProbabilityGrid, class_grid, event_grid
from trueness.old_table.consistency import COARSEST_EPS, damaged_table_error, is_int, require
from trueness.old_table.event_content import Event, EventSpec, EventSums
from trueness.old_table.exact_sums import PROBABILITY_BITS, ExactSum, FloatSum
from trueness.old_table.json_numbers import decode_sum, encode_sum, indices, is_number
from trueness.old_table.sparse_sums import decode_kept, kept
from trueness.ranking import LEAST_LOG, TIES

MOST_CELLS = 2**28 // 32
"""As many as are made: a damaged file must not allocate more."""

_GRIDS = {"class": class_grid, "event": event_grid}


def encode(spec: EventSpec, sums: EventSums) -> dict[str, Any]:
    """Spec and sums as plain numbers, lists and strings."""
    at = np.nonzero(sums.rows)
    return {
        "events": encode_spec(spec),
        "n_rows": int(sums.rows[0].sum()),
        "cells": [np.flatnonzero(of_event).tolist() for of_event in sums.rows],
        "sums": {
            name: encode_sum(kept(value, at) if _is_by_cell(value) else value) for name, value in sums.items()
        },
    }


def encode_spec(spec: EventSpec) -> dict[str, Any]:
    """A spec as plain numbers, lists and strings."""
    return {
        "n_classes": spec.n_classes,
        "events": list(spec.events),
        "grid": _encode_grid(spec.grid),
        "ties": spec.ties,
        "weighted": spec.weighted,
        "class_names": None if spec.class_names is None else list(spec.class_names),
    }


def _encode_grid(grid: ProbabilityGrid) -> str | list[float]:
    return next((name for name, of_name in _GRIDS.items() if grid == of_name()), None) or list(grid.edges)


def _is_by_cell(value: Any) -> bool:
    """Whether a sum has an entry for each cell of an event, and not one for each event."""
    return (value if isinstance(value, np.ndarray) else value.value).ndim == 2


def decode(content: Any) -> tuple[EventSpec, EventSums]:
    """Spec and sums of an encoded event table, of which everything is checked."""
    parts = {"events", "n_rows", "cells", "sums"}
    require(isinstance(content, dict) and set(content) == parts, "its parts are wrong")
    spec = decode_spec(content["events"])
    at = _decode_cells(content["cells"], spec)
    expected, given = dict(EventSums.zeros(spec).items()), content["sums"]
    require(isinstance(given, dict), "it has no sums")
    if "label_spread" in given:
        shape = spec.shape[:1]
        zero = FloatSum(np.zeros(shape)) if spec.weighted else ExactSum.zeros(shape, PROBABILITY_BITS)
        expected["label_spread"] = zero
    require(set(given) == set(expected), f"its sums must be {', '.join(expected)}")
    sums = EventSums(**{name: _decode_sum(name, given[name], expected[name], at) for name in expected})
    with np.errstate(over="ignore"):  # numbers that are far too large are refused without a warning
        _require_consistent(spec, sums, at, content["n_rows"])
    return spec, sums


def decode_spec(spec: Any) -> EventSpec:
    """The spec of `encode_spec`, of which everything is checked."""
    names = {"n_classes", "events", "grid", "ties", "weighted", "class_names"}
    require(isinstance(spec, dict) and set(spec) == names, f"its spec must give {', '.join(sorted(names))}")
    n_classes, events = spec["n_classes"], spec["events"]
    require(
        n_classes is None or (is_int(n_classes) and n_classes >= 2), "n_classes must be at least 2 or null"
    )
    require(isinstance(events, list) and len(events) > 0, "events must be a list")
    require(len(set(map(str, events))) == len(events), "an event is there twice")
    require(all(_is_event(event, n_classes) for event in events), "events must be class indices or names")
    require(spec["ties"] in TIES, f"ties must be one of {', '.join(TIES)}")
    require(isinstance(spec["weighted"], bool), "weighted must be true or false")
    grid = _decode_grid(spec["grid"])
    require(len(events) * grid.n_cells <= MOST_CELLS, "it has too many cells")
    class_names = _decode_class_names(spec["class_names"], n_classes)
    return EventSpec(n_classes, tuple(events), grid, spec["ties"], spec["weighted"], class_names)


def _decode_class_names(names: Any, n_classes: int | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    fits = (
        isinstance(names, list) and len(names) == n_classes and all(isinstance(name, str) for name in names)
    )
    require(fits, "class_names must be a name for each class")
    return tuple(names)


def _is_event(event: Event, n_classes: int | None) -> bool:
    return isinstance(event, str) or (is_int(event) and n_classes is not None and 0 <= event < n_classes)


def _decode_grid(grid: Any) -> ProbabilityGrid:
    if isinstance(grid, str):
        require(grid in _GRIDS, "grid must be class, event or a list of edges")
        return _GRIDS[grid]()
    require(isinstance(grid, list) and all(map(is_number, grid)), "grid must be class, event or edges")
    try:
        return ProbabilityGrid(tuple(map(float, grid)))
    except ValueError as error:
        raise damaged_table_error(error) from error


def _decode_cells(cells: Any, spec: EventSpec) -> tuple[IntArray, IntArray]:
    """Event and cell of each entry of the sums."""
    require(
        isinstance(cells, list) and len(cells) == len(spec.events), "cells must have a list for each event"
    )
    found = []
    for of_event in cells:
        require(isinstance(of_event, list), "cells must be lists")
        found.append(indices("cells", of_event, spec.grid.n_cells, "cells of the grid"))
    event = np.repeat(np.arange(len(found)), [len(index) for index in found])
    return event, np.concatenate(found)


def _decode_sum(name: str, value: Any, zero: Any, at: tuple[IntArray, IntArray]) -> Any:
    """A sum of cells or of events, from its entries."""
    return decode_kept(name, value, zero, at) if _is_by_cell(zero) else decode_sum(name, value, zero)


def _require_consistent(spec: EventSpec, sums: EventSums, at: tuple[IntArray, IntArray], n_rows: Any) -> None:
    """Refuse sums that no rows can have: the file was damaged or tampered with."""
    rows = sums.rows
    require(bool(np.all(rows[at] > 0)), "a cell has no rows")
    require(is_int(n_rows) and abs(n_rows) < 2**62, "n_rows must be an integer")
    require(
        all(sum(line) == n_rows for line in rows.tolist()), "the cells of an event do not hold n_rows rows"
    )
    mass, slack = sums.mass, 1e-9 if spec.weighted else 1e-15
    if sums.weight is not None and sums.weight_square is not None:
        weight, square = sums.weight.value, sums.weight_square.value
        require(
            bool(np.all((weight > 0) == (rows > 0))), "a cell has weight without rows, or rows without weight"
        )
        require(bool(np.all(weight**2 <= rows * square * (1 + 1e-9))), "weight_square is too small")
    observed, predicted = sums.observed.value, sums.predicted.value
    within = np.all((observed >= -slack * mass) & (observed <= mass * (1 + slack)))
    require(bool(within), "more is observed in a cell than it has rows")
    if sums.label_spread is not None:
        spread, most = sums.label_spread.value, observed.sum(axis=1)
        require(bool(np.all((spread >= 0) & (spread <= most + 1e-9))), "label_spread is out of range")
    edges = np.array(spec.grid.edges)
    low, high = edges[:-1] * mass, np.minimum(edges[1:] * (1 + 4 * COARSEST_EPS), 1.0) * mass
    margin = (slack + 2.0**-52) * mass
    require(
        bool(np.all((predicted >= low - margin) & (predicted <= high + margin))),
        "the predicted sum of a cell is outside its edges",
    )
    _require_moments(sums, mass.sum(axis=1))


def _require_moments(sums: EventSums, mass: Any) -> None:
    """Refuse sums of powers that do not decrease, and logarithms that are not negative."""
    if sums.impossible_rows is None or sums.log_likelihood is None:
        return
    powers = [sums.predicted.value.sum(axis=1)]
    powers += [value.value for value in (sums.square, sums.cube, sums.fourth) if value is not None]
    margin = 1e-9 * mass
    falling = all(bool(np.all((b >= 0) & (b <= a + margin))) for a, b in pairwise(powers))
    require(falling, "the sums of powers do not decrease")
    product = 0 if sums.product is None else sums.product.value
    require(bool(np.all((product >= 0) & (product <= powers[0] + margin))), "product is out of range")
    log = sums.log_likelihood.value
    require(bool(np.all((log <= 0) & (log >= LEAST_LOG * mass))), "log_likelihood is out of range")
    impossible = sums.impossible_rows
    within = np.all((impossible >= 0) & (impossible <= sums.rows.sum(axis=1)))
    require(bool(within), "impossible_rows is not between 0 and the number of rows")
