"""Every measure x binning x tie rule against `oracle.py`, on random rows and on nasty ones.

Counts, ordered sums and rank counts are integers and must be equal. What passes through a logarithm agrees to
1e-12, plus the unit of its integer (2^-52, 2^-40) for each row, since a last bit may round the other way.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import oracle
import pytest

import trueness as tn

Rows = tuple[np.ndarray, np.ndarray]


def drawn_labels(y_prob: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels drawn from the rows themselves, one in five at random: some are impossible where the row says zero."""
    cumulative = y_prob.astype(float).cumsum(axis=1)
    y_true = (cumulative > rng.random((len(y_prob), 1)) * cumulative[:, -1:]).argmax(axis=1)
    return np.where(rng.random(len(y_prob)) < 0.2, rng.integers(0, y_prob.shape[1], len(y_prob)), y_true)


def dirichlet(n: int, n_classes: int, alpha: float = 1.0) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.dirichlet(np.full(n_classes, alpha), n)


def decimals(n: int, n_classes: int, parts: int) -> Callable[[np.random.Generator], np.ndarray]:
    """Rows of k/parts: many ties, many V on an edge, many V that are equal on paper and not in the last bit."""
    return lambda rng: rng.multinomial(parts, rng.dirichlet(np.ones(n_classes), n)) / parts


def cast(dtype: str) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.dirichlet(np.ones(4), 80).astype(dtype)


def tiny(rng: np.random.Generator) -> np.ndarray:
    """Differences far below 2^-52 still decide ranks: 1e-20 against 1e-30, and the smallest number there is."""
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


FACTORIES = {
    f"{family}({alpha})": (getattr(tn, family)(alpha), getattr(oracle, family)(alpha))
    for family in ("renyi", "tsallis")
    for alpha in (0.5, 1, 2, 3.5)
}
MEASURES: dict[str, tuple[Any, Any]] = {name: (name, name) for name in oracle.MEASURES} | FACTORIES

BINNINGS = ("width 10", "width 7", "width 1", "mass 10", "mass 3", "edges")


def bins_of(binning: str, lo: float) -> tuple[Any, tuple[str, Any]]:
    """The library's bins and the oracle's, for a measure whose range starts at lo."""
    kind, _, size = binning.partition(" ")
    if kind == "edges":
        return tn.Edges(uneven(lo)), ("edges", uneven(lo))
    return (tn.EqualMass if kind == "mass" else tn.EqualWidth)(int(size)), (kind, int(size))


def uneven(lo: float) -> list[float]:
    return [lo, lo + (1 - lo) * 0.2, lo + (1 - lo) * 0.5, lo + (1 - lo) * 0.95, 1.0]


def whole(exact: Any) -> list[Any]:
    """The integers of an exact sum as Python integers in its unit: whole 2^52 + fraction."""
    pairs = zip(exact.whole.ravel().tolist(), exact.fraction.ravel().tolist(), strict=True)
    return [w * oracle.UNIT + f for w, f in pairs]


def flat(rows: list[list[Any]]) -> list[Any]:
    return [x for row in rows for x in row]


def assert_same(table: tn.CalibrationTable, expected: dict[str, Any]) -> None:
    n = sum(expected["row_count"])
    assert table.edges.tolist() == pytest.approx(expected["edges"], abs=1e-12)
    assert table.count.tolist() == expected["count"]
    assert table.row_count.tolist() == expected["row_count"]
    assert whole(table.sums.ordered) == flat(expected["ordered"])
    assert whole(table.sums.rank) == flat(expected["rank"])
    assert table.n_rows == n == table.count.sum()
    assert table.tied_rows == expected["tied_rows"]
    assert table.impossible_rows == expected["impossible_rows"]
    variation = [float(v) / oracle.UNIT for v in expected["variation"]]
    assert table.variation_sum.tolist() == pytest.approx(variation, rel=1e-12, abs=1e-12)
    for name in ("true_probability", "square"):
        assert whole(getattr(table.sums, name)) == [expected[name]], name
    for name in ("log_score", "log_score_variance", "log_likelihood"):
        got = float(getattr(table.sums, name).value.sum())
        assert got == pytest.approx(expected[name] / oracle.LOG_UNIT, rel=1e-12, abs=n * 2.0**-40), name
    assert table.accuracy == pytest.approx(oracle.accuracy(expected), rel=1e-12)


def assert_same_numbers(table: tn.CalibrationTable, expected: dict[str, Any], name: str) -> None:
    close = {"rel": 1e-12, "abs": 1e-12}
    readers: dict[str, tuple[Any, Any]] = {"vce": (tn.variation_calibration_error, tn.variation_gap)}
    readers["ece"] = (tn.top_label_error, tn.top_label_gap)
    if name == "entropy":
        readers["uce"] = (tn.uncertainty_calibration_error, tn.uncertainty_gap)
    for which, (reader, gap) in readers.items():
        assert gap(table).tolist() == pytest.approx(oracle.gaps(expected, which), nan_ok=True, **close), which
        for norm in ("l1", "l2", "max"):
            assert reader(table, norm=norm) == pytest.approx(oracle.error(expected, which, norm), **close), (
                which
            )
        parts = tn.signed_parts(table, gap)
        assert (parts.over, parts.under, parts.net) == pytest.approx(
            oracle.signed_parts(expected, which), **close
        )
    for distance in oracle.DISTANCES:
        got = [tn.ranked_calibration_error(table, distance, norm=norm) for norm in ("l1", "l2", "max")]
        assert got == pytest.approx(
            [oracle.error(expected, distance, norm) for norm in ("l1", "l2", "max")], **close
        )


@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("kind", ROWS)
def test_table_and_numbers(kind: str, name: str) -> None:
    y_true, y_prob = rows_of(kind)
    theirs, ours = MEASURES[name]
    lo, _ = oracle.range_of(name, y_prob.shape[1])
    for binning in BINNINGS:
        if y_prob.shape[1] == 1000 and binning not in {"width 10", "mass 3"}:
            continue  # the pairwise measures are quadratic in C, and the oracle is a loop
        bins, oracle_bins = bins_of(binning, lo)
        for ties in ("first", "split"):
            table = tn.tabulate(y_true, y_prob, variation=theirs, bins=bins, ties=ties)
            expected = oracle.tabulate(
                y_true, y_prob, measure=ours, bins=oracle_bins, ties=ties, dtype=y_prob.dtype.name
            )
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
    lo, _ = oracle.range_of(name, y_prob.shape[1])
    bins, oracle_bins = bins_of(binning, lo)
    table = tn.tabulate(y_true, y_prob, variation=name, bins=bins, ties=ties, sample_weight=weights)
    expected = oracle.tabulate(
        y_true, y_prob, measure=name, bins=oracle_bins, ties=ties, weights=weights, dtype=y_prob.dtype.name
    )
    relative = {"rel": 1e-12, "abs": 0}
    assert table.row_count.tolist() == expected["row_count"]
    assert table.n_rows == (weights > 0).sum()
    assert table.tied_rows == expected["tied_rows"]
    assert table.impossible_rows == expected["impossible_rows"]
    assert table.count.tolist() == pytest.approx([float(x) for x in expected["count"]], **relative)
    squares = [float(x) for x in expected["weight_square"]]
    assert table.weight_square_sum.tolist() == pytest.approx(squares, **relative)
    effective = [float(n) ** 2 / s if s else 0.0 for n, s in zip(expected["count"], squares, strict=True)]
    assert table.effective_count.tolist() == pytest.approx(effective, rel=1e-12, nan_ok=True)
    heaviest = float(weights.max())
    for got, name_of_sum in ((table.ordered_sum, "ordered"), (table.rank_count, "rank")):
        exact = [float(x) / oracle.UNIT for x in flat(expected[name_of_sum])]
        # A probability is itself rounded to 2^-52 before it is weighted, or not: half a unit of the heaviest row.
        assert got.ravel().tolist() == pytest.approx(exact, rel=1e-12, abs=heaviest * 2.0**-50)
    variation = [float(v) / oracle.UNIT for v in expected["variation"]]
    assert table.variation_sum.tolist() == pytest.approx(variation, rel=1e-12, abs=heaviest * 1e-12)
    for which in ("log_score", "log_likelihood"):
        assert float(getattr(table.sums, which).value.sum()) == pytest.approx(
            float(expected[which]) / oracle.LOG_UNIT, rel=1e-12, abs=weights.sum() * 2.0**-40
        )
    for which in ("true_probability", "square"):
        assert float(getattr(table.sums, which).value) == pytest.approx(
            float(expected[which]) / oracle.UNIT, rel=1e-12
        )
    assert_same_numbers(table, expected, name)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("engine", ["portable", pytest.param("compiled", marks=pytest.mark.compiled)])
@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize("name", ["entropy", "confidence"])
@pytest.mark.parametrize("kind", ROWS)
def test_scores_of_every_engine(kind: str, name: str, ties: str, engine: str, weighted: bool) -> None:
    """Accuracy, Brier score and log-loss, and the sums they are read off; a weight counts as repetition."""
    y_true, y_prob = rows_of(kind)
    weights = np.random.default_rng(5).integers(0, 4, len(y_true)) if weighted and len(y_true) > 1 else None
    options = {"engine": engine} if weights is None else {"sample_weight": weights}
    table = tn.tabulate(y_true, y_prob, variation=name, ties=ties, **options)
    how = {"measure": name, "ties": ties, "weights": weights, "dtype": y_prob.dtype.name}
    expected = oracle.tabulate(y_true, y_prob, **how)
    if weights is None:
        assert_same(table, expected)
    else:
        y_true, y_prob = (np.repeat(part, weights, axis=0) for part in (y_true, y_prob))
    rows = y_prob.astype(float).tolist()
    close = {"rel": 1e-12, "abs": 1e-12}
    assert table.accuracy == pytest.approx(oracle.accuracy(expected), **close)
    assert table.brier_score == pytest.approx(oracle.brier_score(y_true, rows), **close)
    assert table.log_loss == pytest.approx(oracle.log_loss(y_true, rows), **close)
    for number in (table.accuracy, table.brier_score, table.log_loss):
        assert type(number) is float


@pytest.mark.parametrize("min_count", [1, 5, 12])
@pytest.mark.parametrize("which", ["vce", "tv"])
def test_maximum_leaves_small_bins_out(which: str, min_count: int) -> None:
    y_true, y_prob = rows_of("three classes")
    table, expected = tn.tabulate(y_true, y_prob), oracle.tabulate(y_true, y_prob)
    reader = tn.variation_calibration_error if which == "vce" else tn.ranked_calibration_error
    expect = oracle.error(expected, which, "max", min_count)
    assert reader(table, norm="max", min_count=min_count) == pytest.approx(expect, abs=1e-12)


@pytest.mark.parametrize("distance", oracle.DISTANCES)
@pytest.mark.parametrize("kind", ["three classes", "one decimal", "two decimals"])
def test_ranked_gap_carries_the_sign_of_the_mean_rank(kind: str, distance: str) -> None:
    y_true, y_prob = rows_of(kind)
    table, expected = tn.tabulate(y_true, y_prob), oracle.tabulate(y_true, y_prob)
    gaps = oracle.gaps(expected, distance)
    assert tn.ranked_gap(table, distance).tolist() == pytest.approx(gaps, nan_ok=True, abs=1e-12)
    parts = tn.signed_parts(table, lambda t: tn.ranked_gap(t, distance))
    assert (parts.over, parts.under, parts.net) == pytest.approx(
        oracle.signed_parts(expected, distance), abs=1e-12
    )


@pytest.mark.parametrize("kind", ROWS)
def test_rows_to_number_is_the_reader_of_the_table(kind: str) -> None:
    y_true, y_prob = rows_of(kind)
    by_entropy = oracle.tabulate(y_true, y_prob, dtype=y_prob.dtype.name)
    by_confidence = oracle.tabulate(y_true, y_prob, measure="confidence", dtype=y_prob.dtype.name)
    numbers = [tn.vce(y_true, y_prob), tn.uce(y_true, y_prob), tn.ece(y_true, y_prob)]
    numbers += [tn.rce(y_true, y_prob, distance=d) for d in oracle.DISTANCES]
    expected = [
        oracle.error(by_entropy, "vce"),
        oracle.error(by_entropy, "uce"),
        oracle.error(by_confidence, "ece"),
    ]
    expected += [oracle.error(by_entropy, d) for d in oracle.DISTANCES]
    assert numbers == pytest.approx(expected, abs=1e-12)
    assert all(type(x) is float for x in numbers)


@pytest.mark.parametrize("name", MEASURES)
def test_a_measure_alone(name: str) -> None:
    """Called on the last axis of any shape: ordered rows, a mean ordered vector, a rank frequency in any order."""
    theirs, ours = MEASURES[name]
    measure = tn.variations[theirs] if isinstance(theirs, str) else theirs
    formula = oracle.MEASURES[ours] if isinstance(ours, str) else ours
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
    """One-hot and uniform attain the two ends of the declared range, in the declared direction."""
    theirs, _ = MEASURES[name]
    measure = tn.variations[theirs] if isinstance(theirs, str) else theirs
    lo, hi = measure.range_for(n_classes)
    assert (lo, hi) == oracle.range_of(name, n_classes)
    ends = [float(measure(np.eye(n_classes)[0])), float(measure(np.full(n_classes, 1 / n_classes)))]
    assert measure.grows_with_dispersion == (name not in oracle.SHRINKS_WITH_DISPERSION)
    assert ends == pytest.approx([lo, hi] if measure.grows_with_dispersion else [hi, lo], abs=1e-13)


def test_the_measures_on_offer() -> None:
    assert set(tn.variations) == set(oracle.MEASURES)
    assert all(tn.variations[name].name == name for name in tn.variations)
    assert tn.renyi(2).name == "renyi(2)"
    assert tn.tsallis(0.5).name == "tsallis(0.5)"


@pytest.mark.parametrize("C", [2, 3, 10, 100])
def test_lipschitz_constants_of_the_table(C: int) -> None:
    """The L1 column: |V(x) - V(y)| <= L1 ||x - y||_1."""
    column = {
        "entropy": np.inf,
        "confidence": 1 / 2,
        "max_probability": 1 / 2,
        "wilcox_variation_ratio": C / (2 * (C - 1)),
        "iqv": C / (C - 1),
        "average_deviation": C / (2 * (C - 1)),
        "mean_difference": 1,
        "standard_deviation": np.sqrt(C / (2 * (C - 1))),
        "margin": 1,
    }
    assert {name: tn.variations[name].lipschitz_for(C) for name in column} == pytest.approx(column, rel=1e-12)


def test_binary_measures_coincide() -> None:
    """For C = 2, WVR = AvDev = MNDif = StDev = margin = 2(1 - max)."""
    x = np.column_stack([np.linspace(0.5, 1, 101), 1 - np.linspace(0.5, 1, 101)])
    for name in (
        "wilcox_variation_ratio",
        "average_deviation",
        "mean_difference",
        "standard_deviation",
        "margin",
    ):
        np.testing.assert_allclose(tn.variations[name](x), 2 * (1 - x[:, 0]), rtol=0, atol=1e-13)
