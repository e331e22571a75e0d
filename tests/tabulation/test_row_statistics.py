"""What is summed of a row against `rule_oracle`, to the last bit, whatever the blocks and the processor."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import rule_oracle
from numpy.typing import NDArray

import trueness as tn
from trueness import _row_arithmetic as rule
from trueness._scratch import Scratch
from trueness.old_table import TableSpec
from trueness.ranking import ordered_rows
from trueness.rows import RowCode, Rows, row_codes
from trueness.tabulation.row_statistics import BlockStatistics, Describer

EPS = 2.0**-52
CLASSES = [2, 3, 4, 8, 9, 10, 15, 16, 17, 40, 300]
ENGINES = ["portable", "compiled"]


def nasty_rows(n_classes: int, seed: int = 0) -> NDArray[np.float64]:
    """Good rows: spread and concentrated, tied, with zeros of both signs, subnormal, near one-hot, uniform, rounded."""
    rng = np.random.default_rng([n_classes, seed])
    kinds = [rng.dirichlet([alpha] * n_classes, 12) for alpha in (0.02, 0.3, 1.0, 20.0)]
    kinds.append(np.full((1, n_classes), 1 / n_classes))
    kinds.append(np.eye(n_classes)[:5])
    kinds.append(np.where(np.eye(n_classes)[:5] == 0, -0.0, 1.0))
    tiny = np.eye(n_classes)[:6] * 1.0
    for row, value in zip(tiny, (5e-324, 2.0**-1022, 2.0**-1023, 1e-310, 1e-300, 2.0**-53), strict=False):
        row[row == 0] = value
    kinds.append(tiny)
    near = np.zeros((6, n_classes))
    near[:, -1] = 1 - np.arange(1, 7) * 2.0**-53
    near[:, 0] = 1 - near[:, -1]
    kinds.append(near)
    few = rng.dirichlet([1.0] * n_classes, 12)
    few = np.round(few, 1)  # many ties
    few[:, 0] += 1 - few.sum(axis=1)
    kinds.append(few[(few >= 0).all(axis=1) & (few <= 1).all(axis=1)])
    kinds.append(rng.dirichlet([0.5] * n_classes, 12).astype(np.float32).astype(np.float64))
    rows = np.concatenate(kinds)
    return rows[row_codes(Rows.of_arrays(None, rows)) == RowCode.GOOD]


def nasty_logits(n_classes: int) -> NDArray[np.float64]:
    """Logits of ordinary size, tied, far apart so that probabilities underflow, beyond LEAST_LOG, and -inf."""
    rng = np.random.default_rng(n_classes)
    ordinary = rng.normal(0, 5, (20, n_classes))
    tied = rng.integers(-2, 3, (20, n_classes)).astype(float)
    nearly = rng.normal(0, 1e-16, (20, n_classes))
    far = rng.uniform(-900, 0, (40, n_classes))
    farther = rng.choice(
        [0.0, -705.0, -708.5, -744.0, -745.2, -800.0, -1e7, -1e300, -np.inf], (40, n_classes)
    )
    farther[:, 0] = 0.0
    return np.concatenate([ordinary, tied, nearly, far, farther, -far * 1e305 / 900])


def nasty_input(n_classes: int, dtype: str, *, from_logits: bool) -> NDArray[Any]:
    """Such rows or logits in a dtype, without those that are not good in it."""
    with np.errstate(all="ignore"):
        given = (nasty_logits if from_logits else nasty_rows)(n_classes).astype(dtype)
    given = given[~(given == np.inf).any(axis=1)]  # beyond float32
    return given if from_logits else given[row_codes(Rows.of_arrays(None, given)) == RowCode.GOOD]


def described(rows: Rows, variation: str = "entropy") -> BlockStatistics:
    measure = tn.variations[variation]
    edges = tn.EqualWidth(10).resolve(*measure.range_for(rows.n_classes))
    spec = TableSpec(rows.n_classes, measure, edges, "first")
    with np.errstate(all="ignore"):
        return Describer(spec, EPS, Scratch()).describe(rows, 0, rows.n_rows)


class TestRows:
    @pytest.mark.parametrize("n_classes", CLASSES)
    def test_statistics_of_probabilities(self, n_classes: int) -> None:
        p = nasty_rows(n_classes)
        labels = np.random.default_rng(0).integers(n_classes, size=len(p))
        found = described(Rows.of_arrays(labels, p))
        expected = [
            rule_oracle.scalar_row(row, label, n_classes)
            for row, label in zip(p.tolist(), labels.tolist(), strict=True)
        ]
        compare(found, expected)
        assert found.variation.tolist() == [row.variation for row in expected]
        by_confidence = described(Rows.of_arrays(labels, p), "confidence")
        assert by_confidence.variation.tolist() == [row.confidence for row in expected]

    @pytest.mark.parametrize("n_classes", CLASSES)
    def test_statistics_of_logits(self, n_classes: int) -> None:
        z = nasty_logits(n_classes)
        labels = np.random.default_rng(1).integers(n_classes, size=len(z))
        found = described(Rows.of_arrays(labels, z, from_logits=True))
        expected = [
            rule_oracle.scalar_row_of_logits(row, label, n_classes)
            for row, label in zip(z.tolist(), labels.tolist(), strict=True)
        ]
        compare(found, expected)

    @pytest.mark.parametrize("n_classes", CLASSES)
    def test_softmax(self, n_classes: int) -> None:
        z = nasty_logits(n_classes)
        made = Rows.of_arrays(None, z, from_logits=True).block(0, len(z))
        assert made.tolist() == [rule_oracle.softmax(row) for row in z.tolist()]

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("n_classes", [2, 5, 12, 40])
    @pytest.mark.parametrize("from_logits", [False, True])
    @pytest.mark.parametrize("engine", ENGINES)
    def test_a_table_is_the_sum_of_its_rows(
        self, dtype: str, n_classes: int, from_logits: bool, engine: str
    ) -> None:
        given = nasty_input(n_classes, dtype, from_logits=from_logits)
        labels = np.random.default_rng(2).integers(n_classes, size=len(given))
        one = rule_oracle.scalar_row_of_logits if from_logits else rule_oracle.scalar_row
        rows = [
            one(row, label, n_classes) for row, label in zip(given.tolist(), labels.tolist(), strict=True)
        ]
        sums = tn.tabulate(labels, given, engine=engine, bins=1, from_logits=from_logits).sums
        assert sums.log_score.total().units == sum(row.log_score for row in rows)
        assert sums.log_likelihood.units == sum(row.log_likelihood for row in rows)
        assert sums.log_score_variance.total().units == sum(row.variance for row in rows)
        assert sums.true_probability.units == sum(row.true_probability for row in rows)
        assert sums.square.units == sum(row.square for row in rows)
        assert sums.possible_variance.total().units == sum(row.possible_variance for row in rows)
        of_class = [[row for row in rows if row.predicted == c] for c in range(n_classes)]
        assert sums.predicted_rows.tolist() == [*map(len, of_class)]
        for column, name in enumerate(("log_score", "variance")):
            expected = [sum(getattr(row, name) for row in some) for some in of_class]
            assert units_of(sums.predicted_scores, column) == expected
        for name in ("possible_variance", "misses"):
            expected = [sum(getattr(row, name) for row in some) for some in of_class]
            assert units_of(getattr(sums, f"predicted_{name}")) == expected
        assert units_of(sums.variation) == [sum(rule_oracle.units(row.variation) for row in rows)]
        assert int(sums.impossible_rows) == sum(row.impossible for row in rows)
        assert int(sums.tied_rows) == sum(row.equal > 1 for row in rows)

    @pytest.mark.parametrize("dtype", ["f4", "f8"])
    @pytest.mark.parametrize("n_classes", [2, 5, 12, 40])
    @pytest.mark.parametrize("from_logits", [False, True])
    @pytest.mark.parametrize("engine", ENGINES)
    def test_an_event_table_is_the_sum_of_its_rows(
        self, dtype: str, n_classes: int, from_logits: bool, engine: str
    ) -> None:
        given = nasty_input(n_classes, dtype, from_logits=from_logits)
        labels = np.random.default_rng(3).integers(n_classes, size=len(given))
        events = tuple(range(n_classes))
        sums = tn.tabulate_events(
            labels, given, events=events, grid="event", engine=engine, from_logits=from_logits
        ).sums
        probabilities = map(rule_oracle.softmax, given.tolist()) if from_logits else given.tolist()
        rows = list(zip(probabilities, labels.tolist(), strict=True))
        of_events = [[rule_oracle.scalar_event(p[c], label == c) for p, label in rows] for c in events]
        for name in ("square", "cube", "fourth", "product", "log_likelihood"):
            expected = [sum(getattr(row, name) for row in of_event) for of_event in of_events]
            assert units_of(getattr(sums, name)) == expected, name
        assert sums.impossible_rows.tolist() == [sum(row.impossible for row in some) for some in of_events]
        assert sums.rows.sum(axis=1).tolist() == [len(given)] * n_classes
        for place, of_event in enumerate(of_events):
            found = sum(units_of(sums.predicted, place, axis=0))
            assert found == sum(row.predicted for row in of_event)


def compare(found: BlockStatistics, expected: list[rule_oracle.ScalarRow]) -> None:
    assert found.log_scores[0].tolist() == [row.log_score for row in expected]
    assert found.log_scores[1].tolist() == [row.log_likelihood for row in expected]
    assert found.log_scores[2].tolist() == [row.variance for row in expected]
    assert found.true_probability.tolist() == [row.true_probability for row in expected]
    assert found.square.tolist() == [row.square for row in expected]
    names = ("log_score", "variance", "possible_variance", "misses")
    assert found.scores.tolist() == [[getattr(row, name) for row in expected] for name in names]
    assert found.predicted_class.tolist() == [row.predicted for row in expected]
    assert found.impossible.tolist() == [row.impossible for row in expected]
    assert found.rank.tolist() == [row.more + row.before for row in expected]
    assert found.tied.tolist() == [row.equal for row in expected]
    assert found.variation.tolist() == [row.variation for row in expected]


def units_of(total: Any, at: int | None = None, axis: int = 1) -> list[int]:
    """Sums in units; `at` chooses one along an axis."""
    parts = (part if at is None else part.take(at, axis=axis) for part in (total.whole, total.fraction))
    pairs = zip(*(part.tolist() for part in parts), strict=True)
    return [(whole << total.bits) + fraction for whole, fraction in pairs]


MEASURES = [
    *tn.variations.values(),
    tn.renyi(0.5),
    tn.renyi(1.05),
    tn.renyi(3),
    tn.tsallis(0.7),
    tn.tsallis(1.02),
]


def of_users() -> tn.Variation:
    def gini(x: Any) -> Any:
        return 1 - (x**2).sum(axis=-1)

    return tn.Variation("gini of a user", gini, range=lambda c: (0, 1 - 1 / c))


class TestBlocks:
    @pytest.mark.parametrize("make", [*(lambda m=m: m for m in MEASURES), of_users])
    def test_values_do_not_depend_on_the_rows_beside(self, make: Callable[[], tn.Variation]) -> None:
        measure, rng = make(), np.random.default_rng(0)
        for n_classes in range(2, 301):
            p = rng.dirichlet([0.5] * n_classes, 9)
            lines = ordered_rows(p, Scratch())
            together = measure.of_rows(lines.T, 1e-5)
            for start, stop in ((0, 1), (3, 4), (8, 9), (0, 2), (2, 7)):
                part = ordered_rows(p[start:stop], Scratch())
                assert np.array_equal(measure.of_rows(part.T, 1e-5), together[start:stop]), n_classes

    @pytest.mark.parametrize("variation", ["entropy", "confidence", "iqv", "renyi(2)"])
    @pytest.mark.parametrize("n_classes", [2, 7, 10, 33])
    @pytest.mark.parametrize("options", [{}, {"from_logits": True}, {"normalize": True}])
    def test_tables_do_not_depend_on_the_blocks(
        self, variation: str, n_classes: int, options: dict[str, bool], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        y_true, y_prob = tn.simulate.calibrated(700, [0.3] * n_classes, rng=n_classes)
        how: dict[str, Any] = {"variation": variation, "bins": 5, "engine": "portable", **options}
        table = tn.tabulate(y_true, y_prob, **how)
        for rows, chunk in ((1, 7), (97, 64), (699, 2**15)):
            monkeypatch.setattr(Rows.spans, "__defaults__", (rows, 2**17))
            monkeypatch.setattr(rule, "CHUNK_VALUES", chunk)
            assert tn.tabulate(y_true, y_prob, **how) == table


TABLES = """
import numpy as np, trueness as tn
for c in (2, 7, 10, 33, 100):
    rng = np.random.default_rng(c)
    y, counts = rng.integers(c, size=3000), rng.integers(1, 300, (3000, c)) ** 3
    p, z = counts / counts.sum(axis=1, keepdims=True), rng.integers(-750 * 2**20, 0, counts.shape) / 2**20
    for given, how in ((p, {}), (p.astype("f4"), {"variation": "confidence"}), (z, {"from_logits": True})):
        for bins in (10, tn.EqualMass(9)):
            print(tn.tabulate(y, given, bins=bins, engine="portable", **how).to_dict())
"""


def test_the_bits_do_not_depend_on_the_instructions_of_the_processor() -> None:
    """NumPy chooses its loops by what the processor can; its logarithms then differ in their last bits."""
    extensions: Any = np.show_config(mode="dicts")
    dispatched = extensions["SIMD Extensions"].get("found", [])
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}
    printed = [
        subprocess.run(
            [sys.executable, "-c", TABLES], env=env, capture_output=True, text=True, check=True
        ).stdout
        for env in (environment, {**environment, "NPY_DISABLE_CPU_FEATURES": " ".join(dispatched)})
    ]
    assert printed[0] == printed[1]
    assert len(printed[0]) > 10_000
