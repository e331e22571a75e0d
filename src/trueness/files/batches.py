"""From the columns of a chunk to rows that can be validated, and the problems of rows that cannot.

Validation refuses a row of a batch. Here that becomes a row of a file, and bad rows are counted by the code of the
refusal where the user asked for them to be skipped.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.files._coding import coded, is_decimal, is_numeric, missing_in, refuse_nested
from trueness.files.request import Choice
from trueness.files.where import Condition
from trueness.formats import Input
from trueness.formats.arrow import Matrix, Values, matrix_of, pyarrow, values_of
from trueness.formats.fields import Chunk, is_number
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal, nearest
from trueness.rows import Rows
from trueness.rows.class_columns import BOOLEANS
from trueness.rows.containers import Contents
from trueness.rows.groups import Coded, combined, objects_of

BoolArray = NDArray[np.bool_]

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
    "wrong-length": "another number of probabilities than in the first row",
    "unknown-label": "labels that are not classes",
    "not-one-hot": "labels that are not one-hot",
    "wrong-field-count": "another number of fields than in the first row",
    "unreadable-row": "lines that cannot be read",
}
"""What is wrong with skipped rows, by the code of the refusal."""

SCALES = ("probabilities", "logits", "logprobs", "percent")
BAD_ROWS = ("refuse", "skip")


@dataclass(frozen=True, slots=True)
class RowOptions:
    """The scale of the numbers, and whether bad rows are refused or skipped."""

    scale: str = "probabilities"
    normalize: bool = False
    on_bad_rows: str = "refuse"

    @property
    def tolerant(self) -> bool:
        """Whether bad rows are skipped and counted."""
        return self.on_bad_rows == "skip"


class Problem(NamedTuple):
    """Rows that cannot be used, for one reason."""

    rows: BoolArray
    refusal: Refusal
    """The refusal of any of them, without its row and value."""
    values: Any = None
    """A value for each row of the batch; None if there is none to report."""

    def refusal_of(self, row: int, file: str, number: int) -> Refusal:
        """The refusal of one of the rows, which has this number in the file."""
        value = {} if self.values is None else {"value": _plain_value(self.values[row])}
        return self.refusal.with_facts(source=file, row=number, **value)


def _plain_value(value: Any) -> Any:
    return value if isinstance(value, str) else str(value)


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive rows of one file, ready for validation."""

    file: str
    numbers: NDArray[np.int64]
    """The rows' numbers in the file, from 1."""
    y_true: NDArray[Any]
    y_prob: NDArray[Any] | Contents
    """(rows, classes) or (rows,) as an array, or one column for each class as `Contents`."""
    weight: NDArray[Any] | None = None
    groups: Coded | None = None
    """The group of each row."""
    options: RowOptions = RowOptions()
    skipped: Counter[str] = field(default_factory=Counter)
    share: float = 0.0

    def __len__(self) -> int:
        return len(self.y_true)

    def rows(self) -> Rows:
        """The rows, validated."""
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
        y_prob = y_prob.take(places) if isinstance(y_prob, Contents) else y_prob[places]
        return replace(
            self,
            numbers=self.numbers[places],
            y_true=self.y_true[places],
            y_prob=y_prob,
            weight=None if self.weight is None else self.weight[places],
            groups=None if self.groups is None else self.groups._replace(codes=self.groups.codes[places]),
        )


def batch_of(
    chunk: Chunk, choice: Choice, n_classes: int, *, input: Input, first_row: int, options: RowOptions
) -> Batch:
    """The rows of a chunk that meet the conditions; problems of single columns are refused, or such rows skipped."""
    numbers = np.arange(first_row, first_row + chunk.n_rows)
    columns = {**chunk.columns, **_constant_columns(input, choice, chunk)}
    chosen = _meeting(columns, choice, input.name, first_row)
    if chosen is not None and not chosen.all():
        places = np.flatnonzero(chosen)
        columns = {name: _taken(column, places) for name, column in columns.items()}
        numbers = numbers[places]
    problems: list[Problem] = []
    y_prob = _predictions(columns, choice, n_classes, problems)
    if options.scale == "logprobs":
        y_prob = _exponentials(y_prob)
    elif options.scale == "percent":
        y_prob = _hundredths(y_prob)
    y_true = _labels(columns[choice.label], choice, n_classes, problems)
    weight = (
        None if choice.weight is None else _weights(columns[choice.weight], choice.weight, options, problems)
    )
    groups = _groups(columns, choice.by, problems) if choice.by else None
    batch = Batch(
        input.name, numbers, y_true, y_prob, weight, groups, options, Counter(chunk.unreadable), chunk.share
    )
    return _without(batch, problems) if problems else batch


def _constant_columns(input: Input, choice: Choice, chunk: Chunk) -> dict[str, Any]:
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


def _taken(column: Any, places: NDArray[np.int64]) -> Any:
    return column[places] if isinstance(column, np.ndarray) else column.take(pyarrow().array(places))


def _text_meets(condition: Condition, column: Any) -> BoolArray:
    """Which rows of a column of text meet a condition; each different text is compared once, in order of the rows."""
    names, codes = coded(column, condition.column, "where")
    missing = missing_in(column)
    rows = np.arange(len(codes)) if missing is None else np.flatnonzero(~missing)
    _, first = np.unique(codes[rows], return_index=True)
    first = rows[np.sort(first)]
    of_names = np.zeros(len(names), bool)
    try:
        of_names[codes[first]] = condition.holds(objects_of([names[code] for code in codes[first]]), None)
    except Refusal as error:
        raise error if error.row is None else error.with_facts(row=int(first[error.row])) from None
    return of_names[codes] if missing is None else of_names[codes] & ~missing


def _meeting(columns: dict[str, Any], choice: Choice, file: str, first_row: int) -> BoolArray | None:
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


def _predictions(
    columns: dict[str, Any], choice: Choice, n_classes: int, problems: list[Problem]
) -> NDArray[Any] | Contents:
    if choice.is_list:
        return _from_list(
            matrix_of(columns[choice.probs[0]], choice.list_width or n_classes),
            choice.probs[0],
            choice.list_width or n_classes,
            problems,
        )
    parts = [_numbers(columns[name], name, "probs", problems) for name in choice.probs]
    for name, part in zip(choice.probs, parts, strict=True):
        _note_missing(part.missing, name, problems)
    if len(parts) == 1:
        return parts[0].data
    # Left in columns: validation reads a block of each at a time.
    return Contents.of_columns([part.data for part in parts])


def _numbers(column: Any, name: str, argument: str, problems: list[Problem]) -> Values:
    """A column of numbers; numbers in text, such as 85%, are read without the sign."""
    if is_numeric(column):
        return values_of(column)
    texts, missing = coded(column, name, argument), missing_in(column)
    numbers = np.array([_written_number(text) for text in texts.names], np.float64)[texts.codes]
    bad = np.isnan(numbers) if missing is None else np.isnan(numbers) & ~missing
    if bad.any():
        refusal = InvalidValueError(
            "not-a-number",
            "column {column!q} is not a number, got {value!q}",
            "write numbers, such as 85% or 85, or {skip_rows}",
            argument=argument,
            column=name,
        )
        problems.append(Problem(bad, refusal, _Texts(texts)))
    return Values(numbers, missing)


def _written_number(text: str) -> float:
    """The number in a text, NaN if there is none.

    >>> _written_number(" 85 %"), _written_number("12.5"), _written_number("about 3")
    (85.0, 12.5, nan)
    """
    number = text.strip().removesuffix("%")
    return float(number) if is_number(number) else math.nan


def _from_list(matrix: Matrix, name: str, n_classes: int, problems: list[Problem]) -> NDArray[Any]:
    _note_missing(matrix.missing, name, problems)
    if matrix.ragged is not None and matrix.ragged.any():
        refusal = InvalidValueError(
            "wrong-length",
            "column {column!q} must have {n_classes} probabilities, got {value}",
            "every row needs as many as the first one, or {skip_rows}",
            column=name,
            n_classes=n_classes,
        )
        problems.append(Problem(matrix.ragged, refusal, matrix.lengths))
    return matrix.data


def _note_missing(missing: BoolArray | None, name: str, problems: list[Problem]) -> None:
    if missing is not None and missing.any():
        refusal = InvalidValueError(
            "missing-value",
            "column {column!q} has a missing value",
            "fill in the value, or {skip_rows}",
            column=name,
        )
        problems.append(Problem(missing, refusal))


def _exponentials(y_prob: NDArray[Any] | Contents) -> NDArray[Any]:
    """exp of log-probabilities, in the dtype they came in."""
    if isinstance(y_prob, Contents):
        y_prob = np.stack(y_prob.columns or (), axis=1)
    narrow = y_prob.dtype if y_prob.dtype.kind == "f" else np.float64
    with np.errstate(over="ignore"):  # an overflow is refused, since it is not a probability
        return np.asarray(np.exp(y_prob, dtype=np.float64).astype(narrow))


def _hundredths(y_prob: NDArray[Any] | Contents) -> NDArray[Any] | Contents:
    """Percentages as probabilities, in the dtype they came in."""
    if isinstance(y_prob, Contents):
        return Contents.of_columns([_divided(column) for column in y_prob.columns or ()])
    return _divided(y_prob)


def _divided(values: NDArray[Any]) -> NDArray[Any]:
    dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    return np.asarray(np.divide(values, dtype.type(100), dtype=dtype))


def _weights(column: Any, name: str, options: RowOptions, problems: list[Problem]) -> NDArray[Any]:
    refuse_nested(column, name, "weight")
    if options.scale != "percent" and not is_numeric(column):
        raise InvalidTypeError(
            "wrong-type",
            "column {column!q} ({argument}) holds no numbers",
            "weights are numbers from 0 up",
            argument="weight",
            column=name,
        )
    values = _numbers(column, name, "weight", problems)
    _note_missing(values.missing, name, problems)
    return values.data.astype(np.float64)


def _groups(columns: Mapping[str, Any], by: Sequence[str], problems: list[Problem]) -> Coded:
    """The group of each row: the value of a column, or the combination of those of several."""
    groups = {name: coded(columns[name], name, "groups") for name in by}
    for name in by:
        _note_missing(missing_in(columns[name]), name, problems)
    return combined(groups)


def _labels(column: Any, choice: Choice, n_classes: int, problems: list[Problem]) -> NDArray[Any]:
    """Labels as class indices; labels that are not classes are added to the problems."""
    if isinstance(column, np.ndarray) and column.ndim == 2:
        if column.shape[1] > 1:
            return _from_one_hot(column, n_classes, problems)
        column = column[:, 0]
    refuse_nested(column, choice.label, "label")
    missing = missing_in(column)
    _note_missing(missing, choice.label, problems)
    if choice.index_of is None and is_numeric(column):
        return values_of(column).data
    return _from_texts(coded(column, choice.label, "label"), missing, choice.index_of, problems)


def _from_one_hot(column: NDArray[Any], n_classes: int, problems: list[Problem]) -> NDArray[Any]:
    good = ((column == 0) | (column == 1)).all(axis=1) & (np.count_nonzero(column, axis=1) == 1)
    if column.shape[1] != n_classes:
        raise InvalidValueError(
            "wrong-shape",
            "one-hot labels have {found} columns, but there are {n_classes} classes",
            "pass labels as class indices",
            argument="label",
            found=column.shape[1],
            n_classes=n_classes,
        )
    if not good.all():
        refusal = InvalidValueError(
            "not-one-hot",
            "the label is not one-hot, got {value}",
            "a one-hot row holds a single 1, and 0 otherwise",
            argument="label",
        )
        problems.append(Problem(~good, refusal, column))
    return np.asarray(np.argmax(column, axis=1))


def _from_texts(
    labels: Coded, missing: BoolArray | None, index_of: Mapping[str, int] | None, problems: list[Problem]
) -> NDArray[np.int64]:
    """Labels in text as class indices: names of classes or, without such names, whole numbers, true and false."""
    of_names = [_index(name) if index_of is None else index_of.get(name, -1) for name in labels.names]
    indices = np.array(of_names, dtype=np.int64)[labels.codes] if of_names else labels.codes
    unknown = indices < 0 if missing is None else (indices < 0) & ~missing
    if unknown.any():
        values = _Texts(labels)
        problems.append(Problem(unknown, _unknown_label(values[int(np.argmax(unknown))], index_of), values))
    return np.maximum(indices, 0)


def _unknown_label(name: str, index_of: Mapping[str, int] | None) -> Refusal:
    if index_of is None:
        return InvalidValueError(
            "unknown-label",
            "the label is not a class index, got {value!q}",
            "class indices are whole numbers from 0 up; for names pass {classes_names}",
            argument="label",
        )
    return InvalidValueError(
        "unknown-label",
        "the label is not one of the classes, got {value!q}",
        "{classes} gives their names; labels that are numbers count the columns, in the order of a list in {probs} or "
        "with {classes_index}; {hint}",
        argument="label",
        hint=nearest(name[:100], list(index_of)),
    )


class _Texts:
    """The values of a coded column by row."""

    def __init__(self, coded: Coded) -> None:
        self._coded = coded

    def __getitem__(self, row: int) -> str:
        return self._coded.names[int(self._coded.codes[row])]


def _index(text: str) -> int:
    """A class index in text: a whole number, also with a decimal point, or true or false; -1 for others.

    >>> _index("3"), _index("3.0"), _index("3.5"), _index("x"), _index("TRUE")
    (3, 3, -1, -1, 1)
    """
    if text.lower() in BOOLEANS:
        return BOOLEANS[text.lower()]
    number = float(text) if is_number(text) else math.nan
    return int(number) if 0 <= number < 2**53 and number.is_integer() else -1


def _without(batch: Batch, problems: Sequence[Problem]) -> Batch:
    """The batch without the rows that have a problem, which are counted by code; or a refusal of the first of them."""
    bad = np.logical_or.reduce([problem.rows for problem in problems])
    if not batch.options.tolerant:
        row = int(np.argmax(bad))
        first = next(problem for problem in problems if problem.rows[row])
        raise first.refusal_of(row, batch.file, int(batch.numbers[row]))
    skipped, left = Counter(batch.skipped), np.ones(len(batch), bool)
    for problem in problems:  # a row is counted once, for the first of its reasons
        skipped[problem.refusal.code] += int(np.count_nonzero(problem.rows & left))
        left &= ~problem.rows
    return replace(batch.take(~bad), skipped=+skipped)
