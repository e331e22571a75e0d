"""Lists of tokens while they are collected: of each row the listed tokens, and all others as one more option."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from trueness._printing import plural
from trueness.language._collected import Ragged, counts_text, names_array
from trueness.language.results import Options
from trueness.language.token_lists import token_list


class TokenRows:
    """Lists of tokens."""

    def __init__(self) -> None:
        self._y_true, self._prob = array("q"), Ragged()
        self._group: list[str] = []
        self._cluster: list[str] = []
        self._n_sentinels = self._n_sampled_first = 0

    def __len__(self) -> int:
        return len(self._y_true)

    def add(self, listed: Any, true: Any, *, group: str, cluster: str) -> None:
        """Add the list of a position and its true token; refused if either cannot be used."""
        found = token_list(listed)
        place = found.place_of(true)
        self._y_true.append(len(found.prob) if place is None else place)
        self._prob.append([*found.prob, found.missing])
        self._group.append(group)
        self._cluster.append(cluster)
        self._n_sentinels += found.n_sentinels
        self._n_sampled_first += found.sampled_first

    def options(self, left_out: Counter[str], remarks: Sequence[str]) -> Options:
        """The rows as arrays."""
        n_options, y_true = self._prob.lengths, np.array(self._y_true, np.int64)
        y_prob = self._prob.padded()
        other = y_prob[np.arange(len(self)), n_options - 1]
        beyond = float((y_true == n_options - 1).mean())
        line = (
            f"{plural(len(self), 'list')} of tokens, with all others as one more option: {counts_text(n_options)}; the "
            f"others have a mean probability of {other.mean():.4f} and hold the true token in {100 * beyond:.3g} % of "
            "rows"
        )
        dropped = []
        if self._n_sentinels:
            dropped.append(f"{self._n_sentinels} entries that are no probabilities")
        if self._n_sampled_first:
            dropped.append(f"{self._n_sampled_first} sampled tokens in front of the best")
        return Options(
            y_true=y_true,
            y_prob=y_prob,
            n_options=n_options,
            group=names_array(self._group),
            cluster=names_array(self._cluster),
            left_out=left_out,
            remarks=(*remarks, line, *([f"dropped {' and '.join(dropped)}"] if dropped else [])),
        )
