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
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal, nearest, quote
from trueness.rows.class_columns import BOOLEANS, columns_of
from trueness.rows.containers import Contents
from trueness.rows.groups import EncodedNames, combine
from trueness.rows.lists import Lists, of_flat

BoolArray = NDArray[np.bool_]


class Problem(NamedTuple):
    """Rows that cannot be used, for one reason."""

    rows: BoolArray
    refusal: Refusal
    """The refusal of the first of them, without its number."""


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
        value = texts.names[int(texts.codes[np.argmax(bad)])]
        cause = f"column {quote(name)} is not a number, got {quote(value)}"
        remedy = "write numbers, such as 85% or 85, or remove such rows first"
        refusal = InvalidValueError("not-a-number", cause, remedy, argument=argument, value=value)
        problems.append(Problem(bad, refusal))
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
        assert matrix.lengths is not None
        value = str(matrix.lengths[np.argmax(matrix.ragged)])
        cause = f"column {quote(name)} must have {n_classes} probabilities, got {value}"
        remedy = (
            "every row needs as many as the first one, or pass `ragged=True` if rows have "
            "options of their own, or remove such rows first"
        )
        refusal = InvalidValueError("wrong-length", cause, remedy, value=value)
        problems.append(Problem(matrix.ragged, refusal))
    return matrix.data


def _with_own_options(values: ListValues, name: str, problems: list[Problem]) -> Lists:
    """The predictions over the options of each row, of which at least two are needed."""
    _note_missing(values.missing, name, problems)
    few = values.lengths < 2
    if few.any():
        value = str(values.lengths[np.argmax(few)])
        cause = f"column {quote(name)} must have at least 2 probabilities, got {value}"
        remedy = "every row needs at least 2 options, or remove such rows first"
        refusal = InvalidValueError("wrong-length", cause, remedy, value=value)
        problems.append(Problem(few, refusal))
    return of_flat(values.data, values.lengths, values.starts)


def _note_missing(missing: BoolArray | None, name: str, problems: list[Problem]) -> None:
    if missing is not None and missing.any():
        cause = f"column {quote(name)} has a missing value"
        remedy = "fill in the value, or remove such rows first"
        refusal = InvalidValueError("missing-value", cause, remedy)
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
    refuse_nested(column, name, "sample_weight")
    if not percent and not is_numeric(column):
        cause = f"column {quote(name)} (`sample_weight`) holds no numbers"
        remedy = "weights are non-negative numbers"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="sample_weight")
    values = _numbers(column, name, "sample_weight", problems)
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
        cause = f"one-hot labels have {column.shape[1]} columns, but there are {n_classes} classes"
        remedy = "pass labels as class indices"
        raise InvalidValueError("wrong-shape", cause, remedy, argument="label")
    if not good.all():
        value = str(column[np.argmin(good)])
        cause = f"the label is not one-hot, got {value}"
        remedy = "a one-hot row must contain exactly one 1 and otherwise 0"
        refusal = InvalidValueError("not-one-hot", cause, remedy, argument="label", value=value)
        problems.append(Problem(~good, refusal))
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
        name = labels.names[int(labels.codes[np.argmax(unknown)])]
        problems.append(Problem(unknown, _unknown_label(name, choice)))
    return np.maximum(indices, 0)


def _unknown_label(name: str, choice: Choice) -> Refusal:
    index_of, label = choice.index_of, quote(name)
    other = next(
        (
            (argument, column)
            for argument, column in _other_uses(choice)
            if columns_of((*choice.probs, column)).endings[-1] == name
        ),
        None,
    )
    if other is not None:
        argument, column = other
        cause = f"is {label}, but the column of its probability, {quote(column)}, is that of `{argument}`"
        remedy = f"name another column for `{argument}`"
    elif index_of is None:
        cause = f"is not a class index, got {label}"
        remedy = "class indices are integers of at least 0; for names pass `classes=['cat', 'dog']`"
    else:
        cause = f"is not one of the classes, got {label}"
        remedy = (
            "pass the class names with `classes`; numeric labels are column positions from 0 if `probs` "
            f"lists the columns or with `classes='index'`; {nearest(name[:100], list(index_of))}"
        )
    return InvalidValueError("unknown-label", f"the label {cause}", remedy, argument="label", value=name)


def _other_uses(choice: Choice) -> Iterator[tuple[str, str]]:
    """The columns of clusters, groups and weights, each with its argument."""
    single = {"clusters": choice.clusters, "sample_weight": choice.weight}
    yield from ((argument, column) for argument, column in single.items() if column is not None)
    yield from (("groups", column) for column in choice.by)


def _index(text: str) -> int:
    """A class index in text: a whole number, also with a decimal point, or true or false; -1 for others.

    >>> _index("3"), _index("3.0"), _index("3.5"), _index("x"), _index("TRUE")
    (3, 3, -1, -1, 1)
    """
    if text.lower() in BOOLEANS:
        return BOOLEANS[text.lower()]
    number = float(text) if is_number(text) else math.nan
    return int(number) if 0 <= number < 2**53 and number.is_integer() else -1
