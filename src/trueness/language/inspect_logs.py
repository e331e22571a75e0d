"""Logs of inspect: letters among listed tokens, stated confidences, or votes over epochs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from trueness._arguments import boolean, require_choice
from trueness.language._answers import (
    NOT_ATTEMPTED,
    score_of,
)
from trueness.language._collected import (
    BadRows,
    SeenRows,
    columns_of,
    files_of,
    name_from,
    names_array,
    refuse_no_rows,
)
from trueness.language._inspect_logs import field_in, samples_of
from trueness.language._letter_rows import LetterRows, option_labels, right_option
from trueness.language._vote_rows import VoteRows
from trueness.language.letters import MISSING, bare, letters_of_answer
from trueness.language.results import Options, Statements, Votes
from trueness.language.stated_confidence import TREATMENTS, confidence_of
from trueness.refusals import InvalidValueError, Refusal, quote

READINGS = ("stated", "letters", "votes")
_SHUFFLED = "Choices were shuffled"


def read_inspect(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    reading: str | None = None,
    scorer: str | None = None,
    options: Sequence[str] | None = None,
    answer_at: str | None = None,
    missing: str = "cap",
    not_attempted: str = "skip",
    partial: bool = False,
    groups: str | Sequence[str] | None = None,
    clusters: str | None = None,
    on_bad_rows: str = "refuse",
) -> Options | Statements | Votes:
    """The rows of logs that inspect wrote, `.eval` or `.json`.

    Parameters
    ----------
    paths
        One log, or several.
    reading : "stated", "letters" or "votes"
        What is read: scores with a stated confidence; the letter of the answer among the listed tokens; or the answers
        of all epochs as votes. By default whichever of the first two the log has.
    scorer : str
        The scorer whose scores are read, if there are several.
    options : sequence of str
        The labels of the options; A, B, … by default, as many as the sample has choices.
    answer_at : str
        The text after which the letter stands; by default the answer begins with it.
    missing : "cap" or "zero"
        As in `letters`.
    not_attempted : "skip" or "incorrect"
        Whether answers that were not attempted are left out, or count as wrong.
    partial : bool
        Whether logs that did not end with success are read.
    groups, clusters : str
        Fields such as "metadata.subject"; the task, and the id of the sample, by default.
    on_bad_rows : "refuse" or "skip"
        Whether bad rows are refused, or left out and counted.
    """
    if reading is not None:
        require_choice("reading", reading, READINGS)
    require_choice("missing", missing, MISSING)
    require_choice("not_attempted", not_attempted, TREATMENTS)
    files = files_of(paths)
    wanted = _Wanted(
        scorer, options, answer_at, missing, not_attempted, columns_of(groups), columns_of(clusters)
    )
    logs = [_read_log(file, wanted, partial=boolean("partial", partial)) for file in files]
    samples = sorted((s for log in logs for s in log.samples), key=lambda sample: sample.order)
    _refuse_repeated(logs)
    bad = BadRows(on_bad_rows)
    for log in logs:
        bad.left_out.update(log.left_out)
    name = reading or _reading_of(samples, files[0])
    refuse_no_rows(len(samples), files[0], bad.left_out)
    remarks = tuple(f"task {log.task}: {log.n_samples} samples" for log in logs)
    if name == "stated":
        return _statements(samples, bad, remarks, files[0], wanted)
    _refuse_shuffled(logs)
    if name == "letters":
        return _letters(samples, bad, remarks, files[0])
    return _votes(samples, bad, remarks, files[0], wanted)


class _Wanted(NamedTuple):
    """The options of the reader that concern each sample."""

    scorer: str | None
    options: Sequence[str] | None
    answer_at: str | None
    missing: str
    not_attempted: str
    groups: tuple[str, ...]
    clusters: tuple[str, ...]


@dataclass(slots=True)
class _Sample:
    """What is kept of a sample: a few numbers for each reading that may be meant."""

    file: str
    id: Any
    epoch: int
    labels: tuple[str, ...]
    target: Any
    scores: Mapping[str, Mapping[str, Any]]
    fields: Mapping[str, Any]
    has_logprobs: bool
    letters: Any = None
    """`Letters` and the number of tokens before the answer; or the refusal of the row."""
    task: str = ""
    group: str = ""
    cluster: str = ""

    @property
    def order(self) -> tuple[str, int, int, Any]:
        """By epoch and id, whatever the order of the log: numbers before text."""
        is_number = isinstance(self.id, int)
        return self.task, self.epoch, int(not is_number), self.id if is_number else str(self.id)

    def place(self) -> dict[str, Any]:
        """The facts of a refusal of this sample."""
        return {"source": f"{self.file}, sample {quote(self.id)}, epoch {self.epoch}"}


@dataclass(slots=True)
class _Log:
    """The samples of a log."""

    file: str
    task: str = ""
    header: dict[str, Any] = field(default_factory=dict)
    samples: list[_Sample] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    shuffled: bool = False
    n_samples: int = 0


def _read_log(file: str, wanted: _Wanted, *, partial: bool) -> _Log:
    log, seen = _Log(file), SeenRows("the sample")
    for number, raw in enumerate(samples_of(file, log.header), 1):
        log.n_samples = number
        key = (str(raw.get("id")), str(raw.get("epoch")))
        seen.add(key, f"{quote(raw.get('id'))}, epoch {raw.get('epoch')},", file, number)
        if raw.get("error") is not None:
            log.left_out["sample failed"] += 1
        elif raw.get("invalidation") is not None:
            log.left_out["sample invalidated"] += 1
        else:
            log.samples.append(_sample(raw, file, wanted))
            log.shuffled |= _explains_shuffle(raw)
    _refuse_status(log, partial=partial)
    log.task = str(field_in(log.header, "eval", "task") or os.path.basename(file))
    log.shuffled |= any(
        bool(field_in(step, "params", "shuffle")) for step in field_in(log.header, "plan", "steps") or ()
    )
    for sample in log.samples:
        place = sample.place()
        sample.task = log.task
        fields = {**sample.fields, "task": log.task}
        sample.group = name_from(fields, wanted.groups, log.task, "groups", **place)
        sample.cluster = name_from(fields, wanted.clusters, f"{log.task}/{sample.id}", "clusters", **place)
        sample.fields = {}
    return log


def _refuse_repeated(logs: Sequence[_Log]) -> None:
    """Refuse samples of the same task, id and epoch in two logs."""
    seen = SeenRows("the sample")
    for log in logs:
        for number, sample in enumerate(log.samples):
            key = (log.task, str(sample.id), sample.epoch)
            seen.add(key, f"{quote(sample.id)}, epoch {sample.epoch},", log.file, number)


def _refuse_status(log: _Log, *, partial: bool) -> None:
    status = log.header.get("status") or "started"
    if status == "success" or partial:
        return
    ids = field_in(log.header, "eval", "dataset", "sample_ids")
    n_ids = len(ids) if isinstance(ids, list) else field_in(log.header, "eval", "dataset", "samples")
    epochs = field_in(log.header, "eval", "config", "epochs") or 1
    expected = f" of {n_ids * epochs}" if isinstance(n_ids, int) and isinstance(epochs, int) else ""
    cause = f"{log.file} ended with status {quote(str(status))} after {log.n_samples}{expected} samples"
    remedy = "pass `partial=True` to assess what there is"
    raise InvalidValueError("incomplete-log", cause, remedy, argument=log.file, value=str(status))


def _sample(raw: Mapping[str, Any], file: str, wanted: _Wanted) -> _Sample:
    """A sample without its texts and messages; letters are computed here, so that no list of tokens is kept."""
    choices = raw.get("choices")
    labels = option_labels(wanted.options, len(choices) if isinstance(choices, list) else 0)
    content = field_in(raw, "output", "choices", 0, "logprobs", "content")
    scores = raw.get("scores")
    sample = _Sample(
        file,
        raw.get("id"),
        raw["epoch"] if isinstance(raw.get("epoch"), int) else 1,
        labels,
        raw.get("target"),
        {
            name: {"value": score.get("value"), "answer": score.get("answer")}
            for name, score in (scores.items() if isinstance(scores, Mapping) else ())
            if isinstance(score, Mapping)
        },
        {"metadata": raw.get("metadata"), "id": raw.get("id"), "epoch": raw.get("epoch")}
        if wanted.groups or wanted.clusters
        else {},
        has_logprobs=isinstance(content, list) and bool(content),
    )
    if sample.has_logprobs and labels:
        try:
            sample.letters = letters_of_answer(content, labels, wanted.answer_at, wanted.missing)
        except Refusal as refusal:
            sample.letters = refusal
    return sample


def _explains_shuffle(raw: Mapping[str, Any]) -> bool:
    scores = raw.get("scores")
    return any(
        str(field_in(score, "explanation") or "").startswith(_SHUFFLED)
        for score in (scores.values() if isinstance(scores, Mapping) else ())
    )


def _is_stated(score: Mapping[str, Any]) -> bool:
    value = score["value"]
    return isinstance(value, Mapping) and "score" in value and "confidence" in value


def _reading_of(samples: Sequence[_Sample], file: str) -> str:
    """The only reading that is possible."""
    stated = any(_is_stated(score) for sample in samples for score in sample.scores.values())
    letters = any(sample.has_logprobs and sample.labels for sample in samples)
    if stated != letters:
        return "stated" if stated else "letters"
    if stated:
        cause = f"{file} holds both stated confidences and token log-probabilities"
        remedy = "say `reading='stated'` or `reading='letters'`"
        raise InvalidValueError("ambiguous-reading", cause, remedy, argument=file)
    cause = f"{file} holds neither token log-probabilities nor stated confidences"
    remedy = 'run with logprobs and 20 top_logprobs, or a scorer that writes {"score", "confidence"}'
    raise InvalidValueError("no-probabilities", cause, remedy, argument=file)


def _scorer(
    samples: Sequence[_Sample], wanted: _Wanted, file: str, usable: Callable[[Mapping[str, Any]], bool]
) -> str:
    """The scorer that is meant: the one that was named, or the only one."""
    names = list(dict.fromkeys(n for s in samples for n, score in s.scores.items() if usable(score)))
    if wanted.scorer is None and len(names) == 1:
        return names[0]
    if wanted.scorer in names:
        return str(wanted.scorer)
    found = "scores of" if wanted.scorer is None else f"no scorer {quote(wanted.scorer)}, but"
    listed = ", ".join(map(quote, names)) or "none that can be used"
    cause = f"{file} has {found} {listed}"
    remedy = "name one of them with `scorer`"
    raise InvalidValueError("several-scorers", cause, remedy, argument="scorer", value=wanted.scorer)


def _statements(
    samples: Sequence[_Sample], bad: BadRows, remarks: tuple[str, ...], file: str, wanted: _Wanted
) -> Statements:
    scorer = _scorer(samples, wanted, file, _is_stated)
    kept: list[_Sample] = []
    event, stated = [], []
    for sample in samples:
        value = field_in(sample.scores, scorer, "value")
        try:
            score = score_of(value["score"] if isinstance(value, Mapping) else None)
            if score == NOT_ATTEMPTED and wanted.not_attempted == "incorrect":
                score = False
            if isinstance(score, str):
                bad.left_out[score] += 1
                continue
            confidence = confidence_of(value.get("confidence"), percent=True)
        except Refusal as refusal:
            bad.add(refusal.with_facts(**sample.place()))
            continue
        kept.append(sample)
        event.append(score)
        stated.append(confidence)
    refuse_no_rows(len(kept), file, bad.left_out)
    return Statements(
        event=np.array(event, bool),
        stated=np.array(stated),
        group=names_array([sample.group for sample in kept]),
        cluster=names_array([sample.cluster for sample in kept]),
        default_confidence=True,
        left_out=bad.left_out,
        remarks=(*remarks, f"confidences in percent that the scorer {scorer} wrote"),
    )


def _letters(samples: Sequence[_Sample], bad: BadRows, remarks: tuple[str, ...], file: str) -> Options:
    rows = LetterRows()
    for sample in samples:
        try:
            if isinstance(sample.letters, Refusal):
                raise sample.letters
            if sample.letters is None:
                cause = "there are no token log-probabilities, or no choices"
                remedy = "run with logprobs and top_logprobs, or name the labels with `options`"
                raise InvalidValueError("no-log-probabilities", cause, remedy)
            label = right_option(sample.target, sample.labels)
        except Refusal as refusal:
            bad.add(refusal.with_facts(**sample.place()))
            continue
        found, n_before = sample.letters
        rows.add(label, found, n_before, group=sample.group, cluster=sample.cluster)
    refuse_no_rows(len(rows), file, bad.left_out)
    return rows.options(bad.left_out, remarks)


def _votes(
    samples: Sequence[_Sample], bad: BadRows, remarks: tuple[str, ...], file: str, wanted: _Wanted
) -> Votes:
    scorer = _scorer(samples, wanted, file, lambda score: score["answer"] is not None)
    rows = VoteRows(bad)
    for sample in samples:
        answer = field_in(sample.scores, scorer, "answer")
        option = sample.labels.index(bare(str(answer))) if bare(str(answer)) in sample.labels else None
        rows.add(
            sample.cluster,
            sample.group,
            place=sample.place(),
            labels=sample.labels,
            target=sample.target,
            option=option,
        )
    return rows.votes(remarks, file)


def _refuse_shuffled(logs: Sequence[_Log]) -> None:
    for log in logs:
        if log.shuffled:
            cause = f"{log.file}: the choices were shuffled by the solver, and the log does not say how"
            remedy = "shuffle in the data set instead (shuffle_choices)"
            raise InvalidValueError("shuffled-choices", cause, remedy, argument=log.file)
