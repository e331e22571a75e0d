"""Ways to combine the p-values of all tests of the same rows into one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from inference_study.all_tests import TESTS

Combination = Callable[[np.ndarray], np.ndarray]
"""From p-values, (runs, tests), to one for each run."""

RANKS = ("VCE, centred", "net gap", "ECE", "RCE", "RCE W1")
SCORES = ("log-score", "cumulative log-score")
CLASSES = ("classes, BH", "log-score by predicted class")
ALL = (*RANKS, *SCORES, *CLASSES)


def _columns(p: np.ndarray, names: Sequence[str]) -> np.ndarray:
    return p[:, [TESTS.index(name) for name in names]]


def cauchy(names: Sequence[str], weights: Sequence[float] | None = None, most: float = 0.9) -> Combination:
    """The Cauchy combination, in which larger p-values than `most` count as this."""
    return lambda p: _cauchy(_columns(p, names), weights, most)


def _cauchy(p: np.ndarray, weights: Sequence[float] | None = None, most: float = 0.9) -> np.ndarray:
    w = np.where(np.isnan(p), 0.0, np.ones(p.shape[1]) if weights is None else np.asarray(weights))
    t = 1 / np.tan(np.pi * np.clip(np.where(np.isnan(p), 0.5, p), 1e-300, most))
    return np.asarray(0.5 - np.arctan((w * t).sum(axis=1) / w.sum(axis=1)) / np.pi)


def smallest(names: Sequence[str], times: float | None = None) -> Combination:
    """The smallest p-value times the number of tests (Bonferroni), or times another number."""

    def combine(p: np.ndarray) -> np.ndarray:
        q = _columns(p, names)
        k = (~np.isnan(q)).sum(axis=1)
        return np.minimum(np.nanmin(q, axis=1) * (k if times is None else np.minimum(k, times)), 1.0)

    return combine


def simes(names: Sequence[str]) -> Combination:
    """Simes' combination, min_i p_(i)·k/i."""

    def combine(p: np.ndarray) -> np.ndarray:
        q = np.sort(_columns(p, names), axis=1)  # NaN last
        k = (~np.isnan(q)).sum(axis=1, keepdims=True)
        return np.asarray(np.nanmin(q * k / np.arange(1, q.shape[1] + 1), axis=1))

    return combine


def power_mean(names: Sequence[str], r: float) -> Combination:
    """The mean of order r, times the factor that makes it valid for independent tests (found numerically)."""
    factor = _factor(len(names), r)

    def combine(p: np.ndarray) -> np.ndarray:
        q = _columns(p, names)
        return np.minimum(factor * np.nanmean(q**r, axis=1) ** (1 / r), 1.0)

    return combine


def _factor(k: int, r: float) -> float:
    uniform = np.random.default_rng(0).random((200_000, k))
    return float(0.05 / np.quantile(np.mean(uniform**r, axis=1) ** (1 / r), 0.05))


def tree(
    families: Sequence[tuple[Sequence[str], float]],
    within: Callable[[np.ndarray], np.ndarray] = _cauchy,
    across: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> Combination:
    """Combined within each family first, then across families, which have weights."""
    weights = np.array([weight for _, weight in families])
    join = across or (lambda q, w: _cauchy(q, w.tolist()))

    def combine(p: np.ndarray) -> np.ndarray:
        q = np.stack([within(_columns(p, names)) for names, _ in families], axis=1)
        return np.minimum(join(q, weights), 1.0)

    return combine


def weighted_smallest(q: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """min p/w, with weights that sum to 1."""
    return np.asarray(np.nanmin(q * weights.sum() / weights, axis=1))


def sidak(q: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """1 - (1 - min p)^k for k families of equal weight."""
    return np.asarray(1 - (1 - np.nanmin(q, axis=1)) ** len(weights))


_FEW = ("RCE", "net gap", "log-score", "cumulative log-score", "classes, BH", "log-score by predicted class")
_FOUR = ("RCE", "cumulative log-score", "classes, BH", "log-score by predicted class")
_FIVE = ("RCE", "log-score", "cumulative log-score", "classes, BH", "log-score by predicted class")
_SIX = ("VCE, centred", *_FIVE)

COMBINATIONS: dict[str, Combination] = {
    "Cauchy of ranks and log-score (before)": cauchy((*RANKS, "log-score")),
    "Cauchy of all nine": cauchy(ALL),
    "**Cauchy of all nine, cumulative log-score double**": cauchy(ALL, [1, 1, 1, 1, 1, 1, 2, 1, 1]),
    "Cauchy, without RCE W1": cauchy([name for name in ALL if name != "RCE W1"]),
    "Cauchy, without RCE W1, ECE": cauchy([name for name in ALL if name not in {"RCE W1", "ECE"}]),
    "Cauchy of VCE, RCE, log-score, cumulative, classes, Q": cauchy(_SIX),
    "Cauchy of net, RCE, log-score, cumulative, classes, Q": cauchy(_FEW),
    "Cauchy of RCE, log-score, cumulative, classes, Q": cauchy(_FIVE),
    "Cauchy of RCE, cumulative, classes, Q": cauchy(_FOUR),
    "Cauchy of all nine, p to .5": cauchy(ALL, most=0.5),
    "Cauchy of six, cumulative log-score double": cauchy(_SIX, [1, 1, 1, 2, 1, 1]),
    "Cauchy of all nine, p to .99": cauchy(ALL, most=0.99),
    "Cauchy of five, p to .5": cauchy(_FIVE, most=0.5),
    "Cauchy, classes and Q double": cauchy(ALL, [1, 1, 1, 1, 1, 1, 1, 2, 2]),
    "Cauchy, classes, Q, log-score, cumulative double": cauchy(ALL, [1, 1, 1, 1, 1, 2, 2, 2, 2]),
    "Cauchy, classes, Q, log-score, cumulative triple": cauchy(ALL, [1, 1, 1, 1, 1, 3, 3, 3, 3]),
    "Cauchy, classes, Q, cumulative triple": cauchy(ALL, [1, 1, 1, 1, 1, 1, 3, 3, 3]),
    "Bonferroni of all nine": smallest(ALL),
    "Simes of all nine": simes(ALL),
    "Simes of five": simes(_FIVE),
    "Bonferroni of four": smallest(_FOUR),
    "smallest of nine, times 5": smallest(ALL, 5),
    "smallest of nine, times 4": smallest(ALL, 4),
    "harmonic mean of all nine": power_mean(ALL, -1),
    "mean of order -2 of all nine": power_mean(ALL, -2),
    "mean of order -.5 of all nine": power_mean(ALL, -0.5),
    "tree: Cauchy of ranks and scores; classes; Q; smallest x 3": tree(
        [((*RANKS, *SCORES), 1), (("classes, BH",), 1), (("log-score by predicted class",), 1)],
        across=weighted_smallest,
    ),
    "tree: the same, Cauchy across": tree(
        [((*RANKS, *SCORES), 1), (("classes, BH",), 1), (("log-score by predicted class",), 1)]
    ),
    "tree: ranks; scores; classes; Q, Cauchy": tree(
        [(RANKS, 1), (SCORES, 1), (("classes, BH",), 1), (("log-score by predicted class",), 1)]
    ),
    "tree: ranks; scores; classes; Q, Sidak": tree(
        [(RANKS, 1), (SCORES, 1), (("classes, BH",), 1), (("log-score by predicted class",), 1)], across=sidak
    ),
    "tree: ranks; scores; classes; Q, smallest": tree(
        [(RANKS, 1), (SCORES, 1), (("classes, BH",), 1), (("log-score by predicted class",), 1)],
        across=weighted_smallest,
    ),
    "tree: ranks; scores double; classes; Q, Cauchy": tree(
        [(RANKS, 1), (SCORES, 2), (("classes, BH",), 1), (("log-score by predicted class",), 1)]
    ),
    "tree: ranks half; scores; classes; Q, Cauchy": tree(
        [(RANKS, 0.5), (SCORES, 1), (("classes, BH",), 1), (("log-score by predicted class",), 1)]
    ),
    "tree: RCE half; scores; classes; Q, Cauchy": tree(
        [(("RCE", "RCE W1"), 0.5), (SCORES, 1), (("classes, BH",), 1), (("log-score by predicted class",), 1)]
    ),
}
"""By the name that the tables show."""
