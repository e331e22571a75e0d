"""Metrics in two processes."""

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from table_counts import equal_counts
from torch_metrics import metric_of, own_rows, tensors, torch_only

import trueness as tn


def join_two(rank: int, folder: str) -> None:
    import torch
    import torch.distributed as dist

    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)


def shares(n_classes: int = 7, n_rows: int = 3001, first: int = 1234) -> list[Any]:
    """The rows and labels of each of two processes."""
    rows, labels = tensors(n_classes, n_rows)
    return [(rows[:first], labels[:first]), (rows[first:], labels[first:])]


def one_of_two(rank: int, folder: str) -> None:
    """A process of a group of two, with its share of the rows in batches of its own sizes.

    What only one process does must not wait for the other: if it did, this would not end.
    """
    import torch.distributed as dist
    from torchmetrics.utilities.exceptions import TorchMetricsUserError

    join_two(rank, folder)
    metric = metric_of(num_classes=7, confidence_bins=12, by_class=True)
    classwise = metric_of("ClasswiseCalibrationError", 7)
    rows, labels = shares()[rank]
    step = 100 + 57 * rank
    for batch in zip(rows.split(step), labels.split(step), strict=True):
        metric.update(*batch)
        classwise.update(*batch)
    with pytest.raises(TorchMetricsUserError, match=r"call metric.compute\(\) on every process first"):
        classwise.table  # noqa: B018
    if rank == 0:
        for name in ("table", "confidence_table", "class_table", "tables"):
            with pytest.raises(
                TorchMetricsUserError, match=r"call metric.compute\(\) on every process first"
            ):
                getattr(metric, name)
    value = metric.compute()
    classwise.compute()
    assert classwise.table == metric.class_table
    assert own_rows(classwise) == own_rows(metric) == len(rows)
    if rank == 0:
        metric.table.save(f"{folder}/read-once.json")
    copies = metric.clone(), pickle.loads(pickle.dumps(metric))
    assert all(copy.table == metric.table for copy in copies)
    with metric.sync_context():
        assert metric.table.n_rows == metric.confidence_table.n_rows == 3001
        assert own_rows(metric) == len(rows)
    assert own_rows(metric) == len(rows)
    metric.table.save(f"{folder}/{rank}.json")
    metric.confidence_table.save(f"{folder}/{rank}-confidence.json")
    metric.class_table.save(f"{folder}/{rank}-classes.json")
    Path(f"{folder}/{rank}.txt").write_text(repr(value.item()))

    metric.update(rows[:10], labels[:10])
    with pytest.raises(TorchMetricsUserError, match=r"call metric.compute\(\) on every process first"):
        metric.table  # noqa: B018
    assert own_rows(metric) == len(rows) + 10
    metric.compute()
    assert metric.table.n_rows == 3021
    metric.reset()
    assert own_rows(metric) == 0
    with pytest.raises(TorchMetricsUserError):
        metric.table  # noqa: B018
    dist.destroy_process_group()
    assert metric.table.n_rows == 0  # alone, it is complete


@torch_only
def test_two_processes_are_one(tmp_path: Path) -> None:
    import torch.multiprocessing as mp

    mp.spawn(one_of_two, (str(tmp_path),), nprocs=2)
    rows, labels = tensors(7, 3001)
    whole = metric_of(num_classes=7, confidence_bins=12, by_class=True)
    whole.update(rows, labels)
    for rank in (0, 1):
        for name, expected in ((f"{rank}", whole.table), (f"{rank}-confidence", whole.confidence_table)):
            table = tn.CalibrationTable.load(tmp_path / f"{name}.json")
            assert equal_counts(table, expected)
            assert table == expected
        assert tn.EventTable.load(tmp_path / f"{rank}-classes.json") == tn.tabulate_events(labels, rows)
        value = float((tmp_path / f"{rank}.txt").read_text())
        assert value == pytest.approx(whole.compute().item(), abs=0)
    assert tn.CalibrationTable.load(tmp_path / "read-once.json") == tn.CalibrationTable.load(
        tmp_path / "0.json"
    )


def numbers_of_each_step(rank: int) -> None:
    """With `dist_sync_on_step` numbers are of all processes' batches; the rows stay those of this process."""
    import torch
    from torchmetrics.utilities.exceptions import TorchMetricsUserError

    both = shares(4, 600, 200)
    rows, labels = both[rank]
    metric = metric_of(num_classes=4, dist_sync_on_step=True)
    for start in (0, 100):
        batch = slice(start, start + 100)
        all_rows, all_labels = (
            torch.cat([part[batch] for part in parts]) for parts in zip(*both, strict=True)
        )
        expected = tn.vce(all_labels, all_rows)
        assert metric(rows[batch], labels[batch]).item() == pytest.approx(expected, abs=1e-12)
        assert own_rows(metric) == start + 100
        with pytest.raises(TorchMetricsUserError):
            metric.table  # noqa: B018
    metric.compute()
    assert metric.table.n_rows == 400

    # A bad row of one process: all raise, every time, and the rows of each stay its own.
    spoilt = rows[:50].clone()
    if rank == 0:
        spoilt[3, 0] = 7.0
    with pytest.raises(ValueError, match="1 of 100 rows is invalid"):
        metric(spoilt, labels[:50])
    for _ in range(2):
        with pytest.raises(ValueError, match="1 of 500 rows is invalid"):
            metric.compute()
    if rank == 1:
        assert own_rows(metric) == 250
    else:
        with pytest.raises(ValueError, match="1 of 250 rows is invalid"):
            own_rows(metric)


def numbers_of_one_process(rank: int) -> None:
    """Where `compute` does not communicate, the table is of this process too."""
    rows, labels = shares(4, 600, 200)[rank]
    metric = metric_of(num_classes=4, sync_on_compute=False)
    metric.update(rows, labels)
    assert metric.table.n_rows == len(rows)
    assert metric.compute().item() == pytest.approx(tn.vce(labels, rows), abs=1e-12)
    assert own_rows(metric) == len(rows)
    with metric.sync_context():
        assert metric.table.n_rows == 600


def numbers_that_are_not_kept(rank: int) -> None:
    """Nor are their tables; `sync` gives those of all processes."""
    from torchmetrics.utilities.exceptions import TorchMetricsUserError

    metric = metric_of(num_classes=4, compute_with_cache=False)
    metric.update(*shares(4, 600, 200)[rank])
    rows, labels = tensors(4, 600)
    assert metric.compute().item() == pytest.approx(tn.vce(labels, rows), abs=1e-12)
    with pytest.raises(TorchMetricsUserError):
        metric.table  # noqa: B018
    metric.sync()
    assert metric.table.n_rows == 600
    metric.unsync()


def numbers_of_a_collection(rank: int) -> None:
    from torchmetrics import MetricCollection
    from torchmetrics.utilities.exceptions import TorchMetricsUserError

    rows, labels = shares(4, 600, 200)[rank]
    metrics = MetricCollection(
        {"vce": metric_of(num_classes=4), "rce": metric_of("RankedCalibrationError", 4)}
    )
    for batch in zip(rows.split(50), labels.split(50), strict=True):
        metrics.update(*batch)
    metrics.compute()
    assert [metrics[name].table.n_rows for name in ("vce", "rce")] == [600, 600]
    metrics.update(rows, labels)
    for name in ("vce", "rce"):
        with pytest.raises(TorchMetricsUserError):
            metrics[name].table  # noqa: B018
        assert own_rows(metrics[name]) == 2 * len(rows)


def one_of_two_with_other_settings(rank: int, folder: str) -> None:
    import torch.distributed as dist

    join_two(rank, folder)
    numbers_of_each_step(rank)
    numbers_of_one_process(rank)
    numbers_that_are_not_kept(rank)
    numbers_of_a_collection(rank)
    dist.destroy_process_group()


@torch_only
def test_two_processes_with_other_settings(tmp_path: Path) -> None:
    import torch.multiprocessing as mp

    mp.spawn(one_of_two_with_other_settings, (str(tmp_path),), nprocs=2)
