"""The settings of an assessment: level, resamples, seed, tolerance."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trueness._arguments import confidence_level, whole_number
from trueness._random import Seed, root_seed
from trueness.bins import Bins, Edges, EqualWidth, as_bins, class_grid
from trueness.old_assessment.reported import as_limits, bounding_metrics
from trueness.refusals import InvalidValueError
from trueness.rows.clusters import identity

DEFAULT_CLASS_BINS = EqualWidth(10)

MIN_GROUP_SIZE = 100
"""Groups of fewer rows are named but not assessed: with a hundred rows, only net gaps above about 0.1 are detected."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Level, resamples, seed, tolerance, and the smallest p-value that must be attainable."""

    level: float
    resamples: int
    seed: int
    tolerance: Mapping[str, float] | None = None
    p_resolution: float = 0.0
    """The smallest p-value that a test must be able to reach after all corrections."""
    class_bins: Bins = DEFAULT_CLASS_BINS
    """The bins of the probability of each class, over [0, 1]."""

    @classmethod
    def of(
        cls,
        level: Any,
        resamples: Any,
        rng: Seed,
        tolerance: Any = None,
        p_resolution: float | None = None,
        *,
        class_bins: int | Bins = DEFAULT_CLASS_BINS,
        one_event: bool = False,
    ) -> Settings:
        """The settings of checked arguments; the cells of one event are fine enough for any edges."""
        level = confidence_level(level)
        finest = 1 - level if p_resolution is None else p_resolution
        if isinstance(finest, bool) or not isinstance(finest, (int, float)) or not 0 < finest < 1:
            cause = f"p_resolution must be a number between 0 and 1, such as 0.001, got {finest!r}"
            raise InvalidValueError("bad-argument", cause, argument="p_resolution", value=finest)
        resamples = whole_number("resamples", resamples, 1, 10**7)
        _refuse_too_few(resamples, level)
        keys = [metric.key for metric in bounding_metrics()]
        limits = None if tolerance is None else as_limits("tolerance", tolerance, keys)
        bins = as_bins(class_bins)
        if isinstance(bins, EqualWidth) and 60 % bins.n_bins:
            raise InvalidValueError(
                "bins-not-nested",
                "bins of equal width of the probability of a class must divide 60 parts, got "
                f"{bins.n_bins} bins",
                "use 10, 12, 15, 20, 30 or 60",
                argument="class_bins",
                value=bins.n_bins,
            )
        if not (one_event and isinstance(bins, Edges)):
            class_grid().merge(np.ones(class_grid().n_cells), bins)  # refused unless the grid has their edges
        return cls(level, resamples, root_seed(rng), limits, float(finest), bins)


def settings_of_group(settings: Settings, name: str) -> Settings:
    """The settings with a seed that depends on the group's name alone, not on which other groups there are."""
    return replace(settings, seed=(settings.seed ^ identity(name)) % 2**63)


def _refuse_too_few(resamples: int, level: float) -> None:
    """Refuse fewer resamples than a p-value of 1 - level needs."""
    needed = math.ceil(1 / (1 - level) * (1 - 1e-9)) - 1
    if resamples < needed:
        raise InvalidValueError(
            "too-few-resamples",
            f"with {resamples} resamples the smallest p-value is {1 / (resamples + 1):.3g}, "
            f"which is above 1 - level = {1 - level:.3g}",
            f"use {needed} resamples or more",
            argument="resamples",
            value=resamples,
        )
