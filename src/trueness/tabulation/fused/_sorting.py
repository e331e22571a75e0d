"""Lines of memory sorted lane by lane: eight rows of any number of classes, downwards.

Batcher's bitonic merge sort (Knuth, The Art of Computer Programming 3, 5.3.4), on whole vectors: sixteen lines at a
time are sorted in registers, then runs are merged, twice as long each time. A merge compares line i of both runs with
line i from their end, and then lines ever nearer to each other; several of these levels are done at once on lines in
registers, so that memory is walked over two or three times in a merge and not once for each level.

Probabilities are compared as whole numbers, in the order of which numbers that are not negative lie too. Others do not;
their rows are refused, and what they leave behind in the lines is the caller's to clear.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from trueness.ranking import comparators
from trueness.tabulation.fused._jit import jit
from trueness.tabulation.fused._lanes import DOUBLE, INT64, SINGLE, WIDTH, Lanes

Pairs = list[tuple[int, int]]

BLOCK = 16
"""Lines that are sorted in registers."""


def _nearing(pairs: Pairs, n: int, apart: int) -> Pairs:
    """The pairs, and then all lines of n that are so far apart, half as far, and so on."""
    while apart:
        pairs = pairs + [(i, i + apart) for i in range(n) if not i & apart]
        apart //= 2
    return pairs


def _exchanged(context: Any, builder: Any, lines: Any, of_type: Any, places: list[Any], pairs: Any) -> None:
    """Load the lines at those places, let each pair have its larger numbers first, and store them again."""
    lanes, item = Lanes(builder), of_type.dtype.bitwidth // 8
    floats = ir.VectorType(SINGLE if item == 4 else DOUBLE, WIDTH)
    bits = ir.VectorType(ir.IntType(8 * item), WIDTH)
    memory = builder.ptrtoint(context.make_array(of_type)(context, builder, lines).data, INT64)
    addresses = [
        builder.add(memory, builder.mul(place, ir.Constant(INT64, WIDTH * item))) for place in places
    ]
    values = [builder.bitcast(lanes.load(address, 0, floats, 8), bits) for address in addresses]
    for i, j in pairs:
        a, b = values[i], values[j]
        values[i] = builder.select(builder.icmp_signed(">", a, b), a, b)
        values[j] = builder.select(builder.icmp_signed("<", a, b), a, b)
    for value, address in zip(values, addresses, strict=True):
        lanes.store(builder.bitcast(value, floats), address, 0)


@intrinsic
def _sort_block(_, lines, first):
    """Sort sixteen lines that lie together."""

    def emit(context, builder, signature, args):
        places = [builder.add(args[1], ir.Constant(INT64, k)) for k in range(BLOCK)]
        _exchanged(context, builder, args[0], lines, places, comparators(BLOCK))
        return context.get_dummy_value()

    return types.void(lines, types.int64), emit


@intrinsic(prefer_literal=True)
def _mirror(_, lines, low, high, apart, levels):
    """The first levels of a merge, on 2ˡ lines: half of them from `low` upwards, half from `high` downwards."""
    n = 1 << levels.literal_value
    pairs = _nearing([(i, n - 1 - i) for i in range(n // 2)], n, n // 4)

    def emit(context, builder, signature, args):
        _, low, high, apart, _ = args
        steps = [builder.mul(apart, ir.Constant(INT64, k)) for k in range(n // 2)]
        places = [builder.add(low, step) for step in steps]
        places += [builder.sub(high, step) for step in reversed(steps)]
        _exchanged(context, builder, args[0], lines, places, pairs)
        return context.get_dummy_value()

    return types.void(lines, *[types.int64] * 3, levels), emit


@intrinsic(prefer_literal=True)
def _near(_, lines, first, apart, levels):
    """Further levels of a merge, on 2ˡ lines."""
    n = 1 << levels.literal_value

    def emit(context, builder, signature, args):
        _, first, apart, _ = args
        places = [builder.add(first, builder.mul(apart, ir.Constant(INT64, k))) for k in range(n)]
        _exchanged(context, builder, args[0], lines, places, _nearing([], n, n // 2))
        return context.get_dummy_value()

    return types.void(lines, types.int64, types.int64, levels), emit


@jit
def sort_lines(lines, n_lines):
    """Sort the first lines, of which there are a multiple of sixteen; those after them, up to a power of two, are zero.

    All exchanges put larger numbers first, so that nothing would change where the second line is beyond the last.
    """
    for first in range(0, n_lines, 16):
        _sort_block(lines, first)
    run = 16
    while run < n_lines:
        for first in range(0, n_lines - run, 2 * run):
            _merge(lines, first, run, n_lines)
        run *= 2


@jit
def _merge(lines, first, run, n_lines):
    """Merge two sorted runs that lie together, the second of which may be cut short."""
    last, end = first + 2 * run - 1, min(first + 2 * run, n_lines)
    # Which levels are done together: such that 8 or 16 lines remain, for the last levels of all.
    size = 8 if run == 16 else 16 if run == 128 else run // 4
    for i in range(max(0, first + run + size - n_lines), size):
        if run == 16:
            _mirror(lines, first + i, last - i, size, 2)
        elif run == 128:
            _mirror(lines, first + i, last - i, size, 4)
        else:
            _mirror(lines, first + i, last - i, size, 3)
    while size > 16:
        apart = 8 if size == 32 else size // 8
        for part in range(first, end, size):
            for i in range(part, min(part + apart, end - apart)):
                if size == 32:
                    _near(lines, i, apart, 2)
                else:
                    _near(lines, i, apart, 3)
        size = apart
    for part in range(first, end, size):
        if size == 8:
            _near(lines, part, 1, 3)
        else:
            _near(lines, part, 1, 4)
