"""The numbers from their definitions: plain NumPy, with distributions and roots from SciPy.

A number is exact, or known within an error that follows from what is simulated: a `Near`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom, norm

Array = np.ndarray
DRAWS, THEIRS, ERRORS = 4000, 999, 5
"""Draws here and in the package, and the number of standard errors that are allowed."""


class Near(NamedTuple):
    """A number within an error."""

    value: float
    error: float = 0.0


def entropy(x: Array) -> Array:
    """H(x)/ln C along the last axis, with 0 ln 0 = 0."""
    return -(x * np.log(np.where(x > 0, x, 1))).sum(axis=-1) / math.log(x.shape[-1])


def simulated(draws: Array) -> Near:
    """The mean of draws, which the package estimates from draws of its own."""
    error = ERRORS * draws.std() * math.sqrt(1 / THEIRS + 1 / len(draws))
    return Near(float(draws.mean()), float(error))


class Bins:
    """Rows in ten bins that are closed on the right: mean ordered predictions, ranks, draws."""

    def __init__(self, p: Array, rank: Array, at: Array, low: float, rows: tuple[Array, float]) -> None:
        weight, snap = rows
        edges = low + (1 - low) * np.arange(1, 10) / 10
        bin_of = (at[:, None] > edges + (1 - low) * snap).sum(axis=1)
        self.rows, self.at = np.bincount(bin_of, minlength=10), np.unique(bin_of)
        self.bin_of, self.weight = bin_of, weight
        mass = self.mean(np.ones(len(at)), total=True)
        self.share = mass / weight.sum()
        self.n = np.rint(mass**2 / np.bincount(bin_of, weight**2, 10)[self.at]).astype(int)
        self.q = np.stack([self.mean(column) for column in p.T], axis=1)
        self.q /= self.q.sum(axis=1, keepdims=True)
        self.r = np.stack([self.mean(rank == k) for k in range(p.shape[1])], axis=1)
        rng = np.random.default_rng(7)
        smooth = (self.n[:, None] * self.r + self.q) / (self.n[:, None] + 1)
        self.null, self.around = (
            np.stack([rng.multinomial(n, x, DRAWS) / n for n, x in zip(self.n, of, strict=True)], axis=1)
            for of in (self.q, smooth)
        )

    def mean(self, values: Array, total: bool = False) -> Array:
        """The weighted mean of the rows of each bin that holds some."""
        sums = np.bincount(self.bin_of, self.weight * values, 10)[self.at]
        return sums if total else sums / np.bincount(self.bin_of, self.weight, 10)[self.at]

    def size_of_noise(self) -> Array:
        """E|X/n - q|, X ~ Binomial(n, q), of each rank in each bin."""
        rows = [(np.arange(n + 1), n, q) for n, q in zip(self.n, self.q, strict=True)]
        return np.array([[binom.pmf(k, n, x) @ np.abs(k / n - x) for x in q] for k, n, q in rows])

    def bias(self) -> Array:
        """H(q_β) - E[H(X/n)], X ~ Multinomial(n, q_β), at the most likely β; binomial by binomial.

        What is expected in less than a thousandth of a row counts as that much.
        """
        logs = np.log(np.maximum(self.q, 1e-3 / (self.n[:, None] * self.q.shape[1])))

        def at(beta: float) -> Array:
            powers = np.exp(beta * logs - (beta * logs).max(axis=1, keepdims=True))
            return powers / powers.sum(axis=1, keepdims=True)

        def excess(beta: float) -> float:
            return float(self.n @ ((at(beta) - self.r) * logs).sum(axis=1))

        q = at(brentq(excess, 0.01, 50, xtol=1e-13))
        expected = [
            -sum(float(binom.pmf(k := np.arange(1, n + 1), n, x) @ (k / n * np.log(k / n))) for x in row)
            for n, row in zip(self.n, q, strict=True)
        ]
        return entropy(q) - np.array(expected) / math.log(q.shape[1])


def debiased(share: Array, gap: Array, draws: Sequence[Array]) -> Near:
    """t·T with Σ w E|N(t·gap, σ)| = T, the sum of the sizes; σ is the larger of two draws."""
    total = float(share @ np.abs(gap))
    sd = np.max([some.std(axis=0) for some in draws], axis=0)
    slack = ERRORS * math.sqrt(1 / (2 * THEIRS) + 1 / (2 * DRAWS))
    ends = [scaled(share, gap, sd * factor, total) for factor in (1 + slack, 1 - slack)]
    return Near(sum(ends) / 2, (ends[1] - ends[0]) / 2)


def scaled(share: Array, gap: Array, sd: Array, total: float) -> float:
    def excess(t: float) -> float:
        z = t * gap / np.where(sd > 0, sd, 1)
        folded = sd * math.sqrt(2 / math.pi) * np.exp(-(z**2) / 2) + t * gap * (1 - 2 * norm.cdf(-z))
        return float(share @ np.where(sd > 0, folded, np.abs(t * gap))) - total

    return 0.0 if excess(0) >= 0 else total * (1.0 if excess(1) <= 0 else brentq(excess, 0, 1))


def numbers(y: Array, p: Array, weight: Array | None = None) -> dict[str, Any]:
    """Everything that an assessment prints of classes, by name."""
    eps, p = max(2.0**-22, 4 * np.finfo(p.dtype).eps), p.astype(float)
    (n, classes), w = p.shape, np.ones(len(p)) if weight is None else weight
    order = np.argsort(-p, axis=1, kind="stable")
    q, rank, true = (
        np.take_along_axis(p, order, 1),
        (order == y[:, None]).argmax(axis=1),
        p[np.arange(n), y],
    )
    v = np.clip(entropy(p), 0, 1)
    by_entropy = Bins(q, rank, v, 0.0, (w, eps))
    by_top = Bins(q, rank, q[:, 0], 1 / classes, (w, eps))
    b, t, total = by_entropy, by_top, w.sum()
    gap, top_gap, stated = entropy(b.r) - entropy(b.q), t.q[:, 0] - t.r[:, 0], b.mean(v)
    null, top_null = entropy(b.null) - entropy(b.q), t.null[:, :, 0] - t.q[:, 0]
    unbiased = gap + b.bias()
    hits, exact = w @ (rank == 0) / total, {}
    for c in range(classes):
        expected, observed = float(w @ p[:, c]), float(w @ (y == c))
        exact |= {f"class {c} expected": expected, f"class {c} observed": observed}
        exact |= {f"class {c} gap": (expected - observed) / total}
    sd = b.size_of_noise() * math.sqrt(math.pi / 2)
    seen = b.r[:, 1:].max(axis=1) > b.r[:, 0]
    return exact | {
        "rows": n,
        "classes": classes,
        "of class": classes,
        "VCE plug-in": b.share @ np.abs(gap),
        "VCE floor": simulated(np.abs(null) @ b.share),
        "VCE debiased": debiased(b.share, unbiased, (entropy(b.null), entropy(b.around))),
        "net gap plug-in": b.share @ gap,
        "net gap floor": simulated(null @ b.share),
        "net gap debiased": b.share @ unbiased,
        "ECE plug-in": t.share @ np.abs(top_gap),
        "ECE floor": simulated(np.abs(top_null) @ t.share),
        "ECE debiased": debiased(t.share, top_gap, (t.null[:, :, 0], t.around[:, :, 0])),
        "RCE plug-in": (rce := float(b.share @ np.abs(b.r - b.q).sum(axis=1)) / 2),
        "RCE debiased": scaled(np.repeat(b.share / 2, classes), (b.r - b.q).ravel(), sd.ravel(), rce),
        "RCE floor": simulated(np.abs(b.null - b.q).sum(axis=2) @ b.share / 2),
        "UCE": b.share @ np.abs(1 - b.r[:, 0] - stated),
        "UCE calibrated": simulated(np.abs(1 - b.null[:, :, 0] - stated) @ b.share),
        "accuracy": hits,
        "accuracy in %": 100 * hits,
        "confidence in %": 100 * (w @ q[:, 0]) / total,
        "Brier score": w @ ((p - np.eye(classes)[y]) ** 2).sum(axis=1) / total,
        "log-loss": -(w @ np.log(np.where(true > 0, true, 1))) / total if (true > 0).all() else math.inf,
        "impossible rows": int((true == 0).sum()),
        "tied rows": int(((p == true[:, None]).sum(axis=1) > 1).sum()),
        "filled bins": len(b.at),
        "empty bins": 10 - len(b.at),
        "thin bins": int((b.n < 10).sum()),
        "lower-rank bins": int(seen.sum()),
        "place": int(b.at[seen][0]) + 1 if seen.any() else math.nan,
    }


def event_numbers(y: Array, p: Array) -> dict[str, Any]:
    """Everything that is printed of an event, by name."""
    expected, observed, n = p.sum(), y.sum(), len(y)
    bin_of = (p[:, None] > np.arange(1, 10) / 10 * (1 + 2.0**-22)).sum(axis=1)
    rows, at = np.bincount(bin_of, minlength=10), np.unique(bin_of)
    share, rng = rows[at] / n, np.random.default_rng(8)

    def means(values: Array) -> Array:
        return np.bincount(bin_of, values, 10)[at] / rows[at]

    gap, exact = means(p) - means(y), {}
    for k, m in enumerate(at):
        found = {"rows": rows[m], "predicted": means(p)[k], "observed": means(y)[k], "gap": gap[k]}
        exact |= {f"bin {rows[m]:,} {name}": value for name, value in found.items()}
    null = np.array([np.abs(means(p) - means(rng.random(n) < p)) @ share for _ in range(DRAWS)])
    smooth = (rows[at] * means(y) + means(p)) / (rows[at] + 1)
    draws = [rng.binomial(rows[at], x, (DRAWS, len(at))) / rows[at] for x in (means(p), smooth)]
    x = np.stack([np.ones(n), np.log(p / (1 - p))], axis=1)
    fit, covariance = logistic(x, y)  # by row; the package fits to cells, the widest of 1/32 of p
    names = {"event Cox intercept": 0, "event Cox slope": 1}
    cox = {
        f"{name}{end}": Near(fit[k] + side * norm.ppf(0.975) * math.sqrt(covariance[k, k]), 1e-3)
        for name, k in names.items()
        for end, side in (("", 0), (" low", -1), (" high", 1))
    }
    return (
        exact
        | cox
        | {
            "event rows": n,
            "event rate in %": 100 * observed / n,
            "event gap in the large": (expected - observed) / n,
            "event expected": expected,
            "event observed": observed,
            "event ratio": observed / expected,
            "event ECE, plug-in": share @ np.abs(gap),
            "event ECE, debiased": debiased(share, gap, draws),
            "event ECE, plug-in calibrated": simulated(null),
            "event Brier score": ((p - y) ** 2).mean(),
            "event Brier score calibrated": (p * (1 - p)).mean(),
            "event log-loss": -np.log(np.where(y, p, 1 - p)).mean(),
            "event log-loss calibrated": -(p * np.log(p) + (1 - p) * np.log(1 - p)).mean(),
        }
    )


def logistic(x: Array, y: Array) -> tuple[Array, Array]:
    """The maximum of the likelihood by Newton's steps, and the inverse information there."""
    b = np.array([0.0, 1.0])
    for _ in range(50):
        m = 1 / (1 + np.exp(-x @ b))
        inverse = np.linalg.inv(x.T @ (x * (m * (1 - m))[:, None]))
        b = b + inverse @ (x.T @ (y - m))
    return b, inverse
