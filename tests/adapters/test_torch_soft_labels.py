"""Soft labels in torchmetrics: the table of `tabulate`, whatever the batches."""

import numpy as np
import pytest

import trueness as tn

pytestmark = pytest.mark.adapters


def rows(n_rows: int = 200, n_classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(n_classes, 0.5), n_rows)
    return rng.multinomial(5, p) / 5, p


@pytest.mark.parametrize("ties", ["first", "split"])
def test_batches_give_the_table_of_one_call(ties: str) -> None:
    import torch

    from trueness.adapters.torch import VariationCalibrationError

    shares, p = rows()
    metric = VariationCalibrationError(
        num_classes=4, ties=ties, soft_labels=True, by_class=True, confidence_bins=5
    )
    for part in np.array_split(np.arange(200), 7):
        metric.update(torch.from_numpy(p[part]), torch.from_numpy(shares[part]))
    table = tn.tabulate(shares, p, soft_labels=True, ties=ties)
    assert metric.table == table
    assert metric.compute().item() == tn.variation_calibration_error(table)
    assert metric.class_table == tn.tabulate_events(shares, p, soft_labels=True, ties=ties)
    assert tn.assess_table(metric.tables).table.row_worth == table.row_worth


def test_two_metrics_merge() -> None:
    import torch

    from trueness.adapters.torch import RankedCalibrationError

    shares, p = rows()
    one, two = (RankedCalibrationError(num_classes=4, soft_labels=True) for _ in range(2))
    one.update(torch.from_numpy(p[:50]), torch.from_numpy(shares[:50]))
    two.update(torch.from_numpy(p[50:]), torch.from_numpy(shares[50:]))
    one.merge_state(two)
    assert one.table == tn.tabulate(shares, p, soft_labels=True)
    hard = RankedCalibrationError(num_classes=4)
    with pytest.raises(tn.Refusal, match="merge only"):
        hard.merge_state(two)


def test_two_classes_have_the_share_of_class_1() -> None:
    import torch

    from trueness.adapters.torch import VariationCalibrationError

    p, share = np.array([0.2, 0.7, 0.9]), np.array([0.4, 0.6, 1.0])
    metric = VariationCalibrationError(task="binary", soft_labels=True)
    metric.update(torch.from_numpy(p), torch.from_numpy(share))
    assert metric.table == tn.tabulate(share, p, soft_labels=True)


def test_refusals() -> None:
    import torch

    from trueness.adapters.torch import VariationCalibrationError

    shares, p = (torch.from_numpy(each) for each in rows(10))
    with pytest.raises(tn.Refusal, match="ignore_index"):
        VariationCalibrationError(num_classes=4, soft_labels=True, ignore_index=0)
    metric = VariationCalibrationError(num_classes=4, soft_labels=True)
    with pytest.raises(tn.Refusal, match="floating dtype"):
        metric.update(p, torch.zeros(10, 4, dtype=torch.int64))
    with pytest.raises(tn.Refusal, match="shape of the predictions"):
        metric.update(p, shares[:, 0])
    metric.update(p, shares * 0.5)
    with pytest.raises(tn.Refusal, match="10 of 10 rows are invalid"):
        metric.compute()
