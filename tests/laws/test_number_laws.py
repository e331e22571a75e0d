"""Laws of the numbers of every data set: what bounds them, and what they agree with."""

import math
from typing import Any

import numpy as np
import oracle
import pytest
import speak
from hypothesis import given
from hypothesis import strategies as st
from law_rows import MEASURES, Data, data, made, options
from speak import gaps_of, lipschitz, sums_of, tabulate

NORMS = ("l1", "l2", "max")


def means(table: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Shares of the rows, q-bar and r-bar of the bins with rows, from the sums of unweighted rows."""
    found = sums_of(table)
    n = np.array(found["rows"], float)
    filled = n > 0
    q, r = (np.array(found[name], object)[filled] / oracle.UNIT for name in ("ordered", "rank"))
    mean_q, mean_r = (x.astype(float) / n[filled, None] for x in (q, r))
    return n[filled] / n.sum(), mean_q, mean_r


def signed(table: Any, metric: str) -> tuple[float, float]:
    """Sum of w max(gap, 0) and of w max(-gap, 0)."""
    weight, _, _ = means(table)
    gap = np.array(gaps_of[metric](table))
    gap = gap[~np.isnan(gap)]
    return float(weight @ np.maximum(gap, 0)), float(weight @ np.maximum(-gap, 0))


class TestErrors:
    @given(
        data(),
        st.sampled_from([1, 10, 15, speak.EqualMass(5)]),
        st.sampled_from(["first", "split"]),
        st.sampled_from(NORMS),
    )
    def test_vce_of_confidence_is_ece(self, rows: Data, bins: Any, ties: str, norm: str) -> None:
        """The paper, section 3: V = x_1 in the same bins."""
        how = {"bins": bins, "ties": ties, "norm": norm}
        assert speak.vce(*rows, variation="confidence", **how) == speak.ece(*rows, **how)

    @given(data(), st.sampled_from(["first", "split"]), st.sampled_from(MEASURES))
    def test_vce_is_bounded_by_rce(self, rows: Data, ties: str, name: str) -> None:
        """|V(r) - V(q)| <= L1 ||r - q||_1 = 2 L1 TV, summed over the bins.

        Slack: the constants hold between distributions; q-bar misses the sum 1 by the rounding of
        its rows (at most C eps of their dtype), which moves V by at most 2 C/(C-1) of that in any
        of these measures.
        """
        c = rows.y_prob.shape[1]
        slack = 1e-12 + 4 * c * float(np.finfo(rows.y_prob.dtype).eps)
        table = tabulate(*rows, variation=name, ties=ties)
        constant = lipschitz(name, c)
        if math.isfinite(constant):
            assert speak.vce_of(table) <= 2 * constant * speak.rce_of(table) + slack

    @given(data(), st.sampled_from(["first", "split"]), st.sampled_from([1, 10, speak.EqualMass(3)]))
    def test_entropy_vce_is_bounded_by_rce(self, rows: Data, ties: str, bins: Any) -> None:
        """VCE_H <= [R ln(C-1) + h2(R)] / ln C, R = RCE_TV, h2 in nats: concave in R.

        Slack: q-bar misses the sum 1 by at most d = C eps of the rows' dtype, and d of mass has at
        most d ln(C/d) + d nats of entropy.
        """
        c = rows.y_prob.shape[1]
        table = tabulate(*rows, ties=ties, bins=bins)
        r = speak.rce_of(table)
        h2 = -sum(x * math.log(x) for x in (r, 1 - r) if x > 0)
        bound = (r * math.log(c - 1) + h2) / math.log(c)
        d = c * float(np.finfo(rows.y_prob.dtype).eps)
        assert speak.vce_of(table) <= bound + 2 * d * (math.log(c / d) + 1) / math.log(c)

    @given(data(), st.sampled_from(["first", "split"]))
    def test_tv_is_at_least_the_error_of_the_first_rank(self, rows: Data, ties: str) -> None:
        """In the same bins, and equal to it for two classes."""
        table = tabulate(*rows, ties=ties)
        weight, q, r = means(table)
        first = float(weight @ np.abs(q[:, 0] - r[:, 0]))
        slack = rows.y_prob.shape[1] * float(np.finfo(rows.y_prob.dtype).eps)
        assert speak.rce_of(table) >= first - slack
        if rows.y_prob.shape[1] == 2:
            assert speak.rce_of(table) == pytest.approx(first, abs=slack)

    @given(data(), options())
    def test_w1_is_the_mean_error_of_the_first_k_ranks(self, rows: Data, how: dict[str, Any]) -> None:
        """W1/(C-1) = mean over k < C of |P(rank <= k) - its prediction|, and at most TV."""
        table = tabulate(*rows, **how)
        weight, q, r = means(table)
        ahead = np.abs(np.cumsum(r - q, axis=1))[:, :-1].mean(axis=1)
        w1 = speak.rce_of(table, distance="w1")
        assert w1 == pytest.approx(float(weight @ ahead), abs=1e-12)
        slack = rows.y_prob.shape[1] * float(np.finfo(rows.y_prob.dtype).eps)
        assert w1 <= speak.rce_of(table) + slack

    @given(data(), options())
    def test_norms_are_ordered_and_signed_parts_add_up(self, rows: Data, how: dict[str, Any]) -> None:
        """Over- and under-confident parts of the mean gap; the means of powers never fall."""
        table = tabulate(*rows, **how)
        for metric, error in (("vce", speak.vce_of), ("rce", speak.rce_of)):
            l1, l2, largest = (error(table, norm=norm) for norm in NORMS)
            assert 0 <= l1 <= l2 + 1e-15 <= largest + 2e-15
            assert largest <= 1 + 1e-6 or how["variation"] == "margin"
            assert sum(signed(table, metric)) == pytest.approx(l1, abs=1e-13)

    @given(data(), st.sampled_from(MEASURES))
    def test_certainty_is_never_under_confident(self, rows: Data, name: str) -> None:
        """One-hot rows say no dispersion at all; all wrong is over-confident in full."""
        sure = np.eye(rows.y_prob.shape[1])[rows.y_prob.argmax(axis=1)]
        _, under = signed(tabulate(rows.y_true, sure, variation=name), "vce")
        assert under <= 1e-15
        wrong = (rows.y_prob.argmax(axis=1) + 1) % rows.y_prob.shape[1]
        assert signed(tabulate(wrong, sure, variation="confidence"), "vce") == (1, 0)


class TestClasses:
    @given(data(min_rows=2), st.sampled_from(NORMS), st.randoms(use_true_random=False))
    def test_the_names_of_the_classes_do_not_matter(self, rows: Data, norm: str, random: Any) -> None:
        """Two classes are one event, whose bins are closed on one side: they keep their order."""
        c = rows.y_prob.shape[1]
        order = list(range(c))
        if c > 2:
            random.shuffle(order)
        renamed = np.argsort(order)[rows.y_true], rows.y_prob[:, order]
        found = speak.cwece(*renamed, norm=norm)
        assert found == pytest.approx(speak.cwece(*rows, norm=norm), abs=1e-13)

    @given(data(min_rows=2), st.sampled_from([None, "expected", "observed"]))
    def test_whole_weights_are_repetition(self, rows: Data, weights: str | None) -> None:
        times = 1 + np.arange(len(rows.y_true)) % 3
        again = rows.y_true.repeat(times), rows.y_prob.repeat(times, axis=0)
        weighted = speak.cwece(*rows, sample_weight=times, weights=weights)
        assert weighted == pytest.approx(speak.cwece(*again, weights=weights), abs=1e-12)

    @given(data(min_rows=2))
    def test_a_class_that_is_never_predicted_nor_observed(self, rows: Data) -> None:
        """It has error 0: the mean over the classes falls by C/(C + 1), if two stay two events."""
        c = rows.y_prob.shape[1]
        more = np.concatenate([rows.y_prob, np.zeros((len(rows.y_true), 1))], axis=1)
        if c > 2:
            expected = speak.cwece(*rows) * c / (c + 1)
            assert speak.cwece(rows.y_true, more) == pytest.approx(expected, abs=1e-13)

    def test_two_classes_are_one_event(self) -> None:
        """With the columns exchanged too, as no row is on an edge; weights do not matter."""
        y_true, y_prob = made(2, 500, 2, "smooth")
        found = speak.cwece(y_true, y_prob)
        assert found == pytest.approx(speak.cwece(1 - y_true, y_prob[:, ::-1]), abs=1e-12)
        assert {speak.cwece(y_true, y_prob, weights=w) for w in ("expected", "observed")} == {found}


class TestMeasures:
    @given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 4, 10]), st.floats(0.05, 3))
    def test_lipschitz_constants_hold_between_any_two_distributions(
        self, seed: int, c: int, alpha: float
    ) -> None:
        rng = np.random.default_rng(seed)
        x = np.concatenate([rng.dirichlet(np.full(c, alpha), 20), np.eye(c), np.full((1, c), 1 / c)])
        x = np.concatenate([x, (x + 1e-3 * rng.dirichlet(np.ones(c), len(x))) / (1 + 1e-3)])
        distance = np.abs(x[:, None] - x[None]).sum(axis=-1)
        further = ["renyi(2)", "renyi(1.5)", "renyi(5)", "tsallis(1.5)", "tsallis(4)"]
        for name in [*oracle.MEASURES, *further]:
            constant = lipschitz(name, c)
            if math.isfinite(constant):
                v = speak.measure(name)(x)
                assert np.all(np.abs(v[:, None] - v[None]) <= constant * distance + 1e-12), name

    @pytest.mark.parametrize("C", [2, 3, 10, 100])
    def test_lipschitz_constants_of_the_table(self, C: int) -> None:
        """The L1 column of the table of measures: |V(x) - V(y)| <= L1 ||x - y||_1."""
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
        found = {name: lipschitz(name, C) for name in column}
        assert found == pytest.approx(column, rel=1e-12)

    def test_binary_measures_coincide(self) -> None:
        """For C = 2, WVR = AvDev = MNDif = StDev = margin = 2(1 - max)."""
        x = np.column_stack([np.linspace(0.5, 1, 101), 1 - np.linspace(0.5, 1, 101)])
        names = "wilcox_variation_ratio average_deviation mean_difference standard_deviation margin"
        for name in names.split():
            np.testing.assert_allclose(speak.measure(name)(x), 2 * (1 - x[:, 0]), rtol=0, atol=1e-13)

    @pytest.mark.parametrize("kind", ["renyi", "tsallis"])
    @pytest.mark.parametrize("distance", [1e-3, 1e-6, 1e-9, 1e-12, 1e-14])
    def test_orders_near_one_approach_entropy(self, kind: str, distance: float) -> None:
        """V(1 ± d) = entropy ± O(d): the slope in the order is below 2 for five classes."""
        rows = np.sort(np.random.default_rng(3).dirichlet([0.5] * 5, 300), axis=1)[:, ::-1]
        entropy = speak.measure("entropy")(rows)
        for order in (1 - distance, 1 + distance):
            found = speak.measure(f"{kind}({order!r})")(rows)
            assert np.abs(found - entropy).max() < 2 * distance + 1e-14
