"""OpenAI batch output: letters among listed tokens, the most probable tokens, or votes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from trueness._arguments import require_choice
from trueness.formats.json_stream import json_lines
from trueness.language._collected import BadRows, SeenRows, columns_of, name_from, refuse_no_rows
from trueness.language._inspect_logs import field_in
from trueness.language._label_files import LabelRow, labels_by_key
from trueness.language._letter_rows import LetterRows, right_option
from trueness.language._openai_bodies import Answer, answers_of
from trueness.language._token_rows import TokenRows
from trueness.language._vote_rows import VoteRows
from trueness.language.letters import MISSING, answer_position, bare, letters_of_answer
from trueness.language.results import Options, Votes
from trueness.refusals import InvalidValueError, Refusal, quote

FAILED, NO_ANSWER = "request failed", "no answer"
DEFAULT_OPTIONS = ("A", "B", "C", "D")
READINGS = ("letters", "tokens", "votes")
_GROUP = "all"


def read_openai(
    path: str | os.PathLike[str],
    labels: Any,
    *,
    key: str = "custom_id",
    label: str | None = None,
    options: Sequence[str] | None = None,
    answer_at: str | None = None,
    missing: str = "cap",
    reading: str | None = None,
    groups: str | Sequence[str] | None = None,
    clusters: str | None = None,
    on_bad_rows: str = "refuse",
) -> Options | Votes:
    """The rows of an output file of OpenAI's batch service, whose labels are elsewhere.

    Parameters
    ----------
    path
        The output file.
    labels : path, or mapping of custom_id to label
        A CSV, TSV, JSON Lines or Parquet file with a column of keys and one of labels. The order of the output is not
        that of the requests, so rows are joined by key.
    key, label : str
        The columns of keys and of labels; the only other column is the label by default.
    options : sequence of str
        The labels of the options; A, B, C, D by default.
    answer_at, missing
        As in `read_inspect`.
    reading : "letters", "tokens" or "votes"
        With "tokens", labels are the true tokens, and the options of a row are the listed tokens and all others as one
        more. With "votes", several answers to a request are counted.
    groups, clusters : str
        Columns of the file of labels; all rows are one group, and each request a cluster, by default.
    on_bad_rows : "refuse" or "skip"
        Whether bad rows are refused, or left out and counted.
    """
    require_choice("missing", missing, MISSING)
    if reading is not None:
        require_choice("reading", reading, READINGS)
    columns = _Columns(columns_of(groups), columns_of(clusters))
    by_key = labels_by_key(labels, key, label, [*columns.groups, *columns.clusters])
    bad = BadRows(on_bad_rows)
    requests = _Requests(os.fspath(path), by_key, columns, bad)
    names = tuple(DEFAULT_OPTIONS if options is None else options)
    if reading == "votes":
        return _votes(requests, names)
    if reading == "tokens":
        return _tokens(requests, answer_at)
    return _letters(requests, names, answer_at, missing)


class _Columns(NamedTuple):
    groups: tuple[str, ...]
    clusters: tuple[str, ...]


class _Request(NamedTuple):
    """An answered request with its label."""

    answers: list[Answer]
    label: str
    group: str
    cluster: str
    place: Mapping[str, Any]


class _Requests:
    """The answered requests of a file; the others are counted."""

    def __init__(self, file: str, by_key: Mapping[str, LabelRow], columns: _Columns, bad: BadRows) -> None:
        self.file, self.bad = file, bad
        self._by_key, self._columns = by_key, columns
        self.n_without_logprobs = self.n_answered = 0

    def __iter__(self) -> Any:
        seen, used = SeenRows("custom_id"), set()
        for number, line in json_lines(self.file):
            name = str(line.get("custom_id"))
            seen.add(name, repr(name), self.file, number)
            place = {"source": self.file, "row": number}
            body = field_in(line, "response", "body")
            if line.get("error") is not None or field_in(line, "response", "status_code") != 200:
                self.bad.left_out[FAILED] += 1
                used.add(name)
                continue
            answers = answers_of(body) if isinstance(body, Mapping) else []
            used.add(name)
            found = self._label(name, place)
            if not any(answer.text for answer in answers):
                self.bad.left_out[NO_ANSWER] += 1
                continue
            self.n_answered += 1
            self.n_without_logprobs += all(answer.content is None for answer in answers)
            fields = found.columns
            yield _Request(
                answers,
                found.label,
                name_from(fields, self._columns.groups, _GROUP, "groups", **place),
                name_from(fields, self._columns.clusters, name, "clusters", **place),
                place,
            )
        self.n_unused_labels = len(self._by_key.keys() - used)

    def _label(self, name: str, place: Mapping[str, Any]) -> LabelRow:
        if name not in self._by_key:
            cause = f"{quote(name)} has no label"
            remedy = "add it to the file of labels (`labels`), or check `key`"
            raise InvalidValueError("missing-label", cause, remedy, argument="labels", value=name, **place)
        return self._by_key[name]

    def single(self, request: _Request) -> list[Mapping[str, Any]]:
        """The tokens of the one answer of a request."""
        if len(request.answers) > 1:
            cause = f"the request has {len(request.answers)} answers"
            remedy = "say `reading='votes'`"
            raise InvalidValueError("several-answers", cause, remedy, value=len(request.answers))
        content = request.answers[0].content
        if not content:
            cause = "there are no log-probabilities"
            remedy = "ask for logprobs and top_logprobs in the requests"
            raise InvalidValueError("no-log-probabilities", cause, remedy)
        return content

    def refuse_no_logprobs(self) -> None:
        """Refuse a file without any log-probabilities."""
        if self.n_answered and self.n_without_logprobs == self.n_answered:
            cause = f"{self.file} has no log-probabilities"
            remedy = "ask for logprobs and top_logprobs in the requests"
            raise InvalidValueError("no-log-probabilities", cause, remedy, argument=self.file)

    @property
    def remarks(self) -> list[str]:
        """Labels that were not used."""
        unused = self.n_unused_labels
        return [f"{unused} labels without a request"] if unused else []


def _letters(requests: _Requests, options: tuple[str, ...], answer_at: str | None, missing: str) -> Options:
    rows = LetterRows()
    refused: list[Refusal] = []
    for request in requests:
        try:
            content = requests.single(request)
            label = right_option(request.label, options)
            found = letters_of_answer(content, options, answer_at, missing)
        except Refusal as refusal:
            refused.append(refusal.with_facts(**request.place))
            continue
        rows.add(label, *found, group=request.group, cluster=request.cluster)
    _refuse_or_skip(requests, refused)
    refuse_no_rows(len(rows), requests.file, requests.bad.left_out)
    return rows.options(requests.bad.left_out, [f"options {', '.join(options)}", *requests.remarks])


def _refuse_or_skip(requests: _Requests, refused: Sequence[Refusal]) -> None:
    """Bad rows after the file was read, since a file without log-probabilities is refused as a whole."""
    requests.refuse_no_logprobs()
    for refusal in refused:
        if refusal.code == "several-answers":
            raise refusal
        requests.bad.add(refusal)


def _tokens(requests: _Requests, answer_at: str | None) -> Options:
    rows = TokenRows()
    refused: list[Refusal] = []
    for request in requests:
        try:
            listed = answer_position(requests.single(request), answer_at).entry.get("top_logprobs") or []
            rows.add(listed, request.label, group=request.group, cluster=request.cluster)
        except Refusal as refusal:
            refused.append(refusal.with_facts(**request.place))
    _refuse_or_skip(requests, refused)
    refuse_no_rows(len(rows), requests.file, requests.bad.left_out)
    return rows.options(requests.bad.left_out, requests.remarks)


def _votes(requests: _Requests, options: tuple[str, ...]) -> Votes:
    rows = VoteRows(requests.bad)
    for request in requests:
        for answer in request.answers:
            text = bare(str(answer.text or ""))
            option = options.index(text) if text in options else None
            rows.add(
                request.cluster,
                request.group,
                place=request.place,
                labels=options,
                target=request.label,
                option=option,
            )
    return rows.votes(requests.remarks, requests.file)
