"""Required, aimed-at and observed ratios, within one run on the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import contenders as who
import numpy as np
from contenders import Predictions, first, prepared, rows_of, with_best_torch
from measuring import (
    Timing,
    available_memory,
    figure,
    markdown,
    resident_growth,
    take_turns,
    thousands,
    traced_growth,
)

FORMULA_GB = 8.0
"""Free memory needed to run the formula on 10⁷ rows of ten classes; with less, it runs on a fifth of them only."""

BY_CLASSES = (
    # rows, classes, dtype, at least, aim
    (2_000_000, 3, "float64", 20.0, 35.0),
    (300_000, 32, "float64", 20.0, 50.0),
    (200_000, 100, "float64", 15.0, 40.0),
    (50_000, 1000, "float32", 9.0, 50.0),
)


@dataclass(frozen=True, slots=True)
class Target:
    """One line of the table of targets."""

    work: str
    needed: float
    aim: float | None
    seen: float
    at_most: bool = False
    unit: str = "×"

    @property
    def reached(self) -> bool:
        """Whether the required value was reached."""
        return self.seen <= self.needed if self.at_most else self.seen >= self.needed

    def cells(self) -> tuple[str, ...]:
        """The line of a table."""
        sign = "≤ " if self.at_most else ""
        aim = "" if self.aim is None else f"{sign}{self.aim:g} {self.unit}"
        verdict = "yes" if self.reached else "**no**"
        return (
            self.work,
            f"{sign}{self.needed:g} {self.unit}",
            aim,
            f"{figure(self.seen)} {self.unit}",
            verdict,
        )


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
    for compiling in prepared(first(data, 10_000), names).values():
        compiling()
    work = prepared(data, names)
    if available_memory() < FORMULA_GB * data.y_prob.size / 1e8:
        del work[who.FORMULA]
    memory = {name: resident_growth(one) for name, one in work.items()}
    times = with_best_torch(take_turns(work, seconds, warm=True))
    times[who.FIFTH] = Timing(*(5 * time for time in times[who.FIFTH]))
    return Comparison(len(data.y_true), times, memory)


def targets(everyone: Comparison, data: Predictions, seconds: float, scale: int) -> list[Target]:
    """All targets; sizes are divided by `scale`."""
    return [*_large(everyone), *_by_classes(seconds, scale), _decimals(seconds, scale), *_memory(data)]


def _large(seen: Comparison) -> Iterator[Target]:
    size = f"N = {thousands(seen.n_rows)}, C = 10"
    for formula in (name for name in (who.FORMULA, who.FIFTH) if name in seen.times):
        yield Target(f"`tabulate`, {size}, against the {formula}", 40, 60, seen.ratio(formula, who.FUSED_TWO))
    if who.TORCH in seen.times:
        yield Target(f"the same against {who.TORCH}", 3.5, 5, seen.ratio(who.TORCH, who.FUSED_TWO))
        yield Target(f"VCE + UCE + ECE + RCE against {who.TORCH}", 2.5, 4, seen.ratio(who.TORCH, who.FOUR))
    yield Target(
        f"`EqualMass(10)` against `EqualWidth(10)`, {size}",
        3,
        2,
        seen.ratio(who.EQUAL_MASS, who.FUSED_TWO),
        at_most=True,
    )
    yield Target(f"two threads against one, {size}", 1.8, 1.95, seen.ratio(who.FUSED_ONE, who.FUSED_TWO))


def _by_classes(seconds: float, scale: int) -> Iterator[Target]:
    for n_rows, n_classes, dtype, needed, aim in BY_CLASSES:
        data = rows_of(n_rows // scale, n_classes, dtype)
        times = take_turns(prepared(data, (who.FUSED_TWO, who.FORMULA)), seconds)
        seen = times[who.FORMULA].best / times[who.FUSED_TWO].best
        size = f"N = {thousands(len(data.y_true))}, C = {n_classes}, {dtype}"
        yield Target(f"`tabulate`, {size}, against the formula", needed, aim, seen)


def _decimals(seconds: float, scale: int) -> Target:
    """Rows rounded to five decimals, a quarter of which do not sum to 1, against the unrounded rows."""
    given = rows_of(200_000 // scale, 3)
    rounded = Predictions(given.y_true, np.round(given.y_prob, 5))
    work = {
        name: prepared(data, (who.FUSED_ONE,))[who.FUSED_ONE]
        for name, data in (("given", given), ("rounded", rounded))
    }
    times = take_turns(work, seconds)
    seen = times["rounded"].best / times["given"].best
    size = f"N = {thousands(len(given.y_true))}, C = 3"
    return Target(f"five decimals against float64, {size}", 1.5, 1.1, seen, at_most=True)


def _memory(data: Predictions) -> Iterator[Target]:
    n_rows = len(data.y_true)
    for rows in (n_rows // 10, n_rows):
        work = prepared(first(data, rows), (who.FUSED_TWO,))[who.FUSED_TWO]
        for how, growth in (("tracemalloc", traced_growth), ("resident", resident_growth)):
            text = f"memory beyond the input, N = {thousands(rows)} ({how})"
            yield Target(text, 64, None, growth(work), at_most=True, unit="MB")


def targets_markdown(lines: list[Target]) -> str:
    """The table of all targets."""
    return markdown(("work", "needed", "aim", "seen", "reached"), (line.cells() for line in lines))
