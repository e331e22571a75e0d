"""Rows of every kind for the tests of the compiled engine, whose oracle is the portable one: tables are `==`."""

from typing import Any

import numpy as np

import trueness as tn
from trueness.bins import ProbabilityGrid, class_grid, event_grid
from trueness.old_table import EventSpec
from trueness.rows import RowCode, Rows, row_codes
from trueness.tabulation import tabulate_in_detail

CLASSES = [*range(2, 41), 64, 100, 129, 257, 1000]
"""All sizes in registers, around the sizes of vectors and of sorted blocks, and many classes."""


def rows(n_rows: int, n_classes: int, seed: int = 0, alpha: float = 0.7) -> Any:
    return tn.simulate.calibrated(n_rows, [alpha] * n_classes, rng=seed)


def nasty(n_classes: int, seed: int = 0, dtype: Any = np.float64) -> Any:
    """Certain, uniform, rounded, tiny and subnormal rows, zeros of both signs; their number is not a multiple of 8."""
    rng = np.random.default_rng(seed)
    coarse = np.round(rng.dirichlet([0.3] * n_classes, 45), 1) + 1e-3
    tiny = np.full((20, n_classes), 1e-20)
    tiny[:, 0], tiny[:, -1] = 1 - 1e-12, 1e-30
    subnormal = np.zeros((11, n_classes))
    subnormal[:, 0], subnormal[:, -1] = 1.0, 5e-320
    signed = np.full((9, n_classes), -0.0)
    signed[:, n_classes // 2] = 1.0
    powers = np.ldexp(1.0, -np.minimum(np.arange(1, n_classes + 1), n_classes - 1))
    parts = [
        np.eye(n_classes)[rng.integers(0, n_classes, 25)],
        np.full((11, n_classes), 1 / n_classes),
        coarse / coarse.sum(axis=1, keepdims=True),
        tiny,
        subnormal,
        signed,
        np.array([rng.permutation(powers) for _ in range(10)]),
        rng.dirichlet([0.02] * n_classes + np.full(n_classes, 1e-2), 12),
    ]
    with np.errstate(under="ignore"):
        y_prob = np.vstack(parts).astype(dtype)
    y_prob = y_prob[rng.permutation(len(y_prob))]
    good = row_codes(Rows.of_arrays(None, y_prob)) == RowCode.GOOD
    assert good.mean() > 0.9
    return rng.integers(0, n_classes, good.sum()), y_prob[good]


def nasty_logits(n_classes: int, seed: int = 0) -> Any:
    """Far apart, tied, -inf, at the ends of floats and around the underflow of a probability."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(101, n_classes)) * rng.choice([1, 50, 400, 1e300], size=(101, 1))
    z[::5] = np.round(z[::5])
    z[1::7, -1] = -np.inf
    z[2::9, 0], z[2::9, 1] = 0.0, rng.uniform(-746, -707, len(z[2::9]))
    z[3::11, 0], z[3::11, 1] = 1.7e308, -1.7e308
    z[4::13] = z[4::13, :1]
    return rng.integers(0, n_classes, len(z)), z


def on_edges(n_classes: int, dtype: Any = np.float64, seed: int = 0) -> Any:
    """Probabilities at edges and thresholds of both grids, the floats beside them, 0, 1 and subnormal ones."""
    rng, kind = np.random.default_rng([n_classes, seed]), np.dtype(dtype).type
    eps = float(np.finfo(dtype).eps)
    fine = np.concatenate([event_grid().edges, event_grid().thresholds(eps)])
    exact = np.concatenate([class_grid().edges, class_grid().thresholds(eps), rng.choice(fine, 200)])
    with np.errstate(under="ignore"):
        at = np.concatenate([exact, [5e-324, 1e-310, 2.0**-149, 2.0**-1022]]).astype(dtype)
    p = np.concatenate([at, np.nextafter(at, kind(0)), np.nextafter(at, kind(1))])
    y_prob = np.full((len(p), n_classes), -0.0, dtype)
    y_prob[:, 0], y_prob[:, 1] = p, 1 - p
    order = np.argsort(rng.random(y_prob.shape), axis=1)
    y_prob = np.take_along_axis(y_prob, order, axis=1)
    good = row_codes(Rows.of_arrays(None, y_prob)) == RowCode.GOOD
    return rng.integers(0, n_classes, good.sum()), y_prob[good]


COARSE = ProbabilityGrid((0.0, 0.01, 0.1, 0.5, 0.75, 1.0))
"""A grid that kernels know nothing of."""


def every_kind_of_events(n_classes: int) -> list[EventSpec]:
    """All classes, some of them and the top label, on each grid."""
    every, last = tuple(range(n_classes)), n_classes - 1
    return [
        EventSpec.by_class(n_classes),
        EventSpec(n_classes, every, class_grid()),
        EventSpec(n_classes, (1,), event_grid()),
        EventSpec(n_classes, ("top", last, 0), event_grid()),
        EventSpec(n_classes, (last, "top"), class_grid()),
        EventSpec(n_classes, every, COARSE),
    ]


def tables_of(n_classes: int, bins: tuple[int, int] = (10, 15), ties: str = "first") -> list[tn.TableSpec]:
    """By entropy and by confidence."""
    measures = [tn.variations[name] for name in ("entropy", "confidence")]
    return [
        tn.TableSpec(n_classes, v, tn.EqualWidth(n).resolve(*v.range_for(n_classes)), ties)
        for v, n in zip(measures, bins, strict=True)
    ]


def assert_same(y_true: Any, y_prob: Any, **how: Any) -> tn.CalibrationTable:
    """The table of the compiled engine, which is that of the portable one."""
    made = tn.tabulate(y_true, y_prob, engine="compiled", **how)
    assert made == tn.tabulate(y_true, y_prob, engine="portable", **how)
    return made


LESS_DETAIL = [("ranks", "entropy"), ("ranks", "confidence"), ("first", "confidence")]
"""What `vce` and `ece` sum, and the measures that they are binned by."""


def less_detailed_tables(y_true: Any, y_prob: Any, engine: str, **options: Any) -> list[Any]:
    """The tables of which one number is read, by rows and by columns, with both kinds of ties."""
    return [
        tabulate_in_detail(
            y_true, given, variation=measure, bins=bins, ties=ties, engine=engine, detail=detail, **options
        )
        for detail, measure in LESS_DETAIL
        for given in (y_prob, np.asfortranarray(y_prob))
        for ties, bins in (("first", 10), ("split", tn.EqualWidth(100)))
    ]
