"""The variation of every row, and its quantiles: what equal-mass bins need before the rows can be summed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._scratch import Scratch
from trueness._threads import Span, in_threads
from trueness.bins import Edges, EqualMass
from trueness.rows import Rows
from trueness.tabulation.compiled import refuse_rows_at, set_block, spans
from trueness.tabulation.compiled.layout import job_for
from trueness.tabulation.compiled.library import MEASURES, address, require_library
from trueness.variation import Variation

CELLS = 2**16
"""Equal cells in which values are counted; only the cells that hold a quantile are looked at again."""


def equal_mass_edges(rows: Rows, variation: Variation, bins: EqualMass, n_threads: int) -> Edges:
    """The edges of equal-mass bins over all rows."""
    values = np.empty(rows.n_rows)
    cells = in_threads(lambda some: measure(rows, variation, some, values), spans(rows, n_threads), n_threads)
    return edges_of_measured(values, sum(cells[1:], cells[0]), variation, rows.n_classes, bins)


def measure(rows: Rows, variation: Variation, some: Iterable[Span], values: FloatArray) -> IntArray:
    """Put V of some blocks of rows into `values`; how many fell into each of CELLS equal cells."""
    library, job = require_library(), job_for(rows.form)
    job.kinds[0], job.n_measures = MEASURES[str(variation.kernel)], 1
    arena = np.zeros(library.arena_size(job), np.uint8)
    job.arena, scratch = address(arena), Scratch()
    low, scale = _cell_scale(variation, rows.n_classes)
    cells = np.zeros(CELLS, np.int64)
    for start, stop in some:
        block = set_block(job, rows, start, stop, scratch)
        first_bad = library.measure(job, values[start:stop])
        del block
        if first_bad >= 0:
            refuse_rows_at(rows, start + first_bad, stop)
        library.count(values[start:stop], low, scale, cells)
    return cells


def edges_of_measured(
    values: FloatArray, cells: IntArray, variation: Variation, n_classes: int, bins: EqualMass
) -> Edges:
    """The edges of equal-mass bins, given V of all rows and the counts that `measure` gave for them."""
    ends = order_statistics(values, cells, *_cell_scale(variation, n_classes), bins.nth(len(values)))
    return bins.edges_at(ends, *variation.range_for(n_classes))


def _cell_scale(variation: Variation, n_classes: int) -> tuple[float, float]:
    """The bottom of the measure's range, and cells for each unit of it."""
    low, high = variation.range_for(n_classes)
    return low, (CELLS - 1) / (high - low)


def order_statistics(
    values: FloatArray, cells: IntArray, low: float, scale: float, nth: IntArray
) -> FloatArray:
    """The n-th smallest values (from 0, ascending n), given how many lie in each cell."""
    below = np.concatenate([[0], np.cumsum(cells)])
    cell = np.searchsorted(below, nth, side="right") - 1
    wanted = np.zeros(len(cells), np.bool_)
    wanted[cell] = True
    found = np.empty(int(cells[wanted].sum()))
    require_library().gather(values, low, scale, wanted, found)
    found.sort()
    # Values of cells between wanted ones were not gathered.
    found_below = np.concatenate([[0], np.cumsum(np.where(wanted, cells, 0))])
    return np.asarray(found[nth - below[cell] + found_below[cell]])
