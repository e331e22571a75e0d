"""Arithmetic on eight numbers side by side, emitted as LLVM vector code.

Numba compiles loops; what it does not do any more is vectorise a logarithm, and what it never did is keep eight rows in
registers through sorting, logarithms and sums. Vectors of eight float64 are one register with AVX-512; on other
processors LLVM splits them by itself, so nothing here asks which processor it runs on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from llvmlite import ir

WIDTH = 8

DOUBLE, SINGLE, INT64, INT32, BYTE = (
    ir.DoubleType(),
    ir.FloatType(),
    ir.IntType(64),
    ir.IntType(32),
    ir.IntType(8),
)
FLOATS, INTS = ir.VectorType(DOUBLE, WIDTH), ir.VectorType(INT64, WIDTH)

LOG2_TERMS = tuple(
    term / math.log(2)
    for term in (
        0.19608095639753054,
        0.2217424991007749,
        0.28572166145875727,
        0.3999999489183238,
        0.6666666667957926,
        1.9999999999999472,
    )
)
"""2·atanh(s)/s as a polynomial in s², highest term first, over ln 2.

A Chebyshev fit on s² ≤ 0.0295, off by 6e-14; s is at most 0.172, so that a logarithm is off by less than 1e-14. One
more term would reach 4e-16, which no sum here can tell apart, for one more multiplication per probability.
"""

_SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
_ROUNDER, _ROUNDER_BITS = 6755399441055744.0, 0x4338000000000000
"""1.5·2⁵²: added to a small number it leaves that number, rounded, in the lowest bits."""


class Lanes:
    """Emits vector instructions through an llvmlite builder."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    # Constants, memory, lanes

    def floats(self, value: float) -> Any:
        """The same float64 in all lanes."""
        return ir.Constant(FLOATS, [value] * WIDTH)

    def ints(self, *values: int) -> Any:
        """One int64 in all lanes, or eight of them."""
        return ir.Constant(INTS, list(values) * (WIDTH // len(values)))

    def spread(self, scalar: Any, kind: Any) -> Any:
        """A run-time scalar in all lanes."""
        nothing = ir.Constant(kind, ir.Undefined)
        first = self.builder.insert_element(nothing, scalar, ir.Constant(INT32, 0))
        return self.builder.shuffle_vector(
            first, nothing, ir.Constant(ir.VectorType(INT32, WIDTH), [0] * WIDTH)
        )

    def gathered(self, scalars: Sequence[Any], kind: Any = FLOATS) -> Any:
        """Eight scalars side by side."""
        vector = ir.Constant(kind, ir.Undefined)
        for lane, scalar in enumerate(scalars):
            vector = self.builder.insert_element(vector, scalar, ir.Constant(INT32, lane))
        return vector

    def load(self, address: Any, offset: int, kind: Any, align: int = 8) -> Any:
        """A value of that type from an address plus so many bytes."""
        place = self.builder.add(address, ir.Constant(INT64, offset))
        value = self.builder.load(self.builder.inttoptr(place, kind.as_pointer()))
        value.align = align
        return value

    def store(self, value: Any, address: Any, offset: int) -> None:
        """A value to an address plus so many bytes."""
        place = self.builder.add(address, ir.Constant(INT64, offset))
        self.builder.store(value, self.builder.inttoptr(place, value.type.as_pointer())).align = 8

    def fetch(self, address: Any, offset: int) -> None:
        """Let memory come nearer that will be read soon, if it is there."""
        place = self.builder.inttoptr(
            self.builder.add(address, ir.Constant(INT64, offset)), BYTE.as_pointer()
        )
        kind = ir.FunctionType(ir.VoidType(), [BYTE.as_pointer(), INT32, INT32, INT32])
        prefetch = self.builder.module.declare_intrinsic("llvm.prefetch", [BYTE.as_pointer()], kind)
        reading, keep, data = (ir.Constant(INT32, value) for value in (0, 3, 1))
        self.builder.call(prefetch, [place, reading, keep, data])

    def add_at(self, value: Any, address: Any, offset: int) -> None:
        """memory += value."""
        self.store(self.builder.add(self.load(address, offset, value.type), value), address, offset)

    def shuffled(self, a: Any, b: Any, lanes: Sequence[int]) -> Any:
        """Lanes of a (0 to 7) and b (8 to 15) in a new order."""
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT32, WIDTH), list(lanes)))

    def transposed(self, rows: Sequence[Any]) -> list[Any]:
        """Eight vectors as the rows of a square, its columns back: three rounds of exchanging halves."""
        lines = list(rows)
        for step in (1, 2, 4):
            stay = [lane if not lane & step else WIDTH + lane - step for lane in range(WIDTH)]
            move = [lane + step if not lane & step else WIDTH + lane for lane in range(WIDTH)]
            for upper in (line for line in range(WIDTH) if not line & step):
                a, b = lines[upper], lines[upper + step]
                lines[upper], lines[upper + step] = self.shuffled(a, b, stay), self.shuffled(a, b, move)
        return lines

    # Arithmetic

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        """a·b + c, in one rounding where the processor can."""
        module, name = self.builder.module, "llvm.fmuladd.v8f64"
        function = module.globals.get(name)
        if function is None:
            function = ir.Function(module, ir.FunctionType(FLOATS, [FLOATS] * 3), name)
        return self.builder.call(function, [a, b, c])

    def larger(self, a: Any, b: Any) -> Any:
        """max(a, b); b if one of them is NaN."""
        return self.builder.select(self.builder.fcmp_ordered(">", a, b), a, b)

    def smaller(self, a: Any, b: Any) -> Any:
        """min(a, b); b if one of them is NaN."""
        return self.builder.select(self.builder.fcmp_ordered("<", a, b), a, b)

    def counted(self, count: Any, where: Any) -> Any:
        """count + 1 in the lanes where that holds."""
        one = ir.Constant(count.type, [1] * WIDTH)
        return self.builder.select(where, self.builder.add(count, one), count)

    def sum(self, vectors: Sequence[Any]) -> Any:
        """A sum by pairs: half the depth of adding one after the other, and the processor waits less."""
        level = list(vectors)
        while len(level) > 1:
            pairs = [self.builder.fadd(a, b) for a, b in zip(level[::2], level[1::2], strict=False)]
            level = pairs + level[len(level) & ~1 :]
        return level[0]

    def bits(self, value: Any) -> Any:
        """The bits of float64 lanes."""
        return self.builder.bitcast(value, INTS)

    def rounded(self, value: Any, scale: float) -> Any:
        """round(value·scale) as int64, for products below 2⁵¹."""
        shifted = self.multiply_add(value, self.floats(scale), self.floats(_ROUNDER))
        return self.builder.sub(self.bits(shifted), self.ints(_ROUNDER_BITS))

    def log2(self, value: Any) -> Any:
        """log₂ of positive numbers, to 2e-14; something finite for 0, and nonsense for subnormal numbers.

        value = 2ᵉ·m with m in [√½, √2), by integer arithmetic on the bits; log₂ m = s·P(s²), s = (m - 1)/(m + 1).
        """
        b = self.builder
        bits = self.bits(value)
        exponent = b.ashr(b.sub(bits, self.ints(_SQRT_HALF_BITS)), self.ints(52))
        m = b.bitcast(b.sub(bits, b.shl(exponent, self.ints(52))), FLOATS)
        shifted = b.bitcast(b.add(exponent, self.ints(_ROUNDER_BITS)), FLOATS)
        e = b.fsub(shifted, self.floats(_ROUNDER))
        s = b.fdiv(b.fsub(m, self.floats(1.0)), b.fadd(m, self.floats(1.0)))
        square = b.fmul(s, s)
        series = self.floats(LOG2_TERMS[0])
        for term in LOG2_TERMS[1:]:
            series = self.multiply_add(series, square, self.floats(term))
        return self.multiply_add(s, series, e)
