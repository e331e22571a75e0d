"""Class-conditional errors: the vector T, plain loops, laws, and their size by simulation."""

import math
from collections import defaultdict

import numpy as np
import pytest
from event_rows import T_LABELS, T_PROBS
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn
from trueness.predicted_class.conditional_errors import _starts


def test_vector_T() -> None:
    found = tn.class_conditional_errors(
        tn.tabulate_by_predicted_class(T_LABELS, T_PROBS, bins=1), least_rows=1
    )
    assert found.vce.value == pytest.approx(0.362535762312, abs=1e-12)
    assert found.rce.value == pytest.approx(0.16, abs=1e-12)
    assert found.gaps == pytest.approx([-0.230643394515, -0.278661263503, -0.686186062221], abs=1e-12)
    assert [cell.rows for cell in found.cells] == [3, 3, 2]


def plain(y, p, n_bins: int) -> tuple[float, float]:
    """Both errors over cells of predicted class and entropy bin, without pooling."""
    cells, n_classes = defaultdict(list), len(p[0])
    for label, row in zip(y, p, strict=True):
        order = sorted(range(n_classes), key=lambda c: -row[c])
        entropy = -sum(v * math.log(v) for v in row if v > 0) / math.log(n_classes)
        key = (order[0], max(1, math.ceil(n_bins * entropy - 1e-9)))
        cells[key].append(([row[c] for c in order], order.index(label)))
    vce = rce = 0.0
    for members in cells.values():
        n = len(members)
        q = [sum(row[c] for row, _ in members) / n for c in range(n_classes)]
        r = [sum(rank == c for _, rank in members) / n for c in range(n_classes)]
        of = [-sum(v * math.log(v) for v in vector if v > 0) / math.log(n_classes) for vector in (q, r)]
        vce += n / len(y) * abs(of[1] - of[0])
        rce += n / len(y) * sum(abs(a - b) for a, b in zip(q, r, strict=True)) / 2
    return vce, rce


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_without_pooling_against_plain_loops(seed: int, n_bins: int) -> None:
    y, p = tn.simulate.calibrated(60, [0.6] * 3, rng=seed)
    tables = tn.tabulate_by_predicted_class(y, p, bins=n_bins)
    found = tn.class_conditional_errors(tables, least_rows=1, resamples=9)
    assert (found.vce.value, found.rce.value) == pytest.approx(
        plain(y.tolist(), p.tolist(), n_bins), abs=1e-12
    )


def test_by_confidence_it_is_the_top_label_error() -> None:
    y, p = tn.simulate.calibrated(400, [0.5] * 4, rng=3)
    tables = tn.tabulate_by_predicted_class(y, p, variation="confidence", bins=1)
    found = tn.class_conditional_errors(tables, least_rows=1, resamples=9)
    top, sure = p.argmax(axis=1), p.max(axis=1)
    want = sum(abs((sure[top == k] - (y[top == k] == k)).sum()) for k in range(4)) / 400
    assert found.vce.value == pytest.approx(want, abs=1e-12)


def test_bins_are_merged_from_the_lowest_up() -> None:
    assert _starts([5, 30, 3, 20, 10, 2], 20) == [0, 2]
    assert _starts([25, 25, 25], 20) == [0, 1, 2]
    assert _starts([25, 25, 5], 20) == [0, 1]
    assert _starts([5, 5], 20) == [0]


def test_small_classes_share_a_cell() -> None:
    rng = np.random.default_rng(0)
    p = np.vstack(
        [
            np.tile([0.8, 0.1, 0.05, 0.05], (50, 1)),
            rng.permuted(np.tile([0.1, 0.1, 0.2, 0.6], (14, 1)), axis=1),
        ]
    )
    found = tn.class_conditional_errors(
        tn.tabulate_by_predicted_class(rng.integers(0, 4, 64), p, bins=1), resamples=9
    )
    small = found.cells[-1]
    assert small.rows < 20
    assert len(small.classes) >= 2
    assert sum(cell.rows for cell in found.cells) == 64


def test_tables_add_and_weights_repeat_rows() -> None:
    y, p = tn.simulate.calibrated(300, [0.5] * 3, rng=1)
    whole = tn.tabulate_by_predicted_class(y, p)
    assert sum(tn.tabulate_by_predicted_class(y[k::4], p[k::4]) for k in range(4)) == whole
    assert whole == tn.tabulate_by_predicted_class(y[::-1], p[::-1], n_threads=2, engine="portable")
    assert whole.n_rows == 300
    weight = np.arange(300) % 3
    weighted = tn.class_conditional_errors(
        tn.tabulate_by_predicted_class(y, p, sample_weight=weight.astype(float)), least_rows=1, resamples=9
    )
    repeated = tn.class_conditional_errors(
        tn.tabulate_by_predicted_class(np.repeat(y, weight), np.repeat(p, weight, axis=0)),
        least_rows=1,
        resamples=9,
    )
    assert weighted.vce.value == pytest.approx(repeated.vce.value, abs=1e-12)


def test_refusals() -> None:
    y, p = tn.simulate.calibrated(5, np.ones(1000), rng=1)
    with pytest.raises(tn.Refusal, match="fewer bins"):
        tn.tabulate_by_predicted_class(y, p, bins=20)
    with pytest.raises(tn.Refusal, match="PredictedClassTables"):
        tn.class_conditional_errors(tn.tabulate(y, p))
    small = tn.tabulate_by_predicted_class([0, 1], [[0.7, 0.3], [0.2, 0.8]])
    with pytest.raises(tn.Refusal, match="cannot be added"):
        small + tn.tabulate_by_predicted_class([0, 1], [[0.7, 0.3], [0.2, 0.8]], bins=3)
    with pytest.raises(tn.Refusal, match="least_rows"):
        tn.class_conditional_errors(small, least_rows=0)


def test_size_and_power_against_errors_that_depend_on_the_class() -> None:
    runs, size, power = 120, 0, 0
    for run in range(runs):
        y, p = tn.simulate.calibrated(1000, [1, 1, 1], rng=run)
        found = tn.class_conditional_errors(tn.tabulate_by_predicted_class(y, p), resamples=99, rng=run)
        size += found.vce.centred_p_value <= 0.05
        exponent = np.where(p.argmax(axis=1) == 0, 1.5, 0.8)[:, None]
        wrong = p**exponent / (p**exponent).sum(axis=1, keepdims=True)
        found = tn.class_conditional_errors(tn.tabulate_by_predicted_class(y, wrong), resamples=99, rng=run)
        power += found.vce.centred_p_value <= 0.05
    # .05 and three standard errors of 120 runs; the specification has .05 to .07.
    assert size / runs <= 0.13
    assert power / runs >= 0.9
