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
        lambda y, p: (y, p, {"normalize": True, "bins": tn.EqualWidth(1000)}),
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


LONG = "x" * 20_000
"""As NumPy's text, 50 000 rows with such a name in one of them take 4 GB."""


def peak_of(work: Callable[[], Any]) -> float:
    """The peak memory that Python and NumPy allocate meanwhile, in MB."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


def as_objects(names: list[str]) -> Any:
    array = np.empty(len(names), object)
    array[:] = names
    return array


def as_pandas(names: list[str]) -> Any:
    import pandas as pd

    return pd.Series(names)


@pytest.mark.parametrize(
    "container",
    [list, tuple, as_objects, as_pandas],
    ids=["list", "tuple", "objects", "pandas"],
)
class TestOneLongName:
    """Names are held once each, and not in arrays as wide as the longest."""

    NAMES = (LONG, *(f"group {number % 20}" for number in range(49_999)))
    Y_TRUE, Y_PROB = np.arange(50_000) % 2, np.full((50_000, 2), 0.5)

    @pytest.mark.parametrize("argument", ["groups", "clusters"])
    def test_groups_and_clusters(self, container: Any, argument: str) -> None:
        names = container(list(self.NAMES))
        options: dict[str, Any] = {argument: names, "resamples": 99, "rng": 0}
        assert peak_of(lambda: tn.assess(self.Y_TRUE, self.Y_PROB, **options)) < 200
        y_probs = {"a": self.Y_PROB, "b": self.Y_PROB}
        assert (
            peak_of(lambda: tn.compare(self.Y_TRUE, y_probs, resamples=99, rng=0, **{argument: names})) < 200
        )

    def test_labels(self, container: Any) -> None:
        labels = container([LONG, *("b" for _ in range(49_999))])
        assert peak_of(lambda: tn.tabulate(labels, self.Y_PROB, classes=[LONG, "b"])) < 100
