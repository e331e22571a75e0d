"""Short batches are buffered: every reader sees them, and none is lost."""

import pickle

import pytest
from torch_metrics import metric_of, tensors, torch_only

import trueness as tn


@torch_only
@pytest.mark.parametrize("n_threads", [1, 2])
def test_buffered_batches_are_included_in_every_reading(
    n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when dtypes change, when a batch is long, and when the caller uses its memory again."""
    import torch

    monkeypatch.setattr(torch, "get_num_threads", lambda: n_threads)
    rows, labels = tensors(4, 40_000)
    metric, core = metric_of(num_classes=4), tn.Accumulator(4)
    for start, stop, dtype in [
        (0, 7, "float64"),
        (7, 90, "float64"),
        (90, 100, "float32"),
        (100, 35_000, "float32"),
        (35_000, 35_001, "bfloat16"),
        (35_001, 39_990, "float64"),
    ]:
        batch, batch_labels = rows[start:stop].to(getattr(torch, dtype)), labels[start:stop].clone()
        metric.update(batch, batch_labels)
        core.update(batch_labels.clone(), batch.clone())
        batch.fill_(0.25)
        batch_labels.fill_(0)
        assert 4 * metric._host.n_buffered < 2**18
    assert metric._host.n_buffered
    assert int(metric.bins[:, 0].sum()) == 39_990
    assert not metric._host.n_buffered
    assert metric.table == core.table


@torch_only
@pytest.mark.parametrize("dist_sync_on_step", [False, True])
def test_an_error_in_a_batch_keeps_the_rows_before_it(
    dist_sync_on_step: bool,
) -> None:
    import torch

    rows, labels = tensors(4, 90)
    metric = metric_of(num_classes=4, ignore_index=9, dist_sync_on_step=dist_sync_on_step)
    metric(rows[:50], labels[:50])
    assert metric(rows[50:60], torch.full((10,), 9)).isnan()
    with pytest.raises(ValueError, match="preds has shape"):
        metric(rows[:, :3], labels)
    with pytest.raises(TypeError, match="targets must be class indices"):
        metric(rows, labels.double())
    assert metric.table.n_rows == 50
    metric(rows[50:80], labels[50:80])
    assert metric.table == tn.tabulate(labels[:80], rows[:80])
    assert metric.compute_on_cpu is False
    assert metric._to_sync is True
    rows[80, 0] = 7.0
    with pytest.raises(ValueError, match="1 of 10 rows"):
        metric(rows[80:], labels[80:])
    with pytest.raises(ValueError, match="1 of 90 rows"):
        metric.compute()


@torch_only
@pytest.mark.parametrize("act", ["reset", "state_dict", "copy", "pickle", "move", "load"])
def test_buffered_rows_are_neither_lost_nor_kept_too_long(act: str) -> None:
    import torch

    rows, labels = tensors(4, 50)
    metric = metric_of(num_classes=4)
    metric.update(rows[:20], labels[:20])
    saved = metric.state_dict()
    metric.update(rows[20:], labels[20:])
    assert metric._host.n_buffered
    if act == "reset":
        metric.reset()
        metric.update(rows[:1], labels[:1])
    elif act == "load":
        metric.load_state_dict(saved)
    other = {
        "state_dict": metric.state_dict,
        "copy": metric.clone,
        "pickle": lambda: pickle.loads(pickle.dumps(metric)),
        "move": lambda: metric.to(torch.device("cpu")).to(torch.float16),
    }.get(act, lambda: metric)()
    words = other["bins"] if act == "state_dict" else other.bins
    assert int(words[:, 0].sum()) == {"reset": 1, "load": 20}.get(act, 50)


@torch_only
def test_metrics_that_take_turns_do_not_share_their_buffers() -> None:
    import torch

    metrics = {n_classes: metric_of(num_classes=n_classes) for n_classes in (3, 4, 7)}
    rows = {n_classes: tensors(n_classes, 300) for n_classes in metrics}
    seen = {n_classes: tn.Accumulator(n_classes) for n_classes in metrics}
    for k in range(30):
        for n_classes, metric in metrics.items():
            dtype = torch.float32 if k % 5 < 3 else torch.float64
            batch = (
                rows[n_classes][0][10 * k : 10 * k + 10].to(dtype),
                rows[n_classes][1][10 * k : 10 * k + 10],
            )
            metric.update(*batch)
            seen[n_classes].update(batch[1], batch[0])
            if (k + n_classes) % 4 == 0:
                assert metric.table == seen[n_classes].table
    assert all(metric.table == seen[n_classes].table for n_classes, metric in metrics.items())
