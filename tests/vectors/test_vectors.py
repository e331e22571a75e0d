"""Exact vectors: values derived by hand or by independent computation, independent of `oracle.py`.

The table is that of the project's statistics page (equal-width M = 10, lowest edge in the first bin).
"""

import math
from fractions import Fraction

import numpy as np
import oracle
import pytest
import speak
from speak import gaps_of, sums_of, tabulate

NINE_TO_ONE = [[0.9, 0.1]] * 10
CERTAIN = [[1.0, 0.0, 0.0]] * 4
UNIFORM = [[0.25] * 4] * 4
SLOPED = [[0.4, 0.35, 0.25]] * 20

#        rows, labels, ties, (VCE entropy, VCE IQV, VCE max, ECE, UCE, RCE TV, RCE W1)
VECTORS = {
    "A1": (NINE_TO_ONE, [0] * 9 + [1], "first", (0, 0, 0, 0, 0.368995593589, 0, 0)),
    "A2": (NINE_TO_ONE, [0] + [1] * 9, "first", (0, 0, 0, 0.8, 0.431004406411, 0.8, 0.8)),
    "A3": (
        NINE_TO_ONE,
        [0] * 5 + [1] * 5,
        "first",
        (0.531004406411, 0.64, 0.4, 0.4, 0.031004406411, 0.4, 0.4),
    ),
    "B2": (CERTAIN, [0, 0, 1, 1], "first", (0.630929753571, 0.75, 0.5, 0.5, 0.5, 0.5, 0.25)),
    "B3": (CERTAIN, [0, 0, 1, 1], "split", (0.946394630357, 0.9375, 0.5, 0.5, 0.5, 0.5, 0.375)),
    "C1": (UNIFORM, [0] * 4, "first", (1, 1, 0.75, 0.75, 1, 0.75, 0.5)),
    "C2": (UNIFORM, [0] * 4, "split", (0, 0, 0, 0, 0.25, 0, 0)),
    "D1": (
        SLOPED,
        [0] * 6 + [1] * 12 + [2] * 2,
        "first",
        (0.166193209043, 0.1725, 0.2, 0.1, 0.283538631189, 0.25, 0.125),
    ),
    "D4": (SLOPED, [0] * 8 + [1] * 5 + [2] * 7, "first", (0, 0, 0, 0, 0.383538631189, 0.1, 0.05)),
}
COLUMNS = {
    "VCE entropy": lambda y, p, ties: speak.vce(y, p, ties=ties),
    "VCE IQV": lambda y, p, ties: speak.vce(y, p, variation="iqv", ties=ties),
    "VCE max": lambda y, p, ties: speak.vce(y, p, variation="max_probability", ties=ties),
    "ECE": lambda y, p, ties: speak.ece(y, p, ties=ties),
    "UCE": lambda y, p, ties: speak.uce(y, p, ties=ties),
    "RCE TV": lambda y, p, ties: speak.rce(y, p, ties=ties),
    "RCE W1": lambda y, p, ties: speak.rce(y, p, distance="w1", ties=ties),
}


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("vector", VECTORS)
def test_exact_vector(vector: str, column: str) -> None:
    rows, labels, ties, expected = VECTORS[vector]
    value = COLUMNS[column](labels, rows, ties)
    # Twelve printed digits: half a unit of the last.
    assert value == pytest.approx(expected[list(COLUMNS).index(column)], abs=5.1e-13, rel=0)


def test_null_of_the_A_rows_by_enumeration() -> None:
    """n = 10 rows (.9, .1), Binomial(10, .9) right: the exact null distribution of VCE and of H(r-bar)."""
    chance = [math.comb(10, k) * 0.9**k * 0.1 ** (10 - k) for k in range(11)]
    tables = [tabulate([0] * k + [1] * (10 - k), NINE_TO_ONE) for k in range(11)]
    vce = [speak.vce_of(t) for t in tables]
    predicted = -(0.9 * math.log2(0.9) + 0.1 * math.log2(0.1))
    observed = [float(np.nansum(gaps_of["vce"](t))) + predicted for t in tables]
    assert math.fsum(map(math.prod, zip(chance, vce, strict=True))) == pytest.approx(
        0.24265317736138, abs=1e-13
    )
    assert math.fsum(map(math.prod, zip(chance, observed, strict=True))) == pytest.approx(
        0.3845914668839, abs=1e-13
    )
    for right, p_value in {5: 0.0014880348, 7: 0.418868893, 1: 1.0}.items():
        tail = math.fsum(c for c, v in zip(chance, vce, strict=True) if v >= vce[right] - 1e-12)
        assert tail == pytest.approx(p_value, abs=1e-9)


def bin_of_row(row: list[float] | np.ndarray, **options: object) -> int:
    """The bin of one row, counted from 1 as in text."""
    return sums_of(tabulate([0], np.asarray([row]), **options))["rows"].index(1) + 1


def topped(top: float, n_classes: int) -> list[float]:
    """A row whose largest probability is `top`, the rest shared."""
    return [top] + [(1 - top) / (n_classes - 1)] * (n_classes - 1)


@pytest.mark.parametrize(("top", "n_classes", "expected"), [(0.4, 3, 1), (0.92, 5, 9), (0.55, 10, 5)])
def test_plain_decimals_lie_on_their_edge(top: float, n_classes: int, expected: int) -> None:
    """Edges of [1/C, 1]: .4 = 1/3 + 1/15, .92 = .2 + 9(.08), .55 = .1 + 5(.09): each the right end of its bin."""
    assert bin_of_row(topped(top, n_classes), variation="confidence") == expected


def test_uniform_on_5_of_25_has_entropy_one_half() -> None:
    """log_25 5 = 1/2 exactly, computed as 0.5000000000000001: it stays in (.4, .5]."""
    assert bin_of_row([0.2] * 5 + [0.0] * 20) == 5


@pytest.mark.parametrize("n_bins", [1, 4, 10, 15, 20, 25, 64])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5, 7, 10])
@pytest.mark.parametrize("form", ["float64", "float32", "float32 cast to float64", "float16"])
def test_every_edge_belongs_to_the_bin_below(form: str, n_classes: int, n_bins: int) -> None:
    """Confidence exactly lo + (hi - lo) k/M, in each precision, is in bin k; the lowest edge in bin 1."""
    lo = Fraction(1, n_classes)
    tops = [float(lo + (1 - lo) * Fraction(k, n_bins)) for k in range(n_bins + 1)]
    rows = np.array([topped(t, n_classes) for t in tops]).astype(form.split(maxsplit=1)[0])
    if "cast" in form:
        rows = rows.astype(np.float64)
    table = tabulate(np.zeros(n_bins + 1, int), rows, variation="confidence", bins=n_bins)
    assert sums_of(table)["rows"] == [2] + [1] * (n_bins - 1)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_what_lies_clearly_above_an_edge_is_in_the_bin_above(dtype: str) -> None:
    """The snap is (hi - lo) max(2^-22, 4 eps): twice as far above the edge is not on it, half as far is."""
    snap = (1 / 2) * max(2.0**-22, 4 * float(np.finfo(dtype).eps))
    for times, expected in ((0.5, 5), (2.0, 6)):
        top = 0.75 + times * snap  # binary: [1/2, 1], edge 5 of 10 is .75; all of this is exact in each dtype
        assert bin_of_row(np.array([top, 1 - top], dtype), variation="confidence") == expected


def test_a_float32_tenth_counts_as_a_tenth() -> None:
    """V = margin = .1 from float32 (.95, .05), just above .1 once cast to float64; edge 1 of 10."""
    row = np.array([0.95, 0.05], np.float32).astype(np.float64)
    assert 1 - (row[0] - row[1]) > 0.1  # the trap is set
    assert bin_of_row(row, variation="margin") == 1
    assert bin_of_row(row, variation="margin", bins=speak.Edges([0.0, 0.1, 0.5, 1.0])) == 1


def test_entropy_of_uniform_never_leaves_its_range() -> None:
    """Computed H(uniform) exceeds 1 for many C; V is clipped: the last bin, and a sum of at most one per row."""
    classes = range(2, 301)
    naive = [-sum((1 / c) * math.log(1 / c) for _ in range(c)) / math.log(c) for c in classes]
    assert sum(h > 1 for h in naive) > 20  # the trap is set
    for c in classes:
        found = sums_of(tabulate([0], [[1 / c] * c]))
        assert found["rows"] == [0] * 9 + [1], c
        assert 1 - 1e-14 <= found["variation"][-1] / oracle.UNIT <= 1, c


@pytest.mark.parametrize("name", [n for n in oracle.MEASURES if n not in oracle.SHRINKS_WITH_DISPERSION])
def test_no_variation_belongs_to_the_first_bin(name: str) -> None:
    """V = 0 lies in no ((m-1)/M, m/M] of the paper; here in the first bin, so that the counts add up to N."""
    table = tabulate([0, 1, 2], np.eye(3), variation=name)
    assert sums_of(table)["rows"] == [3] + [0] * 9


def test_a_one_hot_classifier_that_is_always_wrong_is_not_praised() -> None:
    """The published UCE code loses these rows and says 0. Here err = 1, uncert = 0, and ECE = RCE = 1."""
    y_true, y_prob = [1, 2, 0], np.eye(3)
    assert speak.uce(y_true, y_prob) == 1
    assert speak.ece(y_true, y_prob) == 1
    assert speak.rce(y_true, y_prob) == pytest.approx(1, abs=1e-15)


def ranks_of(table: object) -> np.ndarray:
    """How often each rank was that of the true class."""
    return np.array(sums_of(table)["rank"], object).sum(axis=0).astype(float) / oracle.UNIT


@pytest.mark.parametrize("ties", ["first", "split"])
def test_ties_are_broken_without_looking_at_the_label(ties: str) -> None:
    """Under calibration r-bar - q-bar is noise, two-decimal predictions with many ties included.

    `(p > p_y).sum()` gives each true class the best of its tied ranks, which is not noise. Rank frequencies are
    means of N independent indicators (or shares of them) with mean q_c, so each z-score below has variance <= 1;
    5.5 sd over 100 ranks is one false alarm in 250,000. Oracle: the law of the labels, P(y = c) = p_c.
    """
    rng = np.random.default_rng(20260215)
    n, n_classes = 20_000, 100
    y_prob = rng.multinomial(100, rng.dirichlet(np.full(n_classes, 0.5), n)) / 100
    y_true = (y_prob.cumsum(axis=1) > rng.random((n, 1)) * y_prob.sum(axis=1, keepdims=True)).argmax(axis=1)

    q = -np.sort(-y_prob, axis=1)
    spread = np.sqrt((q * (1 - q)).sum(axis=0)) + 1  # +1: ranks that never occur have no spread
    table = tabulate(y_true, y_prob, ties=ties)
    z = (ranks_of(table) - q.sum(axis=0)) / spread
    assert np.abs(z).max() < 5.5

    peeking = (y_prob > y_prob[np.arange(n), y_true][:, None]).sum(axis=1)
    biased = (np.bincount(peeking, minlength=n_classes) - q.sum(axis=0)) / spread
    assert np.abs(biased).max() > 15  # what the law would have said of the natural bug
    assert sums_of(table)["tied_rows"] > n / 2


def test_rank_one_frequency_is_the_accuracy_of_argmax_under_ties() -> None:
    """ties="first" agrees with argmax, so the first entry of the rank counts is the number of right answers."""
    rng = np.random.default_rng(5)
    y_prob = rng.multinomial(5, [0.25] * 4, 500) / 5
    y_true = rng.integers(0, 4, 500)
    table = tabulate(y_true, y_prob)
    assert ranks_of(table)[0] == (y_prob.argmax(axis=1) == y_true).sum()


def test_expected_accuracy_of_tied_tops_when_split() -> None:
    """(.5, .5) and y = 0 four times: half the credit each; ECE = |.5 - .5| = 0, while "first" says |.5 - 1|."""
    rows = [[0.5, 0.5]] * 4
    assert speak.ece([0] * 4, rows, ties="split") == 0
    assert speak.ece([0] * 4, rows) == 0.5


def test_entropy_hides_what_ranks_see() -> None:
    """q-bar = (.6, .3, .1) and r-bar = (.4653, .4648, .0698) have the same entropy to 1e-4; TV = .1648 does not hide.

    TV = (|.4653 - .6| + |.4648 - .3| + |.0698 - .1|) / 2 = (.1347 + .1648 + .0302) / 2, with r-bar normalised.
    """
    labels = [0] * 4653 + [1] * 4648 + [2] * 699
    rows = [[0.6, 0.3, 0.1]] * 10_000
    assert speak.vce(labels, rows) < 2e-4
    assert speak.rce(labels, rows) == pytest.approx((0.1347 + 0.1648 + 0.0301) / 2, abs=1e-12)


@pytest.mark.parametrize("engine", ["portable", "auto"])
@pytest.mark.parametrize("vector", VECTORS)
def test_exact_vector_of_every_engine(vector: str, engine: str) -> None:
    """VCE of entropy and RCE by TV, read off the table that the engine made."""
    rows, labels, ties, expected = VECTORS[vector]
    table = tabulate(labels, rows, ties=ties, engine=engine)
    found = speak.vce_of(table), speak.rce_of(table)
    assert found == pytest.approx((expected[0], expected[5]), abs=5.1e-13, rel=0)
