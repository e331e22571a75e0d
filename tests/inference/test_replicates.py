"""Bootstrap replicates of tables: each is the table of the drawn clusters, to the last bit in any order."""

from typing import Any

import numpy as np
import pytest
from assessment_data import Y_PROB, Y_TRUE

import trueness as tn
from trueness.old_inference.bootstrap_weights import DRAWN_AT_A_TIME, BootstrapWeights, poisson_weights
from trueness.old_inference.replicates import Replicates, bootstrap, on_grid
from trueness.old_table.tables import Tables
from trueness.rows import Rows
from trueness.rows.clusters import clusters_of_rows
from trueness.tabulation.clusters import tabulate_clusters

NAMES = np.arange(1200) % 40


def summed(
    names: Any, which: Any = slice(None), y_prob: Any = Y_PROB, weight: Any = None, **how: Any
) -> Tables:
    table = tn.tabulate(Y_TRUE, y_prob, sample_weight=weight, **how)
    some = None if weight is None else weight[which]
    rows = Rows.of(Y_TRUE[which], np.ascontiguousarray(y_prob[which]), some)
    return tabulate_clusters(rows, [table.spec], clusters_of_rows(names[which], rows.n_rows))


def replicates_of(tables: Tables, key: int = 3, resamples: int = 20) -> Replicates:
    assert tables.clusters is not None
    weights = BootstrapWeights(key, tables.clusters.clusters.unit_identities, resamples)
    return bootstrap(tables.clusters.of_tables, weights)[0]


def weights_of(names: Any, key: int = 3, resamples: int = 20) -> np.ndarray:
    found = clusters_of_rows(names, len(names))
    return poisson_weights(key, found.identities, 0, resamples)[found.codes]


def test_a_replicate_is_the_table_of_the_rows_repeated_as_often_as_their_weights_say() -> None:
    made, weights, bins = replicates_of(summed(NAMES)), weights_of(NAMES), tn.tabulate(Y_TRUE, Y_PROB).bins
    for k in (0, 7, 19):
        again = tn.tabulate(
            np.repeat(Y_TRUE, weights[:, k]), np.repeat(Y_PROB, weights[:, k], axis=0), bins=bins
        )
        np.testing.assert_allclose(made.ordered[..., k], again.ordered_sum, atol=1e-11)
        assert np.array_equal(made.rank[..., k], again.rank_count)
        assert again.log_scores is not None
        assert made.log_score[k] == pytest.approx(again.log_scores.score.sum(), abs=1e-8)
        assert made.log_score[k] == pytest.approx(again.log_score_sum)


def test_split_ties_and_weights_in_replicates() -> None:
    rounded = np.round(Y_PROB, 1)
    rounded /= rounded.sum(axis=1, keepdims=True)
    weight, names = (np.arange(1200) % 3).astype(float), np.arange(1200) // 10  # zeros among the weights
    made = replicates_of(summed(names, y_prob=rounded, weight=weight, ties="split"))
    drawn = weights_of(names)
    bins = tn.tabulate(Y_TRUE, rounded, ties="split", sample_weight=weight).bins
    again = tn.tabulate(Y_TRUE, rounded, ties="split", sample_weight=weight * drawn[:, 2], bins=bins)
    np.testing.assert_allclose(made.rank[..., 2], again.rank_count, atol=1e-9)
    np.testing.assert_allclose(made.ordered[..., 2], again.ordered_sum, atol=1e-9)


def test_the_bits_do_not_depend_on_the_order_and_the_split_of_rows() -> None:
    whole = replicates_of(summed(NAMES))
    order = np.random.default_rng(0).permutation(1200)
    for parts in ([order], [order[:500], order[500:]], [np.arange(600, 1200), np.arange(600)]):
        tables = [summed(NAMES, part) for part in parts]
        again = replicates_of(sum(tables[1:], tables[0]))
        assert np.array_equal(again.sums, whole.sums)
        assert np.array_equal(again.log_score, whole.log_score)


def test_products_are_exact_in_any_order_of_summation() -> None:
    """Matrix products add in an order that depends on threads and processor; reversed clusters stand for these."""
    values = on_grid(np.random.default_rng(1).normal(size=(3000, 7)) ** 3 * 1e5)
    weights = poisson_weights(9, np.arange(3000, dtype=np.uint64), 0, 30).T.astype(float)
    forward, backward = weights @ values, weights[:, ::-1].copy() @ values[::-1].copy()
    assert np.array_equal(forward, backward)
    exact = [sum(int(w) * int(v) for w, v in zip(weights[4], values[:, 2] * 2**24, strict=True))]
    assert forward[4, 2] * 2**24 == exact[0]


def test_more_replicates_begin_with_the_same_ones() -> None:
    tables = summed(NAMES)
    few, many = (replicates_of(tables, resamples=n) for n in (40, DRAWN_AT_A_TIME + 40))
    assert np.array_equal(many.sums[..., :40], few.sums)
    other = replicates_of(tables, key=4, resamples=40)
    assert (other.sums != few.sums).any()


def test_mean_and_variance_of_replicates() -> None:
    """The mean of the replicates is the table, and their variance Σ S_k² over clusters, to their own error."""
    tables, resamples = summed(np.arange(1200) // 3), 4000
    made, table = replicates_of(tables, resamples=resamples), tables.by_variation
    assert tables.clusters is not None
    sums = tables.clusters.of_tables[0]
    first = sums.sums.rank.value[:, 0]  # type: ignore[union-attr]
    variance = np.bincount(sums.bins, first**2, table.n_bins)
    seen = made.rank[:, 0]
    error = np.sqrt(variance / resamples)
    assert (np.abs(seen.mean(axis=1) - table.rank_count[:, 0]) <= 5 * error + 1e-12).all()
    np.testing.assert_allclose(seen.var(axis=1), variance, rtol=6 * np.sqrt(2 / resamples), atol=1e-12)
