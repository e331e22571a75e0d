"""The tests of the kernel calibration error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness._arguments import require_choice, whole_number
from trueness._arrays import FloatArray
from trueness._random import Seed, root_seed
from trueness.old_inference.null import p_value
from trueness.simplex.bandwidth import bandwidth_for
from trueness.simplex.estimators import as_threads, block_values, require_pairs
from trueness.simplex.rows_as_arrays import SimplexRows
from trueness.simplex.tiles import Pairs

METHODS = ("multipliers", "bootstrap", "block")

MOST_ROWS_OF_ALL_PAIRS = 20_000
"""Above, the test of blocks is the default: the others need a product of N² terms with all draws."""


@dataclass(frozen=True, slots=True)
class SkceTest:
    """The kernel calibration error with its p-value."""

    value: float
    """The unbiased estimate, or with the method "block" the mean over blocks; on average 0 if calibrated."""
    biased: float
    """Σ_ij h_ij/N²; NaN with the method "block"."""
    biased_noise_floor: float
    """Σ(1 - ‖p‖²)/N²: the mean of the biased estimate if the model is calibrated. That of `value` is 0."""
    p_value: float
    """The probability of a value at least as large if the model is calibrated."""
    bound_p_value: float
    """A bound of the p-value that rests on no approximation; it practically never rejects."""
    method: str
    bandwidth: float
    resamples: int
    """Draws; 0 with the method "block", whose p-value is by the normal distribution."""
    z: float
    """The standardised mean over blocks; NaN with the other methods."""

    @property
    def noise_floor(self) -> float:
        """The mean of `value` if the model is calibrated: 0, because it is unbiased."""
        return 0.0

    @property
    def words(self) -> str:
        """What the number says, in one sentence."""
        found = "evidence of miscalibration" if self.p_value <= 0.05 else "no evidence of miscalibration"
        return f"{found}: SKCE {self.value:.3g} (0 on average if calibrated), p = {self.p_value:.3g} by {self.method}"


def skce_test(
    y_true: Any,
    y_prob: Any,
    *,
    method: str | None = None,
    block: int = 2,
    bandwidth: float | None = None,
    resamples: int = 199,
    rng: Seed = 0,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_threads: int | None = None,
) -> SkceTest:
    """The kernel calibration error with noise floor and p-value.

    Rows, bandwidth and threads are as in `skce`.

    Parameters
    ----------
    method : None, "multipliers", "bootstrap" or "block"
        "multipliers" compares Σ_{i≠j} h_ij with Σ_{i≠j} ε_i·ε_j·h_ij for random signs ε. "bootstrap" is the published
        bootstrap of the centred kernel: (w - 1)ᵀH(w - 1) - Σ w_i·h_ii for rows drawn w_i times. "block" compares the
        mean over blocks with its standard error, Z = mean/√(S/(b(b - 1))), where S is the sum of squares about the mean
        of b blocks. By default "multipliers" up to 20 000 rows, else "block". All are one-sided.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(300, [1, 1, 1], rng=1)
    >>> skce_test(y_true, y_prob).p_value > 0.05
    True
    """
    n_draws, seed, workers = whole_number("resamples", resamples, 1), root_seed(rng), as_threads(n_threads)
    size = whole_number("block", block, 2)
    if method is not None:
        require_choice("method", method, METHODS)
    rows = SimplexRows.of(y_true, y_prob, from_logits=from_logits, normalize=normalize, classes=classes)
    chosen = method or ("multipliers" if len(rows.labels) <= MOST_ROWS_OF_ALL_PAIRS else "block")
    require_pairs(rows, 2 * size if chosen == "block" else 2)
    gamma = bandwidth_for(rows, bandwidth, seed, workers)
    if chosen == "block":
        return _by_blocks(rows, gamma, size)
    return _by_draws(rows, gamma, chosen, n_draws, seed, n_threads=workers)


def _by_blocks(rows: SimplexRows, bandwidth: float, size: int) -> SkceTest:
    values = block_values(rows, bandwidth, size)
    mean, n = float(values.mean()), len(values)
    error = math.sqrt(float(((values - mean) ** 2).sum()) / (n * (n - 1)))
    z = mean / error if error > 0 else math.nan
    return SkceTest(
        value=mean,
        biased=math.nan,
        biased_noise_floor=biased_noise_floor(rows),
        p_value=math.erfc(z / math.sqrt(2)) / 2,
        bound_p_value=unbiased_bound(mean, len(rows.labels)),
        method="block",
        bandwidth=bandwidth,
        resamples=0,
        z=z,
    )


def _by_draws(
    rows: SimplexRows,
    bandwidth: float,
    method: str,
    n_draws: int,
    seed: int,
    *,
    n_threads: int | None,
) -> SkceTest:
    pairs, n = Pairs.of(rows), len(rows.labels)
    own = pairs.own_terms
    weights = np.column_stack([np.ones(n), _weights(method, n, n_draws, np.random.default_rng([seed, 11]))])
    total, *drawn = pairs.quadratic_forms(weights, bandwidth, n_threads)
    null = np.array(drawn)
    if method == "bootstrap":
        centred = weights[:, 1:]
        null += own @ (centred**2 - (centred + 1))
    unbiased, biased = float(total) / (n * (n - 1)), (float(total) + float(own.sum())) / n**2
    return SkceTest(
        value=unbiased,
        biased=biased,
        biased_noise_floor=biased_noise_floor(rows),
        p_value=p_value(null / (n * (n - 1)), unbiased),
        bound_p_value=min(unbiased_bound(unbiased, n), biased_bound(biased, n)),
        method=method,
        bandwidth=bandwidth,
        resamples=n_draws,
        z=math.nan,
    )


def _weights(method: str, n_rows: int, n_draws: int, stream: np.random.Generator) -> FloatArray:
    """Random signs, or how often each row was drawn less 1, (N, R)."""
    if method == "multipliers":
        return np.asarray(stream.integers(0, 2, (n_rows, n_draws)) * 2.0 - 1.0, np.float64)
    times = stream.multinomial(n_rows, np.full(n_rows, 1 / n_rows), n_draws).T
    return np.asarray(times - 1.0)


def biased_noise_floor(rows: SimplexRows) -> float:
    """Σ(1 - ‖p‖²)/N²: the mean of the biased estimate if the model is calibrated."""
    return float((1 - (rows.predictions**2).sum(axis=1)).sum()) / len(rows.labels) ** 2


def biased_bound(value: float, n_rows: int) -> float:
    """exp(-max(0, √(N·SKCE_b/2) - 1)²/2): at least the p-value of the biased estimate (Widmann et al. 2019)."""
    return math.exp(-(max(0.0, math.sqrt(n_rows * max(value, 0.0) / 2) - 1) ** 2) / 2)


def unbiased_bound(value: float, n_rows: int) -> float:
    """exp(-⌊N/2⌋·SKCE²/8): at least the p-value of an unbiased estimate above 0 (Widmann et al. 2019)."""
    return math.exp(-(n_rows // 2) * value**2 / 8)
