"""Rows of many classes, complete and as lists of their k largest probabilities."""

import numpy as np
from numpy.typing import NDArray


def complete_rows(
    n_rows: int, n_classes: int, seed: int, scale: float = 2.0, sharpen: float = 1.0
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Labels and predictions: softmax of normal logits, from which labels are drawn before they are sharpened."""
    rng = np.random.default_rng(seed)
    return _drawn(rng, rng.standard_normal((n_rows, n_classes)) * scale, sharpen)


def zipf_rows(
    n_rows: int, n_classes: int, seed: int, sharpen: float = 1.0
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The same with logits -c·ln(rank) plus normal noise, c from 1.2, 2 and 3.5."""
    rng = np.random.default_rng(seed)
    slope = rng.choice([1.2, 2.0, 3.5], n_rows)[:, None]
    logits = -slope * np.log(np.arange(1, n_classes + 1)) + rng.standard_normal((n_rows, n_classes))
    return _drawn(rng, logits, sharpen)


def _drawn(
    rng: np.random.Generator, logits: NDArray[np.float64], sharpen: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    def softmax(z: NDArray[np.float64]) -> NDArray[np.float64]:
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    true = softmax(logits)
    labels = (true.cumsum(axis=1) < rng.random(len(true))[:, None]).sum(axis=1)
    return np.minimum(labels, true.shape[1] - 1), softmax(sharpen * logits)


def lists_of(
    y_true: NDArray[np.int64], y_prob: NDArray[np.float64], k: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The place of the true class among the k largest, k if it is beyond, and these probabilities."""
    order = np.argsort(-y_prob, axis=1, kind="stable")
    place = np.argmax(order == y_true[:, None], axis=1)
    return np.minimum(place, k), np.take_along_axis(y_prob, order, axis=1)[:, :k]
