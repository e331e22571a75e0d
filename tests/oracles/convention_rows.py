"""Rows for the conventions: random ones, and ones with confidences on edges, at 1, or shared."""

import numpy as np
import speak

N_ROWS = 1500


def random_rows(
    n_classes: int, dtype: str = "float64", n_rows: int = N_ROWS
) -> tuple[np.ndarray, np.ndarray]:
    """Over-confident rows."""
    y_true, y_prob = speak.simulate.calibrated(n_rows, np.ones(n_classes), rng=n_classes)
    return y_true, speak.simulate.sharpen(y_prob, 1.5).astype(dtype)


def rows_on_edges(
    n_classes: int, dtype: str = "float64", n_rows: int = N_ROWS
) -> tuple[np.ndarray, np.ndarray]:
    """Confidences that are tenths or fifteenths, a tenth of them 1, in any class."""
    rng = np.random.default_rng(n_classes)
    parts = np.where(rng.random(n_rows) < 0.5, 10, 15)
    top = np.ceil(rng.uniform(1 / n_classes, 1, n_rows) * parts) / parts
    top[: n_rows // 10] = 1.0
    y_prob = np.repeat(((1 - top) / (n_classes - 1))[:, None], n_classes, axis=1)
    y_prob[np.arange(n_rows), rng.integers(0, n_classes, n_rows)] = top
    y_true = np.where(rng.random(n_rows) < 0.7, y_prob.argmax(axis=1), rng.integers(0, n_classes, n_rows))
    return y_true, y_prob.astype(dtype)


ROWS = {"random": random_rows, "edges": rows_on_edges}
