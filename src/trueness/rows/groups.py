"""Groups and clusters: one name for each row, or, of several columns, the combination of their values.

Names are stored as objects: NumPy pads its own strings to the longest, and drops NUL at their end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.refusals import InvalidValueError
from trueness.rows.class_columns import text_of
from trueness.rows.containers import Contents, contents_of, refuse_other_index


class EncodedNames(NamedTuple):
    """A name for each row, as the distinct names and the position of each row's name among them."""

    names: list[str]
    codes: NDArray[np.int64]

    @property
    def of_rows(self) -> NDArray[np.object_]:
        """The name of each row."""
        return np.array([*self.names, None], object)[self.codes]


def combine(columns: Mapping[str, EncodedNames]) -> EncodedNames:
    """The combinations of values of several columns that occur; the values themselves of a single column."""
    if len(columns) == 1:
        return next(iter(columns.values()))
    codes: NDArray[np.int64] = np.zeros(len(next(iter(columns.values())).codes), np.int64)
    occurring: list[tuple[str, ...]] = [()]
    for names, numbers in columns.values():
        kept, codes = np.unique(codes * max(1, len(names)) + numbers, return_inverse=True)
        occurring = [(*occurring[n // len(names)], names[n % len(names)]) for n in kept.tolist()]
    return EncodedNames(
        [combination_name(tuple(columns), values) for values in occurring], codes.astype(np.int64)
    )


def combination_name(columns: Sequence[str], values: Sequence[str]) -> str:
    r"""The name of a combination; commas inside are escaped, so that different combinations have different names.

    >>> combination_name(["region", "sex"], ["north", "F"])
    'region=north, sex=F'
    >>> print(combination_name(["a", "b"], ["x, y", "z"]))
    a=x\, y, b=z
    """
    pairs = zip(columns, values, strict=True)
    return ", ".join(f"{_escape(column)}={_escape(value)}" for column, value in pairs)


def split_combination(name: str, columns: Sequence[str]) -> list[str]:
    r"""The values of a combination, whose columns are known.

    >>> split_combination(combination_name(["a", "b"], ["x, y", r"z\,"]), ["a", "b"])
    ['x, y', 'z\\,']
    """
    # Commas of names and values are escaped, so that those that are not separate the pairs.
    pairs = [pair.removeprefix(" ") for pair in re.findall(r"(?:\\.|[^\\,])+", name, re.DOTALL)]
    cut = (pair[len(_escape(column)) + 1 :] for column, pair in zip(columns, pairs, strict=True))
    return [re.sub(r"\\(.)", r"\1", value, flags=re.DOTALL) for value in cut]


def join_columns(columns: Sequence[str]) -> str | None:
    """The columns of groups as one name, such as region,sex; None if there are none."""
    if len(columns) < 2:
        return columns[0] if columns else None
    return ",".join(map(_escape, columns))


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace(",", "\\,")


def encode_names(names: NDArray[Any]) -> EncodedNames:
    """The distinct names as text, in order, and for each row the position of its name among them.

    >>> names, codes = encode_names(np.array([10.0, 2.0, 10.0]))
    >>> names, codes.tolist()
    (['2', '10'], [1, 0, 1])
    """
    if names.dtype.kind == "O":
        return _encode_objects(names)
    if names.dtype.kind in "iu" and len(names) and (found := _encode_near_integers(names)) is not None:
        return found
    different, codes = np.unique(names, return_inverse=True)
    return EncodedNames([text_of(name) for name in different.tolist()], codes.reshape(-1).astype(np.int64))


def _encode_near_integers(names: NDArray[Any]) -> EncodedNames | None:
    """`encode_names` of integers that are near each other, by a table instead of by sorting; None for others."""
    least, most = int(names.min()), int(names.max())
    if most - least > 4 * len(names):
        return None
    offset = (names - names.dtype.type(least)).astype(np.int64)
    present = np.bincount(offset, minlength=most - least + 1) > 0
    different = np.flatnonzero(present) + least
    place = np.cumsum(present) - 1
    return EncodedNames([text_of(name) for name in different.tolist()], place[offset].astype(np.int64))


def _encode_objects(names: NDArray[Any]) -> EncodedNames:
    places: dict[str, int] = {}
    found = np.fromiter(
        (places.setdefault(text_of(name), len(places)) for name in names.tolist()), np.int64, len(names)
    )
    return in_order(list(places), found)


def in_order(texts: Sequence[str], codes: NDArray[Any]) -> EncodedNames:
    """The names that occur, each once and in order: dictionaries of files may repeat texts, or hold unused ones."""
    used = np.unique(codes).tolist()
    names = sorted({texts[code] for code in used})
    place = {name: number for number, name in enumerate(names)}
    new = np.zeros(len(texts), np.int64)
    new[used] = [place[texts[code]] for code in used]
    return EncodedNames(names, new[codes])


def rows_of_groups(codes: NDArray[np.int64], n_groups: int) -> list[NDArray[np.intp]]:
    """The numbers of the rows of each group, in order."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.cumsum(np.bincount(codes, minlength=n_groups))[:-1])


def objects_of(names: Sequence[Any]) -> NDArray[np.object_]:
    """An array of Python objects, such as strings of any length."""
    made = np.empty(len(names), object)
    made[:] = names
    return made


def names_of(argument: str, values: Any, n_rows: int, index: Any = None) -> NDArray[Any]:
    """One name for each row, or a refusal of the argument; `index` is the pandas index of the rows, if any."""
    contents = _contents(argument, values)
    refuse_other_index(argument, contents.index, "y_true and y_prob", index)
    if contents.data is None or contents.shape != (n_rows,):
        cause = f"`{argument}` has shape {contents.shape}"
        remedy = f"one name for each of {n_rows} rows is needed"
        raise InvalidValueError("wrong-shape", cause, remedy, argument=argument)
    _require_names(argument, contents.data)
    return contents.data


def _require_names(argument: str, data: NDArray[Any]) -> None:
    """Refuse the first row without a name."""
    code = "missing-value"
    if data.dtype.kind == "O":
        nameless = np.array([name is None or _is_nan(name) for name in data], bool)
    elif data.dtype.kind in "mM":
        nameless = np.isnat(data)
    elif data.dtype.kind == "f":
        nameless = ~np.isfinite(data)
        code = "not-finite"
    else:
        return
    if nameless.any():
        row, remedy = int(np.argmax(nameless)), "give such rows a name of their own"
        problem = "has a missing value" if code == "missing-value" else f"is {data[row]}"
        cause = f"`{argument}` {problem} in row {row}"
        raise InvalidValueError(code, cause, remedy, argument=argument, row=row, value=data[row])


def _contents(argument: str, values: Any) -> Contents:
    """The names as an array; lists of text become objects, since NumPy's own strings drop NUL at their end."""
    if isinstance(values, (list, tuple)) and any(isinstance(name, str) for name in values):
        return Contents(objects_of(values))
    return contents_of(values, argument).flat


def encode_groups_of_rows(groups: Any, n_rows: int, index: Any = None) -> EncodedNames:
    """The names of the groups and the position of each row's; of several columns, the combinations that occur."""
    columns = _columns(groups)
    if columns is None:
        return encode_names(names_of("groups", groups, n_rows, index))
    if not columns:
        remedy = "pass one name for each row, or columns of them"
        raise InvalidValueError("wrong-shape", "groups has no columns", remedy, argument="groups")
    parts = {
        str(name): encode_names(names_of(f"groups[{name!r}]", values, n_rows, index))
        for name, values in columns.items()
    }
    return combine(parts)


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


def _is_nan(name: Any) -> bool:
    return isinstance(name, float) and math.isnan(name)
