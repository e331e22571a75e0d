"""The entropies of Rényi and Tsallis, which have an order α as a parameter."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from trueness._arrays import FloatArray
from trueness.refusals import InvalidValueError
from trueness.variation.definition import Variation
from trueness.variation.measures import ENTROPY, log_or_finite


def renyi(alpha: float) -> Variation:
    """Rényi entropy ln(Σpᵅ)/((1 - α)·ln C), in [0, 1]; α = 1 is `entropy`.

    >>> renyi(2)([0.5, 0.5, 0.0, 0.0])
    0.5
    """
    alpha = _positive(alpha)
    if alpha == 1.0:
        return ENTROPY

    def formula(x: FloatArray) -> FloatArray:
        scale = (1.0 - alpha) * math.log(x.shape[-1])
        if abs(alpha - 1.0) < _NEAR_ONE:
            return np.asarray(np.log1p(_power_sum_less_one(x, alpha)) / scale)
        # Relative to the largest entry, so that a high order does not underflow.
        top = np.max(x, axis=-1)
        relative = np.sum((x / top[..., None]) ** alpha, axis=-1)
        return np.asarray((alpha * np.log(top) + np.log(relative)) / scale)

    def lipschitz(n_classes: int) -> float:
        return alpha / (2 * (alpha - 1) * math.log(n_classes)) * _steepest_renyi(alpha, n_classes)

    return Variation(
        _name("renyi", alpha), formula, lipschitz=lipschitz if alpha > 1 else math.inf, symmetric=True
    )


_NEAR_ONE = 0.1
"""Closer to order 1 than this, dividing by 1 - α would amplify rounding and the error of a row's sum too much."""


def _power_sum_less_one(p: FloatArray, alpha: float) -> FloatArray:
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
    alpha = _positive(alpha)
    if alpha == 1.0:
        return ENTROPY

    def formula(x: FloatArray) -> FloatArray:
        if abs(alpha - 1.0) < _NEAR_ONE:
            at_uniform = math.expm1((1.0 - alpha) * math.log(x.shape[-1]))
            return np.asarray(_power_sum_less_one(x, alpha) / at_uniform)
        return np.asarray((1.0 - np.sum(x**alpha, axis=-1)) / (1.0 - x.shape[-1] ** (1.0 - alpha)))

    def lipschitz(n_classes: int) -> float:
        return float(alpha / (2 * (1 - n_classes ** (1 - alpha))))  # steepest at one-hot

    return Variation(
        _name("tsallis", alpha), formula, lipschitz=lipschitz if alpha > 1 else math.inf, symmetric=True
    )


def _positive(alpha: float) -> float:
    number = isinstance(alpha, (int, float, np.integer, np.floating)) and not isinstance(alpha, bool)
    if not (number and math.isfinite(alpha) and alpha > 0):
        cause = f"alpha must be a finite number above 0, got {alpha!r}"
        raise InvalidValueError("bad-argument", cause, argument="alpha", value=alpha)
    return float(alpha)


def _name(family: str, alpha: float) -> str:
    return f"{family}({int(alpha) if alpha.is_integer() else alpha!r})"


FAMILIES: Mapping[str, Callable[[float], Variation]] = MappingProxyType({"renyi": renyi, "tsallis": tsallis})
