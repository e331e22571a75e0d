"""Both engines reproduce tables that were saved once, to the last bit, on every machine and in every version."""

import numpy as np
import pytest
from golden_tables import CHOICES, FILE, golden
from saved import without_columns

import trueness as tn
from trueness.table.content import Sums

TABLES = tn.CalibrationTable.load_all(FILE)


@pytest.mark.parametrize("engine", ["portable", pytest.param("compiled", marks=pytest.mark.compiled)])
@pytest.mark.parametrize("number", range(len(CHOICES)))
def test_the_same_rows_give_the_saved_table(number: int, engine: str) -> None:
    assert without_columns(golden(number, engine)) == TABLES[number]


def test_every_choice_is_saved() -> None:
    assert len(TABLES) == len(CHOICES)


def test_the_rows_are_nasty_enough() -> None:
    """Ties, impossible labels and empty sums are among them, and some number would change with any other rounding."""
    assert sum(table.tied_rows for table in TABLES) > 100
    assert sum(table.impossible_rows for table in TABLES) > 100
    assert sum(table.n_rows for table in TABLES) > 3000
    for table in TABLES:
        assert isinstance(table.sums, Sums)
        assert np.count_nonzero(table.sums.variation.fraction) > 0
