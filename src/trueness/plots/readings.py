"""The numbers of each picture, computed before it is drawn: matplotlib, the report and the terminal share them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trueness._arguments import require_choice, whole_number
from trueness._arrays import FloatArray, IntArray
from trueness._printing import p_is
from trueness._random import Seed, root_seed
from trueness.inference.binomial import frequency_band
from trueness.inference.estimates import (
    Estimate,
    Evidence,
    Reference,
    net_gap,
    uncertainty_reference,
    variation_error,
)
from trueness.inference.normal import normal_quantile
from trueness.table.calibration_table import FEW_ROWS, CalibrationTable

METRICS = ("vce", "ece", "uce")


class Judged(Protocol):
    """What is read of an `Assessment`."""

    @property
    def vce(self) -> Estimate:
        """By the measure of the table."""

    @property
    def net(self) -> Estimate:
        """The signed gap."""

    @property
    def ece(self) -> Estimate | None:
        """Of the top label, if known."""

    @property
    def uce(self) -> Reference | None:
        """Beside its calibrated value, if binned by entropy."""

    @property
    def table(self) -> CalibrationTable:
        """By the measure."""

    @property
    def confidence_table(self) -> CalibrationTable | None:
        """Of the same rows, by confidence."""

    @property
    def level(self) -> float:
        """Of bands and intervals."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What of an `Assessment` the pictures need, from a table alone: the same numbers for the same seed."""

    vce: Estimate
    net: Estimate
    ece: Estimate | None
    uce: Reference | None
    table: CalibrationTable
    confidence_table: CalibrationTable | None
    level: float

    @classmethod
    def of(cls, table: Any, *, level: float = 0.95, resamples: int = 999, rng: Seed = 0) -> Judgement:
        """Of the rows of a table, independent of one another."""
        if not isinstance(table, CalibrationTable):
            raise TypeError(
                f"table must be a CalibrationTable, such as tabulate returns, got {type(table).__name__}"
            )
        if isinstance(level, bool) or not isinstance(level, (int, float)) or not 0.5 <= level < 1:
            raise ValueError(f"level must be a number from 0.5 to below 1, such as 0.95, got {level!r}")
        resamples, seed = whole_number("resamples", resamples, 1, 10**7), root_seed(rng)
        evidence = Evidence.of(table, resamples, [seed, 0])
        vce = variation_error(evidence, level, [seed, 3])
        return cls(
            vce=vce,
            net=net_gap(evidence, level),
            ece=vce if table.spec.is_by_confidence else None,
            uce=uncertainty_reference(evidence, table) if table.spec.is_by_entropy else None,
            table=table,
            confidence_table=table if table.spec.is_by_confidence else None,
            level=level,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Reliability:
    """Predicted against observed in each bin that holds rows, (F,) each."""

    metric: str
    """"VCE", "ECE" or "UCE"."""
    x_label: str
    y_label: str
    bins: IntArray
    """Numbers of the bins, from 1."""
    rows: FloatArray
    """Rows of each, or the sum of their weights."""
    x: FloatArray
    y: FloatArray
    expected: FloatArray
    """The mean of y if the model were calibrated."""
    low: FloatArray
    """Of the band in which y would lie if the model were calibrated."""
    high: FloatArray
    bar_low: FloatArray
    """Of the bar around y: where its long-run value may be, one bin by itself."""
    bar_high: FloatArray
    small: NDArray[np.bool_]
    """Bins of too few rows to say much."""
    edges: FloatArray
    """Of all bins, (M + 1,)."""
    share: FloatArray
    """Of the rows, in all bins, (M,)."""
    range: tuple[float, float]
    """Of both axes."""
    value: float
    reference: float
    """Its mean if the model were calibrated: the noise floor, or for UCE the value that it would have."""
    p_value: float
    level: float

    @property
    def view(self) -> tuple[float, float]:
        """What both axes show."""
        return _part_of(self.range, np.concatenate([self.x, self.y, self.expected]))

    @property
    def summary(self) -> str:
        """The number with what noise alone would give, for a legend."""
        aside = "calibrated" if self.metric == "UCE" else "noise floor"
        centred = "" if self.metric == "UCE" else "centred "
        p = p_is(self.p_value) if self.p_value >= 0.0005 else "p < 0.001"
        return f"{self.metric} plug-in {self.value:.4f} ({aside} {self.reference:.4f}), {centred}{p}"

    @property
    def span(self) -> list[str]:
        """The range of V of each filled bin in words."""
        return [span_of(self.edges, number) for number in self.bins.tolist()]


def _part_of(range: tuple[float, float], values: FloatArray) -> tuple[float, float]:
    """The range, or the part where the values are if that is much shorter: with many classes V varies little."""
    low, high = float(values.min()), float(values.max())
    margin = 0.35 * (high - low)
    if not 0 < high - low + 2 * margin < 0.55 * (range[1] - range[0]):
        return range
    return max(range[0], low - margin), min(range[1], high + margin)


def span_of(edges: FloatArray, number: int) -> str:
    """The range of V of a bin, by its number from 1."""
    return f"{'[' if number == 1 else '('}{edges[number - 1]:.4g}, {edges[number]:.4g}]"


def count_text(rows: float) -> str:
    """A number of rows, or a sum of weights.

    >>> count_text(12345.0), count_text(0.25)
    ('12,345', '0.25')
    """
    return f"{rows:,.0f}" if float(rows).is_integer() else f"{rows:,.5g}"


def rows_text(rows: float) -> str:
    """A number of rows with the word.

    >>> rows_text(1), rows_text(1200.0), rows_text(0.5)
    ('1 row', '1,200 rows', '0.5 rows')
    """
    return f"{count_text(rows)} {'row' if rows == 1 else 'rows'}"


def reliability(judged: Judged, metric: str = "vce") -> Reliability:
    """The reliability diagram of VCE, ECE or UCE."""
    require_choice("metric", metric, METRICS)
    if metric == "uce":
        return _uncertainty(judged)
    table, estimate = (judged.table, judged.vce) if metric == "vce" else (judged.confidence_table, judged.ece)
    if table is None or estimate is None:
        raise ValueError(
            "metric='ece' needs a table binned by confidence: tabulate with variation='confidence'"
        )
    filled = np.flatnonzero(table.row_count)
    measure = table.spec.variation
    noise = estimate.bins
    reach = normal_quantile(judged.level) * noise.sd[filled]
    x, y = table.predicted_variation[filled], table.observed_variation[filled]
    low, high = measure.range_for(table.n_classes)
    shown = _covering((low, high), x, y)
    words = measure.display_name
    return Reliability(
        metric="ECE" if metric == "ece" else "VCE",
        x_label="mean confidence" if metric == "ece" else f"predicted {words}",
        y_label="accuracy" if metric == "ece" else f"observed {words}",
        x=x,
        y=y,
        expected=noise.expected[filled],
        low=noise.low[filled],
        high=noise.high[filled],
        bar_low=np.maximum(y - reach, shown[0]),
        bar_high=np.minimum(y + reach, shown[1]),
        range=shown,
        value=estimate.value,
        reference=estimate.noise_floor,
        p_value=estimate.centred_p_value,
        level=judged.level,
        **_of_bins(table, filled),
    )


def _uncertainty(judged: Judged) -> Reliability:
    """Error rate against mean entropy; a calibrated model follows the curve 1 - q̄₁, not the diagonal."""
    table, reference = judged.table, judged.uce
    if reference is None:
        raise ValueError("metric='uce' needs a table binned by entropy: tabulate with variation='entropy'")
    filled = np.flatnonzero(table.row_count)
    n = judged.vce.bins.independent_rows[filled]
    expected, y = 1 - table.mean_ordered[filled, 0], 1 - table.rank_frequency[filled, 0]
    expected = np.clip(expected, 0.0, 1.0)
    low, high = frequency_band(n, expected, judged.level)
    # One row's worth of what was expected is added, so that a bin without errors has a bar too.
    mixed = (n * y + expected) / (n + 1)
    reach = normal_quantile(judged.level) * np.sqrt(mixed * (1 - mixed) / n)
    return Reliability(
        metric="UCE",
        x_label="mean entropy",
        y_label="error rate",
        x=table.mean_variation[filled],
        y=y,
        expected=expected,
        low=low,
        high=high,
        bar_low=np.maximum(y - reach, 0.0),
        bar_high=np.minimum(y + reach, 1.0),
        range=(0.0, 1.0),
        value=reference.value,
        reference=reference.calibrated_value,
        p_value=reference.p_value,
        level=judged.level,
        **_of_bins(table, filled),
    )


def _of_bins(table: CalibrationTable, filled: IntArray) -> dict[str, Any]:
    enough = max(FEW_ROWS, table.n_classes) * (1 - 1e-9)
    return {
        "bins": filled + 1,
        "rows": table.count[filled].astype(np.float64),
        "small": table.effective_count[filled] < enough,
        "edges": table.edges,
        "share": table.count / table.count.sum(),
    }


def _covering(range: tuple[float, float], *values: FloatArray) -> tuple[float, float]:
    """The range of the measure, wider if something lies outside: which rank came true may be any."""
    together = np.concatenate(values)
    return min(range[0], float(together.min())), max(range[1], float(together.max()))


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """The signed gap of each filled bin, (F,) each: above 0 over-confident, whatever the measure."""

    measure: str
    bins: IntArray
    rows: FloatArray
    small: NDArray[np.bool_]
    edges: FloatArray
    x: FloatArray
    """Predicted variation."""
    gap: FloatArray
    """Observed less what is expected under calibration."""
    low: FloatArray
    """Of the band in which the gap would lie if the model were calibrated."""
    high: FloatArray
    reach: FloatArray
    """Half the length of the bar around the gap."""
    range: tuple[float, float]
    net: Estimate
    level: float

    @property
    def view(self) -> tuple[float, float]:
        """What the axis of V shows."""
        return _part_of(self.range, self.x)

    @property
    def summary(self) -> str:
        """The net gap with its interval, for a legend."""
        net = self.net
        return f"net gap {net.debiased:+.3f} [{net.interval.low:+.3f}, {net.interval.high:+.3f}]"

    @property
    def span(self) -> list[str]:
        """The range of V of each filled bin in words."""
        return [span_of(self.edges, number) for number in self.bins.tolist()]


def gaps(judged: Judged) -> Gaps:
    """The signed gaps over V."""
    table, noise = judged.table, judged.net.bins
    filled = np.flatnonzero(table.row_count)
    ends = table.spec.variation.sign * (np.stack([noise.low, noise.high])[:, filled] - noise.expected[filled])
    shared = _of_bins(table, filled)
    x = table.predicted_variation[filled]
    return Gaps(
        measure=table.spec.variation.name,
        bins=shared["bins"],
        rows=shared["rows"],
        small=shared["small"],
        edges=shared["edges"],
        x=x,
        gap=judged.net.centred_gap[filled],
        low=ends.min(axis=0),
        high=ends.max(axis=0),
        reach=normal_quantile(judged.level) * noise.sd[filled],
        range=_covering(table.spec.variation.range_for(table.n_classes), x),
        net=judged.net,
        level=judged.level,
    )
