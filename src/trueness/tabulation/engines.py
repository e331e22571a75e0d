"""The choice of the engine: the compiled one if it can be used, else the portable one.

Both give the same table, to the last bit. The compiled engine supports the measures that have a kernel, and unweighted
rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from trueness._arguments import require_choice, whole_number
from trueness._threads import available_cores
from trueness.old_table import TOP_LABEL, EventSpec
from trueness.refusals import InvalidValueError
from trueness.tabulation import compiled, portable
from trueness.tabulation.compiled.library import load
from trueness.variation import Variation, variations

ENGINES = ("auto", "portable", "compiled")


def choose_engine(
    engine: str,
    measures: Sequence[Variation],
    events: Sequence[EventSpec] = (),
    *,
    weighted: bool,
    soft: bool = False,
) -> ModuleType:
    """The module of the engine for such rows; a refusal if `engine` is "compiled" and it cannot be used."""
    require_choice("engine", engine, ENGINES)
    if engine == "portable":
        return portable
    reason = "does not support soft labels" if soft else None
    obstacle = reason or _obstacle(measures, events, weighted)
    if obstacle is None:
        return compiled
    if engine == "compiled":
        cause = f"`engine='compiled'` {obstacle}"
        remedy = "use `engine='portable'`"
        raise InvalidValueError("unsupported-engine", cause, remedy, argument="engine")
    return portable


def engine_name(engine: str, measures: Sequence[Variation]) -> str:
    """The engine that is chosen for unweighted rows and these measures, "portable" or "compiled"."""
    return "portable" if choose_engine(engine, measures, weighted=False) is portable else "compiled"


def thread_count(n_threads: int | None, engine: ModuleType) -> int:
    """The number of threads: `n_threads`, or by default all cores for the compiled engine and one for the portable one.

    The portable engine's steps are short and wait for the interpreter's lock.
    """
    if n_threads is not None:
        return whole_number("n_threads", n_threads, 1)
    return available_cores() if engine is compiled else 1


def _obstacle(measures: Sequence[Variation], events: Sequence[EventSpec], weighted: bool) -> str | None:
    """Why the compiled engine cannot be used; None if it can."""
    if weighted:
        return "does not support sample_weight"
    if any(TOP_LABEL in spec.events and spec.ties == "split" for spec in events):
        return "does not support the top label with ties='split'"
    unknown = [measure.name for measure in measures if not measure.kernel]
    if unknown:
        supported = ", ".join(name for name, measure in variations.items() if measure.kernel)
        return f"does not support the measure {unknown[0]!r}, only {supported}"
    library, reason = load()
    return None if library is not None else reason
