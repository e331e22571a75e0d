"""Scores split into parts, and the smooth calibration error, each with its noise floor.

They are no part of `assess`; docs/guide/scores.md says what each is good for.
"""

from trueness.decompositions.binned import (
    BrierDecomposition,
    LogReliability,
    brier_decomposition,
    brier_test,
    log_reliability,
)
from trueness.decompositions.of_event import (
    CorpDecomposition,
    SmoothError,
    corp_decomposition,
    smece,
    smooth_calibration_error,
)
from trueness.decompositions.temperature import TemperatureFit, temperature_step
from trueness.decompositions.temperature_sums import TemperatureProfile, temperature_profile

__all__ = [
    "BrierDecomposition",
    "CorpDecomposition",
    "LogReliability",
    "SmoothError",
    "TemperatureFit",
    "TemperatureProfile",
    "brier_decomposition",
    "brier_test",
    "corp_decomposition",
    "log_reliability",
    "smece",
    "smooth_calibration_error",
    "temperature_profile",
    "temperature_step",
]
