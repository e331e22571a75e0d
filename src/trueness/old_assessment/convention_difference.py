"""The number of another library beside the one of this library, and why they differ, in parts that add up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness._printing import plural
from trueness.conventions import (
    DROPPED,
    ENTROPY,
    Convention,
    Defect,
    Reproduced,
    as_convention,
    error_of,
)
from trueness.old_metrics import expected_calibration_error, uncertainty_calibration_error
from trueness.old_table import AnyRankTable
from trueness.tabulation import tabulate

_MEASURE = {"ece": "confidence", "uce": "entropy"}


@dataclass(frozen=True, slots=True)
class Part:
    """One reason why the numbers differ: by how much, and how many rows are concerned (None: all of them)."""

    code: str
    reason: str
    change: float
    n_rows: int | None = None


@dataclass(frozen=True, slots=True)
class ConventionDifference:
    """The number of a library and the one of trueness for the same rows; the parts add up to the difference."""

    convention: str
    library: str
    version: str
    metric: str
    norm: str
    theirs: float
    ours: float
    their_bins: int | None
    n_rows: int
    parts: tuple[Part, ...]
    arithmetic: str
    defects: tuple[Defect, ...]

    @property
    def difference(self) -> float:
        """Theirs minus ours."""
        return self.theirs - self.ours

    def __str__(self) -> str:
        values = (
            f"{self.theirs:.6f}; trueness ({self.metric.upper()}, norm {self.norm}): {self.ours:.6f}; "
            f"difference {_signed(self.difference)}, of which"
        )
        lines = [
            f"{self.library} {self.version}: {values}",
            *(f"  {_signed(part.change)}  {part.reason}" for part in self.parts),
            *(f"  known: {defect}" for defect in self.defects),
        ]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings."""
        return {
            "convention": self.convention,
            "library": self.library,
            "version": self.version,
            "metric": self.metric,
            "norm": self.norm,
            "theirs": self.theirs,
            "ours": self.ours,
            "difference": self.difference,
            "bins": self.their_bins,
            "n_rows": self.n_rows,
            "arithmetic": self.arithmetic,
            "parts": [
                {"code": part.code, "reason": part.reason, "change": part.change, "n_rows": part.n_rows}
                for part in self.parts
            ],
            "defects": [{"text": defect.text, "link": defect.link} for defect in self.defects],
        }


def compare_convention(
    y_true: Any,
    y_prob: Any,
    convention: str | Convention,
    *,
    bins: int | None = None,
    own_bins: int = 10,
    norm: str | None = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
) -> ConventionDifference:
    """The number of another library beside ECE (or UCE) of this one, and why they differ for these rows.

    `convention` is a name in `trueness.conventions.CONVENTIONS`; `bins` and `norm` are the library's unless given.
    `own_bins` are the bins of this library. Rows are as in `tabulate`.

    >>> found = compare_convention([1, 0, 1, 1], [0.95, 1.0, 0.2, 0.6], "torchmetrics", bins=5)
    >>> [(part.code, part.n_rows) for part in found.parts]
    [('bins', None), ('edges', 3), ('dropped', 0), ('rest', None)]
    """
    entry = as_convention(convention)
    rows: dict[str, Any] = {"from_logits": from_logits, "normalize": normalize, "classes": classes}
    theirs = entry.compute(y_true, y_prob, bins=bins, norm=norm, **rows)
    table = tabulate(y_true, y_prob, variation=_MEASURE[entry.metric], bins=own_bins, **rows)
    of_table = expected_calibration_error if entry.metric == "ece" else uncertainty_calibration_error
    ours = of_table(table, norm=theirs.norm)
    return ConventionDifference(
        entry.name,
        entry.library,
        entry.version,
        entry.metric,
        theirs.norm,
        theirs.value,
        ours,
        theirs.bins,
        theirs.reading.n_rows,
        _parts(entry, theirs, table, ours),
        entry.arithmetic,
        entry.defects,
    )


def _parts(convention: Convention, theirs: Reproduced, table: AnyRankTable, ours: float) -> tuple[Part, ...]:
    """The parts: from this library's bins to theirs, to their rule for edges, without dropped rows, to the number."""
    if theirs.bins is None:
        return (Part("rest", convention.rest, theirs.value - ours),)
    found, reading = theirs.assignment, theirs.reading
    in_their_bins = error_of(reading, found.plain, found.n_bins, theirs.norm)
    undropped = np.where(found.index == DROPPED, found.plain, found.index)
    by_their_edges = error_of(reading, undropped, found.n_bins, theirs.norm)
    without_dropped = error_of(reading, found.index, found.n_bins, theirs.norm)
    return (
        Part("bins", _bins_text(convention, theirs, table), in_their_bins - ours),
        Part("edges", _edges_text(convention, found.moved), by_their_edges - in_their_bins, found.moved),
        Part(
            "dropped",
            _dropped_text(convention, found.dropped),
            without_dropped - by_their_edges,
            found.dropped,
        ),
        Part("rest", convention.rest, theirs.value - without_dropped),
    )


def _bins_text(convention: Convention, theirs: Reproduced, table: AnyRankTable) -> str:
    event, own = (
        ("the entropy", "")
        if theirs.reading.event == ENTROPY
        else (theirs.reading.event, "the top label in ")
    )
    return (
        f"{event} in {convention.bins_text(theirs.bins)} over {convention.range}, instead of {own}"
        f"{plural(table.n_bins, 'bin')} over {table.edges[0]:.3g} to {table.edges[-1]:.3g}"
    )


def _edges_text(convention: Convention, moved: int) -> str:
    if not moved:
        return "no row lies where the rules for edges differ"
    return f"{plural(moved, 'row')} on an edge in another bin: {convention.edges}"


def _dropped_text(convention: Convention, dropped: int) -> str:
    return f"{plural(dropped, 'row')} dropped: {convention.dropped}" if dropped else "no row dropped"


def _signed(change: float) -> str:
    return f"{round(change, 6) + 0.0:+.6f}"
