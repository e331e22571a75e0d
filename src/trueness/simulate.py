"""Simulated predictions: calibrated as in the paper's section 3, and miscalibrated in known ways.

The same seed gives the same rows, to the bit, whatever the chunks. Functions that miscalibrate rows take probabilities
of shape (rows, classes) in any container that `tabulate` takes, and refuse rows that are not distributions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import whole_number
from trueness._arrays import FloatArray
from trueness._random import Seed, root_seed
from trueness.refusals import InvalidValueError
from trueness.rows import Rows

STREAM_ROWS = 2**16
"""Rows drawn from one random stream; the n-th run of this many rows has the n-th stream, whatever the chunks."""

LABEL_VALUES = 2**16
"""Probabilities that are processed together when labels are drawn: few enough for the cache."""

MAX_ALPHA = 1e100
"""Gamma variates of larger parameters would overflow when they are summed; at this size all rows are nearly equal."""


class Predictions(NamedTuple):
    """Labels and predictions, in the order of the arguments of every function."""

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
    """The rows of `calibrated`, a chunk at a time, for more rows than fit in memory.

    >>> sum(len(chunk.y_true) for chunk in calibrated_chunks(1000, [1, 1], rng=0, chunk_rows=300))
    1000
    """
    streams, chunk_rows = calibrated_streams(n_rows, alpha, rng), whole_number("chunk_rows", chunk_rows, 1)
    return _rechunk(iter(streams), chunk_rows)


def calibrated_streams(n_rows: int, alpha: Sequence[float] | FloatArray, rng: Seed = None) -> Streams:
    """The rows of `calibrated` as the streams they are drawn from, which several threads may use.

    >>> streams = calibrated_streams(100_000, [1, 1], rng=0)
    >>> [len(streams[number].y_true) for number in range(len(streams))]
    [65536, 34464]
    """
    return Streams(whole_number("n_rows", n_rows, 1), _concentration(alpha), root_seed(rng))


@dataclass(frozen=True, slots=True, eq=False)
class Streams:
    """Runs of STREAM_ROWS rows, each with its own random streams: they may be drawn in any order, on any thread."""

    n_rows: int
    alpha: FloatArray
    root: int

    def __len__(self) -> int:
        return (self.n_rows + STREAM_ROWS - 1) // STREAM_ROWS

    def __iter__(self) -> Iterator[Predictions]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, number: int) -> Predictions:
        return self.with_labels(number, self.predictions(number))

    def with_labels(self, number: int, y_prob: FloatArray) -> Predictions:
        """Predictions of one stream with labels drawn for them."""
        return Predictions(draw_labels(y_prob, np.random.default_rng([self.root, number, 1])), y_prob)

    def predictions(self, number: int) -> FloatArray:
        """The predictions of one stream; labels have a random stream of their own."""
        size = min(STREAM_ROWS, self.n_rows - number * STREAM_ROWS)
        return np.random.default_rng([self.root, number, 0]).dirichlet(self.alpha, size)


def _rechunk(pieces: Iterator[Predictions], chunk_rows: int) -> Iterator[Predictions]:
    """The same rows in chunks of another size."""
    waiting: list[Predictions] = []
    for piece in pieces:
        waiting.append(piece)
        while sum(len(part.y_true) for part in waiting) >= chunk_rows:
            y_true, y_prob = _concatenate(waiting)
            yield Predictions(y_true[:chunk_rows], y_prob[:chunk_rows])
            waiting = [Predictions(y_true[chunk_rows:], y_prob[chunk_rows:])]
    rest = _concatenate(waiting)
    if len(rest.y_true):
        yield rest


def _concatenate(parts: list[Predictions]) -> Predictions:
    if len(parts) == 1:
        return parts[0]
    return Predictions(np.concatenate([p.y_true for p in parts]), np.concatenate([p.y_prob for p in parts]))


def draw_labels(y_prob: FloatArray, rng: np.random.Generator) -> NDArray[np.intp]:
    """One class for each row, y = c with probability p_c; never a class of probability zero."""
    n_rows, n_classes = y_prob.shape
    labels = np.empty(n_rows, np.intp)
    level = rng.random((n_rows,))
    block, narrow = max(2048, LABEL_VALUES // n_classes), np.uint8 if n_classes <= 256 else np.intp
    for rows in (slice(start, start + block) for start in range(0, n_rows, block)):
        # Transposed, since sums over whole lines are three times as fast as along short rows.
        cumulative = y_prob[rows].T.copy()
        for c in range(1, n_classes):
            cumulative[c] += cumulative[c - 1]
        # Strictly below the last sum, which rounding may leave just under 1.
        passed = np.minimum(level[rows] * cumulative[-1], np.nextafter(cumulative[-1], 0.0))
        labels[rows] = np.add.reduce(cumulative[:-1] <= passed, axis=0, dtype=narrow)
    return labels


def sharpen(y_prob: Any, exponent: float) -> FloatArray:
    """Rows ∝ pᵃ: over-confident for a > 1, under-confident for a < 1. This is temperature 1/a.

    >>> sharpen([[0.8, 0.2]], 2).round(4)
    array([[0.9412, 0.0588]])
    """
    if not (_is_real(exponent) and 0 < exponent < np.inf):
        raise _bad_argument("exponent", exponent, "a finite number above 0")
    rows = _distributions(y_prob)
    powers = (rows / rows.max(axis=1, keepdims=True)) ** exponent
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def swap_ranks(y_prob: Any, first: int = 1, second: int = 2) -> FloatArray:
    """Rows in which the probabilities of two ranks (counted from 0) are exchanged.

    >>> swap_ranks([[0.2, 0.5, 0.3]], 1, 2)
    array([[0.3, 0.5, 0.2]])
    """
    rows = _distributions(y_prob)
    _require_rank(rows, first=first, second=second)
    places = np.argsort(-rows, axis=1, kind="stable")[:, [first, second]]
    np.put_along_axis(rows, places, np.take_along_axis(rows, places[:, ::-1], axis=1), axis=1)
    return rows


def flatten_tail(y_prob: Any, keep: int = 1, *, amount: float = 0.5) -> FloatArray:
    """Rows in which all but the `keep` largest probabilities move towards their mean by `amount`, from 0 to 1.

    The order of the classes does not change, so the true class has the lower ranks less often than predicted. An amount
    of 1 makes the tail uniform; if the classes of the tail are exchangeable, such rows are calibrated but less sharp.

    >>> flatten_tail([[0.6, 0.3, 0.1]], amount=0.5).round(2)
    array([[0.6 , 0.25, 0.15]])
    """
    rows = _distributions(y_prob)
    _require_rank(rows, keep=keep)
    if not (_is_real(amount) and 0 <= amount <= 1):
        raise _bad_argument("amount", amount, "a number from 0 to 1")
    order = np.argsort(-rows, axis=1, kind="stable")[:, keep:]
    tail = np.take_along_axis(rows, order, axis=1)
    np.put_along_axis(rows, order, tail + amount * (tail.mean(axis=1, keepdims=True) - tail), axis=1)
    return rows


def shift_labels(y_prob: Any, class_weights: Any, rng: Seed = None) -> NDArray[np.intp]:
    """Labels y ~ p_c·w_c/Σ: a label shift, after which some classes are rarer or more frequent than predicted.

    >>> shift_labels([[0.5, 0.5]] * 4, [0, 1], rng=0)
    array([1, 1, 1, 1])
    """
    rows, weights = _distributions(y_prob), _vector(class_weights)
    if len(weights) != rows.shape[1] or not np.all((weights >= 0) & (weights < np.inf)):
        wanted = f"{rows.shape[1]} finite non-negative numbers"
        raise _bad_argument("class_weights", class_weights, wanted)
    rows *= weights / (weights.max() or 1.0)  # so that the products cannot overflow
    possible = rows.any(axis=1)
    if not possible.all():
        row = int(np.argmin(possible))
        cause = f"class_weights are 0 for all possible classes in row {row}"
        raise InvalidValueError("bad-argument", cause, argument="class_weights", row=row, value=class_weights)
    return draw_labels(rows / rows.sum(axis=1, keepdims=True), np.random.default_rng(root_seed(rng)))


def _distributions(y_prob: Any) -> FloatArray:
    """A copy of the rows as float64, (rows, classes); refuses rows that are not distributions.

    The refusals of `Rows` would suggest options that the functions here do not have.
    """
    given = Rows.of_predictions(y_prob, from_logits=False, normalize=False)
    if len(given.y_prob.shape) != 2:
        cause = f"y_prob must have shape (rows, classes), got {given.y_prob.shape}"
        raise InvalidValueError("wrong-shape", cause, argument="y_prob", value=given.y_prob.shape)
    rows = np.array(given.block(0, given.n_rows), dtype=np.float64)
    inside = (rows >= 0) & (rows <= 1)  # NaN fails both
    if not inside.all():
        row, c = np.unravel_index(np.argmin(inside), rows.shape)
        raise InvalidValueError(
            "out-of-range" if np.isfinite(rows[row, c]) else "not-finite",
            f"y_prob is {float(rows[row, c])} in row {int(row)}, class {int(c)}",
            "probabilities are finite numbers from 0 to 1",
            argument="y_prob",
            row=int(row),
            class_index=int(c),
            value=float(rows[row, c]),
        )
    total = rows.sum(axis=1)
    off = np.abs(total - 1) > given.sum_tolerance
    if off.any():
        row = np.argmax(off)
        cause = (
            f"y_prob sums to {float(total[row]):.9g} in row {int(row)}, not to 1 within "
            f"{given.sum_tolerance:g}"
        )
        raise InvalidValueError("sum-not-1", cause, argument="y_prob", row=int(row), value=float(total[row]))
    return rows


def _is_real(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _vector(values: Any) -> FloatArray:
    """The numbers of a one-dimensional argument; an empty array for anything else, which every caller refuses."""
    try:
        vector = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)
    return vector if vector.ndim == 1 else np.empty(0)


def _require_rank(rows: FloatArray, **ranks: Any) -> None:
    for name, rank in ranks.items():
        whole_number(name, rank, 0, most=rows.shape[1] - 1)


def _concentration(alpha: Sequence[float] | FloatArray) -> FloatArray:
    concentration = _vector(alpha)
    if len(concentration) < 2 or not np.all((concentration > 0) & (concentration <= MAX_ALPHA)):
        wanted = f"one number above 0 and up to {MAX_ALPHA:g} for each of two or more classes"
        raise _bad_argument("alpha", alpha, wanted)
    return concentration


def _bad_argument(argument: str, value: Any, wanted: str) -> InvalidValueError:
    cause = f"{argument} must be {wanted}, got {value!r}"
    return InvalidValueError("bad-argument", cause, argument=argument, value=value)
