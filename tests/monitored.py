"""The tables of section 12 of the monitoring specification, and streams of simulated looks."""

from collections.abc import Sequence

import numpy as np

import trueness as tn


def ranked_table(*blocks: tuple[Sequence[float], Sequence[int]], bins: int = 2) -> tn.CalibrationTable:
    """A table of rows with these ordered predictions and counts of the true class's rank."""
    y_prob = [p for p, counts in blocks for n in counts for _ in range(n)]
    y_true = [rank for _, counts in blocks for rank, n in enumerate(counts) for _ in range(n)]
    return tn.tabulate(y_true, y_prob, bins=bins)


T1 = ranked_table(((0.8, 0.2), (5, 5)))
T2 = ranked_table(((0.95, 0.05), (6, 2)), ((0.6, 0.4), (5, 7)))
T3 = ranked_table(((0.9, 0.08, 0.02), (20, 6, 4)), ((0.6, 0.3, 0.1), (8, 7, 5)))
REFERENCE = ranked_table(((0.9, 0.08, 0.02), (26, 3, 1)), ((0.6, 0.3, 0.1), (12, 6, 2)))
NO_ROWS = tn.CalibrationTable.empty(T1.spec)


def stream(
    n_looks: int,
    n_rows: int = 200,
    n_classes: int = 3,
    *,
    exponent: float = 1.0,
    after: int = 0,
    seed: int = 0,
) -> list[tn.CalibrationTable]:
    """Tables of looks, calibrated before look `after` and sharpened by `exponent` from then on."""
    rng = np.random.default_rng(seed)
    tables = []
    for look in range(n_looks):
        y_true, y_prob = tn.simulate.calibrated(n_rows, [1] * n_classes, rng=rng)
        wrong = look >= after and exponent != 1.0
        tables.append(tn.tabulate(y_true, tn.simulate.sharpen(y_prob, exponent) if wrong else y_prob))
    return tables


def watched(tables: Sequence[tn.CalibrationTable], **settings: object) -> tn.Monitor:
    """A monitor that has counted these looks, under numbers."""
    monitor = tn.Monitor(**{"alpha": 0.05, "tolerance": 0.0, **settings})  # type: ignore[arg-type]
    for look, table in enumerate(tables, 1):
        monitor.update(table, at=look)
    return monitor
