"""Where the fused kernel's time goes: the kernel with one stage made trivial, against the whole.

Run by `fused.py` in a process of its own, because it changes the engine: a method of the kernel's generator is replaced
by one that emits almost no code, and the kernel is compiled again. The time saved is the cost of the stage. The savings
do not add up to the whole: stages overlap in the processor, and the rest waits for memory.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import contenders as who
from contenders import prepared, rows_of
from llvmlite import ir
from measuring import Work, figure, markdown, take_turns
from numba.core.dispatcher import Dispatcher

import trueness as tn
from trueness.rows import Rows
from trueness.tabulation import fused
from trueness.tabulation.fused._groups import Group, group_kernel
from trueness.tabulation.fused._lanes import WIDTH, Lanes
from trueness.tabulation.passes import sum_rows

WHOLE = "(nothing: the whole kernel)"


class Trivial(NamedTuple):
    """The replacement of a method."""

    owner: type
    name: str
    by: Callable[..., Any]


@contextmanager
def _replaced(owner: type, name: str, by: Callable[..., Any]) -> Iterator[None]:
    original = getattr(owner, name)
    setattr(owner, name, by)
    try:
        yield
    finally:
        setattr(owner, name, original)


def _rows_as_columns(group: Any, rows: Any, _: Any) -> list[Any]:
    """The same loads, without the transposition."""
    n, item = group.shape.n_classes, group.item
    offsets = [min(c * WIDTH, n * WIDTH - WIDTH) * item for c in range(n)]
    kind = ir.VectorType(group.kind, WIDTH)
    return [group.wide(group.lanes.load(rows, offset, kind, item)) for offset in offsets]


def _straight_line(lanes: Any, value: Any) -> Any:
    """4p - 4 instead of the logarithm, so that values still spread over the bins."""
    return lanes.multiply_add(value, lanes.floats(4.0), lanes.floats(-4.0))


def _never(*_: Any) -> Any:
    """A mask that accepts every row."""
    return ir.Constant(ir.VectorType(ir.IntType(1), WIDTH), [0] * WIDTH)


def _own_bin(group: Any, *_: Any) -> Any:
    """A different bin for each lane."""
    return group.lanes.ints(*range(WIDTH))


def _columns_as_rows(group: Any) -> list[list[Any]]:
    """The same words, without the transposition."""
    words = [group.lanes.bits(column) for column in (*group.q, *group.values)]
    words += [group.lanes.ints(0)] * (group.shape.row - len(words))
    parts = group.shape.row // WIDTH
    return [[words[r + WIDTH * part] for part in range(parts)] for r in range(WIDTH)]


def _stored_once(group: Any, rows: list[list[Any]], _: Any, acc: Any, *__: Any) -> None:
    """All words combined in one store, so that the compiler cannot remove any of them."""
    first, *others = (vector for row in rows for vector in row)
    for vector in others:
        first = group.builder.xor(first, vector)
    group.lanes.store(first, acc, 0)


_NO_CHECKS = Trivial(Group, "improper", _never)

STAGES = {
    WHOLE: (),
    "checking that rows are distributions": (_NO_CHECKS,),
    "transposing rows into columns (and the checks)": (
        _NO_CHECKS,
        Trivial(Group, "columns", _rows_as_columns),
    ),
    "sorting network": (Trivial(Group, "ordered", lambda _, columns: list(columns)),),
    "logarithms": (Trivial(Lanes, "log2", _straight_line),),
    "finding the bin": (Trivial(Group, "bin", _own_bin),),
    "transposing columns back into rows": (Trivial(Group, "row_vectors", _columns_as_rows),),
    "adding rows to their bins": (Trivial(Group, "add", _stored_once),),
}


def _variant(rows: Rows, spec: tn.TableSpec, trivial: tuple[Trivial, ...]) -> Work:
    """The pass over the rows on one thread, with a kernel of its own."""
    kernels: list[Any] = []

    def chosen(*shape: Any) -> Any:
        if not kernels:
            kernels.append(group_kernel.__wrapped__(*shape))
        return kernels[0]

    def work() -> object:
        fused.group_kernel = chosen  # type: ignore[attr-defined, assignment]
        return sum_rows(fused, rows, [spec], fused.spans(rows))

    with ExitStack() as replacements:
        for one in trivial:
            replacements.enter_context(_replaced(*one))
        work()  # compiles
    return work


def main(n_rows: int, seconds: float) -> None:
    """Print the table."""
    # The cache on disk goes by the source, which a replaced method does not change.
    Dispatcher.enable_caching = lambda _: None  # type: ignore[method-assign, assignment]
    data = rows_of(n_rows, 10)
    rows, measure = Rows.of(*data), tn.variations["entropy"]
    spec = tn.TableSpec(10, measure, tn.EqualWidth(10).resolve(0.0, 1.0), "first", weighted=False)
    work = {name: _variant(rows, spec, trivial) for name, trivial in STAGES.items()}
    times = take_turns(work | prepared(data, (who.PASS,)), seconds)
    per_row = {name: time.best / n_rows * 1e9 for name, time in times.items()}
    whole = per_row[WHOLE]
    lines = [
        (name, figure(ns), "" if name in (WHOLE, who.PASS) else figure(whole - ns), f"{ns / whole:.0%}")
        for name, ns in per_row.items()
    ]
    print(markdown(("made trivial", "ns a row that remain", "saved", "of the whole"), lines))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
