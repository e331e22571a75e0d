"""What inference reads off a table, against loops over the rows."""

import math

import numpy as np
import pytest

from new_inference.rows import (
    calibrated,
    labels,
    log_scores,
    patients,
    residuals,
    sample_of,
    sharpened,
    table_of,
)
from trueness.inference.sample import Sample
from trueness.refusals import Refusal


def design_effect(e: np.ndarray, clusters: np.ndarray) -> float:
    """D as statistics.md writes it, by loops over clusters and rows."""
    sizes = np.bincount(clusters)
    n, mean = len(e), e.mean(axis=0)
    k = n**2 / (sizes**2).sum()
    d, most = max(k - 1, 3), (sizes**2).sum() / n
    apart = sum(
        ((e[clusters == u].sum(axis=0) - sizes[u] * mean) ** 2).sum() for u in range(len(sizes))
    )
    found = min(max(apart / ((e - mean) ** 2).sum() * k / (k - 1), 1), most)
    return min(found * d / (d - 2), most) if found > 1 else 1.0


@pytest.mark.parametrize("size", [1, 4, 20])
def test_design_effect_is_that_of_the_rows(size: int) -> None:
    rng = np.random.default_rng(size)
    y, p = calibrated(600 // size, [1.0] * 3, rng)
    one = np.repeat(np.arange(600 // size), size)
    half = rng.random(len(one)) < 0.5  # half of the rows have a label of their own
    y, p = np.where(half, labels(p[one], rng), y[one]), p[one]
    design = sample_of(y, p, clusters=one).design
    assert not design.rare
    assert design.effect == pytest.approx(design_effect(residuals(y, p), one), rel=1e-9)
    assert design.clusters == pytest.approx(600 // size)


def test_copies_are_worth_one_row_each() -> None:
    y, p = calibrated(200, [1.0] * 3, np.random.default_rng(0))
    one = np.repeat(np.arange(200), 20)
    it = sample_of(y[one], p[one], clusters=one)
    assert it.design.effect == pytest.approx(20, rel=0.03)
    assert it.n_effective == pytest.approx(200, rel=0.03)


def test_a_clear_error_is_not_clumping() -> None:
    rng = np.random.default_rng(1)
    y, p = calibrated(1200, [1.0] * 3, rng)
    one = np.arange(1200) // 100
    effects = [sample_of(y, sharpened(p, a), clusters=one).design.effect for a in (1.0, 3.0)]
    assert max(effects) < 2.5


def test_effect_of_a_statistic_is_not_below_that_of_the_ranks() -> None:
    rng = np.random.default_rng(2)
    y, p = calibrated(60, [1.0] * 3, rng)
    one = np.repeat(np.arange(60), 10)
    y, p = y[one], p[one]
    it = sample_of(y, p, clusters=one)
    assert it.units is not None
    scores, variances = log_scores(y, p)
    by_cluster = np.bincount(one, scores)
    assert np.sort(it.units.score.sum(axis=1)) == pytest.approx(np.sort(by_cluster))
    d = it.design.clusters - 1
    own = (by_cluster**2).sum() / variances.sum() * d / (d - 2)
    expected = max(it.design.clustering, min(own, it.design.most))
    assert float(it.effect(by_cluster, variances.sum())) == pytest.approx(expected)


def test_rare_classes_that_clusters_share_are_not_independent_rows() -> None:
    rng = np.random.default_rng(3)
    y, p, one = patients(100, 20, 0.01, rng)
    few = sample_of(y, p, clusters=one).design
    assert few.rare == (0,)  # the one event of two classes
    assert few.effect == few.most == 20
    y, p, one = patients(400, 20, 0.2, rng)
    many = sample_of(y, p, clusters=one).design
    assert many.rare == ()
    assert many.effect == pytest.approx(20, rel=0.1)


def test_rare_class_among_others_raises_the_effect_by_its_share() -> None:
    rng = np.random.default_rng(4)
    one = np.repeat(np.arange(50), 20)
    p = np.hstack([rng.dirichlet([1.0] * 4, 1000) * 0.98, np.full((1000, 1), 0.02)])
    y = np.where(np.isin(one, [3, 17]), 4, labels(p[:, :4] / 0.98, rng))
    it = sample_of(y, p, clusters=one)
    assert it.design.rare == (4,)
    assert it.design.rare_effect == it.design.most == 20
    assert 1 < it.design.effect < 3
    effects = it.class_effects()
    assert effects[4] == 20
    assert effects[:4].max() < 3


def test_weights_and_soft_labels() -> None:
    rng = np.random.default_rng(5)
    y, p = calibrated(2000, [1.0] * 3, rng)
    w = np.exp(rng.standard_normal(2000))
    it = sample_of(y, p, sample_weight=w)
    assert it.n_effective == pytest.approx(w.sum() ** 2 / (w**2).sum())
    assert it.strata[0].rows.sum() <= 2000
    assert not it.is_plain
    scores, variances = log_scores(y, p)
    assert it.score.sum() == pytest.approx((w * scores).sum())
    assert it.score_variance.sum() == pytest.approx((w**2 * variances).sum())
    votes = rng.multinomial(5, p) / 5
    soft = sample_of(votes, p, soft_labels=True)
    assert soft.design.effect == pytest.approx(0.2, rel=0.05)
    hard = sample_of(np.eye(3)[y], p, soft_labels=True)
    assert hard.design.effect == 1.0
    assert hard.is_plain


def test_five_votes_of_the_design_page() -> None:
    p = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.5, 0.3, 0.2], [0.79, 0.15, 0.06]])
    s = np.array([[2, 1, 0], [3, 0, 0], [1, 1, 1], [0, 2, 1]]) / 3
    e = np.array([[x for _, x in sorted(zip(-p[i], s[i] - p[i], strict=True))] for i in range(4)])
    mean = e.mean(axis=0)
    expected = ((e**2).sum() - 4 * (mean**2).sum()) / (4 - (p**2).sum())
    assert sample_of(s, p, bins=1, soft_labels=True).design.effect == pytest.approx(expected)


def test_groups_and_numbers_of_options() -> None:
    rng = np.random.default_rng(6)
    y, p = calibrated(300, [1.0] * 3, rng)
    table = table_of(y, p, groups=np.where(np.arange(300) < 100, "a", "b"))
    alone = sample_of(y[:100], p[:100])
    group = Sample.of(table, group="a")
    assert group.score == pytest.approx(alone.score)
    assert np.array_equal(group.ranks.rows, alone.ranks.rows)
    assert Sample.of(table).totals.n_rows == 300
    rows = [
        row[:k] / row[:k].sum()
        for row, k in zip(p, np.where(np.arange(300) % 2, 2, 3), strict=True)
    ]
    options = sample_of(np.minimum(y, [len(row) - 1 for row in rows]), rows)
    assert options.ranks.options == (2, 3)
    assert [stratum.predicted.shape[1] for stratum in options.strata] == [2, 3]
    assert sum(stratum.weight.sum() for stratum in options.strata) == 300
    assert options.classes is None


def test_no_interval_with_few_clusters_or_rows() -> None:
    rng = np.random.default_rng(7)
    y, p = calibrated(1000, [1.0] * 3, rng)
    assert sample_of(y, p).without_interval() is None
    assert "29 effective rows; at least 30" in (sample_of(y[:29], p[:29]).without_interval() or "")
    few = sample_of(y, p, clusters=np.arange(1000) % 7)
    assert "7 effective clusters" in (few.without_interval() or "")


def test_rows_dealt_into_blocks_are_independent() -> None:
    y, p = calibrated(3000, [1.0] * 3, np.random.default_rng(8))
    dealt = sample_of(y, p, clusters="rows")
    assert dealt.units is not None
    assert dealt.units.score.shape == (256, 10)
    assert dealt.is_plain
    assert dealt.rank_effects()[1] == pytest.approx(np.ones(2))


def test_a_table_without_rows_is_refused() -> None:
    table = table_of([0, 1], [[0.5, 0.5], [0.4, 0.6]])
    with pytest.raises(Refusal, match="without rows"):
        Sample.of(type(table).empty(table.spec))


def test_impossible_rows_are_counted_and_left_out() -> None:
    it = sample_of([0, 1, 0], [[1.0, 0.0], [1.0, 0.0], [0.6, 0.4]])
    assert it.totals.impossible == 1
    assert math.isinf(it.totals.log_loss)
    scores, variances = log_scores(np.array([0]), np.array([[0.6, 0.4]]))
    assert it.score.sum() == pytest.approx(scores.sum())
    assert it.score_variance.sum() == pytest.approx(variances.sum())
