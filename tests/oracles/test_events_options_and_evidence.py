"""Classes, rows with options of their own, and evidence of a monitor, against plain loops."""

from typing import Any

import event_oracle
import monitoring_oracle
import numpy as np
import option_oracle
import oracle
import pytest
import speak


def mixed_rows(n_rows: int, n_classes: int, dtype: str = "float64") -> tuple[Any, Any]:
    """Rows of decimals and of any number; values on edges of bins, 0 and 1 among them."""
    rng = np.random.default_rng([n_rows, n_classes])
    spread = rng.dirichlet(np.full(n_classes, 0.4), n_rows)
    decimals = rng.multinomial(20, spread) / 20
    rows = np.where(np.arange(n_rows)[:, None] % 2, spread, decimals).astype(dtype)
    return rng.integers(0, n_classes, n_rows), rows


def class_cells(labels: Any, rows: Any, c: int, n_bins: int) -> list[list[Any]]:
    """Rows, predicted and observed of class c: cells of the oracle's grid, merged into its bins."""
    found, _ = event_oracle.cells(labels, rows, c, "class")
    bins = [[0, 0.0, 0.0] for _ in range(n_bins)]
    for at, cell in found.items():
        # The cell's right edge lies in the bin that is closed on the right.
        edge = event_oracle.CLASS_EDGES[at + 1] * n_bins
        total = bins[-(-edge.numerator // edge.denominator) - 1]
        for k, value in enumerate((cell.rows, cell.predicted, cell.observed)):
            total[k] += value if k == 0 else value / event_oracle.UNIT
    return bins


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("n_classes", [2, 3, 10, 17])
@pytest.mark.parametrize("n_bins", [1, 5, 10, 15])
def test_bins_of_classes(n_classes: int, n_bins: int, dtype: str) -> None:
    """Sums of at most 200 multiples of 2^-52: equal but for the rounding of the merged ones."""
    labels, rows = mixed_rows(200, n_classes, dtype)
    ours = [np.asarray(it).tolist() for it in speak.class_bins(labels, rows, n_bins)]
    classes = [1] if n_classes == 2 else range(n_classes)
    for place, c in enumerate(classes):
        expected = class_cells(labels, rows, c, n_bins)
        assert ours[0][place] == [rows for rows, _, _ in expected]
        assert ours[1][place] == pytest.approx([q for _, q, _ in expected], rel=1e-13)
        assert ours[2][place] == [y for _, _, y in expected]


@pytest.mark.parametrize("weights", [None, "expected", "observed"])
@pytest.mark.parametrize("norm", ["l1", "l2", "max"])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_classwise_error(n_classes: int, norm: str, weights: str | None) -> None:
    """The mean over the classes of sum_m n_m/N |y-bar - p-bar| in ten bins of p over [0, 1]."""
    labels, rows = mixed_rows(200, n_classes)
    errors, shares = [], []
    for c in [1] if n_classes == 2 else range(n_classes):
        cells = [cell for cell in class_cells(labels, rows, c, 10) if cell[0]]
        gaps = [(n / 200, abs(q - y) / n) for n, q, y in cells]
        power = {"l1": 1, "l2": 2, "max": 1}[norm]
        error = sum(w * gap**power for w, gap in gaps) ** (1 / power)
        errors.append(max(gap for _, gap in gaps) if norm == "max" else error)
        shares.append({None: 1.0, "expected": rows[:, c].sum(), "observed": (labels == c).sum()}[weights])
    expected = np.average(errors, weights=shares)
    found = speak.cwece(labels, rows, norm=norm, weights=weights)
    assert found == pytest.approx(expected, abs=1e-12)


def rows_with_options(n_rows: int = 250) -> tuple[list[int], list[list[float]]]:
    """Rows of two to six options, decimals with ties among them."""
    rng = np.random.default_rng(12)
    rows = []
    for i in range(n_rows):
        p = rng.dirichlet(np.full(rng.integers(2, 7), 0.7))
        rows.append((rng.multinomial(10, p) / 10 if i % 3 == 0 else p).tolist())
    return [int(rng.integers(len(row))) for row in rows], rows


@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize("bins", [1, 10, 30])
def test_rows_with_options_of_their_own(ties: str, bins: int) -> None:
    """Gaps of the numbers of options in a bin are averaged with their signs."""
    y_true, y_prob = rows_with_options()
    expected = option_oracle.metrics(y_true, y_prob, bins, ties)
    how: dict[str, Any] = {"bins": bins, "ties": ties}
    for name in ("vce", "ece", "rce", "uce"):
        found = getattr(speak, name)(y_true, y_prob, **how)
        assert found == pytest.approx(expected[name], abs=1e-12), name
    w1 = speak.rce(y_true, y_prob, distance="w1", **how)
    assert w1 == pytest.approx(expected["rce_w1"], abs=1e-12)
    table = speak.tabulate(y_true, y_prob, **how)
    assert table.accuracy == pytest.approx(expected["accuracy"], abs=1e-12)


@pytest.mark.parametrize("name", ["iqv", "wilcox_variation_ratio", "confidence", "max_probability"])
def test_other_measures_take_the_options_of_each_row(name: str) -> None:
    y_true, y_prob = rows_with_options()
    expected = option_oracle.metrics(y_true, y_prob, 10, "split", oracle.MEASURES[name])
    found = speak.vce(y_true, y_prob, variation=name, ties="split")
    assert found == pytest.approx(expected["vce"], abs=1e-12)


def looks_of(n_classes: int, exponent: float, sizes: list[int]) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(n_classes)
    drawn = (speak.simulate.calibrated(n, [0.7] * n_classes, rng=rng) for n in sizes)
    return [(y, speak.simulate.sharpen(p, exponent)) for y, p in drawn]


CERTAIN = (
    [0] * 28 + [2, 1] + [0, 1] * 15 + [0] * 20 + [1] * 7 + [2] * 3,
    [[1.0, 0.0, 0.0]] * 30 + [[0.5, 0.5, 0.0]] * 30 + [[0.6, 0.3, 0.1]] * 30,
)


@pytest.mark.parametrize(
    ("looks", "bins", "tolerance"),
    [
        (looks_of(2, 1.0, [40] * 3), 2, 0.0),
        (looks_of(2, 1.5, [60, 200]), 2, 0.0),
        (looks_of(3, 0.7, [30] * 4), 3, 0.0),
        (looks_of(4, 1.5, [60] * 2), 2, 0.0),
        ([CERTAIN] * 2, 3, 0.0),
        (looks_of(2, 1.5, [60]), 2, 0.02),  # the oracle's bisections within bisections are slow
        (looks_of(3, 1.5, [60]), 1, 0.02),
    ],
)
def test_evidence_of_a_monitor(looks: list[Any], bins: int, tolerance: float) -> None:
    """Equation 4 of the monitoring specification: all directions, sizes, places, starting times."""
    pairs = []
    for y, p in looks:
        table = oracle.tabulate(y, p, bins=("width", bins))
        q, r = table["ordered"], table["rank"]
        pairs.append(tuple([[x / oracle.UNIT for x in line] for line in each] for each in (q, r)))
    expected = monitoring_oracle.log_e_values(pairs, tolerance)
    assert speak.evidence(looks, bins, tolerance) == pytest.approx(expected, rel=1e-9, abs=1e-9)
