"""Rows for the laws: Hypothesis chooses shape, kind and seed, and NumPy fills in the rows."""

import itertools
from typing import Any, NamedTuple

import numpy as np
import oracle
import speak
from hypothesis import strategies as st

MEASURES = [*oracle.MEASURES, "renyi(2)", "tsallis(0.5)"]
KINDS = ("smooth", "sharp", "decimals", "one-hot", "some one-hot", "uniform")


class Data(NamedTuple):
    y_true: np.ndarray
    y_prob: np.ndarray


def made(seed: int, n_rows: int, n_classes: int, kind: str, dtype: str = "float64") -> Data:
    rng = np.random.default_rng(seed)
    if kind == "decimals":
        y_prob = rng.multinomial(8, rng.dirichlet(np.ones(n_classes), n_rows)) / 8
    elif kind in {"one-hot", "some one-hot"}:
        y_prob = np.eye(n_classes)[rng.integers(0, n_classes, n_rows)]
        if kind != "one-hot":
            spread = rng.dirichlet(np.ones(n_classes), n_rows)
            y_prob = np.where(rng.random((n_rows, 1)) < 0.5, y_prob, spread)
    elif kind == "uniform":
        y_prob = np.full((n_rows, n_classes), 1 / n_classes)
    else:
        y_prob = rng.dirichlet(np.full(n_classes, 1.0 if kind == "smooth" else 0.2), n_rows)
    return Data(rng.integers(0, n_classes, n_rows), y_prob.astype(dtype))


@st.composite
def data(draw: st.DrawFn, min_rows: int = 1, max_rows: int = 60) -> Data:
    return made(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(min_rows, max_rows)),
        draw(st.sampled_from([2, 3, 4, 7, 10, 33])),
        draw(st.sampled_from(KINDS)),
        draw(st.sampled_from(["float64", "float32"])),
    )


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "variation": draw(st.sampled_from(MEASURES)),
        "bins": draw(st.sampled_from([1, 3, 10, speak.EqualWidth(200)])),
        "ties": draw(st.sampled_from(["first", "split"])),
    }


def cut(rows: Data, points: list[int]) -> list[Data]:
    bounds = [0, *sorted({p for p in points if 0 < p < len(rows.y_true)}), len(rows.y_true)]
    return [Data(rows.y_true[a:b], rows.y_prob[a:b]) for a, b in itertools.pairwise(bounds)]


def numbers_of(table: Any) -> dict[str, float]:
    """Every error that is read off a table, whatever its measure."""
    return {
        **{f"vce {norm}": speak.vce_of(table, norm=norm) for norm in ("l1", "l2", "max")},
        **{f"rce {d}": speak.rce_of(table, distance=d) for d in ("tv", "w1")},
    }


def numbers(y_true: Any, y_prob: Any, **how: Any) -> dict[str, float]:
    """The same of rows, with ECE and UCE, which choose their measure themselves."""
    rows_only = {name: value for name, value in how.items() if name != "variation"}
    return {
        **numbers_of(speak.tabulate(y_true, y_prob, **how)),
        "ece": speak.ece(y_true, y_prob, **rows_only),
        "uce": speak.uce(y_true, y_prob, **rows_only),
    }
