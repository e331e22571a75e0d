"""Class tables of the calibration metrics, and the metrics of classes and events."""

import pickle
from pathlib import Path
from typing import Any

import pytest
from torch_metrics import metric_of, tensors, torch_only

import trueness as tn
from trueness.old_table import EventSpec, Tables

"""All sums without a logarithm."""


def with_edges(n_classes: int, dtype: str = "float64") -> Any:
    """Rows of which a third have one decimal: tied, on edges, with zeros, and with true classes of probability 0."""
    import torch

    rows, labels = tensors(n_classes, 900)
    tenths = torch.floor(rows[::3] * 10)
    tenths[:, 0] += 10 - tenths.sum(dim=1)
    rows[::3] = tenths / 10
    return rows.to(getattr(torch, dtype)), labels


def agree(found: tn.EventTable, core: tn.EventTable) -> None:
    assert found.spec == core.spec
    assert found == core


def filled(metric: Any, rows: Any, labels: Any, step: int = 173) -> Any:
    for batch in zip(rows.split(step), labels.split(step), strict=True):
        metric.update(*batch)
    return metric


@torch_only
@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize("n_classes", [2, 3, 40])
@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16"])
def test_the_class_table_is_that_of_tabulate_events(n_classes: int, ties: str, dtype: str) -> None:
    rows, labels = with_edges(n_classes, dtype)
    metric, plain = (
        filled(metric_of(num_classes=n_classes, ties=ties, by_class=chosen), rows, labels)
        for chosen in (True, False)
    )
    core = tn.tabulate_events(labels, rows, ties=ties)
    agree(metric.class_table, core)
    assert metric.class_table == metric.tables.by_class
    assert metric.table == plain.table
    assert plain.class_table is None
    assert plain.tables == Tables(plain.table)


@torch_only
@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize(("n_classes", "event"), [(2, 1), (2, 0), (2, "top"), (5, 3), (5, "top")])
def test_the_table_of_an_event_is_that_of_tabulate_events(
    n_classes: int, event: int | str, ties: str
) -> None:
    rows, labels = with_edges(n_classes)
    metric = metric_of("EventCalibrationError", n_classes, event=event, ties=ties)
    core = tn.tabulate_events(labels, rows, events=event, ties=ties)
    agree(filled(metric, rows, labels).table, core)
    assert core.sums.impossible_rows.sum() > 0 or event == "top"
    assert metric.compute().item() == pytest.approx(tn.event_calibration_error(core), abs=1e-12)


@torch_only
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_logits(task: str) -> None:
    rows, labels = tensors(2)
    given = rows[:, 1].logit() if task == "binary" else rows.log()
    metric = metric_of("EventCalibrationError", task=task, num_classes=2, from_logits=True)
    found, core = filled(metric, given, labels).table, tn.tabulate_events(labels, given, from_logits=True)
    assert found == core


@torch_only
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("weights", [None, "expected", "observed"])
def test_the_classwise_error_is_that_of_the_function(norm: str, weights: str | None) -> None:
    for n_classes, n_bins in ((5, 10), (5, tn.EqualMass(7)), (2, 15)):
        rows, labels = tensors(n_classes)
        metric = metric_of("ClasswiseCalibrationError", n_classes, n_bins, weights, norm=norm)
        expected = tn.cwece(labels, rows, bins=n_bins, weights=weights, norm=norm)
        assert filled(metric, rows, labels).compute().item() == pytest.approx(expected, abs=1e-12)


@torch_only
def test_bad_and_ignored_rows() -> None:
    rows, labels = tensors(4, 400)
    labels[:20] = 9
    rows[5, 2] = float("nan")  # ignored too
    metric = filled(metric_of("ClasswiseCalibrationError", 4, ignore_index=9), rows, labels)
    agree(metric.table, tn.tabulate_events(labels[20:], rows[20:]))
    rows[30, 0], labels[31] = 7.0, 4
    one_of = metric_of(num_classes=4, by_class=True, ignore_index=9)
    event = metric_of("EventCalibrationError", 4, event="top", ignore_index=9)
    for some in (metric, one_of, event):
        some.update(rows[30:40], labels[30:40])
        with pytest.raises(ValueError, match=r"2 of \d+ rows are invalid: 1 has probabilities outside"):
            some.compute()
        with pytest.raises(ValueError, match="1 has a label out of range"):
            some.table  # noqa: B018
        assert some.totals[-4:].tolist() == [0, 1, 0, 1]
        some.reset()
        some.update(rows[50:], labels[50:])
    agree(metric.table, tn.tabulate_events(labels[50:], rows[50:]))
    agree(one_of.class_table, metric.table)
    assert event.table.n_rows == 350


@torch_only
@pytest.mark.filterwarnings("ignore:The ``compute`` method:UserWarning")
@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: metric_of("ClasswiseCalibrationError"), ValueError, "num_classes is needed"),
        (lambda: metric_of("ClasswiseCalibrationError", 3, 7), ValueError, "not an edge of the 80 finer"),
        (lambda: metric_of("ClasswiseCalibrationError", 3, weights="rows"), ValueError, "`weights` must be"),
        (lambda: metric_of("ClasswiseCalibrationError", 3, norm="l3"), ValueError, "`norm` must be one of"),
        (lambda: metric_of("ClasswiseCalibrationError", 3).compute(), ValueError, "without rows"),
        (lambda: metric_of("EventCalibrationError", 3), ValueError, "event is needed with 3 classes"),
        (lambda: metric_of("EventCalibrationError", 3, event=3), ValueError, "`event` names 3, which is not"),
        (lambda: metric_of("EventCalibrationError", 3, event="tpo"), ValueError, "'top' is the top label"),
        (lambda: metric_of("EventCalibrationError", 3, task="binary"), ValueError, "two classes"),
        (lambda: metric_of("EventCalibrationError", ties="last"), ValueError, "`ties` must be one of"),
        (lambda: metric_of("EventCalibrationError", from_logits="no"), TypeError, "`from_logits` must be"),
        (lambda: metric_of(num_classes=3, by_class="yes"), TypeError, "`by_class` must be True or False"),
    ],
)
def test_bad_arguments(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


@torch_only
@pytest.mark.parametrize(
    "name", ["VariationCalibrationError", "ClasswiseCalibrationError", "EventCalibrationError"]
)
def test_states_are_copied_saved_merged_and_reset(name: str, tmp_path: Path) -> None:
    import torch

    rows, labels = tensors(4)
    options: dict[str, Any] = {"V": {"by_class": True}, "C": {}, "E": {"event": "top"}}[name[0]]

    def tables(metric: Any) -> list[Any]:
        return [*metric.tables] if name[0] == "V" else [metric.table]

    one, other, whole = (metric_of(name, 4, **options) for _ in range(3))
    filled(one, rows[:100], labels[:100])
    filled(other, rows[100:], labels[100:])
    filled(whole, rows, labels)
    for copy in (pickle.loads(pickle.dumps(one)), one.clone()):
        assert tables(copy) == tables(one)
    torch.save(one.state_dict(), tmp_path / "one.pt")
    assert one.compute() != whole.compute()
    one.merge_state(other)
    assert tables(one) == tables(whole)
    assert one.compute() == whole.compute()
    one.reset()
    assert one.table.n_rows == 0
    one.load_state_dict(torch.load(tmp_path / "one.pt", weights_only=True))
    value = one(rows[100:], labels[100:])
    assert value == other.compute()
    assert tables(one) == tables(whole)
    with pytest.raises(ValueError, match="preds has shape"):
        one(rows[:, :3], labels)
    assert tables(one) == tables(whole)
    unlike = {"V": {}, "C": {"ignore_index": 1}, "E": {"event": 3}}[name[0]]
    with pytest.raises(ValueError, match="was saved by a metric with other classes, bins"):
        metric_of(name, 4, **unlike).load_state_dict(one.state_dict())
    with pytest.raises(ValueError, match="merge only if"):
        one.merge_state(metric_of(name, 4, **unlike))


@torch_only
def test_shapes_of_maps_and_of_binary_tasks() -> None:
    rows, labels = tensors(5, 2 * 6 * 7)
    metric = metric_of("ClasswiseCalibrationError", 5)
    metric.update(rows.reshape(2, 6, 7, 5).permute(0, 3, 1, 2), labels.reshape(2, 6, 7))
    agree(metric.table, tn.tabulate_events(labels, rows))
    rows, labels = tensors(2, 60)
    for name in ("ClasswiseCalibrationError", "EventCalibrationError"):
        metric = metric_of(name, task="binary")
        metric.update(rows[:, 1].reshape(6, 10), labels.reshape(6, 10).bool())
        agree(metric.table, tn.tabulate_events(labels, rows[:, 1]))


def test_the_spec_of_two_classes_has_one_event() -> None:
    """So that a metric by class of a binary model keeps the fine cells of class 1."""
    spec = EventSpec.by_class(2)
    assert (spec.events, spec.grid.n_cells, spec.has_moments) == ((1,), 5026, True)
