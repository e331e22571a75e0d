"""Metrics that sum only what their number needs: the same number, smaller states, and no tables."""

from typing import Any

import pytest
from torch_metrics import tensors, torch_only

import trueness as tn

METRICS = ("VariationCalibrationError", "ExpectedCalibrationError", "RankedCalibrationError")


def _filled(name: str, rows: Any, labels: Any, **options: Any) -> Any:
    """A metric updated with short batches, which are buffered, and a long one."""
    import trueness.adapters.torch

    metric = getattr(trueness.adapters.torch, name)(num_classes=rows.shape[1], **options)
    for batch, of_batch in zip(rows.split(37), labels.split(37), strict=True):
        metric.update(batch, of_batch)
    return metric


@torch_only
@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("engine", ["host", "device"])
@pytest.mark.parametrize("n_classes", [2, 5, 40])
@pytest.mark.parametrize("options", [{}, {"ties": "split"}, {"from_logits": True}], ids=str)
def test_the_number_is_that_of_the_table(
    name: str, engine: str, n_classes: int, options: dict[str, Any]
) -> None:
    """To the last bit, also with tied classes."""
    rows, labels = tensors(n_classes, 500)
    rows[:50] = 1 / n_classes
    alone = _filled(name, rows, labels, engine=engine, tables=False, **options)
    whole = _filled(name, rows, labels, engine=engine, **options)
    assert alone.compute().item() == whole.compute().item() > 0


@torch_only
@pytest.mark.parametrize("name", METRICS)
def test_host_and_device_have_the_same_sums(name: str) -> None:
    """As tables, since a sum has more than one form as words."""
    rows, labels = tensors(7, 300)
    rows[:20] = 1 / 7
    host, device = (_filled(name, rows, labels, engine=engine, tables=False) for engine in ("host", "device"))
    assert host._tables() == device._tables()


@torch_only
def test_it_agrees_with_the_functions() -> None:
    rows, labels = tensors(4, 400)
    numbers = [_filled(name, rows, labels, tables=False).compute().item() for name in METRICS]
    assert numbers == [tn.vce(labels, rows), tn.ece(labels, rows), tn.rce(labels, rows)]


@torch_only
def test_soft_labels() -> None:
    import torch

    rows, labels = tensors(3, 200)
    soft = 0.7 * torch.nn.functional.one_hot(labels, 3).double() + 0.1
    for name in METRICS:
        alone = _filled(name, rows, soft, soft_labels=True, tables=False)
        assert alone.compute() == _filled(name, rows, soft, soft_labels=True).compute()


@torch_only
@pytest.mark.parametrize("attribute", ["table", "tables", "local_table", "local_tables", "class_table"])
def test_tables_are_refused(attribute: str) -> None:
    metric = _filled("VariationCalibrationError", *tensors(3, 50), tables=False)
    metric.compute()
    with pytest.raises(ValueError, match="no tables, since it was created with tables=False") as refusal:
        getattr(metric, attribute)
    assert "create it with tables=True" in str(refusal.value)


@torch_only
@pytest.mark.parametrize("asked", [{"by_class": True}, {"confidence_bins": 10}], ids=str)
def test_asking_for_a_table_and_for_none_is_refused(asked: dict[str, Any]) -> None:
    from trueness.adapters.torch import VariationCalibrationError

    with pytest.raises(ValueError, match=f"{next(iter(asked))} asks for a table"):
        VariationCalibrationError(3, tables=False, **asked)
    with pytest.raises(TypeError, match="tables must be True or False"):
        VariationCalibrationError(3, tables="no")


@torch_only
def test_states_are_small_and_do_not_mix_with_those_of_tables() -> None:
    from trueness.adapters.torch import ExpectedCalibrationError

    alone, whole = ExpectedCalibrationError(1000, tables=False), ExpectedCalibrationError(1000)
    assert alone.bins.shape == (10, 1 + 3)
    assert alone.totals.numel() < 10 < whole.totals.numel()
    with pytest.raises(ValueError, match="metrics merge only if"):
        alone.merge_state(whole)


@torch_only
def test_bad_rows_and_reset() -> None:
    rows, labels = tensors(3, 60)
    rows[7, 0] = 2.0
    metric = _filled("ExpectedCalibrationError", rows, labels, tables=False)
    with pytest.raises(ValueError, match="1 of 60 rows"):
        metric.compute()
    metric.reset()
    metric.update(rows[10:], labels[10:])
    assert metric.compute().item() == tn.ece(labels[10:], rows[10:])
