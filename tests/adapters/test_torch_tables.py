"""One metric with two tables of the same rows."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch_metrics import metric_of, tensors, torch_only

import trueness as tn


@torch_only
@pytest.mark.parametrize("name", ["VariationCalibrationError", "RankedCalibrationError"])
@pytest.mark.parametrize(
    "options", [{}, {"ties": "split", "variation": "iqv"}, {"from_logits": True, "n_bins": 200}]
)
def test_the_confidence_table_is_that_of_tabulate(name: str, options: dict[str, Any]) -> None:
    """Also where rows are tied, bins are many, and one of the measures is not compiled."""
    import torch

    rows, labels = tensors(5)
    rows[:200] = torch.tensor([0.4, 0.4, 0.1, 0.1, 0.0])
    given = rows.log() if "from_logits" in options else rows
    metric, alone = (metric_of(name, 5, **options, **more) for more in ({"confidence_bins": 15}, {}))
    for some in (metric, alone):
        for batch in zip(given.split(101), labels.split(101), strict=True):
            some.update(*batch)
    of_rows = {key: value for key, value in options.items() if key in ("ties", "from_logits")}
    core = tn.tabulate(labels, given, variation="confidence", bins=15, **of_rows)
    found = metric.confidence_table
    assert found == core
    assert metric.confidence_table.spec == core.spec
    np.testing.assert_array_equal(metric.confidence_table.rank_count, core.rank_count)
    assert metric.table == alone.table
    assert metric.compute() == alone.compute()
    assert alone.confidence_table is None


@torch_only
def test_one_metric_gives_the_whole_assessment() -> None:
    """`assess` on the rows is the oracle, with the same seed: to the bit on the host, ECE included."""
    rows, labels = tensors(4)
    metric = metric_of(num_classes=4, confidence_bins=10, by_class=True)
    for batch in zip(rows.split(128), labels.split(128), strict=True):
        metric.update(*batch)
    result = tn.assess_table(metric.tables, resamples=99, rng=0)
    expected = tn.assess(labels, rows, resamples=99, rng=0)
    assert result == expected
    assert result.ece is not None
    assert result.ece.value == pytest.approx(expected.ece.value, abs=1e-12)
    assert result.vce.value == metric.compute().item()
    assert result.cwece is not None
    assert result.cwece.value == pytest.approx(tn.cwece(labels, rows), abs=1e-12)
    without = metric_of(num_classes=4)
    without.update(rows, labels)
    assert tn.assess_table(without.table, confidence_table=without.confidence_table, rng=0).ece is None
    assert tn.assess_table(without.tables, rng=0).classes is None


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
