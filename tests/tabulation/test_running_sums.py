"""Batches added one after the other give the table of all rows at once, and bad rows are skipped and counted."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.rows import RowCode, Rows
from trueness.tabulation import RunningSums

ENGINES = ["compiled", "portable"]


def spec_for(n_classes: int) -> tn.TableSpec:
    edges = tn.EqualWidth(10).resolve(0.0, 1.0)
    return tn.TableSpec(n_classes, tn.variations["entropy"], edges, "first", weighted=False)


def table_of(running: RunningSums, spec: tn.TableSpec) -> tn.CalibrationTable:
    sums = running.take()
    assert sums is not None
    (of_spec,) = sums
    return tn.CalibrationTable(spec, of_spec)


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("n_classes", [3, 20])
@pytest.mark.parametrize("engine", ENGINES)
def test_batches_of_any_size_and_dtype(engine: str, n_classes: int, n_threads: int) -> None:
    y_true, y_prob = tn.simulate.calibrated(600_000 // n_classes, [0.5] * n_classes, rng=0)
    spec, parts = spec_for(n_classes), []
    running = RunningSums([spec], engine)
    cuts = [0, 1, 8, 5000, 5007, 6000, len(y_true)]
    for k, (start, stop) in enumerate(pairwise(cuts)):
        part: tuple[Any, Any] = y_true[start:stop], y_prob[start:stop].astype("f4" if k % 2 else "f8")
        assert not running.add(Rows.of(*part), n_threads).any()
        parts.append(tn.tabulate(*part, engine=engine))
    assert table_of(running, spec) == sum(parts[1:], parts[0])
    assert running.take() is None


@pytest.mark.parametrize("engine", ENGINES)
def test_two_tables_of_the_same_rows(engine: str) -> None:
    """Each equals the table made alone, also after a batch of bad rows."""
    y_true, y_prob = tn.simulate.calibrated(5000, [0.5] * 4, rng=0)
    specs = [spec_for(4), tn.TableSpec(4, tn.variations["confidence"], tn.EqualWidth(7).resolve(0.25, 1.0))]
    running, spoilt = RunningSums(specs, engine), y_prob[:20].copy()
    spoilt[:, 0] = np.nan
    running.add(Rows.of(y_true[:3000], y_prob[:3000]))
    assert running.add(Rows.of(y_true[:20], spoilt))[RowCode.NOT_FINITE] == 20
    running.add(Rows.of(y_true[3000:], y_prob[3000:]), n_threads=2)
    sums = running.take()
    assert sums is not None
    for spec, of_spec in zip(specs, sums, strict=True):
        alone = tn.tabulate(y_true, y_prob, variation=spec.variation, bins=spec.bins, engine=engine)
        assert tn.CalibrationTable(spec, of_spec) == alone


@pytest.mark.parametrize("n_threads", [1, 3])
def test_an_error_of_the_measure_is_raised(n_threads: int) -> None:
    """It is not about a row: nothing is skipped silently."""
    y_true, y_prob = tn.simulate.calibrated(20_000, [0.5] * 3, rng=0)
    broken = tn.Variation("broken", lambda x: np.where(x[:, 0] > 0.99, np.nan, x[:, 0]))
    running = RunningSums([tn.TableSpec(3, broken, tn.EqualWidth(10).resolve(0.0, 1.0))], "portable")
    with pytest.raises(ValueError, match="variation 'broken' is nan"):
        running.add(Rows.of(y_true, y_prob), n_threads)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("n_classes", [17, 31, 33, 63, 1001])
@pytest.mark.parametrize("value", [-1e-7, -0.5, -np.inf, -np.nan])
def test_a_bad_row_leaves_nothing_behind(value: float, n_classes: int, dtype: str) -> None:
    """Sorted as bits, such numbers come after the zeros that pad the lines of memory."""
    y_true, y_prob = tn.simulate.calibrated(100, [0.5] * n_classes, rng=0)
    y_prob = y_prob.astype(dtype)
    spoilt, spec = y_prob.copy(), spec_for(n_classes)
    spoilt[5, 1:] = value
    running = RunningSums([spec], "compiled")
    assert running.add(Rows.of(y_true, spoilt)).sum() == 1
    assert not running.add(Rows.of(y_true, y_prob)).any()
    good = np.arange(100) != 5
    alone = [
        tn.tabulate(*part, engine="compiled") for part in ((y_true[good], y_prob[good]), (y_true, y_prob))
    ]
    assert table_of(running, spec) == sum(alone)


@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("value", [np.nan, -np.nan, -0.5, 7.0])
@pytest.mark.parametrize("n_classes", [2, 3, 7, 15])
def test_nothing_of_a_bad_row_is_counted(n_classes: int, value: float) -> None:
    """At any place and for any true class: NaN puts sorting and ranks out of order."""
    rng = np.random.default_rng(0)
    spec = spec_for(n_classes)
    for _ in range(200):
        y_true, y_prob = tn.simulate.calibrated(22, [0.5] * n_classes, rng=rng)
        row = rng.integers(22)
        y_prob[row, rng.integers(n_classes)] = value
        running = RunningSums([spec], "compiled")
        assert running.add(Rows.of(y_true, y_prob)).sum() == 1
        good = np.arange(22) != row
        assert table_of(running, spec) == tn.tabulate(y_true[good], y_prob[good], engine="compiled")
