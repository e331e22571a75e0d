"""Measures of variation: how spread out is a distribution over classes?

Each measure is one formula on the last axis of an array, beside what the rest of the library needs to know of it:
the range it can attain, whether it grows with dispersion, and how fast it can change (its Lipschitz constant
against the L₁ norm, infinite where there is none).

A measure is given vectors in *rank order*: rows sorted downwards, the mean of such rows, or observed rank
frequencies (which need not be sorted). `confidence` and `margin` read the first ranks as they stand; all others
are symmetric and do not see the order.

Wilcox (1973) also lists RanVR (smallest over largest probability) and Kaiser's B. Both vanish as soon as a single
rank was never observed, whatever the other ranks say, so on rank frequencies they measure nothing: left out.

References: Wilcox 1973, "Indices of qualitative variation and political measurement"; Bilson et al. 2025,
"A metrological framework for uncertainty evaluation in machine learning classification models"; Kvålseth 1988.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TINY = np.finfo(np.float64).tiny
_LARGEST, _NARROWEST = 2.0**40, 2.0**-20
"""Values are summed exactly in steps of 2⁻⁵²: larger ones would overflow, much narrower ranges lose their digits."""
_FAMILY = re.compile(r"(renyi|tsallis)\((\d*\.?\d+(?:e[+-]?\d+)?)\)")

Formula = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Vectors on the last axis in, one number for each of them out."""


@dataclass(frozen=True, slots=True, eq=False)
class Variation:
    """A measure of variation with its attainable range, direction and Lipschitz constant.

    Your own measure is any callable on the last axis with a declared range:

    >>> gini = Variation("my_gini", lambda x: 1 - (x**2).sum(axis=-1), range=lambda c: (0, 1 - 1 / c))
    >>> gini(np.array([0.5, 0.5]))
    0.5
    >>> gini.range_for(4)
    (0.0, 0.75)

    Two measures are equal if they have the same name, range, direction and code; a saved table remembers the name.
    """

    name: str
    function: Callable[[Any], Any]
    range: tuple[float, float] | Callable[[int], tuple[float, float]] = (0.0, 1.0)
    grows_with_dispersion: bool = True
    lipschitz: float | Callable[[int], float] = math.inf

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not callable(self.function):
            raise TypeError("a Variation is made of a name and a function on the last axis")
        if not self._is_ours() and (self.name in variations or _FAMILY.fullmatch(self.name)):
            raise ValueError(
                f"{self.name!r} is the name of a measure of trueness; a saved table would confuse the two"
            )

    def _is_ours(self) -> bool:
        """Whether this is a measure of the library itself, which its name alone brings back."""
        if getattr(self.function, "__module__", None) != __name__:
            return False
        known = globals().get("variations")  # not there yet while it is being made
        family = _FAMILY.fullmatch(self.name)
        if family:
            return self.function.__qualname__.startswith(f"{family[1]}.")
        return known is None or (self.name in known and known[self.name].function is self.function)

    def __call__(self, x: Any) -> Any:
        """The measure of each vector on the last axis."""
        value = self.of(np.asarray(x, dtype=np.float64))
        return float(value) if value.ndim == 0 else value

    def of(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The measure of each vector on the last axis, one finite number each."""
        x = x.view()
        x.setflags(write=False)  # a measure that works in place would spoil the sums
        # Always as rows, so that a function written for axis 1 means what its author meant.
        vectors = x.reshape(-1, x.shape[-1]) if x.ndim != 2 else x
        with np.errstate(under="ignore"):
            value = np.asarray(self.function(vectors), dtype=np.float64)
        if value.shape != vectors.shape[:-1]:
            raise ValueError(
                f"variation {self.name!r} gave shape {value.shape} for vectors of shape {vectors.shape}; a measure "
                f"gives one number for each vector on the last axis, {vectors.shape[:-1]}"
            )
        finite = np.isfinite(value)
        if not finite.all():
            where = int(np.argmin(finite))
            raise ValueError(f"variation {self.name!r} is {value[where]} for {vectors[where].tolist()}")
        return value.reshape(x.shape[:-1])

    def of_rows(self, x: NDArray[np.float64], tolerance: float) -> NDArray[np.float64]:
        """The measure of rows, within its attainable range; what exceeds it by rounding is put on its end.

        `tolerance` is how far a row's sum may be from 1: V may miss its range by as much.
        """
        if len(x) == 1:
            # NumPy adds up a single vector in another order than the same vector among others.
            return self.of_rows(np.repeat(x.T, 2, axis=1).T, tolerance)[:1]
        low, high = self.range_for(x.shape[-1])
        value = self.of(x)
        slack = 4 * tolerance * (high - low)
        outside = (value < low - slack) | (value > high + slack)
        if outside.any():
            where = int(np.argmax(outside))
            raise ValueError(
                f"variation {self.name!r} is {value[where]} for {x[where].tolist()}, outside its declared range "
                f"from {low} to {high}"
            )
        return np.asarray(np.clip(value, low, high))

    def __reduce__(self) -> tuple[Any, ...]:
        """Measures of the library travel between processes by name, others as what they were made of."""
        if self._is_ours():
            return as_variation, (self.name,)
        made_of = (self.name, self.function, self.range, self.grows_with_dispersion, self.lipschitz)
        return Variation, made_of

    def range_for(self, n_classes: int) -> tuple[float, float]:
        """Lowest and highest value over all distributions on so many classes."""
        try:
            low, high = map(float, self.range(n_classes) if callable(self.range) else self.range)
        except (TypeError, ValueError) as error:
            raise TypeError(f"variation {self.name!r} must declare its range as (low, high)") from error
        if not (low < high and max(abs(low), abs(high)) <= _LARGEST and high - low >= _NARROWEST):
            raise ValueError(
                f"variation {self.name!r} declares the range ({low}, {high}); low < high is needed, within "
                f"±{_LARGEST:g} and no narrower than {_NARROWEST:g}: scale the measure"
            )
        return low, high

    def lipschitz_for(self, n_classes: int) -> float:
        """Least L₁ with |V(a) - V(b)| ≤ L₁·‖a - b‖₁ for all distributions a, b; infinite where there is none."""
        return float(self.lipschitz(n_classes) if callable(self.lipschitz) else self.lipschitz)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variation):
            return NotImplemented
        return self.name == other.name and (
            (self._is_ours() and other._is_ours())
            or (
                self.grows_with_dispersion == other.grows_with_dispersion
                and all(self.range_for(c) == other.range_for(c) for c in (2, 10))
                and _same_code(self.function, other.function)
            )
        )

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"Variation({self.name!r})"


def _same_code(one: Callable[..., Any], other: Callable[..., Any]) -> bool:
    """Whether two functions were written alike: the same object, or one that travelled between processes."""
    codes = [getattr(function, "__code__", None) for function in (one, other)]
    if one is other or None in codes:
        return one is other
    return all(
        getattr(codes[0], part) == getattr(codes[1], part) for part in ("co_code", "co_consts", "co_names")
    )


def _entropy(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """ℋ(p) = -Σ p log_C p, with 0·log 0 = 0 (the paper, section 2.1)."""
    return np.asarray((0.0 - np.sum(x * log_or_finite(x), axis=-1)) / math.log(x.shape[-1]))


def log_or_finite(x: NDArray[np.float64], out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """ln x, and a finite number where x = 0, so that x·ln x is 0 there and no warning is raised."""
    positive = np.empty_like(x) if out is None else out
    np.maximum(x, _TINY, out=positive)
    np.log(positive, out=positive)
    return positive


def _confidence(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first entry x₁ of the ordered vector: what ECE compares (conf and acc in the paper's section 2.2)."""
    return x[..., 0]


def _max_probability(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """max x, the paper's literal wording of confidence; differs from x₁ on rank frequencies only."""
    return np.asarray(np.max(x, axis=-1))


def _wilcox_variation_ratio(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """C(1 - max p)/(C - 1): WVR, ModVR, DM."""
    c = x.shape[-1]
    return np.asarray(c / (c - 1) * (1.0 - np.max(x, axis=-1)))


def _iqv(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """C/(C - 1)·(1 - Σp²): index of qualitative variation, VarNC, VA."""
    c = x.shape[-1]
    return np.asarray(c / (c - 1) * (1.0 - np.sum(x * x, axis=-1)))


def _average_deviation(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - C/(2(C - 1))·Σ|p - 1/C|: AvDev, ADA."""
    c = x.shape[-1]
    return np.asarray(1.0 - c / (2 * (c - 1)) * np.sum(np.abs(x - 1 / c), axis=-1))


def _mean_difference(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - Σ_{i<j}|p_i - p_j|/(C - 1): MNDif, MDA.

    In increasing order x₀ ≤ … the k-th is the larger of a pair k times and the smaller C - 1 - k times.
    """
    c = x.shape[-1]
    times = 2.0 * np.arange(c) - (c - 1)
    return np.asarray(1.0 - np.sum(np.sort(x, axis=-1) * times, axis=-1) / (c - 1))


def _standard_deviation(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - √(1 - IQV): StDev, CNV; 1 - IQV = C/(C - 1)·Σ(p - 1/C)², which keeps its digits near uniform."""
    c = x.shape[-1]
    return np.asarray(1.0 - np.sqrt(c / (c - 1) * np.sum((x - 1 / c) ** 2, axis=-1)))


def _mode_deviation(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - √(Σ(max p - p)²/(C - 1)): SDM, Kvålseth 1988."""
    from_mode = np.max(x, axis=-1, keepdims=True) - x
    return np.asarray(1.0 - np.sqrt(np.sum(from_mode**2, axis=-1) / (x.shape[-1] - 1)))


def _margin(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 - (x₁ - x₂): the first two ranks only; above 1 if rank 2 was observed more often than rank 1."""
    return np.asarray(1.0 - (x[..., 0] - x[..., 1]))


def renyi(alpha: float) -> Variation:
    """Rényi entropy ln(Σpᵅ)/((1 - α)·ln C), in [0, 1]; α = 1 is `entropy`.

    >>> renyi(2)([0.5, 0.5, 0.0, 0.0])
    0.5
    """
    alpha = _checked_order(alpha)
    if alpha == 1.0:
        return variations["entropy"]

    def formula(x: NDArray[np.float64]) -> NDArray[np.float64]:
        scale = (1.0 - alpha) * math.log(x.shape[-1])
        if abs(alpha - 1.0) < _NEAR_ONE:
            return np.asarray(np.log1p(_power_sum_less_one(x, alpha)) / scale)
        # Relative to the largest entry, so that a high order does not underflow.
        top = np.max(x, axis=-1)
        relative = np.sum((x / top[..., None]) ** alpha, axis=-1)
        return np.asarray((alpha * np.log(top) + np.log(relative)) / scale)

    def lipschitz(n_classes: int) -> float:
        return alpha / (2 * (alpha - 1) * math.log(n_classes)) * _steepest_renyi(alpha, n_classes)

    return Variation(_order_name("renyi", alpha), formula, lipschitz=lipschitz if alpha > 1 else math.inf)


_NEAR_ONE = 0.1
"""Closer to order 1 than this, 1/(1 - α) would amplify rounding, and what a row's sum misses, too much."""


def _power_sum_less_one(p: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Σpᵅ - 1 = Σ p·(pᵅ⁻¹ - 1) for Σp = 1, which keeps its digits when α is close to 1."""
    return np.asarray(np.sum(p * np.expm1((alpha - 1.0) * log_or_finite(p)), axis=-1))


def _steepest_renyi(alpha: float, n_classes: int) -> float:
    """sup over distributions of (maxᵢ pᵢᵅ⁻¹ - minᵢ pᵢᵅ⁻¹)/Σpᵅ, for α > 1.

    Given the largest entry t and the smallest v·t, the sum of powers is least when all others are equal, u·t. That
    leaves a smooth function of (u, v) in the unit square, whose maximum is found by zooming in on a grid.
    """
    centre, width, best = np.array([0.5, 0.5]), 1.0, 0.0
    for _ in range(40):
        u, v = (np.clip(c + width * np.linspace(-0.5, 0.5, 33), 0.0, 1.0) for c in centre)
        u = u[:, None]
        total = 1 + (n_classes - 2) * u + v
        slope = (1 - v ** (alpha - 1)) * total / (1 + (n_classes - 2) * u**alpha + v**alpha)
        i, j = np.unravel_index(np.argmax(slope), slope.shape)
        best = max(best, float(slope[i, j]))
        centre, width = np.array([u[i, 0], v[j]]), width / 2
    return best


def tsallis(alpha: float) -> Variation:
    """Tsallis entropy (1 - Σpᵅ)/(1 - C¹⁻ᵅ), in [0, 1]; α = 1 is `entropy`, α = 2 has the values of `iqv`.

    >>> tsallis(2)([0.5, 0.5])
    1.0
    """
    alpha = _checked_order(alpha)
    if alpha == 1.0:
        return variations["entropy"]

    def formula(x: NDArray[np.float64]) -> NDArray[np.float64]:
        if abs(alpha - 1.0) < _NEAR_ONE:
            at_uniform = math.expm1((1.0 - alpha) * math.log(x.shape[-1]))
            return np.asarray(_power_sum_less_one(x, alpha) / at_uniform)
        return np.asarray((1.0 - np.sum(x**alpha, axis=-1)) / (1.0 - x.shape[-1] ** (1.0 - alpha)))

    def lipschitz(n_classes: int) -> float:
        return float(alpha / (2 * (1 - n_classes ** (1 - alpha))))  # steepest at one-hot

    return Variation(_order_name("tsallis", alpha), formula, lipschitz=lipschitz if alpha > 1 else math.inf)


def _checked_order(alpha: float) -> float:
    number = isinstance(alpha, (int, float, np.integer, np.floating)) and not isinstance(alpha, bool)
    if not (number and math.isfinite(alpha) and alpha > 0):
        raise ValueError(f"alpha must be a finite number above 0, got {alpha!r}")
    return float(alpha)


def _order_name(family: str, alpha: float) -> str:
    return f"{family}({int(alpha) if alpha.is_integer() else alpha!r})"


def _half_ratio(n_classes: int) -> float:
    return n_classes / (2 * (n_classes - 1))


def _ratio(n_classes: int) -> float:
    return n_classes / (n_classes - 1)


def _root_ratio(n_classes: int) -> float:
    return math.sqrt(n_classes / (2 * (n_classes - 1)))


def _mode_ratio(n_classes: int) -> float:
    """½·(Σd + max d)/(‖d‖₂·√(C - 1)) with d = max p - p, largest at d ∝ (2, 1, …, 1)."""
    return math.sqrt((n_classes + 2) / (n_classes - 1)) / 2


def _top_range(n_classes: int) -> tuple[float, float]:
    return 1.0 / n_classes, 1.0


variations: Mapping[str, Variation] = MappingProxyType(
    {
        v.name: v
        for v in (
            Variation("entropy", _entropy),
            Variation("confidence", _confidence, _top_range, grows_with_dispersion=False, lipschitz=0.5),
            Variation(
                "max_probability", _max_probability, _top_range, grows_with_dispersion=False, lipschitz=0.5
            ),
            Variation("wilcox_variation_ratio", _wilcox_variation_ratio, lipschitz=_half_ratio),
            Variation("iqv", _iqv, lipschitz=_ratio),
            Variation("average_deviation", _average_deviation, lipschitz=_half_ratio),
            Variation("mean_difference", _mean_difference, lipschitz=1.0),
            Variation("standard_deviation", _standard_deviation, lipschitz=_root_ratio),
            Variation("mode_deviation", _mode_deviation, lipschitz=_mode_ratio),
            Variation("margin", _margin, lipschitz=1.0),
        )
    }
)
"""The measures that have a name; `renyi(α)` and `tsallis(α)` make more."""


def as_variation(variation: str | Variation) -> Variation:
    """The measure meant by a name such as "iqv" or "renyi(2)", or the measure itself."""
    if isinstance(variation, Variation):
        return variation
    if not isinstance(variation, str):
        raise TypeError(
            f"variation must be a name or a trueness.Variation, got {type(variation).__name__}; "
            "wrap a function as Variation(name, function, range=(low, high))"
        )
    if variation in variations:
        return variations[variation]
    family = _FAMILY.fullmatch(variation)
    if family is None:
        names = ", ".join([*variations, "renyi(alpha)", "tsallis(alpha)"])
        raise ValueError(f"unknown variation {variation!r}; there are {names}")
    return {"renyi": renyi, "tsallis": tsallis}[family[1]](float(family[2]))
