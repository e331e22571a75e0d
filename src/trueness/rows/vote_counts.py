"""Counts of votes for the options of each question, and the right option."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueness._arrays import IntArray
from trueness.refusals import InvalidValueError
from trueness.rows.containers import contents_of
from trueness.rows.labels import whole_numbers

LEAST_VOTES = 2


def votes_of(y_true: Any, votes: Any) -> tuple[IntArray, IntArray]:
    """Labels, (rows,), and votes, (rows, options), as whole numbers; bad rows are refused."""
    given, truth = contents_of(votes, "votes").flat, contents_of(y_true, "y_true").flat
    counts = given.data if given.columns is None else np.stack(given.columns, axis=1)
    labels = truth.data
    if counts is None or counts.ndim != 2 or counts.shape[1] < 2 or not len(counts):
        raise InvalidValueError(
            "wrong-shape",
            f"votes has shape {given.shape}",
            "pass the number of votes for each option, (rows, options)",
            argument="votes",
        )
    if labels is None or labels.shape != (len(counts),) or labels.dtype.kind not in "fiub":
        raise InvalidValueError(
            "wrong-shape",
            f"y_true has shape {truth.shape}",
            f"pass the index of the right option of each of {len(counts)} rows",
            argument="y_true",
        )
    _require_counts(counts)
    remedy = f"options are counted from 0 to {counts.shape[1] - 1}"
    return whole_numbers("y_true", labels, counts.shape[1] - 1, remedy), counts.astype(np.int64)


def _require_counts(counts: Any) -> None:
    """Refuse what is not a count, and rows of fewer than two votes."""
    with np.errstate(invalid="ignore"):
        whole = (counts >= 0) & (counts == np.floor(counts)) & (counts < 2**31)
    if not whole.all():
        row, option = divmod(int(np.argmin(whole)), counts.shape[1])
        raise InvalidValueError(
            "bad-votes",
            f"votes is {counts[row, option].item()} in row {row}, class {option}",
            "votes are counts, not shares: whole numbers of at least 0",
            argument="votes",
            row=row,
            class_index=option,
            value=counts[row, option].item(),
        )
    total = counts.sum(axis=1)
    if (total < LEAST_VOTES).any():
        row = int(np.argmax(total < LEAST_VOTES))
        cause = f"row {row} has {int(total[row])} votes"
        remedy = f"a question needs at least {LEAST_VOTES}; leave such rows out"
        raise InvalidValueError(
            "too-few-votes", cause, remedy, argument="votes", row=row, value=int(total[row])
        )
