"""The columns of a chunk as predictions, labels, weights and groups, and the problems of single rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.files._coding import encode_column, is_numeric, missing_values, refuse_nested
from trueness.files.request import Choice
from trueness.formats.arrow import ListValues, Matrix, Values, lists_of, matrix_of, values_of
from trueness.formats.fields import is_number
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal, nearest
from trueness.rows.class_columns import BOOLEANS, columns_of
from trueness.rows.containers import Contents
from trueness.rows.groups import EncodedNames, combine
from trueness.rows.lists import Lists, of_flat

BoolArray = NDArray[np.bool_]


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


def predictions_of(
    columns: dict[str, Any], choice: Choice, n_classes: int, problems: list[Problem]
) -> NDArray[Any] | Contents | Lists:
    """The predictions of all rows; missing values and lists of another length are added to the problems."""
    if choice.ragged:
        return _with_own_options(lists_of(columns[choice.probs[0]]), choice.probs[0], problems)
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
    texts, missing = encode_column(column, name, argument), missing_values(column)
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
            "every row needs as many as the first one, or pass {ragged} if rows have options of their own, or "
            "{skip_rows}",
            column=name,
            n_classes=n_classes,
        )
        problems.append(Problem(matrix.ragged, refusal, matrix.lengths))
    return matrix.data


def _with_own_options(values: ListValues, name: str, problems: list[Problem]) -> Lists:
    """The predictions over the options of each row, of which at least two are needed."""
    _note_missing(values.missing, name, problems)
    few = values.lengths < 2
    if few.any():
        refusal = InvalidValueError(
            "wrong-length",
            "column {column!q} must have at least 2 probabilities, got {value}",
            "every row needs at least 2 options, or {skip_rows}",
            column=name,
        )
        problems.append(Problem(few, refusal, values.lengths))
    return of_flat(values.data, values.lengths, values.starts)


def _note_missing(missing: BoolArray | None, name: str, problems: list[Problem]) -> None:
    if missing is not None and missing.any():
        refusal = InvalidValueError(
            "missing-value",
            "column {column!q} has a missing value",
            "fill in the value, or {skip_rows}",
            column=name,
        )
        problems.append(Problem(missing, refusal))


def exponentials(y_prob: NDArray[Any] | Contents | Lists) -> NDArray[Any] | Lists:
    """exp of log-probabilities, in the dtype they came in."""
    if isinstance(y_prob, Lists):
        return y_prob.map(exponentials)
    if isinstance(y_prob, Contents):
        y_prob = np.stack(y_prob.columns or (), axis=1)
    narrow = y_prob.dtype if y_prob.dtype.kind == "f" else np.float64
    with np.errstate(over="ignore"):  # an overflow is refused, since it is not a probability
        return np.asarray(np.exp(y_prob, dtype=np.float64).astype(narrow))


def hundredths(y_prob: NDArray[Any] | Contents | Lists) -> NDArray[Any] | Contents | Lists:
    """Percentages as probabilities, in the dtype they came in."""
    if isinstance(y_prob, Lists):
        return y_prob.map(_divide_by_100)
    if isinstance(y_prob, Contents):
        return Contents.of_columns([_divide_by_100(column) for column in y_prob.columns or ()])
    return _divide_by_100(y_prob)


def _divide_by_100(values: NDArray[Any]) -> NDArray[Any]:
    dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float64)
    return np.asarray(np.divide(values, dtype.type(100), dtype=dtype))


def weights_of(column: Any, name: str, percent: bool, problems: list[Problem]) -> NDArray[Any]:
    """The weights of all rows as float64."""
    refuse_nested(column, name, "weight")
    if not percent and not is_numeric(column):
        raise InvalidTypeError(
            "wrong-type",
            "column {column!q} ({argument}) holds no numbers",
            "weights are non-negative numbers",
            argument="weight",
            column=name,
        )
    values = _numbers(column, name, "weight", problems)
    _note_missing(values.missing, name, problems)
    return values.data.astype(np.float64)


def groups_of(
    columns: Mapping[str, Any], by: Sequence[str], problems: list[Problem], argument: str = "groups"
) -> EncodedNames:
    """The group of each row: the value of a column, or the combination of those of several."""
    groups = {name: encode_column(columns[name], name, argument) for name in by}
    for name in by:
        _note_missing(missing_values(columns[name]), name, problems)
    return combine(groups)


def labels_of(column: Any, choice: Choice, n_classes: int, problems: list[Problem]) -> NDArray[Any]:
    """Labels as class indices; labels that are not classes are added to the problems."""
    if isinstance(column, np.ndarray) and column.ndim == 2:
        if column.shape[1] > 1:
            return _from_one_hot(column, n_classes, problems)
        column = column[:, 0]
    refuse_nested(column, choice.label, "label")
    missing = missing_values(column)
    _note_missing(missing, choice.label, problems)
    if choice.index_of is None and is_numeric(column):
        return values_of(column).data
    return _from_texts(encode_column(column, choice.label, "label"), missing, choice, problems)


def shares_of(
    columns: dict[str, Any], choice: Choice, n_classes: int, problems: list[Problem]
) -> NDArray[Any]:
    """The shares of soft labels, (rows, classes); of two classes perhaps those of class 1 alone, (rows,)."""
    first = columns[choice.shares[0]]
    in_list = len(choice.shares) == 1 and not is_numeric(first)
    in_list |= isinstance(first, np.ndarray) and first.ndim == 2
    as_probs = replace(choice, probs=choice.shares, is_list=in_list, list_width=None)
    found = predictions_of(columns, as_probs, n_classes, problems)
    shares = np.stack(found.columns or (), axis=1) if isinstance(found, Contents) else found
    assert isinstance(shares, np.ndarray)  # rows with options of their own have no soft labels
    return shares.astype(np.float64, copy=False)


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
            "a one-hot row must contain exactly one 1 and otherwise 0",
            argument="label",
        )
        problems.append(Problem(~good, refusal, column))
    return np.asarray(np.argmax(column, axis=1))


def _from_texts(
    labels: EncodedNames,
    missing: BoolArray | None,
    choice: Choice,
    problems: list[Problem],
) -> NDArray[np.int64]:
    """Labels in text as class indices: names of classes or, without such names, whole numbers, true and false."""
    index_of = choice.index_of
    of_names = [_index(name) if index_of is None else index_of.get(name, -1) for name in labels.names]
    indices = np.array(of_names, dtype=np.int64)[labels.codes] if of_names else labels.codes
    unknown = indices < 0 if missing is None else (indices < 0) & ~missing
    if unknown.any():
        values = _Texts(labels)
        problems.append(Problem(unknown, _unknown_label(values[int(np.argmax(unknown))], choice), values))
    return np.maximum(indices, 0)


def _unknown_label(name: str, choice: Choice) -> Refusal:
    index_of = choice.index_of
    for other, column in _other_uses(choice):
        if columns_of((*choice.probs, column)).endings[-1] == name:
            return InvalidValueError(
                "unknown-label",
                "the label is {value!q}, but the column of its probability, {column!q}, is that of {other!t}",
                "name another column for {other!t}",
                argument="label",
                column=column,
                other=other,
            )
    if index_of is None:
        return InvalidValueError(
            "unknown-label",
            "the label is not a class index, got {value!q}",
            "class indices are integers of at least 0; for names pass {classes_names}",
            argument="label",
        )
    return InvalidValueError(
        "unknown-label",
        "the label is not one of the classes, got {value!q}",
        "pass the class names with {classes}; numeric labels are column positions from 0 if {probs} lists the columns "
        "or with {classes_index}; {hint}",
        argument="label",
        hint=nearest(name[:100], list(index_of)),
    )


def _other_uses(choice: Choice) -> Iterator[tuple[str, str]]:
    """The columns of clusters, groups and weights, each with its argument."""
    single = {"clusters": choice.clusters, "weight": choice.weight}
    yield from ((argument, column) for argument, column in single.items() if column is not None)
    yield from (("groups", column) for column in choice.by)


class _Texts:
    """The values of a coded column by row."""

    def __init__(self, encoded: EncodedNames) -> None:
        self._encoded = encoded

    def __getitem__(self, row: int) -> str:
        return self._encoded.names[int(self._encoded.codes[row])]


def _index(text: str) -> int:
    """A class index in text: a whole number, also with a decimal point, or true or false; -1 for others.

    >>> _index("3"), _index("3.0"), _index("3.5"), _index("x"), _index("TRUE")
    (3, 3, -1, -1, 1)
    """
    if text.lower() in BOOLEANS:
        return BOOLEANS[text.lower()]
    number = float(text) if is_number(text) else math.nan
    return int(number) if 0 <= number < 2**53 and number.is_integer() else -1
