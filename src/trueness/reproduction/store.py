"""Finished cells on disk, so that an interrupted run goes on where it was.

A cell is kept as its tables, in the library's own format: exact integers, checked when they are read, written whole or
not at all. What would change their bits (versions, engine, bins) is in the name of the folder, so that stale ones are
not taken.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trueness import _json
from trueness._atomic_write import write_text
from trueness._version import __version__
from trueness.reproduction.cells import BINNINGS, N_BINS, PILOT_ROWS, CellTables
from trueness.reproduction.scenarios import Cell
from trueness.table import CalibrationTable


class Store:
    """The folder of finished cells below an output folder."""

    def __init__(self, out: Path, engine: str) -> None:
        made_by = f"{__version__} {np.__version__} {engine} {N_BINS} {PILOT_ROWS}"
        self.folder = out / "cells" / sha256(made_by.encode()).hexdigest()[:12]
        self.folder.mkdir(parents=True, exist_ok=True)

    def load(self, name: str, n_rows: int) -> list[CalibrationTable] | None:
        """The tables of that name; None if there are none, or none that can be read, or of other rows."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            return None
        try:
            tables = CalibrationTable.load_all(path)
        except ValueError:  # damaged: it is made anew and written over
            return None
        return tables if all(table.n_rows == n_rows for table in tables) else None

    def save(self, name: str, tables: Sequence[CalibrationTable]) -> None:
        """Keep the tables under that name."""
        CalibrationTable.save_all(tables, self.folder / f"{name}.json")

    def load_cell(self, cell: Cell, measures: Sequence[str]) -> CellTables | None:
        """The tables of a cell, if they are there for all measures."""
        tables = self.load(cell.name, cell.n_rows)
        if tables is None:
            return None
        names = [table.spec.variation.name for table in tables[::2]]
        held = dict(zip(((name, binning) for name in names for binning in BINNINGS), tables, strict=True))
        return CellTables(cell, held) if set(measures) <= set(names) else None

    def save_cell(self, finished: CellTables) -> None:
        """Keep the tables of a cell."""
        self.save(finished.cell.name, list(finished.tables.values()))


class Timing(NamedTuple):
    """Seconds for cells, and for drawing the same rows alone with the same number of threads."""

    seconds: float
    drawing_seconds: float

    @property
    def ratio(self) -> float:
        """How many times as long as drawing alone."""
        return self.seconds / self.drawing_seconds


class TimingLog:
    """What batches of cells of the first seed took, kept beside the cells."""

    def __init__(self, store: Store, measures: Sequence[str], n_threads: int) -> None:
        self.path = store.folder / f"timings-{'-'.join(measures)}-{n_threads}-threads.json"
        self.entries = kept_object(self.path)

    def add(self, cells: Sequence[Cell], timing: Timing) -> None:
        """Remember what these cells took together."""
        self.entries[" ".join(cell.name for cell in cells)] = timing
        write_text(str(self.path), json.dumps(self.entries, indent=1))

    def total(self, cells: Sequence[Cell]) -> Timing | None:
        """The sum over these cells; None if one of them was not timed."""
        wanted = {cell.name for cell in cells}
        taken = {key: entry for key, entry in self.entries.items() if wanted.issuperset(key.split())}
        if wanted != {name for key in taken for name in key.split()}:
            return None
        seconds, drawing = (sum(entry[part] for entry in taken.values()) for part in range(2))
        return Timing(seconds, drawing)


def kept_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of the store; an empty one if there is none, or none that can be read."""
    if not path.exists():
        return {}
    try:
        held = _json.parse(path.read_text(encoding="utf-8"))
    except ValueError:  # damaged: it is made anew and written over
        return {}
    return held if isinstance(held, dict) else {}


def plain(value: Any) -> Any:
    """A value for JSON: what is no finite number becomes null.

    >>> plain({"a": [1.5, float("nan")]})
    {'a': [1.5, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value
