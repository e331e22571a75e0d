"""Required, aimed-at and observed ratios, within one run on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import contenders as who
import numpy as np
import starting
from contenders import Predictions, first, prepared, rows_of, with_best_torch
from measuring import (
    Timing,
    Work,
    available_memory,
    figure,
    markdown,
    resident_growth,
    take_turns,
    thousands,
    traced_growth,
)
from portable import best_of_turns, whole_array_formula
from required import Target

import trueness as tn
from trueness.tabulation.compiled.library import require_library

FORMULA_GB = 8.0
"""Free memory needed to run the formula on 10⁷ rows of ten classes; with less, it runs on a fifth of them only."""

FORMULA_COPIES = 7
"""The peak memory of the formula, as a multiple of that of the rows; with less free memory a line is left out."""

BY_CLASSES = (
    # rows, classes, dtype, at least, aim
    (2_000_000, 2, "float64", 25.0, 35.0),
    (2_000_000, 3, "float64", 25.0, 35.0),
    (2_000_000, 10, "float64", 42.0, 60.0),
    (300_000, 32, "float64", 30.0, 50.0),
    (2_000_000, 32, "float64", 30.0, 50.0),
    (200_000, 100, "float64", 30.0, 45.0),
    (2_000_000, 100, "float64", 30.0, 45.0),
    (50_000, 1000, "float32", 65.0, 110.0),
)
"""Two sizes for rows of many classes: on fewer rows the formula needs less memory, and less time per row."""

FIRST_CALL_ROWS = 5_000_000
TORCH_ROWS = 1_000_000
LEVEL_ROWS = 2_000_000


@dataclass(frozen=True, slots=True)
class Comparison:
    """All contenders on the same rows: seconds, and added memory in MB.

    The time of the formula on a fifth of the rows is scaled to all of them.
    """

    n_rows: int
    times: Mapping[str, Timing]
    memory: Mapping[str, float]

    def per_row(self, name: str) -> float:
        """Nanoseconds per row."""
        return self.times[name].best / self.n_rows * 1e9

    def ratio(self, slower: str, faster: str) -> float:
        """The time of the first relative to the second."""
        return self.per_row(slower) / self.per_row(faster)

    def markdown(self) -> str:
        """The table, the fastest first."""
        results = {contender.name: contender.result for contender in who.EVERYONE}
        lines = [
            (
                name,
                results[name],
                figure(self.per_row(name)),
                figure(self.times[name].median / self.times[name].best),
                figure(self.ratio(name, who.PASS)),
                figure(self.memory[name]),
            )
            for name in sorted(self.memory, key=self.per_row)
        ]
        return markdown(
            ("contender", "result", "ns a row", "median / best", "memory passes", "memory added, MB"), lines
        )


def compare_everyone(data: Predictions, seconds: float) -> Comparison:
    """All contenders on these rows."""
    names = tuple(contender.name for contender in who.EVERYONE)
    for loading in prepared(first(data, 10_000), names).values():
        loading()
    work = prepared(data, names)
    if available_memory() < FORMULA_GB * data.y_prob.size / 1e8:
        del work[who.FORMULA]
    memory = {name: resident_growth(one) for name, one in work.items()}
    times = with_best_torch(take_turns(work, seconds, warm=True))
    times[who.FIFTH] = Timing(*(5 * time for time in times[who.FIFTH]))
    return Comparison(len(data.y_true), times, memory)


def targets(everyone: Comparison, data: Predictions, seconds: float, scale: int) -> list[Target]:
    """All targets; sizes are divided by `scale`."""
    return [
        _first_call(data, scale),
        *_small(seconds),
        *_by_classes(seconds, scale),
        *_against_torch(data, seconds, scale),
        *_levels(data, seconds, scale),
        *_large(everyone),
        _decimals(seconds, scale),
        *_memory(data),
    ]


def _first_call(data: Predictions, scale: int) -> Target:
    rows = first(data, FIRST_CALL_ROWS // scale)
    seen = starting.first_call(rows, 2 if scale > 1 else 5)
    size = f"N = {thousands(len(rows.y_true))}, C = 10"
    text = f"first call in a fresh process, {size}, beyond the second one ({seen.second * 1e3:.1f} ms)"
    return Target(text, seen.first - seen.second, 0.15, 0.03, at_most=True, unit="s")


def _small(seconds: float) -> Iterator[Target]:
    """`vce` on few rows: in turns of single calls, and in turns of repeated calls, which leaves the caches warm.

    No garbage is collected between single calls: the collector looks at all objects of all libraries, and loading again
    what that drives out of the caches takes longer than a call on few rows.
    """
    data = rows_of(1000, 10)
    work: dict[str, Work] = {"ours": lambda: tn.vce(*data), "formula": lambda: whole_array_formula(*data)}
    turns = 300 if seconds >= 1 else 30
    single = best_of_turns(list(work.values()), turns, collect=False)
    repeated = [timing.best for timing in take_turns(work, seconds, turn_seconds=0.1).values()]
    for (ours, formula), how in ((single, "single calls"), (repeated, "repeated calls")):
        text = f"`vce`, N = 1 000, C = 10, against the formula, {how} in turns"
        yield Target(text, ours / formula, 0.7, 0.45, at_most=True)


def _by_classes(seconds: float, scale: int) -> Iterator[Target]:
    for n_rows, n_classes, dtype, needed, aim in BY_CLASSES:
        if (
            available_memory()
            < FORMULA_COPIES * np.dtype(dtype).itemsize * n_classes * n_rows / scale / 2**30
        ):
            continue
        data = rows_of(n_rows // scale, n_classes, dtype)
        times = take_turns(prepared(data, (who.VCE, who.COMPILED_TWO, who.FORMULA)), seconds)
        size = f"N = {thousands(len(data.y_true))}, C = {n_classes}, {dtype}"
        vce, table = (times[who.FORMULA].best / times[name].best for name in (who.VCE, who.COMPILED_TWO))
        yield Target(f"`vce`, {size}, against the formula", vce, needed, aim)
        yield Target(f"`tabulate`, {size}, against the formula", table)


def _against_torch(data: Predictions, seconds: float, scale: int) -> Iterator[Target]:
    some = first(data, TORCH_ROWS // scale)
    names = (who.ECE, who.COMPILED_TWO, who.TORCH_TWO, who.TORCH_ONE)
    times = with_best_torch(take_turns(prepared(some, names), seconds))
    if who.TORCH in times:
        of = f"N = {thousands(len(some.y_true))}, C = 10, against {who.TORCH}"
        yield Target(f"`ece`, {of}", times[who.TORCH].best / times[who.ECE].best, 5, 8)
        yield Target(f"`tabulate`, {of}", times[who.TORCH].best / times[who.COMPILED_TWO].best)


def _levels(data: Predictions, seconds: float, scale: int) -> Iterator[Target]:
    """Lower instruction sets against the best one of this processor; only x86-64 has several."""
    library = require_library()
    some, best = first(data, LEVEL_ROWS // scale), library.use_level()
    ours = prepared(some, (who.COMPILED_TWO,))[who.COMPILED_TWO]

    def at_level(level: int) -> Work:
        def work() -> object:
            library.use_level(level)
            return ours()

        return work

    try:
        times = take_turns({level: at_level(level) for level in range(best, 1, -1)}, seconds)
    finally:
        library.use_level()
    for level in (lower for lower in times if lower != best):
        text = f"x86-64-v{level} against x86-64-v{best}, N = {thousands(len(some.y_true))}, C = 10"
        needed, aim = (1.8, 1.5) if (level, best) == (3, 4) else (None, None)
        yield Target(text, times[level].best / times[best].best, needed, aim, at_most=True)


def _large(seen: Comparison) -> Iterator[Target]:
    size = f"N = {thousands(seen.n_rows)}, C = 10"
    for formula in (name for name in (who.FORMULA, who.FIFTH) if name in seen.times):
        yield Target(f"`vce`, {size}, against the {formula}", seen.ratio(formula, who.VCE), 40, 60)
        yield Target(f"`tabulate`, {size}, against the {formula}", seen.ratio(formula, who.COMPILED_TWO))
    if who.TORCH in seen.times:
        yield Target(f"`tabulate` against {who.TORCH}", seen.ratio(who.TORCH, who.COMPILED_TWO), 3.5, 5)
        text = f"VCE + UCE + ECE + RCE against {who.TORCH}"
        yield Target(text, seen.ratio(who.TORCH, who.FOUR), 2.5, 4)
    text = f"`EqualMass(10)` against `EqualWidth(10)`, {size}"
    yield Target(text, seen.ratio(who.EQUAL_MASS, who.COMPILED_TWO), 3, 2, at_most=True)
    text = f"two threads against one, {size}"
    yield Target(text, seen.ratio(who.COMPILED_ONE, who.COMPILED_TWO), 1.8, 1.95)


def _decimals(seconds: float, scale: int) -> Target:
    """Rows rounded to five decimals, a quarter of which do not sum to 1, against the unrounded rows."""
    given = rows_of(200_000 // scale, 3)
    rounded = Predictions(given.y_true, np.round(given.y_prob, 5))
    work = {
        name: prepared(data, (who.COMPILED_ONE,))[who.COMPILED_ONE]
        for name, data in (("given", given), ("rounded", rounded))
    }
    times = take_turns(work, seconds)
    seen = times["rounded"].best / times["given"].best
    size = f"N = {thousands(len(given.y_true))}, C = 3"
    return Target(f"five decimals against float64, {size}", seen, 1.5, 1.1, at_most=True)


def _memory(data: Predictions) -> Iterator[Target]:
    n_rows = len(data.y_true)
    for rows in (n_rows // 10, n_rows):
        work = prepared(first(data, rows), (who.COMPILED_TWO,))[who.COMPILED_TWO]
        for how, growth in (("tracemalloc", traced_growth), ("resident", resident_growth)):
            text = f"memory beyond the input, N = {thousands(rows)} ({how})"
            yield Target(text, growth(work), 64, at_most=True, unit="MB")
