"""Finished cells on disk, so that an interrupted run can resume.

A cell is saved as its tables, in the library's own format: exact integers, validated when loaded, written atomically.
Everything that would change their bits (versions, bins) is part of the name of the folder, so that outdated
cells are not used.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from trueness import _json
from trueness._version import __version__
from trueness.atomic_files import write_text
from trueness.old_table import CalibrationTable
from trueness.reproduction.cells import BINNINGS, N_BINS, PILOT_ROWS, CellTables
from trueness.reproduction.scenarios import Cell


class Store:
    """The folder of finished cells in an output folder."""

    def __init__(self, out: Path) -> None:
        made_by = f"{__version__} {np.__version__} {N_BINS} {PILOT_ROWS}"
        self.folder = out / "cells" / sha256(made_by.encode()).hexdigest()[:12]
        self.folder.mkdir(parents=True, exist_ok=True)

    def load(self, name: str, n_rows: int) -> list[CalibrationTable] | None:
        """The tables of that name; None if they are missing, damaged or of another number of rows."""
        path = self.folder / f"{name}.json"
        if not path.exists():
            return None
        try:
            tables = CalibrationTable.load_all(path)
        except ValueError:  # damaged: it is computed again and replaced
            return None
        return tables if all(table.n_rows == n_rows for table in tables) else None

    def save(self, name: str, tables: Sequence[CalibrationTable]) -> None:
        """Save the tables under that name."""
        CalibrationTable.save_all(tables, self.folder / f"{name}.json")

    def load_cell(self, cell: Cell, measures: Sequence[str]) -> CellTables | None:
        """The tables of a cell; None unless all measures are saved."""
        tables = self.load(cell.name, cell.n_rows)
        if tables is None:
            return None
        names = [table.spec.variation.name for table in tables[::2]]
        by_place = dict(zip(((name, binning) for name in names for binning in BINNINGS), tables, strict=True))
        return CellTables(cell, by_place) if set(measures) <= set(names) else None

    def save_cell(self, finished: CellTables) -> None:
        """Save the tables of a cell."""
        self.save(finished.cell.name, list(finished.tables.values()))


class Timing(NamedTuple):
    """Seconds for cells, and for drawing the same rows only, with the same number of threads."""

    seconds: float
    drawing_seconds: float

    @property
    def ratio(self) -> float:
        """The time relative to drawing only."""
        return self.seconds / self.drawing_seconds


class TimingLog:
    """Times of the batches of cells of the first seed, saved next to the cells."""

    def __init__(self, store: Store, measures: Sequence[str], n_threads: int) -> None:
        self.path = store.folder / f"timings-{'-'.join(measures)}-{n_threads}-threads.json"
        self.entries = load_object(self.path)

    def add(self, cells: Sequence[Cell], timing: Timing) -> None:
        """Add the time of a batch of cells."""
        self.entries[" ".join(cell.name for cell in cells)] = timing
        write_text(str(self.path), json.dumps(self.entries, indent=1))

    def total(self, cells: Sequence[Cell]) -> Timing | None:
        """The total time of these cells; None if one of them was not timed."""
        wanted = {cell.name for cell in cells}
        batches = {key: entry for key, entry in self.entries.items() if wanted.issuperset(key.split())}
        if wanted != {name for key in batches for name in key.split()}:
            return None
        seconds, drawing = (sum(entry[part] for entry in batches.values()) for part in range(2))
        return Timing(seconds, drawing)


def load_object(path: Path) -> dict[str, Any]:
    """The JSON object in a file of the store; empty if the file is missing or damaged."""
    if not path.exists():
        return {}
    try:
        content = _json.parse(path.read_text(encoding="utf-8"))
    except ValueError:  # damaged: it is computed again and replaced
        return {}
    return content if isinstance(content, dict) else {}


def plain(value: Any) -> Any:
    """A value for JSON, with NaN and infinities as null.

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
