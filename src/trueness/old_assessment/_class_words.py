"""The classes that are wrong, in the words of the verdict."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trueness._printing import about_text, count_text, plural, visible
from trueness.old_inference.classwise.results import ClassAssessment
from trueness.old_inference.events.of_table import event_bins

if TYPE_CHECKING:
    from trueness.old_assessment._result import Assessment

LIMIT_OF_GAP = 0.01
"""A gap with a smaller corrected p-value, and half the size of the error, is named before the spread."""


def called_classes(result: Assessment, limit: float) -> list[ClassAssessment]:
    """The classes whose corrected p-values are at most the limit, the largest error first."""
    if result.classes is None:
        return []
    found = [each for each in result.classes.classes if each.adjusted_p_value <= limit]
    return sorted(found, key=size_of, reverse=True)


def size_of(it: ClassAssessment) -> float:
    """The size of a class's error as a share of the rows: of its gap, or of its calibration error."""
    return max(abs(it.gap.value), 0.0 if math.isnan(it.ece.debiased) else it.ece.debiased)


def class_clause(result: Assessment, called: Sequence[ClassAssessment]) -> str:
    """The class with the largest error, in a clause."""
    first, *others = called
    clause = f"{name_of_class(first, result)} is {fault_of(first)}, {numbers_of(first)}"
    return "; ".join([clause, *other_classes(others)])


def other_classes(others: Sequence[ClassAssessment]) -> list[str]:
    """Further classes in a clause; empty if there are none."""
    if not others:
        return []
    shown = ", ".join(f"{visible(it.name)} ({fault_of(it)})" for it in others[:2])
    more = f" and {plural(len(others) - 2, 'more class', 'more classes')}" if len(others) > 2 else ""
    return [f"also {'class' if len(others) == 1 else 'classes'} {shown}{more}"]


def is_gap(it: ClassAssessment) -> bool:
    """Whether the gap is the main fault of a class; else it is the spread."""
    clearer = not it.adjusted_spread_p_value < it.adjusted_gap_p_value
    # Rows that have a gap are often too extreme too: the gap explains most of the error then.
    explains = it.adjusted_gap_p_value <= LIMIT_OF_GAP and abs(it.gap.value) >= size_of(it) / 2
    return clearer or explains or it.gap_explains_spread


def fault_of(it: ClassAssessment) -> str:
    """What is wrong with a class, in a few words."""
    if is_gap(it):
        return f"predicted too {'often' if it.gap.value > 0 else 'seldom'}"
    spread = it.remaining_spread or it.spread
    return f"too {'extreme' if spread.statistic < 0 else 'timid'}"


def numbers_of(it: ClassAssessment) -> str:
    """The numbers that show the fault of a class."""
    if is_gap(it):
        return f"{about_text(it.gap.expected)} expected, {count_text(it.gap.observed)} observed"
    interval = it.ece.interval
    span = "" if interval is None else f" [{interval.low:.4f}, {interval.high:.4f}]"
    return f"slope {it.spread.slope:.2f}, ECE of the class {it.ece.debiased:.4f}{span}"


def name_of_class(it: ClassAssessment, result: Assessment) -> str:
    """The class in a sentence; of two classes an index needs no quotes."""
    named = result.tables.by_class is not None and result.tables.by_class.spec.class_names is not None
    return f"class {visible(it.name)!r}" if named else f"class {it.name}"


def names_of_classes(result: Assessment) -> list[str]:
    """The names of all classes, or their indices."""
    table = result.tables.by_class
    names = None if table is None else table.spec.class_names
    return [visible(name) for name in names or map(str, range(result.table.n_cells))]


def event_rises(result: Assessment) -> bool:
    """Whether class 1 of two is observed more often where its probability is higher, by more than noise.

    A wrong prevalence then explains that the less probable class is the true one more often; exchanged columns do not.
    """
    table = result.tables.by_class
    if table is None or table.n_classes != 2:
        return False
    (bins,) = event_bins(table, 10)
    apart = bins.mean_predicted - bins.predicted.sum() / bins.total
    y = bins.mean_observed
    noise = math.sqrt(float(bins.weight_square * y * (1 - y) @ apart**2))
    return float(bins.count * y @ apart) > 3 * noise > 0
