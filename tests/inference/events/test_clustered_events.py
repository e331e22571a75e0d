"""The noise of events whose rows come in clusters: variances by plain sums, replicates, and the size of the tests."""

import math
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.old_inference.bootstrap_weights import BootstrapWeights, poisson_weights
from trueness.old_inference.events.clusters import clustered_events
from trueness.old_inference.events.cox import cox_fit
from trueness.old_inference.events.of_table import event_cells
from trueness.old_inference.events.replicates import GapNoise, bootstrap_events
from trueness.old_table.plan import TablePlan
from trueness.old_table.tables import Tables
from trueness.rows import Rows
from trueness.rows.clusters import clusters_of_rows
from trueness.tabulation.clusters import tabulate_clusters


def tables_of(y_true: Any, y_prob: Any, names: Any, weight: Any = None) -> Tables:
    rows = Rows.of(y_true, y_prob, weight)
    specs = TablePlan.of(by_class=True).specs(rows.n_classes, weighted=weight is not None)
    return tabulate_clusters(rows, specs, clusters_of_rows(names, rows.n_rows))


def copies(k: int, rows: int, n_classes: int, seeds: np.random.Generator) -> tuple[np.ndarray, ...]:
    y_true, y_prob = tn.simulate.calibrated(k, [1.0] * n_classes, rng=seeds)
    names = np.repeat(np.arange(k), rows)
    return y_true[names], y_prob[names], names


def test_variances_by_plain_sums() -> None:
    y_true, y_prob, names = copies(80, 7, 3, np.random.default_rng(1))
    tables = tables_of(y_true, y_prob, names)
    assert tables.cluster_sums_by_class is not None
    assert tables.by_class is not None
    found = clustered_events(tables.cluster_sums_by_class)
    squares, independent = np.zeros(3), np.zeros(3)
    degrees = np.zeros(3)
    for c in range(3):
        apart = (y_true == c) - y_prob[:, c]
        of_clusters = np.array([apart[names == k].sum() for k in range(80)])
        d = 2 * (of_clusters**2).sum() ** 2 / (of_clusters**4).sum()
        squares[c], degrees[c] = (of_clusters**2).sum() * d / (d - 2), d
        bins = np.ceil(y_prob[:, c] * 10 - 1e-9).astype(int)
        for m in range(1, 11):
            p = y_prob[bins == m, c]
            independent[c] += len(p) * p.mean() * (1 - p.mean()) if len(p) else 0.0
    together = squares.sum() / independent.sum()
    for c, noise in enumerate(found):
        assert noise.gap == pytest.approx(max(squares[c] / independent[c], together, 1.0))
        assert noise.bins.min() >= 1.0
        assert noise.gap > 3  # seven copies of each row
    assert degrees.min() > 4


def test_replicates_of_events_have_these_variances() -> None:
    y_true, y_prob, names = copies(300, 4, 4, np.random.default_rng(2))
    tables = tables_of(y_true, y_prob, names)
    sums, clusters = tables.cluster_sums_by_class, tables.clusters
    assert sums is not None
    assert clusters is not None
    identities = clusters.clusters.unit_identities
    (made,) = bootstrap_events([sums], BootstrapWeights(3, identities, 3000))
    assert made.gaps.shape == (3000, 4, 10)
    for c in range(4):
        apart, drawn = y_prob[:, c] - (y_true == c), made.gaps[:, c].sum(axis=1)
        # A share of the rows: the number of rows varies with the weights too.
        residuals = [(apart[names == k] - apart.mean()).sum() for k in range(300)]
        variance = sum(it**2 for it in residuals) / len(apart) ** 2
        assert drawn.var() == pytest.approx(variance, rel=6 * math.sqrt(2 / 3000) + 0.02)
        assert drawn.mean() == pytest.approx(apart.mean(), abs=5 * math.sqrt(variance / 3000) + 1e-3)
    (again,) = bootstrap_events([sums], BootstrapWeights(3, identities, 40))
    assert np.array_equal(again.gaps, made.gaps[:40])


def test_replicates_are_the_sums_with_weights_of_the_clusters() -> None:
    """Plain loops over rows, with the weights that the rank tables of the same clusters have."""
    y_true, y_prob, names = copies(20, 3, 3, np.random.default_rng(7))
    tables = tables_of(y_true, y_prob, names)
    assert tables.cluster_sums_by_class is not None
    assert tables.clusters is not None
    clusters = tables.clusters.clusters
    (made,) = bootstrap_events(
        [tables.cluster_sums_by_class], BootstrapWeights(5, clusters.unit_identities, 8)
    )
    weights = poisson_weights(5, clusters.unit_identities, 0, 8)
    assert clusters.names is not None
    place = {name: k for k, name in enumerate(clusters.names)}
    for b in range(8):
        total, gaps = 0.0, np.zeros((3, 10))
        for row, y in enumerate(y_true.tolist()):
            weight = float(weights[place[str(names[row])], b])
            total += weight
            for c in range(3):
                gaps[c, min(9, max(0, math.ceil(y_prob[row, c] * 10 - 1e-9) - 1))] += weight * (
                    y_prob[row, c] - (y == c)
                )
        assert made.gaps[b] == pytest.approx(gaps / total, abs=1e-12)


def test_independent_rows_have_no_inflation() -> None:
    """Rows of their own in each cluster: the ratio of variances is 1 to its error, √(2/2000), and at least 1."""
    y_true, y_prob = tn.simulate.calibrated(20_000, [1.0] * 3, rng=3)
    tables = tables_of(y_true, y_prob, np.arange(20_000) // 10)
    assert tables.cluster_sums_by_class is not None
    for noise in clustered_events(tables.cluster_sums_by_class):
        assert 1.0 <= noise.gap < 1 + 6 * math.sqrt(2 / 2000)
        assert 1.0 <= noise.spread < 1 + 12 * math.sqrt(2 / 2000)


def test_weighted_copies_are_clusters_of_copies() -> None:
    """A row of weight 5 has the noise of five copies in one cluster."""
    y_true, y_prob = tn.simulate.calibrated(400, [1.0] * 3, rng=4)
    names = np.arange(400)
    weighted = tables_of(y_true, y_prob, names, np.full(400, 5.0))
    repeated = tables_of(np.repeat(y_true, 5), np.repeat(y_prob, 5, axis=0), np.repeat(names, 5))
    for tables, times in ((weighted, 25.0), (repeated, 5.0)):
        assert tables.by_class is not None
        assert tables.cluster_sums_by_class is not None
        square = tables.by_class.coarsen(10).weight_square_sum
        noises = clustered_events(tables.cluster_sums_by_class, square)
        cells = event_cells(tables.by_class)
        for noise, own in zip(noises, cells, strict=True):
            effective = float(noise.of_gap(own).variance.sum()) / float(
                (own.count * own.mean_predicted).sum()
            )
            assert effective == pytest.approx(5.0 * 0.66, rel=0.35), times


def test_size_of_the_classes() -> None:
    """40 clusters of ten copies: without clusters= some class is called in most runs, with it in few.

    0.10 is allowed for so few clusters, and four errors of 60 runs.
    """
    runs, seeds, called = 60, np.random.default_rng(5), []
    for _ in range(runs):
        y_true, y_prob, names = copies(40, 10, 5, seeds)
        both = [
            tn.assess(y_true, y_prob, bins=4, resamples=39, rng=0, **how) for how in ({}, {"clusters": names})
        ]
        classes = [result.classes for result in both]
        called.append([it.evidence_p_value <= 0.05 for it in classes if it is not None])
    plain, aware = np.mean(called, axis=0)
    assert plain > 0.5
    assert aware <= 0.10 + 4 * math.sqrt(0.1 * 0.9 / runs)


def test_too_many_classes_for_clusters() -> None:
    """The classes are left out, with a warning; everything else is there."""
    y_true, y_prob = tn.simulate.calibrated(700, [1.0] * 70, rng=0)
    result = tn.assess(y_true, y_prob, clusters=np.arange(700) // 10, resamples=39, rng=0)
    assert result.classes is None
    assert "clusters-without-classes" in {caution.code for caution in result.warnings}
    assert result.to_dict()["cwece_reason"] == "with clusters at most 64 classes are assessed"
    few = tn.assess(
        y_true % 3, y_prob[:, :3] / y_prob[:, :3].sum(axis=1, keepdims=True), clusters=np.arange(700) // 10
    )
    assert few.classes is not None
    assert "clusters-without-classes" not in {caution.code for caution in few.warnings}


class TestCoxFit:
    """The slope of Cox's regression of rows in clusters, with certain predictions that are wrong."""

    K, M = 150, 8

    def rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Answers to questions, eight of each, with stated confidences in tenths, some of them 1."""
        rng = np.random.default_rng(0)
        ability = rng.beta(3, 1.2, self.K)
        stated = np.round(ability.repeat(self.M) + rng.choice([0, 0.1, -0.1], self.K * self.M), 1)
        right = rng.random(self.K * self.M) < np.clip(ability - 0.1, 0.02, 0.95).repeat(self.M)
        return right.astype(int), np.clip(stated, 0, 1), np.arange(self.K).repeat(self.M)

    def test_standard_errors_are_those_of_a_bootstrap_of_clusters(self) -> None:
        y, p, names = self.rows()
        assert ((p == 1) & (y == 0)).any()
        cox = tn.assess_event(y, p, clusters=names, rng=0).cox
        rng, seen = np.random.default_rng(1), []
        for _ in range(200):
            rows = (rng.integers(0, self.K, self.K)[:, None] * self.M + np.arange(self.M)).ravel()
            (cells,) = event_cells(tn.tabulate_events(y[rows], p[rows], grid="event"))
            fit = cox_fit(cells, 0.95)
            seen.append([fit.slope.value, fit.intercept.value, fit.intercept_at_slope_1.value])
        got = [it.standard_error for it in (cox.slope, cox.intercept, cox.intercept_at_slope_1)]
        # 200 replicates have an error of 5 %; bins of clusters stand for their rows.
        np.testing.assert_allclose(got, np.std(seen, axis=0), rtol=0.2)

    def test_clusters_of_one_row_are_no_clusters(self) -> None:
        y, p, _ = self.rows()
        alone, single = (tn.assess_event(y, p, clusters=it, rng=0).cox for it in (None, np.arange(len(y))))
        assert single.slope.standard_error == pytest.approx(alone.slope.standard_error, rel=0.1)


def test_opposite_errors_by_loops() -> None:
    """Gaps that are within noise in both models have the signs of their difference, others those of the table."""
    rng = np.random.default_rng(3)
    n, size = 12, 40
    first, second = (
        GapNoise(rng.normal(0, 2, n), rng.uniform(0.3, 2, n), rng.normal(0, 1, (size, n))) for _ in range(2)
    )
    wanted = np.zeros(size)
    for b in range(size):
        for k in range(n):
            a_sign, b_sign = math.copysign(1, first.gap[k]), math.copysign(1, second.gap[k])
            clear = any(abs(it.gap[k]) >= 2.5 * it.sd[k] for it in (first, second))
            if not clear:
                b_sign = 1.0 if second.gap[k] > first.gap[k] else -1.0
                a_sign = -b_sign
            wanted[b] += a_sign * first.noise[b, k] - b_sign * second.noise[b, k]
    np.testing.assert_allclose(first.opposite_errors(second), wanted, atol=1e-12)
