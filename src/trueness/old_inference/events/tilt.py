"""Binomial cells tilted along a direction: log-odds x + t·d, and the t at which a sum takes a given value."""

from __future__ import annotations

import numpy as np

from trueness._arrays import FloatArray, IntArray

CLIP = 2.0**-30
"""Probabilities nearer to 0 or 1 than this are moved here before their log-odds are taken."""

_MOST_STEPS = 200
_SMALL_STEP = 1e-12
"""Relative to t: the error after such a step is its square, and the rounding of the sums is larger than that."""
_SATURATED = 1e15
"""Log-odds this large are infinite for every purpose."""


def clipped(p: FloatArray) -> FloatArray:
    """p, no nearer to 0 or 1 than 2⁻³⁰."""
    return np.clip(p, CLIP, 1 - CLIP)


def log_odds(p: FloatArray) -> FloatArray:
    """ln(p/(1 - p)) for 0 < p < 1."""
    return np.asarray(np.log(p) - np.log1p(-p))


def probability(x: FloatArray) -> FloatArray:
    """1/(1 + e⁻ˣ)."""
    with np.errstate(over="ignore"):  # 1/(1 + ∞) is 0, as it should be
        return np.asarray(1 / (1 + np.exp(-x)))


def solve_tilt(
    x: FloatArray, d: FloatArray, n: FloatArray, target: FloatArray, starts: IntArray
) -> FloatArray:
    """The t of each event with Σ n·d/(1 + e^-(x + t·d)) = target, (K,); the sums are over the cells of the event.

    The left side increases in t: Newton's method from t = 0, by at most fourfold steps within the bracket found so
    far. Where no t reaches the target, |t| is so large that all cells with d ≠ 0 are at 0 or 1.
    """
    owner = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(x))))
    t = np.zeros(len(starts))
    low, high = np.full(t.shape, -np.inf), np.full(t.shape, np.inf)
    size = np.maximum.reduceat(np.abs(d), starts)
    open_ones, unit = size > 0, 1 / np.where(size > 0, size, 1.0)
    for _ in range(_MOST_STEPS):
        p = probability(x + t[owner] * d)
        excess = np.add.reduceat(n * p * d, starts) - target
        slope = np.add.reduceat(n * p * (1 - p) * d**2, starts)
        low, high = np.where(excess < 0, t, low), np.where(excess > 0, t, high)
        most = 4 * np.maximum(np.abs(t), unit)
        newton = np.divide(-excess, slope, out=-np.sign(excess) * most, where=slope > 0)
        step = np.where(open_ones, _within(low - t, np.clip(newton, -most, most), high - t), 0.0)
        t = t + step
        open_ones &= (np.abs(step) > _SMALL_STEP * np.maximum(np.abs(t), unit)) & (
            np.abs(t) < _SATURATED * unit
        )
        if not open_ones.any():
            break
    return t


def _within(low: FloatArray, step: FloatArray, high: FloatArray) -> FloatArray:
    """The step; where it would leave the bracket, half of the way to the bracket's end."""
    half = np.where(step > 0, high, low) / 2
    return np.where((step >= high) | (step <= low), half, step)
