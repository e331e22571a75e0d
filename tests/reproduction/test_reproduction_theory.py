"""The expected values of the reproduction against closed forms, published constants, SciPy and simulation."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import trueness as tn
from trueness.reproduction.metric_values import FURTHER_METRICS, PAPER_METRICS, limits_of, measures_of
from trueness.reproduction.scenarios import PAPER_SCENARIOS, Scenario, parse_alpha, skewed_scenario
from trueness.reproduction.theory import (
    bin_moments,
    gradient,
    published_limits,
    ranked_limit,
    uce_floor,
    uncertainty_limit,
    variation_limit,
)

FLOORS = (0.369643799967, 0.284734772889, 0.130637093862, 0.192316926804)
"""E[H] + E[max p] - 1 to twelve digits, in the order of PAPER_SCENARIOS."""


class TestDirichletMoments:
    @pytest.mark.parametrize("n", [2, 3, 10, 100])
    def test_largest_of_a_uniform_dirichlet(self, n):
        """The largest of n pieces of a stick broken at random: (1 + 1/2 + … + 1/n)/n."""
        from trueness.reproduction.dirichlet import mean_largest

        assert mean_largest([1.0] * n) == pytest.approx(sum(1 / k for k in range(1, n + 1)) / n, rel=1e-13)


class TestPublished:
    @pytest.mark.parametrize(("scenario", "floor"), list(zip(PAPER_SCENARIOS, FLOORS, strict=True)))
    def test_floors_to_twelve_digits(self, scenario, floor):
        assert uce_floor(scenario) == pytest.approx(floor, abs=6e-13)

    @pytest.mark.parametrize("scenario", PAPER_SCENARIOS, ids=lambda scenario: scenario.label)
    def test_constants_by_the_formula_of_theorem_4(self, scenario):
        """From 2²⁰ rows: an error of about 0.4/√rows in a, less in b, and half a digit of rounding in the table."""
        n_rows = 2**20
        moments = bin_moments(scenario, measures_of(PAPER_METRICS), n_threads=2, n_rows=n_rows)
        published = published_limits(scenario)
        tolerance = 5 * 0.4 / math.sqrt(n_rows) + 5e-5
        for (binning, name), limit in published.items():
            metric = next(one for one in PAPER_METRICS if one.name == name)
            computed = metric.limit(moments[metric.measure, binning], scenario)
            assert computed.floor == limit.floor
            assert computed.a == pytest.approx(limit.a, abs=tolerance)
            assert computed.b == pytest.approx(limit.b, abs=tolerance / 2)

    def test_bins_of_the_paper_s_figure_2(self):
        """Gaps err - uncert and masses of C = 3, all α = 1, equal width, to four digits."""
        gaps = [-0.0572, -0.1218, -0.1871, -0.2465, -0.2977, -0.3349, -0.3380, -0.3733, -0.4079, -0.4059]
        masses = [0.0013, 0.0060, 0.0141, 0.0267, 0.0463, 0.0796, 0.1499, 0.1963, 0.2267, 0.2531]
        moments = bin_moments(PAPER_SCENARIOS[0], ["entropy"], n_threads=2, n_rows=2**19)["entropy", "width"]
        np.testing.assert_allclose(moments.weight, masses, atol=5 * math.sqrt(0.25 / 2**19))
        # A gap is a mean over the rows of its bin, whose own spread is below 0.1.
        noise = 5 * 0.1 / np.sqrt(moments.weight * 2**19)
        assert np.all(np.abs(-moments.gap / moments.weight - gaps) < noise + 1e-4)

    def test_floors_of_the_committed_results(self):
        """The committed results.json was computed with special functions of our own, before SciPy's were used."""
        path = Path(__file__).parents[2] / "docs" / "background" / "reproduction" / "results.json"
        floors = {
            limit["alpha"]: limit["floor"]
            for limit in json.loads(path.read_text(encoding="utf-8"))["limits"]
            if limit["metric"] == "uce"
        }
        for scenario in PAPER_SCENARIOS:
            assert uce_floor(scenario) == pytest.approx(floors[scenario.label], rel=1e-13)

    def test_others_have_none(self):
        assert published_limits(skewed_scenario(4, 1)) is None


class TestComputed:
    @pytest.mark.parametrize(
        ("name", "formula"),
        [
            ("entropy", lambda x: -(np.log(x) + 1) / math.log(4)),
            ("iqv", lambda x: -2 * 4 / 3 * x),
            ("confidence", lambda x: np.eye(4)[np.zeros(len(x), int)]),
            ("wilcox_variation_ratio", lambda x: -4 / 3 * np.eye(4)[np.zeros(len(x), int)]),
        ],
    )
    def test_gradients(self, name, formula):
        x = -np.sort(-np.random.default_rng(0).dirichlet([1.0, 1, 1, 0.2], 50), axis=1)
        # A slope counts in σ² with the probability of its rank, and so does its error.
        weight = np.sqrt(x)
        np.testing.assert_allclose(
            weight * gradient(tn.variations[name], x), weight * formula(x), rtol=1e-8, atol=1e-5
        )

    @pytest.mark.slow
    def test_a_scenario_of_the_user(self):
        """Every metric's mean and spread over 200 data sets, in equal-width bins, compared with the computed ones."""
        scenario, n_rows, repeats = parse_alpha("2,1,1,1,1"), 5000, 200
        metrics = (*PAPER_METRICS, *FURTHER_METRICS)
        limits = limits_of(scenario, metrics, n_threads=2)
        values = {metric.name: [] for metric in metrics}
        for seed in range(repeats):
            rows = tn.simulate.calibrated(n_rows, scenario.alpha, rng=seed)
            tables = {name: tn.tabulate(*rows, variation=name) for name in measures_of(metrics)}
            for metric in metrics:
                values[metric.name].append(metric.read(tables[metric.measure]))
        for metric in metrics:
            limit = limits["width", metric.name]
            seen = np.array(values[metric.name])
            off = abs(seen.mean() - limit.expected(n_rows)) - limit.second_order(n_rows)
            assert off < 5 * limit.spread(n_rows) / math.sqrt(repeats), metric.name
            assert abs(seen.std() / limit.spread(n_rows) - 1) < 5 * 0.06, metric.name

    @pytest.mark.slow
    def test_many_classes_of_nearly_equal_rows(self):
        """If the curvature of entropy outweighs its slope, the mean differs from a/√N, by no more than the allowance.

        Without the allowance the command would report a failure.
        """
        scenario, n_rows, repeats = Scenario((50.0,) * 20), 10_000, 20
        moments = bin_moments(scenario, ["entropy"], 2, n_rows=2**17)["entropy", "mass"]
        limit, bins = variation_limit(moments, tn.variations["entropy"]), tn.EqualMass(10)
        drawn = (tn.simulate.calibrated(n_rows, scenario.alpha, rng=seed) for seed in range(repeats))
        seen = [tn.vce(*rows, bins=bins) for rows in drawn]
        off = abs(np.mean(seen) - limit.expected(n_rows))
        five = 5 * np.std(seen) / math.sqrt(repeats)
        assert 1.5 * limit.a / n_rows + five < off < limit.second_order(n_rows) + five
        for name, limit in limits_of(PAPER_SCENARIOS[0], (*PAPER_METRICS, *FURTHER_METRICS), 2).items():
            assert limit.curvature == 0, name

    @pytest.mark.parametrize("distance", ["tv", "w1"])
    def test_two_classes_make_rce_the_top_label_error(self, distance):
        """d(r̄, q̄) = |r̄₁ - q̄₁| for C = 2, whatever the distance: the limit is that of the measure `confidence`."""
        moments = bin_moments(skewed_scenario(2, 3), ["confidence"], 1, n_rows=100_000)["confidence", "width"]
        ranked, top = ranked_limit(moments, distance), variation_limit(moments, tn.variations["confidence"])
        assert (ranked.a, ranked.b) == pytest.approx((top.a, top.b), rel=1e-6)

    def test_a_floor_with_bins_of_both_signs(self):
        """Sparse rows: the entropy of rows shared by two classes is below their error rate, that of others above.

        They cancel in the closed form, which is a tenth of the limit of UCE.
        """
        scenario = Scenario((0.03,) * 12)
        moments = bin_moments(scenario, ["entropy"], 2, n_rows=2**18)["entropy", "width"]
        signs = {int(sign) for sign in np.sign(moments.gap[moments.weight > 1e-3])}
        assert signs == {-1, 1}
        limit = uncertainty_limit(moments, scenario)
        assert limit.floor > 5 * uce_floor(scenario)
        n_rows = 200_000
        seen = tn.uce(*tn.simulate.calibrated(n_rows, scenario.alpha, rng=3))
        # The moments of the bins were simulated too, from about as many rows.
        assert abs(seen - limit.floor) < 5 * limit.spread(n_rows) * math.sqrt(2)

    def test_empty_bins_add_nothing(self):
        """α so large that all rows are in the last bin."""
        moments = bin_moments(Scenario((1000.0,) * 4), ["entropy"], 1, n_rows=70_000)["entropy", "width"]
        assert list(np.flatnonzero(moments.weight)) == [9]
        assert 0 < variation_limit(moments, tn.variations["entropy"]).a < 0.1
