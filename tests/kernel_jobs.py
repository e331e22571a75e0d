"""Jobs for the kernels themselves, without the Python around them: run by a library here, or by `kernels/driver.c`."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from compiled_rows import every_kind_of_events, nasty, nasty_logits
from numpy.typing import NDArray

import trueness as tn
from trueness.old_table import EventSpec
from trueness.old_table.content import DETAILS
from trueness.rows import Rows
from trueness.tabulation.compiled.event_cells import EventCells
from trueness.tabulation.compiled.layout import detail_of, job_for
from trueness.tabulation.compiled.library import MEASURES, UNDERFLOWED_WORDS, Job, Library, total_sizes
from trueness.tabulation.compiled.search import Search

DRIVER = Path(__file__).parent / "kernels" / "driver.c"
POINTERS = ("rows", "labels", "logits", "edges", "guesses", "events", "thresholds")


@dataclass
class KernelJob:
    """What a kernel is given, with its arrays as bytes in the order in which they lie in memory."""

    job: Job
    to_sum: bool
    arrays: dict[str, bytes | None]
    n_totals: int
    n_cells: int = 0
    """Words of the cells of events, and of their moments."""
    n_moments: int = 0
    shift: int = 0
    """How many bytes an array lies behind an aligned address: the rows, or another one."""
    shifted: str = "rows"
    level: int = 0

    def to_bytes(self) -> bytes:
        """As `driver.c` reads it."""
        arrays = b""
        for name in POINTERS:
            data, shift = self.arrays[name], self.shift if name == self.shifted else 0
            arrays += _numbers(-1 if data is None else len(data), shift) + (data or b"")
        head = _numbers(self.to_sum, self.level, ctypes.sizeof(Job)) + bytes(self.job)
        return head + arrays + _numbers(self.n_totals, self.n_cells, self.n_moments)

    def result(self, library: Library, place: Any = None) -> bytes:
        """What `driver.c` would write; `place` puts the rows, labels and logits somewhere in memory."""
        library.use_level(self.level)
        job = Job.from_buffer_copy(self.job)
        kept = {
            name: _memory(data, self.shift if name == self.shifted else 0)
            for name, data in self.arrays.items()
            if data is not None
        }
        if place is not None:
            kept |= {name: place(name, kept[name]) for name in ("rows", "labels", "logits") if name in kept}
        for name, data in kept.items():
            setattr(job, name, data.__array_interface__["data"][0])
        n_rows = job.n_rows
        cells, moments = np.zeros(self.n_cells, np.int64), np.zeros(self.n_moments, np.int64)
        job.cells = cells.__array_interface__["data"][0]
        job.moments = moments.__array_interface__["data"][0] if self.n_moments else 0
        arena, totals = np.zeros(library.arena_size(job), np.uint8), np.zeros(self.n_totals, np.int64)
        underflowed, values = np.zeros((n_rows, UNDERFLOWED_WORDS), np.int64), np.zeros(n_rows)
        for name, array in (("arena", arena), ("totals", totals), ("underflowed", underflowed)):
            setattr(job, name, array.__array_interface__["data"][0])
        first_bad = library.sum(job) if self.to_sum else library.measure(job, values)
        some = underflowed[: job.n_underflowed]
        written = _numbers(first_bad, job.n_underflowed) + some.tobytes()
        written += totals.tobytes() + cells.tobytes() + moments.tobytes()
        return written + (values.tobytes() if not self.to_sum and first_bad < 0 else b"")


def _numbers(*values: int) -> bytes:
    return np.array(values, np.int64).tobytes()


def _memory(data: bytes, shift: int) -> NDArray[np.uint8]:
    """The bytes at an address that is `shift` behind a multiple of 64."""
    whole = np.zeros(len(data) + 64 + shift, np.uint8)
    begin = -whole.__array_interface__["data"][0] % 64 + shift
    whole[begin : begin + len(data)] = np.frombuffer(data, np.uint8)
    return whole[begin : begin + len(data)]


def kernel_job(
    y_true: Any,
    y_prob: Any,
    specs: Sequence[tn.TableSpec],
    events: EventSpec | None = None,
    *,
    to_sum: bool = True,
    columns: bool = False,
    from_logits: bool = False,
    **how: Any,
) -> KernelJob:
    """A job for rows in memory; with `columns` they lie class by class."""
    rows = Rows.of_arrays(np.asarray(y_true), y_prob, from_logits=from_logits)
    with np.errstate(invalid="ignore", over="ignore"):
        block, search, job = rows.block(0, rows.n_rows), Search(specs, rows.y_prob.eps), job_for(rows.form)
    search.describe(job)
    k, m, (n, c), item = len(specs), search.n_edges + 1, block.shape, block.itemsize
    detail = detail_of(specs)
    job.detail = DETAILS.index(detail)
    job.kinds[:k] = [MEASURES[str(spec.variation.kernel)] for spec in specs]
    job.n_measures, job.split, job.n_rows = k, any(spec.ties == "split" for spec in specs), n
    job.to_next_row, job.to_next_class = (item, item * n) if columns else (item * c, item)
    sums = EventCells(events, rows.y_prob.eps) if events is not None and to_sum else None
    if sums is not None:
        sums.describe(job)
        how |= {"n_cells": sums.cells.size, "n_moments": sums.moments.size if sums.spec.has_moments else 0}
    arrays = {
        "rows": block.tobytes("F" if columns else "C"),
        "labels": np.asarray(y_true, np.int64).tobytes(),
        "logits": np.asarray(y_prob, np.float64).tobytes() if from_logits else None,
        "edges": search.edges.tobytes(),
        "guesses": None if search.guesses is None else search.guesses.tobytes(),
        "events": None if sums is None else sums.classes.tobytes(),
        "thresholds": None if sums is None else sums.thresholds.tobytes(),
    }
    columns_of_sums = 2 if detail == "first" else c
    sizes = total_sizes(k, m, columns_of_sums, split=bool(job.split), scores=detail == "scores")
    return KernelJob(job, to_sum, arrays, sum(sizes), **how)


def specs_of(
    n_classes: int, names: Sequence[str], n_bins: int, ties: str = "first", detail: str = "scores"
) -> list[tn.TableSpec]:
    edges = {name: tn.EqualWidth(n_bins).resolve(*tn.variations[name].range_for(n_classes)) for name in names}
    return [
        tn.TableSpec(n_classes, tn.variations[name], of, ties=ties, detail=detail)
        for name, of in edges.items()
    ]


BOTH = ("entropy", "confidence")


def events_of(n_classes: int, number: int) -> EventSpec | None:
    """Events of every kind in turn, or none."""
    kinds = [*every_kind_of_events(n_classes), None]
    return kinds[number % len(kinds)]


def spoiled(y_prob: Any, row: int, value: float) -> Any:
    """The rows with a bad value somewhere in one of them."""
    spoilt = y_prob.copy()
    spoilt[row, row % spoilt.shape[1]] = value
    return spoilt


def nasty_jobs(classes: Sequence[int], seed: int = 0) -> Iterator[KernelJob]:
    """Of every kind: 1 to 17 rows and more, both dtypes and layouts, bins, ties, logits, bad rows, events."""
    turn = count()
    for n_classes in classes:
        for dtype in (np.float32, np.float64):
            y_true, y_prob = nasty(n_classes, seed, dtype)
            for n_rows in (*range(1, 18), len(y_true)):
                number = next(turn)
                some = slice(len(y_true) - n_rows, None)
                names = (BOTH, BOTH[:1], BOTH[1:])[number % 3]
                specs = specs_of(
                    n_classes, names, (1, 10, 15, 40)[number % 4], ("first", "split")[number % 2]
                )
                how = {"columns": number % 5 > 2, "shift": (0, 4, 1, 8)[number % 4], "to_sum": number % 7 > 0}
                given = y_prob[some]
                if number % 6 == 5:
                    bad = (np.nan, -np.nan, np.inf, -np.inf, -0.5, 7.0, 1e300, -1e-40)[number // 6 % 8]
                    with np.errstate(over="ignore"):
                        given = spoiled(given, n_rows // 2, bad)
                events = events_of(n_classes, number)
                if events is not None and how["to_sum"] and number % 11 == 0:
                    specs = []
                yield kernel_job(y_true[some], given, specs, events, **how)
                name, detail = (("entropy", "ranks"), ("confidence", "first"))[number % 2]
                ties = ("first", "split")[number // 2 % 2]
                less = specs_of(n_classes, [name], (1, 10, 15, 40)[number // 3 % 4], ties, detail)
                yield kernel_job(y_true[some], given, less, **how | {"to_sum": True})
        y_true, z = nasty_logits(n_classes, seed)
        for n_rows in (1, 3, 16, 17, len(z)):
            specs = specs_of(n_classes, BOTH, 10, ("first", "split")[n_rows % 2])
            events = events_of(n_classes, next(turn))
            yield kernel_job(y_true[:n_rows], z[:n_rows], specs, events, from_logits=True)
            for name, detail in (("entropy", "ranks"), ("confidence", "first")):
                less = specs_of(n_classes, [name], 10, ("first", "split")[n_rows % 2], detail)
                yield kernel_job(y_true[:n_rows], z[:n_rows], less, from_logits=True)
