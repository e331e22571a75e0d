"""Directions of being wrong: an alternative to the predicted law of the outcome, by a strength (section 2).

A law is a vector over outcomes, on the last axis; the strength s ≥ 0 has the shape of the axes before it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray

STRONGEST = 16.0
"""The largest strength; a size that is not reached there is left out."""


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction: its name, what it says about the model, its weight, and the alternative by law and strength."""

    name: str
    meaning: str
    weight: float
    alternative: Callable[[FloatArray, FloatArray], FloatArray]
    shift: Callable[[FloatArray], FloatArray] | None = None
    """d, if the alternative is p + v·d with v = 1 - e⁻ˢ, so that its strength needs no search."""


def _tilt(p: FloatArray, exponent: FloatArray) -> FloatArray:
    """∝ p^exponent."""
    log = np.log(p)
    log -= log.max(axis=-1, keepdims=True)
    powers = np.exp(exponent[..., None] * log)
    powers /= powers.sum(axis=-1, keepdims=True)
    return np.asarray(powers)


def flat(p: FloatArray, s: FloatArray) -> FloatArray:
    """∝ p^exp(-s)."""
    return _tilt(p, np.exp(-s))


def sharp(p: FloatArray, s: FloatArray) -> FloatArray:
    """∝ p^exp(s)."""
    return _tilt(p, np.exp(s))


def _first_times(p: FloatArray, factor: FloatArray) -> FloatArray:
    """p_1 times the factor, then normalised."""
    u = np.array(np.broadcast_to(p, np.broadcast_shapes(p.shape, (*factor.shape, 1))))
    u[..., 0] *= factor
    u /= u.sum(axis=-1, keepdims=True)
    return u


def first_down(p: FloatArray, s: FloatArray) -> FloatArray:
    """p_1 times e⁻ˢ, then normalised."""
    return _first_times(p, np.exp(-s))


def first_up(p: FloatArray, s: FloatArray) -> FloatArray:
    """p_1 times eˢ, then normalised."""
    return _first_times(p, np.exp(s))


def _to_uniform(p: FloatArray) -> FloatArray:
    """1/C - p."""
    return np.asarray(1 / p.shape[-1] - p)


def _exchange(rank: int) -> Callable[[FloatArray], FloatArray]:
    def exchanged(p: FloatArray) -> FloatArray:
        """(p_k - p_{k+1})·(…, -1, 1, …)."""
        d = np.zeros(p.shape)
        d[..., rank + 1] = p[..., rank] - p[..., rank + 1]
        d[..., rank] = -d[..., rank + 1]
        return d

    return exchanged


def _mixture(name: str, meaning: str, weight: float, shift: Callable[[FloatArray], FloatArray]) -> Direction:
    """The direction p + v·d."""

    def alternative(p: FloatArray, s: FloatArray) -> FloatArray:
        return np.asarray(p - np.expm1(-s)[..., None] * shift(p))

    return Direction(name, meaning, weight, alternative, shift)


def rank_directions(n_classes: int) -> tuple[Direction, ...]:
    """The directions of a rank table; weights add up to 1.

    >>> [direction.name for direction in rank_directions(2)]
    ['flat', 'sharp', 'top-', 'top+', 'noise', 'swap12']
    """
    rest = 1 / 8 if n_classes == 2 else 1 / 12
    found = (
        Direction("flat", "over-confident", 1 / 4, flat),
        Direction("sharp", "under-confident", 1 / 4, sharp),
        Direction("top-", "top label over-confident", 1 / 8, first_down),
        Direction("top+", "top label under-confident", 1 / 8, first_up),
        _mixture("noise", "labels more random than predicted", rest, _to_uniform),
        _mixture("swap12", "the first two ranks exchanged", rest, _exchange(0)),
    )
    if n_classes == 2:
        return found
    return (*found, _mixture("swap23", "the second and the third rank exchanged", rest, _exchange(1)))


def event_directions() -> tuple[Direction, ...]:
    """The directions of an event, whose law is (p, 1 - p); weights add up to 1."""
    return (
        Direction("too often", "predicted too often", 3 / 8, first_down),
        Direction("too seldom", "predicted too seldom", 3 / 8, first_up),
        Direction("too extreme", "predicted too extremely", 1 / 8, flat),
        Direction("too timid", "predicted too timidly", 1 / 8, sharp),
    )
