"""The estimates that pictures are drawn from: an `Assessment` has them, and a table alone gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from trueness._arguments import confidence_level, whole_number
from trueness._random import Seed, root_seed
from trueness.old_inference.estimates import ResampledTable, net_gap, uncertainty_reference, variation_error
from trueness.old_inference.results import Estimate, Reference
from trueness.old_table import AnyRankTable, require_rank_table


class Drawable(Protocol):
    """The attributes of an `Assessment` that pictures of bins and ranks read."""

    @property
    def vce(self) -> Estimate:
        """Variation calibration error, by the variation measure of the table."""

    @property
    def net(self) -> Estimate:
        """Net gap."""

    @property
    def ece(self) -> Estimate | None:
        """Expected calibration error of the top class; None without a table binned by confidence."""

    @property
    def uce(self) -> Reference | None:
        """Uncertainty calibration error; None unless the table is binned by entropy."""

    @property
    def table(self) -> AnyRankTable:
        """Table of the rows, binned by the variation measure."""

    @property
    def confidence_table(self) -> AnyRankTable | None:
        """Table of the same rows, binned by confidence; None if there is none."""

    @property
    def level(self) -> float:
        """Confidence level of bands and intervals."""


@dataclass(frozen=True, slots=True)
class TableEstimates:
    """What pictures read of an `Assessment`, from a table alone: the same numbers for the same seed."""

    vce: Estimate
    net: Estimate
    ece: Estimate | None
    uce: Reference | None
    table: AnyRankTable
    confidence_table: AnyRankTable | None
    level: float

    @classmethod
    def of(cls, table: Any, *, level: float = 0.95, resamples: int = 999, rng: Seed = 0) -> TableEstimates:
        """Estimate from a table of independent rows."""
        require_rank_table("table", table)
        level = confidence_level(level)
        resamples, seed = whole_number("resamples", resamples, 1, 10**7), root_seed(rng)
        resampled = ResampledTable.of(table, resamples, [seed, 0])
        vce = variation_error(resampled, level, [seed, 3])
        return cls(
            vce=vce,
            net=net_gap(resampled, level),
            ece=vce if table.spec.is_by_confidence else None,
            uce=uncertainty_reference(resampled, table) if table.spec.is_by_entropy else None,
            table=table,
            confidence_table=table if table.spec.is_by_confidence else None,
            level=level,
        )
