"""Sums and numbers that must stay as they are: bits of unweighted sums, 12 digits of all else."""

import pytest
import speak
from golden import INPUTS, content, rows_of, stored, unlike

CLOSE = 1e-12
"""Of numbers, and of weighted sums until all engines add them in one order: then None, for equal bits."""
COMPILED = [name for name in INPUTS if speak.compiles(**rows_of(name)[2])]


def require_stored(name: str, engine: str) -> None:
    kept, found = stored()[name], content(name, engine)
    assert unlike(kept["sums"], found["sums"], CLOSE if "weights" in name else None) == []
    assert unlike(kept["numbers"], found["numbers"], CLOSE) == []


@pytest.mark.parametrize("name", INPUTS)
def test_sums_and_numbers_stay(name: str) -> None:
    require_stored(name, "portable")


@speak.needs_compiled
@pytest.mark.parametrize("name", COMPILED)
def test_sums_and_numbers_of_the_compiled_engine_stay(name: str) -> None:
    require_stored(name, "compiled")
