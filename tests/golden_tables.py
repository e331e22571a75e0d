"""Tables that must stay as they are for ever, of rows that are made without random numbers and without logarithms.

`fixtures/golden-tables-v3.json` holds them, each followed by the event table of its classes, and
`fixtures/golden-tables.json` those of the first ten choices as schema 2 had them. `fixtures/compact-v5.json` holds the
compact tables of `COMPACT`, by schema 5. To add one, add a line to `CHOICES`
and run this file: `python tests/golden_tables.py`. It adds what is missing and changes nothing else.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import trueness as tn
from trueness.table.file import write
from trueness.table.tables import load_tables

FILE = Path(__file__).parent / "fixtures" / "golden-tables-v3.json"
FILE_OF_SCHEMA_2 = FILE.with_name("golden-tables.json")
FILE_COMPACT = FILE.with_name("compact-v5.json")


def fractions(n_rows: int, n_classes: int, dtype: str) -> tuple[Any, Any]:
    """Ratios of small whole numbers, which IEEE 754 rounds in one way; some are zero, some tied, some certain."""
    i, j = np.mgrid[:n_rows, :n_classes]
    parts = (31 * i * i + 17 * j * j + 7 * i * j) % 101 // (1 + i % 9)
    parts[::13] = np.arange(n_classes) == (np.arange(0, n_rows, 13) % n_classes)[:, None]
    parts[5::17] = 1
    parts[:, 0] += parts.sum(axis=1) == 0
    y_prob = (parts / parts.sum(axis=1, keepdims=True)).astype(dtype)
    return (5 * np.arange(n_rows) + np.arange(n_rows) // 7) % n_classes, y_prob


def eighths(n_rows: int, n_classes: int) -> tuple[Any, Any]:
    """Logits that are multiples of 1/8, some far apart, some -inf."""
    i, j = np.mgrid[:n_rows, :n_classes]
    z = ((13 * i * i + 29 * j + 3 * i * j) % 257 - 128) / 8 * np.array([1, 1, 8, 64])[i % 4]
    z[3::19, -1] = -np.inf
    return (3 * np.arange(n_rows) + np.arange(n_rows) // 5) % n_classes, z


CHOICES: list[tuple[Any, dict[str, Any]]] = [
    (fractions(400, 2, "float64"), {"bins": 10}),
    (fractions(500, 3, "float64"), {"bins": 5, "ties": "split"}),
    (fractions(500, 3, "float32"), {"bins": 40, "variation": "confidence"}),
    (fractions(600, 10, "float64"), {"bins": tn.EqualMass(6)}),
    (fractions(300, 15, "float32"), {"bins": 4, "ties": "split", "variation": "confidence"}),
    (fractions(300, 16, "float64"), {"bins": 3}),
    (fractions(200, 45, "float32"), {"bins": 2, "ties": "split"}),
    (fractions(90, 130, "float64"), {"bins": 1}),
    (eighths(300, 4), {"bins": 6, "from_logits": True, "ties": "split"}),
    (eighths(120, 20), {"bins": tn.EqualMass(3), "from_logits": True, "variation": "confidence"}),
]


COMPACT: list[tuple[Any, dict[str, Any]]] = [
    (fractions(400, 3, "float64"), {"bins": tn.EqualWidth(600)}),
    (fractions(300, 10, "float32"), {"bins": 101, "ties": "split", "variation": "confidence"}),
    (fractions(300, 4, "float64"), {"bins": tn.EqualMass(110)}),
    (fractions(200, 300, "float32"), {"bins": 3}),
    (eighths(300, 4), {"bins": tn.EqualWidth(4000), "from_logits": True}),
    (fractions(500, 12, "float64"), {"events": True}),
]


def compact(number: int, engine: str) -> tn.CalibrationTable | tn.EventTable:
    """One of the compact tables, made anew."""
    rows, how = COMPACT[number]
    if "events" in how:
        return tn.tabulate_events(*rows, engine=engine)
    return tn.tabulate(*rows, engine=engine, **how)


def golden(number: int, engine: str) -> tn.CalibrationTable:
    """One of the tables, made anew."""
    rows, how = CHOICES[number]
    return tn.tabulate(*rows, engine=engine, **how)


def golden_events(number: int, engine: str) -> tn.EventTable:
    """The event table of the same rows."""
    rows, how = CHOICES[number]
    options = {name: how[name] for name in ("ties", "from_logits") if name in how}
    return tn.tabulate_events(*rows, engine=engine, **options)


def add_missing(file: Path, n_tables: int, make: Callable[[int], Any]) -> None:
    """Write a file with the tables that it has, and those that it lacks."""
    kept = load_tables(file) if file.exists() else []
    if len(kept) < n_tables:
        more = [make(number) for number in range(len(kept), n_tables)]
        write([table.to_dict() for table in [*kept, *more]], file)


if __name__ == "__main__":
    makers = (golden, golden_events)
    add_missing(FILE, 2 * len(CHOICES), lambda k: makers[k % 2](k // 2, "portable"))
    add_missing(FILE_COMPACT, len(COMPACT), lambda k: compact(k, "portable"))
