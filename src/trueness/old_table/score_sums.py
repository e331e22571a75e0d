"""Sums of a score, as tables give them."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

from trueness._arrays import FloatArray


class ScoreSums(NamedTuple):
    """Sums of a score that has mean zero if the model is calibrated: of each bin, or of each predicted class."""

    rows: NDArray[Any]
    """The number of rows; of bins, the sum of their weights."""
    score: FloatArray
    variance: FloatArray
    """The variance of `score` if the model is calibrated and rows have no weights."""
