"""What a variation measure is: a formula, and the facts about it that the rest of the library uses."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._row_arithmetic import entropy_of_lines
from trueness._scratch import Scratch
from trueness.refusals import InvalidTypeError, InvalidValueError

_LARGEST, _NARROWEST = 2.0**40, 2.0**-20
"""Values are summed exactly in steps of 2⁻⁵²: larger ones would overflow, and much narrower ranges lose digits."""

Expectation = Callable[[IntArray, FloatArray], FloatArray]
"""E[V(X/n)] for X ~ Multinomial(n, p): from the sizes n, (M,), and the probabilities p, (M, C), to (M,)."""

Variance = Callable[[IntArray, FloatArray], tuple[FloatArray, FloatArray]]
"""The variance of the same, and a bound of the relative error of its root, (M,) each."""


@dataclass(frozen=True, slots=True, eq=False)
class Variation:
    """A variation measure: its formula and what is known about it.

    A user-defined measure is any callable on the last axis with a declared range:

    >>> gini = Variation("my_gini", lambda x: 1 - (x**2).sum(axis=-1), range=lambda c: (0, 1 - 1 / c), symmetric=True)
    >>> gini(np.array([0.5, 0.5]))
    0.5
    >>> gini.range_for(4)
    (0.0, 0.75)

    All facts after `function` are optional. Without them the mean under calibration is simulated, and intervals end
    where the values of `function` do.

    Two measures are equal if they have the same name, range, direction and code; a saved table stores the name.
    """

    name: str
    function: Callable[[Any], Any]
    range: tuple[float, float] | Callable[[int], tuple[float, float]] = (0.0, 1.0)
    """Lowest and highest value over all sorted distributions; may depend on the number of classes."""
    grows_with_dispersion: bool = True
    lipschitz: float | Callable[[int], float] = math.inf
    """Least L with |V(a) - V(b)| ≤ L·‖a - b‖₁ for all distributions a, b; infinite if unknown or if there is none."""
    symmetric: bool | None = None
    """Whether the order of the ranks makes no difference; None if unknown."""
    linear: bool = False
    """Whether to use that V is linear, so that V of a mean is the mean of V and observed frequencies have no bias."""
    expectation: Expectation | None = None
    """The exact mean of V of the rank frequencies of a calibrated model, if known; else it is simulated."""
    kernel: Literal["entropy", "confidence"] | None = None
    """The compiled kernel that computes the same values for sorted rows, if there is one."""
    label: str = ""
    """The measure in text and figures; by default the name with spaces instead of underscores."""
    variance: Variance | None = None
    """The variance of V of the rank frequencies of a calibrated model, if a formula is known; else it is simulated."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not callable(self.function):
            raise InvalidTypeError("wrong-type", "name must be a string and function a callable")
        if self.kernel is not None and not self._is_from_library():
            cause = (
                f"kernel names compiled code, which exists for built-in measures only, got {self.kernel!r}"
            )
            raise InvalidValueError(
                "bad-argument", cause, "leave it out", argument="kernel", value=self.kernel
            )
        if not self._is_from_library() and _is_library_name(self.name):
            cause = f"{self.name!r} is the name of a built-in measure"
            remedy = "choose another name, since a saved table stores the name only"
            raise InvalidValueError("name-in-use", cause, remedy, argument="name", value=self.name)

    def _is_from_library(self) -> bool:
        """Whether this is a built-in measure, whose formula is a function of the same name in this package."""
        module, formula = (getattr(self.function, of, "") for of in ("__module__", "__qualname__"))
        return f"{module}.".startswith(f"{__package__}.") and formula.split(".")[0] == self.name.split("(")[0]

    @property
    def display_name(self) -> str:
        """The measure as text and figures call it."""
        return self.label or self.name.replace("_", " ")

    @property
    def sign(self) -> float:
        """The factor that makes a gap positive for over-confidence: -1 for measures that fall with dispersion."""
        return 1.0 if self.grows_with_dispersion else -1.0

    def __call__(self, x: Any) -> Any:
        """The measure of each vector on the last axis."""
        value = self.of(np.asarray(x, dtype=np.float64))
        return float(value) if value.ndim == 0 else value

    def of(self, x: FloatArray) -> FloatArray:
        """The measure of each vector on the last axis, one finite number each."""
        x = x.view()
        x.setflags(write=False)  # a function that works in place would corrupt the sums
        # Always as rows, so that a function written for axis 1 gives what its author meant.
        vectors = x.reshape(-1, x.shape[-1]) if x.ndim != 2 else x
        with np.errstate(under="ignore"):
            value = np.asarray(self.function(vectors), dtype=np.float64)
        if value.shape != vectors.shape[:-1]:
            expected = vectors.shape[:-1]
            cause = f"variation {self.name!r} gave shape {value.shape} for vectors of shape {vectors.shape}"
            remedy = f"it must return one number for each vector on the last axis, {expected}"
            raise InvalidValueError("wrong-shape", cause, remedy, argument="variation", value=value.shape)
        finite = np.isfinite(value)
        if not finite.all():
            raise self._refusal("not-finite", vectors, value, int(np.argmin(finite)))
        return value.reshape(x.shape[:-1])

    def of_rows(self, x: FloatArray, tolerance: float, scratch: Scratch | None = None) -> FloatArray:
        """The measure of sorted rows, (rows, classes), clipped to its range where rounding exceeds it.

        `tolerance` is how far a row's sum may be from 1: V may exceed its range in proportion.
        """
        if self.kernel == "entropy":
            return entropy_of_lines(np.ascontiguousarray(x.T), scratch or Scratch())
        low, high = self.range_for(x.shape[-1])
        # NumPy adds along rows that lie in memory one after the other in the same order for any number of them.
        value = self.of(x if self.kernel else np.ascontiguousarray(x))
        slack = 4 * tolerance * (high - low)
        outside = (value < low - slack) | (value > high + slack)
        if outside.any():
            where = f", outside its declared range from {low} to {high}"
            raise self._refusal("out-of-range", x, value, int(np.argmax(outside)), where)
        return np.asarray(np.clip(value, low, high))

    def _refusal(
        self, code: str, vectors: FloatArray, value: FloatArray, at: int, detail: str = ""
    ) -> InvalidValueError:
        cause = f"variation {self.name!r} is {value[at]} for {vectors[at].tolist()}{detail}"
        return InvalidValueError(code, cause, argument="variation", value=value[at])

    def __reduce__(self) -> tuple[Any, ...]:
        """Measures of trueness are pickled by name, others by their fields."""
        if self._is_from_library():
            from trueness.variation.names import as_variation  # late, since names are those of Variations

            return as_variation, (self.name,)
        return Variation, tuple(getattr(self, field.name) for field in fields(self))

    def range_for(self, n_classes: int) -> tuple[float, float]:
        """Lowest and highest value over all sorted distributions on this number of classes."""
        try:
            low, high = map(float, self.range(n_classes) if callable(self.range) else self.range)
        except (TypeError, ValueError) as error:
            cause = f"variation {self.name!r} must declare its range as (low, high)"
            raise InvalidTypeError("wrong-type", cause, argument="range") from error
        if not (low < high and max(abs(low), abs(high)) <= _LARGEST and high - low >= _NARROWEST):
            cause = f"variation {self.name!r} declares the range ({low}, {high})"
            remedy = (
                f"low < high is needed, within ±{_LARGEST:g} and no narrower than "
                f"{_NARROWEST:g}: scale the measure"
            )
            raise InvalidValueError("bad-range", cause, remedy, argument="range")
        return low, high

    def lipschitz_for(self, n_classes: int) -> float:
        """Least L with |V(a) - V(b)| ≤ L·‖a - b‖₁ for all distributions a, b; infinite if there is none."""
        return float(self.lipschitz(n_classes) if callable(self.lipschitz) else self.lipschitz)

    def largest_gap_for(self, n_classes: int) -> float:
        """The largest possible |V(r) - V(q)| for rank frequencies r and sorted q.

        A symmetric measure has the same range on both. Others may leave their range where the ranks are out of order:
        since ‖r - q‖₁ ≤ 2, twice the Lipschitz constant is a bound. If that is unknown too, the frequencies in which
        all rows have the same rank are taken as the extremes, as they are for linear measures.
        """
        low, high = self.range_for(n_classes)
        if self.symmetric:
            return high - low
        bound = 2 * self.lipschitz_for(n_classes)
        if bound < math.inf:
            return bound
        least, most = _extremes_at_single_ranks(self, n_classes)
        return max(high, most) - min(low, least)

    def expectation_for(self, count: IntArray, probability: FloatArray) -> FloatArray | None:
        """E[V(X/n)] for X ~ Multinomial(n, p), (M,), of n, (M,), and p, (M, C); None if not known exactly."""
        if self.linear:
            return self.of(probability)
        return None if self.expectation is None else self.expectation(count, probability)

    def variance_for(self, count: IntArray, probability: FloatArray) -> tuple[FloatArray, FloatArray] | None:
        """The variance of V(X/n) for X ~ Multinomial(n, p), (M,), and a bound of the relative error of its root.

        None if there is no formula. That of linear measures is exact: V has the value v_c at rank c alone, and the
        variance is Σp(v - Σpv)²/n.
        """
        if not self.linear:
            return None if self.variance is None else self.variance(count, probability)
        values = _values_at_single_ranks(self, probability.shape[-1])
        apart = values - (probability @ values)[:, None]
        return (probability * apart**2).sum(axis=-1) / count, np.zeros(len(count))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variation):
            return NotImplemented
        return self is other or (
            self.name == other.name
            and self.grows_with_dispersion == other.grows_with_dispersion
            and all(self.range_for(c) == other.range_for(c) for c in (2, 10))
            and _is_same_code(self.function, other.function)
        )

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Variation({self.name!r})"


@lru_cache(maxsize=16)
def _extremes_at_single_ranks(variation: Variation, n_classes: int) -> tuple[float, float]:
    """The least and largest finite V of frequencies that are 1 at one rank and 0 at all others."""
    values = _values_at_single_ranks(variation, n_classes)
    finite = values[np.isfinite(values)]
    return float(finite.min(initial=math.inf)), float(finite.max(initial=-math.inf))


@lru_cache(maxsize=16)
def _values_at_single_ranks(variation: Variation, n_classes: int) -> FloatArray:
    """V of frequencies that are 1 at one rank and 0 at all others, (C,)."""
    step = max(1, 2**20 // n_classes)
    starts = range(0, n_classes, step)
    vectors = (np.eye(min(step, n_classes - start), n_classes, start) for start in starts)
    with np.errstate(all="ignore"):
        return np.concatenate([np.asarray(variation.function(some), np.float64) for some in vectors])


def _is_library_name(name: str) -> bool:
    from trueness.variation.names import is_library_name  # late, since names are those of Variations

    return is_library_name(name)


def _is_same_code(one: Callable[..., Any], other: Callable[..., Any]) -> bool:
    """Whether two functions are the same object, or have the same code, as after unpickling."""
    codes = [getattr(function, "__code__", None) for function in (one, other)]
    if one is other or None in codes:
        return one is other
    return all(
        getattr(codes[0], part) == getattr(codes[1], part) for part in ("co_code", "co_consts", "co_names")
    )
