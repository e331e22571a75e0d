"""Votes while they are collected: answers to the same question, counted by option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness.language._collected import BadRows, names_array, refuse_no_rows
from trueness.language._letter_rows import right_option
from trueness.language.results import Votes
from trueness.refusals import InvalidValueError, Refusal

UNPARSED = "answers that are none of the options"


@dataclass(slots=True)
class _Question:
    group: str
    place: Mapping[str, Any]
    labels: Sequence[str]
    target: Any
    counts: list[int]


class VoteRows:
    """Votes by question."""

    def __init__(self, bad: BadRows) -> None:
        self._bad = bad
        self._questions: dict[str, _Question] = {}

    def add(
        self,
        cluster: str,
        group: str,
        *,
        place: Mapping[str, Any],
        labels: Sequence[str],
        target: Any,
        option: int | None,
    ) -> None:
        """Add an answer; None if it is none of the options."""
        question = self._questions.setdefault(
            cluster, _Question(group, place, labels, target, [0] * len(labels))
        )
        if option is None:
            self._bad.left_out[UNPARSED] += 1
        else:
            question.counts[option] += 1

    def votes(self, remarks: Sequence[str], file: str) -> Votes:
        """The votes as arrays."""
        kept: dict[str, tuple[int, _Question]] = {}
        for cluster, question in self._questions.items():
            try:
                kept[cluster] = _checked(question), question
            except Refusal as refusal:
                self._bad.add(refusal.with_facts(**question.place))
        refuse_no_rows(len(kept), file, self._bad.left_out)
        width = max(len(question.labels) for _, question in kept.values())
        counts = [q.counts + [0] * (width - len(q.counts)) for _, q in kept.values()]
        return Votes(
            y_true=np.array([label for label, _ in kept.values()], np.int64),
            votes=np.array(counts, np.int64),
            n_options=np.array([len(question.labels) for _, question in kept.values()]),
            group=names_array([question.group for _, question in kept.values()]),
            cluster=names_array(list(kept)),
            left_out=self._bad.left_out,
            remarks=(*remarks, f"{len(kept)} questions, {int(np.sum(counts))} votes"),
        )


def _checked(question: _Question) -> int:
    """The right option of a question with at least two votes."""
    if sum(question.counts) < 2:
        cause = f"the question has {sum(question.counts)} votes"
        remedy = "at least two answers are needed"
        raise InvalidValueError("too-few-votes", cause, remedy, value=sum(question.counts))
    return right_option(question.target, question.labels)
