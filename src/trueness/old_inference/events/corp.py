"""CORP: the score of an event split by isotonic regression into miscalibration, discrimination and uncertainty.

No bins are chosen. Reference: Dimitriadis, Gneiting and Jordan (2021), Stable reliability diagrams for probabilistic
classifiers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.draws import by_draws
from trueness.old_inference.events.event_statistics import EventTotals
from trueness.old_inference.events.in_the_large import NO_ROWS
from trueness.old_inference.events.isotonic import isotonic_frequencies
from trueness.old_inference.null import p_value

Score: TypeAlias = Literal["brier", "log"]

_LEAST_RISE = 1e-15


@dataclass(frozen=True, slots=True, eq=False)
class CorpDecomposition:
    """score = miscalibration - discrimination + uncertainty, in the units of the score."""

    score_name: Score
    score: float
    """S(p): the mean score of the predictions, lower is better."""
    miscalibration: float
    """MCB = S(p) - S(m): what recalibration by the isotonic curve m would gain. Above 0 if calibrated too."""
    discrimination: float
    """DSC = S(ȳ) - S(m), at least 0: what the recalibrated predictions gain over the mean frequency."""
    uncertainty: float
    """UNC = S(ȳ): the score of the mean frequency as the prediction of every row."""
    noise_floor: float
    """The mean miscalibration of a calibrated event with the same predictions."""
    p_value: float
    """The probability of a miscalibration at least as large if the event is calibrated, by draws."""
    predicted: FloatArray
    """p̄ of each cell, (F,)."""
    curve: FloatArray
    """m at each cell: the isotonic calibration curve, (F,)."""
    low: FloatArray
    """The lower end of the consistency band: where the curve of a calibrated event lies, (F,)."""
    high: FloatArray
    """The upper end of the band, (F,)."""
    level: float
    resamples: int
    reason: str | None = None
    """Why there is no value, or why it is infinite."""

    @property
    def words(self) -> str:
        """What the numbers say, in one sentence."""
        if math.isnan(self.miscalibration):
            return f"no decomposition: {self.reason}"
        return (
            f"of the {self.score_name} score {self.score:.4f}, {self.miscalibration:.4f} is miscalibration "
            f"({self.noise_floor:.4f} if calibrated, p = {self.p_value:.3g}); "
            f"discrimination {self.discrimination:.4f}, uncertainty {self.uncertainty:.4f}"
        )


def corp_decomposition(
    cells: EventCells, totals: EventTotals, score: Score, *, level: float, seed: list[int], resamples: int
) -> CorpDecomposition:
    """The decomposition of one event; the curve is fitted anew to each draw of a calibrated event."""
    if not len(cells.count):
        return _undefined(score, level)
    share, observed, p = cells.count / cells.total, cells.mean_observed, cells.mean_predicted
    curve = isotonic_frequencies(cells.count, observed[None])[0]
    of_curve, of_cells = (float(mean_score(observed, m, share, score)) for m in (curve, p))
    frequency = np.full(len(share), float(share @ observed))
    of_mean = float(mean_score(observed, frequency, share, score))
    given = _score_of_rows(totals, score)
    outcomes = by_draws(cells, seed, resamples, lambda y: y)
    drawn = isotonic_frequencies(cells.count, outcomes)
    null = mean_score(outcomes, p, share, score) - mean_score(outcomes, drawn, share, score)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return CorpDecomposition(
        score_name=score,
        score=given,
        miscalibration=max(given - of_curve, 0.0),
        discrimination=max(of_mean - of_curve, 0.0),
        uncertainty=of_mean,
        noise_floor=float(null.mean()),
        p_value=0.0 if math.isinf(given) else p_value(null, of_cells - of_curve),
        predicted=p,
        curve=curve,
        low=low,
        high=high,
        level=level,
        resamples=resamples,
        reason=_reason(totals) if math.isinf(given) else None,
    )


def mean_score(observed: FloatArray, p: FloatArray, share: FloatArray, score: Score) -> FloatArray:
    """S of predictions p for cells of observed frequency ȳ: Σ w·[(p - ȳ)² + ȳ(1 - ȳ)], or -Σ w·[ȳ ln p + …]."""
    if score == "brier":
        return np.asarray((p**2 - 2 * p * observed + observed) @ share)
    return np.asarray(-(_x_log(observed, p) + _x_log(1 - observed, 1 - p)) @ share)


def _x_log(x: FloatArray, p: FloatArray) -> FloatArray:
    """x·ln p, 0 where x is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(x > _LEAST_RISE, x * np.log(p), 0.0)


def _score_of_rows(totals: EventTotals, score: Score) -> float:
    """S(p) from the sums over rows, which is exact; infinite for the log score if a row was impossible."""
    if score == "brier":
        return max(float(totals.square - 2 * totals.product + totals.observed) / totals.count, 0.0)
    return math.inf if totals.impossible_rows else -totals.log_likelihood / totals.count


def _reason(totals: EventTotals) -> str:
    return f"infinite: the outcome of {totals.impossible_rows:g} rows had probability 0"


def _undefined(score: Score, level: float) -> CorpDecomposition:
    nan, none = math.nan, np.empty(0)
    return CorpDecomposition(score, nan, nan, nan, nan, nan, nan, none, none, none, none, level, 0, NO_ROWS)
