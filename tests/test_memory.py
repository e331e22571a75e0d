"""Rows are read in blocks: beyond the input, memory does not grow with their number."""

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import trueness as tn

MEGABYTE = 2**20


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Two million rows of three classes, 46 MB: a copy of them, or a few arrays of that length, would show."""
    y_prob = np.random.default_rng(0).dirichlet([1.0, 1.0, 1.0], 2_000_000)
    return np.zeros(2_000_000, np.int8), y_prob


@pytest.mark.parametrize(
    "change",
    [
        lambda y, p: (y, p, {}),
        lambda y, p: (y, np.asfortranarray(p), {}),
        lambda y, p: (y, p.astype(np.float32), {"ties": "split", "variation": "confidence"}),
        lambda y, p: (y, p, {"from_logits": True}),
        lambda y, p: (y, p, {"normalize": True, "bins": tn.FineGrid(1000)}),
        lambda y, p: (y, p[:, 0], {"n_threads": 2}),
        lambda y, p: (np.eye(3, dtype=np.int8)[y], p, {}),
    ],
    ids=["plain", "by columns", "single", "logits", "normalised", "binary", "one-hot"],
)
def test_extra_memory_stays_below_64_megabytes(rows: Any, change: Callable[..., Any]) -> None:
    y_true, y_prob, options = change(*rows)
    tracemalloc.start()
    try:
        table = tn.tabulate(y_true, y_prob, **options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert table.n_rows == 2_000_000
    assert (
        peak < 16 * MEGABYTE
    )  # what a block and its companions need, with room; 64 MB is the promise at any N
