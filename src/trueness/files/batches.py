"""From the columns of a chunk to rows that can be validated, and the problems of rows that cannot.

Validation refuses a row of a batch. Here that becomes a row of a file, and bad rows are counted by the code of the
refusal where the user asked for them to be skipped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.files._coding import encode_column, is_decimal, is_numeric, missing_values
from trueness.files._values import (
    BoolArray,
    Problem,
    exponentials,
    groups_of,
    hundredths,
    labels_of,
    predictions_of,
    shares_of,
    weights_of,
)
from trueness.files.request import Choice
from trueness.files.where import Condition
from trueness.formats import InputFile
from trueness.formats.arrow import pyarrow, values_of
from trueness.formats.fields import Chunk
from trueness.refusals import Refusal
from trueness.rows import OptionRows, Rows
from trueness.rows.containers import Contents
from trueness.rows.groups import EncodedNames, objects_of
from trueness.rows.lists import Lists
from trueness.rows.option_rows import rows_of_lists

IGNORED = "ignored"
"""The code of pixels with the label `ignore_index`."""

SKIPPED: Mapping[str, str] = {
    "not-finite": "probabilities that are not finite",
    "outside-range": "probabilities outside 0 to 1",
    "sum-not-1": "probabilities that do not sum to 1",
    "cannot-be-normalized": "probabilities that cannot be normalised",
    "bad-logits": "logits that do not give probabilities",
    "label-out-of-range": "labels out of range",
    "bad-weight": "weights that are negative, not finite or out of range",
    "missing-value": "missing values",
    "not-a-number": "text instead of a number",
    "wrong-length": "another number of probabilities than needed",
    "unknown-label": "labels that are not classes",
    "not-one-hot": "labels that are not one-hot",
    "wrong-field-count": "another number of fields than in the first row",
    "unreadable-row": "lines that cannot be read",
    "outside-crop": "voxels outside the crop, whose probabilities are all 0",
    IGNORED: "pixels with the ignored label",
}
"""What is wrong with skipped rows, by the code of the refusal."""


class Remark(NamedTuple):
    """What was assumed about files, for the user to check."""

    code: str
    message: str
    remedy: str


@dataclass(frozen=True, slots=True)
class RowOptions:
    """The scale of the numbers, and whether bad rows are refused or skipped."""

    scale: str = "probabilities"
    normalize: bool = False
    on_bad_rows: str = "refuse"
    soft_labels: bool = False

    @property
    def tolerant(self) -> bool:
        """Whether bad rows are skipped and counted."""
        return self.on_bad_rows == "skip"


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of one file, ready for validation."""

    file: str
    numbers: NDArray[np.int64]
    """The rows' numbers in the file, from 1."""
    y_true: NDArray[Any]
    y_prob: NDArray[Any] | Contents | Lists
    """(rows, classes) or (rows,) as an array, one column for each class as `Contents`, or `Lists` of own options."""
    weight: NDArray[Any] | None = None
    groups: EncodedNames | None = None
    """The group of each row."""
    clusters: EncodedNames | None = None
    """The cluster of each row."""
    options: RowOptions = RowOptions()
    skipped: Counter[str] = field(default_factory=Counter)
    share: float = 0.0
    """The part of the file up to its last row."""
    files_before: int = 0
    """The number of files of the source that were read before."""
    may_ignore: bool = False
    """Whether `ignore_index` applies to these rows and was not given."""

    def __len__(self) -> int:
        return len(self.y_true)

    def rows(self) -> Rows | OptionRows:
        """The rows, validated."""
        from_logits, normalize = self.options.scale == "logits", self.options.normalize
        if isinstance(self.y_prob, Lists):
            return rows_of_lists(self.y_true, self.y_prob, self.weight, from_logits, normalize)
        return Rows.of(
            self.y_true,
            self.y_prob,
            self.weight,
            from_logits=from_logits,
            normalize=normalize,
            soft_labels=self.options.soft_labels,
        )

    def take(self, chosen: Any) -> Batch:
        """Some of the rows: a mask, or their places in the batch."""
        places = np.flatnonzero(chosen) if getattr(chosen, "dtype", None) == np.bool_ else chosen
        y_prob = self.y_prob
        y_prob = y_prob.take(places) if isinstance(y_prob, (Contents, Lists)) else y_prob[places]
        return replace(
            self,
            numbers=self.numbers[places],
            y_true=self.y_true[places],
            y_prob=y_prob,
            weight=None if self.weight is None else self.weight[places],
            groups=None if self.groups is None else self.groups._replace(codes=self.groups.codes[places]),
            clusters=None
            if self.clusters is None
            else self.clusters._replace(codes=self.clusters.codes[places]),
        )


def batch_of(
    chunk: Chunk,
    choice: Choice,
    n_classes: int,
    *,
    input: InputFile,
    first_row: int,
    options: RowOptions,
    files_before: int = 0,
) -> Batch:
    """The rows of a chunk that meet the conditions; problems of single columns are refused, or such rows skipped."""
    numbers = np.arange(first_row, first_row + chunk.n_rows)
    columns = {**chunk.columns, **_constant_columns(input, choice, chunk)}
    chosen = _rows_meeting(columns, choice, input.name, first_row)
    if chosen is not None and not chosen.all():
        places = np.flatnonzero(chosen)
        columns = {name: _take(column, places) for name, column in columns.items()}
        numbers = numbers[places]
    problems: list[Problem] = []
    y_prob = predictions_of(columns, choice, n_classes, problems)
    if options.scale == "logprobs":
        y_prob = exponentials(y_prob)
    elif options.scale == "percent":
        y_prob = hundredths(y_prob)
    if choice.shares:
        y_true = shares_of(columns, choice, n_classes, problems)
    else:
        y_true = labels_of(columns[choice.label], choice, n_classes, problems)
    weight = None
    if choice.weight is not None:
        weight = weights_of(columns[choice.weight], choice.weight, options.scale == "percent", problems)
    groups = groups_of(columns, choice.by, problems) if choice.by else None
    clusters = groups_of(columns, (choice.clusters,), problems, "clusters") if choice.clusters else None
    batch = Batch(
        input.name,
        numbers,
        y_true,
        y_prob,
        weight,
        groups,
        clusters,
        options,
        Counter(chunk.unreadable),
        chunk.share,
        files_before,
    )
    return _without(batch, problems) if problems else batch


def _constant_columns(input: InputFile, choice: Choice, chunk: Chunk) -> dict[str, Any]:
    """Columns that are in the names of the folders and not in the file."""
    needed = choice.wanted.names
    return {
        name: _constant(value, chunk.n_rows)
        for name, value in input.partition.items()
        if name in needed and name not in chunk.columns
    }


def _constant(value: str | None, n_rows: int) -> Any:
    """A column with the same text in each row, held once."""
    pa = pyarrow()
    return pa.DictionaryArray.from_arrays(np.zeros(n_rows, np.int32), pa.array([value], pa.string()))


def _take(column: Any, places: NDArray[np.int64]) -> Any:
    return column[places] if isinstance(column, np.ndarray) else column.take(pyarrow().array(places))


def _text_meets(condition: Condition, column: Any) -> BoolArray:
    """Which rows of a column of text meet a condition; each different text is compared once, in order of the rows."""
    names, codes = encode_column(column, condition.column, "where")
    missing = missing_values(column)
    rows = np.arange(len(codes)) if missing is None else np.flatnonzero(~missing)
    _, first = np.unique(codes[rows], return_index=True)
    first = rows[np.sort(first)]
    of_names = np.zeros(len(names), bool)
    try:
        of_names[codes[first]] = condition.holds(objects_of([names[code] for code in codes[first]]), None)
    except Refusal as error:
        raise error if error.row is None else error.with_facts(row=int(first[error.row])) from None
    return of_names[codes] if missing is None else of_names[codes] & ~missing


def _rows_meeting(columns: dict[str, Any], choice: Choice, file: str, first_row: int) -> BoolArray | None:
    """Which rows meet all conditions; None if there are no conditions."""
    chosen: BoolArray | None = None
    for condition in choice.where:
        column = columns[condition.column]
        try:
            if is_numeric(column) and not is_decimal(column):
                holds = condition.holds(*values_of(column))
            else:
                holds = _text_meets(condition, column)
        except Refusal as error:
            raise (
                error if error.row is None else error.with_facts(source=file, row=first_row + error.row)
            ) from None
        chosen = holds if chosen is None else chosen & holds
    return chosen


def _without(batch: Batch, problems: Sequence[Problem]) -> Batch:
    """The batch without the rows that have a problem, which are counted by code; or a refusal of the first of them."""
    bad = np.logical_or.reduce([problem.rows for problem in problems])
    if not batch.options.tolerant:
        row = int(np.argmax(bad))
        first = next(problem for problem in problems if problem.rows[row])
        raise first.refusal.with_facts(source=batch.file, row=int(batch.numbers[row]))
    skipped, left = Counter(batch.skipped), np.ones(len(batch), bool)
    for problem in problems:  # a row is counted once, for the first of its reasons
        skipped[problem.refusal.code] += int(np.count_nonzero(problem.rows & left))
        left &= ~problem.rows
    return replace(batch.take(~bad), skipped=+skipped)
