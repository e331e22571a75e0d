"""How skewed the log-score of confident predictions is: few misses, each of which costs much.

The sum of log-scores of a thousand rows of probability 0.9999 is not at all normal: a tenth of a miss is expected, and
a single one, which has a chance of .095, is three standard deviations away. The cells of a class above 1/2 hold rows
that predict this class, and show how many misses of which probability are expected. The signed root of the likelihood
ratio of this model is nearly standard normal where the standardised sum is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.old_inference.events.cells import EventCells

_LEAST_CHANCE = 2.0**-60
_SMOOTH = 0.01
"""At least this share of the variance is taken as normal, because the rows of a cell are not alike."""

_HALVINGS = 64


@dataclass(frozen=True, slots=True)
class Misses:
    """Rows whose top probability is above 1/2, in cells of this probability, of all predicted classes, (P,) each."""

    count: FloatArray
    """The rows of each cell."""
    chance: FloatArray
    """The mean probability that the predicted class is not the true one, between 0 and 1/2."""
    owner: IntArray
    """The index of the predicted class of each cell."""
    n_classes: int

    @classmethod
    def of(cls, events: Sequence[EventCells], n_classes: int) -> Misses:
        """Those of the cells of each class, of which 1/2 must be an edge.

        For two classes the cells of class 1 alone are enough: class 0 is its mirror image.
        """
        count = [cells.count for cells in events]
        mean = [cells.mean_predicted for cells in events]
        if n_classes == 2:
            count, mean = [count[-1], count[-1]], [1 - mean[-1], mean[-1]]
        owner = np.repeat(np.arange(len(count)), [len(each) for each in count])
        rows, sure = np.concatenate(count), np.concatenate(mean)
        chosen = (rows > 0) & (sure > 0.5)
        return cls(rows[chosen], 1 - sure[chosen], owner[chosen], n_classes)


def standardised_scores(
    score: FloatArray, variance: FloatArray, misses: Misses, groups: IntArray
) -> FloatArray:
    """The signed roots of the likelihood ratio of sums of log-scores, (K,): nearly standard normal if calibrated.

    `groups` has the place of each class among the K sums, -1 if it has none. A miss costs the log-odds of its cell and
    h more, where h, between 0 and ln(C - 1), is the surprise about which other class it is, chosen such that the
    variance is as given; the variance that is left is that of a normal variable. With ε the chance of a miss and L its
    cost, K(t) = Σ n·[ln(1 - ε + ε·e^(-tL)) + tεL] + t²v/2, and w = sign(t)·√(2(tS - K(t))) at the t with K′(t) = S.

    >>> surely = Misses(np.array([1000.0]), np.array([0.0001]), np.array([0]), 2)
    >>> one_miss = np.array([-0.9 * math.log(9999)])  # where 0.1 are expected
    >>> variance = np.array([1000 * 0.0001 * 0.9999 * math.log(9999) ** 2])
    >>> (one_miss / np.sqrt(variance)).round(2).tolist()
    [-2.85]
    >>> standardised_scores(one_miss, variance, surely, np.array([0])).round(2).tolist()
    [-1.67]
    """
    model = _Model(variance, misses, groups)
    low, high = np.minimum(score / model.rest, 0.0), np.maximum(score / model.rest, 0.0)
    for _ in range(_HALVINGS):
        t = (low + high) / 2
        above = model.slope(t) > score
        low, high = np.where(above, low, t), np.where(above, t, high)
    t = (low + high) / 2
    return np.asarray(np.sign(t) * np.sqrt(2 * np.maximum(t * score - model.cumulant(t), 0.0)))


class _Model:
    """Binomial misses in cells, each with its cost, and a normal rest, for each of the sums."""

    def __init__(self, variance: FloatArray, misses: Misses, groups: IntArray) -> None:
        term = groups[misses.owner]
        used = term >= 0
        self.term, self.count = term[used], misses.count[used]
        self.chance = np.clip(misses.chance[used], _LEAST_CHANCE, 0.5)
        self.size = len(variance)
        odds = np.log1p(-self.chance) - np.log(self.chance)
        weight = self.count * self.chance * (1 - self.chance)
        a, b, c = (self.total(weight * odds**power) for power in range(3))
        root = np.sqrt(np.maximum(b**2 - a * (c - variance), 0.0)) - b  # of a·h² + 2b·h + c = variance
        most = math.log(misses.n_classes - 1)
        h = np.clip(np.divide(root, a, out=np.zeros(self.size), where=a > 0), 0.0, most)
        self.cost = odds + h[self.term]
        self.rest = np.maximum(variance - (a * h**2 + 2 * b * h + c), _SMOOTH * variance)

    def total(self, by_cell: FloatArray) -> FloatArray:
        """Σ over the cells of each sum, (K,)."""
        return np.bincount(self.term, by_cell, self.size).astype(np.float64, copy=False)

    def cumulant(self, t: FloatArray) -> FloatArray:
        """K(t) of each sum, (K,)."""
        x = -t[self.term] * self.cost
        tilted = np.logaddexp(np.log1p(-self.chance), np.log(self.chance) + x) - self.chance * x
        return np.asarray(self.total(self.count * tilted) + t**2 * self.rest / 2)

    def slope(self, t: FloatArray) -> FloatArray:
        """K′(t) of each sum, (K,)."""
        odds = self.chance / (1 - self.chance) * np.exp(np.minimum(-t[self.term] * self.cost, 700.0))
        steps = self.cost * (self.chance - odds / (1 + odds))
        return np.asarray(self.total(self.count * steps) + t * self.rest)
