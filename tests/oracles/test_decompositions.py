"""Decompositions of scores, the smooth error and the kernel error, against plain loops."""

import math
from typing import Any

import decomposition_oracle as oracle
import numpy as np
import pytest
import simplex_oracle
import speak
from hypothesis import assume, given
from hypothesis import strategies as st

seeds = st.integers(0, 2**32 - 1)


def one_event(n_rows: int, seed: int, slope: float = 1.0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    p = rng.beta(0.8, 1.2, n_rows)
    odds = (p / (1 - p)) ** slope
    return (rng.random(n_rows) < odds / (1 + odds)).astype(int), p


@given(seeds, st.integers(5, 60), st.sampled_from([2, 3, 6]))
def test_ordered_brier_parts(seed: int, n_rows: int, n_classes: int) -> None:
    """REL - RES + UNC + WBV - WBC of ordered rows in four bins of entropy is the Brier score."""
    y, p = speak.simulate.calibrated(n_rows, [0.7] * n_classes, rng=seed)
    edges = np.array([0.25, 0.5, 0.75])
    rows: list[Any] = []
    for label, row in zip(y, p.tolist(), strict=True):
        order = sorted(range(n_classes), key=lambda c: -row[c])
        entropy = -sum(v * math.log(v) for v in row if v > 0) / math.log(n_classes)
        outcome = [float(c == label) for c in order]
        rows.append(([row[c] for c in order], outcome, int(np.sum(entropy > edges + 1e-12))))
    want, found = oracle.brier_parts(rows), speak.brier_parts(y, p, 4)
    assert_parts(found, want)
    if (np.bincount([at for _, _, at in rows]) != 1).all():
        corrected = want["rel"] - want["bias"]
        assert found["corrected_reliability"] == pytest.approx(corrected, abs=1e-12)


@given(seeds, st.integers(2, 60))
def test_brier_parts_of_an_event(seed: int, n_rows: int) -> None:
    y, p = one_event(n_rows, seed)
    want = oracle.brier_parts([([pi], [float(yi)], 0) for pi, yi in zip(p, y, strict=True)])
    assert_parts(speak.brier_parts(y, p, 1), want, of_event=True)


def assert_parts(found: Any, want: dict[str, float], of_event: bool = False) -> None:
    keys = {"score": "score", "reliability": "rel", "resolution": "res"}
    keys |= {"within_variance": "wbv", "within_covariance": "wbc"}
    if not of_event:
        keys["uncertainty"] = "unc"
    for name, key in keys.items():
        assert found[name] == pytest.approx(want[key], abs=1e-12), name
    parts = found["reliability"] - found["resolution"] + found["uncertainty"]
    whole = parts + found["within_variance"] - found["within_covariance"]
    assert whole == pytest.approx(found["score"], abs=1e-12)


@given(seeds, st.integers(5, 40))
def test_isotonic_parts_of_an_event(seed: int, n_rows: int) -> None:
    """CORP (Dimitriadis et al. 2021): score = miscalibration - discrimination + uncertainty."""
    y, p = one_event(n_rows, seed)
    p = np.round(p * 3000) / 3600 + 1 / 64  # at most one value in 1/3600
    order = np.argsort(p, kind="stable")
    _, start, count = np.unique(p[order], return_index=True, return_counts=True)
    values = np.repeat(np.add.reduceat(y[order], start) / count, count)
    curve = np.array(oracle.pool_adjacent_violators(values.tolist()))
    found = speak.corp_parts(y, p)
    assert np.repeat(found["curve"], count) == pytest.approx(curve, abs=1e-12)
    score, rest = np.mean((p - y) ** 2), np.mean((curve - y[order]) ** 2)
    assert found["score"] == pytest.approx(score, abs=1e-12)
    assert found["miscalibration"] == pytest.approx(score - rest, abs=1e-12)
    parts = found["miscalibration"] - found["discrimination"] + found["uncertainty"]
    assert found["score"] == pytest.approx(parts, abs=1e-12)


@pytest.mark.parametrize("seed", range(12))
def test_the_smooth_error_is_its_own_width(seed: int) -> None:
    """smECE is the width s with smECE_s = s (Blasiok and Nakkiran 2023, section 5).

    Rows at different thousandths, so that none share a cell of 1/3600. The oracle sums at 2001
    points: its error is at most 2e-5 for widths above .02, and smECE_s - s falls as fast as -s.
    """
    y, p = one_event(60, seed, slope=0.5)
    _, first = np.unique(np.round(p, 3), return_index=True)
    y, p = y[first], np.clip(np.round(p[first], 3), 0.02, 0.98)
    value = speak.smece(y, p)
    assert value > 0.02
    assert oracle.smooth_error_at(p.tolist(), y.tolist(), value) == pytest.approx(value, abs=2e-5)


@given(seeds, st.integers(2, 30), st.integers(2, 6))
def test_kernel_errors(seed: int, n_rows: int, n_classes: int) -> None:
    """SKCE (Widmann et al. 2019): all pairs, pairs without i = j, and blocks."""
    y, p = speak.simulate.calibrated(n_rows, [0.5] * n_classes, rng=seed)
    y, rows = y.tolist(), p.tolist()
    gamma = simplex_oracle.bandwidth(rows)
    assume(gamma > 0)
    for estimator in ("biased", "unbiased"):
        expected = getattr(simplex_oracle, estimator)(y, rows, gamma)
        assert speak.skce(y, p, estimator) == pytest.approx(expected, abs=1e-13)
    for size in {2, min(3, n_rows), n_rows}:
        blocks = simplex_oracle.blocks(y, rows, size, gamma)
        found = speak.skce(y, p, "block", block=size)
        assert found == pytest.approx(np.mean(blocks), abs=1e-13)


def test_the_kernel_test_of_blocks() -> None:
    """z = mean/se of the blocks' estimates, and the normal law."""
    y, p = speak.simulate.calibrated(60, [1, 1, 1], rng=4)
    found = speak.skce_test(y, p, method="block", block=3, bandwidth=0.4)
    values = simplex_oracle.blocks(y.tolist(), p.tolist(), 3, 0.4)
    b, mean = len(values), sum(values) / len(values)
    z = mean / math.sqrt(sum((value - mean) ** 2 for value in values) / (b * (b - 1)))
    assert found.p_value == pytest.approx(math.erfc(z / math.sqrt(2)) / 2, rel=1e-12)


def test_the_kernel_test_by_signs() -> None:
    """The share of 20,000 sums with random signs of the rows, within five errors of both shares."""
    y, p = speak.simulate.calibrated(25, [1, 1, 1], rng=2)
    terms = [[simplex_oracle.term(y, p, i, j, 0.5) for j in range(25)] for i in range(25)]
    pairs = np.array(terms) * (1 - np.eye(25))
    signs = np.random.default_rng(0).choice([-1, 1], (20_000, 25))
    share = np.mean(np.einsum("ri,ij,rj->r", signs, pairs, signs) >= pairs.sum())
    found = speak.skce_test(y, p, bandwidth=0.5, resamples=1999, rng=7)
    error = 5 * math.sqrt(share * (1 - share) * (1 / 20_000 + 1 / 1999)) + 1 / 2000
    assert found.p_value == pytest.approx(share, abs=error)
