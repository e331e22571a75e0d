"""Calibration metrics for PyTorch: `torchmetrics.Metric` classes whose state is the table, as integers.

>>> import torch
>>> metric = VariationCalibrationError(num_classes=2)
>>> metric.update(torch.tensor([[0.9, 0.1]] * 10), torch.tensor([0, 1] * 5))
>>> round(metric.compute().item(), 6)
0.531004
>>> metric.table.n_rows
10

A state is a sum over rows, kept in words of whole numbers: it takes the same memory after any number of batches, and
what several processes have seen adds up to what one would have seen, to the bit.

Where the rows are decides how they are summed. Tensors in host memory go through the engines of the core, which read
them in place; tensors on a device are summed there by torch's own operations (`_device_sums`), and `update` does not
wait for it. A bad row is therefore no error in `update`: it is counted by kind and left out, and `compute` and `table`
raise.
"""

from __future__ import annotations

from typing import Any

from trueness._border import require_choice
from trueness.adapters._table_metric import TableMetric
from trueness.binning import Bins
from trueness.metrics import (
    DISTANCES,
    expected_calibration_error,
    ranked_calibration_error,
    variation_calibration_error,
)
from trueness.table import CalibrationTable
from trueness.variation import Variation

__all__ = ["ExpectedCalibrationError", "RankedCalibrationError", "VariationCalibrationError"]


class VariationCalibrationError(TableMetric):
    """VCE: how far the variation of outcomes is from the predicted one, in bins of the variation.

    `variation` is a name in `trueness.variations`, or a measure of your own, which only the host can take.

    >>> import torch
    >>> metric = VariationCalibrationError(num_classes=10, n_bins=10, variation="iqv", from_logits=True)
    >>> metric.update(torch.tensor([[10.0] + [0.0] * 9]), torch.tensor([0]))
    >>> metric.table.count
    array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    """

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int | Bins = 10,
        variation: str | Variation = "entropy",
        *,
        task: str = "multiclass",
        norm: str = "l1",
        ties: str = "first",
        from_logits: bool = False,
        ignore_index: int | None = None,
        engine: str = "auto",
        confidence_bins: int | Bins | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            num_classes,
            n_bins,
            variation,
            task=task,
            norm=norm,
            ties=ties,
            from_logits=from_logits,
            ignore_index=ignore_index,
            engine=engine,
            confidence_bins=confidence_bins,
            **kwargs,
        )

    def _number(self, table: CalibrationTable) -> float:
        return variation_calibration_error(table, norm=self.norm)


class ExpectedCalibrationError(TableMetric):
    """ECE: how far accuracy is from the mean confidence of the top label, in bins of confidence over [1/C, 1].

    >>> import torch
    >>> metric = ExpectedCalibrationError(task="binary")
    >>> metric.update(torch.tensor([0.9, 0.8, 0.3]), torch.tensor([1, 1, 1]))
    >>> round(metric.compute().item(), 4)
    0.3333
    """

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int | Bins = 10,
        *,
        task: str = "multiclass",
        norm: str = "l1",
        ties: str = "first",
        from_logits: bool = False,
        ignore_index: int | None = None,
        engine: str = "auto",
        **kwargs: Any,
    ) -> None:
        super().__init__(
            num_classes,
            n_bins,
            "confidence",
            task=task,
            norm=norm,
            ties=ties,
            from_logits=from_logits,
            ignore_index=ignore_index,
            engine=engine,
            **kwargs,
        )

    def _number(self, table: CalibrationTable) -> float:
        return expected_calibration_error(table, norm=self.norm)


class RankedCalibrationError(TableMetric):
    """RCE: how far the frequencies of all ranks are from those predicted, in bins of the variation.

    `distance` is "tv", "w1" or "hellinger".
    """

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int | Bins = 10,
        variation: str | Variation = "entropy",
        distance: str = "tv",
        *,
        task: str = "multiclass",
        norm: str = "l1",
        ties: str = "first",
        from_logits: bool = False,
        ignore_index: int | None = None,
        engine: str = "auto",
        confidence_bins: int | Bins | None = None,
        **kwargs: Any,
    ) -> None:
        require_choice("distance", distance, DISTANCES)
        super().__init__(
            num_classes,
            n_bins,
            variation,
            task=task,
            norm=norm,
            ties=ties,
            from_logits=from_logits,
            ignore_index=ignore_index,
            engine=engine,
            confidence_bins=confidence_bins,
            **kwargs,
        )
        self.distance = distance

    def _number(self, table: CalibrationTable) -> float:
        return ranked_calibration_error(table, self.distance, norm=self.norm)
