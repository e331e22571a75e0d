"""Sums and numbers that must stay as they are: bits of unweighted sums, 12 digits of all else."""

import pytest
import speak
from golden import INPUTS, content, stored, unlike

CLOSE = 1e-12
"""For numbers; for weighted sums until they are added in one order, then None: equal bits."""


@pytest.mark.parametrize("engine", speak.ENGINES)
@pytest.mark.parametrize("name", INPUTS)
def test_sums_and_numbers_stay(name: str, engine: str) -> None:
    kept, found = stored()[name], content(name, engine)
    close = CLOSE if "weights" in name else None
    assert unlike(kept["sums"], found["sums"], close) == []
    assert unlike(kept["numbers"], found["numbers"], CLOSE) == []
