"""The choice of the engine.

Both give the same counts, ordered sums and rank counts, bit for bit. The fused one needs numba (extra `fast`), supports
the measures that are compiled, and unweighted rows. Loading and compiling it takes about a second in a new process (the
compiled code is cached on disk) and several seconds the first time. So by default:

| in this process | the fused engine is used from |
|---|---|
| numba was not loaded yet | 1 s of portable work on |
| it was, but not for this number of classes and dtype | 0.4 s on |
| it was, for such rows | 10 ms on |
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec

from trueness._arguments import require_choice, whole_number
from trueness.refusals import InvalidValueError
from trueness.rows import Rows
from trueness.variation import Variation, variations

ENGINES = ("auto", "portable", "fused")

COLD_SECONDS, WARM_SECONDS, READY_SECONDS = 1.0, 0.4, 0.01


def is_fused(engine: str, rows: Rows, measures: Sequence[Variation]) -> bool:
    """Whether to use the fused engine; a refusal if `engine` is "fused" and it cannot be used."""
    require_choice("engine", engine, ENGINES)
    if engine == "portable" or (engine == "auto" and not _is_worthwhile(rows)):
        return False
    obstacle = _reason_unavailable(rows, measures)
    if engine == "fused" and obstacle is not None:
        raise InvalidValueError(
            "unsupported-engine",
            "engine='fused' {obstacle}",
            "use engine='portable'",
            argument="engine",
            obstacle=obstacle,
        )
    return obstacle is None


def compiles(measures: Iterable[Variation]) -> bool:
    """Whether the fused engine is installed and supports the measures."""
    return all(measure.kernel for measure in measures) and find_spec("numba") is not None


def thread_count(n_threads: int | None, fused: bool) -> int:
    """The number of threads: `n_threads`, or by default all cores for the fused engine and one for the portable one.

    The portable engine's steps are short and wait for the interpreter's lock.
    """
    if n_threads is not None:
        return whole_number("n_threads", n_threads, 1)
    if not fused:
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _reason_unavailable(rows: Rows, measures: Sequence[Variation]) -> str | None:
    """Why the fused engine cannot be used; None if it can."""
    if rows.sample_weight is not None:
        return "does not support sample_weight"
    unknown = [measure.name for measure in measures if not measure.kernel]
    if unknown:
        compiled = ", ".join(name for name, measure in variations.items() if measure.kernel)
        return f"does not support the measure {unknown[0]!r}, only {compiled}"
    if find_spec("numba") is None:
        return "needs numba, which is not installed (pip install 'trueness[fast]')"
    return None


def _is_worthwhile(rows: Rows) -> bool:
    seconds = rows.n_rows * (30 + 15 * rows.n_classes) * 1e-9  # what the portable engine would take, roughly
    fused = sys.modules.get("trueness.tabulation.fused")
    if fused is None:
        return seconds > COLD_SECONDS
    return seconds > (READY_SECONDS if fused.is_ready(rows) else WARM_SECONDS)
