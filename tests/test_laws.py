"""Laws that hold for every data set: the table is an exact sum over rows.

Where design promises identical bits the assertion is `==`; where it promises agreement, the tolerance is derived
beside it.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from law_rows import MEASURES, Data, cut, data, made, numbers, options

import trueness as tn


class TestTheTableIsAMonoid:
    @given(data(), options())
    def test_empty_is_the_identity(self, rows: Data, how: dict[str, Any]) -> None:
        table = tn.tabulate(*rows, **how)
        empty = tn.CalibrationTable.empty(table.spec)
        assert table + empty == empty + table == table
        assert empty + empty == empty
        assert empty.n_rows == 0
        assert sum([table]) == table

    @given(data(), options(), st.integers(0, 60), st.integers(0, 60))
    def test_plus_is_associative_and_commutative(
        self, rows: Data, how: dict[str, Any], i: int, j: int
    ) -> None:
        pieces = [tn.tabulate(*piece, **how) for piece in cut(rows, [i, j])]
        a, b, c = (pieces * 3)[:3]
        assert (a + b) + c == a + (b + c)
        assert a + b == b + a

    @given(data(), options(), st.lists(st.integers(0, 60), max_size=8))
    def test_the_parts_add_up_to_the_whole(self, rows: Data, how: dict[str, Any], points: list[int]) -> None:
        assert sum(tn.tabulate(*piece, **how) for piece in cut(rows, points)) == tn.tabulate(*rows, **how)

    @settings(max_examples=12)
    @given(data(3000, 10_000), options(), st.lists(st.integers(0, 10_000), max_size=5))
    def test_the_parts_of_many_blocks_add_up(
        self, rows: Data, how: dict[str, Any], points: list[int]
    ) -> None:
        """Larger than the internal block, so that block and tail fall differently in the parts and the whole."""
        assert sum(tn.tabulate(*piece, **how) for piece in cut(rows, points)) == tn.tabulate(*rows, **how)

    @settings(max_examples=12)
    @given(data(max_rows=25), options())
    def test_single_rows_add_up(self, rows: Data, how: dict[str, Any]) -> None:
        pieces = cut(rows, list(range(len(rows.y_true))))
        assert sum(tn.tabulate(*piece, **how) for piece in pieces) == tn.tabulate(*rows, **how)

    @pytest.mark.parametrize("name", MEASURES)
    @pytest.mark.parametrize(
        ("n_classes", "dtype"), [(130, "float64"), (1000, "float32"), (40_000, "float64")]
    )
    def test_pieces_of_many_classes_add_up(self, n_classes: int, dtype: str, name: str) -> None:
        """Long rows, where the order of a sum could depend on the number of rows beside them."""
        rows = made(n_classes, 9, n_classes, "sharp", dtype)
        whole = tn.tabulate(*rows, variation=name)
        for points in (range(9), [1], [2, 5], [8]):
            assert sum(tn.tabulate(*piece, variation=name) for piece in cut(rows, list(points))) == whole

    @given(data(), options())
    def test_adding_leaves_the_addends_alone(self, rows: Data, how: dict[str, Any]) -> None:
        a, b = tn.tabulate(*rows, **how), tn.tabulate(*rows, **how)
        _ = a + b
        assert a == b == tn.tabulate(*rows, **how)


def by_predicted_class(table: tn.CalibrationTable) -> list[Any]:
    """All sums of the rows that predict each class."""
    scores, brier = table.log_scores_by_predicted_class, table.brier_residuals_by_predicted_class
    assert scores is not None
    assert brier is not None
    return [scores.rows, scores.score, scores.variance, brier.score, brier.variance]


class TestWhatDoesNotMatter:
    @given(data(), options(), st.randoms(use_true_random=False))
    def test_the_order_of_rows(self, rows: Data, how: dict[str, Any], random: Any) -> None:
        order = list(range(len(rows.y_true)))
        random.shuffle(order)
        assert tn.tabulate(rows.y_true[order], rows.y_prob[order], **how) == tn.tabulate(*rows, **how)

    @settings(max_examples=8)
    @given(data(4000, 10_000), options(), st.integers(0, 2**32 - 1))
    def test_the_order_of_many_rows(self, rows: Data, how: dict[str, Any], seed: int) -> None:
        order = np.random.default_rng(seed).permutation(len(rows.y_true))
        assert tn.tabulate(rows.y_true[order], rows.y_prob[order], **how) == tn.tabulate(*rows, **how)

    @given(data(), st.randoms(use_true_random=False))
    def test_the_order_of_rows_for_equal_mass(self, rows: Data, random: Any) -> None:
        order = list(range(len(rows.y_true)))
        random.shuffle(order)
        shuffled = tn.tabulate(rows.y_true[order], rows.y_prob[order], bins=tn.EqualMass(4))
        assert shuffled == tn.tabulate(*rows, bins=tn.EqualMass(4))

    @given(data(), options())
    def test_the_layout_in_memory(self, rows: Data, how: dict[str, Any]) -> None:
        n, c = rows.y_prob.shape
        strided = np.zeros((3 * n, 2 * c), rows.y_prob.dtype)
        strided[::3, ::2] = rows.y_prob
        backwards = rows.y_prob[::-1, ::-1].copy()[::-1, ::-1]
        frozen = rows.y_prob.copy()
        frozen.flags.writeable = False
        swapped = rows.y_prob.astype(rows.y_prob.dtype.newbyteorder())
        plain = tn.tabulate(*rows, **how)
        for same in (np.asfortranarray(rows.y_prob), strided[::3, ::2], backwards, frozen, swapped):
            assert tn.tabulate(rows.y_true, same, **how) == plain
        labels = np.repeat(rows.y_true, 2)[::2]
        assert tn.tabulate(labels.astype(np.int8), rows.y_prob, **how) == plain

    @given(data(), options())
    def test_the_caller_s_arrays_are_left_alone(self, rows: Data, how: dict[str, Any]) -> None:
        before = rows.y_true.copy(), rows.y_prob.copy()
        tn.tabulate(*rows, **how)
        tn.tabulate(*rows, normalize=True, **how)
        np.testing.assert_array_equal(rows.y_true, before[0])
        np.testing.assert_array_equal(rows.y_prob, before[1])

    @given(data(), options(), st.randoms(use_true_random=False))
    def test_the_names_of_the_classes(self, rows: Data, how: dict[str, Any], random: Any) -> None:
        """Relabelling: column c becomes column new[c]. Without ties, or with ties split, nothing else changes."""
        distinct = all(len(set(row)) == len(row) for row in rows.y_prob.tolist())
        assume(distinct or how["ties"] == "split")
        new = list(range(rows.y_prob.shape[1]))
        random.shuffle(new)
        columns = np.empty_like(rows.y_prob)
        columns[:, new] = rows.y_prob
        made, expected = tn.tabulate(np.array(new)[rows.y_true], columns, **how), tn.tabulate(*rows, **how)
        by_class = {"predicted_rows", "predicted_scores", "predicted_brier"}
        assert made.sums.same(expected.sums, *(dict(expected.sums.items()).keys() - by_class))
        if distinct:  # of equal ones the first class is predicted
            for found, of in zip(by_predicted_class(made), by_predicted_class(expected), strict=True):
                np.testing.assert_array_equal(found[new], of)

    @settings(max_examples=10)
    @given(data(1, 10_000), options())
    def test_the_number_of_threads(self, rows: Data, how: dict[str, Any]) -> None:
        tables = [tn.tabulate(*rows, n_threads=k, **how) for k in (None, 1, 2, 3)]
        assert all(t == tables[0] for t in tables)

    @settings(max_examples=20)
    @given(data(), options(), st.booleans())
    def test_the_sign_of_zero(self, rows: Data, how: dict[str, Any], some: bool) -> None:
        signed = np.where(rows.y_prob == 0, -0.0, rows.y_prob)
        if some:
            signed[::2] = rows.y_prob[::2]
        assert tn.tabulate(rows.y_true, signed, **how) == tn.tabulate(*rows, **how)

    @given(data(), options())
    def test_the_engine_named(self, rows: Data, how: dict[str, Any]) -> None:
        assert tn.tabulate(*rows, engine="portable", **how) == tn.tabulate(*rows, engine="auto", **how)


class TestRepetitionAndWeights:
    @given(data(), options(), st.integers(2, 5), st.sampled_from([None, 3, 10]))
    def test_repeating_all_rows_changes_no_number(
        self, rows: Data, how: dict[str, Any], times: int, mass: int | None
    ) -> None:
        """Equal mass too: ceil(k t N / M) of t-fold rows is the copy of row ceil(k N / M)."""
        how = how | ({"bins": tn.EqualMass(mass)} if mass else {})
        again = np.tile(rows.y_true, times), np.tile(rows.y_prob, (times, 1))
        assert numbers(*again, **how) == pytest.approx(numbers(*rows, **how), abs=1e-12)

    @given(data(), options(), st.sampled_from([None, 3]), st.integers(0, 2**32 - 1))
    def test_whole_weights_are_repetition(
        self, rows: Data, how: dict[str, Any], mass: int | None, seed: int
    ) -> None:
        """Weight 0 leaves the row out. Sums of at most 60 x 3 terms, each rounded: 1e-12 has room."""
        how = how | ({"bins": tn.EqualMass(mass)} if mass else {})
        weight = np.random.default_rng(seed).integers(0, 4, len(rows.y_true))
        assume(weight.any())
        again = np.repeat(rows.y_true, weight), np.repeat(rows.y_prob, weight, axis=0)
        weighted = tn.tabulate(*rows, sample_weight=weight, **how)
        repeated = tn.tabulate(*again, **how)
        assert weighted.edges.tolist() == repeated.edges.tolist()
        assert weighted.count.tolist() == repeated.count.tolist()
        for field in ("ordered_sum", "rank_count", "variation_sum", "log_score_sum", "log_score_variance"):
            np.testing.assert_allclose(
                getattr(weighted, field),
                getattr(repeated, field),
                rtol=1e-12,
                atol=200 * 2.0**-40,
                err_msg=field,
            )
        assert weighted.n_rows == np.count_nonzero(weight)
        assert numbers(*rows, sample_weight=weight, **how) == pytest.approx(numbers(*again, **how), abs=1e-12)

    @given(data(), options(), st.integers(0, 2**32 - 1))
    def test_weighted_parts_add_up_to_rounding(self, rows: Data, how: dict[str, Any], seed: int) -> None:
        weight = np.random.default_rng(seed).gamma(1.0, 1.0, len(rows.y_true)) + 1e-6
        half = len(weight) // 2
        assume(half)
        first = tn.tabulate(rows.y_true[:half], rows.y_prob[:half], sample_weight=weight[:half], **how)
        second = tn.tabulate(rows.y_true[half:], rows.y_prob[half:], sample_weight=weight[half:], **how)
        whole = tn.tabulate(*rows, sample_weight=weight, **how)
        assert (first + second).isclose(whole)
        assert (second + first).isclose(whole)
        assert not (first + first + second).isclose(whole)

    @given(data(), options(), st.floats(0.01, 100))
    def test_the_scale_of_weights_changes_no_number(
        self, rows: Data, how: dict[str, Any], scale: float
    ) -> None:
        weight = np.linspace(0.5, 2, len(rows.y_true))
        one = numbers(*rows, sample_weight=weight, **how)
        assert numbers(*rows, sample_weight=scale * weight, **how) == pytest.approx(one, abs=1e-12)


class TestStreaming:
    @given(data(), options(), st.lists(st.integers(0, 60), max_size=6))
    def test_accumulator_is_bulk(self, rows: Data, how: dict[str, Any], points: list[int]) -> None:
        accumulator = tn.Accumulator(n_classes=rows.y_prob.shape[1], **how)
        assert accumulator.n_rows == 0
        for piece in cut(rows, points):
            accumulator.update(*piece)
        assert accumulator.table == tn.tabulate(*rows, **how)
        assert accumulator.n_rows == len(rows.y_true)

    @given(data(), options(), st.integers(0, 60))
    def test_merged_accumulators_are_bulk(self, rows: Data, how: dict[str, Any], point: int) -> None:
        pieces = (cut(rows, [point]) * 2)[:2]
        one, two = (tn.Accumulator(n_classes=rows.y_prob.shape[1], **how) for _ in range(2))
        one.update(*pieces[0])
        two.update(*pieces[1])
        before = two.table
        one.merge(two)
        assert one.table == sum(tn.tabulate(*piece, **how) for piece in pieces)
        assert two.table == before

    @given(data(), options(), st.integers(0, 59), st.sampled_from([math.nan, -0.5, 2.0]))
    def test_a_refused_batch_changes_nothing(
        self, rows: Data, how: dict[str, Any], where: int, value: float
    ) -> None:
        accumulator = tn.Accumulator(n_classes=rows.y_prob.shape[1], **how)
        accumulator.update(*rows)
        before = accumulator.table
        broken = rows.y_prob.copy()
        broken[where % len(broken), 0] = value
        with pytest.raises(ValueError, match=f"row {where % len(broken)}\\b"):
            accumulator.update(rows.y_true, broken)
        with pytest.raises(ValueError, match="y_true"):
            accumulator.update(rows.y_true - 1000, rows.y_prob)
        assert accumulator.table == before
        assert accumulator.n_rows == len(rows.y_true)
        accumulator.update(*rows)
        assert accumulator.table == before + before

    def test_a_batch_refused_in_its_last_block_changes_nothing(self) -> None:
        rows = made(1, 10_000, 3, "smooth")
        accumulator = tn.Accumulator(n_classes=3)
        broken = rows.y_prob.copy()
        broken[9_999, 2] = np.inf
        with pytest.raises(ValueError, match="row 9999"):
            accumulator.update(rows.y_true, broken)
        assert accumulator.table == tn.CalibrationTable.empty(accumulator.table.spec)

    @given(data(), st.integers(0, 2**32 - 1))
    def test_weighted_accumulator_is_bulk(self, rows: Data, seed: int) -> None:
        weight = np.random.default_rng(seed).gamma(1.0, 1.0, len(rows.y_true)) + 1e-9
        accumulator = tn.Accumulator(n_classes=rows.y_prob.shape[1], weighted=True)
        for i in range(0, len(weight), 7):
            accumulator.update(
                rows.y_true[i : i + 7], rows.y_prob[i : i + 7], sample_weight=weight[i : i + 7]
            )
        assert accumulator.table.isclose(tn.tabulate(*rows, sample_weight=weight))


class TestFiles:
    @given(data(), options(), st.booleans())
    @settings(max_examples=40)
    def test_saved_and_loaded_is_the_same(
        self, tmp_path_factory: pytest.TempPathFactory, rows: Data, how: dict[str, Any], mass: bool
    ) -> None:
        how = how | ({"bins": tn.EqualMass(3)} if mass else {})
        path = Path(tmp_path_factory.mktemp("tables")) / "table.json"
        table = tn.tabulate(*rows, **how)
        table.save(path)
        assert tn.CalibrationTable.load(path) == table
        assert tn.CalibrationTable.from_dict(json.loads(json.dumps(table.to_dict()))) == table

    @given(data(), st.integers(0, 2**32 - 1))
    @settings(max_examples=20)
    def test_a_weighted_table_survives_too(self, rows: Data, seed: int) -> None:
        weight = np.random.default_rng(seed).gamma(0.3, 1e6, len(rows.y_true)) + 1e-300
        table = tn.tabulate(*rows, sample_weight=weight)
        assert tn.CalibrationTable.from_dict(json.loads(json.dumps(table.to_dict()))) == table
