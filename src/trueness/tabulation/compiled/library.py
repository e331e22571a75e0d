"""The compiled library: found beside this file, loaded with ctypes, and checked once.

Calls release the interpreter's lock. The C sources are in `source/`, and `hatch_build.py` compiles them.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, byref, c_char_p, c_double, c_int64, c_void_p
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray

ABI, MAX_MEASURES, FEW_EDGES, GUESSES, UNDERFLOWED_WORDS = 10, 2, 32, 4096, 5
"""As in `source/job.h`."""

OTHER_GRID, CLASS_GRID, EVENT_GRID, NO_CLASS, N_MOMENTS = 0, 1, 2, -1, 5
"""As in `source/job.h`; `NO_CLASS` stands for the top label."""

N_SCORES = 4
"""As in `source/totals.h`: log-score, its variance, that of possible rows, expected misses."""

MEASURES = {"entropy": 0, "confidence": 1}
"""The measures that are compiled, by the name of their kernel."""

KNOWN_ANSWER = 1953728495
"""A checksum of the sums of a few rows: a library that was built with other rounding is not used."""


KNOWN_ROWS = 500
"""The number of these rows: so many that a sum would change if products were not rounded before they are added."""


class Job(ctypes.Structure):
    """What a kernel works on: where rows lie, how they are binned, and where sums are kept; see `source/job.h`."""

    _fields_ = (
        ("rows", c_void_p),
        ("item", c_int64),
        ("to_next_row", c_int64),
        ("to_next_class", c_int64),
        ("n_rows", c_int64),
        ("n_classes", c_int64),
        ("labels", c_void_p),
        ("logits", c_void_p),
        ("slack", c_int64),
        ("to_unit", c_double),
        ("least", c_double),
        ("detail", c_int64),
        ("n_measures", c_int64),
        ("kinds", c_int64 * MAX_MEASURES),
        ("n_edges", c_int64),
        ("edges", c_void_p),
        ("guesses", c_void_p),
        ("lows", c_double * MAX_MEASURES),
        ("scales", c_double * MAX_MEASURES),
        ("split", c_int64),
        ("arena", c_void_p),
        ("totals", c_void_p),
        ("underflowed", c_void_p),
        ("n_underflowed", c_int64),
        ("n_events", c_int64),
        ("events", c_void_p),
        ("all_classes", c_int64),
        ("has_top", c_int64),
        ("grid", c_int64),
        ("n_cells", c_int64),
        ("stride", c_int64),
        ("parts", c_double),
        ("thresholds", c_void_p),
        ("cells", c_void_p),
        ("moments", c_void_p),
    )


class RunsOfRows(ctypes.Structure):
    """Rows by the units that they belong to; see `source/job.h`."""

    _fields_ = (
        ("n_runs", c_int64),
        ("starts", c_void_p),
        ("stops", c_void_p),
        ("units", c_void_p),
        ("n_words", c_int64),
        ("n_bins", c_int64),
        ("bin_of", c_void_p),
        ("cells", c_void_p),
        ("of_units", c_void_p),
        ("before", c_void_p),
    )


def address(array: NDArray[Any]) -> int:
    """Where the data of an array begin."""
    place: int = array.__array_interface__["data"][0]
    return place


class Library:
    """The functions of the compiled library."""

    def __init__(self, path: Path) -> None:
        functions = ctypes.CDLL(str(path))
        self._level = _declared(functions.trueness_level, c_int64)
        self._arena = _declared(functions.trueness_arena, POINTER(Job))
        self._sum = _declared(functions.trueness_sum, POINTER(Job))
        self._sum_runs = _declared(functions.trueness_sum_runs, POINTER(Job), POINTER(RunsOfRows))
        self._count_units = _declared(functions.trueness_count_units, c_void_p, c_int64, c_void_p)
        self._deal = _declared(functions.trueness_deal, POINTER(Job), *[c_void_p] * 4)
        self._row_blocks = _declared(functions.trueness_row_blocks, c_void_p, *[c_int64] * 3, c_void_p)
        self._order = _declared(functions.trueness_order, c_void_p, c_int64, c_int64, c_void_p, c_void_p)
        self._measure = _declared(functions.trueness_measure, POINTER(Job), c_void_p)
        self._count = _declared(functions.trueness_count, c_void_p, c_int64, c_double, c_double, c_void_p)
        self._gather = _declared(
            functions.trueness_gather, c_void_p, c_int64, c_double, c_double, c_char_p, c_void_p
        )
        self._read_cells = _declared(functions.trueness_read_cells, POINTER(Job), *[c_void_p] * 4)
        self.abi = int(_declared(functions.trueness_abi)())

    def use_level(self, wish: int = 0) -> int:
        """The instruction set in use from now on, the best or a lower one: 4, 3, 2 (x86-64), 1 (NEON), 0 (none)."""
        return int(self._level(wish))

    def arena_size(self, job: Job) -> int:
        """The bytes of working memory that such rows need."""
        return int(self._arena(byref(job)))

    def sum(self, job: Job) -> int:
        """Sum all rows; -1, or the first row of a few among which one is bad. The rows before it are summed."""
        return int(self._sum(byref(job)))

    def sum_runs(self, job: Job, runs: RunsOfRows) -> int:
        """Sum each run into the totals of its unit; -1, or a number of at least 0 if there is a bad row."""
        return int(self._sum_runs(byref(job), byref(runs)))

    def order(self, unit_of: IntArray, n_units: int) -> tuple[IntArray, IntArray]:
        """The numbers of the rows in the order of their units, and how many rows there are up to each unit's last."""
        ends, order = np.zeros(n_units, np.int64), np.empty(len(unit_of), np.int64)
        self._order(address(unit_of), len(unit_of), n_units, address(ends), address(order))
        return order, ends

    def count_units(self, unit_of: IntArray, counts: IntArray) -> None:
        """Count the rows of each unit in addition to what `counts` holds."""
        self._count_units(address(unit_of), len(unit_of), address(counts))

    def deal(
        self, job: Job, unit_of: IntArray, places: IntArray, rows: NDArray[Any], labels: IntArray | None
    ) -> None:
        """Copy rows and labels, those of each unit one after the other from its place on, which moves on.

        Without `labels` only rows are copied.
        """
        self._deal(
            byref(job), *map(address, (unit_of, places, rows)), None if labels is None else address(labels)
        )

    def row_blocks(self, positions: IntArray | range, n_blocks: int) -> IntArray:
        """The block of each row by its position, of a power of two of them: as `table.clusters.row_blocks`."""
        blocks = np.empty(len(positions), np.int64)
        first, places = (positions.start, None) if isinstance(positions, range) else (0, address(positions))
        self._row_blocks(places, first, len(positions), n_blocks, address(blocks))
        return blocks

    def measure(self, job: Job, values: FloatArray) -> int:
        """Put V of all rows into `values`; -1, or the first row of a few among which one is bad."""
        return int(self._measure(byref(job), address(values)))

    def count(self, values: FloatArray, low: float, scale: float, cells: IntArray) -> None:
        """Count the values in equal cells."""
        self._count(address(values), len(values), low, scale, address(cells))

    def gather(
        self, values: FloatArray, low: float, scale: float, wanted: NDArray[np.bool_], found: FloatArray
    ) -> None:
        """Copy the values that lie in wanted cells, in their order, to `found`."""
        self._gather(address(values), len(values), low, scale, wanted.tobytes(), address(found))

    def read_cells(self, job: Job, sums: IntArray) -> None:
        """Put rows, whole and fraction of Σp, and observed rows of all cells of events into `sums`, (4, K, G)."""
        self._read_cells(byref(job), *map(address, sums))


def _declared(function: Any, *arguments: Any) -> Any:
    function.argtypes, function.restype = arguments, c_int64
    return function


def library_path() -> Path:
    """Where the library of this platform is, if it was built."""
    ending = {"win32": "dll", "darwin": "dylib"}.get(sys.platform, "so")
    return Path(__file__).with_name(f"_library.{ending}")


@cache
def load() -> tuple[Library | None, str]:
    """The library, if it can be used, and otherwise the reason why not."""
    path = library_path()
    if not path.exists():
        return None, "was not built when trueness was installed (no C compiler was found)"
    try:
        library = Library(path)
    except (OSError, AttributeError) as error:
        return None, f"cannot be loaded ({error})"
    if library.abi != ABI:
        return None, f"was built from other sources (version {library.abi} and not {ABI})"
    if library.use_level() == 0:
        return None, "does not support this processor"
    if known_answer(library) != KNOWN_ANSWER:
        return None, "does not compute as it must on this machine"
    return library, ""


def require_library() -> Library:
    """The library, which an engine was chosen for."""
    library, reason = load()
    assert library is not None, reason
    return library


def total_sizes(
    n_tables: int, n_bins: int, n_columns: int, *, split: bool, scores: bool = True
) -> tuple[int, ...]:
    """The words of each part of `Job.totals`, in the order of `source/totals.h`."""
    bins, pairs = n_tables * n_bins, 2 * N_SCORES
    ranks = bins * n_columns
    of_scores = (bins * pairs, n_columns, n_columns * pairs, 6) if scores else (0, 0, 0, 0)
    return 2 * (ranks + bins), ranks, *of_scores, 2, 2 * ranks * split


def known_answer(library: Library) -> int:
    """A checksum of the sums of rows of few and of many classes, with numbers that any other rounding would change.

    Their events are all classes on the class grid, or a class and the top label on the event grid.
    """
    checksum = 0
    for n_classes, grid, n_cells, parts in (
        (10, CLASS_GRID, 80, 60 / 64),
        (10, EVENT_GRID, 5026, 3600 / 4096),
        (33, CLASS_GRID, 80, 60 / 64),
    ):
        odd = (np.arange(n_classes * KNOWN_ROWS) ** 2 % 997 + 1.0).reshape(KNOWN_ROWS, n_classes)
        probabilities = odd / odd.sum(axis=1, keepdims=True)
        labels, edges = np.arange(KNOWN_ROWS) % n_classes, np.array([0.9, 0.97])
        is_fine = grid == EVENT_GRID
        events = np.array([1, NO_CLASS]) if is_fine else np.arange(n_classes)
        stride, thresholds = n_cells | 1, np.arange(1, n_cells) / n_cells
        cells = np.zeros((2, len(events), stride, 2), np.uint64)
        moments = np.zeros((len(events), 2 * N_MOMENTS + 1), np.int64)
        job = Job(
            rows=address(probabilities),
            item=8,
            to_next_row=8 * n_classes,
            to_next_class=8,
            n_rows=KNOWN_ROWS,
            n_classes=n_classes,
            labels=address(labels),
            slack=2**30,
            to_unit=0.25,
            n_measures=1,
            n_edges=2,
            edges=address(edges),
            n_events=len(events),
            events=address(events),
            all_classes=not is_fine,
            has_top=is_fine,
            grid=grid,
            n_cells=n_cells,
            stride=stride,
            parts=parts / (1 + 2.0**-22),
            thresholds=address(thresholds),
            cells=address(cells),
            moments=address(moments) if is_fine else 0,
        )
        arena = np.zeros(library.arena_size(job), np.uint8)
        totals = np.zeros(sum(total_sizes(1, 3, n_classes, split=False)), np.int64)
        job.arena, job.totals = address(arena), address(totals)
        library.sum(job)
        for sums in (totals, cells, moments):
            checksum = crc32(sums.tobytes(), checksum)
    return checksum
