"""The torch metrics beyond conformance: devices, processes, precision, collections, checkpoints, training."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn
from trueness.adapters._integer_words import sums_of, width, words_of
from trueness.table import TableSpec
from trueness.table.exact_sums import ExactSum

torch_only = pytest.mark.torch


def tensors(n_classes: int = 4, n_rows: int = 900, dtype: Any = None) -> Any:
    import torch

    y_true, y_prob = tn.simulate.calibrated(n_rows, np.ones(n_classes), rng=n_classes)
    return torch.tensor(tn.simulate.sharpen(y_prob, 1.4), dtype=dtype or torch.float64), torch.tensor(y_true)


def metric_of(name: str = "VariationCalibrationError", *args: Any, **options: Any) -> Any:
    from trueness.adapters import torch as adapter

    return getattr(adapter, name)(*args, **options)


# The words that states are made of


@given(
    st.integers(0, 2**36), st.integers(0, 2**52 - 1), st.integers(1, 50), st.sampled_from(["first", "split"])
)
def test_words_added_up_are_the_tables_added_up(whole: int, fraction: int, times: int, ties: str) -> None:
    """Plain sums of words, without carrying, against sums that carry: also where fractions overflow many times."""
    spec = TableSpec(2, tn.variations["entropy"], tn.Edges([0, 0.5, 1]), ties)

    def filled(shape: tuple[int, ...], bits: int) -> ExactSum:
        return ExactSum(np.full(shape, whole), np.full(shape, fraction & ((1 << bits) - 1)), bits)

    zeros = tn.CalibrationTable.empty(spec).sums
    rank = (
        filled((2, 2), 52) if ties == "split" else ExactSum(np.full((2, 2), whole), np.zeros((2, 2), int), 52)
    )
    sums = type(zeros)(
        rows=np.full(2, whole),
        tied_rows=np.array(3),
        impossible_rows=np.array(5),
        ordered=filled((2, 2), 52),
        rank=rank,
        variation=filled((2,), 52),
        log_score=ExactSum(np.array(-whole), np.array(fraction & (2**40 - 1)), 40),
        log_score_variance=filled((), 40),
        true_probability=filled((), 52),
        square=filled((), 52),
        log_likelihood=ExactSum(np.array(-whole), np.array(fraction & (2**40 - 1)), 40),
    )
    words, totals = words_of(sums, spec, 4)
    assert words.shape == (2, width(spec))
    together = sum([sums] * (times - 1), sums) if times > 1 else sums
    few = whole < 2**30  # beyond, the repeated sum itself would leave what a table can hold
    if few:
        assert sums_of(words * times, totals * times, spec).same(together)
    assert sums_of(words, totals, spec).same(sums)


# On a device


@torch_only
def test_update_on_a_device_never_asks_for_a_value() -> None:
    """Fake tensors have shapes and no values, so whatever needs one (item, a mask as index, nonzero) raises."""
    import torch
    from torch._subclasses.fake_tensor import DataDependentOutputException, FakeTensorMode

    choices: list[dict[str, Any]] = [
        {},
        {"ties": "split", "from_logits": True},
        {"ignore_index": 3, "n_bins": tn.FineGrid(200), "confidence_bins": 15},
    ]
    metrics = [metric_of(num_classes=5, engine="device", **options) for options in choices]
    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        rows, labels = torch.rand(300, 5), torch.randint(0, 5, (300,))
        for metric in metrics:
            metric.update(rows, labels)
            assert mode.is_our_fake(metric.bins)
            assert mode.is_our_fake(metric.totals)
            n_bins = sum(spec.bins.n_bins for spec in metric.reading.specs)
            assert metric.bins.shape == (n_bins, width(metric.reading.spec))
        with pytest.raises(DataDependentOutputException):  # the detector detects
            bool((rows > 0).all())


@torch_only
def test_update_on_a_device_is_one_graph() -> None:
    """Traced whole, with no step back to Python in between, it does the same."""
    import torch

    from trueness.adapters._device_sums import device_sums

    rows, labels = tensors(5)
    metric = metric_of(num_classes=5, engine="device", confidence_bins=15)
    eps = float(torch.finfo(rows.dtype).eps)
    arguments = rows, labels, metric.reading, eps, metric._thresholds_on(rows.device, eps)
    traced = torch.compile(device_sums, fullgraph=True, backend="eager")
    for one, other in zip(traced(*arguments), device_sums(*arguments), strict=True):
        assert torch.equal(one, other)


@torch_only
def test_many_rows_are_taken_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, labels = tensors(4)
    whole = metric_of(num_classes=4, engine="device")
    whole.update(rows, labels)
    monkeypatch.setattr("trueness.adapters._device_sums.CHUNK_VALUES", 400)
    parts = metric_of(num_classes=4, engine="device")
    parts.update(rows, labels)
    assert parts.table.same_counts(whole.table)
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
def test_measures_of_ones_own_are_taken_on_the_host_only() -> None:
    measure = tn.Variation("my_gini", lambda x: 1 - (x**2).sum(axis=-1), range=lambda c: (0, 1 - 1 / c))
    rows, labels = tensors(4)
    metric = metric_of(num_classes=4, variation=measure)
    metric.update(rows, labels)
    assert metric.table == tn.tabulate(labels.numpy(), rows.numpy(), variation=measure)
    with pytest.raises(ValueError, match="'my_gini' is not implemented in torch"):
        metric_of(num_classes=4, variation=measure, engine="device").update(rows, labels)


# Bad rows


@torch_only
@pytest.mark.parametrize("engine", ["host", "device"])
def test_bad_rows_are_counted_by_kind_and_named_at_the_end(engine: str) -> None:
    rows, labels = tensors(3, 400)
    good = metric_of(num_classes=3, engine=engine)
    good.update(rows[50:], labels[50:])
    rows[:3, 1] = float("nan")
    rows[3, 0] = float("inf")
    rows[4:9] *= 1.5
    rows[9:20, 0] = -0.2
    labels[20:45] = 3
    labels[45:50] = -1
    metric = metric_of(num_classes=3, engine=engine)
    metric.update(rows[:200], labels[:200])
    metric.update(rows[200:], labels[200:])
    forgiven = metric.clone()
    forgiven.totals[-4:] = 0
    assert forgiven.table.same_counts(good.table)
    assert forgiven.table == good.table if engine == "host" else forgiven.table.isclose(good.table)
    over = int(((rows[4:9] > 1).any(1)).sum())
    assert metric.totals[-4:].tolist() == [4, 11 + over, 5 - over, 30]
    with pytest.raises(
        ValueError, match=r"50 of 400 rows were refused: not finite in 4; outside .* in .*label out of"
    ):
        metric.compute()
    with pytest.raises(ValueError, match="from_logits=True for logits"):
        metric.table  # noqa: B018
    metric.reset()
    metric.update(rows[50:], labels[50:])
    assert metric.compute() == good.compute()


@torch_only
@pytest.mark.parametrize("engine", ["host", "device"])
def test_bad_logits(engine: str) -> None:
    import torch

    inf = float("inf")
    rows = torch.tensor([[0.0, 1.0], [-inf, 1.0], [inf, 0.0], [-inf, -inf], [0.0, float("nan")]])
    metric = metric_of(num_classes=2, from_logits=True, engine=engine)
    metric.update(rows, torch.tensor([1, 1, 0, 0, 0]))
    assert metric.totals[-4:].tolist() == [3, 0, 0, 0]
    with pytest.raises(ValueError, match=r"3 of 5 rows were refused: not finite in 3 .a logit may be -inf"):
        metric.compute()


@torch_only
@pytest.mark.parametrize("engine", ["host", "device"])
def test_a_batch_of_bad_rows_or_of_none(engine: str) -> None:
    import torch

    metric = metric_of(num_classes=2, engine=engine)
    metric.update(torch.empty(0, 2), torch.empty(0, dtype=torch.int64))
    metric.update(torch.full((7, 2), 2.0), torch.zeros(7, dtype=torch.int64))
    assert metric.totals[-4:].tolist() == [0, 7, 0, 0]
    assert not metric.bins.any()


@torch_only
def test_what_is_not_about_rows_is_raised_at_once() -> None:
    import torch

    rows, labels = tensors(3, dtype=torch.float16)
    with pytest.raises(ValueError, match="too narrow to tell apart"):
        metric_of(num_classes=3, n_bins=500).update(rows, labels)


@torch_only
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (metric_of, "num_classes is needed"),
        (lambda: metric_of(num_classes=1), "num_classes must be a whole number from 2"),
        (lambda: metric_of(num_classes=3, task="binary"), "two classes"),
        (lambda: metric_of(num_classes=3, task="multilabel"), "task must be one of"),
        (lambda: metric_of(num_classes=3, norm="l3"), "norm must be one of"),
        (lambda: metric_of(num_classes=3, n_bins=tn.EqualMass(5)), "EqualMass.5..fit.*'entropy'"),
        (lambda: metric_of(num_classes=3, confidence_bins=tn.EqualMass(5)), "EqualMass.5..fit.*'confidence'"),
        (lambda: metric_of(num_classes=3, confidence_bins=0), "bins"),
        (
            lambda: metric_of(num_classes=3, variation="confidence", confidence_bins=9),
            "confidence_bins must be None with variation='confidence'",
        ),
        (lambda: metric_of(num_classes=3, ignore_index="x"), "ignore_index must be"),
        (lambda: metric_of("RankedCalibrationError", 3, distance="l2"), "distance must be one of"),
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
        (np.zeros((2, 3)), labels, TypeError, "preds must be a tensor, got ndarray"),
    ]:
        with pytest.raises(error, match=message):
            metric.update(preds, target)
    with pytest.raises(ValueError, match="probability of class 1"):
        metric_of(task="binary").update(torch.rand(2, 2), labels)


@torch_only
def test_the_device_without_float64_is_refused() -> None:
    import torch

    with pytest.raises(TypeError, match=r"no float64: move the metric to the CPU and pass preds.cpu\(\)"):
        metric_of(num_classes=3)._thresholds_on(torch.device("mps"), 1e-7)


# Batches that wait


@torch_only
@pytest.mark.parametrize(("n_threads", "most"), [(1, 2**16), (2, 2**20)])
def test_short_batches_wait_and_are_seen_by_whoever_reads(
    n_threads: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also when dtypes change, when a batch is long, and when the caller uses its memory again."""
    import torch

    monkeypatch.setattr(torch, "get_num_threads", lambda: n_threads)
    rows, labels = tensors(4, 40_000)
    metric, core = metric_of(num_classes=4), tn.Accumulator(4, engine="portable")
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
        assert 4 * metric._host.n_waiting < most
    assert metric._host.n_waiting
    assert int(metric.bins[:, 0].sum()) == 39_990
    assert not metric._host.n_waiting
    assert metric.table.same_counts(core.table)
    assert metric.table.isclose(core.table)


@torch_only
@pytest.mark.parametrize("n_bins", [10, 50])
@pytest.mark.parametrize("n_classes", [4, 20])
def test_bad_rows_of_a_batch_that_threads_share(
    n_classes: int, n_bins: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is found where it is, and the rows before and behind it count."""
    import torch

    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    rows, labels = tensors(n_classes, 2**20 // n_classes + 5)
    bad = [0, 77, len(rows) // 3, len(rows) // 2, len(rows) - 1]
    spoilt, wrong = rows.clone(), labels.clone()
    spoilt[bad[:2], 0] = torch.nan
    spoilt[bad[2], 1] = -0.1
    spoilt[bad[3]] *= 0.9
    wrong[bad[4]] = n_classes
    metric = metric_of(num_classes=n_classes, n_bins=n_bins, confidence_bins=15)
    good = torch.ones(len(rows), dtype=torch.bool)
    metric.update(rows, labels)
    metric.update(spoilt, wrong)
    good[bad] = False
    with pytest.raises(
        ValueError, match=r"not finite in 2; outside \[0, 1\] in 1 .*is not 1 in 1 .*range in 1 "
    ):
        metric.compute()
    expected = metric_of(num_classes=n_classes, n_bins=n_bins, confidence_bins=15)
    expected.update(rows, labels)
    expected.update(rows[good], labels[good])
    assert torch.equal(metric.bins, expected.bins)
    assert torch.equal(metric.totals[:-4], expected.totals[:-4])


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
        with pytest.raises(ValueError, match="1 of 3000 rows were refused: not finite in 1"):
            metric.compute()


@torch_only
@pytest.mark.parametrize("dist_sync_on_step", [False, True])
def test_whatever_goes_wrong_in_a_batch_that_is_computed_the_rows_before_it_stay(
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
    assert metric.table == tn.tabulate(labels[:80], rows[:80], engine=metric._host.engine)
    assert metric.compute_on_cpu is False
    assert metric._to_sync is True
    rows[80, 0] = 7.0
    with pytest.raises(ValueError, match="1 of 10 rows"):
        metric(rows[80:], labels[80:])
    with pytest.raises(ValueError, match="1 of 90 rows"):
        metric.compute()


@torch_only
@pytest.mark.parametrize("engine", ["host", "device"])
@pytest.mark.parametrize("n_classes", [2**7, 2**7 + 1, 2**8 + 1, 2**15 + 1])
def test_labels_at_the_ends_of_every_integer_type(n_classes: int, engine: str) -> None:
    import torch

    rows = torch.zeros((2, n_classes), dtype=torch.float32)
    rows[:, 0] = 1.0
    for dtype in (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8):
        ends = torch.iinfo(dtype)
        for label in {ends.min, -1, 0, n_classes - 1, n_classes, ends.max}:
            if not ends.min <= label <= ends.max:
                continue
            metric = metric_of(num_classes=n_classes, engine=engine, n_bins=1)
            metric.update(rows, torch.tensor([0, label], dtype=dtype))
            good = 0 <= label < n_classes
            assert metric.totals[-4:].tolist() == [0, 0, 0, int(not good)], (dtype, label)
            if good:
                assert metric.table.accuracy == (1.0 if label == 0 else 0.5)


@torch_only
def test_sums_on_the_edge_are_refused_or_not_but_never_an_error_of_an_update() -> None:
    import torch

    from trueness.adapters._integer_words import sums_of

    rows, labels = tensors(31, 400)
    jitter = torch.randint(-4, 5, (400, 1), generator=torch.Generator().manual_seed(0))
    side = 1.0 - 2.0 * (torch.arange(400)[:, None] % 2).double()
    rows *= 1 + (1e-5 + 4 * 31 * 2.0**-52) * side + jitter * 2.0**-53
    metric, one_by_one = metric_of(num_classes=31), metric_of(num_classes=31)
    metric.update(rows, labels)
    for row, label in zip(rows.split(1), labels.split(1), strict=True):
        one_by_one.update(row, label)
        one_by_one.state_dict()  # nothing waits
    spec = metric.reading.spec
    tables = [
        tn.CalibrationTable(spec, sums_of(some.bins.numpy(), some.totals.numpy(), spec))
        for some in (metric, one_by_one)
    ]
    assert tables[0] == tables[1]
    assert torch.equal(metric.totals[-4:], one_by_one.totals[-4:])
    counts, sums = metric.totals[-4:].tolist(), int(metric.bins[:, 0].sum())
    assert sum(counts) + sums == 400
    assert 40 < counts[2] == sum(counts) < 360


@torch_only
@pytest.mark.parametrize("act", ["reset", "state_dict", "copy", "pickle", "move", "load"])
def test_nothing_that_waits_is_lost_or_kept_too_long(act: str) -> None:
    import torch

    rows, labels = tensors(4, 50)
    metric = metric_of(num_classes=4)
    metric.update(rows[:20], labels[:20])
    saved = metric.state_dict()
    metric.update(rows[20:], labels[20:])
    assert metric._host.n_waiting
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


# Shapes and precision


@torch_only
@pytest.mark.parametrize("engine", ["host", "device"])
def test_segmentation_with_pixels_to_ignore(engine: str) -> None:
    import torch

    rows, labels = tensors(5, 2 * 6 * 7)
    labels[::4] = 255
    rows[0] = float("nan")  # an ignored pixel may hold anything
    maps = rows.reshape(2, 6, 7, 5).permute(0, 3, 1, 2)
    metric = metric_of(num_classes=5, ignore_index=255, engine=engine)
    metric.update(maps, labels.reshape(2, 6, 7))
    kept = labels != 255
    core = tn.tabulate(labels[kept].numpy(), rows[kept].numpy())
    assert metric.table.same_counts(core)
    assert metric.table.isclose(core)
    every = torch.full((2, 6, 7), 255)
    metric.update(maps, every)
    assert metric.table.n_rows == core.n_rows


@torch_only
@pytest.mark.parametrize("engine", ["host", "device"])
@pytest.mark.parametrize("from_logits", [False, True])
def test_binary(engine: str, from_logits: bool) -> None:
    rows, labels = tensors(2)
    given = rows[:, 1].logit() if from_logits else rows[:, 1]
    for name, read in (("ExpectedCalibrationError", tn.ece), ("VariationCalibrationError", tn.vce)):
        metric = metric_of(name, task="binary", from_logits=from_logits, engine=engine)
        metric.update(given.reshape(-1, 9), labels.reshape(-1, 9).bool())
        expected = read(labels.numpy(), given.numpy(), from_logits=from_logits)
        assert metric.compute().item() == pytest.approx(expected, abs=1e-12)


@torch_only
@pytest.mark.parametrize("engine", ["host", "device"])
@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("from_logits", [False, True])
def test_half_precision_is_what_the_core_makes_of_it(engine: str, name: str, from_logits: bool) -> None:
    import torch

    rows, labels = tensors(6, dtype=getattr(torch, name))
    given = rows.log() if from_logits else rows
    metric = metric_of(num_classes=6, from_logits=from_logits, engine=engine)
    metric.update(given, labels)
    core = tn.tabulate(labels, given, from_logits=from_logits)
    np.testing.assert_array_equal(metric.table.count, core.count)
    np.testing.assert_array_equal(metric.table.rank_count, core.rank_count)
    assert metric.table.isclose(core)
    assert from_logits or metric.table.same_counts(core)


@torch_only
def test_sums_stay_whole_numbers_whatever_happens_to_the_model() -> None:
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
    assert metric.table == tn.tabulate(labels, logits, from_logits=True, engine=metric._host.engine)
    assert not metric.bins.requires_grad


# Two tables of the same rows


@torch_only
@pytest.mark.parametrize("engine", ["host", "device"])
@pytest.mark.parametrize("name", ["VariationCalibrationError", "RankedCalibrationError"])
@pytest.mark.parametrize(
    "options", [{}, {"ties": "split", "variation": "iqv"}, {"from_logits": True, "n_bins": tn.FineGrid(200)}]
)
def test_the_confidence_table_is_that_of_the_core(name: str, options: dict[str, Any], engine: str) -> None:
    """Also where rows are tied, bins are many, and one of the measures is not compiled."""
    import torch

    rows, labels = tensors(5)
    rows[:200] = torch.tensor([0.4, 0.4, 0.1, 0.1, 0.0])
    given = rows.log() if "from_logits" in options else rows
    metric, alone = (
        metric_of(name, 5, engine=engine, **options, **more) for more in ({"confidence_bins": 15}, {})
    )
    for some in (metric, alone):
        for batch in zip(given.split(101), labels.split(101), strict=True):
            some.update(*batch)
    of_rows = {key: value for key, value in options.items() if key in ("ties", "from_logits")}
    core = tn.tabulate(labels, given, variation="confidence", bins=15, **of_rows)
    assert metric.confidence_table.isclose(core)
    assert metric.confidence_table.spec == core.spec
    np.testing.assert_array_equal(metric.confidence_table.rank_count, core.rank_count)
    assert metric.table == alone.table
    assert metric.compute() == alone.compute()
    assert alone.confidence_table is None


@torch_only
@pytest.mark.parametrize("engine", ["host", "device"])
def test_one_metric_gives_the_whole_assessment(engine: str) -> None:
    """`assess` on the rows is the oracle, with the same seed: to the bit on the host, ECE included."""
    rows, labels = tensors(4)
    metric = metric_of(num_classes=4, confidence_bins=10, engine=engine)
    for batch in zip(rows.split(128), labels.split(128), strict=True):
        metric.update(*batch)
    result = tn.assess_table(metric.table, confidence_table=metric.confidence_table, resamples=99, rng=0)
    core_engine = metric._host.engine if engine == "host" else "portable"
    expected = tn.assess(labels, rows, resamples=99, rng=0, engine=core_engine)
    if engine == "host":
        assert result == expected
    assert result.ece is not None
    assert result.ece.value == pytest.approx(expected.ece.value, abs=1e-12)
    assert result.vce.value == metric.compute().item()
    without = metric_of(num_classes=4)
    without.update(rows, labels)
    assert tn.assess_table(without.table, confidence_table=without.confidence_table, rng=0).ece is None


@torch_only
def test_both_tables_are_copied_saved_merged_and_reset(tmp_path: Path) -> None:
    import torch

    rows, labels = tensors(4)
    one, other, whole = (metric_of(num_classes=4, confidence_bins=6) for _ in range(3))
    one.update(rows[:100], labels[:100])
    other.update(rows[100:], labels[100:])
    whole.update(rows, labels)
    for copy in (pickle.loads(pickle.dumps(one)), one.clone()):
        assert (copy.table, copy.confidence_table) == (one.table, one.confidence_table)
    torch.save(one.state_dict(), tmp_path / "one.pt")
    one.merge_state(other)
    assert (one.table, one.confidence_table) == (whole.table, whole.confidence_table)
    one.reset()
    assert one.confidence_table.n_rows == 0
    one.load_state_dict(torch.load(tmp_path / "one.pt", weights_only=True))
    one(rows[100:], labels[100:])
    assert (one.table, one.confidence_table) == (whole.table, whole.confidence_table)
    for options in ({}, {"confidence_bins": 7}):
        with pytest.raises(ValueError, match="was saved by a metric with other classes, bins"):
            metric_of(num_classes=4, **options).load_state_dict(one.state_dict())


@torch_only
def test_a_collection_shares_both_tables() -> None:
    from torchmetrics import MetricCollection

    rows, labels = tensors(4)
    metrics = MetricCollection(
        {
            "vce": metric_of(num_classes=4, confidence_bins=10),
            "rce": metric_of("RankedCalibrationError", 4, confidence_bins=10),
            "other": metric_of(num_classes=4, confidence_bins=11),
            "plain": metric_of(num_classes=4),
        }
    )
    for batch in zip(rows.split(300), labels.split(300), strict=True):
        metrics.update(*batch)
        metrics.compute()
    assert sorted(map(sorted, metrics.compute_groups.values())) == [["other"], ["plain"], ["rce", "vce"]]
    alone = metric_of(num_classes=4, confidence_bins=10)
    alone.update(rows, labels)
    for name in ("vce", "rce"):
        assert (metrics[name].table, metrics[name].confidence_table) == (alone.table, alone.confidence_table)


# States


@torch_only
@pytest.mark.parametrize("act", ["merge", "load"])
def test_the_number_is_never_older_than_the_rows(act: str) -> None:
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
    assert held() == at_first == 10 * (1 + 3 * 4 + 3) * 8 + 21 * 8 + 8 * 8


@torch_only
@pytest.mark.parametrize(
    "name", ["VariationCalibrationError", "ExpectedCalibrationError", "RankedCalibrationError"]
)
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_numbers_are_those_of_the_core(name: str, norm: str) -> None:
    rows, labels = tensors(5)
    metric = metric_of(name, 5, norm=norm)
    metric.update(rows, labels)
    number = {"V": tn.vce, "E": tn.ece, "R": tn.rce}[name[0]]
    assert metric.compute().item() == pytest.approx(
        number(labels.numpy(), rows.numpy(), norm=norm), abs=1e-12
    )
    if name[0] == "R":
        other = metric_of(name, 5, distance="w1")
        other.update(rows, labels)
        assert other.compute().item() == pytest.approx(
            tn.rce(labels.numpy(), rows.numpy(), distance="w1"), abs=1e-12
        )


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
def test_copies_and_merges() -> None:
    rows, labels = tensors(4)
    one, other, whole = (metric_of(num_classes=4) for _ in range(3))
    one.update(rows[:100], labels[:100])
    other.update(rows[100:], labels[100:])
    whole.update(rows, labels)
    travelled = pickle.loads(pickle.dumps(one))
    assert travelled.table == one.table == one.clone().table
    one.merge_state(other)
    assert one.table == whole.table
    with pytest.raises(ValueError, match="merge only if"):
        one.merge_state(metric_of(num_classes=4, variation="iqv"))


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


# Processes


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


def one_of_two(rank: int, folder: str, engine: str) -> None:
    """A process of a group of two, with its share of the rows in batches of its own sizes.

    What only one process does must not wait for the other: if it did, this would not end.
    """
    import torch.distributed as dist
    from torchmetrics.utilities.exceptions import TorchMetricsUserError

    join_two(rank, folder)
    metric = metric_of(num_classes=7, engine=engine, confidence_bins=12)
    rows, labels = shares()[rank]
    step = 100 + 57 * rank
    for batch in zip(rows.split(step), labels.split(step), strict=True):
        metric.update(*batch)
    if rank == 0:
        for name in ("table", "confidence_table"):
            with pytest.raises(
                TorchMetricsUserError, match=r"call metric.compute\(\) on every process first"
            ):
                getattr(metric, name)
    value = metric.compute()
    if rank == 0:
        metric.table.save(f"{folder}/read-once.json")
    copies = metric.clone(), pickle.loads(pickle.dumps(metric))
    assert all(copy.table == metric.table for copy in copies)
    with metric.sync_context():
        assert metric.table.n_rows == metric.confidence_table.n_rows == 3001
        assert metric.local_table.n_rows == metric.local_confidence_table.n_rows == len(rows)
    assert metric.local_table.n_rows == metric.local_confidence_table.n_rows == len(rows)
    metric.table.save(f"{folder}/{rank}.json")
    metric.confidence_table.save(f"{folder}/{rank}-confidence.json")
    Path(f"{folder}/{rank}.txt").write_text(repr(value.item()))

    metric.update(rows[:10], labels[:10])
    with pytest.raises(TorchMetricsUserError, match=r"metric.local_table has the rows of this process alone"):
        metric.table  # noqa: B018
    assert metric.local_table.n_rows == len(rows) + 10
    metric.compute()
    assert metric.table.n_rows == 3021
    metric.reset()
    assert metric.local_table.n_rows == 0
    with pytest.raises(TorchMetricsUserError):
        metric.table  # noqa: B018
    dist.destroy_process_group()
    assert metric.table.n_rows == 0  # alone, it is complete


@torch_only
@pytest.mark.parametrize("engine", ["host", "device"])
def test_two_processes_are_one(tmp_path: Path, engine: str) -> None:
    import torch.multiprocessing as mp

    mp.spawn(one_of_two, (str(tmp_path), engine), nprocs=2)
    rows, labels = tensors(7, 3001)
    whole = metric_of(num_classes=7, engine=engine, confidence_bins=12)
    whole.update(rows, labels)
    for rank in (0, 1):
        for name, expected in ((f"{rank}", whole.table), (f"{rank}-confidence", whole.confidence_table)):
            table = tn.CalibrationTable.load(tmp_path / f"{name}.json")
            assert table.same_counts(expected)
            assert table.isclose(expected)
            if engine == "host":
                assert table == expected
        value = float((tmp_path / f"{rank}.txt").read_text())
        assert value == pytest.approx(whole.compute().item(), abs=0 if engine == "host" else 1e-12)
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
        assert metric.local_table.n_rows == start + 100
        with pytest.raises(TorchMetricsUserError):
            metric.table  # noqa: B018
    metric.compute()
    assert metric.table.n_rows == 400

    # A bad row of one process: all raise, every time, and the rows of each stay its own.
    spoilt = rows[:50].clone()
    if rank == 0:
        spoilt[3, 0] = 7.0
    with pytest.raises(ValueError, match="1 of 100 rows were refused"):
        metric(spoilt, labels[:50])
    for _ in range(2):
        with pytest.raises(ValueError, match="1 of 500 rows were refused"):
            metric.compute()
    if rank == 1:
        assert metric.local_table.n_rows == 250
    else:
        with pytest.raises(ValueError, match="1 of 250 rows were refused"):
            metric.local_table  # noqa: B018


def numbers_of_one_process(rank: int) -> None:
    """Where `compute` does not communicate, the table is of this process too."""
    rows, labels = shares(4, 600, 200)[rank]
    metric = metric_of(num_classes=4, sync_on_compute=False)
    metric.update(rows, labels)
    assert metric.table.n_rows == len(rows)
    assert metric.compute().item() == pytest.approx(tn.vce(labels, rows), abs=1e-12)
    assert metric.table == metric.local_table
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
        assert metrics[name].local_table.n_rows == 2 * len(rows)


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


# Real use


def digits() -> Any:
    import torch
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    x, y = torch.tensor(x[order] / 16, dtype=torch.float32), torch.tensor(y[order])
    return (x[:1200], y[:1200]), (x[1200:], y[1200:])


@torch_only
@pytest.mark.sklearn
def test_a_plain_training_loop() -> None:
    """A network on few digits, trained far too long: accuracy stays, over-confidence grows, and the metric sees it."""
    import torch

    torch.manual_seed(0)
    (x, y), (held_x, held_y) = digits()
    x, y = x[:200], y[:200]
    net = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
    optimiser = torch.optim.Adam(net.parameters(), 0.01)
    metric = metric_of(num_classes=10, from_logits=True)
    history = []
    for _ in range(60):
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimiser.step()
        optimiser.zero_grad()
        metric.reset()
        for batch in zip(held_x.split(128), held_y.split(128), strict=True):
            metric.update(net(batch[0]), batch[1])
        history.append(tn.signed_parts(metric.table).net)
    with torch.no_grad():
        logits = net(held_x)
    assert (logits.argmax(1) == held_y).float().mean() > 0.85
    assert metric.compute().item() == pytest.approx(tn.vce(held_y, logits, from_logits=True), abs=1e-12)
    assert history[5] < 0 < history[-1]  # unsure at first, over-confident at last


@torch_only
@pytest.mark.lightning
@pytest.mark.sklearn
@pytest.mark.filterwarnings("ignore")  # Lightning has advice on workers, loggers and checkpoints
def test_lightning_logs_it_each_epoch_and_resumes(tmp_path: Path) -> None:
    import lightning
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    train, held_out = digits()

    class Net(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(64, 10)
            self.vce = metric_of(num_classes=10, from_logits=True)
            self.ece = metric_of("ExpectedCalibrationError", 10, from_logits=True)
            self.seen: list[float] = []

        def training_step(self, batch: Any, _: int) -> Any:
            return torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])

        def validation_step(self, batch: Any, _: int) -> None:
            logits = self.layer(batch[0])
            self.vce.update(logits, batch[1])
            self.ece.update(logits, batch[1])
            self.log("vce", self.vce, on_epoch=True)
            self.log("ece", self.ece, on_epoch=True)

        def on_validation_epoch_end(self) -> None:
            self.seen.append(self.vce.table.n_rows)

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), 0.01)

    def trained(epochs: int, checkpoint: Path | None = None) -> tuple[Any, Any]:
        lightning.seed_everything(0, verbose=False)
        model = Net()
        trainer = lightning.Trainer(
            max_epochs=epochs,
            accelerator="cpu",
            precision="bf16-mixed",
            logger=False,
            default_root_dir=tmp_path,
            enable_progress_bar=False,
            enable_model_summary=False,
            num_sanity_val_steps=0,
        )
        loaders = (DataLoader(TensorDataset(*part), batch_size=64) for part in (train, held_out))
        trainer.fit(model, *loaders, ckpt_path=checkpoint, weights_only=False)
        return model, trainer

    model, trainer = trained(2)
    assert model.seen == [len(held_out[1])] * 2
    # The last weights, outside of the trainer but in the precision it used.
    with torch.autocast("cpu", dtype=torch.bfloat16), torch.no_grad():
        logits = torch.cat([model.layer(part) for part in held_out[0].split(64)])
    assert trainer.callback_metrics["vce"].item() == pytest.approx(
        tn.vce(held_out[1], logits, from_logits=True), abs=1e-6
    )
    assert trainer.callback_metrics["ece"].item() == pytest.approx(
        tn.ece(held_out[1], logits, from_logits=True), abs=1e-6
    )
    trainer.save_checkpoint(tmp_path / "after-two.ckpt")
    resumed, trainer = trained(3, tmp_path / "after-two.ckpt")
    assert resumed.seen == [len(held_out[1])]
    assert 0 < trainer.callback_metrics["vce"].item() < 0.5
