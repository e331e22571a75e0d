"""Groups by several columns: the combinations of their values that occur, each with a name of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Coded(NamedTuple):
    """A name for each row, as the different names and the number of each row's among them."""

    names: list[str]
    codes: NDArray[np.int64]

    @property
    def of_rows(self) -> NDArray[np.object_]:
        """The name of each row."""
        return np.array([*self.names, None], object)[self.codes]


def combined(columns: Mapping[str, Coded]) -> Coded:
    """The combinations of the values of several columns; of one column its values as they are."""
    if len(columns) == 1:
        return next(iter(columns.values()))
    codes: NDArray[np.int64] = np.zeros(len(next(iter(columns.values())).codes), np.int64)
    occurring: list[tuple[str, ...]] = [()]
    for names, numbers in columns.values():
        kept, codes = np.unique(codes * max(1, len(names)) + numbers, return_inverse=True)
        occurring = [(*occurring[n // len(names)], names[n % len(names)]) for n in kept.tolist()]
    return Coded([combination_name(tuple(columns), values) for values in occurring], codes.astype(np.int64))


def combination_name(columns: Sequence[str], values: Sequence[str]) -> str:
    r"""The name of a combination; commas inside are marked, so that different combinations have different names.

    >>> combination_name(["region", "sex"], ["north", "F"])
    'region=north, sex=F'
    >>> print(combination_name(["a", "b"], ["x, y", "z"]))
    a=x\, y, b=z
    """
    pairs = zip(columns, values, strict=True)
    return ", ".join(f"{_marked(column)}={_marked(value)}" for column, value in pairs)


def joined(columns: Sequence[str]) -> str | None:
    """The columns of groups as one name, such as region,sex; None if there are none."""
    if len(columns) < 2:
        return columns[0] if columns else None
    return ",".join(map(_marked, columns))


def _marked(text: str) -> str:
    return text.replace("\\", "\\\\").replace(",", "\\,")
