"""Invented predictions: calibrated by design as in the paper's section 3, and made wrong in known ways.

The same seed gives the same rows, to the bit, however they are cut into chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueness._border import whole_number
from trueness._sums import FloatArray

Seed: TypeAlias = "int | np.random.Generator | None"

STREAM_ROWS = 2**16
"""Rows drawn from one random stream; the n-th such run of rows has the n-th stream, whatever the chunks."""


class Predictions(NamedTuple):
    """Labels and the predictions made for them, in the order in which every function takes them."""

    y_true: NDArray[np.intp]
    y_prob: FloatArray


def calibrated(n_rows: int, alpha: Sequence[float] | FloatArray, rng: Seed = None) -> Predictions:
    """Rows p ~ Dirichlet(α) with labels y ~ p: perfectly calibrated (the paper, section 3).

    >>> y_true, y_prob = calibrated(5, alpha=[10, 1, 1], rng=0)
    >>> y_prob.shape
    (5, 3)
    """
    return next(calibrated_chunks(n_rows, alpha, rng, chunk_rows=n_rows))


def calibrated_chunks(
    n_rows: int, alpha: Sequence[float] | FloatArray, rng: Seed = None, *, chunk_rows: int = STREAM_ROWS
) -> Iterator[Predictions]:
    """The rows of `calibrated`, a chunk at a time, for sizes beyond memory.

    >>> sum(len(chunk.y_true) for chunk in calibrated_chunks(1000, [1, 1], rng=0, chunk_rows=300))
    1000
    """
    concentration = _checked_alpha(alpha)
    n_rows, chunk_rows = whole_number("n_rows", n_rows, 1), whole_number("chunk_rows", chunk_rows, 1)
    root = _root_seed(rng)
    return _cut(_streams(n_rows, concentration, root), chunk_rows)


def _streams(n_rows: int, alpha: FloatArray, root: int) -> Iterator[Predictions]:
    """Rows in runs of STREAM_ROWS, each drawn from streams of its own."""
    for number, start in enumerate(range(0, n_rows, STREAM_ROWS)):
        size = min(STREAM_ROWS, n_rows - start)
        rows, labels = (np.random.default_rng([root, number, part]) for part in range(2))
        y_prob = rows.dirichlet(alpha, size)
        yield Predictions(draw_labels(y_prob, labels), y_prob)


def _cut(pieces: Iterator[Predictions], chunk_rows: int) -> Iterator[Predictions]:
    """The same rows in chunks of another size."""
    held: list[Predictions] = []
    for piece in pieces:
        held.append(piece)
        while sum(len(part.y_true) for part in held) >= chunk_rows:
            y_true, y_prob = _joined(held)
            yield Predictions(y_true[:chunk_rows], y_prob[:chunk_rows])
            held = [Predictions(y_true[chunk_rows:], y_prob[chunk_rows:])]
    rest = _joined(held)
    if len(rest.y_true):
        yield rest


def _joined(parts: list[Predictions]) -> Predictions:
    if len(parts) == 1:
        return parts[0]
    return Predictions(np.concatenate([p.y_true for p in parts]), np.concatenate([p.y_prob for p in parts]))


def draw_labels(y_prob: FloatArray, rng: np.random.Generator) -> NDArray[np.intp]:
    """One class for each row, y = c with probability p_c; never a class of probability zero."""
    cumulative = np.cumsum(y_prob, axis=1)
    # Strictly below the last sum, whose rounding may put it just under 1.
    level = rng.random(len(y_prob)) * cumulative[:, -1]
    level = np.minimum(level, np.nextafter(cumulative[:, -1], 0.0))
    return np.asarray(np.argmax(cumulative > level[:, None], axis=1))


def sharpen(y_prob: ArrayLike, exponent: float) -> FloatArray:
    """Rows ∝ pᵃ: over-confident for a > 1, under-confident for a < 1. This is temperature 1/a.

    >>> sharpen([[0.8, 0.2]], 2).round(4)
    array([[0.9412, 0.0588]])
    """
    if not (np.isfinite(exponent) and exponent > 0):
        raise ValueError(f"exponent must be a finite number above 0, got {exponent!r}")
    rows = _rows(y_prob)
    powers = (rows / rows.max(axis=1, keepdims=True)) ** exponent
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def swap_ranks(y_prob: ArrayLike, first: int = 1, second: int = 2) -> FloatArray:
    """Rows in which the probabilities of two ranks (counted from 0) have changed places.

    >>> swap_ranks([[0.2, 0.5, 0.3]], 1, 2)
    array([[0.3, 0.5, 0.2]])
    """
    rows = _rows(y_prob)
    _require_rank(rows, first=first, second=second)
    order = np.argsort(-rows, axis=1, kind="stable")
    here, there = order[:, [first]], order[:, [second]]
    swapped = rows.copy()
    np.put_along_axis(swapped, here, np.take_along_axis(rows, there, axis=1), axis=1)
    np.put_along_axis(swapped, there, np.take_along_axis(rows, here, axis=1), axis=1)
    return swapped


def flatten_tail(y_prob: ArrayLike, keep: int = 1, *, amount: float = 0.5) -> FloatArray:
    """Rows whose `keep` largest probabilities stay and whose others move towards their mean by `amount`, 0 to 1.

    The order of the classes stays, so that the lower ranks come true less often than stated. An amount of 1 makes the
    tail uniform; if the classes of the tail are alike, such rows are calibrated again: they only say less.

    >>> flatten_tail([[0.6, 0.3, 0.1]], amount=0.5).round(2)
    array([[0.6 , 0.25, 0.15]])
    """
    rows = _rows(y_prob)
    _require_rank(rows, keep=keep)
    if not 0 <= amount <= 1:
        raise ValueError(f"amount must be a number from 0 to 1, got {amount!r}")
    order = np.argsort(-rows, axis=1, kind="stable")[:, keep:]
    tail = np.take_along_axis(rows, order, axis=1)
    flat = rows.copy()
    np.put_along_axis(flat, order, tail + amount * (tail.mean(axis=1, keepdims=True) - tail), axis=1)
    return flat


def shift_labels(y_prob: ArrayLike, class_weights: ArrayLike, rng: Seed = None) -> NDArray[np.intp]:
    """Labels y ~ p_c·w_c/Σ: the classes have become rarer or more frequent than when the model was made.

    >>> shift_labels([[0.5, 0.5]] * 4, [0, 1], rng=0)
    array([1, 1, 1, 1])
    """
    rows, weights = _rows(y_prob), np.asarray(class_weights, dtype=np.float64)
    if weights.shape != (rows.shape[1],) or not np.all((weights >= 0) & np.isfinite(weights)):
        raise ValueError(
            f"class_weights must be {rows.shape[1]} finite numbers from 0 up, got {class_weights!r}"
        )
    shifted = rows * weights
    if not shifted.any(axis=1).all():
        row = int(np.argmin(shifted.any(axis=1)))
        raise ValueError(f"class_weights leave no class possible in row {row}")
    return draw_labels(shifted / shifted.sum(axis=1, keepdims=True), np.random.default_rng(_root_seed(rng)))


def _rows(y_prob: ArrayLike) -> FloatArray:
    rows = np.asarray(y_prob, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise ValueError(f"y_prob must have shape (rows, classes), got {rows.shape}")
    return rows


def _require_rank(rows: FloatArray, **ranks: Any) -> None:
    for name, rank in ranks.items():
        if not isinstance(rank, (int, np.integer)) or not 0 <= rank < rows.shape[1]:
            raise ValueError(f"{name} must be a whole number from 0 to {rows.shape[1] - 1}, got {rank!r}")


def _checked_alpha(alpha: Sequence[float] | FloatArray) -> FloatArray:
    concentration = np.asarray(alpha, dtype=np.float64)
    positive = np.all((concentration > 0) & np.isfinite(concentration))
    if concentration.ndim != 1 or len(concentration) < 2 or not positive:
        raise ValueError(
            f"alpha must be one finite number above 0 for each of two or more classes, got {alpha!r}"
        )
    return concentration


def _root_seed(rng: Seed) -> int:
    """A seed for all streams; a generator gives one and moves on."""
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be None, a seed from 0 up or a numpy.random.Generator, got {rng!r}")
    return int(np.random.default_rng(rng).integers(2**63))
