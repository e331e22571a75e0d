"""Bad rows are skipped and counted, and refused when the metric is computed; bad arguments are refused at once."""

from typing import Any

import numpy as np
import pytest
from table_counts import equal_counts
from torch_metrics import metric_of, tensors, torch_only

import trueness as tn


@torch_only
def test_bad_rows_are_counted_by_reason_and_refused_by_compute() -> None:
    rows, labels = tensors(3, 400)
    good = metric_of(num_classes=3)
    good.update(rows[50:], labels[50:])
    rows[:3, 1] = float("nan")
    rows[3, 0] = float("inf")
    rows[4:9] *= 1.5
    rows[9:20, 0] = -0.2
    labels[20:45] = 3
    labels[45:50] = -1
    metric = metric_of(num_classes=3)
    metric.update(rows[:200], labels[:200])
    metric.update(rows[200:], labels[200:])
    forgiven = metric.clone()
    forgiven.totals[-4:] = 0
    assert equal_counts(forgiven.table, good.table)
    assert forgiven.table == good.table
    over = int(((rows[4:9] > 1).any(1)).sum())
    assert metric.totals[-4:].tolist() == [4, 11 + over, 5 - over, 30]
    with pytest.raises(
        ValueError,
        match=r"50 of 400 rows are invalid: 4 have .* not finite; .* outside .*label out of",
    ):
        metric.compute()
    with pytest.raises(ValueError, match="for logits pass from_logits=True"):
        metric.table  # noqa: B018
    metric.reset()
    metric.update(rows[50:], labels[50:])
    assert metric.compute() == good.compute()


@torch_only
def test_bad_logits() -> None:
    import torch

    inf = float("inf")
    rows = torch.tensor([[0.0, 1.0], [-inf, 1.0], [inf, 0.0], [-inf, -inf], [0.0, float("nan")]])
    metric = metric_of(num_classes=2, from_logits=True)
    metric.update(rows, torch.tensor([1, 1, 0, 0, 0]))
    assert metric.totals[-4:].tolist() == [3, 0, 0, 0]
    with pytest.raises(
        ValueError, match=r"3 of 5 rows are invalid: 3 have logits that .* .a logit may be -inf"
    ):
        metric.compute()


@torch_only
def test_a_batch_of_bad_rows_or_of_none() -> None:
    import torch

    metric = metric_of(num_classes=2)
    metric.update(torch.empty(0, 2), torch.empty(0, dtype=torch.int64))
    metric.update(torch.full((7, 2), 2.0), torch.zeros(7, dtype=torch.int64))
    assert metric.totals[-4:].tolist() == [0, 7, 0, 0]
    assert not metric.bins.any()


@torch_only
def test_labels_out_of_range() -> None:
    import torch

    for ignored, what in (
        (None, "0 to 2; to leave out rows with another label, such as 255 or -100, pass it as ignore_index"),
        (-100, "0 to 2, or -100, which is ignore_index"),
    ):
        metric = metric_of(num_classes=3, ignore_index=ignored)
        metric.update(torch.full((2, 3), 1 / 3, dtype=torch.float64), torch.tensor([0, 255]))
        with pytest.raises(ValueError, match=what):
            metric.compute()


@torch_only
def test_errors_that_are_not_about_rows_are_raised_at_once() -> None:
    import torch

    rows, labels = tensors(3, dtype=torch.float16)
    with pytest.raises(ValueError, match="are too narrow, because values within"):
        metric_of(num_classes=3, n_bins=500).update(rows, labels)


@torch_only
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (metric_of, "num_classes is needed"),
        (lambda: metric_of(num_classes=1), "`num_classes` must be an integer of at least 2"),
        (lambda: metric_of(num_classes=3, task="binary"), "two classes"),
        (lambda: metric_of(num_classes=3, task="multilabel"), "`task` must be one of"),
        (lambda: metric_of(num_classes=3, norm="l3"), "`norm` must be one of"),
        (lambda: metric_of(num_classes=3, n_bins=tn.EqualMass(5)), "EqualMass.5..fit.*'entropy'"),
        (lambda: metric_of(num_classes=3, confidence_bins=tn.EqualMass(5)), "EqualMass.5..fit.*'confidence'"),
        (lambda: metric_of(num_classes=3, confidence_bins=0), "bins"),
        (
            lambda: metric_of(num_classes=3, variation="confidence", confidence_bins=9),
            "confidence_bins must be None with variation='confidence'",
        ),
        (lambda: metric_of(num_classes=3, ignore_index="x"), "ignore_index must be"),
        (lambda: metric_of("RankedCalibrationError", 3, distance="l2"), "`distance` must be one of"),
        (lambda: metric_of(num_classes=3, variation="entorpy"), "unknown variation"),
        (lambda: metric_of(num_classes=3).compute(), "without rows"),
    ],
)
@pytest.mark.filterwarnings("ignore:The ``compute`` method:UserWarning")
def test_bad_arguments(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@torch_only
def test_bad_tensors() -> None:
    import torch

    metric, labels = metric_of(num_classes=3), torch.tensor([0, 1])
    for preds, target, error, message in [
        (torch.rand(2, 4), labels, ValueError, r"shape \(2, 4\) and target \(2,\); with num_classes=3"),
        (torch.rand(2), labels, ValueError, "task='binary'"),
        (torch.rand(2, 3, 5), labels, ValueError, r"\(N, 3, ...\)"),
        (labels, torch.rand(2, 3), TypeError, "the order is preds, target"),
        (torch.rand(2, 3), labels.double(), TypeError, "targets must be class indices"),
        (np.zeros((2, 3)), labels, TypeError, "`preds` must be a tensor, got ndarray"),
    ]:
        with pytest.raises(error, match=message):
            metric.update(preds, target)
    with pytest.raises(ValueError, match="probability of class 1"):
        metric_of(task="binary").update(torch.rand(2, 2), labels)


@torch_only
def test_tensors_on_another_device_than_the_metric_are_refused() -> None:
    import torch

    with pytest.raises(ValueError, match="`preds` is on meta, the metric on cpu"):
        metric_of(num_classes=3).update(
            torch.empty(5, 3, device="meta"), torch.empty(5, dtype=torch.int64, device="meta")
        )


@torch_only
def test_a_measure_of_your_own() -> None:
    measure = tn.Variation("my_gini", lambda x: 1 - (x**2).sum(axis=-1), range=lambda c: (0, 1 - 1 / c))
    rows, labels = tensors(4)
    metric = metric_of(num_classes=4, variation=measure)
    metric.update(rows, labels)
    assert metric.table == tn.tabulate(labels.numpy(), rows.numpy(), variation=measure)


@torch_only
def test_labels_of_any_whole_type_and_an_ignored_one_that_it_cannot_hold() -> None:
    """In torch 156 as uint8 equals -100."""
    import torch

    rows, _ = tensors(200, 3000)
    rows[7, 0] = torch.nan
    for dtype in (torch.uint8, torch.int8, torch.int32, torch.uint16):
        labels = torch.full((3000,), 156 if dtype != torch.int8 else 100).to(dtype)
        metric = metric_of(num_classes=200, ignore_index=-100)
        metric.update(rows, labels)
        with pytest.raises(
            ValueError, match="1 of 3000 rows is invalid: 1 has probabilities that are not finite"
        ):
            metric.compute()
