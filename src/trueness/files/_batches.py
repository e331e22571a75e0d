"""From the columns of a chunk to rows that the border takes, and what is wrong with those it does not.

The border names a row of a batch. Here that becomes a row of a file, and rows that cannot be used are counted by
reason where the user asked for them to be left out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.files._arrow import Matrix, Values, matrix_of, pyarrow, values_of
from trueness.files._coding import coded, is_decimal, is_numeric, missing_in, refuse_nested
from trueness.files._errors import InputError, nearest, shown
from trueness.files._fields import Chunk, is_number
from trueness.files._paths import Input
from trueness.files._request import Choice
from trueness.files._where import Condition
from trueness.rows import Rows
from trueness.rows.class_columns import BOOLEANS
from trueness.rows.containers import Contents
from trueness.rows.groups import Coded, combined, objects_of

BoolArray = NDArray[np.bool_]

SCALES = ("probabilities", "logits", "logprobs", "percent")
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
    groups: Coded | None = None
    """The group of each row."""
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
    """The rows of a chunk that fulfil the conditions; what is wrong with them already in their columns is refused."""
    numbers = np.arange(first_row, first_row + chunk.n_rows)
    columns = {**chunk.columns, **_constant_columns(input, choice, chunk)}
    chosen = _fulfilling(columns, choice, lambda row: f"{input.name}, row {first_row + row}")
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


def _text_fulfils(condition: Condition, column: Any, place: Callable[[int], str]) -> BoolArray:
    """Which rows of a column of text fulfil a condition; each different text is compared once, in order of the rows."""
    names, codes = coded(column, condition.column, "--where")
    missing = missing_in(column)
    rows = np.arange(len(codes)) if missing is None else np.flatnonzero(~missing)
    _, first = np.unique(codes[rows], return_index=True)
    first = rows[np.sort(first)]
    of_names = np.zeros(len(names), bool)
    texts = objects_of([names[code] for code in codes[first]])
    of_names[codes[first]] = condition.holds(texts, None, lambda number: place(int(first[number])))
    return of_names[codes] if missing is None else of_names[codes] & ~missing


def _fulfilling(columns: dict[str, Any], choice: Choice, place: Callable[[int], str]) -> BoolArray | None:
    """Which rows fulfil all conditions; None if there are none."""
    chosen: BoolArray | None = None
    for condition in choice.where:
        column = columns[condition.column]
        if is_numeric(column) and not is_decimal(column):
            holds = condition.holds(*values_of(column), place)
        else:
            holds = _text_fulfils(condition, column, place)
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
    parts = [_numbers(columns[name], name, "--probs", problems) for name in choice.probs]
    for name, part in zip(choice.probs, parts, strict=True):
        _note_missing(part.missing, name, problems)
    if len(parts) == 1:
        return parts[0].data
    # Left in columns: the border reads a block of each at a time.
    return Contents.of_columns([part.data for part in parts])


def _numbers(column: Any, name: str, option: str, problems: list[Problem]) -> Values:
    """A column of numbers; those that are written as text, such as 85%, are numbers without the sign."""
    if is_numeric(column):
        return values_of(column)
    texts, missing = coded(column, name, option), missing_in(column)
    numbers = np.array([_written_number(text) for text in texts.names], np.float64)[texts.codes]
    bad = np.isnan(numbers) if missing is None else np.isnan(numbers) & ~missing
    if bad.any():
        remedy = "write numbers, such as 85% or 85, or leave such rows out with --on-bad-rows skip"
        problems.append(Problem(f"column {shown(name)} is not a number", bad, Shown(texts), remedy))
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


def _hundredths(y_prob: NDArray[Any] | Contents) -> NDArray[Any] | Contents:
    """Percentages as probabilities, in the dtype they came in."""
    if isinstance(y_prob, Contents):
        return Contents.of_columns([_divided(column) for column in y_prob.columns or ()])
    return _divided(y_prob)


def _divided(values: NDArray[Any]) -> NDArray[Any]:
    dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    return np.asarray(np.divide(values, dtype.type(100), dtype=dtype))


def _weights(column: Any, name: str, options: RowOptions, problems: list[Problem]) -> NDArray[Any]:
    refuse_nested(column, name, "--weight")
    if options.scale != "percent" and not is_numeric(column):
        raise InputError(f"column {shown(name)} (--weight) holds no numbers", "weights are numbers from 0 up")
    values = _numbers(column, name, "--weight", problems)
    _note_missing(values.missing, name, problems)
    return values.data.astype(np.float64)


def _groups(columns: Mapping[str, Any], by: Sequence[str], problems: list[Problem]) -> Coded:
    """The group of each row: the value of a column, or the combination of those of several."""
    groups = {name: coded(columns[name], name, "--by") for name in by}
    for name in by:
        _note_missing(missing_in(columns[name]), name, problems)
    return combined(groups)


def _labels(column: Any, choice: Choice, n_classes: int, problems: list[Problem]) -> NDArray[Any]:
    """Labels as class indices; those that name no class are noted."""
    if isinstance(column, np.ndarray) and column.ndim == 2:
        if column.shape[1] > 1:
            return _from_one_hot(column, n_classes, problems)
        column = column[:, 0]
    refuse_nested(column, choice.label, "--label")
    missing = missing_in(column)
    _note_missing(missing, choice.label, problems)
    if choice.index_of is None and is_numeric(column):
        return values_of(column).data
    return _from_texts(coded(column, choice.label, "--label"), missing, choice.index_of, problems)


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


def _from_texts(
    labels: Coded, missing: BoolArray | None, index_of: Mapping[str, int] | None, problems: list[Problem]
) -> NDArray[np.int64]:
    """Labels that are text as class indices: names of classes, or, if there are none, whole numbers, true and false."""
    of_names = [_index(name) if index_of is None else index_of.get(name, -1) for name in labels.names]
    indices = np.array(of_names, dtype=np.int64)[labels.codes] if of_names else labels.codes
    unknown = indices < 0 if missing is None else (indices < 0) & ~missing
    if unknown.any():
        values = Shown(labels)
        if index_of is None:
            reason = "label is not a class index"
            remedy = "class indices are whole numbers from 0 up; for names pass --classes cat,dog"
        else:
            reason, name = "label is not one of the classes", values[int(np.argmax(unknown))]
            remedy = f"{_OTHER_LABELS}; {nearest(name[:100], list(index_of))}"
        problems.append(Problem(reason, unknown, values, remedy))
    return np.maximum(indices, 0)


_OTHER_LABELS = (
    "--classes gives their names; labels that are numbers count the columns, in the order of --probs a,b,c or with "
    "--classes index"
)


class Shown:
    """The values of a coded column by row, for messages."""

    def __init__(self, coded: Coded) -> None:
        self._coded = coded

    def __getitem__(self, row: int) -> str:
        return self._coded.names[int(self._coded.codes[row])]


def _index(text: str) -> int:
    """A class index that is written as a whole number, with a point or without, or as true or false; -1 for others.

    >>> _index("3"), _index("3.0"), _index("3.5"), _index("x"), _index("TRUE")
    (3, 3, -1, -1, 1)
    """
    if text.lower() in BOOLEANS:
        return BOOLEANS[text.lower()]
    number = float(text) if is_number(text) else math.nan
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
