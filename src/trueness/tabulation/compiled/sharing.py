"""Short batches shared with threads that stay awake, if such batches follow one another."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial

from trueness._threads import Span, available_cores, run_aside
from trueness.rows import Rows
from trueness.tabulation.compiled import FEW_SHARED_VALUES, WAKING_VALUES, Pass, one_block_each
from trueness.tabulation.compiled.library import MAX_SHARED, load, require_library

SHORT_BATCH = range(200_000, FEW_SHARED_VALUES)
"""The sizes, in values, of batches that are shared so: fewer are one thread's work, more are shared block by block."""

PAUSES = 2**14
"""A helper that stays awake leaves after so many pauses without a job: .2 milliseconds, up to 1 on some processors."""

_called: set[int] = set()
"""The numbers of the helpers that were called and have not left."""


def call_helpers(n: int, *, stay_awake: bool) -> bool:
    """Call so many threads to do shared jobs, and to stay awake for the next ones or not; whether all are here."""
    missing = [which for which in range(n) if which not in _called]
    for which in missing:
        _called.add(which)
        run_aside(partial(_help, which, PAUSES if stay_awake else 0), n)
    return not missing


def _help(which: int, n_pauses: int) -> None:
    require_library().help(n_pauses)
    _called.discard(which)


def _forget() -> None:
    """Forget helpers and shared jobs: in a forked process the threads do not exist."""
    _called.clear()
    library = load()[0] if load.cache_info().currsize else None  # not loaded for this alone
    if library is not None:
        library.forget_shared()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def count_parts(rows: Rows, n_threads: int) -> int:
    """In how many parts such rows are summed, on at most so many threads; 1 if they are not a short batch.

    There are no more parts than cores: who waits for a part without sleeping would keep others from doing it.
    """
    n_values = rows.n_rows * rows.n_classes
    if n_threads == 1 or n_values not in SHORT_BATCH:
        return 1
    return min(n_threads, available_cores(), 1 + MAX_SHARED, 2 * n_values // SHORT_BATCH.start)


def add_shared(passes: Sequence[Pass], rows: Rows, *, stay_awake: bool) -> list[Span]:
    """Add a part of the rows to each pass; of each part the rows that are not added: none, or all from a bad one on.

    Helpers stay awake for the next batch or not. If a label is refused, no rows are added.
    """
    awake = call_helpers(len(passes) - 1, stay_awake=stay_awake)
    parts = one_block_each(rows, len(passes), 0 if awake else WAKING_VALUES)
    job, _memory = passes[0].prepare(rows)
    others = [one.prepare_part(job, *part) for one, part in zip(passes[1:], parts[1:], strict=False)]
    job.n_rows = parts[0][1]
    first_bad = require_library().sum_shared([job, *others])
    return [
        (stop if bad < 0 else start + bad, stop) for (start, stop), bad in zip(parts, first_bad, strict=True)
    ]
