"""Every measure x binning x tie rule against `oracle.py`, on random rows and on nasty ones.

Counts, ordered sums and rank counts are integers and must be equal. What passes through a logarithm
agrees to 1e-12, plus the unit of its integer (2^-52, 2^-40) for each row, since a last bit may
round the other way.
"""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
import pytest
import speak
from speak import gaps_of, sums_of, tabulate

Rows = tuple[np.ndarray, np.ndarray]


def drawn_labels(y_prob: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels drawn from the rows themselves, one in five at random: some have probability 0."""
    cumulative = y_prob.astype(float).cumsum(axis=1)
    y_true = (cumulative > rng.random((len(y_prob), 1)) * cumulative[:, -1:]).argmax(axis=1)
    return np.where(rng.random(len(y_prob)) < 0.2, rng.integers(0, y_prob.shape[1], len(y_prob)), y_true)


def dirichlet(n: int, n_classes: int, alpha: float = 1.0) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.dirichlet(np.full(n_classes, alpha), n)


def decimals(n: int, n_classes: int, parts: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Rows of k/parts: many ties, many V on an edge, many V equal but for the last bit."""
    return lambda rng: rng.multinomial(parts, rng.dirichlet(np.ones(n_classes), n)) / parts


def cast(dtype: str) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.dirichlet(np.ones(4), 80).astype(dtype)


def tiny(rng: np.random.Generator) -> np.ndarray:
    """Differences far below 2^-52 still decide ranks; 5e-324 is the smallest number there is."""
    rows = np.array([[1, 1e-20, 1e-30, 0], [1, 1e-30, 1e-20, 5e-324], [1 - 2**-53, 2**-53, 1e-17, 1e-18]])
    return rows[rng.integers(0, 3, 60)][:, rng.permutation(4)]


def on_edges(rng: np.random.Generator) -> np.ndarray:
    """Confidence at each edge of [1/3, 1] in tenths; the rest shared or not."""
    top = 1 / 3 + (2 / 3) * rng.integers(0, 11, 80) / 10
    split = np.where(rng.random(80) < 0.5, 0.5, 0.5 + 0.4 * rng.random(80))
    split = np.where(top < 0.5, 0.5, split)
    return np.column_stack([top, (1 - top) * split, (1 - top) * (1 - split)])[:, rng.permutation(3)]


def around_a_kink(rng: np.random.Generator) -> np.ndarray:
    """Uniform up to the last bits, one-hot up to the last bits, and uniform on 5 of 25 (H = 1/2)."""
    kinds = np.zeros((5, 25))
    kinds[0] = 1 / 25
    kinds[1] = 1 / 25 + np.array([1e-17, -1e-17] * 12 + [0])
    kinds[2, 3] = 1
    kinds[3, :2] = 1 - 1e-16, 1e-16
    kinds[4, 7:12] = 0.2
    return kinds[rng.integers(0, 5, 60)]


ROWS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "three classes": dirichlet(150, 3),
    "ten classes": dirichlet(120, 10),
    "binary": dirichlet(120, 2),
    "sparse, with exact zeros": lambda rng: np.round(rng.dirichlet(np.full(6, 0.1), 100), 1),
    "one-hot": lambda rng: np.eye(5)[rng.integers(0, 5, 60)],
    "uniform": lambda rng: np.full((int(rng.integers(15, 25)), 4), 0.25),
    "one decimal": decimals(120, 4, 10),
    "two decimals": decimals(100, 10, 100),
    "most bins empty": dirichlet(80, 3, 200.0),
    "V on edges": on_edges,
    "kinks": around_a_kink,
    "tiny": tiny,
    "a thousand classes": dirichlet(3, 1000),
    "one row": dirichlet(1, 3),
    "fewer rows than bins": dirichlet(6, 4),
    "float32": cast("float32"),
    "float16": cast("float16"),
}


def rows_of(kind: str) -> Rows:
    rng = np.random.default_rng(list(ROWS).index(kind) + 100)
    y_prob = ROWS[kind](rng)
    if kind.startswith("sparse"):  # rounding broke the sums; keep the rows that still add up to one
        y_prob = y_prob[np.abs(y_prob.sum(axis=1) - 1) < 1e-9]
    if kind == "float16":
        y_prob = y_prob[np.abs(y_prob.astype(float).sum(axis=1) - 1) < 2**-11]
    return drawn_labels(y_prob, rng), y_prob


MEASURES = [
    *oracle.MEASURES,
    *(f"{kind}({a})" for kind in ("renyi", "tsallis") for a in (0.5, 1, 2, 3.5)),
]
BINNINGS = ("width 10", "width 7", "width 1", "mass 10", "mass 3", "edges")
CLOSE = {"rel": 1e-12, "abs": 1e-12}


def formula_of(name: str) -> oracle.Measure:
    """The oracle's measure of that name."""
    kind, _, order = name.partition("(")
    return getattr(oracle, kind)(float(order[:-1])) if order else oracle.MEASURES[name]


def bins_of(binning: str, lo: float) -> tuple[Any, tuple[str, Any]]:
    """The library's bins and the oracle's, for a measure whose range starts at lo."""
    kind, _, size = binning.partition(" ")
    if kind == "edges":
        return speak.Edges(uneven(lo)), ("edges", uneven(lo))
    bins = speak.EqualMass if kind == "mass" else speak.EqualWidth
    return bins(int(size)), (kind, int(size))


def uneven(lo: float) -> list[float]:
    return [lo, lo + (1 - lo) * 0.2, lo + (1 - lo) * 0.5, lo + (1 - lo) * 0.95, 1.0]


def expected_of(y_true: Any, y_prob: Any, name: str, **how: Any) -> dict[str, Any]:
    """The oracle's table, by the name of the measure where its range or direction depends on it."""
    measure = name if name in oracle.MEASURES else formula_of(name)
    return oracle.tabulate(y_true, y_prob, measure=measure, dtype=y_prob.dtype.name, **how)


def assert_same(table: Any, expected: dict[str, Any]) -> None:
    n, found = sum(expected["row_count"]), sums_of(table)
    assert found["edges"] == pytest.approx(expected["edges"], abs=1e-12)
    assert found["weight"] == expected["count"]
    for ours, theirs in (("rows", "row_count"), ("rank", "rank")):
        assert found[ours] == expected[theirs], ours
    for name in ("ordered", "tied_rows", "impossible_rows", "true_probability", "square"):
        assert found[name] == expected[name], name
    assert table.n_rows == n
    # V, rounded to 2^-52 in each row, to 1e-12 of it.
    variation = [v / oracle.UNIT for v in found["variation"]]
    assert variation == pytest.approx([float(v) / oracle.UNIT for v in expected["variation"]], **CLOSE)
    for name in ("log_score", "log_score_variance", "log_likelihood"):
        got = float(np.sum(found[name])) / oracle.LOG_UNIT
        want = expected[name] / oracle.LOG_UNIT
        assert got == pytest.approx(want, rel=1e-12, abs=n * 2.0**-40), name
    assert found["accuracy"] == pytest.approx(oracle.accuracy(expected), rel=1e-12)


def assert_same_numbers(table: Any, expected: dict[str, Any], name: str) -> None:
    """Equations of the paper, sections 2 and 3: VCE, UCE; RCE of section 2 of the statistics."""
    readers = {"vce": speak.vce_of} | ({"uce": speak.uce_of} if name == "entropy" else {})
    for which, reader in readers.items():
        gaps = [*gaps_of[which](table)]
        assert gaps == pytest.approx(oracle.gaps(expected, which), nan_ok=True, **CLOSE), which
        for norm in ("l1", "l2", "max"):
            want = oracle.error(expected, which, norm)
            assert reader(table, norm=norm) == pytest.approx(want, **CLOSE), which
    for distance in oracle.DISTANCES:
        gaps = [*gaps_of["rce"](table, distance)]
        assert np.abs(gaps) == pytest.approx(np.abs(oracle.gaps(expected, distance)), nan_ok=True, **CLOSE)
        for norm in ("l1", "l2", "max"):
            want = oracle.error(expected, distance, norm)
            assert speak.rce_of(table, distance=distance, norm=norm) == pytest.approx(want, **CLOSE)


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("kind", ROWS)
def test_table_and_numbers(kind: str, name: str) -> None:
    """Four of the twelve binnings and tie rules; each meets each measure in five kinds of rows."""
    y_true, y_prob = rows_of(kind)
    lo, _ = oracle.range_of(name, y_prob.shape[1])
    first = list(ROWS).index(kind) + MEASURES.index(name)
    for binning, ties in [*itertools.product(BINNINGS, ("first", "split"))][first % 3 :: 3]:
        if y_prob.shape[1] == 1000 and binning not in {"width 10", "mass 3"}:
            continue  # the pairwise measures are quadratic in C, and the oracle is a loop
        bins, oracle_bins = bins_of(binning, lo)
        table = tabulate(y_true, y_prob, variation=name, bins=bins, ties=ties)
        expected = expected_of(y_true, y_prob, name, bins=oracle_bins, ties=ties)
        assert_same(table, expected)
        assert_same_numbers(table, expected, name)


@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize("binning", BINNINGS)
@pytest.mark.parametrize("name", ["entropy", "confidence", "iqv", "margin"])
@pytest.mark.parametrize("kind", ["three classes", "one decimal", "one-hot", "tiny", "float32"])
def test_weighted_table_and_numbers(kind: str, name: str, binning: str, ties: str) -> None:
    """Weights of every size, zeros among them. A weighted table promises 1e-12, not bits."""
    y_true, y_prob = rows_of(kind)
    rng = np.random.default_rng(3)
    weights = rng.gamma(0.5, 10.0 ** rng.integers(-3, 4, len(y_true)))
    weights[rng.random(len(y_true)) < 0.1] = 0
    bins, oracle_bins = bins_of(binning, oracle.range_of(name, y_prob.shape[1])[0])
    table = tabulate(y_true, y_prob, variation=name, bins=bins, ties=ties, sample_weight=weights)
    expected = expected_of(y_true, y_prob, name, bins=oracle_bins, ties=ties, weights=weights)
    found = sums_of(table)
    assert table.n_rows == (weights > 0).sum()
    assert found["rows"] == expected["row_count"]
    for which in ("tied_rows", "impossible_rows"):
        assert found[which] == expected[which], which
    # A probability is rounded to 2^-52 before it is weighted, or not: half a unit of the heaviest.
    heaviest = float(weights.max())
    logs = weights.sum() * 2.0**-40
    for ours, theirs, unit, slack in (
        ("weight", "count", 1, 0),
        ("weight_square", "weight_square", 1, 0),
        ("ordered", "ordered", oracle.UNIT, heaviest * 2.0**-50),
        ("rank", "rank", oracle.UNIT, heaviest * 2.0**-50),
        ("variation", "variation", oracle.UNIT, heaviest * 1e-12),
        ("true_probability", "true_probability", oracle.UNIT, 0),
        ("square", "square", oracle.UNIT, 0),
        ("log_score", "log_score", oracle.LOG_UNIT, logs),
        ("log_likelihood", "log_likelihood", oracle.LOG_UNIT, logs),
    ):
        got, want = np.array(found[ours]), np.array(expected[theirs], object) / unit
        if ours.startswith("log"):
            got, want = np.sum(got), np.sum(want)
        np.testing.assert_allclose(got, np.array(want, float), rtol=1e-12, atol=slack, err_msg=ours)
    assert_same_numbers(table, expected, name)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("engine", ["portable", "auto"])
@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize("name", ["entropy", "confidence"])
@pytest.mark.parametrize("kind", ROWS)
def test_scores_of_every_engine(kind: str, name: str, ties: str, engine: str, weighted: bool) -> None:
    """Accuracy, Brier score and log-loss, and their sums; a weight counts as repetition."""
    y_true, y_prob = rows_of(kind)
    weights = None
    if weighted and len(y_true) > 1:
        weights = np.random.default_rng(5).integers(0, 4, len(y_true))
    how = {"engine": engine} if weights is None else {"sample_weight": weights}
    table = tabulate(y_true, y_prob, variation=name, ties=ties, **how)
    expected = expected_of(y_true, y_prob, name, ties=ties, weights=weights)
    if weights is None:
        assert_same(table, expected)
    else:
        y_true, y_prob = (np.repeat(part, weights, axis=0) for part in (y_true, y_prob))
    rows, found = y_prob.astype(float).tolist(), sums_of(table)
    assert found["accuracy"] == pytest.approx(oracle.accuracy(expected), **CLOSE)
    assert found["brier_score"] == pytest.approx(oracle.brier_score(y_true, rows), **CLOSE)
    assert found["log_loss"] == pytest.approx(oracle.log_loss(y_true, rows), **CLOSE)


@pytest.mark.parametrize("distance", oracle.DISTANCES)
@pytest.mark.parametrize("kind", ["three classes", "one decimal", "two decimals"])
def test_ranked_gap_carries_the_sign_of_the_mean_rank(kind: str, distance: str) -> None:
    y_true, y_prob = rows_of(kind)
    gaps = [*gaps_of["rce"](tabulate(y_true, y_prob), distance)]
    expected = oracle.gaps(oracle.tabulate(y_true, y_prob), distance)
    assert gaps == pytest.approx(expected, nan_ok=True, abs=1e-12)


@pytest.mark.parametrize("kind", ROWS)
def test_numbers_of_rows(kind: str) -> None:
    y_true, y_prob = rows_of(kind)
    by_entropy, by_confidence = (expected_of(y_true, y_prob, name) for name in ("entropy", "confidence"))
    for norm in ("l1", "l2", "max"):
        numbers = {f: getattr(speak, f)(y_true, y_prob, norm=norm) for f in ("vce", "uce", "ece")}
        numbers |= {d: speak.rce(y_true, y_prob, distance=d, norm=norm) for d in oracle.DISTANCES}
        expected = {which: oracle.error(by_entropy, which, norm) for which in numbers}
        expected["ece"] = oracle.error(by_confidence, "ece", norm)
        assert numbers == pytest.approx(expected, abs=1e-12)
        assert {type(x) for x in numbers.values()} == {float}


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_alone(name: str) -> None:
    """On the last axis of any shape: ordered rows, mean vectors, rank frequencies in any order."""
    measure, formula = speak.measure(name), formula_of(name)
    rng = np.random.default_rng(11)
    for n_classes in (2, 3, 10):
        x = rng.dirichlet(np.full(n_classes, 0.5), (4, 5))
        x[0] = -np.sort(-x[0], axis=-1)
        x[1, 0], x[1, 1] = np.eye(n_classes)[0], 1 / n_classes
        expected = [[formula(row.tolist()) for row in block] for block in x]
        np.testing.assert_allclose(measure(x), expected, rtol=1e-12, atol=1e-13)
        assert float(measure(x[2, 0])) == pytest.approx(formula(x[2, 0].tolist()), abs=1e-13)


@pytest.mark.parametrize("n_classes", [2, 3, 10, 100])
@pytest.mark.parametrize("name", MEASURES)
def test_extremes_of_a_measure(name: str, n_classes: int) -> None:
    """One-hot and uniform are at the two ends of the range of the bins, in the known direction."""
    lo, hi = oracle.range_of(name, n_classes)
    table = tabulate([0], [[1 / n_classes] * n_classes], variation=name)
    assert sums_of(table)["edges"][::10] == [lo, hi]
    ends = [speak.measure(name)(x) for x in (np.eye(n_classes)[0], np.full(n_classes, 1 / n_classes))]
    shrinks = name in oracle.SHRINKS_WITH_DISPERSION
    assert [*map(float, ends)] == pytest.approx([hi, lo] if shrinks else [lo, hi], abs=1e-13)


def test_the_measures_on_offer() -> None:
    assert set(speak.variations) == set(oracle.MEASURES)
