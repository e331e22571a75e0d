"""Samples of lm-evaluation-harness: `samples_<task>_<date>.jsonl`, as version 0.4.13 writes them."""

from __future__ import annotations

import math
import os
import re
from array import array
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray, IntArray
from trueness.formats.json_stream import json_lines, load_document
from trueness.language._collected import (
    BadRows,
    Ragged,
    SeenRows,
    columns_of,
    counts_text,
    files_of,
    name_from,
    names_array,
    refuse_no_rows,
)
from trueness.language._lm_eval_labels import NONE, TargetRows, label_from_accuracy
from trueness.language._lm_eval_rows import Question, number_of, question_of, ratios_of, refuse_unusable
from trueness.language.normalisation import NORMALISATIONS, scores_of, softmax
from trueness.language.results import Options
from trueness.refusals import InvalidValueError, Refusal, quote

_NAME = re.compile(r"samples_(.+)_(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.jsonl(?:\.gz|\.zst|\.zstd)?")
_ENDINGS = (".gz", ".zst", ".zstd", ".jsonl", ".ndjson")
_STATED = {"char": "acc_norm", "byte": "acc_bytes", "unconditional": "acc_mutual_info"}
"""The metric of a row that states whether the best option by a normalisation is right."""


def read_lm_eval(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    normalise_by: str = "none",
    target: str | None = None,
    filter: str | None = None,
    groups: str | Sequence[str] | None = None,
    clusters: str | None = None,
    on_bad_rows: str = "refuse",
) -> Options:
    """The options of multiple-choice tasks, from files that lm-evaluation-harness wrote with `--log_samples`.

    Parameters
    ----------
    paths
        One file, or several; each is a task.
    normalise_by : "none", "unconditional", "char", "byte"
        What becomes of the log-likelihood ℓ of an option before the softmax: nothing, which gives the probability of
        the option given that the answer is one of the options; minus the log-likelihood without the context; or divided
        by the length of the option, which gives scores and not probabilities.
    target : "index" or "text"
        How the right option is stated, if that is ambiguous.
    filter : str
        The filter whose rows are read, if the file has several.
    groups : str or sequence of str
        A field such as "doc.subject" whose value is the group of a row, or several; the task by default.
    clusters : str
        A field whose value is the cluster of a row; the document by default.
    on_bad_rows : "refuse" or "skip"
        Whether bad rows are refused, or left out and counted.
    """
    require_choice("normalise_by", normalise_by, tuple(NORMALISATIONS))
    files = files_of(paths)
    if normalise_by == "token":
        cause = f"{files[0]}: the file does not say how many tokens an option has"
        remedy = "take `normalise_by='char'` or `normalise_by='byte'`"
        raise InvalidValueError("no-token-counts", cause, remedy, argument="normalise_by")
    bad, seen = BadRows(on_bad_rows), SeenRows("doc_id")
    wanted = _Wanted(normalise_by, target, filter, columns_of(groups), columns_of(clusters))
    parts = [_read_file(file, wanted, bad, seen) for file in files]
    return _together(parts, normalise_by, bad, files[0])


class _Wanted(NamedTuple):
    """How files are read."""

    normalise_by: str
    target: str | None
    filter: str | None
    groups: tuple[str, ...]
    clusters: tuple[str, ...]


class _Part(NamedTuple):
    """The rows of a file."""

    y_true: IntArray
    y_prob: FloatArray
    n_options: IntArray
    group: list[str]
    cluster: list[str]
    prefix_rows: int
    in_context: bool
    remark: str


def _read_file(file: str, wanted: _Wanted, bad: BadRows, seen: SeenRows) -> _Part:
    rows, filter = _Rows(file, wanted), wanted.filter
    filters: dict[str, None] = {}
    for number, line in json_lines(file):
        name = str(line.get("filter", "none"))
        filters.setdefault(name)
        if filter is not None and name != filter:
            continue
        try:
            rows.add(number, line, bad)
        except Refusal as refusal:
            raise refusal.with_facts(source=file, row=number) from None
        if len(filters) == 1 or filter is not None:
            doc = line.get("doc_id")
            seen.add((rows.task, _key(doc)), doc, file, number)
    _refuse_filters(file, list(filters), filter)
    return rows.finish(bad)


def _key(doc: Any) -> Any:
    return doc if isinstance(doc, (int, str)) else str(doc)


def _refuse_filters(file: str, names: list[str], filter: str | None) -> None:
    if filter is None and len(names) < 2:
        return
    if filter is not None and filter in names:
        return
    rows = "rows for the filters" if filter is None else f"no rows for the filter {quote(filter)}, but for"
    cause = f"{file} has {rows} {', '.join(map(quote, names))}"
    raise InvalidValueError(
        "several-filters", cause, "name one of them with `filter`", argument="filter", value=filter
    )


class _Rows:
    """The rows of a file while they are read."""

    def __init__(self, file: str, wanted: _Wanted) -> None:
        self.file, self._normalise_by, self._wanted = file, wanted.normalise_by, wanted
        name = os.path.basename(file)
        found = _NAME.fullmatch(name)
        self._from_name = found is not None
        self.task = found.group(1) if found else _without_endings(name)
        self._targets = TargetRows(_delimiters(file, self.task, found.group(2) if found else None))
        self._loglikelihood, self._unconditional = Ragged(), Ragged()
        self._characters, self._bytes = Ragged(), Ragged()
        self._stated, self._labels = array("d"), array("q")
        self._group: list[str] = []
        self._cluster: list[str] = []
        self._prefix_rows = 0
        self._prefixes = array("b")
        self._in_context = array("b")

    def add(self, row: int, line: Mapping[str, Any], bad: BadRows) -> None:
        """Add a line, or refuse it; a bad row may be skipped."""
        question = question_of(line)
        self._refuse_layout(line, question)
        acc = _accuracy(line.get("acc"))
        try:
            refuse_unusable(question.loglikelihood)
            if self._normalise_by == "unconditional":
                refuse_unusable(ratios_of(question))
            label = label_from_accuracy(question.loglikelihood, acc) if question.in_context else NONE
        except Refusal as refusal:
            if refusal.code == "no-label":
                raise
            bad.add(refusal.with_facts(source=self.file, row=row))
            return
        self._append(row, line, question, acc, label)

    def _refuse_layout(self, line: Mapping[str, Any], question: Question) -> None:
        if _is_list(line.get("target"), question.continuations):
            value = str(line.get("target"))
            cause = f"several right answers (target {quote(value)})"
            remedy = "calibration of a set of right answers is not defined here"
            raise InvalidValueError("several-answers", cause, remedy, argument="target", value=value)
        if self._normalise_by == "unconditional" and question.unconditional is None:
            cause = "there are no unconditional likelihoods in the file"
            remedy = "run the task with the metric acc_mutual_info, or take `normalise_by='none'`"
            raise InvalidValueError("no-unconditional", cause, remedy, argument="normalise_by")

    def _append(self, row: int, line: Mapping[str, Any], question: Question, acc: float, label: int) -> None:
        texts, place = question.continuations, {"source": self.file, "row": row}
        best = int(np.argmax(question.loglikelihood))
        target = line.get("target")
        self._targets.add(row, str(target), texts, best=best, acc=acc, in_context=question.in_context)
        self._labels.append(label)
        self._loglikelihood.append(question.loglikelihood)
        self._unconditional.append(question.unconditional or ())
        self._characters.append(map(len, texts))
        self._bytes.append(len(text.encode("utf-8", "surrogatepass")) for text in texts)
        self._stated.append(_accuracy(line.get(_STATED.get(self._normalise_by, ""))))
        self._prefixes.append(not question.in_context and _has_prefix(texts))
        self._in_context.append(question.in_context)
        fields = {**line, "task": self.task}
        self._group.append(name_from(fields, self._wanted.groups, self.task, "groups", **place))
        own = f"{self.task}/{line.get('doc_id')}"
        self._cluster.append(name_from(fields, self._wanted.clusters, own, "clusters", **place))

    def finish(self, bad: BadRows) -> _Part:
        """The arrays of the file."""
        decision = self._targets.decide(self.file, self._wanted.target, bad)
        in_context = np.array(self._in_context, bool)
        labels = np.where(in_context, np.array(self._labels, np.int64), decision.labels)
        good = labels != NONE
        n_options = self._loglikelihood.lengths
        scores = self._scores(n_options)
        self._check_stated(scores, labels)
        kept = np.flatnonzero(good)
        source = "from the file's name" if self._from_name else "from the file's name as it is"
        return _Part(
            labels[good],
            softmax(scores[good]) if len(kept) else scores[good],
            n_options[good],
            [self._group[row] for row in kept.tolist()],
            [self._cluster[row] for row in kept.tolist()],
            int(np.count_nonzero(np.array(self._prefixes, bool) & good)),
            bool(in_context.any()),
            f"task {self.task} {source}; {decision.remark}",
        )

    def _scores(self, n_options: IntArray) -> FloatArray:
        """The scores of the options, -inf where a row has no further ones."""
        scores = self._loglikelihood.padded(-math.inf)
        beyond = np.arange(scores.shape[1]) >= n_options[:, None]
        if self._normalise_by == "unconditional":
            return np.where(beyond, -math.inf, scores_of(scores, unconditional=self._unconditional.padded()))
        if self._normalise_by in ("char", "byte"):
            return np.where(beyond, -math.inf, scores_of(scores, divisor=self._option_lengths(beyond)))
        return scores

    def _option_lengths(self, beyond: Any) -> FloatArray:
        delimiter = self._targets.delimiter
        by_char = self._normalise_by == "char"
        lengths = (self._characters if by_char else self._bytes).padded()
        lengths -= len(delimiter) if by_char else len(delimiter.encode())
        lengths[beyond] = 1
        empty = np.flatnonzero((lengths <= 0).any(axis=1))
        if empty.size:
            raise InvalidValueError(
                "empty-option",
                "an option has no characters",
                "take `normalise_by='none'`",
                source=self.file,
                row=int(self._targets.rows[int(empty[0])]),
            )
        return lengths

    def _check_stated(self, scores: FloatArray, labels: IntArray) -> None:
        """Refuse scores by which the best option is right where the file's own metric says otherwise."""
        stated = np.array(self._stated)
        if not len(stated):
            return
        right = np.argmax(scores, axis=1) == labels
        wrong = np.flatnonzero(np.isin(stated, (0.0, 1.0)) & (labels != NONE) & (right != (stated == 1)))
        if wrong.size:
            row = int(wrong[0])
            words = ("wrong", "right")
            raise InvalidValueError(
                "accuracy-differs",
                f"with `normalise_by` {self._normalise_by} the row is "
                f"{words[int(right[row])]}, {_STATED[self._normalise_by]} says "
                f"{words[int(stated[row])]}",
                "put results_….json beside the file: the delimiter is in it",
                source=self.file,
                row=int(self._targets.rows[row]),
                argument="normalise_by",
                value=self._normalise_by,
            )


def _is_list(target: Any, continuations: Sequence[str]) -> bool:
    """Whether a target is a list of right answers, also one written as text that is not that of an option."""
    if not isinstance(target, str):
        return isinstance(target, list)
    text = target.strip()
    return text.startswith("[") and text.endswith("]") and text not in map(str.strip, continuations)


def _accuracy(value: Any) -> float:
    """A metric that is 0 or 1; NaN if it is missing or another number."""
    if isinstance(value, bool):
        return float(value)
    number = number_of(value)
    return number if number in (0.0, 1.0) else math.nan


def _has_prefix(texts: Sequence[str]) -> bool:
    """Whether one text is the beginning of another."""
    ordered = sorted(texts)
    return any(after.startswith(before) for before, after in pairwise(ordered))


def _without_endings(name: str) -> str:
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name


def _delimiters(file: str, task: str, date: str | None) -> list[str]:
    """What may stand before every option: what the results beside the file say, a space, or nothing."""
    beside = None if date is None else os.path.join(os.path.dirname(file), f"results_{date}.json")
    stated = None if beside is None or not os.path.exists(beside) else _stated_delimiter(beside, task)
    return list(dict.fromkeys([*([stated] if stated is not None else []), " ", ""]))


def _stated_delimiter(path: str, task: str) -> str | None:
    found = load_document(path)
    for key in ("configs", task, "target_delimiter"):
        found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, str) else None


def _together(parts: Sequence[_Part], normalise_by: str, bad: BadRows, file: str) -> Options:
    n_options = np.concatenate([part.n_options for part in parts])
    refuse_no_rows(len(n_options), file, bad.left_out)
    y_prob = np.zeros((len(n_options), int(n_options.max())))
    start = 0
    for part in parts:
        width = min(part.y_prob.shape[1], y_prob.shape[1])
        y_prob[start : start + len(part.y_prob), :width] = part.y_prob[:, :width]
        start += len(part.y_prob)
    how = NORMALISATIONS[normalise_by]
    text = (
        "likelihoods of one continuation after each option" if all(p.in_context for p in parts) else how.text
    )
    counted = (
        f"{len(n_options)} rows, options {counts_text(n_options)}; {text} (--normalise-by {normalise_by})"
    )
    return Options(
        y_true=np.concatenate([part.y_true for part in parts]),
        y_prob=y_prob,
        n_options=n_options,
        group=names_array([name for part in parts for name in part.group]),
        cluster=names_array([name for part in parts for name in part.cluster]),
        scale=how.scale,
        prefix_rows=sum(part.prefix_rows for part in parts),
        left_out=bad.left_out,
        remarks=(*(part.remark for part in parts), counted),
    )
