"""The e-value of a look: exact values, an oracle in plain loops, means by enumeration, and laws."""

import math

import monitoring_oracle as oracle
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from monitored import T1, T3, watched

import trueness as tn
from trueness.monitoring.bets import log_bets
from trueness.monitoring.cells import Cells
from trueness.monitoring.clipping import SortedRatios, levels_over_bins
from trueness.monitoring.directions import event_directions, rank_directions
from trueness.monitoring.families import EventBets, RankBets
from trueness.monitoring.roots import bracketed_root
from trueness.monitoring.strengths import distance
from trueness.monitoring.watched import Watched


class TestMeansByEnumeration:
    """The law of E under the null, without sampling: eight rows in one bin, four (.95, .05) and four (.7, .3)."""

    @staticmethod
    def law(*chances: float) -> np.ndarray:
        """The law of the number of rows whose true class ranks first."""
        law = np.ones(1)
        for chance in chances:
            law = np.convolve(law, [1 - chance, chance])
        return law

    @staticmethod
    def values(tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        """E after one look, and the value of each bet, by the number of rows in the first rank."""
        first = np.arange(9.0)
        observed = np.stack([first, 8 - first], axis=-1)[:, None]
        predicted = np.broadcast_to([[4 * 0.95 + 4 * 0.7, 4 * 0.05 + 4 * 0.3]], observed.shape)
        cells = Cells.of(predicted, observed, np.full((9, 1), 8.0))
        family = RankBets(2, 1, tolerance, 1.0)
        bets = np.exp(log_bets(cells, family.directions, tolerance).reshape(9, -1))
        return 0.5 + 0.5 * bets @ family.weights, bets

    def test_calibrated(self) -> None:
        e_value, bets = self.values(0.0)
        law = self.law(*[0.95] * 4, *[0.7] * 4)
        assert law @ e_value == pytest.approx(0.992856257804, abs=2e-12)
        assert np.all(law @ bets <= 1 + 1e-12)

    def test_equal_rows_have_mean_one(self) -> None:
        e_value, bets = self.values(0.0)
        law = self.law(*[0.825] * 8)
        assert law @ e_value == pytest.approx(1, abs=1e-14)
        np.testing.assert_allclose(law @ bets, 1, atol=1e-13)

    @pytest.mark.parametrize(("moved", "expected"), [(-0.02, 0.985746485169), (0.02, 0.969800165167)])
    def test_at_the_border_of_the_tolerance(self, moved: float, expected: float) -> None:
        e_value, bets = self.values(0.02)
        law = self.law(*[0.95 + moved] * 4, *[0.7 + moved] * 4)
        assert law @ e_value == pytest.approx(expected, abs=2e-12)
        assert np.all(law @ bets <= 1 + 1e-12)

    @pytest.mark.parametrize("tolerance", [0.0, 0.02])
    def test_events_are_bets_too(self, tolerance: float) -> None:
        first = np.arange(9.0)
        observed = np.stack([first, 8 - first], axis=-1)[:, None]
        predicted = np.broadcast_to([[8 * 0.3, 8 * 0.7]], observed.shape)
        cells = Cells.of(predicted, observed, np.full((9, 1), 8.0))
        bets = np.exp(log_bets(cells, event_directions(), tolerance, single_bins=False).reshape(9, -1))
        for moved in (-tolerance, 0.0, tolerance):
            assert np.all(self.law(*[0.3 + moved] * 8) @ bets <= 1 + 1e-12)


class TestLaws:
    def test_the_order_of_rows_and_the_split_into_batches_do_not_matter(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(300, [1, 1, 1], rng=1)
        whole = tn.tabulate(y_true, y_prob)
        parts = tn.tabulate(y_true[200:], y_prob[200:]) + tn.tabulate(y_true[:200], y_prob[:200])
        assert watched([whole]).log_e_value == watched([parts]).log_e_value

    def test_clusters_divide_the_logarithm(self) -> None:
        look = [Watched(T3)]
        alone = RankBets(3, 2, 0.0, 1.0).log_values(look)
        np.testing.assert_allclose(RankBets(3, 2, 0.0, 10.0).log_values(look), alone / 10, rtol=1e-14)

    @given(
        st.lists(st.floats(-2, 2), min_size=3, max_size=3),
        st.lists(st.lists(st.floats(0.01, 1), min_size=3, max_size=3), min_size=2, max_size=6),
    )
    def test_merged_bins_of_a_fixed_tilt_have_less(self, tilt: list[float], rows: list[list[float]]) -> None:
        """λ·R - n·ln(q̄·e^λ) of a merged bin is at most the sum over its parts."""
        q = np.array([np.array(row) / sum(row) for row in rows])
        by_rows = -np.log(q @ np.exp(tilt)).sum()
        halves = [part for part in np.array_split(q, 2) if len(part)]
        by_halves = sum(-len(part) * math.log(part.mean(axis=0) @ np.exp(tilt)) for part in halves)
        merged = -len(q) * math.log(q.mean(axis=0) @ np.exp(tilt))
        assert merged <= by_halves + 1e-12
        assert by_halves <= by_rows + 1e-12

    def test_renaming_classes_changes_nothing_with_ties_split(self) -> None:
        rng = np.random.default_rng(3)
        y_true, y_prob = tn.simulate.calibrated(200, [1, 1, 1, 1], rng=3)
        y_prob = np.round(y_prob * 8) / 8
        y_prob /= y_prob.sum(axis=1, keepdims=True)
        order = rng.permutation(4)
        one = tn.tabulate(y_true, y_prob, ties="split")
        other = tn.tabulate(np.argsort(order)[y_true], y_prob[:, order], ties="split")
        assert watched([one]).log_e_value == pytest.approx(watched([other]).log_e_value, rel=1e-12)

    def test_a_size_that_is_not_reached_bets_nothing(self) -> None:
        """From (.8, .2) flat reaches a distance of .3 at most, and sharp of .2."""
        values = log_bets(Cells.of_tables([T1]), rank_directions(2), 0.31)
        assert np.all(values[0, :2] == 0)
        assert np.any(values[0, 2] != 0)
        assert np.all(np.isfinite(values))


class TestClipping:
    @given(
        st.integers(2, 6),
        st.integers(1, 5),
        st.floats(0.001, 0.95),
        st.integers(0, 10**6),
    )
    def test_equation_2_and_the_worst_law(self, n_outcomes: int, n_bins: int, part: float, seed: int) -> None:
        rng = np.random.default_rng(seed)
        f, u = (rng.dirichlet(np.ones(n_outcomes), n_bins) + 1e-6 for _ in range(2))
        f, u = f / f.sum(axis=1, keepdims=True), u / u.sum(axis=1, keepdims=True)
        shares = rng.dirichlet(np.ones(n_bins))
        delta = part * float(shares @ distance(u, f))
        low, high = levels_over_bins(u, f, shares, delta)
        # No law within the tolerance expects more than 1 of the bet (section 4).
        x = np.clip(u / f, low[:, None], high[:, None])
        width = x.max(axis=1) - x.min(axis=1)
        assert shares @ ((f * x).sum(axis=1) - 1) + width.max() * delta <= 1e-9 * max(1.0, width.max())
        up = np.maximum(u / high[:, None] - f, 0).sum(axis=1)
        down = np.maximum(f - u / low[:, None], 0).sum(axis=1)
        np.testing.assert_allclose(up, down, atol=1e-10)
        assert shares @ up == pytest.approx(delta, abs=1e-10)
        # One width for all bins that are clipped; the others span less.
        width, clipped = high - low, up > 1e-9
        np.testing.assert_allclose(width[clipped], width[clipped].max(initial=0), rtol=1e-7)
        assert np.all(width[~clipped] <= width[clipped].max(initial=np.inf) * (1 + 1e-7))

    @given(st.integers(2, 4), st.floats(0.001, 0.3), st.sampled_from([1.0, 0.2, 0.02]), st.integers(0, 10**6))
    def test_no_bet_expects_more_than_one_of_any_law_within_the_tolerance(
        self, n_outcomes: int, tolerance: float, even: float, seed: int
    ) -> None:
        """Also where predictions are nearly certain and levels lose their digits: means by one row, exactly.

        One row in one of two bins, of each outcome: e is then linear in the law, whose worst case moves the mass δ from
        the outcome with the smallest stake to that with the largest, in the bin where that gains most.
        """
        rng = np.random.default_rng(seed)
        predicted = rng.dirichlet(np.full(n_outcomes, even), (1, 2))
        looks = np.repeat(predicted, 2 * n_outcomes, axis=0)
        observed = np.eye(2 * n_outcomes).reshape(2 * n_outcomes, 2, n_outcomes)
        share = np.array([0.4, 0.6])
        cells = Cells(observed, looks, np.broadcast_to(share, (2 * n_outcomes, 2)))
        stakes = np.exp(log_bets(cells, rank_directions(max(n_outcomes, 2)), tolerance))
        x = stakes[..., 0].reshape(2, n_outcomes, -1)  # by bin and outcome
        usual = np.einsum("b,bc,bcj->j", share, cells.q[0], x)
        gain = tolerance * (x.max(axis=1) - x.min(axis=1)).max(axis=0)
        assert np.all(usual + gain <= 1 + 1e-8 * np.maximum(1, x.max(axis=(0, 1))))

    def test_equation_3_against_equation_2(self) -> None:
        f, u = np.array([[0.6, 0.3, 0.1]]), np.array([[0.4, 0.35, 0.25]])
        low, high = SortedRatios.of(u, f).levels(np.array([0.05]))
        assert oracle.moved_down(u[0].tolist(), f[0].tolist(), low.item()) == pytest.approx(0.05)
        assert oracle.moved_up(u[0].tolist(), f[0].tolist(), high.item()) == pytest.approx(0.05)


class TestRoots:
    @given(st.lists(st.floats(0.001, 100), min_size=1, max_size=5))
    def test_against_the_inverse(self, targets: list[float]) -> None:
        goal = np.array(targets)
        root = bracketed_root(lambda x: np.expm1(x) - goal, np.zeros(goal.shape), np.full(goal.shape, 10.0))
        np.testing.assert_allclose(root, np.log1p(goal), rtol=1e-12)

    def test_a_step_is_found_by_bisection(self) -> None:
        root = bracketed_root(lambda x: np.where(x < 1 / 3, -1.0, 1.0), np.zeros(1), np.ones(1))
        assert root.item() == pytest.approx(1 / 3, abs=1e-14)


class TestEventSizes:
    def test_sizes_are_relative_to_rare_events(self) -> None:
        """A class of 1 % that is four times as frequent is seen; sizes up to .16 would rest."""
        y_prob = tn.simulate.calibrated(20_000, [1, 60, 39], rng=2).y_prob
        labels = tn.simulate.shift_labels(y_prob, [4, 1, 1], rng=3)
        events = tn.tabulate_events(labels, y_prob, grid="class")
        family = EventBets(events.spec, 0.0, 1.0)
        values = family.log_values([Watched(None, events)])[0]
        best = int(np.argmax(values))
        assert family.bets[best].event == "0"
        assert family.bets[best].direction == "too seldom"
        assert values[best] > 100
