"""Samples of rows, and the same sums by plain loops over the rows."""

import math
from typing import Any

import numpy as np

from trueness.inference.calibration_tests import Outcome, calibration_tests
from trueness.inference.noise import Streams, draw_ranks
from trueness.inference.sample import Sample
from trueness.spec import TableOptions
from trueness.today import read, tabulate_rows

Array = np.ndarray[Any, np.dtype[Any]]


def sample_of(y: Any, p: Any, bins: Any = 10, variation: str = "entropy", **given: Any) -> Sample:
    return Sample.of(table_of(y, p, bins, variation, **given))


def table_of(y: Any, p: Any, bins: Any = 10, variation: str = "entropy", **given: Any) -> Any:
    return tabulate_rows(read(y, p, **given), TableOptions(bins=bins, variation=variation))


def outcome_of(y: Any, p: Any, run: int = 0, resamples: int = 199, **given: Any) -> Outcome:
    sample, streams = sample_of(y, p, **given), Streams(run)
    return calibration_tests(sample, draw_ranks(sample, resamples, streams), streams)


def calibrated(n: int, alpha: Any, rng: np.random.Generator) -> tuple[Array, Array]:
    """Labels drawn from Dirichlet predictions."""
    p = np.maximum(rng.dirichlet(alpha, n), 1e-12)
    p /= p.sum(axis=1, keepdims=True)
    return labels(p, rng), p


def labels(p: Array, rng: np.random.Generator) -> Array:
    y = (np.cumsum(p, axis=1) < rng.random((len(p), 1))).sum(axis=1)
    return np.minimum(y, p.shape[1] - 1)


def sharpened(p: Array, exponent: float) -> Array:
    q = p**exponent
    return q / q.sum(axis=1, keepdims=True)


def patients(k: int, size: int, prevalence: float, rng: np.random.Generator) -> Any:
    """An event that all rows of a patient share, with the patient's risk as prediction."""
    risk = rng.beta(prevalence * 10, (1 - prevalence) * 10, k).clip(1e-4, 1 - 1e-4)
    y, one = (rng.random(k) < risk).astype(int), np.repeat(np.arange(k), size)
    return y[one], np.stack([1 - risk, risk], axis=1)[one], one


def residuals(y: Array, p: Array) -> Array:
    """e = r - q of each row, by sorting it."""
    found = []
    for label, row in zip(y.tolist(), p.tolist(), strict=True):
        order = sorted(range(len(row)), key=lambda c: -row[c])
        found.append([(c == label) - row[c] for c in order])
    return np.array(found)


def log_scores(y: Array, p: Array) -> tuple[Array, Array]:
    """ln p_y + H of each row, and its variance."""
    scores, variances = [], []
    for label, row in zip(y.tolist(), p.tolist(), strict=True):
        entropy = -sum(x * math.log(x) for x in row if x > 0)
        scores.append(math.log(row[label]) + entropy)
        variances.append(sum(x * math.log(x) ** 2 for x in row if x > 0) - entropy**2)
    return np.array(scores), np.array(variances)


def error_allowed(share: float, runs: int, errors: float = 3.0) -> float:
    """So many Monte-Carlo standard errors of a share of runs."""
    return errors * math.sqrt(share * (1 - share) / runs)
