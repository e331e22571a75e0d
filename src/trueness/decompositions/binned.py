"""Scores split by bins: the Brier score, the calibration part of the log score; the Brier test."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness._arguments import whole_number
from trueness._arrays import FloatArray
from trueness._random import Seed, root_seed
from trueness.bins import Bins, as_bins
from trueness.decompositions.frequencies import Frequencies, Totals
from trueness.old_inference.null import p_value
from trueness.old_inference.results import ZTest
from trueness.old_table import CalibrationTable, EventSpec, EventTable, TableSpec, require_table
from trueness.rows import Rows, refuse_bad_rows
from trueness.tabulation import edges_for, tabulate_rows
from trueness.variation import ENTROPY

_CERTAIN = "every prediction is certain or uniform, so the Brier score cannot vary"


@dataclass(frozen=True, slots=True)
class BrierDecomposition:
    """score = reliability - resolution + uncertainty + within_variance - within_covariance, exactly.

    Reference: Stephenson, Coelho and Jolliffe (2008), Two extra components in the Brier score decomposition.
    """

    score: float
    """The Brier score: summed over classes, or (p - y)² for an event."""
    reliability: float
    """REL = Σ w·‖q̄ - r̄‖²: 0 if every bin is calibrated; above 0 by noise."""
    resolution: float
    """RES = Σ w·‖r̄ - r̄_all‖²: how much the outcomes differ between bins."""
    uncertainty: float
    """UNC = 1 - ‖r̄_all‖²: the score of the mean outcome as the prediction of every row."""
    within_variance: float
    """WBV: how much predictions differ within bins."""
    within_covariance: float
    """WBC: how much these differences agree with the outcomes."""
    corrected_reliability: float
    """REL without the part that noise adds on average; may be negative (Ferro and Fricker 2012)."""
    corrected_resolution: float
    """RES corrected likewise; may be negative."""
    corrected_uncertainty: float
    """UNC corrected likewise."""
    noise_floor: float
    """The mean reliability of a calibrated model: Σ w·(1 - ‖q̄‖²)/n."""
    p_value: float
    """The probability of a reliability at least as large if the model is calibrated, by draws."""
    resamples: int

    @property
    def total(self) -> float:
        """The sum of the five parts, which is the score up to rounding."""
        outer = self.reliability - self.resolution + self.uncertainty
        return outer + self.within_variance - self.within_covariance

    @property
    def words(self) -> str:
        """What the numbers say, in one sentence."""
        return (
            f"of the Brier score {self.score:.4f}, {self.reliability:.4f} is miscalibration between bins "
            f"({self.noise_floor:.4f} if calibrated, p = {self.p_value:.3g}); "
            f"corrected {self.corrected_reliability:+.4f}"
        )


@dataclass(frozen=True, slots=True)
class LogReliability:
    """The calibration part of the log score over the bins of a table. The rest of the score is not split."""

    value: float
    """REL = Σ w·KL(r̄ ‖ q̄), in nats; infinite if a rank was observed that was predicted with probability 0."""
    likelihood_ratio: float
    """G = 2·Σ n·KL(r̄ ‖ q̄): twice the gain in log-likelihood if the bins were recalibrated."""
    noise_floor: float
    """The mean value of a calibrated model, by draws."""
    p_value: float
    """The probability of a value at least as large if the model is calibrated, by draws."""
    resamples: int

    @property
    def words(self) -> str:
        """What the number says, in one sentence."""
        return (
            f"{self.value:.4f} nats of the log score are miscalibration between bins "
            f"({self.noise_floor:.4f} if calibrated, p = {self.p_value:.3g})"
        )


def brier_test(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
) -> ZTest:
    """Z = Σw(p_y - ‖p‖²)/√Σw²(Σ_c p_c³ - ‖p‖⁴): Spiegelhalter's test for any number of classes.

    Standard normal if the model is calibrated, below 0 if it is over-confident. For two classes it
    is Spiegelhalter's Z with the opposite sign. Unlike the log-score it is finite for every row,
    and weaker where the lower ranks are wrong. Rows are as in `tabulate`.

    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(5000, [1, 1, 1], rng=0)
    >>> test = brier_test(y_true, tn.simulate.sharpen(y_prob, 1.3))
    >>> test.value < -4, test.p_value < 1e-4
    (True, True)
    """
    rows = Rows.of(
        y_true, y_prob, sample_weight, from_logits=from_logits, normalize=normalize, classes=classes
    )
    refuse_bad_rows(rows, 0, rows.n_rows)
    assert rows.labels is not None
    weight = np.ones(rows.n_rows) if rows.sample_weight is None else rows.sample_weight
    residual, variance = 0.0, 0.0
    for start, stop in rows.spans():
        w, p = weight[start:stop], rows.block(start, stop).astype(np.float64)
        norm, of_true = (p**2).sum(axis=1), p[np.arange(len(p)), rows.labels.block(start, stop)]
        residual += float(w @ (of_true - norm))
        variance += float(w**2 @ ((p**3).sum(axis=1) - norm**2))
    if variance <= 1e-14 * float(weight @ weight):
        return ZTest(math.nan, math.nan, _CERTAIN)
    z = residual / math.sqrt(variance)
    return ZTest(z, math.erfc(abs(z) / math.sqrt(2)))


def brier_decomposition(
    y_true: Any,
    y_prob: Any,
    bins: int | Bins = 10,
    *,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    resamples: int = 999,
    rng: Seed = 0,
) -> BrierDecomposition:
    """The Brier score split over bins into reliability, resolution, uncertainty and two parts within bins.

    Rows are as in `tabulate`. Bins are those of entropy, and ranks take the place of classes: the
    Brier score does not depend on their order. If `y_prob` has one dimension, it is the probability
    of an event, and bins are those of this probability, as in `event_calibration_error`.

    References
    ----------
    Murphy (1973); Stephenson et al. (2008); Ferro and Fricker (2012), A bias-corrected decomposition of the Brier
    score.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> parts = brier_decomposition(y_true, y_prob)
    >>> round(parts.total - tn.tabulate(y_true, y_prob).brier_score, 12), parts.p_value > 0.05
    (0.0, True)
    """
    rows = Rows.of(
        y_true, y_prob, sample_weight, from_logits=from_logits, normalize=normalize, classes=classes
    )
    weighted = sample_weight is not None
    if len(rows.y_prob.shape) == 1:
        (events,) = tabulate_rows(rows, [EventSpec.by_class(2, weighted=weighted)])
        assert isinstance(events, EventTable)
        binned, totals = Frequencies.of_event(events, bins), Totals.of_event(events)
    else:
        edges = edges_for(rows, ENTROPY, as_bins(bins), "auto", None)
        spec = TableSpec(rows.n_classes, ENTROPY, edges, weighted=weighted)
        (table,) = tabulate_rows(rows, [spec])
        binned, totals = Frequencies.of_table(table), Totals.of_table(table)
    n_draws, seed = whole_number("resamples", resamples, 1), root_seed(rng)
    weight, scale = binned.weight, binned.scale
    unc = scale * (1 - _square(binned.mean_observed))
    null = np.concatenate(
        [scale * ((r - binned.predicted) ** 2).sum(axis=2) @ weight for r in binned.draws(seed, n_draws)]
    )
    rel = scale * float(_distances(binned) @ weight)
    kept = binned.with_neighbours()
    bias = scale * float(kept.weight @ ((1 - _square(kept.observed)) / (kept.count - 1)))
    n = float(binned.count.sum())
    return BrierDecomposition(
        score=scale * (1 - 2 * totals.true_probability + totals.square),
        reliability=rel,
        resolution=_resolution(binned),
        uncertainty=float(unc),
        within_variance=scale * (totals.square - float(weight @ _square(binned.predicted))),
        within_covariance=2 * scale * (totals.true_probability - float(weight @ _inner(binned))),
        corrected_reliability=scale * float(_distances(kept) @ kept.weight) - bias,
        corrected_resolution=_resolution(kept) - bias + float(unc) / (n - 1),
        corrected_uncertainty=float(unc) * n / (n - 1),
        noise_floor=scale * float(weight @ ((1 - _square(binned.predicted)) / binned.count)),
        p_value=p_value(null, rel),
        resamples=n_draws,
    )


def log_reliability(
    table: CalibrationTable | EventTable, bins: int | Bins = 10, *, resamples: int = 999, rng: Seed = 0
) -> LogReliability:
    """Σ w·KL(r̄ ‖ q̄) over the bins of a table by variation, or over bins of the probability of an event.

    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> log_reliability(tn.tabulate(y_true, y_prob)).p_value > 0.05
    True
    """
    if isinstance(table, EventTable):
        binned = Frequencies.of_event(table, bins)
    else:
        require_table("table", table)
        binned = Frequencies.of_table(table)
    n_draws, seed = whole_number("resamples", resamples, 1), root_seed(rng)
    parts = [_divergence(r, binned.predicted) @ binned.weight for r in binned.draws(seed, n_draws)]
    null, of_bins = np.concatenate(parts), _divergence(binned.observed, binned.predicted)
    value = float(of_bins @ binned.weight)
    ratio = 2 * float(of_bins @ binned.count)
    return LogReliability(value, ratio, float(null.mean()), p_value(null, value), n_draws)


def _square(vectors: FloatArray) -> FloatArray:
    """‖·‖² over the last axis."""
    return np.asarray((vectors**2).sum(axis=-1))


def _inner(binned: Frequencies) -> FloatArray:
    """q̄·r̄ of each bin."""
    return np.asarray((binned.predicted * binned.observed).sum(axis=1))


def _distances(binned: Frequencies) -> FloatArray:
    """‖q̄ - r̄‖² of each bin."""
    return _square(binned.predicted - binned.observed)


def _resolution(binned: Frequencies) -> float:
    return binned.scale * float(binned.weight @ _square(binned.observed - binned.mean_observed))


def _divergence(r: FloatArray, q: FloatArray) -> FloatArray:
    """KL(r ‖ q) = Σ_c r_c·ln(r_c/q_c) over the last axis; 0·ln 0 is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(r > 0, r * np.log(r / q), 0.0)
    return np.asarray(terms.sum(axis=-1))
