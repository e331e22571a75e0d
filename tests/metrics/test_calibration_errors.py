"""Metrics of rows and of tables are the same numbers; gaps broadcast over any axes in front."""

import inspect
import math
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness.metrics import ecd, gaps
from trueness.table import EventBins, RankBins, Table
from trueness.today import TableOptions, read, tabulate_rows

METRICS = {
    "vce": tn.vce,
    "ece": tn.ece,
    "uce": tn.uce,
    "rce": tn.rce,
    "cwece": tn.cwece,
    "ecd": ecd,
}


def rows(n: int = 400, c: int = 3) -> tuple[Any, Any]:
    y_true, y_prob = tn.simulate.calibrated(n, [1] * c, rng=c)
    return y_true, tn.simulate.sharpen(y_prob, 1.5)


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("kind", ["plain", "weights", "groups and clusters", "two classes"])
def test_a_table_gives_the_number_of_its_rows(name: str, kind: str) -> None:
    y, p = rows(c=2 if kind == "two classes" else 3)
    how = {"sample_weight": np.arange(400) % 3} if kind == "weights" else {}
    names = {"groups": np.arange(400) % 4, "clusters": np.arange(400) % 40}
    table = tabulate_rows(read(y, p, **how, **(names if "groups" in kind else {})))
    assert METRICS[name](table) == pytest.approx(METRICS[name](y, p, **how), rel=1e-12)


def test_todays_tables_give_the_same_numbers() -> None:
    y, p = rows()
    assert tn.vce(tn.tabulate(y, p)) == tn.vce(y, p)
    lists = [[0.9, 0.1], [0.2, 0.3, 0.5], [0.25] * 4, [0.6, 0.4]]
    assert tn.vce(tn.tabulate([0, 2, 1, 1], lists)) == tn.vce([0, 2, 1, 1], lists)


def test_options_of_rows_are_no_options_of_a_table() -> None:
    y, p = rows()
    table = tabulate_rows(read(y, p))
    for how in ({"ties": "split"}, {"bins": 20}, {"variation": "iqv"}, {"from_logits": True}):
        with pytest.raises(tn.Refusal, match="made with its own"):
            tn.vce(table, **how)
    with pytest.raises(tn.Refusal, match="is not a table but"):
        tn.vce(y)
    with pytest.raises(tn.Refusal, match="bins of entropy"):
        tn.uce(tabulate_rows(read(y, p), TableOptions("iqv")))
    with pytest.raises(tn.Refusal, match="no sums of classes"):
        tn.cwece(tabulate_rows(read(y, p), TableOptions(by_class=False)))


@pytest.mark.parametrize("metric", METRICS.values())
def test_without_rows_there_is_no_error(metric: Any) -> None:
    table = tabulate_rows(read(*rows()))
    with pytest.raises(tn.Refusal, match="without rows"):
        metric(Table.empty(table.spec))


def test_a_table_by_one_measure_has_no_ece() -> None:
    with pytest.raises(tn.Refusal, match="no bins of the largest probability"):
        tn.ece(tn.tabulate(*rows()))


def test_the_signature_has_all_options() -> None:
    for metric in METRICS.values():
        names = list(inspect.signature(metric).parameters)
        assert names[:2] == ["y_true", "y_prob"]
        assert {"ties", "sample_weight", "from_logits", "classes", "ignore_index"} < {*names}
        assert all(f"{name}" in (metric.__doc__ or "") for name in names)


def test_the_entropic_calibration_difference() -> None:
    y, p = rows()
    by_hand = np.mean(
        [-math.log(row[k]) + sum(x * math.log(x) for x in row) for k, row in zip(y, p, strict=True)]
    )
    assert ecd(y, p) == pytest.approx(by_hand, abs=1e-11)
    assert ecd([1], [[1.0, 0.0]]) == math.inf


class TestGaps:
    def bins(self, *lead: int) -> RankBins:
        rng = np.random.default_rng(0)
        n = rng.integers(0, 5, (*lead, 2, 4)).astype(float)
        q = -np.sort(-rng.dirichlet(np.ones(3), (*lead, 2, 4)), axis=-1)
        q[..., 0, :, 2] = 0.0
        q /= q.sum(axis=-1, keepdims=True)
        r = rng.dirichlet(np.ones(3), (*lead, 2, 4)) * [[[1, 1, 0]], [[1, 1, 1]]]
        r /= r.sum(axis=-1, keepdims=True)
        return RankBins(n, q * n[..., None], r * n[..., None], (2, 3))

    @pytest.mark.parametrize("variation", ["entropy", "confidence", "iqv"])
    def test_axes_in_front_are_each_on_its_own(self, variation: str) -> None:
        measure, bins = tn.variations[variation], self.bins(5, 2)
        together = gaps.variation_gap(bins, measure), gaps.rank_distance(bins, "w1")
        for i in np.ndindex(5, 2):
            own = RankBins(*(each[i] for each in bins[:3]), bins.options)
            alone = gaps.variation_gap(own, measure), gaps.rank_distance(own, "w1")
            for all_of, one in zip(together, alone, strict=True):
                assert np.array_equal(all_of[i], one, equal_nan=True)

    def test_they_are_averages_over_numbers_of_options(self) -> None:
        bins, measure = self.bins(), tn.variations["entropy"]
        found = gaps.variation_gap(bins, measure)
        for m in range(4):
            n = bins.rows[:, m]
            if not n.sum():
                assert np.isnan(found[m])
                continue
            parts = [
                n[s]
                * (
                    measure(bins.observed[s, m, :c] / n[s])
                    - measure(bins.predicted[s, m, :c] / n[s])
                )
                for s, c in enumerate(bins.options)
                if n[s]
            ]
            assert found[m] == pytest.approx(sum(parts) / n.sum())

    def test_signed_parts_add_to_the_error(self) -> None:
        bins = self.bins(3)
        gap, n = gaps.variation_gap(bins, tn.variations["entropy"]), bins.rows.sum(axis=-2)
        over, under, net = gaps.signed_parts(n, gap)
        assert over + under == pytest.approx(gaps.norm(n, gap))
        assert over - under == pytest.approx(net)

    def test_events(self) -> None:
        bins = EventBins(np.array([[4.0, 0.0]]), np.array([[1.0, 0.0]]), np.array([[3.0, 0.0]]))
        gap = gaps.event_gap(bins)
        assert gap[0, 0] == -0.5
        assert np.isnan(gap[0, 1])
        assert gaps.norm(bins.rows, gap).tolist() == [0.5]
        assert gaps.norm(bins.rows, gap, "max").tolist() == [0.5]
