"""Validated rows as two arrays, since errors over the simplex compare rows with one another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness._arrays import FloatArray
from trueness.rows import Rows, refuse_bad_rows


class SimplexRows(NamedTuple):
    """Labels and predictions as given: rows are not divided by their sums unless `normalize` asks for it."""

    labels: NDArray[np.intp]
    """The true class of each row, (N,)."""
    predictions: FloatArray
    """The probabilities of each row, (N, C)."""

    @classmethod
    def of(cls, y_true: Any, y_prob: Any, *, from_logits: bool, normalize: bool, classes: Any) -> SimplexRows:
        """From what a user passed; the first bad row is refused."""
        rows = Rows.of(y_true, y_prob, from_logits=from_logits, normalize=normalize, classes=classes)
        refuse_bad_rows(rows, 0, rows.n_rows)
        assert rows.labels is not None
        labels = rows.labels.block(0, rows.n_rows)
        predictions = np.empty((rows.n_rows, rows.n_classes))
        for start, stop in rows.spans():
            predictions[start:stop] = rows.block(start, stop)
        return cls(labels, predictions)

    @property
    def residuals(self) -> FloatArray:
        """e_y - p of each row, (N, C)."""
        apart = -self.predictions
        apart[np.arange(len(self.labels)), self.labels] += 1.0
        return apart

    def with_drawn_labels(self, stream: np.random.Generator) -> SimplexRows:
        """The same predictions, with labels drawn from them."""
        upto = np.cumsum(self.predictions, axis=1)
        below = stream.random(len(self.labels))[:, None] * upto[:, -1:] >= upto[:, :-1]
        return SimplexRows(np.count_nonzero(below, axis=1), self.predictions)
