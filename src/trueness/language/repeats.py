"""Several rows of one question: which rows belong together, and what is said about it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._printing import plural


class Repeats(NamedTuple):
    """The clusters to pass to `assess`, if any has two rows, and the remark about it."""

    clusters: NDArray[Any] | None
    remark: str | None


def repeats_of(clusters: Any, one: str = "question") -> Repeats:
    """The clusters as an array, if a cluster has two rows or more; None if all rows are independent.

    Several answers to one question (epochs, repeats, paraphrases) carry less information than as many questions.

    >>> repeats_of(["a", "a", "b", "b"]).remark
    '4 rows of 2 questions: questions are resampled, not rows'
    >>> repeats_of(["a", "b"])
    Repeats(clusters=None, remark=None)
    """
    names = np.asarray(clusters, dtype=object)
    n_clusters = len(set(names.tolist()))
    if n_clusters == len(names):
        return Repeats(None, None)
    remark = f"{plural(len(names), 'row')} of {plural(n_clusters, one)}: {one}s are resampled, not rows"
    return Repeats(names, remark)
