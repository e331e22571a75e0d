"""A table of each kind."""

from typing import Any

import pytest
from table_rows import WEIGHT, Y_PROB, Y_TRUE

import trueness as tn


@pytest.fixture(params=["plain", "split", "weighted"])
def table(request: pytest.FixtureRequest) -> tn.CalibrationTable:
    how: dict[str, Any] = {"plain": {}, "split": {"ties": "split"}, "weighted": {"sample_weight": WEIGHT}}[
        request.param
    ]
    return tn.tabulate(Y_TRUE, Y_PROB, **how)
