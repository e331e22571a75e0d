"""Rows in clusters: the size of the tests, bootstrap replicates, and groups of clusters."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from assessment_data import SITE, Y_PROB, Y_TRUE, codes

import trueness as tn
from trueness.old_table.tables import Tables


def in_clusters(k: int, rows: int, kind: str, seeds: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Calibrated rows of K clusters that share p and all or half of their labels."""
    y_true, y_prob = tn.simulate.calibrated(k, [1.0] * 3, rng=seeds)
    names = np.repeat(np.arange(k), rows)
    y_true, y_prob = y_true[names], y_prob[names]
    if kind == "correlated":
        anew = tn.simulate.draw_labels(y_prob, seeds)
        y_true = np.where(seeds.random(len(names)) < 0.5, anew, y_true)
    return y_true, y_prob, names


class TestClusters:
    @pytest.mark.parametrize("kind", ["copies", "correlated"])
    def test_size(self, kind: str) -> None:
        """150 clusters of 8 rows: without clusters= most calibrated runs are called miscalibrated, with it few are.

        The bootstrap's own size is .05 only for many clusters; .10 is allowed, and four errors of 60 runs, .155.
        """
        runs, seeds = 60, np.random.default_rng(44)
        naive, aware, covered = [], [], []
        for _ in range(runs):
            y_true, y_prob, names = in_clusters(150, 8, kind, seeds)
            naive.append(tn.assess(y_true, y_prob, bins=tn.EqualMass(5), resamples=99, rng=seeds).p_value)
            result = tn.assess(y_true, y_prob, bins=tn.EqualMass(5), resamples=99, rng=seeds, clusters=names)
            aware.append([result.p_value, result.log_score_z.p_value])
            covered.append(result.net.interval.low <= 0 <= result.net.interval.high)
            assert result.n_clusters == 150
        assert np.mean(np.array(naive) <= 0.05) > (0.5 if kind == "copies" else 0.15)
        allowed = 0.10 + 4 * math.sqrt(0.1 * 0.9 / runs)
        assert (np.mean(np.array(aware) <= 0.05, axis=0) <= allowed).all()
        assert np.mean(covered) >= 0.88 - 4 * math.sqrt(0.88 * 0.12 / runs)

    def test_size_with_few_clusters_and_many_classes(self) -> None:
        """30 clusters of 20 copies, ten classes, five bins: six different rows in each. Up to .15 and four errors."""
        runs, seeds, seen = 40, np.random.default_rng(45), []
        for _ in range(runs):
            y_true, y_prob = tn.simulate.calibrated(30, [1.0] * 10, rng=seeds)
            names = np.repeat(np.arange(30), 20)
            result = tn.assess(
                y_true[names], y_prob[names], bins=tn.EqualMass(5), resamples=99, rng=seeds, clusters=names
            )
            seen.append(result.p_value)
        assert np.mean(np.array(seen) <= 0.05) <= 0.15 + 4 * math.sqrt(0.15 * 0.85 / runs)

    def test_size_where_bins_err_together(self) -> None:
        """Predictions of their own, and labels at the cluster's quantile of the ranks in half of the rows."""
        runs, seeds, seen = 80, np.random.default_rng(46), []
        names = np.repeat(np.arange(60), 10)
        for _ in range(runs):
            y_prob = -np.sort(-seeds.dirichlet([1.0] * 10, len(names)), axis=1)
            own, shared = seeds.random(len(names)), seeds.random(60)[names]
            level = np.where(seeds.random(len(names)) < 0.5, shared, own)
            y_true = np.argmax(np.cumsum(y_prob, axis=1) > level[:, None] * (1 - 1e-12), axis=1)
            both = [
                tn.assess(y_true, y_prob, bins=tn.EqualMass(5), resamples=99, rng=seeds, **how)
                for how in ({}, {"clusters": names})
            ]
            seen.append([p for result in both for p in (result.p_value, result.log_score_z.p_value)])
        plain, plain_z, aware, aware_z = np.mean(np.array(seen) <= 0.05, axis=0)
        four = 4 * math.sqrt(0.1 * 0.9 / runs)
        assert max(aware, aware_z) <= 0.1 + four, (aware, aware_z)
        assert min(plain, plain_z) > 0.12, (plain, plain_z)

    def test_single_rows_as_clusters_give_about_the_same(self) -> None:
        """The noise of a bootstrap over single rows is that of the multinomial null, to its own error, about 10 %."""
        y_true, y_prob = tn.simulate.calibrated(2000, [1.0] * 3, rng=5)
        plain = tn.assess(y_true, y_prob, bins=tn.EqualMass(5), rng=1)
        single = tn.assess(y_true, y_prob, bins=tn.EqualMass(5), rng=1, clusters=np.arange(2000))
        widths = [r.net.interval.high - r.net.interval.low for r in (plain, single)]
        assert widths[1] == pytest.approx(widths[0], rel=0.25)
        assert single.vce.noise_floor == pytest.approx(plain.vce.noise_floor, rel=0.15)
        assert single.log_score_z.value == pytest.approx(plain.log_score_z.value, rel=0.1)

    def test_order_of_rows_does_not_matter(self) -> None:
        names = np.arange(1200) // 6
        order = np.random.default_rng(9).permutation(1200)
        straight, mixed = (
            tn.assess(Y_TRUE[o], Y_PROB[o], clusters=names[o], rng=3, resamples=99)
            for o in (np.arange(1200), order)
        )
        assert mixed == straight

    def test_tables_with_clusters_give_the_same_numbers_later(self, tmp_path: Path) -> None:
        """Saved in two parts, with clusters spread over both, added, and assessed."""
        names, parts = np.arange(1200) % 150, (slice(0, 700), slice(700, 1200))
        at_once = tn.assess(Y_TRUE, Y_PROB, clusters=names, rng=3, resamples=99)
        assert tn.assess_table(at_once.tables, rng=3, resamples=99) == at_once
        for number, part in enumerate(parts):
            result = tn.assess(Y_TRUE[part], Y_PROB[part], clusters=names[part], rng=3, resamples=99)
            result.tables.save(tmp_path / f"{number}.json")
        first, second = (Tables.load(tmp_path / f"{number}.json") for number in range(2))
        assert tn.assess_table(second + first, rng=3, resamples=99) == at_once

    def test_groups_of_clusters(self) -> None:
        """A group's clusters have the weights they have among all rows, so that it is as if assessed alone."""
        names = np.arange(1200) // 4
        whole = tn.assess(Y_TRUE, Y_PROB, groups=SITE, clusters=names, rng=3, resamples=99)
        plain = tn.assess(Y_TRUE, Y_PROB, clusters=names, rng=3, resamples=99)
        assert replace(whole, groups=()) == plain
        assert whole.n_clusters == plain.n_clusters == 300
        north = next(group for group in whole.groups if group.name == "north")
        assert north.assessment is not None
        assert north.assessment.n_clusters == len(set(names[SITE == "north"]))

    def test_few_clusters_give_a_warning(self) -> None:
        result = tn.assess(Y_TRUE, Y_PROB, clusters=np.arange(1200) % 20, rng=0, resamples=99)
        assert "few-clusters" in codes(result)
        assert "20 clusters" in str(result)
        assert "few-clusters" not in codes(
            tn.assess(Y_TRUE, Y_PROB, clusters=np.arange(1200) % 40, rng=0, resamples=99)
        )
