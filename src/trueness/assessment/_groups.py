"""Groups and clusters as they are given: one name for each row."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueness._containers import contents_of


def names_of(argument: str, values: Any, n_rows: int) -> NDArray[Any]:
    """One name for each row, or an error about the argument."""
    contents = contents_of(values, argument)
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


def _is_nan(name: Any) -> bool:
    return isinstance(name, float) and math.isnan(name)
