"""Calls that every function with rows must refuse, with a message that names the argument, the row and the value.

All of these functions validate rows in the same way, so each refusal is tested with all of them.
"""

import re
from typing import Any

import numpy as np
import pytest

import trueness as tn

GOOD = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.2, 0.2, 0.6], [0.5, 0.25, 0.25]])


LABELS = np.array([0, 1, 2, 1])


def with_value(row: int, column: int, value: float) -> np.ndarray:
    y_prob = GOOD.copy()
    y_prob[row, column] = value
    return y_prob


def accumulate(y_true: Any, y_prob: Any, *, sample_weight: Any = None, **options: Any) -> Any:
    accumulator = tn.Accumulator(n_classes=3, weighted=sample_weight is not None, **options)
    accumulator.update(y_true, y_prob, **({} if sample_weight is None else {"sample_weight": sample_weight}))
    return accumulator.table


FUNCTIONS = {
    "tabulate": tn.tabulate,
    "vce": tn.vce,
    "ece": tn.ece,
    "uce": tn.uce,
    "rce": tn.rce,
    "cwece": tn.cwece,
    "update": accumulate,
}


ENGINES = ["portable", "compiled"]


Refused = type[Exception] | tuple[type[Exception], ...]


def refused(kind: Refused, *fragments: str, **call: Any) -> None:
    """Every function refuses the call with a message that contains all fragments (regular expressions).

    Values are shown as a person writes them, not as NumPy's repr.
    """
    for name, function in FUNCTIONS.items():
        with pytest.raises(kind) as caught:
            function(
                call["y_true"],
                call["y_prob"],
                **{k: v for k, v in call.items() if k not in {"y_true", "y_prob"}},
            )
        assert "np." not in str(caught.value).replace("np.stack", ""), str(caught.value)
        for fragment in fragments:
            assert re.search(fragment, str(caught.value)), (name, fragment, str(caught.value))
