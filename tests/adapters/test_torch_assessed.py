"""Debiased metrics, and all metrics in one pass: the numbers are those of `assess` on the same rows."""

import math
from typing import Any

import numpy as np
import pytest
from torch_metrics import metric_of, own_rows, tensors, torch_only

import trueness as tn
from trueness.old_assessment.reported import estimates_of

SINGLE = {"DebiasedVariationCalibrationError": "vce", "NetGap": "net"}
NAMES = [*SINGLE, "CalibrationMetric"]


def filled(metric: Any, rows: Any, labels: Any, step: int = 173) -> Any:
    for batch in zip(rows.split(step), labels.split(step), strict=True):
        metric.update(*batch)
    return metric


def numbers_of(result: tn.Assessment) -> dict[str, float]:
    """What `CalibrationMetric` returns, from an assessment."""
    found = {}
    for metric, estimate in estimates_of(result):
        found[metric.key] = estimate.value
        found[f"{metric.key}_debiased"] = estimate.debiased
    names = ("accuracy", "brier_score", "log_loss", "p_value")
    return found | {name: getattr(result, name) for name in names}


def value_of(metric: Any) -> Any:
    """What `compute` returns, as plain numbers."""
    found = metric.compute()
    return {key: one.item() for key, one in found.items()} if isinstance(found, dict) else found.item()


@torch_only
@pytest.mark.parametrize("n_classes", [2, 3, 10])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ties": "split", "variation": "confidence"},
        {"bins": 7, "confidence_bins": 12, "class_bins": 15, "resamples": 199, "rng": 5},
    ],
    ids=["defaults", "confidence", "bins"],
)
def test_all_numbers_are_those_of_assess(n_classes: int, options: dict[str, Any]) -> None:
    rows, labels = tensors(n_classes)
    how = dict(options)
    metric = metric_of("CalibrationMetric", n_classes, how.pop("bins", 10), **how)
    found = filled(metric, rows, labels).compute()
    result = tn.assess(labels, rows, **({"rng": 0} | options))
    expected = numbers_of(result)
    assert [*found] == [*expected]
    assert all(one.dtype.is_floating_point and one.shape == () for one in found.values())
    assert value_of(metric) == expected
    assert tn.assess_table(metric.tables, **_inference(options)) == result


def _inference(options: dict[str, Any]) -> dict[str, Any]:
    names = ("class_bins", "resamples", "rng")
    return {"rng": 0} | {name: options[name] for name in names if name in options}


@torch_only
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_lower_precision(name: str, dtype: str) -> None:
    """The rows of the NumPy API are the same tensors."""
    import torch

    rows, labels = tensors(5, 400, getattr(torch, dtype))
    metric = filled(
        metric_of(name, 5, confidence_bins=10) if name == "CalibrationMetric" else metric_of(name, 5),
        rows,
        labels,
    )
    result = tn.assess_table(metric.tables, rng=0)
    assert metric.table == tn.tabulate(labels, rows)
    expected = numbers_of(result) if name == "CalibrationMetric" else getattr(result, SINGLE[name]).debiased
    assert value_of(metric) == expected


@torch_only
@pytest.mark.parametrize("name", NAMES)
def test_the_sums_of_all_processes(name: str) -> None:
    """A function that returns each state twice stands in for a second process with the same rows."""
    import torch

    rows, labels = tensors(4)
    twice = {"distributed_available_fn": lambda: True, "dist_sync_fn": lambda state, **_: [state, state]}
    metric = filled(metric_of(name, 4, resamples=199, **twice), rows, labels)
    alone = filled(metric_of(name, 4, resamples=199), torch.cat([rows, rows]), torch.cat([labels, labels]))
    assert value_of(metric) == value_of(alone)
    assert metric.table.n_rows == 1800
    assert own_rows(metric) == 900


@torch_only
def test_forward_is_the_value_of_the_batch() -> None:
    rows, labels = tensors(3)
    for name in NAMES:
        metric = metric_of(name, 3, resamples=199)
        batch = metric(rows[:200], labels[:200])
        alone = filled(metric_of(name, 3, resamples=199), rows[:200], labels[:200])
        found = {key: one.item() for key, one in batch.items()} if isinstance(batch, dict) else batch.item()
        assert found == value_of(alone)
        metric(rows[200:], labels[200:])
        assert value_of(metric) == value_of(filled(metric_of(name, 3, resamples=199), rows, labels))


@torch_only
def test_a_batch_of_ignored_rows() -> None:
    import torch

    rows, labels = tensors(3)
    metric = metric_of("CalibrationMetric", 3, ignore_index=-100, resamples=199)
    nothing = metric(rows[:4], torch.full((4,), -100))
    assert all(math.isnan(value) for value in nothing.values())
    metric.update(rows, labels)
    assert [*metric.compute()] == [*nothing]
    assert math.isnan(metric_of("NetGap", 3, ignore_index=-100)(rows[:4], torch.full((4,), -100)).item())


@torch_only
def test_a_collection_shares_states_and_merges_names() -> None:
    from torchmetrics import MetricCollection

    rows, labels = tensors(4)
    metrics = MetricCollection(
        {
            "all": metric_of("CalibrationMetric", 4, resamples=199),
            "plug_in": metric_of(num_classes=4),
            "debiased": metric_of("DebiasedVariationCalibrationError", 4, resamples=199),
            "net_gap": metric_of("NetGap", 4, resamples=199),
        },
        prefix="val_",
    )
    for batch in zip(rows.split(300), labels.split(300), strict=True):
        metrics.update(*batch)
        found = metrics.compute()
    groups = sorted(map(sorted, metrics.compute_groups.values()))
    assert groups == [["all"], ["debiased", "net_gap", "plug_in"]]
    assert found["val_vce"] == found["val_plug_in"]
    result = tn.assess(labels, rows, resamples=199, rng=0)
    assert found["val_ece_debiased"].item() == result.ece.debiased
    assert found["val_net_gap"].item() == pytest.approx(result.net.debiased, abs=1e-12)


@torch_only
def test_a_tracker_finds_the_best_epoch() -> None:
    """Rows that are sharpened more and more: of three epochs the second is calibrated."""
    import torch
    from torchmetrics import MetricCollection
    from torchmetrics.wrappers import MetricTracker

    y_true, y_prob = tn.simulate.calibrated(4000, np.ones(3), rng=1)
    metrics = MetricCollection([metric_of("CalibrationMetric", 3, resamples=199)])
    tracker = MetricTracker(metrics, maximize=False)
    for power in (0.7, 1.0, 1.4):
        tracker.increment()
        tracker.update(torch.tensor(tn.simulate.sharpen(y_prob, power)), torch.tensor(y_true))
    best, epoch = tracker.best_metric(return_step=True)
    assert epoch["vce_debiased"] == epoch["ece_debiased"] == 1
    assert best["vce_debiased"] < 0.02


@torch_only
@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("NetGap", {"resamples": 3}, "resamples"),
        ("NetGap", {"rng": -1}, "rng must be"),
        ("DebiasedVariationCalibrationError", {"resamples": 0.5}, "resamples"),
        ("CalibrationMetric", {"class_bins": 7}, "divide 60 parts"),
        (
            "CalibrationMetric",
            {"by_class": False},
            "unexpected argument 'by_class': all metrics are computed",
        ),
        ("NetGap", {"norm": "l2"}, "unexpected argument 'norm': .*; leave it out"),
        (
            "CalibrationMetric",
            {"variation": "confidence", "confidence_bins": 5},
            "confidence_bins must be None",
        ),
    ],
)
def test_bad_arguments_are_refused_when_it_is_made(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        metric_of(name, 3, **options)


@torch_only
@pytest.mark.parametrize("name", NAMES)
def test_without_rows_and_with_bad_rows(name: str) -> None:
    import torch

    metric = metric_of(name, 3, ignore_index=0)
    metric.update(torch.tensor([[0.9, 0.1, 0.0]]), torch.tensor([0]))
    with pytest.raises(ValueError, match="all rows have the label of ignore_index, 0"):
        metric.compute()
    metric.update(torch.tensor([[0.9, 0.9, 0.9]]), torch.tensor([1]))
    with pytest.raises(ValueError, match="1 of 1 row"):
        metric.compute()
