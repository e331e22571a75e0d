"""Which tables to make of rows: the variation measure and its bins, and the bins of confidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from trueness._arguments import require_choice
from trueness.bins import Bins, Edges, EqualMass, as_bins, confidence_bins_for
from trueness.ranking import TIES
from trueness.refusals import InvalidValueError
from trueness.table.content import TableSpec
from trueness.variation import CONFIDENCE, Variation, as_variation

EdgesOf = Callable[[Variation, Bins], Edges]
"""The edges of bins by a measure; bins of equal mass need the rows."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The tables to make of the same rows: one by variation, and one by confidence, from which ECE is computed."""

    variation: Variation
    bins: Bins
    confidence_bins: Bins | None
    """None if there is no second table: it is not wanted, or confidence is the measure."""
    ties: str = "first"

    @classmethod
    def of(
        cls,
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        confidence_bins: int | Bins | None = None,
        ties: str = "first",
        *,
        with_confidence: bool = True,
    ) -> TablePlan:
        """The plan for these arguments; a refusal names the argument."""
        require_choice("ties", ties, TIES)
        measure, chosen = as_variation(variation), as_bins(bins)
        second = with_confidence and measure != CONFIDENCE
        return cls(measure, chosen, confidence_bins_for(chosen, confidence_bins) if second else None, ties)

    @property
    def wanted(self) -> list[tuple[Variation, Bins]]:
        """Measure and bins of each table."""
        first = (self.variation, self.bins)
        return [first] if self.confidence_bins is None else [first, (CONFIDENCE, self.confidence_bins)]

    @property
    def measures(self) -> list[Variation]:
        """The measure of each table."""
        return [measure for measure, _ in self.wanted]

    def specs(self, n_classes: int, *, weighted: bool, edges_of: EdgesOf | None = None) -> list[TableSpec]:
        """The spec of each table. `edges_of` gives the edges of bins; without it, bins must not depend on the rows."""

        def resolve(measure: Variation, bins: Bins) -> Edges:
            if isinstance(bins, EqualMass):
                raise InvalidValueError(
                    "unfitted-bins",
                    "EqualMass bins depend on all rows, which are not known in advance: pass "
                    "EqualMass({n_bins}).fit(y_prob, variation={variation!r}), or FineGrid() and coarsen the table at "
                    "the end",
                    argument="bins",
                    n_bins=bins.n_bins,
                    variation=measure.name,
                )
            return bins.resolve(*measure.range_for(n_classes))

        find = edges_of or resolve
        return [TableSpec(n_classes, of, find(of, bins), self.ties, weighted) for of, bins in self.wanted]
