"""A simple filter: a column, a comparison, a value."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness.files._errors import InputError, shown

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
}
_FORM = re.compile(r"\s*(?P<column>.*?[^\s<>=!])\s*(?P<sign>==|!=|<=|>=|=|<|>|\sin\s)\s*(?P<value>.*?)\s*")


class Condition(NamedTuple):
    """What a row must fulfil to be read. A missing value fulfils nothing."""

    column: str
    sign: str
    value: str

    def holds(self, values: NDArray[Any], missing: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        """Which rows fulfil it."""
        chosen = self._compare(values)
        return chosen if missing is None else chosen & ~missing

    def _compare(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        texts = [part.strip() for part in self.value.split(",")] if self.sign == "in" else [self.value]
        if values.dtype.kind in "fiu":
            wanted: list[Any] = [self._number(text) for text in texts]
        elif values.dtype.kind == "b":
            wanted = [self._truth(text) for text in texts]
        else:
            wanted = texts
        if self.sign == "in":
            return np.isin(values, wanted)
        return np.asarray(_COMPARISONS[self.sign](values, wanted[0]), dtype=bool)

    def _number(self, text: str) -> float:
        try:
            return float(text)
        except ValueError:
            raise InputError(
                f"column {shown(self.column)} holds numbers, and {shown(text)} in --where is none",
                "compare with a number",
            ) from None

    def _truth(self, text: str) -> bool:
        if text.lower() not in ("true", "false"):
            raise InputError(
                f"column {shown(self.column)} is true or false, and {shown(text)} in --where is neither",
                "compare with true or false",
            )
        return text.lower() == "true"


def parse_condition(text: str) -> Condition:
    """The condition that a text states.

    >>> parse_condition("age >= 65"), parse_condition("split in test, dev")
    (Condition(column='age', sign='>=', value='65'), Condition(column='split', sign='in', value='test, dev'))
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise InputError(
            f"--where {shown(text)} is no condition",
            "write a column, one of = != < <= > >= in, and a value: --where 'age >= 65'",
        )
    value = match["value"]
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1]
    return Condition(match["column"], match["sign"].strip(), value)
