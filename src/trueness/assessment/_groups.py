"""Groups and clusters as they are given: one name for each row; of several columns the combinations."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from trueness._combinations import Coded, combined
from trueness._containers import Contents, contents_of, refuse_other_index
from trueness._names import coded, objects_of

Group = TypeVar("Group")


def names_of(argument: str, values: Any, n_rows: int, index: Any = None) -> NDArray[Any]:
    """One name for each row, or an error about the argument; `index` is that of the rows, if they have their own."""
    contents = _contents(argument, values)
    refuse_other_index(argument, contents.index, "y_true and y_prob", index)
    if contents.data is None or contents.shape != (n_rows,):
        raise ValueError(
            f"{argument} has shape {contents.shape}; one name for each of {n_rows} rows is needed"
        )
    data = contents.data
    if data.dtype.kind == "O":
        missing = [row for row, name in enumerate(data) if name is None or _is_nan(name)]
        if missing:
            raise ValueError(
                f"{argument} has a missing value in row {missing[0]}; give such rows a name of their own"
            )
        return data
    if data.dtype.kind in "mM" and np.isnat(data).any():
        row = int(np.argmax(np.isnat(data)))
        raise ValueError(f"{argument} has a missing value in row {row}; give such rows a name of their own")
    if data.dtype.kind == "f" and not np.isfinite(data).all():
        row = int(np.argmin(np.isfinite(data)))
        raise ValueError(f"{argument} is {data[row]} in row {row}; give such rows a name of their own")
    return data


def _contents(argument: str, values: Any) -> Contents:
    """The names as an array; text in lists stays as it is, since NumPy's own text ends at the last letter but NUL."""
    if isinstance(values, (list, tuple)) and any(isinstance(name, str) for name in values):
        return Contents(objects_of(values))
    return contents_of(values, argument).flat


def coded_groups(groups: Any, n_rows: int, index: Any = None) -> Coded:
    """The names of the groups, and the number of each row's; of several columns, those combinations that occur."""
    columns = _columns(groups)
    if columns is None:
        return coded(names_of("groups", groups, n_rows, index))
    if not columns:
        raise ValueError("groups has no columns; pass one name for each row, or columns of them")
    parts = {
        str(name): coded(names_of(f"groups[{name!r}]", values, n_rows, index))
        for name, values in columns.items()
    }
    return combined(parts)


def _columns(groups: Any) -> dict[Any, Any] | None:
    """The columns of a mapping or a data frame; None for anything else."""
    if isinstance(groups, Mapping):
        return dict(groups)
    if isinstance(groups, (np.ndarray, list, tuple)) or groups is None:
        return None
    contents = contents_of(groups, "groups")
    if contents.columns is None:
        return None
    names = contents.names or [str(place) for place in range(len(contents.columns))]
    return {
        name: Contents(column, index=contents.index)
        for name, column in zip(names, contents.columns, strict=True)
    }


def flagged_first(groups: Iterable[Group], p_value: Callable[[Group], float], limit: float) -> list[Group]:
    """Groups as they are printed: those whose p-value is at most the limit first, smallest first; then the others."""

    def place(group: Group) -> tuple[bool, float]:
        p = p_value(group)
        return (False, p) if p <= limit else (True, 0.0)  # NaN is above any limit

    return sorted(groups, key=place)


def _is_nan(name: Any) -> bool:
    return isinstance(name, float) and math.isnan(name)
