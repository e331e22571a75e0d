"""Every convention against the library itself, where it is installed."""

import numpy as np
import pytest
import speak
from convention_rows import ROWS, rows_on_edges

CASES = [(kind, n, dtype) for kind in ROWS for n in (2, 3, 10) for dtype in ("float64", "float32")]
each_case = pytest.mark.parametrize(("kind", "n_classes", "dtype"), CASES)
each_bins = pytest.mark.parametrize("n_bins", [10, 15])


def close(dtype: str) -> float:
    """Sums of 1500 numbers in the dtype, in another order."""
    return 1e-6 if dtype == "float32" else 1e-12


@pytest.mark.peers
@each_case
@each_bins
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
def test_torchmetrics(kind: str, n_classes: int, dtype: str, n_bins: int, norm: str) -> None:
    """They take the top label in float32, whatever the rows are in."""
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    y_true, y_prob = ROWS[kind](n_classes, dtype)
    theirs = multiclass_calibration_error(
        torch.tensor(y_prob), torch.tensor(y_true), num_classes=n_classes, n_bins=n_bins, norm=norm
    )
    ours = speak.ece(y_true, y_prob, convention="torchmetrics", bins=n_bins, norm=norm)
    assert ours == pytest.approx(float(theirs), abs=close("float32"))


@pytest.mark.peers
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ROWS)
def test_torchmetrics_of_class_1(kind: str, dtype: str) -> None:
    import torch
    from torchmetrics.functional.classification import binary_calibration_error

    y_true, y_prob = ROWS[kind](2, dtype)
    theirs = binary_calibration_error(torch.tensor(y_prob[:, 1]), torch.tensor(y_true), n_bins=15)
    ours = speak.ece(y_true, y_prob[:, 1], convention="torchmetrics")
    assert ours == pytest.approx(float(theirs), abs=close(dtype))


@pytest.mark.peers
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kind", ROWS)
def test_probmetrics_by_torchmetrics(kind: str, n_classes: int) -> None:
    """probmetrics clamps, divides by the sums and calls torchmetrics; of two classes with class 1."""
    import torch
    from torchmetrics import CalibrationError

    y_true, y_prob = ROWS[kind](n_classes, "float32")
    inside = torch.tensor(y_prob).clamp(1e-7, 1 - 1e-7)
    inside = inside / inside.sum(dim=-1, keepdim=True)
    task = "binary" if n_classes == 2 else "multiclass"
    metric = CalibrationError(task=task, num_classes=n_classes, n_bins=15)
    theirs = metric(inside[:, 1] if n_classes == 2 else inside, torch.tensor(y_true))
    assert speak.ece(y_true, y_prob, convention="probmetrics") == pytest.approx(float(theirs), abs=1e-6)


@pytest.mark.peers
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_uce_of_the_authors_in_torch(dtype: str) -> None:
    """The published formula in torch: entropy with ln C in float32, bins open on the left, float32 shares."""
    import torch

    y_true, y_prob = rows_on_edges(3, dtype)
    p, y = torch.tensor(y_prob), torch.tensor(y_true)
    entropy = (p * ((p + 1e-16).log() / torch.tensor([3.0]).log())).sum(dim=1).abs()
    wrong, total = p.argmax(dim=1) != y, 0.0
    edges = torch.linspace(0, 1, 16)
    for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        inside = (entropy > low) & (entropy <= high)
        if inside.any():
            gap = entropy[inside].mean() - wrong[inside].float().mean()
            total += float(gap.abs() * inside.float().mean())
    assert int((entropy == 0).sum()) >= len(y_true) // 10  # of certain rows, in no bin
    found = speak.uce(y_true, y_prob, convention="laves-uce")
    assert found == pytest.approx(total, abs=1e-6)


@each_case
@each_bins
@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
def test_scikit_learn(kind: str, n_classes: int, dtype: str, n_bins: int, strategy: str) -> None:
    """Their curve lacks the counts, which follow from the edges that they describe."""
    from sklearn.calibration import calibration_curve

    y_true, y_prob = ROWS[kind](n_classes, dtype)
    event, number = (y_true == 1, y_prob[:, 1])
    if n_classes > 2:
        event, number = y_prob.argmax(axis=1) == y_true, y_prob.max(axis=1)
    observed, predicted = calibration_curve(event, number, n_bins=n_bins, strategy=strategy)
    parts = np.linspace(0, 1, n_bins + 1)
    edges = parts if strategy == "uniform" else np.percentile(number, parts * 100)
    count = np.bincount(np.searchsorted(edges[1:-1], number), minlength=n_bins)
    theirs = np.abs(observed - predicted) @ count[count > 0] / len(event)
    name = "scikit-learn" if strategy == "uniform" else "scikit-learn-quantile"
    found = speak.ece(y_true, y_prob, convention=name, bins=n_bins)
    assert found == pytest.approx(theirs, abs=close(dtype))


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
@each_case
@each_bins
def test_netcal(kind: str, n_classes: int, dtype: str, n_bins: int) -> None:
    """To 1e-12 in float32, too, where its counts and means are of different bins."""
    from netcal.metrics import ECE, MCE

    y_true, y_prob = ROWS[kind](n_classes, dtype)
    for metric, norm in ((ECE, "l1"), (MCE, "max")):
        ours = speak.ece(y_true, y_prob, convention="netcal", bins=n_bins, norm=norm)
        assert ours == pytest.approx(metric(n_bins).measure(y_prob, y_true), abs=1e-12)


@pytest.mark.peers
@each_case
@each_bins
def test_uncertainty_calibration(kind: str, n_classes: int, dtype: str, n_bins: int) -> None:
    from calibration import get_ece, get_ece_em

    y_true, y_prob = ROWS[kind](n_classes, dtype)
    for function, name in ((get_ece, ""), (get_ece_em, "-equal-mass")):
        ours = speak.ece(y_true, y_prob, convention="uncertainty-calibration" + name, bins=n_bins)
        assert ours == pytest.approx(function(y_prob, y_true, num_bins=n_bins), abs=close(dtype))


@pytest.mark.peers
@pytest.mark.parametrize("kind", ROWS)
def test_helm_by_uncertainty_calibration(kind: str) -> None:
    """HELM passes the largest probability and whether it was right; no maximum is shared here."""
    from calibration import get_ece_em

    y_true, y_prob = ROWS[kind](6)
    correct = (y_prob.argmax(axis=1) == y_true).astype(int)
    theirs = get_ece_em(y_prob.max(axis=1), correct, num_bins=10)
    shared = (y_prob == y_prob.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert not shared.any()
    assert speak.ece(y_true, y_prob, convention="helm") == pytest.approx(theirs, abs=1e-12)
    assert speak.ece(correct, y_prob.max(axis=1), convention="helm") == pytest.approx(theirs, abs=1e-12)


@pytest.mark.peers
@each_case
@each_bins
def test_mapie(kind: str, n_classes: int, dtype: str, n_bins: int) -> None:
    from mapie.metrics.calibration import top_label_ece

    y_true, y_prob = ROWS[kind](n_classes, dtype)
    ours = speak.ece(y_true, y_prob, convention="mapie", bins=n_bins)
    assert ours == pytest.approx(top_label_ece(y_true, y_prob, num_bins=n_bins), abs=close(dtype))


@pytest.mark.peers
@each_case
def test_relplot(kind: str, n_classes: int, dtype: str) -> None:
    from relplot import multiclass_logits_to_confidences, smECE

    y_true, y_prob = ROWS[kind](n_classes, dtype)
    theirs = smECE(*multiclass_logits_to_confidences(y_prob, y_true, probs=True))
    assert speak.ece(y_true, y_prob, convention="relplot") == pytest.approx(theirs, abs=1e-7)


@pytest.mark.peers
def test_relplot_gives_rows_of_exactly_1_half_the_weight() -> None:
    from relplot import smECE

    stated, correct = np.repeat([1.0, 0.5], 500), np.repeat([1, 0, 1, 0], [450, 50, 250, 250])
    # |0.1·500/2|/(500/2 + 500) instead of 0.1·500/1000, up to the width of the kernel.
    assert smECE(stated, correct) == pytest.approx(1 / 30, abs=0.002)
    assert speak.ece(correct, stated, convention="relplot") == pytest.approx(smECE(stated, correct), abs=1e-7)
    assert speak.smece(correct, stated) == pytest.approx(0.05, abs=1e-6)
