"""Both engines reproduce tables that were saved once, to the last bit, on every machine and in every version."""

import numpy as np
import pytest
from golden_tables import CHOICES, FILE, golden

import trueness as tn
from trueness.old_table.content import Sums
from trueness.old_table.tables import load_tables

SAVED = load_tables(FILE)
ENGINES = ["portable", "compiled"]


@pytest.mark.parametrize("engine", ["portable", "compiled"])
@pytest.mark.parametrize("number", range(len(CHOICES)))
def test_the_same_rows_give_the_saved_tables(number: int, engine: str) -> None:
    assert golden(number, engine) == SAVED[number]


def test_the_rows_are_nasty_enough() -> None:
    """Ties, impossible labels and empty sums are among them, and some number would change with any other rounding."""
    tables = [table for table in SAVED if isinstance(table, tn.CalibrationTable)]
    assert sum(table.tied_rows for table in tables) > 100
    assert sum(table.impossible_rows for table in tables) > 100
    for table in tables:
        assert isinstance(table.sums, Sums)
        assert np.count_nonzero(table.sums.variation.fraction) > 0
        assert np.count_nonzero(table.sums.predicted_misses.fraction) > 0
