"""The spread of the net gap between clusters: zero if there is none, recovered if there is, and who is furthest off."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import trueness as tn
from trueness.old_assessment.cluster_text import MOST_CLUSTERS
from trueness.old_inference.cluster_spread import DEALT


def rows_of(n_clusters: int, per_cluster: int, spread: float, seed: int) -> tuple[np.ndarray, ...]:
    """Clusters whose predictions are sharpened or blunted, each by its own power exp(N(0, spread²))."""
    stream = np.random.default_rng(seed)
    y_true, y_prob = tn.simulate.calibrated(n_clusters * per_cluster, [1.0] * 3, rng=seed)
    names = np.repeat(np.arange(n_clusters), per_cluster)
    power = np.exp(spread * stream.standard_normal(n_clusters))
    sharp = y_prob ** power[names][:, None]
    return y_true, sharp / sharp.sum(axis=1, keepdims=True), names, power


@pytest.mark.parametrize("power", [1.0, 1.5, 0.7])
def test_no_spread(power: float) -> None:
    """The share of runs in which independent rows show a spread at 5 %: four errors of 60 runs, and a little.

    So it is for a model that is over-confident or under-confident in all clusters alike.
    """
    found = []
    for seed in range(60):
        y_true, y_prob, names, _ = rows_of(40, 30, 0.0, seed)
        y_prob = tn.simulate.sharpen(y_prob, power)
        result = tn.assess(y_true, y_prob, clusters=names, resamples=39)
        spread = result.cluster_spread
        assert spread is not None
        found.append([spread.p_value <= 0.05, spread.sd])
    rejected, sd = np.mean(found, axis=0)
    assert rejected <= 0.06 + 4 * math.sqrt(0.05 * 0.95 / 60)
    assert sd < 0.03 * max(power, 1.0)  # the noise of an over-confident model is larger


def test_the_spread_is_that_of_the_gaps_of_long_clusters() -> None:
    """With 4000 rows in each cluster its own net gap is known to .01; the sd of these is what is estimated."""
    y_true, y_prob, names, power = rows_of(30, 4000, 0.3, 1)
    result = tn.assess(y_true, y_prob, clusters=names, resamples=39)
    spread = result.cluster_spread
    assert spread is not None
    gaps = [
        float(tn.assess(y_true[names == k], y_prob[names == k], resamples=39).net.debiased) for k in range(30)
    ]
    assert spread.sd == pytest.approx(np.std(gaps), rel=0.2)
    assert spread.p_value < 1e-6
    by_name = {int(it.name): it for it in spread.clusters}
    assert np.corrcoef([by_name[k].gap for k in range(30)], gaps)[0, 1] > 0.98
    furthest = int(spread.clusters[0].name)
    assert abs(math.log(power[furthest])) > np.quantile(np.abs(np.log(power)), 0.8)
    sizes = [abs(it.shrunk) for it in spread.clusters]
    assert sizes == sorted(sizes, reverse=True)


def test_the_mean_over_clusters_is_the_net_gap_to_first_order() -> None:
    y_true, y_prob, names, _ = rows_of(50, 200, 0.0, 2)
    result = tn.assess(y_true, tn.simulate.sharpen(y_prob, 1.05), clusters=names, resamples=39)
    spread = result.cluster_spread
    assert spread is not None
    weighted = sum(it.gap * it.n_rows for it in spread.clusters) / result.n_rows
    assert weighted == pytest.approx(result.net.debiased, abs=0.01)


def test_small_clusters_are_drawn_to_the_mean() -> None:
    y_true, y_prob, names, _ = rows_of(60, 100, 0.4, 3)
    few = names.copy()
    few[names == 0] = np.where(np.arange(100) < 5, 0, 1)  # five rows are left to the first cluster
    spread = tn.assess(y_true, y_prob, clusters=few, resamples=39).cluster_spread
    assert spread is not None
    small = next(it for it in spread.clusters if it.name == "0")
    assert small.n_rows == 5
    assert abs(small.shrunk - spread.mean) < abs(small.gap - spread.mean)
    wide = small.interval.high - small.interval.low
    assert wide > max(it.interval.high - it.interval.low for it in spread.clusters if it.n_rows >= 100)


def test_in_text_json_and_report(tmp_path: Path) -> None:
    y_true, y_prob, names, _ = rows_of(20, 200, 0.5, 4)
    result = tn.assess(y_true, y_prob, clusters=[f"image {k}" for k in names], resamples=39)
    spread = result.cluster_spread
    assert spread is not None
    page = str(result)
    assert f"standard deviation of {spread.sd:.4f}" in page
    assert spread.clusters[0].name in page
    content = json.loads(json.dumps(result.to_dict()))["cluster_spread"]
    assert content["sd"] == spread.sd
    assert len(content["clusters"]) == MOST_CLUSTERS
    result.write_html(tmp_path / "report.html")
    report = (tmp_path / "report.html").read_text()
    assert "Clusters that are furthest off" in report
    assert f">{spread.clusters[0].name}<" in report
    assert json.loads(json.dumps(tn.assess(y_true, y_prob, resamples=39).to_dict()))["cluster_spread"] is None


def test_clusters_in_blocks_have_no_names() -> None:
    y_true, y_prob = tn.simulate.calibrated(9000, [1.0] * 3, rng=5)
    result = tn.assess(y_true, y_prob, clusters=np.arange(9000) // 2, resamples=39)
    spread = result.cluster_spread
    assert spread is not None
    assert math.isnan(spread.sd)
    assert spread.reason == DEALT
    assert "between clusters" not in str(result)
