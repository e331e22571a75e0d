"""Tails of the observed number of an event: a sum of independent binomials, one for each cell."""

from __future__ import annotations

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference.events.tilt import log_odds, probability, solve_tilt

_NEGLIGIBLE = 40.0
"""-ln of what does not change a probability: 4e-18."""

_FAR = 1e-9
"""Smaller tails are computed from a tilted sum, because the plain inversion has an absolute error of about 1e-14."""

_CHUNK_VALUES = 2**17
"""Values of the characteristic function in memory at a time: they fit into the cache."""


def poisson_binomial_tails(
    n: FloatArray, p: FloatArray, starts: IntArray, observed: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """P(X ≤ O) and P(X ≥ O) of each event, (K,), for X = Σ Binomial(n, p) over its cells.

    n and p are (P,); the cells of event k begin at starts[k]. Exact but for rounding, for any number of rows: by
    inversion of the characteristic function, of which some forty values matter however large the variance is.

    >>> tails = poisson_binomial_tails(np.array([2.0]), np.array([0.5]), np.array([0]), np.array([2.0]))
    >>> [round(float(tail[0]), 12) for tail in tails]
    [1.0, 0.25]
    """
    law = _Law(n, p, starts)
    # Soft labels have fractional sums.
    below, above = np.floor(observed + 1e-9), np.ceil(observed - 1e-9)
    lower, upper = np.empty(len(starts)), np.empty(len(starts))
    for k in _chunks(law):
        lower[k], upper[k] = _by_inversion(law.select(k), below[k], above[k])
    for tail, edge, mirrored in ((lower, below, True), (upper, above, False)):
        far = np.flatnonzero((tail < _FAR) & (edge >= law.least) & (edge <= law.most) & (law.variance > 0))
        if len(far):
            part = law.select(far)
            tail[far] = (
                _far_upper_tail(part.mirrored(), part.rows - edge[far])
                if mirrored
                else _far_upper_tail(part, edge[far])
            )
    lower[below >= law.most], upper[above <= law.least] = 1.0, 1.0
    lower[below < law.least], upper[above > law.most] = 0.0, 0.0
    return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)


class _Law:
    """Moments and support of the sum of each event, (K,), and its cells, (P,)."""

    def __init__(self, n: FloatArray, p: FloatArray, starts: IntArray) -> None:
        self.n, self.p, self.starts = n, p, starts
        self.sizes = np.diff(np.append(starts, len(n)))
        self.owner = np.repeat(np.arange(len(starts)), self.sizes)
        self.mean, self.variance, self.rows = (self.total(each) for each in (n * p, n * p * (1 - p), n))
        self.least, self.most = self.total(np.where(p >= 1, n, 0.0)), self.total(np.where(p > 0, n, 0.0))
        self.reach = _reach(self.variance)
        self.n_frequencies = _n_frequencies(self.variance, 2 * self.reach)

    def total(self, by_cell: FloatArray) -> FloatArray:
        """Σ over the cells of each event."""
        return np.asarray(np.add.reduceat(by_cell, self.starts, axis=0))

    def select(self, events: IntArray) -> _Law:
        """The law of some of the events, which are in increasing order."""
        cells = np.isin(self.owner, events)
        sizes = self.sizes[events]
        return _Law(self.n[cells], self.p[cells], np.cumsum(sizes) - sizes)

    def mirrored(self) -> _Law:
        """The law of the number of rows without the event."""
        return _Law(self.n, 1 - self.p, self.starts)

    def tilted(self, theta: FloatArray) -> _Law:
        """The law with all odds multiplied by e^θ; 0 and 1 stay what they are."""
        inside = (self.p > 0) & (self.p < 1)
        moved = probability(log_odds(np.where(inside, self.p, 0.5)) + theta[self.owner])
        return _Law(self.n, np.where(inside, moved, self.p), self.starts)

    def log_moment(self, theta: FloatArray) -> FloatArray:
        """K(θ) = ln E e^{θX} = Σ n·ln(1 - p + p·e^θ)."""
        with np.errstate(divide="ignore"):
            return self.total(self.n * np.logaddexp(np.log1p(-self.p), np.log(self.p) + theta[self.owner]))


def _reach(variance: FloatArray) -> FloatArray:
    """A distance from the mean beyond which less than e⁻⁴⁰ lies, by Bernstein's inequality.

    P(|X - μ| ≥ h) ≤ 2·exp(-h²/(2(σ² + h/3))).
    """
    a = _NEGLIGIBLE / 3
    return np.asarray(np.ceil(a + np.sqrt(a**2 + 2 * _NEGLIGIBLE * variance)) + 1)


def _n_frequencies(variance: FloatArray, length: FloatArray) -> IntArray:
    """How many frequencies 2πk/L matter: the characteristic function is at most exp(-σ²(1 - cos t)) in modulus."""
    cosine = np.clip(1 - _NEGLIGIBLE / np.maximum(variance, 1e-300), -1.0, 1.0)
    return np.minimum(np.ceil(np.arccos(cosine) * length / (2 * np.pi)), length // 2).astype(np.int64)


def _chunks(law: _Law) -> list[IntArray]:
    """The events in parts of similar numbers of frequencies, whose characteristic functions fit into the cache."""
    order = np.argsort(law.n_frequencies, kind="stable")
    work = np.cumsum((law.n_frequencies * law.sizes)[order])
    parts = np.split(order, np.flatnonzero(np.diff(work // _CHUNK_VALUES)) + 1)
    return [np.sort(part) for part in parts]


class _Spectrum:
    """The characteristic function of X - μ of each event at t = 2πk/L, k = 1, 2, …, (K, F)."""

    def __init__(self, law: _Law) -> None:
        self.law, self.length, self.first = law, 2 * law.reach, np.floor(law.mean) - law.reach + 1
        k, length = np.arange(1, law.n_frequencies.max() + 1), self.length[:, None]
        self.t = 2 * np.pi * k / length
        modulus, self.phase = _characteristic(law, self.t)
        # The last frequency, k = L/2, is its own mirror image; all others count twice.
        twice = np.where(2 * k == length, 1.0, 2.0)
        self.modulus = np.where(k > law.n_frequencies[:, None], 0.0, twice * modulus)

    @property
    def last(self) -> FloatArray:
        """The last count of the window of each event."""
        return np.asarray(self.first + self.length - 1)

    def between(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """P(a ≤ X ≤ b) = (1/L)·Σ_k φ(t_k)·Σ_{x=a}^{b} e^{-i·t_k·x}; the inner sum is geometric."""
        a, b = np.maximum(a, self.first), np.minimum(b, self.last)
        width, centre = np.maximum(b - a + 1, 0.0), (a + b) / 2 - self.law.mean
        kernel = np.sin(self.t * (width / 2)[:, None]) / np.sin(self.t / 2)
        waves = self.modulus * kernel * np.cos(self.phase - self.t * centre[:, None])
        return np.asarray((width + waves.sum(axis=1)) / self.length)

    def discounted(self, a: FloatArray, theta: FloatArray) -> FloatArray:
        """Σ_{j≥0} e^{-θj}·P(X = a + j), θ > 0, by the same geometric sum."""
        terms = np.maximum(self.last - a + 1, 0.0)[:, None]
        start = np.exp(1j * (self.phase - self.t * (a - self.law.mean)[:, None]))
        ratio = -theta[:, None] - 1j * self.t
        waves = self.modulus * (start * np.expm1(terms * ratio) / np.expm1(ratio)).real
        whole = np.expm1(-terms[:, 0] * theta) / np.expm1(-theta)
        return np.asarray((whole + waves.sum(axis=1)) / self.length)


def _characteristic(law: _Law, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Modulus and argument of E exp(i·t·(X - μ)), (K, F).

    A cell with p > ½ is the mirror image of one with 1 - p, so that n·(argument - t·p) keeps its digits.
    """
    rare = np.minimum(law.p, 1 - law.p)[:, None]
    side = np.where(law.p > 0.5, -law.n, law.n)[:, None]
    versine, sine, by_cell = 2 * np.sin(t / 2) ** 2, np.sin(t), law.owner
    with np.errstate(divide="ignore"):  # 0 at t = π for p = ½
        log_square = np.log1p(-2 * rare * (1 - rare) * versine[by_cell])
    argument = np.arctan2(rare * sine[by_cell], 1 - rare * versine[by_cell]) - rare * t[by_cell]
    return np.exp(law.total(law.n[:, None] / 2 * log_square)), law.total(side * argument)


def _by_inversion(law: _Law, below: FloatArray, above: FloatArray) -> tuple[FloatArray, FloatArray]:
    """P(X ≤ below) and P(X ≥ above)."""
    spectrum = _Spectrum(law)
    return spectrum.between(spectrum.first, below), spectrum.between(above, spectrum.last)


def _far_upper_tail(law: _Law, edge: FloatArray) -> FloatArray:
    """P(X ≥ O) far above the mean, to about 1e-12 of itself.

    P(X = k) = e^{K(θ) - θk}·P_θ(X = k), where P_θ is the law with all odds multiplied by e^θ. θ is chosen such that the
    mean of P_θ is O - ½; the sum over k ≥ O then has no small differences of large terms.
    """
    inside = (law.p > 0) & (law.p < 1)
    x, n = log_odds(np.where(inside, law.p, 0.5)), np.where(inside, law.n, 0.0)
    target = edge - 0.5 - law.least
    theta = solve_tilt(x, np.ones(len(n)), n, target, law.starts)
    scale = np.exp(np.minimum(law.log_moment(theta) - theta * edge, 0.0))
    return np.asarray(scale * _Spectrum(law.tilted(theta)).discounted(edge, theta))
