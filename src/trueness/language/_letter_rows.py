"""Rows of letters while they are collected, and which option is right."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence
from string import ascii_uppercase
from typing import Any

import numpy as np

from trueness._printing import plural
from trueness.language._collected import Ragged, counts_text, names_array
from trueness.language.letters import REASONING_TOKENS, Letters, bare
from trueness.language.results import Options
from trueness.refusals import InvalidValueError, quote


def option_labels(options: Sequence[str] | None, n_choices: int) -> tuple[str, ...]:
    """The labels of the options: those that were given, as many as there are choices, or A, B, ….

    >>> option_labels(None, 3), option_labels(["1", "2", "3"], 2)
    (('A', 'B', 'C'), ('1', '2'))
    """
    if options is None:
        return tuple(ascii_uppercase[:n_choices])
    return tuple(options[: n_choices or len(options)])


def right_option(target: Any, labels: Sequence[str]) -> int:
    """The index of the one right option."""
    texts = target if isinstance(target, list) else [target]
    if len(texts) == 1 and isinstance(texts[0], str) and bare(texts[0]) in labels:
        return labels.index(bare(texts[0]))
    value = str(target) if isinstance(target, list) else target
    listed = ", ".join(labels)
    cause = f"the target {quote(value)} is not one of {listed}"
    remedy = "a row needs one right option; check `options`"
    raise InvalidValueError("not-one-answer", cause, remedy, argument="target", value=value)


class LetterRows:
    """Rows of letters."""

    def __init__(self) -> None:
        self._y_true, self._prob, self._unlisted = array("q"), Ragged(), Ragged()
        self._off, self._unknown, self._before = array("d"), array("d"), array("q")
        self._group: list[str] = []
        self._cluster: list[str] = []

    def __len__(self) -> int:
        return len(self._y_true)

    def add(self, label: int, letters: Letters, n_before: int, *, group: str, cluster: str) -> None:
        """Add a row: the right option, the distribution, and the number of tokens before the answer."""
        self._y_true.append(label)
        self._prob.append(letters.prob.tolist())
        self._unlisted.append(map(float, letters.unlisted))
        self._off.append(letters.off)
        self._unknown.append(letters.unknown_share)
        self._before.append(n_before)
        self._group.append(group)
        self._cluster.append(cluster)

    def options(self, left_out: Counter[str], remarks: Sequence[str]) -> Options:
        """The rows as arrays."""
        n_options = self._prob.lengths
        unlisted = self._unlisted.padded() > 0
        return Options(
            y_true=np.array(self._y_true, np.int64),
            y_prob=self._prob.padded(),
            n_options=n_options,
            group=names_array(self._group),
            cluster=names_array(self._cluster),
            off_option=np.array(self._off),
            unknown_share=np.array(self._unknown),
            unlisted=unlisted,
            left_out=left_out,
            remarks=(
                *remarks,
                f"{len(self)} rows, options {counts_text(n_options)}",
                *self._remarks(unlisted),
            ),
        )

    def _remarks(self, unlisted: Any) -> list[str]:
        unknown, off = np.array(self._unknown), np.array(self._off)
        rows = int(np.count_nonzero(unlisted.any(axis=1)))
        first = (
            f"letters among the listed tokens: {plural(rows, 'row')} with an option that is not listed; unknown share "
            f"{unknown.mean():.4f} on average, {unknown.max():.4f} at most; {off.mean():.4f} on other tokens on average"
        )
        lines = [first]
        late = int(np.count_nonzero(np.array(self._before) > REASONING_TOKENS))
        if late:
            lines.append(
                f"after reasoning: in {plural(late, 'row')} more than {REASONING_TOKENS} tokens precede the answer"
            )
        return lines
