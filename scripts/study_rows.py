"""The rows of scripts/study.py: calibrated ones, those with errors, and those with clusters.

They are drawn by NumPy alone, so that they stay the same when the package changes.
"""

import math
import re
import zlib
from collections.abc import Callable
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
Rng = np.random.Generator


class Drawn(NamedTuple):
    """Rows, with the distributions that their labels were drawn from."""

    truth: Array
    y_true: Array
    y_prob: Array
    given: dict[str, Any]
    """What else `assess` is given."""


# What can be wrong: from calibrated rows the distributions of the labels, and the predictions -----


def normal(p: Array) -> Array:
    return p / p.sum(axis=1, keepdims=True)


def powers(p: Array, exponent: Any) -> Array:
    logs = np.broadcast_to(exponent, len(p))[:, None] * np.log(p)
    return normal(np.exp(logs - logs.max(axis=1, keepdims=True)))


def sharp(p: Array, exponent: Any, chosen: Any = True) -> tuple[Array, Array]:
    return p, powers(p, np.where(chosen, exponent, 1.0))


def tilted(p: Array, c: int, factor: float) -> Array:
    return normal(p * np.where(np.arange(p.shape[1]) == c % p.shape[1], factor, 1.0))


def between(p: Array, low: float, high: float) -> Array:
    """Rows whose confidence is between two of its quantiles."""
    top = p.max(axis=1)
    return (np.quantile(top, low) <= top) & (top <= np.quantile(top, high))


def exchanged(p: Array, rng: Rng) -> tuple[Array, Array]:
    """Ranks 2 and 3 exchanged in some rows; of two classes both."""
    share, first = {2: (0.02, 0), 3: (0.15, 1)}.get(p.shape[1], (0.3, 1))
    places = np.argsort(-p, axis=1, kind="stable")[:, [first, first + 1]]
    other = p.copy()
    np.put_along_axis(other, places, np.take_along_axis(p, places[:, ::-1], axis=1), axis=1)
    return p, np.where(rng.random((len(p), 1)) < share, other, p)


def flat_tail(p: Array, _: Rng) -> tuple[Array, Array]:
    """Labels whose lower ranks are more even than predicted."""
    places, flat = np.argsort(-p, axis=1, kind="stable")[:, 1:], p.copy()
    tail, amount = np.take_along_axis(p, places, axis=1), 0.25 if p.shape[1] == 3 else 0.15
    tail += amount * (tail.mean(axis=1, keepdims=True) - tail)
    np.put_along_axis(flat, places, tail, axis=1)
    return flat, p


def one_class(p: Array, _: Rng) -> tuple[Array, Array]:
    """The log-odds of class 0 times 1.5, its mean kept."""
    first, low, high = np.minimum(p[:, 0], 1 - 1e-12), -20.0, 20.0
    for _ in range(60):
        wrong = 1 / (1 + np.exp(-1.5 * np.log(first / (1 - first)) - (low + high) / 2))
        middle = (low + high) / 2
        low, high = (middle, high) if wrong.mean() < first.mean() else (low, middle)
    q = p * ((1 - wrong) / (1 - first))[:, None]
    q[:, 0] = wrong
    return p, normal(q)


def confused(p: Array, _: Rng) -> tuple[Array, Array]:
    """A tenth of the labels of class 0 is class 1 instead."""
    truth = p.copy()
    truth[:, 1] += 0.1 * p[:, 0]
    truth[:, 0] *= 0.9
    return truth, p


def waves(x: Array) -> Array:
    return np.exp(0.5 * np.sin(6 * np.pi * x))


def entropy(p: Array) -> Array:
    return -(p * np.log(p)).sum(axis=1) / math.log(p.shape[1])


ERRORS: dict[str, Callable[[Array, Rng], tuple[Array, Array]]] = {
    "sharp-0.8": lambda p, _: sharp(p, 0.8),
    "sharp-1.25": lambda p, _: sharp(p, 1.25),
    "sharp-1.5": lambda p, _: sharp(p, 1.5),
    "shift": lambda p, _: (tilted(p, -1, 1.3), p),
    "swap": exchanged,
    "class-temperature": lambda p, _: sharp(p, 1.35, p.argmax(axis=1) == 0),
    "region": lambda p, _: sharp(p, 1.4, between(p, 0.5, 0.75)),
    "subgroup": lambda p, rng: sharp(p, 3.0, rng.random(len(p)) < 0.05),
    "logit-noise": lambda p, rng: (p, normal(p * np.exp(rng.normal(0, 0.4, p.shape)))),
    "one-class": one_class,
    "tail": flat_tail,
    "low": lambda p, _: sharp(p, 1.6, between(p, 0, 0.25)),
    # Kept aside.
    "entropy-waves": lambda p, _: sharp(p, waves(entropy(p))),
    "confidence-waves": lambda p, _: sharp(p, waves(p.max(axis=1))),
    "label-noise": lambda p, _: (0.95 * p + 0.05 / p.shape[1], p),
    "two-halves": lambda p, rng: sharp(p, np.where(rng.random(len(p)) < 0.5, 1.4, 1 / 1.4)),
    "smoothing": lambda p, _: (p, 0.93 * p + 0.07 / p.shape[1]),
    "most-certain": lambda p, _: sharp(p, 2.0, between(p, 0.9, 1)),
    "offsets": lambda p, _: (p, normal(p * np.where(np.arange(p.shape[1]) % 2, 0.85, 1.15))),
    "confusion": confused,
}

# Rows by kind, from the words of a cell's name ----------------------------------------------------


def labelled(rng: Rng, truth: Array, p: Array, level: Any = None, **given: Any) -> Drawn:
    level = rng.random(len(truth)) if level is None else level
    y = (np.cumsum(truth, axis=1) < level[:, None]).sum(axis=1)
    return Drawn(truth, np.minimum(y, truth.shape[1] - 1), p, given)


def repeated(drawn: Drawn, size: Any) -> Drawn:
    one = np.repeat(np.arange(len(drawn.truth)), size)
    return Drawn(drawn.truth[one], drawn.y_true[one], drawn.y_prob[one], {"clusters": one})


def dirichlet(rng: Rng, rows: int, alpha: Any) -> Array:
    return normal(np.maximum(rng.dirichlet(alpha, rows), 1e-12))


def power(rng: Rng, *, error: str, rows: int, classes: int, shape: str) -> Drawn:
    alpha = [0.2 if shape == "peaked" else 1.0] * classes
    alpha[0] = 10.0 if shape == "skew" else alpha[0]
    return labelled(rng, *ERRORS[error](dirichlet(rng, rows, alpha), rng))


def plain(
    rng: Rng,
    *,
    rows: int,
    classes: int,
    alpha: float = 1,
    exponent: float = 1,
    clusters: int = 0,
    weights: str = "",
) -> Drawn:
    """Independent rows, also in clusters that share nothing."""
    p, given = dirichlet(rng, rows, [alpha] * classes), {}
    q = powers(p, exponent)
    if clusters:
        given["clusters"] = np.arange(rows) * clusters // rows
    if weights:
        alike = weights == "lognormal"
        given["sample_weight"] = np.exp(rng.normal(size=rows)) if alike else 1 / (1.02 - q.max(1))
    return labelled(rng, p, q, **given)


def event(rng: Rng, *, rows: int, prevalence: float) -> Drawn:
    p = 1 / (1 + np.exp(-rng.standard_normal(rows)) * (1 - prevalence) / prevalence)
    p = np.stack([1 - p, p], axis=1)
    return labelled(rng, p, p)


def votes(rng: Rng, *, rows: int, classes: int, of: int, alpha: float = 1) -> Drawn:
    """Soft labels: the shares of so many votes."""
    p = dirichlet(rng, rows, [alpha] * classes)
    return Drawn(p, rng.multinomial(of, p) / of, p, {"soft_labels": True})


def copies(rng: Rng, *, clusters: int, size: Any, classes: int, alpha: float = 1) -> Drawn:
    drawn = plain(rng, rows=clusters, classes=classes, alpha=alpha)
    if size == "unequal":
        size = np.maximum(1, np.exp(rng.normal(2, 1.3, clusters)).round()).astype(int)
    return repeated(drawn, size)


def copula(rng: Rng, *, clusters: int, size: int, classes: int, rho: float, exponent: float = 1) -> Drawn:
    """Rows of their own whose labels depend on one another within clusters."""
    one = np.repeat(np.arange(clusters), size)
    p = dirichlet(rng, len(one), [1.0] * classes)
    z = math.sqrt(rho) * rng.standard_normal(clusters)[one]
    z += math.sqrt(1 - rho) * rng.standard_normal(len(one))
    level = np.array([math.erfc(-x / math.sqrt(2)) / 2 for x in z])
    return labelled(rng, p, powers(p, exponent), level, clusters=one)


def patients(rng: Rng, *, clusters: int, size: int, prevalence: float, shift: float = 0) -> Drawn:
    """An event that all rows of a patient share; predictions shifted by so many logits."""
    risk = rng.beta(prevalence * 10, (1 - prevalence) * 10, clusters).clip(1e-4, 1 - 1e-4)
    p = np.stack([1 - risk, risk], axis=1)
    return repeated(labelled(rng, p, tilted(p, 1, math.exp(shift))), size)


def clips(rng: Rng, *, clusters: int, size: int, wrong: float, classes: int) -> Drawn:
    """Clips of film: one prediction and one label for all frames."""
    sure = 1 - rng.beta(1, 1 / wrong - 1, clusters)
    p = np.repeat(((1 - sure) / (classes - 1))[:, None], classes, axis=1)
    p[np.arange(clusters), rng.integers(classes, size=clusters)] = sure
    p = normal(np.maximum(p, 1e-9))
    return repeated(labelled(rng, p, p), size)


def shared(rng: Rng, *, clusters: int, size: int, classes: int, rare: int, prevalence: float) -> Drawn:
    """Rare classes that all rows of a cluster have, or none."""
    one, common = np.repeat(np.arange(clusters), size), classes - rare
    often = dirichlet(rng, len(one), [1.0] * common)
    which = (rng.random(clusters) / prevalence).astype(int)[one]
    y = np.where(which < rare, common + which, labelled(rng, often, often).y_true)
    p = np.hstack([often * (1 - rare * prevalence), np.full((len(one), rare), prevalence)])
    return Drawn(p, y, p, {"clusters": one})


def pair(rng: Rng, *, rows: int, classes: int, a: float, b: float, rho: float = 0) -> tuple[Drawn, Array]:
    """Two models: each confuses two classes in half of its rows, and is sharpened."""
    how: dict[str, Any] = {"classes": classes, "alpha": 0.05 if classes == 100 else 1.0}
    clustered = {"clusters": rows // 20, "size": 20, "classes": classes, "rho": rho}
    drawn = copula(rng, **clustered) if rho else plain(rng, rows=rows, **how)
    models = []
    for exponent in (a, b):
        q, half = drawn.truth.copy(), np.flatnonzero(rng.random(rows) < 0.5)
        i = rng.integers(classes, size=len(half))
        j = (i + rng.integers(1, classes, len(half))) % classes
        q[half, i] = q[half, j] = (q[half, i] + q[half, j]) / 2
        models.append(powers(q, exponent))
    return drawn._replace(y_prob=models[0]), models[1]


def look(
    rng: Rng, *, classes: int, rows: int, exponent: Any, tolerance: float, max_cluster: int = 1
) -> Drawn:
    """One look of a monitor, which has the last two words as settings."""
    del tolerance
    alpha = [10.0 if classes == 10 else 1.0, *[1.0] * (classes - 1)]
    p = dirichlet(rng, rows // max_cluster, alpha)
    if exponent == "top":
        q = normal(p * np.where(p == p.max(axis=1, keepdims=True), math.exp(0.2), 1.0))
    else:
        q = powers(p, exponent)
    return repeated(labelled(rng, p, q), max_cluster)


KINDS: dict[str, Callable[..., Any]] = {
    it.__name__: it for it in (power, event, votes, copies, copula, patients, clips, shared, pair, look)
}
KINDS["rows"] = plain


def arguments(cell: str) -> dict[str, Any]:
    words = dict(word.split("=") for word in cell.split()[1:])
    number = {k: float(v) for k, v in words.items() if re.fullmatch(r"[\d.]+", v)}
    return words | number | {k: int(v) for k, v in words.items() if v.isdigit()}


def draw(cell: str, run: int, **other: Any) -> Any:
    seed = [*blake2b(cell.encode(), digest_size=8).digest(), run]
    return KINDS[cell.partition(" ")[0]](np.random.default_rng(seed), **arguments(cell) | other)


def checksum(cell: str) -> int:
    """That of the labels of the first run."""
    drawn = draw(cell, 0)
    y = (drawn[0] if isinstance(drawn[0], Drawn) else drawn).y_true
    return zlib.crc32(np.rint(np.asarray(y) * 1000).astype("<i4").tobytes())
