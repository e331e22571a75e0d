"""States of a metric: computing, copying, merging, saving and sharing."""

from pathlib import Path

import pytest
from torch_metrics import metric_of, tensors, torch_only

import trueness as tn


@torch_only
@pytest.mark.parametrize("act", ["merge", "load"])
def test_the_cached_number_is_never_stale(act: str) -> None:
    """torchmetrics keeps a number that was computed, and does not drop it when states are merged or loaded."""
    rows, labels = tensors(4)
    one, other, expected = (metric_of(num_classes=4) for _ in range(3))
    one.update(rows[:100], labels[:100])
    other.update(rows[100:], labels[100:])
    expected.update(rows if act == "merge" else rows[100:], labels if act == "merge" else labels[100:])
    assert one.compute() != expected.compute()
    if act == "merge":
        one.merge_state(other)
    else:
        one.load_state_dict(other.state_dict())
    assert one.table == expected.table
    assert one.compute() == expected.compute()


@torch_only
def test_memory_does_not_grow() -> None:
    rows, labels = tensors(4)
    metric = metric_of(num_classes=4)

    def held() -> int:
        return sum(state.numel() * state.element_size() for state in metric.metric_state.values())

    at_first = held()
    for _ in range(30):
        metric.update(rows, labels)
    assert held() == at_first == 8 * (10 * (3 * 4 + 13) + (2 + 3 * 3 + 13 * 4) + 4 + 8)


@torch_only
def test_forward_gives_the_batch_and_keeps_the_whole() -> None:
    rows, labels = tensors(4)
    metric = metric_of(num_classes=4)
    for part in (slice(0, 300), slice(300, 900)):
        value = metric(rows[part], labels[part])
        assert value.item() == pytest.approx(tn.vce(labels[part].numpy(), rows[part].numpy()), abs=1e-12)
    whole = metric_of(num_classes=4)
    whole.update(rows, labels)
    assert metric.table == whole.table


@torch_only
def test_checkpoint_in_the_middle_of_an_epoch(tmp_path: Path) -> None:
    import torch

    rows, labels = tensors(4)
    model = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 3), "vce": metric_of(num_classes=4)})
    model["vce"].update(rows[:400], labels[:400])
    torch.save(model.state_dict(), tmp_path / "middle.pt")
    again = torch.nn.ModuleDict({"layer": torch.nn.Linear(3, 3), "vce": metric_of(num_classes=4)})
    saved = torch.load(tmp_path / "middle.pt", weights_only=True)
    again.load_state_dict(saved)
    again["vce"].update(rows[400:], labels[400:])
    whole = metric_of(num_classes=4)
    whole.update(rows, labels)
    assert again["vce"].table == whole.table
    # A checkpoint from before the model had a metric still loads.
    again.load_state_dict({name: value for name, value in saved.items() if "vce" not in name})
    other = torch.nn.ModuleDict(
        {"layer": torch.nn.Linear(3, 3), "vce": metric_of(num_classes=4, ties="split")}
    )
    with pytest.raises(ValueError, match=r"the state vce\. was saved by a metric with other classes, bins"):
        other.load_state_dict(saved)


@torch_only
def test_a_collection_shares_sums_where_they_are_the_same_and_only_there() -> None:
    """torchmetrics joins metrics whose states look alike after the first batch: here all rows are certain, so that
    entropy and IQV are both 0."""
    import torch
    from torchmetrics import MetricCollection

    rows, labels = tensors(4)
    metrics = MetricCollection(
        {
            "vce": metric_of(num_classes=4),
            "rce": metric_of("RankedCalibrationError", 4),
            "iqv": metric_of(num_classes=4, variation="iqv"),
            "ece": metric_of("ExpectedCalibrationError", 4),
            "ignoring": metric_of(num_classes=4, ignore_index=0),
        }
    )
    certain = torch.eye(4, dtype=torch.float64)[torch.ones(8, dtype=torch.int64)]
    metrics.update(certain, torch.arange(8) % 3 + 1)
    metrics.update(rows, labels)
    values = metrics.compute()
    assert sorted(map(sorted, metrics.compute_groups.values())) == [
        ["ece"],
        ["ignoring"],
        ["iqv"],
        ["rce", "vce"],
    ]
    rows, labels = torch.cat([certain, rows]).numpy(), torch.cat([torch.arange(8) % 3 + 1, labels]).numpy()
    kept = labels != 0
    expected = {
        "vce": tn.vce(labels, rows),
        "rce": tn.rce(labels, rows),
        "iqv": tn.vce(labels, rows, variation="iqv"),
        "ece": tn.ece(labels, rows),
        "ignoring": tn.vce(labels[kept], rows[kept]),
    }
    assert {name: value.item() for name, value in values.items()} == pytest.approx(expected, abs=1e-12)
