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

Tensors in host memory are read in place by the engines of `trueness.tabulate`; batches on a device are copied to the
host. `update` does not raise an error for a bad row: the row is skipped and counted, and `compute` and `table` raise
the error.
"""

from __future__ import annotations

from typing import Any

from trueness._arguments import require_choice
from trueness.adapters._assessed_metrics import CalibrationMetric, DebiasedVariationCalibrationError, NetGap
from trueness.adapters._event_metric import EventMetric
from trueness.adapters._metric_input import MetricInput, n_classes_of
from trueness.adapters._rank_metric import RankMetric
from trueness.bins import Bins
from trueness.event_metrics import require_class_weights
from trueness.old_metrics import (
    DISTANCES,
    classwise_error,
    event_calibration_error,
    expected_calibration_error,
    ranked_calibration_error,
    variation_calibration_error,
)
from trueness.old_table import CalibrationTable, Event, EventTable
from trueness.refusals import InvalidValueError
from trueness.variation import Variation

__all__ = [
    "CalibrationMetric",
    "ClasswiseCalibrationError",
    "DebiasedVariationCalibrationError",
    "EventCalibrationError",
    "ExpectedCalibrationError",
    "NetGap",
    "RankedCalibrationError",
    "VariationCalibrationError",
]


class VariationCalibrationError(RankMetric):
    """VCE: the mean distance between observed and predicted variation, in bins of the predicted variation.

    Parameters
    ----------
    num_classes : int
        Number of classes C; not needed for `task="binary"`.
    n_bins : int or EqualWidth, Edges
        Bins of `table`; a number means bins of equal width over the attainable range of the variation measure.
    variation : str or Variation
        A name in `trueness.variations`, or a `Variation` of your own.
    task : "multiclass" or "binary"
        Predictions (N, C, ...) with targets (N, ...), see `class_axis`; or both of one shape, with the probability of
        class 1.
    norm : "l1", "l2" or "max"
        How the gaps of the bins become one number.
    ties : "first" or "split"
        How classes of equal probability are ranked: the lower class index first, as in argmax, or in equal shares.
    from_logits : bool
        Whether predictions are logits; this is never guessed from the values.
    ignore_index : int
        Rows with this target are skipped, such as -100.
    class_axis : int
        The axis of the classes in predictions: 1 for (N, C, ...), -1 for sequences (B, T, C). The tables have no
        clusters: for intervals that take an image as one cluster, use `trueness.assess`.
    confidence_bins : int or EqualWidth, Edges
        Bins of `confidence_table`, a second table of the same rows, binned by confidence, from which ECE is read. By
        default there is none.
    by_class : bool
        Whether to sum the event table of all classes too, `class_table`, from which classwise metrics are read.
    soft_labels : bool
        Whether targets are shares of the classes, of the shape of the predictions.
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
        class_axis: int = 1,
        confidence_bins: int | Bins | None = None,
        by_class: bool = False,
        soft_labels: bool = False,
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
            class_axis=class_axis,
            confidence_bins=confidence_bins,
            by_class=by_class,
            soft_labels=soft_labels,
            **kwargs,
        )

    def _number_of(self, table: CalibrationTable) -> float:
        return variation_calibration_error(table, norm=self.norm)


class ExpectedCalibrationError(RankMetric):
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
        class_axis: int = 1,
        by_class: bool = False,
        soft_labels: bool = False,
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
            class_axis=class_axis,
            by_class=by_class,
            soft_labels=soft_labels,
            **kwargs,
        )

    def _number_of(self, table: CalibrationTable) -> float:
        return expected_calibration_error(table, norm=self.norm)


class RankedCalibrationError(RankMetric):
    """RCE: the mean distance between observed and predicted frequencies of the true class's rank, in bins of variation.

    `distance` is "tv" or "w1"; the other arguments are described in `VariationCalibrationError`.
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
        class_axis: int = 1,
        confidence_bins: int | Bins | None = None,
        by_class: bool = False,
        soft_labels: bool = False,
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
            class_axis=class_axis,
            confidence_bins=confidence_bins,
            by_class=by_class,
            soft_labels=soft_labels,
            **kwargs,
        )
        self.distance = distance

    def _number_of(self, table: CalibrationTable) -> float:
        return ranked_calibration_error(table, self.distance, norm=self.norm)


class ClasswiseCalibrationError(EventMetric):
    """Classwise ECE: the mean over classes of the distance between observed frequency and probability of a class.

    Parameters
    ----------
    num_classes : int
        Number of classes C; not needed for `task="binary"`. With two classes it is the ECE of class 1.
    n_bins : int or EqualWidth, EqualMass, Edges
        Bins of each class over [0, 1] when the metric is computed: 1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30 or 60 of equal
        width, or bins of equal mass, made of the rows of each class. `table` does not depend on it.
    weights : None, "expected" or "observed"
        How the classes are averaged: all alike, or by their expected or observed number.
    task, norm, from_logits, ignore_index, class_axis, kwargs
        As in `VariationCalibrationError`.

    Examples
    --------
    >>> import torch
    >>> metric = ClasswiseCalibrationError(num_classes=3)
    >>> metric.update(torch.tensor([[0.8, 0.1, 0.1]] * 10), torch.tensor([0] * 8 + [1] * 2))
    >>> round(metric.compute().item(), 6)  # class 1 is predicted too seldom, class 2 too often
    0.066667
    >>> metric.table.observed_total
    array([8., 2., 0.])
    """

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int | Bins = 10,
        weights: str | None = None,
        *,
        task: str = "multiclass",
        norm: str = "l1",
        from_logits: bool = False,
        ignore_index: int | None = None,
        class_axis: int = 1,
        **kwargs: Any,
    ) -> None:
        require_class_weights(weights)
        input = MetricInput.of_classes(
            n_classes_of(num_classes, task),
            from_logits=from_logits,
            ignore_index=ignore_index,
            class_axis=class_axis,
        )
        super().__init__(input, n_bins, task=task, norm=norm, **kwargs)
        self.weights = weights

    def _number_of(self, table: EventTable) -> float:
        return classwise_error(table, self.n_bins, self.weights, norm=self.norm)


class EventCalibrationError(EventMetric):
    """ECE of an event: the distance between its observed frequency and its probability, in bins over [0, 1].

    Parameters
    ----------
    num_classes : int
        Number of classes C; not needed for `task="binary"`.
    n_bins : int or EqualWidth, EqualMass, Edges
        Bins when the metric is computed, merged from the 5026 cells of `table`, which does not depend on it.
    event : int or "top"
        A class, or the event that the class of the largest probability is the true one. Of two classes it is class 1 by
        default; of more it must be given.
    task : "binary" or "multiclass"
        As in `VariationCalibrationError`; by default "binary" unless `num_classes` is given.
    norm, ties, from_logits, ignore_index, class_axis, kwargs
        As in `VariationCalibrationError`; `ties` is for the top label.

    Examples
    --------
    >>> import torch
    >>> metric = EventCalibrationError()
    >>> metric.update(torch.tensor([0.2, 0.3, 0.7, 0.8]), torch.tensor([0, 1, 1, 1]))
    >>> round(metric.compute().item(), 6)
    0.35
    >>> EventCalibrationError(num_classes=5, event="top").table.events
    ('top',)
    """

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int | Bins = 10,
        event: Event | None = None,
        *,
        task: str | None = None,
        norm: str = "l1",
        ties: str = "first",
        from_logits: bool = False,
        ignore_index: int | None = None,
        class_axis: int = 1,
        **kwargs: Any,
    ) -> None:
        if task is None:
            task = "binary" if num_classes is None else "multiclass"
        n_classes = n_classes_of(num_classes, task)
        if event is None and n_classes > 2:
            cause = f"event is needed with {n_classes} classes: a class index, or 'top' for the top label"
            raise InvalidValueError("bad-argument", cause, argument="event")
        input = MetricInput.of_event(
            n_classes,
            1 if event is None else event,
            ties,
            from_logits=from_logits,
            ignore_index=ignore_index,
            class_axis=class_axis,
        )
        super().__init__(input, n_bins, task=task, norm=norm, **kwargs)

    def _number_of(self, table: EventTable) -> float:
        return event_calibration_error(table, self.n_bins, norm=self.norm)
