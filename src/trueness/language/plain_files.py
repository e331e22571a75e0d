"""Files that are no logs: columns of stated confidences or of votes, and lists of tokens."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from trueness.files.text_columns import read_text_columns
from trueness.formats.json_stream import json_lines
from trueness.language._collected import (
    REASONS,
    BadRows,
    columns_of,
    files_of,
    name_from,
    names_array,
    refuse_no_rows,
)
from trueness.language._label_files import labels_by_key
from trueness.language._letter_rows import right_option
from trueness.language._token_rows import TokenRows
from trueness.language.results import Options, Statements, Votes
from trueness.language.stated_confidence import stated_rows
from trueness.refusals import InvalidValueError, Refusal, quote

Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]

_GROUP = "all"


class _Table:
    """Some columns of several files, as text, with the file and the number of each row."""

    def __init__(self, paths: Paths, names: Sequence[str], *, header: bool) -> None:
        self.columns: dict[str, list[str | None]] = {name: [] for name in names}
        self._starts: list[tuple[int, str]] = []
        for file in files_of(paths):
            self._starts.append((self.n_rows, file))
            for name, texts in read_text_columns(file, list(self.columns), header=header).items():
                self.columns[name] += texts
        self.first_file = self._starts[0][1]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self.columns.values())))

    def place(self, row: int) -> dict[str, Any]:
        """The file of a row and its number in it, for refusals."""
        start, file = next(pair for pair in reversed(self._starts) if pair[0] <= row)
        return {"source": file, "row": row - start + 1}

    def names(self, columns: Sequence[str], rows: Sequence[int], argument: str) -> Any:
        """The group or cluster of some rows."""
        if not columns:
            return names_array([_GROUP if argument == "groups" else str(row) for row in rows])
        return names_array(
            [
                name_from(
                    {c: self.columns[c][row] for c in columns}, columns, "", argument, **self.place(row)
                )
                for row in rows
            ]
        )


def read_stated(
    paths: Paths,
    stated: str,
    correct: str,
    *,
    percent: bool = False,
    not_attempted: str = "skip",
    groups: str | Sequence[str] | None = None,
    clusters: str | None = None,
    on_bad_rows: str = "refuse",
    header: bool = True,
) -> Statements:
    """Stated confidences and whether the answers were right, from two columns of CSV, JSON Lines or Parquet files.

    Parameters
    ----------
    paths
        One file, or several with the same columns.
    stated, correct : str
        The columns of the confidence and of the grade: true/false, 1/0, yes/no, correct/incorrect, right/wrong, or not
        attempted.
    percent : bool
        Whether confidences are from 0 to 100; the scale is not guessed.
    not_attempted : "skip" or "incorrect"
        Whether questions that were not attempted are left out, or count as wrong.
    groups, clusters : str
        Columns of the group and the cluster of each row.
    on_bad_rows : "refuse" or "skip"
        Whether bad rows are refused, or left out and counted.
    """
    bad, by, together = BadRows(on_bad_rows), columns_of(groups), columns_of(clusters)
    table = _Table(paths, list(dict.fromkeys((stated, correct, *by, *together))), header=header)
    try:
        found = stated_rows(
            table.columns[stated],
            table.columns[correct],
            percent=percent,
            not_attempted=not_attempted,
            skip=bad.skip,
        )
    except Refusal as refusal:
        raise refusal if refusal.row is None else refusal.with_facts(**table.place(refusal.row)) from None
    for reason, count in found.left_out.items():
        bad.left_out[REASONS.get(reason, reason)] += count
    rows = found.rows.tolist()
    return Statements(
        event=found.event,
        stated=found.stated,
        group=table.names(by, rows, "groups"),
        cluster=table.names(together, rows, "clusters"),
        left_out=bad.left_out,
        remarks=(f"{len(rows)} rows, confidences from column {stated!r}, grades from column {correct!r}",),
    )


def read_votes(
    paths: Paths,
    votes: Sequence[str],
    label: str,
    *,
    groups: str | Sequence[str] | None = None,
    clusters: str | None = None,
    on_bad_rows: str = "refuse",
    header: bool = True,
) -> Votes:
    """Votes for each option, from columns of counts, and the right option, which a column names.

    Parameters
    ----------
    paths
        One file, or several with the same columns.
    votes : sequence of str
        The columns of the number of answers for each option; their names are those of the options.
    label : str
        The column with the name of the right option.
    groups, clusters, on_bad_rows
        As in `read_stated`.
    """
    bad, by, together = BadRows(on_bad_rows), columns_of(groups), columns_of(clusters)
    table = _Table(paths, list(dict.fromkeys((label, *votes, *by, *together))), header=header)
    labels, counts, rows = [], [], []
    for row in range(table.n_rows):
        try:
            right = right_option(table.columns[label][row], votes)
            counted = [_count(table.columns[name][row], name) for name in votes]
            if sum(counted) < 2:
                cause = f"the question has {sum(counted)} votes"
                remedy = "two are needed"
                raise InvalidValueError("too-few-votes", cause, remedy, value=sum(counted))
        except Refusal as refusal:
            bad.add(refusal.with_facts(**table.place(row)))
            continue
        labels.append(right)
        counts.append(counted)
        rows.append(row)
    refuse_no_rows(len(rows), table.first_file, bad.left_out)
    return Votes(
        y_true=np.array(labels, np.int64),
        votes=np.array(counts, np.int64),
        n_options=np.full(len(rows), len(votes)),
        group=table.names(by, rows, "groups"),
        cluster=table.names(together, rows, "clusters"),
        left_out=bad.left_out,
        remarks=(f"{len(rows)} questions, {int(np.sum(counts))} votes for {', '.join(votes)}",),
    )


def _count(text: str | None, column: str) -> int:
    number = float(text) if text is not None and text.replace(".", "", 1).isdecimal() else -1.0
    if number < 0 or not number.is_integer() or number > 2**31:
        cause = f"column {quote(column)} is {text!r}"
        remedy = "votes are whole numbers of at least 0"
        raise InvalidValueError("not-a-count", cause, remedy, value=text)
    return int(number)


def read_token_lists(
    paths: Paths,
    *,
    label: str | None = None,
    labels: Any = None,
    key: str = "custom_id",
    groups: str | Sequence[str] | None = None,
    clusters: str | None = None,
    on_bad_rows: str = "refuse",
) -> Options:
    """The most probable tokens of each row of JSON Lines: `top_logprobs`, a list of {token, logprob}, and `true`.

    The options of a row are its listed tokens, and all others as one more.

    Parameters
    ----------
    paths
        One file, or several.
    label : str
        The field of the true token, "true" by default; with `labels`, its column there.
    labels : path or mapping
        True tokens in another file, by `key`, as in `read_openai`.
    groups, clusters : str
        Fields of the group and the cluster of each row.
    on_bad_rows : "refuse" or "skip"
        Whether bad rows are refused, or left out and counted.
    """
    bad, by, together = BadRows(on_bad_rows), columns_of(groups), columns_of(clusters)
    by_key = None if labels is None else labels_by_key(labels, key, label)
    rows = TokenRows()
    for file in files_of(paths):
        for number, line in json_lines(file):
            place: dict[str, Any] = {"source": file, "row": number}
            listed, true = line.get("top_logprobs"), line.get(label or "true")
            if by_key is not None:
                true = by_key[str(line.get(key))].label if str(line.get(key)) in by_key else None
            if not isinstance(listed, (list, dict)) or true is None:
                bad.add(_incomplete(place))
                continue
            group = name_from(line, by, _GROUP, "groups", **place)
            cluster = name_from(line, together, f"{file}/{number}", "clusters", **place)
            try:
                rows.add(listed, true, group=group, cluster=cluster)
            except Refusal as refusal:
                bad.add(refusal.with_facts(**place))
    refuse_no_rows(len(rows), ", ".join(files_of(paths)), bad.left_out)
    return rows.options(bad.left_out, ())


def _incomplete(place: dict[str, Any]) -> Refusal:
    cause = "top_logprobs or the true token is missing"
    remedy = "a row needs both; name the field of the true token with `label`"
    return InvalidValueError("missing-value", cause, remedy, **place)
