"""The torchmetrics metrics that `trueness.assess_table` estimates: debiased values, and many numbers of one pass."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trueness.adapters._rank_metric import RankMetric
from trueness.bins import Bins, as_bins, confidence_bins_for
from trueness.old_assessment import Assessment, Settings, assess_table
from trueness.old_assessment.reported import REPORTED, estimates_of
from trueness.old_table import AnyTable, Tables
from trueness.refusals import InvalidTypeError, quote
from trueness.variation import CONFIDENCE, Variation, as_variation

LEVEL = 0.95
SCORES = ("accuracy", "brier_score", "log_loss")
"""The scores of an assessment that `CalibrationMetric` returns."""


class AssessedMetric(RankMetric):
    """A metric that is estimated from its tables by resampling; abstract.

    Its arguments are described in `DebiasedVariationCalibrationError`.
    """

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int | Bins = 10,
        variation: str | Variation = "entropy",
        *,
        task: str = "multiclass",
        ties: str = "first",
        from_logits: bool = False,
        ignore_index: int | None = None,
        class_axis: int = 1,
        confidence_bins: int | Bins | None = None,
        by_class: bool = False,
        soft_labels: bool = False,
        resamples: int = 999,
        rng: int = 0,
        **kwargs: Any,
    ) -> None:
        _refuse_fixed(kwargs, "norm", "the gaps of the bins are summed (l1)")
        super().__init__(
            num_classes,
            n_bins,
            variation,
            task=task,
            norm="l1",
            ties=ties,
            from_logits=from_logits,
            ignore_index=ignore_index,
            class_axis=class_axis,
            confidence_bins=confidence_bins,
            by_class=by_class,
            soft_labels=soft_labels,
            **kwargs,
        )
        settings = Settings.of(LEVEL, resamples, rng)
        self.resamples, self.rng = settings.resamples, settings.seed

    def _assess(self, tables: list[AnyTable], **how: Any) -> Assessment:
        return assess_table(Tables.of(tables), level=LEVEL, resamples=self.resamples, rng=self.rng, **how)


def _refuse_fixed(options: Mapping[str, Any], name: str, reason: str) -> None:
    """Refuse an option of other metrics that this one has not."""
    if name in options:
        cause = f"unexpected argument {quote(name)}: {reason}"
        raise InvalidTypeError("unknown-argument", cause, "leave it out", argument=name)


class DebiasedVariationCalibrationError(AssessedMetric):
    """The debiased VCE: an estimate of the value with unlimited data, where the plug-in value is inflated by noise.

    It is `vce.debiased` of `trueness.assess_table(metric.tables)` with the same `rng`. With `variation="confidence"` it
    is the debiased ECE. Use it to choose an epoch, since the bias of the plug-in value differs between epochs.

    Parameters
    ----------
    resamples : int
        Number of simulated resamples, as in `trueness.assess`.
    rng : int
        Seed of the resamples. Each `compute` uses the same one, so epochs do not differ by the simulation alone.
    num_classes, n_bins, variation, task, ties, from_logits, ignore_index, class_axis
        As in `VariationCalibrationError`.
    confidence_bins, by_class, soft_labels, kwargs
        As in `VariationCalibrationError`.

    Examples
    --------
    >>> import torch
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(300, [1, 1, 1], rng=1)
    >>> metric = DebiasedVariationCalibrationError(num_classes=3)
    >>> metric.update(torch.tensor(y_prob), torch.tensor(y_true))
    >>> metric.compute().item() < tn.variation_calibration_error(metric.table)  # of a calibrated model
    True
    """

    def _value(self, tables: list[AnyTable]) -> float:
        return self._assess(tables).vce.debiased


class NetGap(AssessedMetric):
    """The net gap, debiased: observed less predicted variation, above 0 for an over-confident model.

    It is `net.debiased` of `trueness.assess_table(metric.tables)` with the same `rng`. It has less noise than a sum of
    distances, but gaps of opposite sign cancel. Its arguments are described in `DebiasedVariationCalibrationError`.

    >>> import torch
    >>> metric = NetGap(num_classes=2)
    >>> metric.update(torch.tensor([[0.9, 0.1]] * 100), torch.tensor([0, 1, 0, 0, 0] * 20))
    >>> metric.compute().item() > 0  # 80 % are right, and 90 % were predicted
    True
    """

    higher_is_better = None

    def _value(self, tables: list[AnyTable]) -> float:
        return self._assess(tables).net.debiased


class CalibrationMetric(AssessedMetric):
    """All calibration metrics of one pass over the rows: `compute` returns a dict.

    For each reported metric `vce`, `net`, `ece`, `rce`, `rce_w1`, `cwece_total`, `cwece` and `gap`, the dict has the
    plug-in value under its name and the debiased value under its name with `_debiased`. Further names are `accuracy`,
    `brier_score`, `log_loss` and `p_value`, that of all evidence against calibration. The values are float64 tensors.
    They are those of `trueness.assess` for the same rows and `rng`; `trueness.assess_table(metric.tables)` has their
    intervals.

    Parameters
    ----------
    confidence_bins : int or EqualWidth, Edges
        Bins of confidence, for ECE; by default as `n_bins`.
    class_bins : int or EqualWidth, EqualMass, Edges
        Bins of the probability of each class, over [0, 1], for the metrics by class.
    num_classes, n_bins, variation, task, ties, from_logits, ignore_index, class_axis, soft_labels, kwargs
        As in `VariationCalibrationError`.
    resamples, rng
        As in `DebiasedVariationCalibrationError`.

    Examples
    --------
    >>> import torch
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> metric = CalibrationMetric(num_classes=3)
    >>> metric.update(torch.tensor(y_prob), torch.tensor(y_true))
    >>> numbers = metric.compute()
    >>> " ".join(name for name in numbers if not name.endswith("_debiased"))
    'vce net ece rce rce_w1 cwece_total cwece gap accuracy brier_score log_loss p_value'
    >>> numbers["vce_debiased"].item() == tn.assess(y_true, y_prob, rng=0).vce.debiased
    True
    """

    higher_is_better = None

    def __init__(
        self,
        num_classes: int | None = None,
        n_bins: int | Bins = 10,
        variation: str | Variation = "entropy",
        *,
        task: str = "multiclass",
        confidence_bins: int | Bins | None = None,
        class_bins: int | Bins = 10,
        ties: str = "first",
        from_logits: bool = False,
        ignore_index: int | None = None,
        class_axis: int = 1,
        soft_labels: bool = False,
        resamples: int = 999,
        rng: int = 0,
        **kwargs: Any,
    ) -> None:
        _refuse_fixed(kwargs, "by_class", "all metrics are computed, those by class too")
        by_confidence = as_variation(variation) == CONFIDENCE
        beside = confidence_bins_for(as_bins(n_bins), confidence_bins)
        super().__init__(
            num_classes,
            n_bins,
            variation,
            task=task,
            ties=ties,
            from_logits=from_logits,
            ignore_index=ignore_index,
            class_axis=class_axis,
            soft_labels=soft_labels,
            resamples=resamples,
            rng=rng,
            confidence_bins=confidence_bins if by_confidence else beside,
            by_class=True,
            **kwargs,
        )
        self.class_bins = Settings.of(LEVEL, resamples, rng, class_bins=class_bins).class_bins

    def _value(self, tables: list[AnyTable]) -> dict[str, float]:
        result = self._assess(tables, class_bins=self.class_bins)
        found: dict[str, float] = {}
        for metric, estimate in estimates_of(result):
            found |= {metric.key: estimate.value, f"{metric.key}_debiased": estimate.debiased}
        scores = {name: getattr(result, name) for name in SCORES}
        return found | scores | {"p_value": result.p_value}

    def _value_of_no_rows(self) -> dict[str, float]:
        names = [name for key in REPORTED for name in (key, f"{key}_debiased")]
        return dict.fromkeys([*names, *SCORES, "p_value"], math.nan)
