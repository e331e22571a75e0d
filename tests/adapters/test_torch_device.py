"""Sums on a device: no wait for a value, one graph, and what a device does not support."""

from typing import Any

import pytest
from table_counts import equal_counts
from torch_metrics import metric_of, tensors, torch_only

import trueness as tn
from trueness.adapters._integer_words import width


@torch_only
def test_update_on_a_device_never_reads_a_value() -> None:
    """Fake tensors have shapes and no values, so an operation that needs one (item, a mask as index, nonzero) fails."""
    import torch
    from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

    choices: list[dict[str, Any]] = [
        {},
        {"ties": "split", "from_logits": True, "by_class": True},
        {"ignore_index": 3, "n_bins": tn.FineGrid(200), "confidence_bins": 15},
        {"tables": False},
    ]
    metrics = [metric_of(num_classes=5, engine="device", **options) for options in choices]
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        rows, labels = torch.rand(300, 5), torch.randint(0, 5, (300,))
        for metric in metrics:
            metric.update(rows, labels)
            assert mode.is_our_fake(metric.bins)
            assert mode.is_our_fake(metric.totals)
            assert metric.bins.shape == (sum(metric.input.n_bins), width(metric.input.calibration_specs[0]))
            assert all(map(mode.is_our_fake, metric._words().values()))
        with pytest.raises(DataDependentOutputException):  # the detector detects
            bool((rows > 0).all())


@torch_only
def test_update_on_a_device_is_one_graph() -> None:
    """Traced whole, with no step back to Python in between, it does the same."""
    import torch

    from trueness.adapters._device_sums import device_sums

    rows, labels = tensors(5)
    metric = metric_of(num_classes=5, engine="device", confidence_bins=15, by_class=True)
    eps = float(torch.finfo(rows.dtype).eps)
    arguments = rows, labels, metric.input, eps, metric._thresholds_on(rows.device, eps)
    traced = torch.compile(device_sums, fullgraph=True, backend="eager")
    one, other = traced(*arguments), device_sums(*arguments)
    assert one.keys() == other.keys() == {"bins", "totals", "events"}
    assert all(torch.equal(one[name], other[name]) for name in one)


@torch_only
def test_large_batches_are_split(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, labels = tensors(4)
    whole = metric_of(num_classes=4, engine="device")
    whole.update(rows, labels)
    monkeypatch.setattr("trueness.adapters._device_sums.CHUNK_VALUES", 400)
    parts = metric_of(num_classes=4, engine="device")
    parts.update(rows, labels)
    assert equal_counts(parts.table, whole.table)
    assert parts.table.isclose(whole.table)


@torch_only
def test_another_device_is_refused_by_name() -> None:
    import torch

    metric = metric_of(num_classes=3)
    with pytest.raises(ValueError, match="preds is on meta, the metric on cpu"):
        metric.update(torch.empty(5, 3, device="meta"), torch.empty(5, dtype=torch.int64, device="meta"))
    with pytest.raises(ValueError, match="engine='host' reads host memory, but preds is on meta"):
        metric_of(num_classes=3, engine="host")._on_host(torch.empty(5, 3, device="meta"))


@torch_only
def test_user_defined_measures_work_on_the_host_only() -> None:
    measure = tn.Variation("my_gini", lambda x: 1 - (x**2).sum(axis=-1), range=lambda c: (0, 1 - 1 / c))
    rows, labels = tensors(4)
    metric = metric_of(num_classes=4, variation=measure)
    metric.update(rows, labels)
    assert metric.table == tn.tabulate(labels.numpy(), rows.numpy(), variation=measure)
    with pytest.raises(ValueError, match="'my_gini' is not implemented in torch"):
        metric_of(num_classes=4, variation=measure, engine="device").update(rows, labels)
