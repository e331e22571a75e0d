"""The base class of the metrics that are computed from a `CalibrationTable`, and what they have in common."""

from __future__ import annotations

from typing import Any

from trueness.adapters._metric_input import MetricInput, n_classes_of
from trueness.adapters._table_metric import TableMetric
from trueness.bins import Bins
from trueness.old_table import AnyRankTable, AnyTable, CalibrationTable, EventTable, Tables
from trueness.variation import Variation


class RankMetric(TableMetric):
    """What is computed from a `CalibrationTable` and the other tables of the same rows.

    Its arguments are described in `trueness.adapters.torch.VariationCalibrationError`.
    """

    def __init__(
        self,
        num_classes: int | None,
        n_bins: int | Bins,
        measure: str | Variation,
        *,
        task: str,
        norm: str,
        ties: str,
        from_logits: bool,
        ignore_index: int | None,
        class_axis: int,
        by_class: bool,
        confidence_bins: int | Bins | None = None,
        soft_labels: bool = False,
        **kwargs: Any,
    ) -> None:
        input = MetricInput.of(
            n_classes_of(num_classes, task),
            n_bins,
            measure,
            ties,
            confidence_bins=confidence_bins,
            by_class=by_class,
            from_logits=from_logits,
            ignore_index=ignore_index,
            class_axis=class_axis,
            soft_labels=soft_labels,
        )
        super().__init__(input, task=task, norm=norm, **kwargs)

    @property
    def tables(self) -> Tables:
        """All tables of the rows that `compute` covers, as one value: `trueness.assess_table` takes it.

        Reading them never communicates. With several processes they are the tables that the last `compute` made, so
        every process must have called `compute` since its last update; inside `sync_context` they are those of all
        processes too.
        """
        return Tables.of(self._tables())

    @property
    def table(self) -> CalibrationTable:
        """The table by variation of the rows that `compute` covers, as in `tables`."""
        return _calibration_table(self.tables.by_variation)

    @property
    def confidence_table(self) -> CalibrationTable | None:
        """The same rows binned by confidence; None unless `confidence_bins` was given."""
        return _confidence_table(self.tables)

    @property
    def class_table(self) -> EventTable | None:
        """The event table of all classes of the same rows; None unless `by_class` was true."""
        return self.tables.by_class

    def _value(self, tables: list[AnyTable]) -> float | dict[str, float]:
        first = tables[0]
        assert isinstance(first, CalibrationTable)
        return self._number_of(first)

    def _number_of(self, table: CalibrationTable) -> float:
        raise NotImplementedError


def _confidence_table(tables: Tables) -> CalibrationTable | None:
    """The second of two tables; None if there is only one, even if that is binned by confidence."""
    second = None if tables.by_confidence is tables.by_variation else tables.by_confidence
    return None if second is None else _calibration_table(second)


def _calibration_table(table: AnyRankTable) -> CalibrationTable:
    """The table, whose rows all have the same classes."""
    assert isinstance(table, CalibrationTable)
    return table
