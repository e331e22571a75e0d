"""Which tables to make of rows: the variation measure and its bins, the bins of confidence, and events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from trueness._arguments import boolean
from trueness.bins import Bins, Edges, EqualMass, as_bins, confidence_bins_for, event_grid
from trueness.old_table.content import TableSpec
from trueness.old_table.event_content import EventSpec, event_from_text
from trueness.old_table.option_spec import OptionSpec, range_over_options
from trueness.ranking import DEFAULT_TIES, ties_for
from trueness.refusals import InvalidValueError
from trueness.variation import CONFIDENCE, Variation, as_variation

EdgesOf = Callable[[Variation, Bins], Edges]
"""The edges of bins by a measure; bins of equal mass need the rows."""


@dataclass(frozen=True, slots=True)
class TablePlan:
    """The tables to make of the same rows: by variation, by confidence for ECE, and of all classes as events."""

    variation: Variation
    bins: Bins
    confidence_bins: Bins | None
    """None if there is no second table: it is not wanted, or confidence is the measure."""
    ties: str = "first"
    by_class: bool = False
    """Whether to make the event table of all classes."""
    events: tuple[str, ...] = ()
    """Events to sum on the event grid too: names or indices of classes, or "top"."""
    options: bool = False
    """Whether rows have options of their own: one table for each number of options, in bins over [0, 1]."""

    @classmethod
    def of(
        cls,
        variation: str | Variation = "entropy",
        bins: int | Bins = 10,
        confidence_bins: int | Bins | None = None,
        ties: str = DEFAULT_TIES,
        *,
        with_confidence: bool = True,
        by_class: bool = False,
        events: Sequence[str] = (),
        options: bool = False,
    ) -> TablePlan:
        """The plan for these arguments; a refusal names the argument.

        Rows with options of their own have no class table: the options of different rows are different classes.
        """
        ties = ties_for(ties, options=options)
        by_class = boolean("by_class", by_class) and not options
        if options and events:
            cause = "rows with options of their own have no classes in common, and so no events"
            raise InvalidValueError("bad-argument", cause, "leave out events", argument="events")
        measure, chosen = as_variation(variation), as_bins(bins)
        second = with_confidence and measure != CONFIDENCE
        of_confidence = confidence_bins_for(chosen, confidence_bins) if second else None
        return cls(measure, chosen, of_confidence, ties, by_class, tuple(events), options)

    @property
    def wanted(self) -> list[tuple[Variation, Bins]]:
        """Measure and bins of each table that is binned by a measure."""
        first = (self.variation, self.bins)
        return [first] if self.confidence_bins is None else [first, (CONFIDENCE, self.confidence_bins)]

    @property
    def measures(self) -> list[Variation]:
        """The measure of each table that is binned by one."""
        return [measure for measure, _ in self.wanted]

    def specs(
        self,
        n_classes: int,
        *,
        weighted: bool,
        edges_of: EdgesOf | None = None,
        class_names: tuple[str, ...] | None = None,
    ) -> list[TableSpec | EventSpec | OptionSpec]:
        """The spec of each table; as `calibration_specs`, followed by those of events."""
        if self.options:
            return [*self.binned_specs(n_classes, weighted=weighted, edges_of=edges_of)]
        binned = self.calibration_specs(n_classes, weighted=weighted, edges_of=edges_of)
        whole = EventSpec.by_class(n_classes, self.ties, weighted=weighted, class_names=class_names)
        chosen = self._chosen(whole)
        return [*binned, *([whole] if self.by_class else []), *([chosen] if chosen.events else [])]

    def _chosen(self, whole: EventSpec) -> EventSpec:
        """The chosen events on the event grid, but for those that the table of all classes has there."""
        assert whole.n_classes is not None
        known = whole.events if self.by_class and whole.grid == event_grid() else ()
        named = (event_from_text(text, whole.n_classes, whole.class_names) for text in self.events)
        events = tuple(event for event in dict.fromkeys(named) if event not in known)
        return replace(whole, events=events, grid=event_grid())

    def binned_specs(
        self, n_classes: int, *, weighted: bool, edges_of: EdgesOf | None = None
    ) -> list[TableSpec] | list[OptionSpec]:
        """The spec of each table that is binned by a measure.

        `edges_of` gives the edges of bins; without it, bins must not depend on the rows.
        """
        if not self.options:
            return self.calibration_specs(n_classes, weighted=weighted, edges_of=edges_of)
        edges = self._edges(n_classes, edges_of)
        return [OptionSpec(of, found, self.ties, weighted) for of, found in edges]

    def calibration_specs(
        self, n_classes: int, *, weighted: bool, edges_of: EdgesOf | None = None
    ) -> list[TableSpec]:
        """The same for rows that all have these classes."""
        edges = self._edges(n_classes, edges_of)
        return [TableSpec(n_classes, of, found, self.ties, weighted) for of, found in edges]

    def _edges(self, n_classes: int, edges_of: EdgesOf | None) -> list[tuple[Variation, Edges]]:
        """The measure and the edges of each table."""

        def resolve(measure: Variation, bins: Bins) -> Edges:
            if isinstance(bins, EqualMass):
                cause = (
                    "EqualMass bins depend on all rows, which are not known in advance: pass "
                    f"EqualMass({bins.n_bins}).fit(y_prob, variation={measure.name!r}), or "
                    "EqualWidth(4000) and coarsen the table at the end"
                )
                raise InvalidValueError("unfitted-bins", cause, argument="bins")
            return bins.resolve(*self.range_of(measure, n_classes))

        find = edges_of or resolve
        return [(of, find(of, bins)) for of, bins in self.wanted]

    def range_of(self, measure: Variation, n_classes: int) -> tuple[float, float]:
        """The range of the bins by a measure."""
        return range_over_options(measure) if self.options else measure.range_for(n_classes)
