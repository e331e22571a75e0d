"""Shapes of predictions and targets, ignored targets, and dtypes."""

import numpy as np
import pytest
from table_counts import equal_counts
from torch_metrics import metric_of, tensors, torch_only

import trueness as tn
from trueness.refusals import InvalidValueError, Refusal


@torch_only
@pytest.mark.parametrize("from_logits", [False, True])
def test_binary(from_logits: bool) -> None:
    rows, labels = tensors(2)
    given = rows[:, 1].logit() if from_logits else rows[:, 1]
    for name, read in (("ExpectedCalibrationError", tn.ece), ("VariationCalibrationError", tn.vce)):
        metric = metric_of(name, task="binary", from_logits=from_logits)
        metric.update(given.reshape(-1, 9), labels.reshape(-1, 9).bool())
        expected = read(labels.numpy(), given.numpy(), from_logits=from_logits)
        assert metric.compute().item() == pytest.approx(expected, abs=1e-12)


@torch_only
@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("from_logits", [False, True])
def test_half_precision_gives_the_table_of_tabulate(name: str, from_logits: bool) -> None:
    import torch

    rows, labels = tensors(6, dtype=getattr(torch, name))
    given = rows.log() if from_logits else rows
    metric = metric_of(num_classes=6, from_logits=from_logits)
    metric.update(given, labels)
    core = tn.tabulate(labels, given, from_logits=from_logits)
    np.testing.assert_array_equal(metric.table.count, core.count)
    np.testing.assert_array_equal(metric.table.rank_count, core.rank_count)
    assert metric.table == core
    assert from_logits or equal_counts(metric.table, core)


@torch_only
def test_sums_stay_integers_when_the_model_changes_its_dtype() -> None:
    import torch

    rows, labels = tensors(4)
    metric = metric_of(num_classes=4)
    metric.update(rows, labels)
    before = metric.table
    module = torch.nn.ModuleDict({"metric": metric, "layer": torch.nn.Linear(2, 2)})
    module.half().to(torch.bfloat16)
    metric.set_dtype(torch.float16)
    assert {state.dtype for state in metric.metric_state.values()} == {torch.int64}
    assert metric.table == before


@torch_only
def test_autocast_and_gradients() -> None:
    """Logits of a mixed-precision step, still part of the graph; the metric takes no part in it."""
    import torch

    layer, x = torch.nn.Linear(8, 4), torch.randn(64, 8, generator=torch.Generator().manual_seed(0))
    labels = torch.arange(64) % 4
    metric = metric_of(num_classes=4, from_logits=True)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = layer(x)
        metric.update(logits, labels)
    assert logits.dtype == torch.bfloat16
    assert metric.table == tn.tabulate(labels, logits, from_logits=True)
    assert not metric.bins.requires_grad


@torch_only
@pytest.mark.parametrize(("axis", "shape"), [(1, (4, 6, 5)), (-1, (4, 30)), (2, (4, 6, 5)), (0, (120,))])
def test_the_axis_of_the_classes_gives_the_tables_of_the_core(axis: int, shape: tuple[int, ...]) -> None:
    """(N, C, H, W), (B, T, C) and others, with padding that is ignored: `==` with `tabulate` of the same arrays."""
    import torch

    y_true, y_prob = tn.simulate.calibrated(120, [1.0, 1.0, 2.0], rng=3)
    y_true = np.where(np.arange(120) % 7 == 0, -100, y_true).reshape(shape)
    array = np.moveaxis(y_prob.reshape(*shape, 3), -1, axis)
    how = {"class_axis": axis, "ignore_index": -100}
    preds, target = torch.tensor(np.ascontiguousarray(array)), torch.tensor(y_true)
    metric = metric_of(num_classes=3, by_class=True, **how)
    metric.update(preds, target)
    kept = y_true.ravel() != -100
    core, by_class = tn.tabulate(y_true, array, **how), tn.tabulate_events(y_true.ravel()[kept], y_prob[kept])
    assert equal_counts(metric.table, core)
    assert metric.table == core
    assert metric.class_table == by_class
    for name in ("ClasswiseCalibrationError", "EventCalibrationError"):
        more = {"event": "top"} if name[0] == "E" else {}
        other = metric_of(name, 3, **how, **more)
        other.update(preds, target)
        assert other.table.n_rows == metric.table.n_rows


@torch_only
def test_axes_that_do_not_fit() -> None:
    import torch

    preds, target = torch.full((2, 4, 3), 1 / 3), torch.zeros(2, 4, dtype=torch.long)
    with pytest.raises(InvalidValueError, match="class_axis=1"):
        metric_of(num_classes=3).update(preds, target)
    with pytest.raises(InvalidValueError, match="class_axis=5"):
        metric_of(num_classes=3, class_axis=5).update(preds, target)
    with pytest.raises(Refusal, match="`class_axis` must be"):
        metric_of(num_classes=3, class_axis="last")
    metric_of(num_classes=3, class_axis=-1).update(preds, target)
