"""What the readers return: arrays with one entry for each row, and what they left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray, IntArray

PROBABILITIES = "probabilities"
"""The scale of probabilities; others are scores, such as "scores per character"."""

Names = NDArray[Any]
"""An array of strings, as objects."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Options:
    """Multiple choice: a distribution over the options of each row, for `trueness.assess(…, n_options=…)`.

    Of lists of tokens the options are the listed tokens, the most probable first, and all others as the last.

    Attributes
    ----------
    y_true : (rows,)
        The index of the right option.
    y_prob : (rows, most options)
        The probability of each option; 0 after the last option of a row.
    n_options : (rows,)
        The number of options of each row.
    group, cluster : (rows,)
        The name of the task, or of the requested groups; and of the question.
    scale : str
        "probabilities", or for example "scores per character" if the softmax of length-normalised log-likelihoods was
        taken, which is not a probability.
    off_option, unknown_share : (rows,), or None
        For letters among listed tokens: the probability of listed tokens that are none of the options, and the largest
        share of the answer's distribution that is unaccounted for.
    unlisted : (rows, most options), or None
        For letters among listed tokens: the options none of whose tokens is listed.
    prefix_rows : int
        The number of rows in which the text of one option begins with that of another, so that their events overlap.
    left_out : Counter
        The number of rows that were left out, by reason.
    remarks : tuple of str
        What was found and assumed, as the command prints it.
    """

    y_true: IntArray
    y_prob: FloatArray
    n_options: IntArray
    group: Names
    cluster: Names
    scale: str = PROBABILITIES
    off_option: FloatArray | None = None
    unknown_share: FloatArray | None = None
    unlisted: NDArray[np.bool_] | None = None
    prefix_rows: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    remarks: tuple[str, ...] = ()

    def without_unlisted(self) -> FloatArray:
        """`y_prob` with 0 for options none of whose tokens is listed, as `missing="zero"` reads them."""
        if self.unlisted is None:
            return self.y_prob
        listed = np.where(self.unlisted, 0.0, self.y_prob)
        return np.asarray(listed / listed.sum(axis=1, keepdims=True))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Statements:
    """Stated probabilities of an event and whether it occurred, for `trueness.assess_event(event, stated)`.

    Attributes
    ----------
    event : (rows,) of bool
        Whether the event occurred: whether the answer was right.
    stated : (rows,)
        Its stated probability, from 0 to 1.
    group, cluster, scale, left_out, remarks
        As in `Options`.
    default_confidence : bool
        Whether the format's graders write 100 % where no confidence was stated.
    """

    event: NDArray[np.bool_]
    stated: FloatArray
    group: Names
    cluster: Names
    scale: str = PROBABILITIES
    default_confidence: bool = False
    left_out: Counter[str] = field(default_factory=Counter)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Votes:
    """Several answers to each question, for `trueness.assess_votes(y_true, votes)`.

    Attributes
    ----------
    y_true : (rows,)
        The index of the right option.
    votes : (rows, most options)
        How many answers chose each option.
    n_options : (rows,)
        The number of options of each row.
    group, cluster, left_out, remarks
        As in `Options`; `left_out` also counts answers that are none of the options.
    """

    y_true: IntArray
    votes: IntArray
    n_options: IntArray
    group: Names
    cluster: Names
    left_out: Counter[str] = field(default_factory=Counter)
    remarks: tuple[str, ...] = ()


Reading = Options | Statements | Votes


def join_statements(parts: Sequence[Statements]) -> Statements:
    """The rows of several files; clusters of different groups are different."""
    if len(parts) == 1:
        return parts[0]
    left_out: Counter[str] = Counter()
    for part in parts:
        left_out.update(part.left_out)
    scales = {part.scale for part in parts}
    return Statements(
        event=np.concatenate([part.event for part in parts]),
        stated=np.concatenate([part.stated for part in parts]),
        group=np.concatenate([part.group for part in parts]),
        cluster=np.concatenate([part.group + "/" + part.cluster for part in parts]),
        scale=PROBABILITIES if scales == {PROBABILITIES} else max(scales),
        default_confidence=any(part.default_confidence for part in parts),
        left_out=left_out,
        remarks=tuple(remark for part in parts for remark in part.remarks),
    )
