"""The expected value of each metric on calibrated rows, by the theorems of docs/background/theory.md.

For many rows a metric has mean floor + a/√N and standard deviation b/√N. The constants follow from Theorem 4, given the
mass of each bin, the mean ordered row in it and the mean covariance diag q - qqᵀ of the rank of the true class. Those
are means over the Dirichlet distribution, estimated from seeded rows: four million up to 16 classes (an error of about
2e-4 in a and b), fewer beyond.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueness._arrays import FloatArray
from trueness._threads import in_threads
from trueness.old_table import TableSpec
from trueness.reproduction.cells import BINNINGS, fit_pilots, ordered_predictions, table_specs
from trueness.reproduction.scenarios import PAPER_SCENARIOS, Scenario
from trueness.rows import sum_tolerance
from trueness.simulate import calibrated_streams
from trueness.variation import Variation, as_variation, variations

POPULATION_VALUES, MOST_POPULATION_ROWS = 2**26, 2**22
POPULATION_SEED = 2602_12975
"""Differs from the seeds of all cells, so that expectation and observation are independent."""

FOLDED_MEAN = math.sqrt(2 / math.pi)
"""E|Z| of a standard normal Z."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A metric's mean, floor + a/√N, and its standard deviation, b/√N."""

    floor: float
    a: float
    b: float
    curvature: float = 0.0
    """Largest error of the mean of N·VCE due to the curvature of 𝒱."""

    def expected(self, n_rows: int) -> float:
        """The mean of the metric over data sets of this size."""
        return self.floor + self.a / math.sqrt(n_rows)

    def spread(self, n_rows: int) -> float:
        """The standard deviation of the metric of one data set."""
        return self.b / math.sqrt(n_rows)

    def second_order(self, n_rows: int) -> float:
        """Allowed error of the mean at finite size: 1.5 % of a/√N at 1e4 rows, decreasing as 1/N.

        This was measured for the paper's scenarios. With more classes the curvature of 𝒱 may have a larger effect.
        """
        return max(1.5 * self.a, self.curvature) / n_rows


Limits = dict[tuple[str, str], Limit]
"""By binning and metric."""


@dataclass(frozen=True, slots=True, eq=False)
class BinMoments:
    """Means over the rows of each bin; an empty bin has weight 0 and zeros."""

    weight: FloatArray
    """π_m, (M,)."""
    ordered: FloatArray
    """E[q | B_m], (M, C)."""
    covariance: FloatArray
    """E[diag q - qqᵀ | B_m], (M, C, C)."""
    gap: FloatArray
    """E[(H + q₁ - 1) 1_{B_m}], (M,): the contribution of a bin to UCE, with opposite sign."""
    square: float
    """E[(H + r₁ - 1)²], with r₁ = 1 if the true class has rank 1."""


def uce_floor(scenario: Scenario) -> float:
    """|E[H] + E[max p] - 1|: the limit of UCE on calibrated rows if the gaps of all bins have the same sign."""
    return abs(mean_gap(scenario))


def mean_gap(scenario: Scenario) -> float:
    """E[H] + E[max p] - 1 with its sign: the mean entropy minus the mean error rate of calibrated rows."""
    from trueness.reproduction.dirichlet import mean_entropy, mean_largest

    return mean_entropy(scenario.alpha) + mean_largest(scenario.alpha) - 1


_PUBLISHED = (
    # UCE's b, and a, b of VCE and ECE in bins of equal width, then in bins of equal frequency
    (0.4718, (1.1584, 0.3094), (1.0728, 0.2812), (1.2338, 0.3115), (1.1693, 0.2812)),
    (0.3706, (1.5772, 0.4262), (0.7715, 0.2159), (1.7756, 0.4262), (0.8743, 0.2159)),
    (0.4502, (0.4815, 0.1874), (0.7636, 0.2701), (0.7733, 0.1877), (1.1279, 0.2701)),
    (0.4884, (0.8458, 0.2851), (0.9373, 0.2935), (1.1845, 0.2853), (1.2278, 0.2935)),
)


def published_limits(scenario: Scenario) -> Limits | None:
    """The known limits of VCE, ECE and UCE in one of the paper's scenarios; None for others.

    `bin_moments` and the formulas below give the same values; a test compares them.
    """
    if scenario not in PAPER_SCENARIOS:
        return None
    uce_b, *pairs = _PUBLISHED[PAPER_SCENARIOS.index(scenario)]
    floor = Limit(uce_floor(scenario), 0.0, uce_b)
    names = [(binning, metric) for binning in BINNINGS for metric in ("vce", "ece")]
    limits = {name: Limit(0.0, *pair) for name, pair in zip(names, pairs, strict=True)}
    return limits | {(binning, "uce"): floor for binning in BINNINGS}


def variation_limit(moments: BinMoments, variation: Variation) -> Limit:
    """Mean and standard deviation of the limit of √N·VCE, Σ_m s_m |Z_m| with the s_m of `limit_terms`.

    E 𝒱(r̄) is less than 𝒱(q̄) by about ½ tr(-∇²𝒱 Σ_m)/n_m, which bounds the change of E|𝒱(r̄) - 𝒱(q̄)|.
    """
    terms, filled = limit_terms(moments, variation), moments.weight > 0
    curvature = _CURVATURES.get(variation, np.zeros_like)
    spread = np.diagonal(moments.covariance[filled], axis1=1, axis2=2)
    return Limit(
        0.0,
        FOLDED_MEAN * float(terms.sum()),
        math.sqrt((1 - FOLDED_MEAN**2) * float(terms @ terms)),
        float(np.sum(spread * curvature(moments.ordered[filled]))) / 2,
    )


_CURVATURES: Mapping[Variation, Callable[[FloatArray], FloatArray]] = {
    variations["entropy"]: lambda x: np.asarray(1 / (np.maximum(x, 1e-300) * math.log(x.shape[1]))),
    variations["iqv"]: lambda x: np.full(x.shape, 2 * x.shape[1] / (x.shape[1] - 1)),
}
"""-∂²V/∂x² for each entry of x, (M, C); 0 for the other measures of the reproduction, as are mixed derivatives."""


def limit_terms(moments: BinMoments, variation: Variation) -> FloatArray:
    """Theorem 4: √N·VCE ⇒ Σ_m √π_m σ_m |Z_m| with σ_m² = ∇Vᵀ E[diag q - qqᵀ | B_m] ∇V. Here √π_m σ_m, (M,).

    The Z_m are independent standard normals. Empty bins contribute nothing.
    """
    filled = moments.weight > 0
    slopes = gradient(variation, moments.ordered[filled])
    variance = np.einsum("mi,mij,mj->m", slopes, moments.covariance[filled], slopes)
    return np.asarray(np.sqrt(moments.weight[filled] * np.maximum(variance, 0.0)))


def gradient(variation: Variation, x: FloatArray) -> FloatArray:
    """∇V at each row of x, (M, C), by central differences, up to a multiple of (1, …, 1), which has no effect.

    The step is relative to the entry, because entropy is steep at rare ranks. The slope of very rare ranks has a large
    rounding error, but Theorem 4 weights it by their probability.
    """
    steps = 1e-5 * np.maximum(x, 1e-12)[:, :, None] * np.eye(x.shape[1])
    rise = variation.of(x[:, None] + steps) - variation.of(x[:, None] - steps)
    return np.asarray(rise / (2 * steps.sum(axis=2)))


def ranked_limit(moments: BinMoments, distance: str) -> Limit:
    """√N·RCE ⇒ Σ_m √π_m ‖A G_m‖₁ with G_m ~ N(0, E[diag q - qqᵀ | B_m]): A = ½ for "tv"; sums up to rank k for "w1".

    E|X||Y| = (2/π)·σ_X σ_Y·(√(1 - ρ²) + ρ·asin ρ) for normal X and Y with correlation ρ, hence the spread.
    """
    n_classes = moments.ordered.shape[1]
    matrix = np.eye(n_classes) / 2 if distance == "tv" else np.tri(n_classes)[:-1] / (n_classes - 1)
    covariance = matrix @ moments.covariance @ matrix.T
    sigma = np.sqrt(np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0))
    scale = sigma[:, :, None] * sigma[:, None, :]
    rho = np.clip(np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0), -1.0, 1.0)
    products = FOLDED_MEAN**2 * scale * (np.sqrt(1 - rho**2) + rho * np.arcsin(rho) - 1)
    a = FOLDED_MEAN * float(np.sqrt(moments.weight) @ sigma.sum(axis=1))
    return Limit(0.0, a, math.sqrt(float(moments.weight @ products.sum(axis=(1, 2)))))


def uncertainty_limit(moments: BinMoments, scenario: Scenario) -> Limit:
    """UCE tends to Σ_m |E[(H + q₁ - 1) 1_{B_m}]|: the closed form plus twice the sum over bins of the other sign.

    With bins of both signs the limit also depends on their edges, whose noise the spread does not include.
    """
    whole = mean_gap(scenario)
    against = float(np.sum(np.maximum(-math.copysign(1.0, whole) * moments.gap, 0.0)))
    floor = abs(whole) + 2 * against
    mean = float(np.sum(np.abs(moments.gap)))
    return Limit(floor, 0.0, math.sqrt(moments.square - mean**2))


def bin_moments(
    scenario: Scenario,
    measures: Sequence[str],
    n_threads: int,
    n_rows: int | None = None,
    seed: int = POPULATION_SEED,
) -> dict[tuple[str, str], BinMoments]:
    """The moments of the bins of each measure and binning, over `n_rows` rows of the scenario.

    The default number of rows takes less than a minute for any number of classes. The sums of the streams are added in
    a fixed order, so that the number of threads does not matter.
    """
    if n_rows is None:
        n_rows = min(MOST_POPULATION_ROWS, POPULATION_VALUES // scenario.n_classes)
    streams = calibrated_streams(n_rows, scenario.alpha, seed)
    (pilot,) = fit_pilots([streams], measures, "portable", n_threads)
    specs = table_specs(measures, scenario.n_classes, pilot.fitted)

    def add_up(spans: Iterable[tuple[int, int]]) -> list[tuple[int, list[_Moments]]]:
        return [(number, _moment_sums(pilot.predictions(number), specs)) for _, number in spans]

    shares = in_threads(add_up, [(0, number) for number in range(len(streams))], n_threads)
    by_stream = [
        sums for _, sums in sorted((part for share in shares for part in share), key=lambda part: part[0])
    ]
    names = [(measure, binning) for measure in measures for binning in BINNINGS]
    return {name: _means(parts) for name, parts in zip(names, zip(*by_stream, strict=True), strict=True)}


_Moments = tuple[Any, ...]
"""Sums over the rows of one stream, in the order of the fields of `BinMoments`."""


def _moment_sums(y_prob: FloatArray, specs: Sequence[TableSpec]) -> list[_Moments]:
    """For each spec: rows, Σq, Σ(diag q - qqᵀ) and Σ(H + q₁ - 1) of each bin, and Σ E[(H + r₁ - 1)²] over all."""
    q = ordered_predictions(y_prob)
    entropy, top = _entropy(q), q[:, 0]
    square = float(np.sum((entropy - 1) ** 2 + (2 * entropy - 1) * top))  # E[r₁²] = E[r₁] = q₁
    sums = []
    for spec in specs:
        value = spec.variation.of_rows(q, sum_tolerance(q.shape[-1], 0.0))
        index = spec.bins.index(value, spec.thresholds(np.finfo(np.float64).eps))
        of_bin = [q[index == m] for m in range(spec.bins.n_bins)]
        ordered = np.array([rows.sum(axis=0) for rows in of_bin])
        squares = np.array([rows.T @ rows for rows in of_bin])
        covariance = ordered[:, :, None] * np.eye(spec.n_cells) - squares
        gap = np.bincount(index, entropy + top - 1, minlength=spec.bins.n_bins)
        sums.append((np.array([len(rows) for rows in of_bin]), ordered, covariance, gap, square))
    return sums


def _entropy(q: FloatArray) -> FloatArray:
    return as_variation("entropy").of_rows(q, sum_tolerance(q.shape[-1], 0.0))


def _means(parts: Sequence[_Moments]) -> BinMoments:
    """The means of `BinMoments` from the sums of all streams."""
    rows, ordered, covariance, gap, square = (sum(field[1:], field[0]) for field in zip(*parts, strict=True))
    n_rows, filled = rows.sum(), np.maximum(rows, 1)
    return BinMoments(
        weight=rows / n_rows,
        ordered=ordered / filled[:, None],
        covariance=covariance / filled[:, None, None],
        gap=gap / n_rows,
        square=square / n_rows,
    )
