"""Which option of a row of lm-evaluation-harness is right: readings of `target`, compared with `acc`."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray, IntArray
from trueness.language._collected import BadRows
from trueness.refusals import InvalidValueError, Refusal, quote

NONE = -1
"""The label of a row to which a reading does not apply."""

TARGETS = ("index", "text")
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


class TargetRows:
    """The targets of a file: for each row its label by every reading, and what its accuracy says."""

    def __init__(self, delimiters: Sequence[str]) -> None:
        self.delimiters = list(delimiters)
        self._applies = [True] * len(delimiters)
        self._by_text = [array("q") for _ in delimiters]
        self._index, self._best, self._acc = array("q"), array("q"), array("d")
        self._in_context = array("b")
        self._targets: list[str] = []
        self.rows = array("q")
        self.whole_numbers = True

    def add(
        self,
        row: int,
        target: str,
        continuations: Sequence[str],
        *,
        best: int,
        acc: float,
        in_context: bool,
    ) -> None:
        """Note a row; `best` is its most likely option, `acc` 1, 0, or NaN if the file does not state it."""
        n_options = len(continuations)
        self.rows.append(row)
        self._targets.append(target[:100])
        is_whole = re.fullmatch(r"-?[0-9]{1,18}", target.strip()) is not None
        self.whole_numbers &= is_whole or in_context
        index = int(target) if is_whole else NONE
        self._index.append(index if 0 <= index < n_options else NONE)
        for number, delimiter in enumerate(self.delimiters):
            self._applies[number] &= all(text.startswith(delimiter) for text in continuations)
            matches = [
                place for place, text in enumerate(continuations) if text.removeprefix(delimiter) == target
            ]
            self._by_text[number].append(matches[0] if len(matches) == 1 else NONE)
        self._best.append(best)
        self._acc.append(acc)
        self._in_context.append(in_context)

    @property
    def delimiter(self) -> str:
        """What stands before every option: the first of the possible delimiters that all options begin with."""
        return self.delimiters[self._applies.index(True)]

    def decide(self, file: str, target: str | None, bad: BadRows) -> Decision:
        """The labels of all rows; those of bad rows are -1."""
        if target is not None:
            require_choice("target", target, TARGETS)
        in_context = np.array(self._in_context, bool)
        chosen = _Choice(
            file,
            np.array(self.rows, np.int64),
            self._targets,
            np.array(self._best, np.int64),
            np.array(self._acc),
            in_context,
        )
        text = np.array(self._by_text[self._applies.index(True)], np.int64)
        labels = {"index": np.array(self._index, np.int64), "text": text}
        name = target or chosen.reading(labels, whole_numbers=self.whole_numbers)
        found = labels[name].copy()
        chosen.check(found)
        chosen.refuse_missing(found, bad)
        return Decision(found, chosen.remark(name))


class Decision(NamedTuple):
    """The labels of the rows, and how they were read."""

    labels: IntArray
    remark: str


class _Choice(NamedTuple):
    """The choice of a reading for the rows whose options are after one context."""

    file: str
    rows: IntArray
    targets: list[str]
    best: IntArray
    acc: FloatArray
    in_context: np.ndarray

    def reading(self, labels: dict[str, IntArray], *, whole_numbers: bool) -> str:
        """The reading that applies to all rows and agrees with the accuracy; refused if that is not one."""
        usual = ~self.in_context
        fitting = [name for name, found in labels.items() if not (found[usual] == NONE).any()]
        agreeing = [name for name in fitting if self._disagreement(labels[name]) is None]
        possible = agreeing or fitting
        if not possible:
            return "index" if whole_numbers else "text"
        if len(possible) == 2:
            differ = np.flatnonzero((labels["index"] != labels["text"]) & usual)
            if differ.size:
                raise self._ambiguous(int(differ[0]), labels["index"])
        return possible[0]

    def _ambiguous(self, row: int, index: IntArray) -> Refusal:
        place = int(index[row])
        ordinal = _ORDINALS[place] if place < len(_ORDINALS) else f"{place + 1}th"
        return InvalidValueError(
            "ambiguous-target",
            f"target {quote(self.targets[row])} may be the {ordinal} option or the option "
            f"{quote(self.targets[row])}",
            "say `target='index'` or `target='text'`",
            source=self.file,
            row=int(self.rows[row]),
            argument="target",
            value=self.targets[row],
        )

    def _disagreement(self, labels: IntArray) -> int | None:
        """The first row whose accuracy is not that of the most likely option."""
        known = np.isin(self.acc, (0.0, 1.0)) & (labels != NONE) & ~self.in_context
        wrong = np.flatnonzero(known & ((self.best == labels) != (self.acc == 1)))
        return int(wrong[0]) if wrong.size else None

    def check(self, labels: IntArray) -> None:
        """Refuse labels that disagree with the accuracy of a row."""
        row = self._disagreement(labels)
        if row is None:
            return
        right = self.acc[row] == 1
        says = "right, but the most likely option is not" if right else "wrong, but the most likely option is"
        raise InvalidValueError(
            "accuracy-differs",
            f"acc says {says} the target",
            "the file was changed, or its labels are not what they seem",
            source=self.file,
            row=int(self.rows[row]),
            value=self.targets[row],
        )

    def refuse_missing(self, labels: IntArray, bad: BadRows) -> None:
        """Refuse or skip rows whose target is none of the options; options in the context follow from `acc`."""
        for row in np.flatnonzero(~self.in_context & (labels == NONE)).tolist():
            bad.add(self._out_of_range(row))

    def _out_of_range(self, row: int) -> Refusal:
        return InvalidValueError(
            "label-out-of-range",
            f"target {quote(self.targets[row])} is none of the options",
            "fix the target",
            source=self.file,
            row=int(self.rows[row]),
            argument="target",
            value=self.targets[row],
        )

    def remark(self, reading: str) -> str:
        """How labels were read, in words."""
        usual = ~self.in_context
        known = int(np.count_nonzero(np.isin(self.acc, (0.0, 1.0)) & usual))
        words = {"index": "target is an index", "text": "target is the text of an option"}
        agrees = f" (agrees with acc in {known} rows)" if known else ""
        parts = [f"{words[reading]}{agrees}"] if usual.any() else []
        if self.in_context.any():
            parts.append(
                f"options are in the context, and the right one of two follows from acc in "
                f"{np.count_nonzero(self.in_context)} rows"
            )
        return "labels: " + "; ".join(parts)


def label_from_accuracy(loglikelihood: Sequence[float], acc: float) -> int:
    """The right one of two options in the context: the more likely one if `acc` is 1, else the other."""
    if len(loglikelihood) != 2 or acc not in (0.0, 1.0):
        remedy = "of options in the context, the right one follows from acc if there are two"
        raise InvalidValueError("no-label", "the right option is not in the file", remedy)
    first, second = loglikelihood
    if first == second:
        cause = "both options are equally likely, so that the right one does not follow from acc"
        raise InvalidValueError("equal-likelihoods", cause, "fix the row")
    return int((second > first) == (acc == 1))
