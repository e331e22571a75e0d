"""Calibration metrics for PyTorch: `torchmetrics.Metric` classes whose state is the table, as integers.

>>> import torch
>>> metric = VariationCalibrationError(num_classes=2)
>>> metric.update(torch.tensor([[0.9, 0.1]] * 10), torch.tensor([0, 1] * 5))
>>> round(metric.compute().item(), 6)
0.531004
>>> metric.table.n_rows
10

A state is a sum over rows, stored as integers. Its size does not depend on the number of batches, and the sums of
several processes add up to those of a single process that was given all rows, bit for bit.

Tensors in host memory are read in place by the engines of `trueness.tabulate`. Tensors on a device are summed there by
torch operations (`_device_sums`), and `update` does not wait for the result. Therefore `update` does not raise an error
for a bad row: the row is skipped and counted, and `compute` and `table` raise the error.
"""

from __future__ import annotations

from typing import Any

from trueness._arguments import require_choice
from trueness.adapters._table_metric import TableMetric
from trueness.bins import Bins
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
    """VCE: the mean distance between observed and predicted variation, in bins of the predicted variation.

    Parameters
    ----------
    num_classes : int
        Number of classes C; not needed for `task="binary"`.
    n_bins : int or EqualWidth, Edges, FineGrid
        Bins of `table`; a number means bins of equal width over the attainable range of the variation measure.
    variation : str or Variation
        A name in `trueness.variations`, or a `Variation` of your own, which works on the host only.
    task : "multiclass" or "binary"
        Predictions (N, C, ...) with targets (N, ...), or both of one shape, with the probability of class 1.
    norm : "l1", "l2" or "max"
        How the gaps of the bins become one number.
    ties : "first" or "split"
        How classes of equal probability are ranked: the lower class index first, as in argmax, or in equal shares.
    from_logits : bool
        Whether predictions are logits; this is never guessed from the values.
    ignore_index : int
        Rows with this target are skipped.
    engine : "auto", "host" or "device"
        "host" is the engine of `trueness.tabulate` (compiled, if it can be used), "device" is torch operations;
        "auto" takes "host" for tensors in host memory and "device" for others.
    confidence_bins : int or EqualWidth, Edges, FineGrid
        Bins of `confidence_table`, a second table of the same rows, binned by confidence, from which ECE is read. By
        default there is none.
    kwargs
        Options of `torchmetrics.Metric`, such as `dist_sync_on_step` or `compute_on_cpu`.

    Examples
    --------
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
    """ECE: the mean distance between accuracy and confidence of the top class, in bins of confidence over [1/C, 1].

    Its arguments are described in `VariationCalibrationError`; `table` is binned by confidence.

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
    """RCE: the mean distance between observed and predicted frequencies of the true class's rank, in bins of variation.

    `distance` is "tv", "w1" or "hellinger"; the other arguments are described in `VariationCalibrationError`.
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
