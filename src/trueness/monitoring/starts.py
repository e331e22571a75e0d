"""From looks to evidence: a mixture over when it began (sections 3 and 6), and e-BH over groups (section 4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from trueness._arrays import FloatArray


def log_sum(values: FloatArray, axis: int = -1) -> FloatArray:
    """ln Σ exp(values), -∞ for a sum of zeros.

    >>> log_sum(np.log([1.0, 2.0, 5.0])).round(6).item() == round(math.log(8), 6)
    True
    """
    most = values.max(axis=axis, keepdims=True)
    safe = np.where(np.isfinite(most), most, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - safe).sum(axis=axis)) + safe.squeeze(axis))


def unspent(t: int) -> float:
    """r_t: the weight of starts after look t, 1/(2√t)."""
    return 1.0 if t == 0 else 0.5 / math.sqrt(t)


def start_weight(t: int) -> float:
    """w_t = r_{t-1} - r_t: the weight of a start at look t, counted from 1."""
    return unspent(t - 1) - unspent(t)


@dataclass(frozen=True, slots=True)
class Onset:
    """When it began, as numbers of looks with rows, counted from 0."""

    began: int
    """The estimate: the start with the largest evidence."""
    since: int | None
    """The latest start from which it is certain that some look was outside the tolerance; None if there is none."""


@dataclass(slots=True)
class Evidence:
    """The evidence of one stream of looks. Looks are added; everything else is computed from them."""

    log_weights: FloatArray
    """ln v_j of the bets, (J,)."""
    counts_runs: bool = False
    """Whether every start has weight 1: a bound on the average number of looks to a false alarm (section 6)."""
    log_bets: list[FloatArray] = field(default_factory=list)
    """ln e_j of each look, (J,) each."""
    path: list[float] = field(default_factory=list)
    """ln E after each look."""
    _log_started: FloatArray | None = None
    """ln A_j, (J,)."""

    @property
    def log_e_value(self) -> float:
        """ln E now."""
        return self.path[-1] if self.path else self._at_start

    @property
    def _at_start(self) -> float:
        return -math.inf if self.counts_runs else 0.0

    @property
    def peak(self) -> float:
        """The largest ln E so far."""
        return max([self._at_start, *self.path])

    def add(self, log_bets: FloatArray) -> None:
        """Count the next look: A_j ← e_j·(A_j + w_t) and E_t = r_t + Σ v_j·A_j (equation 4)."""
        t = len(self.path) + 1
        before = np.full(log_bets.shape, -np.inf) if self._log_started is None else self._log_started
        weight = 0.0 if self.counts_runs else math.log(start_weight(t))
        self._log_started = log_bets + np.logaddexp(before, weight)
        evidence = float(log_sum(self.log_weights + self._log_started))
        self.log_bets.append(log_bets)
        self.path.append(
            evidence if self.counts_runs else float(np.logaddexp(evidence, math.log(unspent(t))))
        )

    def strongest(self, end: int) -> int:
        """The bet with the largest v_j·A_j after the first `end` looks."""
        if end == len(self.path) and self._log_started is not None:
            return int(np.argmax(self.log_weights + self._log_started))
        value = np.full(self.log_weights.shape, -np.inf)
        for t, log_bets in enumerate(self.log_bets[:end], 1):
            value = log_bets + np.logaddexp(value, 0.0 if self.counts_runs else math.log(start_weight(t)))
        return int(np.argmax(self.log_weights + value))

    def onset(self, end: int, log_limit: float) -> Onset:
        """When it began, by the first `end` looks: L_k = ln Σ_j v_j Π_{s=k..t} e_{j,s} (section 6)."""
        since_each = np.cumsum(np.stack(self.log_bets[:end])[::-1], axis=0)[::-1]
        log_l = log_sum(self.log_weights + since_each)
        log_w = np.log([start_weight(k) for k in range(1, end + 1)])
        certain = np.flatnonzero(log_l + log_w >= log_limit)
        known = len(certain) > 0 and not self.counts_runs
        return Onset(int(np.argmax(log_l)), int(certain[-1]) if known else None)


def flagged(log_e_values: Sequence[float], alpha: float) -> list[int]:
    """The groups that e-BH flags: the k* largest, k* = max{k: E_(k) ≥ G/(k·α)}.

    >>> flagged([math.log(e) for e in (120, 30, 3)], 0.05), flagged([math.log(e) for e in (59, 29, 3)], 0.05)
    ([0, 1], [])
    """
    order = sorted(range(len(log_e_values)), key=lambda g: -log_e_values[g])
    n_groups = len(order)
    enough = [
        k for k, g in enumerate(order, 1) if log_e_values[g] >= math.log(n_groups / (k * alpha)) - 1e-12
    ]
    return sorted(order[: max(enough, default=0)])
