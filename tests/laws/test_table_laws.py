"""Laws that hold for every data set: the table is an exact sum over rows.

Where identical bits are promised the assertion is `==`; where agreement is promised, the tolerance
is derived beside it.
"""

import functools
import math
import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import speak
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from law_rows import MEASURES, Data, cut, data, made, numbers, numbers_of, options
from speak import add, empty, sums_of, tabulate


def tables_of(pieces: list[Data], how: dict[str, Any]) -> list[Any]:
    return [tabulate(*piece, **how) for piece in pieces]


class TestTheTableIsAMonoid:
    @given(data(), options())
    def test_empty_is_the_identity(self, rows: Data, how: dict[str, Any]) -> None:
        table = tabulate(*rows, **how)
        none = empty(table)
        assert table + none == none + table == table
        assert none + none == none
        assert none.n_rows == 0
        assert add([table]) == table

    @given(data(), options(), st.integers(0, 60), st.integers(0, 60))
    def test_plus_is_associative_and_commutative(
        self, rows: Data, how: dict[str, Any], i: int, j: int
    ) -> None:
        a, b, c = (tables_of(cut(rows, [i, j]), how) * 3)[:3]
        assert (a + b) + c == a + (b + c)
        assert a + b == b + a

    @given(data(), options(), st.lists(st.integers(0, 60), max_size=8))
    def test_the_parts_add_up_to_the_whole(self, rows: Data, how: dict[str, Any], points: list[int]) -> None:
        parts = tables_of(cut(rows, points), how)
        assert add(parts) == functools.reduce(operator.add, parts) == tabulate(*rows, **how)

    @settings(max_examples=8)
    @given(data(3000, 10_000), options(), st.lists(st.integers(0, 10_000), max_size=5))
    def test_the_parts_of_many_blocks_add_up(
        self, rows: Data, how: dict[str, Any], points: list[int]
    ) -> None:
        """Blocks and their rest fall differently in the parts and in the whole."""
        assert add(tables_of(cut(rows, points), how)) == tabulate(*rows, **how)

    @settings(max_examples=10)
    @given(data(max_rows=25), options())
    def test_single_rows_add_up(self, rows: Data, how: dict[str, Any]) -> None:
        pieces = cut(rows, list(range(len(rows.y_true))))
        assert add(tables_of(pieces, how)) == tabulate(*rows, **how)

    @pytest.mark.parametrize("name", MEASURES)
    @pytest.mark.parametrize(
        ("n_classes", "dtype"), [(130, "float64"), (1000, "float32"), (40_000, "float64")]
    )
    def test_pieces_of_many_classes_add_up(self, n_classes: int, dtype: str, name: str) -> None:
        """Long rows, where the order of a sum could depend on the number of rows beside them."""
        rows = made(n_classes, 9, n_classes, "sharp", dtype)
        whole = tabulate(*rows, variation=name)
        for points in (range(9), [1], [2, 5], [8]):
            assert add(tables_of(cut(rows, list(points)), {"variation": name})) == whole

    @given(data(), options())
    def test_adding_leaves_the_addends_alone(self, rows: Data, how: dict[str, Any]) -> None:
        a, b = tabulate(*rows, **how), tabulate(*rows, **how)
        _ = a + b
        assert a == b == tabulate(*rows, **how)

    @pytest.mark.parametrize(
        ("name", "one", "other"),
        [
            ("n_classes", {}, {"y_prob": [[0.5, 0.25, 0.25]] * 2}),
            ("variation", {}, {"variation": "iqv"}),
            ("bins", {}, {"bins": 5}),
            ("bins", {"bins": 5}, {"bins": speak.Edges([0, 0.3, 1])}),
            ("ties", {}, {"ties": "split"}),
            ("weight", {}, {"sample_weight": [1.0, 2.0]}),
        ],
    )
    def test_unlike_tables_do_not_add_and_the_difference_is_named(
        self, name: str, one: dict[str, Any], other: dict[str, Any]
    ) -> None:
        rows: dict[str, Any] = {"y_true": [0, 1], "y_prob": [[0.7, 0.3], [0.4, 0.6]]}
        a, b = (tabulate(**{**rows, **how}) for how in (one, other))
        assert a != b
        for left, right in ((a, b), (b, a)):
            with pytest.raises(speak.Refusal, match=name):
                left + right


class TestWhatDoesNotMatter:
    @given(data(), options(), st.randoms(use_true_random=False), st.sampled_from([None, 4]))
    def test_the_order_of_rows(self, rows: Data, how: dict[str, Any], random: Any, mass: int | None) -> None:
        how = how | ({"bins": speak.EqualMass(mass)} if mass else {})
        order = list(range(len(rows.y_true)))
        random.shuffle(order)
        assert tabulate(rows.y_true[order], rows.y_prob[order], **how) == tabulate(*rows, **how)

    @settings(max_examples=8)
    @given(data(4000, 10_000), options(), st.integers(0, 2**32 - 1))
    def test_the_order_of_many_rows(self, rows: Data, how: dict[str, Any], seed: int) -> None:
        order = np.random.default_rng(seed).permutation(len(rows.y_true))
        assert tabulate(rows.y_true[order], rows.y_prob[order], **how) == tabulate(*rows, **how)

    @given(data(), options())
    def test_the_layout_in_memory(self, rows: Data, how: dict[str, Any]) -> None:
        n, c = rows.y_prob.shape
        strided = np.zeros((3 * n, 2 * c), rows.y_prob.dtype)
        strided[::3, ::2] = rows.y_prob
        backwards = rows.y_prob[::-1, ::-1].copy()[::-1, ::-1]
        frozen = rows.y_prob.copy()
        frozen.flags.writeable = False
        swapped = rows.y_prob.astype(rows.y_prob.dtype.newbyteorder())
        plain = tabulate(*rows, **how)
        for same in (np.asfortranarray(rows.y_prob), strided[::3, ::2], backwards, frozen, swapped):
            assert tabulate(rows.y_true, same, **how) == plain
        labels = np.repeat(rows.y_true, 2)[::2]
        assert tabulate(labels.astype(np.int8), rows.y_prob, **how) == plain

    @given(data(), options())
    def test_the_caller_s_arrays_are_left_alone(self, rows: Data, how: dict[str, Any]) -> None:
        before = rows.y_true.copy(), rows.y_prob.copy()
        tabulate(*rows, **how)
        tabulate(*rows, normalize=True, **how)
        np.testing.assert_array_equal(rows.y_true, before[0])
        np.testing.assert_array_equal(rows.y_prob, before[1])

    @given(data(), options(), st.randoms(use_true_random=False))
    def test_the_names_of_the_classes(self, rows: Data, how: dict[str, Any], random: Any) -> None:
        """Column c becomes column new[c]. Without ties, or with ties split, no sum changes."""
        distinct = all(len(set(row)) == len(row) for row in rows.y_prob.tolist())
        assume(distinct or how["ties"] == "split")
        new = list(range(rows.y_prob.shape[1]))
        random.shuffle(new)
        columns = np.empty_like(rows.y_prob)
        columns[:, new] = rows.y_prob
        renamed = np.array(new)[rows.y_true], columns
        assert sums_of(tabulate(*renamed, **how)) == sums_of(tabulate(*rows, **how))

    @settings(max_examples=20)
    @given(data(), st.randoms(use_true_random=False))
    def test_sums_of_classes_follow_their_names(self, rows: Data, random: Any) -> None:
        """Cells of each class, and scores by predicted class; of two classes the second is kept."""
        c = rows.y_prob.shape[1]
        assume(c > 2 and all(len(set(row)) == len(row) for row in rows.y_prob.tolist()))
        new = list(range(c))
        random.shuffle(new)
        columns = np.empty_like(rows.y_prob)
        columns[:, new] = rows.y_prob
        cells = [k / 10 for k in range(11)]
        found = speak.sums(np.array(new)[rows.y_true], columns, cells)
        for label, part in speak.sums(*rows, cells).items():
            names = part if "view=class" in label else {"predicted_scores"} & part.keys()
            for name in names:
                assert [found[label][name][k] for k in new] == part[name], name

    @settings(max_examples=10)
    @given(data(1, 10_000), options())
    def test_the_number_of_threads(self, rows: Data, how: dict[str, Any]) -> None:
        tables = [tabulate(*rows, n_threads=k, **how) for k in (None, 1, 2, 3)]
        assert all(t == tables[0] for t in tables)

    @settings(max_examples=20)
    @given(data(), options(), st.booleans())
    def test_the_sign_of_zero(self, rows: Data, how: dict[str, Any], some: bool) -> None:
        signed = np.where(rows.y_prob == 0, -0.0, rows.y_prob)
        if some:
            signed[::2] = rows.y_prob[::2]
        assert tabulate(rows.y_true, signed, **how) == tabulate(*rows, **how)

    @given(data(), options())
    def test_the_engine(self, rows: Data, how: dict[str, Any]) -> None:
        assert tabulate(*rows, engine="portable", **how) == tabulate(*rows, engine="auto", **how)


class TestGroups:
    @settings(max_examples=15)
    @given(data(min_rows=6), options())
    def test_a_group_is_the_table_of_its_rows(self, rows: Data, how: dict[str, Any]) -> None:
        """Each group has the sums of its rows alone, and all groups add up to all rows."""
        names = np.array(["east", "south", "west"])[np.arange(len(rows.y_true)) % 3]
        found = speak.sums(*rows, [k / 10 for k in range(11)], groups=names, **how)
        whole = tabulate(*rows, **how)
        parts = []
        for name in sorted(set(names)):
            parts.append(tabulate(*(part[names == name] for part in rows), **how))
            (label,) = (it for it in found if name in it and "view=bin" in it)
            own = sums_of(parts[-1])
            assert {key: found[label][key] for key in own} == own
        assert add(parts) == whole


class TestRepetitionAndWeights:
    @given(data(), options(), st.integers(2, 5), st.sampled_from([None, 3, 10]))
    def test_repeating_all_rows_changes_no_number(
        self, rows: Data, how: dict[str, Any], times: int, mass: int | None
    ) -> None:
        """Equal mass too: ceil(k t N / M) of t-fold rows is the copy of row ceil(k N / M)."""
        how = how | ({"bins": speak.EqualMass(mass)} if mass else {})
        again = np.tile(rows.y_true, times), np.tile(rows.y_prob, (times, 1))
        assert numbers(*again, **how) == pytest.approx(numbers(*rows, **how), abs=1e-12)

    @given(data(), options(), st.sampled_from([None, 3]), st.integers(0, 2**32 - 1))
    def test_whole_weights_are_repetition(
        self, rows: Data, how: dict[str, Any], mass: int | None, seed: int
    ) -> None:
        """Weight 0 leaves the row out. Sums of at most 60 x 3 rounded terms: 1e-12 has room."""
        how = how | ({"bins": speak.EqualMass(mass)} if mass else {})
        weight = np.random.default_rng(seed).integers(0, 4, len(rows.y_true))
        assume(weight.any())
        again = np.repeat(rows.y_true, weight), np.repeat(rows.y_prob, weight, axis=0)
        weighted, repeated = tabulate(*rows, sample_weight=weight, **how), tabulate(*again, **how)
        one, other = sums_of(weighted), sums_of(repeated)
        assert one["edges"] == other["edges"]
        assert one["weight"] == other["weight"]
        for names, bits in ((("ordered", "rank", "variation"), 52), (("log_score",), 40)):
            for name in names:
                exact = np.array(other[name], object) / 2**bits
                near = pytest.approx(exact.ravel().tolist(), rel=1e-12, abs=200 * 2.0**-40)
                assert np.ravel(one[name]).tolist() == near, name
        assert weighted.n_rows == np.count_nonzero(weight)
        assert numbers(*rows, sample_weight=weight, **how) == pytest.approx(numbers(*again, **how), abs=1e-12)

    @given(data(), options(), st.integers(0, 2**32 - 1))
    def test_weighted_parts_add_up_to_rounding(self, rows: Data, how: dict[str, Any], seed: int) -> None:
        weight = np.random.default_rng(seed).gamma(1.0, 1.0, len(rows.y_true)) + 1e-6
        half = len(weight) // 2
        assume(half)
        ends = slice(0, half), slice(half, None)
        first, second = (
            tabulate(rows.y_true[at], rows.y_prob[at], sample_weight=weight[at], **how) for at in ends
        )
        whole = sums_of(tabulate(*rows, sample_weight=weight, **how))
        for total in (first + second, second + first):
            close_to(sums_of(total), whole)
        with pytest.raises(AssertionError):
            close_to(sums_of(first + first + second), whole)

    @given(data(), options(), st.floats(0.01, 100))
    def test_the_scale_of_weights_changes_no_number(
        self, rows: Data, how: dict[str, Any], scale: float
    ) -> None:
        weight = np.linspace(0.5, 2, len(rows.y_true))
        one = numbers(*rows, sample_weight=weight, **how)
        scaled = numbers(*rows, sample_weight=scale * weight, **how)
        assert scaled == pytest.approx(one, abs=1e-12)


def close_to(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Sums of weighted rows are equal to 1e-12 of the largest, which cancels in the log-score."""
    for name, value in expected.items():
        largest = np.abs(np.ravel(value)).max(initial=1.0)
        np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-12 * largest, err_msg=name)


class TestStreaming:
    @given(data(), options(), st.lists(st.integers(0, 60), max_size=6))
    def test_batches_give_the_table_of_all_rows(
        self, rows: Data, how: dict[str, Any], points: list[int]
    ) -> None:
        accumulator = speak.Accumulator(n_classes=rows.y_prob.shape[1], **how)
        assert accumulator.n_rows == 0
        for piece in cut(rows, points):
            accumulator.update(*piece)
        assert accumulator.table == tabulate(*rows, **how)
        assert accumulator.n_rows == len(rows.y_true)

    @given(data(), options(), st.integers(0, 60))
    def test_merged_accumulators(self, rows: Data, how: dict[str, Any], point: int) -> None:
        pieces = (cut(rows, [point]) * 2)[:2]
        one, two = (speak.Accumulator(n_classes=rows.y_prob.shape[1], **how) for _ in range(2))
        one.update(*pieces[0])
        two.update(*pieces[1])
        before = two.table
        one.merge(two)
        assert one.table == add(tables_of(pieces, how))
        assert two.table == before

    @given(data(), options(), st.integers(0, 59), st.sampled_from([math.nan, -0.5, 2.0]))
    def test_a_refused_batch_changes_nothing(
        self, rows: Data, how: dict[str, Any], where: int, value: float
    ) -> None:
        accumulator = speak.Accumulator(n_classes=rows.y_prob.shape[1], **how)
        accumulator.update(*rows)
        before = accumulator.table
        broken = rows.y_prob.copy()
        broken[where % len(broken), 0] = value
        with pytest.raises(speak.Refusal) as caught:
            accumulator.update(rows.y_true, broken)
        assert caught.value.row == where % len(broken)
        with pytest.raises(speak.Refusal) as caught:
            accumulator.update(rows.y_true - 1000, rows.y_prob)
        assert caught.value.argument == "y_true"
        assert accumulator.table == before
        assert accumulator.n_rows == len(rows.y_true)
        accumulator.update(*rows)
        assert accumulator.table == before + before

    def test_a_batch_refused_in_its_last_block_changes_nothing(self) -> None:
        rows = made(1, 10_000, 3, "smooth")
        accumulator = speak.Accumulator(n_classes=3)
        broken = rows.y_prob.copy()
        broken[9_999, 2] = np.inf
        with pytest.raises(speak.Refusal) as caught:
            accumulator.update(rows.y_true, broken)
        assert caught.value.row == 9999
        assert accumulator.table == empty(tabulate(*rows))

    @given(data(), st.integers(0, 2**32 - 1))
    def test_batches_with_weights(self, rows: Data, seed: int) -> None:
        weight = np.random.default_rng(seed).gamma(1.0, 1.0, len(rows.y_true)) + 1e-9
        accumulator = speak.Accumulator(n_classes=rows.y_prob.shape[1], weighted=True)
        for i in range(0, len(weight), 7):
            at = slice(i, i + 7)
            accumulator.update(rows.y_true[at], rows.y_prob[at], sample_weight=weight[at])
        close_to(sums_of(accumulator.table), sums_of(tabulate(*rows, sample_weight=weight)))


class TestFiles:
    @settings(max_examples=25)
    @given(data(), options(), st.booleans(), st.booleans())
    def test_saved_and_loaded_is_the_same(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        rows: Data,
        how: dict[str, Any],
        mass: bool,
        weighted: bool,
    ) -> None:
        """Weights of any size: a float is saved with all its digits."""
        how = how | ({"bins": speak.EqualMass(3)} if mass else {})
        if weighted:
            weight = np.random.default_rng(0).gamma(0.3, 1e6, len(rows.y_true)) + 1e-300
            how["sample_weight"] = weight
        path = Path(tmp_path_factory.mktemp("tables")) / "table.json"
        table = tabulate(*rows, **how)
        table.save(path)
        again = speak.load(path)
        assert again == table
        assert sums_of(again) == sums_of(table)
        assert numbers_of(again) == numbers_of(table)
