"""From the columns of a chunk to rows that the border takes, and what is wrong with those it does not.

The border names a row of a batch. Here that becomes a row of a file, and rows that cannot be used are counted by
reason where the user asked for them to be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._border import Rows
from trueness._containers import Contents
from trueness.files._arrow import Matrix, Texts, as_objects, field_of, matrix_of, pyarrow, texts_of, values_of
from trueness.files._columns import Choice
from trueness.files._errors import InputError, nearest, shown
from trueness.files._fields import Chunk
from trueness.files._paths import Input

BoolArray = NDArray[np.bool_]

SCALES = ("probabilities", "logits", "logprobs")
BAD_ROWS = ("refuse", "skip")


@dataclass(frozen=True, slots=True)
class RowOptions:
    """How the numbers of a row are meant, and what becomes of rows that are no predictions."""

    scale: str = "probabilities"
    normalize: bool = False
    on_bad_rows: str = "refuse"

    @property
    def tolerant(self) -> bool:
        """Whether bad rows are left out and counted."""
        return self.on_bad_rows == "skip"


class Problem(NamedTuple):
    """Rows that cannot be used, for one reason."""

    reason: str
    rows: BoolArray
    values: Any
    """What they hold: one entry for each row of the batch."""
    remedy: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of one file, ready for the border."""

    file: str
    numbers: NDArray[np.int64]
    """The rows' numbers in the file, from 1."""
    y_true: NDArray[Any]
    y_prob: NDArray[Any] | Contents
    """(rows, classes) or (rows,) as an array, or one column for each class as `Contents`."""
    weight: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    """The group of each row, as a Python string that rows of one group share."""
    options: RowOptions = RowOptions()
    skipped: Counter[str] = field(default_factory=Counter)
    share: float = 0.0

    def __len__(self) -> int:
        return len(self.y_true)

    def rows(self) -> Rows:
        """The rows, past the border."""
        return Rows.of(
            self.y_true,
            self.y_prob,
            self.weight,
            from_logits=self.options.scale == "logits",
            normalize=self.options.normalize,
        )

    def take(self, chosen: Any) -> Batch:
        """Some of the rows: a mask, or their places in the batch."""
        places = np.flatnonzero(chosen) if getattr(chosen, "dtype", None) == np.bool_ else chosen
        y_prob = self.y_prob
        y_prob = y_prob.taken(places) if isinstance(y_prob, Contents) else y_prob[places]
        return replace(
            self,
            numbers=self.numbers[places],
            y_true=self.y_true[places],
            y_prob=y_prob,
            weight=None if self.weight is None else self.weight[places],
            groups=None if self.groups is None else self.groups[places],
        )


def batch_of(
    chunk: Chunk, choice: Choice, n_classes: int, *, input: Input, first_row: int, options: RowOptions
) -> Batch:
    """The rows of a chunk that fulfil the conditions; what is wrong with them already in their columns is refused."""
    numbers = np.arange(first_row, first_row + chunk.n_rows)
    columns = {**chunk.columns, **_constant_columns(input, choice, chunk)}
    chosen = _fulfilling(columns, choice)
    if chosen is not None and not chosen.all():
        places = np.flatnonzero(chosen)
        columns = {name: _taken(column, places) for name, column in columns.items()}
        numbers = numbers[places]
    problems: list[Problem] = []
    y_prob = _predictions(columns, choice, n_classes, problems)
    if options.scale == "logprobs":
        y_prob = _exponentials(y_prob)
    y_true = _labels(columns[choice.label], choice, n_classes, problems)
    weight = None if choice.weight is None else _weights(columns[choice.weight], choice.weight, problems)
    groups = None if choice.by is None else _groups(columns[choice.by], choice.by, problems)
    batch = Batch(
        input.name, numbers, y_true, y_prob, weight, groups, options, Counter(chunk.unreadable), chunk.share
    )
    return _without(batch, problems) if problems else batch


def _constant_columns(input: Input, choice: Choice, chunk: Chunk) -> dict[str, Any]:
    """Columns that are not in the file but in the names of its folders."""
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


def _taken(column: Any, places: NDArray[np.int64]) -> Any:
    return column[places] if isinstance(column, np.ndarray) else column.take(pyarrow().array(places))


def _fulfilling(columns: dict[str, Any], choice: Choice) -> BoolArray | None:
    """Which rows fulfil all conditions; None if there are none."""
    chosen: BoolArray | None = None
    for condition in choice.where:
        column = columns[condition.column]
        if _is_numeric(column):
            holds = condition.holds(*values_of(column))
        else:
            texts = _texts(column, condition.column, "--where")
            holds = condition.holds(as_objects(texts.texts), None)[texts.codes]
            holds = holds if texts.missing is None else holds & ~texts.missing
        chosen = holds if chosen is None else chosen & holds
    return chosen


def _is_numeric(column: Any) -> bool:
    """Whether a column holds numbers or truth values."""
    if isinstance(column, np.ndarray):
        return column.ndim == 1 and column.dtype.kind in "fiub"
    return field_of(column.type).numeric


def _texts(column: Any, name: str, option: str) -> Texts:
    """A column as text; refused if its rows are not one text each."""
    _refuse_nested(column, name, option)
    try:
        return texts_of(column)
    except ValueError as error:  # of NumPy, of pyarrow, or about bytes that are not UTF-8
        reason = " ".join(str(error).split())[:120]
        raise InputError(
            f"column {shown(name)} ({option}) holds text that cannot be read: {reason}",
            "write it again as UTF-8",
        ) from error


def _refuse_nested(column: Any, name: str, option: str) -> None:
    """Refuse a column whose rows hold more than one value each, or a value that has no text."""
    if isinstance(column, np.ndarray):
        if column.ndim == 1:
            return
        held = f"an array of shape {column.shape[1:]} in each row"
    elif field_of(column.type).kind not in ("nested", "list"):
        return
    else:
        held = f"values of type {shown(str(column.type), 80)}"
    raise InputError(
        f"column {shown(name)} ({option}) holds {held}",
        "name a column of numbers, text, dates or true/false",
    )


def _predictions(
    columns: dict[str, Any], choice: Choice, n_classes: int, problems: list[Problem]
) -> NDArray[Any] | Contents:
    if choice.is_list:
        return _from_list(
            matrix_of(columns[choice.probs[0]], n_classes), choice.probs[0], n_classes, problems
        )
    parts = [values_of(columns[name]) for name in choice.probs]
    for name, part in zip(choice.probs, parts, strict=True):
        _note_missing(part.missing, name, problems)
    if len(parts) == 1:
        return parts[0].data
    # Left in columns: the border reads a block of each at a time.
    return Contents.of_columns([part.data for part in parts], choice.probs)


def _from_list(matrix: Matrix, name: str, n_classes: int, problems: list[Problem]) -> NDArray[Any]:
    _note_missing(matrix.missing, name, problems)
    if matrix.ragged is not None and matrix.ragged.any():
        problems.append(
            Problem(
                f"column {shown(name)} has another number of probabilities than {n_classes}",
                matrix.ragged,
                matrix.lengths,
                "every row needs as many as the first one",
            )
        )
    return matrix.data


def _note_missing(missing: BoolArray | None, name: str, problems: list[Problem]) -> None:
    if missing is not None and missing.any():
        none = np.broadcast_to(np.array(None), len(missing))
        remedy = "fill in the value, or leave such rows out with --on-bad-rows skip"
        problems.append(Problem(f"column {shown(name)} has a missing value", missing, none, remedy))


def _exponentials(y_prob: NDArray[Any] | Contents) -> NDArray[Any]:
    """exp of log-probabilities, in the dtype they came in."""
    if isinstance(y_prob, Contents):
        y_prob = np.stack(y_prob.columns or (), axis=1)
    narrow = y_prob.dtype if y_prob.dtype.kind == "f" else np.float64
    with np.errstate(over="ignore"):  # what overflows is refused as no probability
        return np.asarray(np.exp(y_prob, dtype=np.float64).astype(narrow))


def _weights(column: Any, name: str, problems: list[Problem]) -> NDArray[Any]:
    _refuse_nested(column, name, "--weight")
    if not _is_numeric(column):
        raise InputError(f"column {shown(name)} (--weight) holds no numbers", "weights are numbers from 0 up")
    values = values_of(column)
    _note_missing(values.missing, name, problems)
    return values.data.astype(np.float64)


def _groups(column: Any, name: str, problems: list[Problem]) -> NDArray[Any]:
    texts = _texts(column, name, "--by")
    _note_missing(texts.missing, name, problems)
    return texts.objects()


def _labels(column: Any, choice: Choice, n_classes: int, problems: list[Problem]) -> NDArray[Any]:
    """Labels as class indices; those that name no class are noted."""
    if isinstance(column, np.ndarray) and column.ndim == 2:
        return _from_one_hot(column, n_classes, problems)
    if _is_numeric(column):
        values = values_of(column)
        _note_missing(values.missing, choice.label, problems)
        if choice.classes is None:
            return values.data
        return _from_names(texts_of(values.data)._replace(missing=values.missing), choice.classes, problems)
    texts = _texts(column, choice.label, "--label")
    _note_missing(texts.missing, choice.label, problems)
    if choice.classes is None:
        return _from_digits(texts, problems)
    return _from_names(texts, choice.classes, problems)


def _from_one_hot(column: NDArray[Any], n_classes: int, problems: list[Problem]) -> NDArray[Any]:
    good = ((column == 0) | (column == 1)).all(axis=1) & (np.count_nonzero(column, axis=1) == 1)
    if column.shape[1] != n_classes:
        raise InputError(
            f"one-hot labels have {column.shape[1]} columns, but there are {n_classes} classes",
            "pass labels as class indices",
        )
    if not good.all():
        problems.append(
            Problem("label is not one-hot", ~good, column, "such a row holds a single 1 and else 0")
        )
    return np.asarray(np.argmax(column, axis=1))


def _from_names(texts: Texts, classes: Sequence[str], problems: list[Problem]) -> NDArray[np.int64]:
    place = {name: index for index, name in enumerate(classes)}
    indices = np.array([place.get(text, -1) for text in texts.texts], dtype=np.int64)[texts.codes]
    unknown = indices < 0 if texts.missing is None else (indices < 0) & ~texts.missing
    if unknown.any():
        name = texts.texts[texts.codes[int(np.argmax(unknown))]]
        near = nearest(name[:100], list(classes))
        remedy = f"--classes gives their names, --classes index takes labels as numbers; {near}"
        problems.append(Problem("label is not one of the classes", unknown, texts.objects(), remedy))
    return np.maximum(indices, 0)


def _from_digits(texts: Texts, problems: list[Problem]) -> NDArray[np.int64]:
    """Text, as CSV has it, as class indices."""
    indices = np.array([_index(text) for text in texts.texts], dtype=np.int64)[texts.codes]
    unknown = indices < 0 if texts.missing is None else (indices < 0) & ~texts.missing
    if unknown.any():
        remedy = "class indices are whole numbers from 0 up; for names pass --classes"
        problems.append(Problem("label is no class index", unknown, texts.objects(), remedy))
    return np.maximum(indices, 0)


def _index(text: str) -> int:
    """A class index that is written as a whole number, with a point or without; -1 for anything else.

    >>> _index("3"), _index("3.0"), _index("3.5"), _index("x")
    (3, 3, -1, -1)
    """
    try:
        number = float(text)
    except ValueError:
        return -1
    return int(number) if 0 <= number < 2**53 and number.is_integer() else -1


def _without(batch: Batch, problems: Sequence[Problem]) -> Batch:
    """The batch without the rows that have a problem, which are counted; or a refusal of the first of them."""
    bad = np.logical_or.reduce([problem.rows for problem in problems])
    if not batch.options.tolerant:
        row = int(np.argmax(bad))
        first = next(problem for problem in problems if problem.rows[row])
        value = first.values[row]
        told = "" if value is None else f", got {shown(value if isinstance(value, str) else str(value))}"
        raise InputError(f"{batch.file}, row {batch.numbers[row]}: {first.reason}{told}", first.remedy)
    skipped, left = Counter(batch.skipped), np.ones(len(batch), bool)
    for problem in problems:  # a row is counted once, for the first of its reasons
        skipped[problem.reason] += int(np.count_nonzero(problem.rows & left))
        left &= ~problem.rows
    return replace(batch.take(~bad), skipped=+skipped)
