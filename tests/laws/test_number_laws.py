"""Laws of the numbers and bins of every data set: what bounds them, and what they agree with.

Where design promises identical bits the assertion is `==`; where it promises agreement, the tolerance is derived
beside it.
"""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from law_rows import MEASURES, Data, cut, data, made, options

import trueness as tn


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
