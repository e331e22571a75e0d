"""What a library takes from a row: one predicted number, and whether the event happened that it predicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.rows import Rows, refuse_bad_rows

TOP_LABEL, CLASS_1, ENTROPY = "the top label", "class 1", "the entropy"


@dataclass(frozen=True, slots=True)
class Reading:
    """The numbers of all rows, in their order."""

    predicted: NDArray[Any]
    """(N,), float32 or float64: the number that is binned."""
    observed: NDArray[np.bool_]
    """(N,): whether the event happened."""
    top: NDArray[np.int32]
    """(N,): the predicted class."""
    seen: NDArray[np.bool_]
    """(C,): the classes that occur among the labels."""
    event: str

    @classmethod
    def joined(cls, parts: Sequence[Reading]) -> Reading:
        """The numbers of consecutive parts of the rows."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.predicted for part in parts]),
            np.concatenate([part.observed for part in parts]),
            np.concatenate([part.top for part in parts]),
            np.logical_or.reduce([part.seen for part in parts]),
            parts[0].event,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.predicted)


class Block(NamedTuple):
    """Some rows: (n, C) probabilities, (n,) labels, and whether only the probability of class 1 was given."""

    y_prob: NDArray[Any]
    labels: NDArray[np.intp]
    one_column: bool

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.y_prob.shape[1])


Reader = Callable[[Block], tuple[NDArray[Any], NDArray[np.bool_], str]]
"""From a block to the predicted numbers, whether the event happened, and what the event is."""


def read_rows(rows: Rows, reader: Reader) -> Reading:
    """Read all rows with labels; bad rows are refused."""
    refuse_bad_rows(rows, 0, rows.n_rows)
    return Reading.joined([_read_block(rows, reader, *span) for span in rows.spans()])


def _read_block(rows: Rows, reader: Reader, start: int, stop: int) -> Reading:
    assert rows.labels is not None
    labels = np.asarray(rows.labels.block(start, stop), np.intp)
    y_prob = rows.block(start, stop)
    one_column = len(rows.y_prob.shape) == 1
    if one_column and rows.y_prob.eps > np.finfo(np.float32).eps / 2 and not rows.from_logits:
        y_prob = y_prob.astype(np.float32)
    block = Block(y_prob, labels, one_column)
    predicted, observed, event = reader(block)
    seen = np.zeros(rows.n_classes, np.bool_)
    seen[labels] = True
    return Reading(predicted, observed, y_prob.argmax(axis=1).astype(np.int32), seen, event)


def event_reader(event: int | str) -> Reader:
    """Reads the probability of one class, by its index, or of the top label ("top")."""
    if event == "top":
        return top_label
    index = int(event)

    def of_class(block: Block) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
        return block.y_prob[:, index], block.labels == index, f"class {index}"

    return of_class


def top_label(block: Block) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """The largest probability, and whether its class (the first of equal ones) is the true one."""
    return block.y_prob.max(axis=1), block.y_prob.argmax(axis=1) == block.labels, TOP_LABEL


def class_1(block: Block) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """The probability of class 1, and whether it is the true class."""
    return block.y_prob[:, 1].copy(), block.labels == 1, CLASS_1


def class_1_of_one_column(block: Block) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """Class 1 if only its probability was given, else the top label, also of two columns."""
    return class_1(block) if block.one_column else top_label(block)


def class_1_of_two(block: Block) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """Class 1 of two classes, else the top label."""
    return class_1(block) if block.n_classes == 2 else top_label(block)


def float32_top_label(block: Block) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """As `class_1_of_one_column`, with the top label in float32 whatever the rows are in (torchmetrics)."""
    return _top_label_as_float32(class_1_of_one_column(block))


def clipped_class_1_of_two(block: Block) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """As `class_1_of_two`, of probabilities moved into [eps, 1 - eps] of their dtype."""
    eps = np.finfo(block.y_prob.dtype).eps
    return class_1_of_two(block._replace(y_prob=np.clip(block.y_prob, eps, 1 - eps)))


def untied_top_label(block: Block) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """As `class_1_of_one_column`, but a row whose largest probability is shared by several classes is wrong."""
    predicted, observed, event = class_1_of_one_column(block)
    tied = (block.y_prob == block.y_prob.max(axis=1, keepdims=True)).sum(axis=1) > 1
    return predicted, observed & ~tied if event == TOP_LABEL else observed, event


def clamped(block: Block) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """As `class_1_of_two`, of probabilities moved into [1e-7, 1 - 1e-7] and divided by their sums (probmetrics)."""
    limit = block.y_prob.dtype.type(1e-7)
    inside = np.clip(block.y_prob, limit, block.y_prob.dtype.type(1 - 1e-7))
    divided = inside / inside.sum(axis=1, keepdims=True)
    return _top_label_as_float32(class_1_of_two(block._replace(y_prob=divided)))


def _top_label_as_float32(
    read: tuple[NDArray[Any], NDArray[np.bool_], str],
) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    predicted, observed, event = read
    return predicted.astype(np.float32) if event == TOP_LABEL else predicted, observed, event


def entropy(block: Block) -> tuple[NDArray[Any], NDArray[np.bool_], str]:
    """|Σ p·ln(p + 1e-16)/ln C|, with ln C in float32, and whether the top label is wrong."""
    p = block.y_prob
    scaled = np.log(p + np.float32(1e-16)) / np.log(np.float32(block.n_classes))
    return np.abs((p * scaled).sum(axis=1)), block.y_prob.argmax(axis=1) != block.labels, ENTROPY
