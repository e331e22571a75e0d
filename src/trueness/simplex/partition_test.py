"""The test of `simplex_ece`, by labels drawn from the predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness._arguments import whole_number
from trueness._random import Seed, root_seed
from trueness.old_inference.null import p_value
from trueness.simplex.partitions import partition_error, partition_for
from trueness.simplex.rows_as_arrays import SimplexRows


@dataclass(frozen=True, slots=True)
class SimplexEceTest:
    """The error over cells of the simplex, and what a calibrated model would have."""

    value: float
    """`simplex_ece`."""
    noise_floor: float
    """The mean value of a calibrated model with such predictions and as many rows."""
    p_value: float
    """The probability of a value at least as large if the model is calibrated: (k + 1)/(R + 1) of R draws."""
    n_cells: int
    """Cells that hold rows."""
    n_rows: int
    resamples: int

    @property
    def words(self) -> str:
        """What the number says, in one sentence."""
        part = f"{self.value:.4f}, where a calibrated model would have {self.noise_floor:.4f}, p = {self.p_value:.3g}"
        alone = self.n_rows / self.n_cells
        if alone >= 2:
            return part
        return f"{part}; {alone:.2f} rows a cell, so the value is nearly the mean of 1 - p of the true class"


def simplex_ece_test(
    y_true: Any,
    y_prob: Any,
    bins: int = 10,
    *,
    splits: str | None = None,
    least: int = 100,
    resamples: int = 199,
    rng: Seed = 0,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
) -> SimplexEceTest:
    """`simplex_ece` with its noise floor and p-value, by labels drawn from the predictions.

    The predictions, and so the cells, are the same in each draw. Consistency resampling also draws the rows, with
    replacement: equal rows then share a cell, and where cells hold one or two rows, calibrated models are rejected.

    References
    ----------
    Bröcker and Smith (2007), Increasing the reliability of reliability diagrams; Vaicenavicius et al. (2019).

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(500, [1, 1, 1], rng=0)
    >>> test = simplex_ece_test(y_true, y_prob, bins=4)
    >>> test.p_value > 0.05, abs(test.value - test.noise_floor) < 0.05
    (True, True)
    """
    partition = partition_for(bins, splits, least)
    n_draws, seed = whole_number("resamples", resamples, 1), root_seed(rng)
    rows = SimplexRows.of(y_true, y_prob, from_logits=from_logits, normalize=normalize, classes=classes)
    streams = (np.random.default_rng([seed, draw]) for draw in range(n_draws))
    null = np.array([partition_error(rows.with_drawn_labels(stream), partition) for stream in streams])
    value = partition_error(rows, partition)
    n_cells = int(partition(rows.predictions).max()) + 1
    return SimplexEceTest(value, float(null.mean()), p_value(null, value), n_cells, len(rows.labels), n_draws)
