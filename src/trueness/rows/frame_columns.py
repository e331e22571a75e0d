"""The columns of data frames (predictions and one-hot labels) in the order of the classes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from trueness.refusals import InvalidValueError
from trueness.rows.class_columns import (
    COLUMNS,
    Columns,
    arrange,
    columns_of,
    first_names,
    match_columns,
    match_names,
    text_of,
)
from trueness.rows.containers import Contents


class ByClass(NamedTuple):
    """Predictions in the order of the classes."""

    columns: Columns | None
    """None if the columns have no names."""
    y_prob: Contents
    index_of: dict[Hashable, int] | None
    """Class index by name; None if labels are class indices."""


def order_predictions(
    y_prob: Contents, classes: list[Any] | str | None, names_as_labels: bool, first: Columns | None
) -> ByClass:
    """The columns of a data frame in the order of the classes; anything else as it is."""
    if y_prob.names is None:
        if classes == COLUMNS and y_prob.columns is None:
            cause = "classes='columns' needs a data frame whose columns are named"
            raise InvalidValueError("bad-argument", cause, "list the classes", argument="classes")
        names = classes if isinstance(classes, list) else None
        return ByClass(None, y_prob, None if names is None else {name: i for i, name in enumerate(names)})
    given = columns_of(y_prob.names)
    order = given.order
    columns = given.take(order)
    found = arrange(columns, classes, names_as_labels=names_as_labels, listed_in_order=False, first=first)
    if isinstance(classes, list) and order != tuple(range(len(order))):
        _require_match(classes, columns, y_prob.names)
    arranged = y_prob.reorder([order[place] for place in found.places])
    return ByClass(columns.take(found.places), arranged, found.index_of)


def _require_match(classes: list[Any], columns: Columns, given: Sequence[str]) -> None:
    """Refuse columns that are not in the order of their numbers, unless they match the classes by name."""
    if match_names([text_of(name) for name in classes], columns, "`classes`") is None:
        cause = (
            f"the columns of y_prob ({first_names(given)}) are not in the order of their "
            "numbers, and classes may list either order"
        )
        remedy = "put the columns in order, or pass y_prob.to_numpy()"
        raise InvalidValueError("ambiguous-columns", cause, remedy, argument="classes")


def order_truth(y_true: Contents, columns: Columns | None, classes: list[Any] | str | None) -> Contents:
    """One-hot columns in the order of the classes, by name where both have names; other labels as they are."""
    if len(y_true.shape) != 2 or y_true.names is None:
        return y_true
    own = columns_of(y_true.names)
    if isinstance(classes, list):
        places = match_names([text_of(name) for name in classes], own, "`classes`")
    elif columns is not None:
        places = match_columns(columns, own, "the columns of y_prob")
    else:
        places = own.order
    return y_true if places is None else y_true.reorder(places)
