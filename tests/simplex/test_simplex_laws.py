"""Laws of the errors over the simplex, and agreement with plain loops."""

import tracemalloc

import numpy as np
import pytest
import simplex_oracle as oracle
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn
from trueness.simplex import simplex_ece, simplex_ece_test, skce, skce_test
from trueness.simplex import tiles as tiles_module
from trueness.simplex.bandwidth import _SLOTS, DRAWN_ROWS, MOST_ROWS, median_distance
from trueness.simplex.rows_as_arrays import SimplexRows
from trueness.simplex.tiles import MOST_DOUBLE_ROWS, Pairs

seeds = st.integers(0, 2**32 - 1)


def rows_of(n_rows: int, n_classes: int, seed: int, alpha: float = 0.5):
    y, p = tn.simulate.calibrated(n_rows, [alpha] * n_classes, rng=seed)
    return y.tolist(), p


@given(seeds, st.integers(2, 30), st.integers(2, 6))
def test_the_bandwidth_against_plain_loops(seed: int, n_rows: int, n_classes: int) -> None:
    _, p = rows_of(n_rows, n_classes, seed)
    gamma = oracle.bandwidth(p.tolist())
    if gamma == 0:
        return
    assert median_distance(p) == pytest.approx(gamma, rel=1e-12)


@given(seeds, st.integers(2, 40), st.integers(2, 5), st.integers(1, 12), st.integers(1, 5))
def test_errors_over_cells_against_plain_loops(seed, n_rows, n_classes, bins, least) -> None:
    y, p = rows_of(n_rows, n_classes, seed)
    listed = p.tolist()
    wide = oracle.error_of_cells(y, listed, oracle.equal_width_cells(listed, bins))
    assert simplex_ece(y, p, bins) == pytest.approx(wide, abs=1e-13)
    if n_classes > 2:  # of two coordinates the variances are equal, and rounding chooses
        fitted = oracle.error_of_cells(y, listed, oracle.median_variance_cells(listed, least))
        assert simplex_ece(y, p, splits="median-variance", least=least) == pytest.approx(fitted, abs=1e-13)


def test_strips_tiles_and_threads_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    y, p = rows_of(700, 4, 0)
    whole = skce(y, p), skce(y, p, "biased"), median_distance(p)
    monkeypatch.setattr(tiles_module, "TILE", 100)
    monkeypatch.setattr(tiles_module, "STRIP", 7)
    parts = [
        (skce(y, p, n_threads=n), skce(y, p, "biased", n_threads=n), median_distance(p, n)) for n in (1, 4)
    ]
    assert parts[0] == parts[1]
    assert parts[0] == pytest.approx(whole, rel=1e-11)


def test_float32_of_many_rows_agrees_with_float64() -> None:
    y, p = rows_of(2000, 5, 3)
    rows = SimplexRows(np.array(y), p)
    wide, narrow = Pairs.of(rows), Pairs(p.astype(np.float32), rows.residuals.astype(np.float32))
    # A term of order 1 is rounded to 2⁻²⁴; the errors of 4·10⁶ terms are independent, so this is far above their mean.
    n_pairs = 2000 * 1999
    assert narrow.total_of_pairs(0.5, 1) / n_pairs == pytest.approx(
        wide.total_of_pairs(0.5, 1) / n_pairs, abs=2e-8
    )


def test_memory_does_not_grow_with_the_square_of_the_rows() -> None:
    y, p = rows_of(MOST_DOUBLE_ROWS + 500, 3, 0)
    tracemalloc.start()
    skce(y, p, bandwidth=0.5, n_threads=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # All pairs would be 600 megabytes in float32.
    assert peak < 40e6


def test_the_bandwidth_of_many_equal_distances_is_found() -> None:
    # 1600 corners: distances are 0 or 1 only, more of each than are sorted at once.
    corners = np.eye(4)[np.arange(3000) % 4]
    assert median_distance(corners) == pytest.approx(1.0, abs=_SLOTS**-4.0)
    mostly = np.vstack([corners[:1500], np.full((1500, 4), 0.25)])
    values = [oracle.tv(a, b) for a in np.unique(mostly, axis=0) for b in np.unique(mostly, axis=0)]
    assert median_distance(mostly) in [pytest.approx(value, abs=1e-12) for value in values]


def test_the_bandwidth_of_very_many_rows_is_that_of_drawn_ones() -> None:
    y, p = rows_of(MOST_ROWS + 1, 2, 5)
    values = {skce(y, p, "block", rng=seed) for seed in (0, 0, 1)}
    assert len(values) == 2
    exact = median_distance(p[:DRAWN_ROWS])
    assert skce(y, p, "block") == pytest.approx(skce(y, p, "block", bandwidth=exact), rel=0.05, abs=1e-5)


def test_rows_are_taken_as_they_are() -> None:
    y, p = [0, 1, 1], np.array([[0.600002, 0.4], [0.2, 0.8], [0.5, 0.499995]])
    given_rows = skce(y, p, bandwidth=1.0)
    assert given_rows == pytest.approx(oracle.unbiased(y, p.tolist(), 1.0), abs=1e-15)
    assert given_rows != skce(y, p, bandwidth=1.0, normalize=True)


def test_names_logits_and_frames_are_taken_as_elsewhere() -> None:
    logits = np.log([[0.7, 0.2, 0.1], [0.1, 0.3, 0.6], [0.3, 0.4, 0.3]])
    plain = skce([0, 2, 1], np.exp(logits))
    assert skce(["a", "c", "b"], logits, from_logits=True, classes=["a", "b", "c"]) == pytest.approx(plain)


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda y, p: skce(y, p, "quadratic"), "estimator"),
        (lambda y, p: skce(y, p, bandwidth=0.0), "bandwidth"),
        (lambda y, p: skce(y, p, block=1), "block"),
        (lambda y, p: skce(y[:1], p[:1]), "y_prob"),
        (lambda y, p: skce(y, [p[0].tolist()] * len(y)), "y_prob"),
        (lambda y, p: skce(y, p * 2), "y_prob"),
        (lambda y, p: simplex_ece(y, p, 0), "bins"),
        (lambda y, p: simplex_ece(y, p, splits="median"), "splits"),
        (lambda y, p: simplex_ece(y, p, splits="median-variance", least=0), "least"),
        (lambda y, p: skce_test(y, p, method="normal"), "method"),
        (lambda y, p: skce_test(y, p, method="block", block=9), "y_prob"),
        (lambda y, p: simplex_ece_test(y, p, resamples=0), "resamples"),
    ],
)
def test_bad_arguments_are_refused(call, argument: str) -> None:
    y, p = rows_of(12, 3, 0)
    with pytest.raises(tn.Refusal) as caught:
        call(y, p)
    assert caught.value.argument == argument
