"""What the diagram of signed gaps shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_inference.normal import normal_quantile
from trueness.old_inference.results import Estimate
from trueness.plots._plotted_bins import PlottedBins, widen_range, zoom_range
from trueness.plots.table_estimates import Drawable

Y_LABEL = "observed minus expected"


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """The signed gap of each filled bin, (F,) each: above 0 over-confident, whatever the measure."""

    x_label: str
    bins: PlottedBins
    x: FloatArray
    """Predicted variation."""
    gap: FloatArray
    """Observed variation minus its mean under calibration."""
    low: FloatArray
    """Lower end of the band in which the gap would lie if the model were calibrated."""
    high: FloatArray
    reach: FloatArray
    """Half the length of the bar around the gap."""
    view: tuple[float, float]
    """The part of V that the axis shows."""
    net: Estimate
    level: float

    @property
    def summary(self) -> str:
        """The net gap with its interval, for a legend."""
        net = self.net
        return f"net gap {net.debiased:+.3f} [{net.interval.low:+.3f}, {net.interval.high:+.3f}]"

    @property
    def y_limit(self) -> float:
        """Upper end of the axis of gaps; its lower end is the opposite."""
        ends = [np.abs(self.gap) + self.reach, self.high, -self.low]
        largest = 1.12 * float(np.concatenate(ends).max())
        return largest if largest > 1e-9 else 1.0  # one row: nothing can vary


def gaps_of(result: Drawable) -> Gaps:
    """The signed gaps over V."""
    table, noise = result.table, result.net.bins
    bins, measure = PlottedBins.of(table), table.spec.variation
    at = bins.index
    sign = measure.sign
    ends = sign * (np.stack([noise.low, noise.high])[:, at] - noise.expected[at])
    x = table.predicted_variation[at]
    return Gaps(
        x_label=f"predicted {bins.measure}",
        bins=bins,
        x=x,
        gap=result.net.centred_gap[at],
        low=ends.min(axis=0),
        high=ends.max(axis=0),
        reach=normal_quantile(result.level) * noise.sd[at],
        view=zoom_range(widen_range(table.spec.range, x), x),
        net=result.net,
        level=result.level,
    )
