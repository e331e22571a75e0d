"""Tables that must stay as they are, of rows that are made without random numbers and without logarithms.

`fixtures/tables.json` holds them. To add one, add a line to `CHOICES` and run this file,
`python tests/golden_tables.py`: it adds what is missing and changes nothing else.
"""

from pathlib import Path
from typing import Any

import numpy as np

import trueness as tn
from trueness.old_table.file import write
from trueness.old_table.tables import load_tables

FILE = Path(__file__).parent / "fixtures" / "tables.json"


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
    (fractions(400, 3, "float64"), {"bins": tn.EqualWidth(600)}),
    (fractions(300, 10, "float32"), {"bins": 101, "ties": "split", "variation": "confidence"}),
    (fractions(300, 4, "float64"), {"bins": tn.EqualMass(110)}),
    (fractions(200, 300, "float32"), {"bins": 3}),
    (eighths(300, 4), {"bins": tn.EqualWidth(4000), "from_logits": True}),
    (fractions(500, 12, "float64"), {"events": True}),
    (fractions(500, 3, "float64"), {"bins": 5, "ties": "split"}),
    (eighths(120, 20), {"bins": tn.EqualMass(3), "from_logits": True, "variation": "confidence"}),
]


def golden(number: int, engine: str) -> tn.CalibrationTable | tn.EventTable:
    """One of the tables, made anew."""
    rows, how = CHOICES[number]
    if "events" in how:
        return tn.tabulate_events(*rows, engine=engine)
    return tn.tabulate(*rows, engine=engine, **how)


if __name__ == "__main__":
    kept = load_tables(FILE) if FILE.exists() else []
    more = [golden(number, "portable") for number in range(len(kept), len(CHOICES))]
    write([table.to_dict() for table in [*kept, *more]], FILE)
