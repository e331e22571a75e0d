"""What is estimated: values with their noise floor, p-values and interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from trueness._arrays import FloatArray


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval."""

    low: float
    high: float
    level: float
    method: str
    """The method: "half-normal", "normal", "triangle" or "bootstrap" (see docs/background/inference.md)."""

    @classmethod
    def around(
        cls, centre: float, reach: float, possible: tuple[float, float], level: float, method: str
    ) -> Interval:
        """The interval from centre - reach to centre + reach, clipped to the possible values."""
        least, most = possible
        low, high = (min(most, max(least, end)) for end in (centre - reach, centre + reach))
        return cls(low, high, level, method)


@dataclass(frozen=True, slots=True, eq=False)
class BinNoise:
    """The observed value of each bin, and the distribution it would have if the model were calibrated, (M,) each.

    NaN in empty bins.
    """

    observed: FloatArray
    """𝒱(r̄_m), or d(r̄_m, q̄_m)."""
    expected: FloatArray
    """Its mean if the model were calibrated."""
    low: FloatArray
    """Lower end of the band in which it would lie, with the level of the assessment."""
    high: FloatArray
    """Upper end of the band."""
    sd: FloatArray
    """Its standard deviation, under calibration or as observed, whichever is larger."""
    independent_rows: FloatArray
    """The number of independent rows with this noise: the rows of the bin, fewer if they have weights or clusters."""


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A metric with its noise floor, p-values, debiased value and interval."""

    value: float
    """The plug-in value, as the paper defines it."""
    noise_floor: float
    """Its mean if the model were calibrated."""
    p_value: float
    """The probability of a plug-in value at least as large, if the model were calibrated."""
    centred_p_value: float
    """The same with each bin compared with its mean under calibration, which detects over-confidence too."""
    debiased: float
    """An estimate of the value with unlimited data."""
    interval: Interval
    """The interval of the debiased value."""
    centred_gap: FloatArray
    """Observed less expected under calibration in each bin, (M,), positive if over-confident; NaN in empty bins."""
    debiased_gap: FloatArray
    """Observed less predicted in each bin, (M,), corrected for the bias of few rows; NaN in empty bins."""
    bins: BinNoise
    bias_error: float = 0.0
    """Standard error of the corrections in the debiased value: of the bias, and of the simulated noise."""


@dataclass(frozen=True, slots=True, eq=False)
class Debiased:
    """A metric as models are compared by it: its debiased value and noise, without tests and intervals."""

    value: float
    """The plug-in value."""
    debiased: float
    gap: FloatArray
    """The debiased gap of each bin, (M,), as in `Estimate`."""
    sd: FloatArray
    """The standard deviation of each bin, (M,); empty if no difference is replicated by bins."""
    error: float = 0.0
    """Standard error of the corrections, as `Estimate.bias_error`."""

    @classmethod
    def of(cls, estimate: Estimate) -> Debiased:
        """What an estimate has of it."""
        return cls(
            estimate.value, estimate.debiased, estimate.debiased_gap, estimate.bins.sd, estimate.bias_error
        )


@dataclass(frozen=True, slots=True)
class Reference:
    """A metric that is not 0 for a calibrated model, and the value that it would have."""

    value: float
    calibrated_value: float
    """The mean value of a calibrated model with the same predictions."""
    p_value: float
    """The two-sided probability of a value at least as far from it, if the model were calibrated."""


@dataclass(frozen=True, slots=True)
class ZTest:
    """A standardised sum with its two-sided p-value; where the value is NaN, `reason` says why."""

    value: float
    p_value: float
    """The p-value by the normal distribution."""
    reason: str | None = None
    """Why there is no value, or which rows were left out."""
    drawn_p_value: float = math.nan
    """The p-value by simulation from resampled ranks, correct also where rare outcomes make Z skewed."""

    @property
    def safe_p_value(self) -> float:
        """The larger of the two p-values, which the verdict uses."""
        return max(self.p_value, self.drawn_p_value)
