"""What every adapter must do: the same rows give the table that the core gives, to the last bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from close_tables import assert_close
from table_counts import equal_counts

import trueness as tn

Maker = Callable[..., tn.CalibrationTable]


def by_sklearn(y_true: np.ndarray, y_prob: np.ndarray, **options: Any) -> tn.CalibrationTable:
    """A fitted model that predicts the rows it is given."""
    from sklearn.base import BaseEstimator, ClassifierMixin

    from trueness.adapters.sklearn import assess_estimator

    class Given(ClassifierMixin, BaseEstimator):
        classes_ = np.arange(y_prob.shape[1])

        def predict_proba(self, X: np.ndarray) -> np.ndarray:
            return X

    return assess_estimator(Given(), y_prob, y_true, resamples=39, rng=0, **options).table


def by_torch(name: str = "VariationCalibrationError") -> Maker:
    def make(y_true: np.ndarray, y_prob: np.ndarray, **options: Any) -> tn.CalibrationTable:
        import torch

        from trueness.adapters import torch as adapter

        bins = options.pop("bins", 10)
        metric = getattr(adapter, name)(y_prob.shape[1], bins, **options)
        rows, labels = torch.tensor(y_prob), torch.tensor(y_true)
        for start in range(0, len(rows), 173):
            metric.update(rows[start : start + 173], labels[start : start + 173])
        return metric.table

    return make


def by_query(kind: str) -> Maker:
    """The rows as columns of a lazy query, in the type that they have."""

    def make(y_true: np.ndarray, y_prob: np.ndarray, **options: Any) -> tn.CalibrationTable:
        import pyarrow as pa

        from trueness.adapters import queries

        columns = {f"p_{c}": np.ascontiguousarray(y_prob[:, c]) for c in range(y_prob.shape[1])}
        rows = pa.table({"y": y_true, **columns})
        return queries.tabulate(_query(kind, rows), "y", "p_*", **options)

    return make


def _query(kind: str, rows: Any) -> Any:
    if kind == "duckdb":
        import duckdb

        return duckdb.connect().from_arrow(rows)
    import polars as pl

    return pl.from_arrow(rows).lazy() if kind == "polars" else rows.to_reader(max_chunksize=173)


DUCKDB = by_query("duckdb")
ADAPTERS = [
    pytest.param(by_query("polars"), id="polars"),
    pytest.param(by_query("arrow"), id="arrow"),
    pytest.param(DUCKDB, marks=pytest.mark.adapters, id="duckdb"),
    pytest.param(by_sklearn, id="sklearn"),
    pytest.param(by_torch(), marks=pytest.mark.adapters, id="torch"),
    pytest.param(by_torch("CalibrationMetric"), marks=pytest.mark.adapters, id="torch-all-tables"),
]


def simulated(n_classes: int, dtype: str = "float64", decimals: int | None = None) -> Any:
    """Over-confident rows; rounded to decimals (which sum to 1 again) they have ties, zeros and values on edges."""
    y_true, y_prob = tn.simulate.calibrated(1200, np.ones(n_classes), rng=n_classes)
    y_prob = tn.simulate.sharpen(y_prob, 1.5)
    if decimals is not None:
        y_prob = np.floor(y_prob * 10**decimals)
        y_prob[:, 0] += 10**decimals - y_prob.sum(axis=1)
        y_prob /= 10**decimals
    return y_true, y_prob.astype(dtype)


def agree(make: Maker, y_true: np.ndarray, y_prob: np.ndarray, **options: Any) -> tn.CalibrationTable:
    """The table of the core, with which that of the adapter agrees."""
    made, core = make(y_true, y_prob, **options), tn.tabulate(y_true, y_prob, **options)
    assert made == core
    assert equal_counts(made, core)
    assert made.sums.same(core.sums, "true_probability", "square", "possible_variance")
    by_class = ("predicted_rows", "predicted_possible_variance", "predicted_misses")
    assert made.sums.same(core.sums, *by_class)
    assert_close(made, core)
    assert (made.tied_rows, made.impossible_rows) == (core.tied_rows, core.impossible_rows)
    readers = (tn.variation_calibration_error, tn.ranked_calibration_error, tn.top_label_error)
    for read in readers:
        assert read(made) == pytest.approx(read(core), abs=1e-12)
    return core


DTYPES = [(make, dtype) for dtype in ("float64", "float32", "float16") for make in ADAPTERS]
WITH_DTYPES = [
    pytest.param(*make.values, dtype, marks=make.marks, id=f"{dtype}-{make.id}")
    for make, dtype in DTYPES
    if make.values != (DUCKDB,) or dtype != "float16"  # a type that DuckDB lacks
]


@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize("n_classes", [2, 3, 10, 40])
@pytest.mark.parametrize(("make", "dtype"), WITH_DTYPES)
def test_the_same_table(make: Maker, n_classes: int, ties: str, dtype: str) -> None:
    y_true, y_prob = simulated(n_classes, dtype)
    agree(make, y_true, y_prob, ties=ties)


@pytest.mark.parametrize("make", ADAPTERS)
@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize("variation", tn.variations)
def test_ties_zeros_and_edges(make: Maker, variation: str, ties: str) -> None:
    """One decimal: most rows are tied, true classes have probability 0, and confidences lie on edges."""
    y_true, y_prob = simulated(5, decimals=1)
    core = agree(make, y_true, y_prob, variation=variation, ties=ties)
    assert core.tied_rows > 300
    assert core.impossible_rows > 50


@pytest.mark.parametrize("make", ADAPTERS)
@pytest.mark.parametrize(
    "bins", [1, 7, tn.Edges([0, 0, 0.3, 1]), 500], ids=["one", "seven", "lowest", "many"]
)
def test_any_bins(make: Maker, bins: Any) -> None:
    y_true, y_prob = simulated(4, decimals=1)
    agree(make, y_true, y_prob, bins=bins)


@pytest.mark.parametrize("make", [make for make in ADAPTERS if make.values != (by_sklearn,)])
@pytest.mark.parametrize("ties", ["first", "split"])
def test_logits(make: Maker, ties: str) -> None:
    """Also a class that is ruled out, two that are equal, and one whose probability underflows: ranked by logit."""
    logits = np.random.default_rng(0).normal(0, 3, (500, 6))
    logits[:50, 2] = -np.inf
    logits[50:100, 3] = logits[50:100, 4]
    logits[100:150, 5] = -2000.0
    logits[150:160, 0], logits[150:160, 1] = 1.7e308, -1.7e308
    y_true = np.random.default_rng(1).integers(0, 6, 500)
    y_true[100:120] = 5
    y_true[150:155] = 1
    core = tn.tabulate(y_true, logits, ties=ties, from_logits=True)
    made = make(y_true, logits, ties=ties, from_logits=True)
    np.testing.assert_array_equal(made.count, core.count)
    np.testing.assert_array_equal(made.rank_count, core.rank_count)
    assert core.impossible_rows > 0
    assert made == core
    assert (made.tied_rows, made.impossible_rows) == (core.tied_rows, core.impossible_rows)
