"""Laws that hold for every data set: the table is an exact sum over rows, and the numbers are computed from it.

Hypothesis chooses the shape and a seed; NumPy fills in the rows. Where design promises identical bits the
assertion is `==`; where it promises agreement, the tolerance is derived beside it.
"""

import itertools
import json
import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import oracle
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import trueness as tn

MEASURES = [*oracle.MEASURES, "renyi(2)", "tsallis(0.5)"]
KINDS = ("smooth", "sharp", "decimals", "one-hot", "some one-hot", "uniform")


class Data(NamedTuple):
    y_true: np.ndarray
    y_prob: np.ndarray


def made(seed: int, n_rows: int, n_classes: int, kind: str, dtype: str = "float64") -> Data:
    rng = np.random.default_rng(seed)
    if kind == "decimals":
        y_prob = rng.multinomial(8, rng.dirichlet(np.ones(n_classes), n_rows)) / 8
    elif kind in {"one-hot", "some one-hot"}:
        y_prob = np.eye(n_classes)[rng.integers(0, n_classes, n_rows)]
        if kind != "one-hot":
            y_prob = np.where(
                rng.random((n_rows, 1)) < 0.5, y_prob, rng.dirichlet(np.ones(n_classes), n_rows)
            )
    elif kind == "uniform":
        y_prob = np.full((n_rows, n_classes), 1 / n_classes)
    else:
        y_prob = rng.dirichlet(np.full(n_classes, 1.0 if kind == "smooth" else 0.2), n_rows)
    return Data(rng.integers(0, n_classes, n_rows), y_prob.astype(dtype))


@st.composite
def data(draw: st.DrawFn, min_rows: int = 1, max_rows: int = 60) -> Data:
    return made(
        draw(st.integers(0, 2**32 - 1)),
        draw(st.integers(min_rows, max_rows)),
        draw(st.sampled_from([2, 3, 4, 7, 10, 33])),
        draw(st.sampled_from(KINDS)),
        draw(st.sampled_from(["float64", "float32"])),
    )


@st.composite
def options(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "variation": draw(st.sampled_from(MEASURES)),
        "bins": draw(st.sampled_from([1, 3, 10, tn.FineGrid(200)])),
        "ties": draw(st.sampled_from(["first", "split"])),
    }


def cut(rows: Data, points: list[int]) -> list[Data]:
    bounds = [0, *sorted({p for p in points if 0 < p < len(rows.y_true)}), len(rows.y_true)]
    return [Data(rows.y_true[a:b], rows.y_prob[a:b]) for a, b in itertools.pairwise(bounds)]


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


def numbers(y_true: Any, y_prob: Any, **how: Any) -> dict[str, float]:
    table = tn.tabulate(y_true, y_prob, **how)
    rows_only = {name: value for name, value in how.items() if name != "variation"}
    return {
        **{f"vce {norm}": tn.variation_calibration_error(table, norm=norm) for norm in ("l1", "l2", "max")},
        **{f"rce {d}": tn.ranked_calibration_error(table, d) for d in ("tv", "w1", "hellinger")},
        "ece": tn.ece(y_true, y_prob, **rows_only),
        "uce": tn.uce(y_true, y_prob, **rows_only),
    }


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


class TestNumbers:
    @given(data(), st.sampled_from([1, 10, 15, tn.EqualMass(5)]), st.sampled_from(["first", "split"]))
    def test_vce_of_confidence_is_ece(self, rows: Data, bins: Any, ties: str) -> None:
        how = {"bins": bins, "ties": ties}
        assert tn.vce(*rows, variation="confidence", **how) == tn.ece(*rows, **how)
        for norm in ("l2", "max"):
            assert tn.vce(*rows, variation="confidence", norm=norm, **how) == tn.ece(*rows, norm=norm, **how)

    @given(data(), st.sampled_from(["first", "split"]))
    def test_vce_is_bounded_by_rce(self, rows: Data, ties: str) -> None:
        """|V(r) - V(q)| <= L1 ||r - q||_1 = 2 L1 TV, summed over the bins.

        Slack: the constants hold between distributions; q-bar misses the sum 1 by the rounding of its rows (at
        most C eps of their dtype), which moves V by at most 2 C/(C-1) of that in any of these measures.
        """
        c = rows.y_prob.shape[1]
        slack = 1e-12 + 4 * c * float(np.finfo(rows.y_prob.dtype).eps)
        for name in MEASURES:
            table = tn.tabulate(*rows, variation=name, ties=ties)
            constant = table.spec.variation.lipschitz_for(c)
            if math.isfinite(constant):
                bound = 2 * constant * tn.ranked_calibration_error(table)
                assert tn.variation_calibration_error(table) <= bound + slack, name

    @given(data(), st.sampled_from(["first", "split"]), st.sampled_from([1, 10, tn.EqualMass(3)]))
    def test_entropy_vce_is_bounded_by_rce(self, rows: Data, ties: str, bins: Any) -> None:
        """VCE_H <= [R ln(C-1) + h2(R)] / ln C with R = RCE_TV, h2 in nats; the right side is concave in R.

        Slack: q-bar misses the sum 1 by at most d = C eps of the rows' dtype, and d of mass has at most
        d ln(C/d) + d nats of entropy.
        """
        c = rows.y_prob.shape[1]
        table = tn.tabulate(*rows, ties=ties, bins=bins)
        r = tn.ranked_calibration_error(table)
        h2 = -sum(x * math.log(x) for x in (r, 1 - r) if x > 0)
        bound = (r * math.log(c - 1) + h2) / math.log(c)
        d = c * float(np.finfo(rows.y_prob.dtype).eps)
        assert tn.variation_calibration_error(table) <= bound + 2 * d * (math.log(c / d) + 1) / math.log(c)

    @given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 4, 10]), st.floats(0.05, 3))
    def test_lipschitz_constants_hold_between_any_two_distributions(
        self, seed: int, c: int, alpha: float
    ) -> None:
        rng = np.random.default_rng(seed)
        x = np.concatenate([rng.dirichlet(np.full(c, alpha), 20), np.eye(c), np.full((1, c), 1 / c)])
        x = np.concatenate([x, (x + 1e-3 * rng.dirichlet(np.ones(c), len(x))) / (1 + 1e-3)])
        distance = np.abs(x[:, None] - x[None]).sum(axis=-1)
        named = [
            *tn.variations.values(),
            tn.renyi(2),
            tn.renyi(1.5),
            tn.renyi(5),
            tn.tsallis(1.5),
            tn.tsallis(4),
        ]
        for measure in named:
            constant = measure.lipschitz_for(c)
            if math.isfinite(constant):
                v = measure(x)
                assert np.all(np.abs(v[:, None] - v[None]) <= constant * distance + 1e-12), measure.name

    @given(data())
    def test_tv_is_at_least_the_top_label_error_and_equals_it_for_two_classes(self, rows: Data) -> None:
        table = tn.tabulate(*rows)
        tv, top = tn.ranked_calibration_error(table), tn.top_label_error(table)
        slack = rows.y_prob.shape[1] * float(np.finfo(rows.y_prob.dtype).eps)
        assert tv >= top - slack
        if rows.y_prob.shape[1] == 2:
            assert tv == pytest.approx(top, abs=slack)

    @given(data(), options())
    def test_numbers_stay_in_their_range_and_signed_parts_fit(self, rows: Data, how: dict[str, Any]) -> None:
        table = tn.tabulate(*rows, **how)
        for reader, gap in (
            (tn.variation_calibration_error, tn.variation_gap),
            (tn.top_label_error, tn.top_label_gap),
            (tn.ranked_calibration_error, tn.ranked_gap),
        ):
            l1, l2, largest = (reader(table, norm=norm) for norm in ("l1", "l2", "max"))
            assert 0 <= l1 <= l2 + 1e-15 <= largest + 2e-15 <= 1 + 1e-6 or how["variation"] == "margin"
            parts = tn.signed_parts(table, gap)
            assert parts.over + parts.under == pytest.approx(l1, abs=1e-13)
            assert parts.net == pytest.approx(parts.over - parts.under, abs=1e-15)

    @given(data(), st.sampled_from(MEASURES))
    def test_certainty_is_never_under_confident(self, rows: Data, name: str) -> None:
        """One-hot rows attain the end of the range that says no dispersion; all wrong is over-confident in full."""
        sure = np.eye(rows.y_prob.shape[1])[rows.y_prob.argmax(axis=1)]
        parts = tn.signed_parts(tn.tabulate(rows.y_true, sure, variation=name))
        assert parts.under <= 1e-15
        wrong = (rows.y_prob.argmax(axis=1) + 1) % rows.y_prob.shape[1]
        assert tn.signed_parts(tn.tabulate(wrong, sure, variation="confidence")).net == 1


class TestBins:
    @given(data(), options())
    def test_every_row_has_a_bin(self, rows: Data, how: dict[str, Any]) -> None:
        table = tn.tabulate(*rows, **how)
        n = len(rows.y_true)
        assert table.count.sum() == table.n_rows == table.row_count.sum() == n
        np.testing.assert_allclose(table.rank_count.sum(axis=1), table.count, rtol=0, atol=1e-12)
        sums = float(rows.y_prob.astype(np.float64).sum())
        assert table.ordered_sum.sum() == pytest.approx(sums, rel=1e-12)

    @given(data(max_rows=200), st.sampled_from(MEASURES), st.integers(1, 12))
    def test_equal_mass_keeps_equal_values_together(self, rows: Data, name: str, m: int) -> None:
        """Each distinct V fills one bin only, every bin it made holds rows, and there are at most min(M, N)."""
        table = tn.tabulate(*rows, variation=name, bins=tn.EqualMass(m))
        assert np.all(table.count > 0)
        assert table.n_bins <= min(m, len(rows.y_true))
        lo, hi = table.spec.variation.range_for(table.n_classes)
        assert (table.edges[0], table.edges[-1]) == (lo, hi)
        keys = [tuple(row) for row in np.sort(rows.y_prob, axis=1).tolist()]
        for key in set(keys):
            chosen = [i for i, k in enumerate(keys) if k == key]
            alone = tn.tabulate(rows.y_true[chosen], rows.y_prob[chosen], variation=name, bins=table.bins)
            assert np.count_nonzero(alone.count) == 1

    @given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(1, 20))
    def test_equal_mass_without_ties_has_equal_sizes(self, seed: int, n: int, m: int) -> None:
        """Bin k ends at the ceil(kN/M)-th value: sizes are the differences of those, where they differ."""
        rows = made(seed, n, 3, "smooth")
        ends = sorted({-(-k * n // m) for k in range(m + 1)})
        table = tn.tabulate(*rows, bins=tn.EqualMass(m))
        assert table.count.tolist() == np.diff(ends).tolist()

    @given(data(max_rows=150), st.sampled_from(MEASURES), st.integers(1, 12))
    def test_fitted_edges_give_the_same_table(self, rows: Data, name: str, m: int) -> None:
        direct = tn.tabulate(*rows, variation=name, bins=tn.EqualMass(m))
        fitted = tn.EqualMass(m).fit(rows.y_prob, variation=name)
        assert tn.tabulate(*rows, variation=name, bins=fitted) == direct
        assert tn.tabulate(*rows, variation=name, bins=direct.bins) == direct
        half = len(rows.y_true) // 2
        assume(half)
        parts = [tn.tabulate(*piece, variation=name, bins=fitted) for piece in cut(rows, [half])]
        assert sum(parts) == direct

    @given(data(max_rows=150), st.sampled_from(MEASURES), st.sampled_from([1, 2, 5, 10, 20]))
    def test_a_fine_grid_coarsens_to_equal_width(self, rows: Data, name: str, m: int) -> None:
        fine = tn.tabulate(*rows, variation=name, bins=tn.FineGrid(200))
        assert fine.coarsen(m) == tn.tabulate(*rows, variation=name, bins=m)
        assert fine.coarsen(tn.EqualWidth(m)) == fine.coarsen(m)

    @pytest.mark.parametrize("n_classes", [2, 3, 5, 7, 10, 13, 100])
    def test_a_fine_grid_of_confidence_coarsens_to_equal_width(self, n_classes: int) -> None:
        """Its range begins at 1/C, so that edges of the same place need not be the same float on both grids."""
        rows = made(n_classes, 300, n_classes, "sharp")
        fine = tn.tabulate(*rows, variation="confidence", bins=tn.FineGrid(4000))
        for m in (m for m in range(1, 101) if 4000 % m == 0):
            assert fine.coarsen(m) == tn.tabulate(*rows, variation="confidence", bins=m), m

    @given(data(), options(), st.sampled_from([None, 1, 4, 10]), st.booleans())
    def test_coarsening_to_its_own_bins_changes_nothing(
        self, rows: Data, how: dict[str, Any], mass: int | None, weighted: bool
    ) -> None:
        how = how | ({"bins": tn.EqualMass(mass)} if mass else {})
        weight = np.linspace(0.5, 2, len(rows.y_true)) if weighted else None
        table = tn.tabulate(*rows, sample_weight=weight, **how)
        assert table.coarsen(table.bins) == table

    @given(
        data(), options(), st.sampled_from([None, 1, 4, 10]), st.integers(1, 10), st.integers(0, 2**32 - 1)
    )
    def test_coarsening_keeps_every_row(
        self, rows: Data, how: dict[str, Any], mass: int | None, m: int, seed: int
    ) -> None:
        """Into equal mass, and into any of its own edges; the sums over all bins stay to the bit."""
        how = how | ({"bins": tn.EqualMass(mass)} if mass else {})
        table = tn.tabulate(*rows, **how)
        kept = np.random.default_rng(seed).random(table.n_bins - 1) < 0.5
        some = tn.Edges([table.edges[0], *table.edges[1:-1][kept], table.edges[-1]])
        whole = table.coarsen(tn.Edges([table.edges[0], table.edges[-1]]))
        for coarse in (table.coarsen(tn.EqualMass(m)), table.coarsen(some)):
            assert coarse.n_rows == table.n_rows == coarse.count.sum()
            assert coarse.coarsen(whole.bins) == whole

    @given(data(max_rows=300), st.integers(1, 10))
    def test_a_fine_grid_coarsens_to_equal_mass(self, rows: Data, m: int) -> None:
        """The k-th right edge is that of the cell in which the cumulative count reaches kN/M."""
        fine = tn.tabulate(*rows, bins=tn.FineGrid(400))
        coarse = fine.coarsen(tn.EqualMass(m))
        reached = np.cumsum(fine.count)
        n = len(rows.y_true)
        ends = sorted({int(np.argmax(reached * m >= k * n)) for k in range(1, m + 1)})
        expected = np.diff([0, *(reached[e] for e in ends)])
        assert coarse.count.tolist() == expected.tolist()
        assert set(coarse.edges) <= set(fine.edges)
        again = tn.tabulate(*rows, bins=coarse.bins)
        assert again == coarse

    @given(data(), options())
    def test_coarsening_commutes_with_plus(self, rows: Data, how: dict[str, Any]) -> None:
        how = how | {"bins": tn.FineGrid(100)}
        a, b = (tn.tabulate(*piece, **how) for piece in (cut(rows, [len(rows.y_true) // 2]) * 2)[:2])
        assert (a + b).coarsen(10) == a.coarsen(10) + b.coarsen(10)


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
