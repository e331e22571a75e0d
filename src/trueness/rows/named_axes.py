"""Arrays with named dimensions, such as those of xarray: dimensions are matched by name, and coordinates compared.

No library is imported: an array with `dims`, `coords` and `transpose` is one with named dimensions.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import whole_number
from trueness.refusals import InvalidTypeError, InvalidValueError


def has_names(value: Any) -> bool:
    """Whether the dimensions of an array have names."""
    return all(hasattr(value, name) for name in ("dims", "coords", "transpose", "sizes"))


@dataclass(frozen=True, slots=True, eq=False)
class NamedAxes:
    """The named dimensions of rows: all dimensions of the predictions but that of the classes."""

    names: tuple[Hashable, ...]
    like: Any
    """An array with these dimensions, in any order: sizes and coordinates of others are compared with its own."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of rows along each dimension."""
        return tuple(self.like.sizes[name] for name in self.names)

    def spread(self, argument: str, value: Any) -> NDArray[Any]:
        """The values of an array that has some of the dimensions, as one value for each row."""
        unknown = [name for name in value.dims if name not in self.names]
        if unknown:
            raise _unknown_dimension(argument, unknown[0], self.names)
        refuse_other_coordinates(argument, value, "y_prob", self.like)
        inside = [name for name in self.names if name in value.dims]
        sizes = [value.sizes[name] if name in inside else 1 for name in self.names]
        return np.broadcast_to(np.asarray(value.transpose(*inside)).reshape(sizes), self.shape)

    def index_along(self, argument: str, name: str) -> NDArray[Any]:
        """The coordinate, or else the index, along one dimension, for each row."""
        if name not in self.names:
            raise _unknown_dimension(argument, name, self.names)
        size = self.like.sizes[name]
        values = np.asarray(self.like.coords[name]) if name in self.like.coords else np.arange(size)
        place = self.names.index(name)
        sizes = [size if k == place else 1 for k in range(len(self.names))]
        return np.broadcast_to(values.reshape(sizes), self.shape)


def refuse_other_coordinates(argument: str, value: Any, other: str, like: Any) -> None:
    """Refuse arrays whose sizes or coordinates along a common dimension differ: rows are matched by position."""
    for name in value.dims:
        if name not in like.dims:
            continue
        same = value.sizes[name] == like.sizes[name]
        if same and name in value.coords and name in like.coords:
            same = np.array_equal(np.asarray(value.coords[name]), np.asarray(like.coords[name]))
        if not same:
            raise InvalidValueError(
                "different-indexes",
                "{argument} and {other} have different sizes or coordinates along the dimension {name!r}",
                "align them first, such as by xarray.align(join='inner')",
                argument=argument,
                other=other,
                name=str(name),
            )


def by_position(y_true: Any, y_prob: Any, class_axis: Any) -> tuple[Any, Any, int | None, NamedAxes | None]:
    """Labels and predictions whose dimensions are in the same order, the axis of the classes, and the names of rows.

    Dimensions of labels with names are matched by name, and give the order. Arrays without names are returned as they
    are.
    """
    if not has_names(y_prob):
        if isinstance(class_axis, str):
            raise InvalidTypeError(
                "wrong-type",
                "{class_axis} is the name {value!r}, and the dimensions of {y_prob} have no names",
                "pass the number of the axis",
                argument="class_axis",
                value=class_axis,
            )
        return y_true, y_prob, class_axis, None
    name = _class_dimension(y_true, y_prob, class_axis)
    rows = tuple(dim for dim in y_prob.dims if dim != name)
    if has_names(y_true):
        refuse_other_coordinates("y_true", y_true, "y_prob", y_prob)
        y_true, y_prob, rows = _in_one_order(y_true, y_prob, rows)
    axis = None if name is None else list(y_prob.dims).index(name)
    plain = len(y_prob.dims) == 2 and axis == 1  # rows and classes, as without names
    return y_true, y_prob, None if plain else axis, NamedAxes(rows, y_prob)


def _class_dimension(y_true: Any, y_prob: Any, class_axis: Any) -> Hashable | None:
    """The dimension of the classes: as given, or the only one that labels with names lack; else None."""
    dims: tuple[Hashable, ...] = tuple(y_prob.dims)
    if isinstance(class_axis, str):
        if class_axis not in dims:
            raise _unknown_dimension("class_axis", class_axis, dims)
        return class_axis
    if class_axis is not None:
        return dims[whole_number("class_axis", class_axis, -len(dims), len(dims) - 1)]
    lacking = [dim for dim in dims if has_names(y_true) and dim not in y_true.dims]
    return lacking[0] if len(lacking) == 1 else None


def _in_one_order(
    y_true: Any, y_prob: Any, rows: tuple[Hashable, ...]
) -> tuple[Any, Any, tuple[Hashable, ...]]:
    """Both with the rows in the order of the labels; predictions are not copied if it is theirs already."""
    order = tuple(y_true.dims)
    if set(order) != set(rows) or order == rows:
        return y_true, y_prob, rows
    if len(y_prob.dims) == 2:
        raise InvalidValueError(
            "wrong-shape",
            "{y_true} has the dimensions {order}, and {y_prob} {others}",
            "transpose one of them",
            argument="y_true",
            order=", ".join(map(str, order)),
            others=", ".join(map(str, rows)),
        )
    left = iter(order)
    return y_true, y_prob.transpose(*(next(left) if dim in order else dim for dim in y_prob.dims)), order


def _unknown_dimension(argument: str, name: Any, names: tuple[Hashable, ...]) -> InvalidValueError:
    return InvalidValueError(
        "unknown-name",
        "{argument} names the dimension {value!r}, which {y_prob} lacks",
        "its dimensions are {names}",
        argument=argument,
        value=str(name),
        names=", ".join(map(str, names)),
    )
