"""What limits the conclusions from a monitor, each with its remedy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from trueness._printing import first_few, plural
from trueness.monitoring._entries import Entry, rank_tables
from trueness.monitoring.watched import is_contained
from trueness.old_assessment import Caution

if TYPE_CHECKING:
    from trueness.monitoring.monitor import Monitor

SMALL_LOOK = 30
MANY_ROWS = 10**6


def cautions_of(monitor: Monitor) -> tuple[Caution, ...]:
    """All warnings about a monitor and its looks."""
    return (*_about_looks(monitor.entries), *_about_settings(monitor))


def _about_looks(entries: tuple[Entry, ...]) -> Iterator[Caution]:
    grown = [later.at for earlier, later in pairwise(entries) if _contains(earlier, later)]
    if grown:
        yield Caution(
            "cumulative",
            f"every count of the look before is contained in {first_few(grown)}",
            "tables that grow count rows again and again, and nothing is valid; save each day by itself",
        )
    impossible = sum(table.impossible_rows for entry in entries for table in rank_tables(entry))
    if impossible:
        yield Caution(
            "impossible",
            f"in {plural(impossible, 'row')} the true class had probability 0",
            "clip or smooth the predictions: one such row is strong evidence against any tolerance",
        )
    small = [entry.at for entry in entries if 0 < entry.n_rows < SMALL_LOOK]
    if small:
        yield Caution(
            "small-look",
            f"{plural(len(small), 'look')} with fewer than {SMALL_LOOK} rows: {first_few(small)}",
            "they are counted and say little; longer looks use the weight of starts better",
        )
    late = [entry.at for entry in entries if entry.late]
    if late:
        yield Caution(
            "late",
            f"{plural(len(late), 'look')} arrived after later ones: {first_few(late)}",
            "alarms hold in order of arrival, as long as a look's delay does not depend on its labels",
        )


def _contains(earlier: Entry, later: Entry) -> bool:
    """Whether each group of a look is contained in the same group of the next."""
    return earlier.tables.keys() <= later.tables.keys() and all(
        is_contained(each, later.tables[name]) for name, each in earlier.tables.items()
    )


def _about_settings(monitor: Monitor) -> Iterator[Caution]:
    settings = monitor.settings
    declared = settings.max_cluster > 1 or settings.max_weight is not None or settings.dependence == "look"
    if not declared and monitor.entries:
        yield Caution(
            "clusters-unsaid",
            "rows are taken as independent; nothing in a table shows whether several rows belong to one patient, user "
            "or document",
            "if they do, declare the largest number of such rows in a look (max_cluster, --max-cluster): copies make "
            "false alarms certain",
        )
    if settings.tolerance == 0 and settings.reference is None and monitor.n_rows > MANY_ROWS:
        yield Caution(
            "no-tolerance",
            f"the tolerance is 0 with {monitor.n_rows:,} rows",
            "rounding of predictions is a miscalibration too, and is found; use a tolerance such as 0.01",
        )
    if settings.average_run is not None:
        yield Caution(
            "average-run",
            f"a false alarm will come, after {settings.average_run:g} looks or more on average",
            "to bound the probability of a false alarm instead, use alpha and no average run",
        )
