"""The rows that a growing table has gained: the later table less the earlier one."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness.monitoring.watched import Watched
from trueness.old_table import OptionTables, table_of
from trueness.old_table.exact_sums import ExactSum, FloatSum
from trueness.old_table.tables import table_from_dict
from trueness.refusals import InvalidValueError, Refusal


def gained(later: Watched, earlier: Watched | None, name: str) -> Watched:
    """The tables of the rows that `later` has and `earlier` lacks; refused unless all of its rows are contained."""
    if earlier is None:
        return later
    earlier + later
    ranks = None if later.ranks is None or earlier.ranks is None else _less(later.ranks, earlier.ranks, name)
    events = later.by_class
    if events is not None and earlier.by_class is not None:
        events = _less(events, earlier.by_class, name)
    return Watched(ranks, events)


def _less(later: Any, earlier: Any, name: str) -> Any:
    """A table less another; what no rows can have is refused as it is in a file."""
    if isinstance(later, OptionTables):
        return _less_options(later, earlier, name)
    theirs = dict(earlier.sums.items())
    sums = type(later.sums)(
        **{key: _subtract(mine, theirs[key]) for key, mine in later.sums.items() if key in theirs}
    )
    try:
        return table_from_dict(table_of(later.spec, sums).to_dict(), _measure(later))
    except Refusal as error:
        raise _not_cumulative(name) from error


def _less_options(later: OptionTables, earlier: OptionTables, name: str) -> OptionTables:
    """The same for each number of options; none that was there before may be missing."""
    if not set(earlier) <= set(later):
        raise _not_cumulative(name)
    tables = {c: _less(table, earlier[c], name) if c in earlier else table for c, table in later.items()}
    return OptionTables(tables, later.spec)


def _not_cumulative(name: str) -> InvalidValueError:
    cause = f"the table {name} does not contain the rows of the look before"
    remedy = "leave out `cumulative=True` if each table holds its own rows"
    return InvalidValueError("not-cumulative", cause, remedy)


def _measure(table: Any) -> Any:
    return getattr(table.spec, "variation", None)


def _subtract(mine: Any, theirs: Any) -> Any:
    if isinstance(mine, ExactSum):
        return ExactSum.with_carry(mine.whole - theirs.whole, mine.fraction - theirs.fraction, mine.bits)
    if isinstance(mine, FloatSum):
        return FloatSum(np.asarray(mine.value - theirs.value))
    return np.asarray(mine - theirs)
