"""Drift from a reference: exact values, the null, and refusals (section 7)."""

import math

import numpy as np
import pytest
from monitored import REFERENCE, T1, ranked_table, stream, watched

import trueness as tn
from trueness.monitoring.cells import Cells
from trueness.monitoring.directions import rank_directions
from trueness.monitoring.reference import DriftBets, score_of
from trueness.monitoring.watched import Watched

SCORE = score_of(Cells.of_tables([REFERENCE]), rank_directions(3), 50, math.log(7 / 0.025), 1.0)


class TestExactValues:
    """Section 12, α = .05 and D = 7."""

    def test_the_score_of_flat(self) -> None:
        expected = [[-0.099046947421, 0.733704572127, 1], [-0.110477701635, 0.072919590684, 0.444107437759]]
        np.testing.assert_allclose(SCORE.h[0], expected, atol=1e-11)
        assert SCORE.mean[0] == pytest.approx(-0.006267532145, abs=1e-11)
        assert SCORE.variance[0] == pytest.approx(0.054528172106, abs=1e-11)
        assert SCORE.stake[0] == pytest.approx(0.9)
        assert SCORE.bound[0] == pytest.approx(0.193874427143, abs=1e-11)

    def test_the_bound_of_top_down(self) -> None:
        assert SCORE.bound[2] == pytest.approx(0.149083611336, abs=1e-11)
        assert SCORE.stake[2] == pytest.approx(1.694503996684, abs=1e-11)


class TestNull:
    def test_a_bet_has_mean_at_most_one_if_the_bound_holds(self) -> None:
        """One bin, two ranks, by enumeration: the law of the look is that of the reference, below the bound."""
        reference = ranked_table(((0.8, 0.2), (700, 300)), bins=1)
        bets = DriftBets(Watched(reference), 0.0, 1.0, 0.025)
        law = np.array([0.7, 0.3])
        n = 12
        means = np.zeros(len(bets.weights))
        for first in range(n + 1):
            chance = math.comb(n, first) * law[0] ** first * law[1] ** (n - first)
            look = ranked_table(((0.8, 0.2), (first, n - first)), bins=1)
            means += chance * np.exp(bets.log_values([Watched(look)])[0])
        assert bets.weights.sum() == pytest.approx(1)
        assert np.all(means <= 1 + 1e-12)
        assert means.min() < 0.999

    def test_a_model_that_was_always_over_confident_does_not_alarm(self) -> None:
        reference = stream(1, 20_000, exponent=1.3, seed=5)[0]
        looks = stream(15, 500, exponent=1.3, seed=6)
        assert watched(looks, reference=reference).alarm is None
        assert watched(looks).alarm is not None

    def test_a_model_that_got_worse_does(self) -> None:
        reference = stream(1, 20_000, seed=5)[0]
        monitor = watched(stream(10, 1000, exponent=1.5, seed=6), reference=reference)
        assert monitor.alarm is not None
        assert monitor.alarm.meaning.endswith("more than in the reference")
        assert monitor.alarm.e_value >= 40  # 1/(α - γ)
        assert "2/α = 40" in str(monitor)
        assert monitor.p_value >= 0.025

    def test_the_tolerance_lowers_the_evidence(self) -> None:
        reference = stream(1, 20_000, seed=5)[0]
        looks = stream(3, 500, exponent=1.5, seed=6)
        values = [watched(looks, reference=reference, tolerance=d).log_e_value for d in (0.0, 0.01, 0.03)]
        assert values[0] > values[1] > values[2]


class TestGroups:
    def test_one_reference_for_all_groups_or_one_for_each(self) -> None:
        a, b = stream(1, 5000, seed=1)[0], stream(1, 5000, exponent=1.3, seed=2)[0]
        look = {"a": stream(1, 500, seed=3)[0], "b": stream(1, 500, seed=4)[0]}
        shared = tn.Monitor(alpha=0.05, tolerance=0, reference=a)
        shared.update(look, at=1)
        each = tn.Monitor(alpha=0.05, tolerance=0, reference={"a": a, "b": b})
        each.update(look, at=1)
        of_shared, of_each = ({g.name: g.log_e_value for g in m.groups} for m in (shared, each))
        assert of_shared["b"] != of_each["b"]
        with pytest.raises(ValueError, match="`reference` has no group 'c'"):
            each.update({"c": look["a"]}, at=2)


def test_a_reference_that_does_not_add_is_refused() -> None:
    with pytest.raises(ValueError, match="n_classes differs"):
        watched([T1], reference=REFERENCE)
