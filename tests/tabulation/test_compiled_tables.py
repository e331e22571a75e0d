"""The compiled engine gives the table of the portable one to the last bit: classes, dtypes, ties, measures, bins."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled_rows import assert_same, nasty, rows

import trueness as tn
from trueness.rows import Rows
from trueness.tabulation import tabulate_rows

pytestmark = pytest.mark.usefixtures("compiled")

BINS = [
    1,
    2,
    10,
    32,
    33,
    34,
    300,
    tn.EqualWidth(4000),
    tn.EqualMass(10),
    tn.EqualMass(200),
    tn.Edges([0, 0, 0.3, 0.31, 1]),
]
"""Up to 32 edges are compared one by one; more are searched."""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 3, 8, 15, 16, 17, 40])
@pytest.mark.parametrize("bins", [(10, 15), (7, 7), (40, 3), (1, 500), (tn.EqualMass(6), 10)], ids=str)
def test_two_tables_in_one_pass(n_classes: int, bins: Any, dtype: str) -> None:
    y_true, y_prob = nasty(n_classes, dtype=dtype)
    for names in (("entropy", "confidence"), ("confidence", "entropy"), ("entropy", "entropy")):
        alone = [assert_same(y_true, y_prob, variation=v, bins=b) for v, b in zip(names, bins, strict=True)]
        specs = [table.spec for table in alone]
        assert tabulate_rows(Rows.of(y_true, y_prob), specs, engine="compiled") == alone


def test_many_tables_are_made_two_at_a_time() -> None:
    y_true, y_prob = nasty(7)
    alone = [
        tn.tabulate(y_true, y_prob, variation=v, bins=b, engine="portable")
        for v, b in (("entropy", 10), ("confidence", 15), ("entropy", 3), ("confidence", 50), ("entropy", 1))
    ]
    made = tabulate_rows(Rows.of(y_true, y_prob), [table.spec for table in alone], engine="compiled")
    assert made == alone


@pytest.mark.parametrize("n_classes", [2, 10, 40])
@pytest.mark.parametrize("n_rows", [*range(1, 18), 4095, 4096, 16377, 16385, 65536, 65537])
def test_every_length(n_rows: int, n_classes: int) -> None:
    """Around groups of rows, around the emptying of the sums of words, and around blocks."""
    if n_rows * n_classes < 700_000:
        assert_same(*rows(n_rows, n_classes))


@pytest.mark.parametrize("n_classes", [3, 20])
def test_rows_of_one_bin_do_not_overflow(n_classes: int) -> None:
    """Words hold the sums of 4095 rows; here 40 000 certain rows of one rank are in one bin."""
    y_prob = np.zeros((40_000, n_classes))
    y_prob[:, 1] = 1.0
    table = assert_same(np.ones(40_000, int), y_prob, bins=1)
    assert table.ordered_sum[0, 0] == table.rank_count[0, 0] == 40_000


@pytest.mark.parametrize("n_classes", [3, 50])
def test_normalising_and_binary(n_classes: int) -> None:
    rng = np.random.default_rng(1)
    y_true = rng.integers(0, n_classes, 3001)
    assert_same(y_true, np.exp(rng.normal(size=(3001, n_classes))), normalize=True)
    assert_same(y_true % 2, rng.random(3001))
    assert_same(y_true % 2, rng.normal(size=3001) * 50, from_logits=True)


@pytest.mark.parametrize("n_classes", [2, 40])
@pytest.mark.parametrize("from_logits", [False, True])
def test_extreme_rows_do_not_overflow(n_classes: int, from_logits: bool, tmp_path: Path) -> None:
    """20 000 true classes of probability 1e-250 (or the least that logits say): the sums of lanes reach 2^63."""
    n_rows = 20_000
    y_prob = np.zeros((n_rows, n_classes))
    y_prob[:, 0], y_prob[:, 1] = (0.0, -1e9) if from_logits else (1.0, 1e-250)
    if from_logits:
        y_prob[:, 2:] = -np.inf
    each = -(2.0**22) if from_logits else np.log(1e-250)
    table = assert_same(np.ones(n_rows, int), y_prob, from_logits=from_logits)
    assert table.log_score_sum == pytest.approx(n_rows * each, rel=1e-12)
    assert table.log_loss == pytest.approx(-each, rel=1e-12)
    assert table.log_score_variance == pytest.approx(0, abs=1e-6)
    table.save(tmp_path / "table.json")
    assert tn.CalibrationTable.load(tmp_path / "table.json") == table


@pytest.mark.parametrize("n_classes", [2, 9, 40])
def test_logits_at_the_ends_of_floats(n_classes: int) -> None:
    """A class is impossible if its own logit is -inf, not because a finite one is too far from the largest."""
    ends = [1.7e308, 1e308, -1e308, -1.7e308, 0.0]
    logits = np.array(np.meshgrid(ends, [*ends, -np.inf])).reshape(2, -1).T
    logits = np.pad(logits, ((0, 0), (0, n_classes - 2)))
    for label in (0, 1):
        table = assert_same(np.full(len(logits), label), logits, from_logits=True)
        assert table.impossible_rows == int(np.isneginf(logits[:, label]).sum())
