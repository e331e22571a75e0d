"""Events in cells of their probability: are they as frequent as predicted, and as spread out?

If an event is calibrated, its observed number in a cell of n rows is Binomial(n, p̄). Tilting the
cells, p̄ → p̄eᵗᵈ/(1 - p̄ + p̄eᵗᵈ), makes one-parameter alternatives: d = 1 shifts all log-odds, and
d = the log-odds less their mean stretches them. The signed root of the likelihood ratio is nearly
standard normal even where few events are expected, unlike a standardised difference.

Weighted cells are binomials times the weight of one effective row, by which the variance is right;
`effect` is the design effect of each event (see `sample`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from trueness._binomial import binomial_window
from trueness.exact_sums import FloatArray
from trueness.inference.distributions import normal_quantile
from trueness.inference.sample import Events

CERTAIN = 2.0**-30  # probabilities nearer to 0 or 1 have no log-odds worth fitting

NO_ROWS = "no rows"
NEVER, ALWAYS = "it was never observed", "it was observed in every row"
ONE_PROBABILITY = "all its predictions are alike"
SEPARATED = "one probability divides the rows with it from those without"

_MOST_STEPS, _SMALL_STEP = 300, 1e-12
_SATURATED = 500.0  # log-odds this large are infinite for every purpose
_MANY = 400.0  # variance of a count, from which on Cornish and Fisher are correct to one row


class Fits(NamedTuple):
    """Logistic regressions y ~ a + b·ln(p/(1 - p)) of K events: (0, 1) if calibrated (Cox 1958)."""

    intercept: FloatArray  # a, (K,); all are NaN where there is a reason
    slope: FloatArray  # b, (K,): below 1 if the predictions are too extreme
    slope_error: FloatArray  # standard error of b if rows are independent, (K,)
    reasons: tuple[str | None, ...]  # why an event has no fit


def frequency_roots(events: Events, effect: FloatArray | float = 1.0) -> FloatArray:
    """Signed roots for the total of each event, (K,): above 0 where it was observed too often.

    w = sign(t)·√(2(t·O′ - K(t))) at the t with K′(t) = O′, where K(t) = Σ n·ln(1 - p̄ + p̄eᵗ) and
    O′ is the observed number, half an effective row nearer to the expected one, since counts are a
    lattice (Barndorff-Nielsen 1986; Daniels 1987). Cells nearer than 2⁻³⁰ to 0 or 1 do not count:
    what happened there is certain, or impossible and stated by itself. NaN if no other has rows.

    >>> one = np.array([[100.0]])
    >>> frequency_roots(Events(one, one / 10, one / 5, one)).round(2).tolist()
    [2.84]
    """
    n, p, y, square = _uncertain(events)
    unit = _unit(n, square, p * (1 - p)) * effect
    apart = (y - n * p).sum(axis=-1) / unit
    target = np.copysign(np.maximum(np.abs(apart) - 0.5, 0.0), apart)
    roots = _signed_roots(n / unit[:, None], p, np.ones_like(p), target)
    return np.where(n.any(axis=-1), roots, np.nan)


def slope_roots(events: Events, effect: FloatArray | float = 1.0) -> FloatArray:
    """Signed roots for the spread of each event, (K,): below 0 where predictions are too extreme.

    As `frequency_roots` with d = ln(p̄/(1 - p̄)) less its mean weighted by n·p̄(1 - p̄), so that it is
    not sensitive to the frequency; NaN where all predictions are alike.
    """
    n, p, y, square = _uncertain(events)
    x, v = _log_odds(p), p * (1 - p)
    total = np.maximum((n * v).sum(axis=-1), 1e-300)
    d = np.where(n > 0, x - ((n * v * x).sum(axis=-1) / total)[:, None], 0.0)
    unit = _unit(n, square, v * d**2) * effect
    roots = _signed_roots(n / unit[:, None], p, d, ((y - n * p) * d).sum(axis=-1) / unit)
    return np.where((n * v * d**2).sum(axis=-1) > 1e-18 * total, roots, np.nan)


def _uncertain(events: Events) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Rows, p̄, observed number and Σw² of the cells, of which certain ones are emptied."""
    p = events.mean
    counts = (p > CERTAIN) & (p < 1 - CERTAIN)
    n, y, square = np.where(counts, [events.rows, events.observed, events.square], 0.0)
    return n, np.where(counts, p, 0.5), y, square


def _unit(n: FloatArray, square: FloatArray, variance: FloatArray) -> FloatArray:
    """The weight of one effective row for a sum with this variance of single rows, (K,)."""
    total = (n * variance).sum(axis=-1)
    return np.where(total > 0, (square * variance).sum(axis=-1) / np.maximum(total, 1e-300), 1.0)


def _log_odds(p: FloatArray) -> FloatArray:
    return np.asarray(np.log(p) - np.log1p(-p))


def _logistic(x: FloatArray) -> FloatArray:
    with np.errstate(over="ignore"):  # 1/(1 + ∞) is 0, as it should be
        return np.asarray(1 / (1 + np.exp(-x)))


def _signed_roots(n: FloatArray, p: FloatArray, d: FloatArray, target: FloatArray) -> FloatArray:
    """w of each event for Σ(y - n·p)·d = target, (K,)."""
    t = _tilt(n, p, d, target)[:, None]
    log_mean = np.logaddexp(np.log1p(-p), np.log(p) + t * d) - t * p * d
    ratio = t[:, 0] * target - (n * log_mean).sum(axis=-1)
    return np.asarray(np.sign(t[:, 0]) * np.sqrt(np.maximum(2 * ratio, 0.0)))


def _tilt(n: FloatArray, p: FloatArray, d: FloatArray, target: FloatArray) -> FloatArray:
    """The t with Σ n·d·(1/(1 + e^-(x + t·d)) - p) = target, (K,).

    The left side increases in t: Newton's method from 0, by at most fourfold steps within the
    bracket found so far. Where no t reaches the target, log-odds are moved as far as matters.
    """
    size = np.abs(d).max(axis=-1)
    x, unit, t = _log_odds(p), 1 / np.where(size > 0, size, 1.0), np.zeros(len(n))
    low, high = -_SATURATED * unit, _SATURATED * unit
    for _ in range(_MOST_STEPS):
        at = _logistic(x + t[:, None] * d)
        excess = (n * d * (at - p)).sum(axis=-1) - target
        slope = (n * at * (1 - at) * d**2).sum(axis=-1)
        low, high = np.where(excess < 0, t, low), np.where(excess > 0, t, high)
        most = 4 * np.maximum(np.abs(t), unit)
        step = np.divide(-excess, slope, out=-np.sign(excess) * most, where=slope > 0)
        step = np.clip(step, -most, most)
        out = (t + step >= high) | (t + step <= low)
        step = np.where(out & (excess != 0), (np.where(step > 0, high, low) - t) / 2, step)
        t = t + step
        if (np.abs(step) <= _SMALL_STEP * np.maximum(np.abs(t), unit)).all():
            break
    return t


def logistic_fits(events: Events) -> Fits:
    """Intercept and slope of each event on the log-odds of its cells, by maximum likelihood.

    The standard error is from A⁻¹BA⁻¹ with A = Σw·p(1 - p)xxᵀ and B = Σw²·p(1 - p)xxᵀ.
    """
    rows, square = events.rows, events.square
    x = np.where(rows > 0, _log_odds(np.clip(events.mean, CERTAIN, 1 - CERTAIN)), 0.0)
    reasons = [_without_fit(*each) for each in zip(rows, x, events.observed, strict=True)]
    some = np.flatnonzero([reason is None for reason in reasons])
    a, b, error = np.full((3, len(rows)), np.nan)
    at = _newton(rows[some], x[some], events.observed[some])
    fitted = _logistic(at[:, :1] + at[:, 1:] * x[some])
    v = fitted * (1 - fitted)
    s0, s1, s2 = _moments(rows[some] * v, x[some])
    q0, q1, q2 = _moments(square[some] * v, x[some])
    spread = np.maximum(s0 * s2 - s1**2, 1e-300)
    error[some] = np.sqrt(s1**2 * q0 - 2 * s0 * s1 * q1 + s0**2 * q2) / spread
    a[some], b[some] = at.T
    return Fits(a, b, error, tuple(reasons))


def _without_fit(rows: FloatArray, x: FloatArray, observed: FloatArray) -> str | None:
    """Why a likelihood has no maximum: rows with and without the event must overlap both ways."""
    slack = 1e-12 * rows
    with_it, without = x[observed > slack], x[(rows > 0) & (observed < rows - slack)]
    if not len(with_it) or not len(without):
        return NO_ROWS if not rows.any() else NEVER if not len(with_it) else ALWAYS
    if np.ptp(x[rows > 0]) < 1e-9:
        return ONE_PROBABILITY
    overlaps = without.max() > with_it.min() and with_it.max() > without.min()
    return None if overlaps else SEPARATED


def _moments(v: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    return v.sum(axis=-1), (v * x).sum(axis=-1), (v * x**2).sum(axis=-1)


def _newton(n: FloatArray, x: FloatArray, y: FloatArray) -> FloatArray:
    """The coefficients (a, b) of greatest likelihood, (K, 2).

    A step that moves no log-odds by more than 1 raises the likelihood: along it the curvature
    n·p(1 - p) changes by less than the factor e, and 1 - ∫(1 - s)·eˢ ds = 3 - e > 0.
    """
    at, reach = np.tile([0.0, 1.0], (len(n), 1)), np.abs(x).max(axis=-1, initial=1.0)
    for _ in range(_MOST_STEPS):
        p = _logistic(at[:, :1] + at[:, 1:] * x)
        s0, s1, s2 = _moments(n * p * (1 - p), x)
        u0, u1, _ = _moments(y - n * p, x)
        determinant = s0 * s2 - s1**2
        regular = determinant > 1e-14 * s0 * s2
        scale = np.where(regular, 1 / np.where(regular, determinant, 1.0), 0.0)
        step = np.stack([s2 * u0 - s1 * u1, s0 * u1 - s1 * u0], axis=-1) * scale[:, None]
        moved = np.abs(step[:, 0]) + np.abs(step[:, 1]) * reach
        at = at + step / np.maximum(moved, 1.0)[:, None]
        if (moved <= _SMALL_STEP * (1 + np.abs(at).max(axis=-1))).all():
            break
    return at


def frequency_band(n: FloatArray, q: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """The frequencies between which X/n lies with at least this probability, X ~ Binomial(n, q).

    >>> low, high = frequency_band(np.array([10.0]), np.array([0.9]), 0.95)
    >>> low.tolist(), high.tolist()
    ([0.7], [1.0])
    """
    count, chance = n.ravel(), np.clip(q.ravel(), 0.0, 1.0)
    sd, z = np.sqrt(count * chance * (1 - chance)), normal_quantile(level)
    skew = (1 - 2 * chance) * (z**2 - 1) / 6
    ends = np.stack([np.ceil(count * chance + side * z * sd + skew - 0.5) for side in (-1, 1)])
    few = np.flatnonzero((sd**2 <= _MANY) & (chance > 0) & (chance < 1))
    for part in np.array_split(few, len(few) // 2**12 + 1):
        ends[:, part] = _exact_band(count[part, None], chance[part, None], level)
    certain = (chance <= 0) | (chance >= 1)
    ends = np.where(certain, count * chance, np.clip(ends, 0, count)) / np.maximum(count, 1e-300)
    return ends[0].reshape(q.shape), ends[1].reshape(q.shape)


def _exact_band(n: FloatArray, q: FloatArray, level: float) -> FloatArray:
    """The smallest counts at which the cumulated probability reaches (1 ∓ level)/2, (2, k)."""
    if not len(n):
        return np.empty((2, 0))
    reach = 8 * np.sqrt(n * q * (1 - q)) + 20
    start = np.maximum(0.0, np.floor(n * q - reach))
    width = int((np.minimum(n, np.ceil(n * q + reach)) - start).max()) + 1
    _, weight = binomial_window(n, q, start, width)
    cumulated = np.cumsum(weight, axis=1) / weight.sum(axis=1, keepdims=True)
    tails = ((1 - level) / 2, (1 + level) / 2)
    return np.asarray(
        start.T + np.stack([np.argmax(cumulated >= tail - 1e-12, axis=1) for tail in tails])
    )
