"""What a reliability diagram shows: predicted against observed in each bin, with the noise of a calibrated model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray
from trueness._printing import p_sentence
from trueness.old_inference.binomial import frequency_band
from trueness.old_inference.normal import normal_quantile
from trueness.plots._plotted_bins import PlottedBins, widen_range, zoom_range
from trueness.plots.table_estimates import Drawable
from trueness.refusals import InvalidValueError

METRICS = ("vce", "ece", "uce")


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """Predicted against observed in each bin that holds rows, (F,) each."""

    metric: str
    """"VCE", "ECE" or "UCE"."""
    x_label: str
    y_label: str
    over_confident: str
    """Where an over-confident model lies, "above" or "below" the diagonal (for UCE: the curve)."""
    bins: PlottedBins
    x: FloatArray
    y: FloatArray
    expected: FloatArray
    """The mean of y if the model were calibrated."""
    low: FloatArray
    """Lower end of the band in which y would lie if the model were calibrated."""
    high: FloatArray
    bar_low: FloatArray
    """Lower end of the bar around y: the interval for its value with unlimited data, for each bin alone."""
    bar_high: FloatArray
    view: tuple[float, float]
    """The part of V that both axes show."""
    value: float
    reference: float
    """The mean of the value if the model were calibrated: the noise floor, or for UCE the value that it would have."""
    p_value: float
    level: float

    @property
    def value_text(self) -> str:
        """The plug-in value beside that of a calibrated model."""
        aside = "calibrated" if self.metric == "UCE" else "noise floor"
        return f"{self.metric} plug-in {self.value:.4f} ({aside} {self.reference:.4f})"

    @property
    def test_text(self) -> str:
        """The p-value of the value."""
        p = p_sentence(self.p_value) if self.p_value >= 0.0005 else "p < 0.001"
        return p if self.metric == "UCE" else f"centred {p}"

    @property
    def summary(self) -> str:
        """The value and its p-value in one line."""
        return f"{self.value_text}, {self.test_text}"

    @property
    def rows_label(self) -> str:
        """What the histogram under the diagram shows."""
        return f"rows per {self.bins.measure} bin"


def reliability_of(result: Drawable, metric: str = "vce") -> Reliability:
    """The reliability diagram of VCE, ECE or UCE."""
    require_choice("metric", metric, METRICS)
    return _error_rate(result) if metric == "uce" else _variation(result, metric)


def _variation(result: Drawable, metric: str) -> Reliability:
    """Predicted against observed variation; for ECE confidence against accuracy."""
    of_top = metric == "ece"
    table, estimate = (result.confidence_table, result.ece) if of_top else (result.table, result.vce)
    if table is None or estimate is None:
        raise _missing_table(metric, "confidence")
    bins, measure, noise = PlottedBins.of(table), table.spec.variation, estimate.bins
    at = bins.index
    x, y = table.predicted_variation[at], table.observed_variation[at]
    low, high = widen_range(table.spec.range, x, y)
    reach = normal_quantile(result.level) * noise.sd[at]
    return Reliability(
        metric=metric.upper(),
        x_label="mean confidence" if of_top else f"predicted {bins.measure}",
        y_label="accuracy" if of_top else f"observed {bins.measure}",
        over_confident="above" if measure.grows_with_dispersion else "below",
        bins=bins,
        x=x,
        y=y,
        expected=noise.expected[at],
        low=noise.low[at],
        high=noise.high[at],
        bar_low=np.maximum(y - reach, low),
        bar_high=np.minimum(y + reach, high),
        view=zoom_range((low, high), np.concatenate([x, y, noise.expected[at]])),
        value=estimate.value,
        reference=estimate.noise_floor,
        p_value=estimate.centred_p_value,
        level=result.level,
    )


def _error_rate(result: Drawable) -> Reliability:
    """Error rate against mean entropy; a calibrated model follows the curve 1 - q̄₁, not the diagonal."""
    table, reference = result.table, result.uce
    if reference is None:
        raise _missing_table("uce", "entropy")
    bins = PlottedBins.of(table)
    n = result.vce.bins.independent_rows[bins.index]
    expected = np.clip(1 - table.mean_ordered[bins.index, 0], 0.0, 1.0)
    x, y = table.mean_variation[bins.index], 1 - table.rank_frequency[bins.index, 0]
    low, high = frequency_band(n, expected, result.level)
    # One row at the expected rate is added, so that a bin without errors has a bar too.
    mixed = (n * y + expected) / (n + 1)
    reach = normal_quantile(result.level) * np.sqrt(mixed * (1 - mixed) / n)
    return Reliability(
        metric="UCE",
        x_label="mean entropy",
        y_label="error rate",
        over_confident="above",
        bins=bins,
        x=x,
        y=y,
        expected=expected,
        low=low,
        high=high,
        bar_low=np.maximum(y - reach, 0.0),
        bar_high=np.minimum(y + reach, 1.0),
        view=zoom_range((0.0, 1.0), np.concatenate([x, y, expected])),
        value=reference.value,
        reference=reference.calibrated_value,
        p_value=reference.p_value,
        level=result.level,
    )


def _missing_table(metric: str, measure: str) -> InvalidValueError:
    cause = f"metric={metric!r} needs a table binned by {measure}"
    remedy = f"tabulate with variation={measure!r}"
    return InvalidValueError("missing-table", cause, remedy, argument="metric", value=metric)


def histogram_bars(bins: PlottedBins) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Left edges, widths and heights of the histogram of V over all bins: densities, the tallest 1."""
    span = float(bins.edges[-1] - bins.edges[0])
    width = np.maximum(np.diff(bins.edges), 0.004 * span)  # a bin may hold its lowest value alone
    density = bins.share / width
    return bins.edges[:-1], width, density / density.max()
