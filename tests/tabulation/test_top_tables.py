"""Tables of the k largest of many classes: vectors, laws, bounds, files, refusals."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import top_oracle as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from top_rows import complete_rows, lists_of

import trueness as tn
from trueness.unknown_tails import concentrated_tail, even_tail

T1 = ([0, 0, 1, 2], [[0.6, 0.3]] * 4)
T2 = ([0, 1] + [2] * 8, [[0.3, 0.1]] * 10)
Y_TRUE, Y_PROB = complete_rows(600, 12, seed=1)
LISTS = lists_of(Y_TRUE, Y_PROB, 4)


def log_score_z(table: tn.CalibrationTable) -> float:
    return table.log_score_sum / math.sqrt(table.log_score_variance)


def filled(table: tn.CalibrationTable) -> list[int]:
    return (np.flatnonzero(table.row_count) + 1).tolist()


class TestVectors:
    """T1 and T2 of the specification, to 1e-12."""

    def test_t1(self) -> None:
        table = tn.tabulate_top(*T1, n_classes=10)
        assert filled(table) == [5]
        assert tn.variation_calibration_error(table) == pytest.approx(0.197035618191, abs=1e-12)
        assert tn.signed_parts(table).net == pytest.approx(0.197035618191, abs=1e-12)
        assert tn.ranked_calibration_error(table) == pytest.approx(0.15, abs=1e-12)
        assert tn.ranked_calibration_error(table, "w1") == pytest.approx(0.125, abs=1e-12)
        assert log_score_z(table) == pytest.approx(-0.961994473175, abs=1e-12)
        bounds = tn.tail_bounds(table)
        assert bounds.vce == pytest.approx((0.0, 0.287344616890), abs=1e-12)
        assert bounds.rce == pytest.approx((0.15, 0.25), abs=1e-12)

    def test_t1_entropy_of_a_row(self) -> None:
        known = oracle.eta(0.6) + oracle.eta(0.3)
        mass, cap = np.array([0.1]), np.array([0.3])
        least, most = (known + tail[0] for tail in (concentrated_tail(mass, cap), even_tail(mass, 8)))
        assert (least / math.log(10), most / math.log(10)) == pytest.approx(
            (0.389972873354, 0.480281872053), abs=1e-12
        )

    def test_t1_by_confidence(self) -> None:
        table = tn.tabulate_top(*T1, n_classes=10, variation="confidence")
        assert tn.expected_calibration_error(table) == pytest.approx(0.1, abs=1e-12)
        assert table.edges[0] == 0.0

    def test_t1_with_one_class_beyond(self) -> None:
        table = tn.tabulate_top(*T1, n_classes=3)
        assert tn.variation_calibration_error(table) == pytest.approx(0.129049208211, abs=1e-12)
        bounds = tn.tail_bounds(table)
        assert bounds.vce == pytest.approx((0.129049208211,) * 2, abs=1e-12)
        assert bounds.rce == pytest.approx((0.15, 0.15), abs=1e-12)
        assert log_score_z(table) == pytest.approx(-0.833819148456, abs=1e-12)

    def test_t2(self) -> None:
        table = tn.tabulate_top(*T2, n_classes=1000)
        assert filled(table) == [8]
        assert tn.signed_parts(table).net == pytest.approx(0.162460415103, abs=1e-12)

    def test_impossible_lists(self) -> None:
        with pytest.raises(tn.Refusal, match=r"row 0 has 2 tokens down to 0\.05 and lacks 0\.85") as error:
            tn.tabulate_top([0], [[0.1, 0.05]], n_classes=10)
        assert error.value.code == "impossible-list"
        with pytest.raises(tn.Refusal, match=r"sums to 1\.02") as error:
            tn.tabulate_top([0], [[0.6, 0.42]], n_classes=10)
        assert error.value.row == 0


@pytest.mark.parametrize("k", [1, 4, 11])
@pytest.mark.parametrize("sharpen", [1.0, 1.6])
def test_every_number_agrees_with_plain_loops(k: int, sharpen: float) -> None:
    y_true, y_prob = complete_rows(300, 12, seed=5, sharpen=sharpen)
    rank, prob = lists_of(y_true, y_prob, k)
    expected = oracle.numbers_of(rank.tolist(), prob.tolist(), 12)
    for table in (
        tn.tabulate_top(rank, prob, n_classes=12),
        tn.tabulate(y_true, y_prob, top_k=k),
    ):
        assert tn.variation_calibration_error(table) == pytest.approx(expected.vce, abs=1e-12)
        assert tn.signed_parts(table).net == pytest.approx(expected.net, abs=1e-12)
        assert tn.ranked_calibration_error(table) == pytest.approx(expected.rce, abs=1e-12)
        assert tn.ranked_calibration_error(table, "w1") == pytest.approx(expected.rce_w1, abs=1e-12)
        assert log_score_z(table) == pytest.approx(expected.log_score_z, abs=1e-9)
        for name, ends in tn.tail_bounds(table)._asdict().items():
            assert ends == pytest.approx(expected.bounds[name], abs=1e-9), name


class TestLaws:
    @pytest.mark.parametrize("ties", ["first", "split"])
    def test_one_class_beyond_is_the_ordinary_table(self, ties: str) -> None:
        rng = np.random.default_rng(3)
        y_prob = rng.dirichlet([1.0] * 4, 300).round(2)
        y_prob[:, 3] = 1 - y_prob[:, :3].sum(axis=1)
        y_prob = np.abs(y_prob)
        y_prob /= y_prob.sum(axis=1, keepdims=True)
        y_true = rng.integers(0, 4, 300)
        for variation in ("entropy", "confidence"):
            bins = tn.Edges(np.linspace(0, 1, 11))
            top = tn.tabulate(y_true, y_prob, top_k=3, variation=variation, bins=bins, ties=ties)
            ordinary = tn.tabulate(y_true, y_prob, variation=variation, bins=bins, ties=ties)
            assert np.array_equal(top.row_count, ordinary.row_count)
            assert np.array_equal(top.ordered_sum, ordinary.ordered_sum)
            assert np.array_equal(top.rank_count, ordinary.rank_count)
            assert np.array_equal(top.gap, ordinary.gap, equal_nan=True)
            if variation == "entropy":
                assert log_score_z(top) == log_score_z(ordinary)
                assert (top.brier_score, top.log_loss) == (ordinary.brier_score, ordinary.log_loss)

    @pytest.mark.parametrize("ties", ["first", "split"])
    @pytest.mark.parametrize("k", [1, 2, 3])
    def test_cut_table_equals_table_of_cut_rows(self, ties: str, k: int) -> None:
        rng = np.random.default_rng(4)
        coarse = rng.dirichlet([0.5] * 8, 400).round(1)  # many ties, also across the cut
        coarse[:, 0] += 1 - coarse.sum(axis=1)
        y_prob = np.abs(coarse) / np.abs(coarse).sum(axis=1, keepdims=True)
        y_true = rng.integers(0, 8, 400)
        fine = tn.tabulate(y_true, y_prob, top_k=5, variation="confidence", ties=ties)
        assert fine.cut(k) == tn.tabulate(y_true, y_prob, top_k=k, variation="confidence", ties=ties)

    def test_cut_lists(self) -> None:
        rank, prob = LISTS
        fine = tn.tabulate_top(rank, prob, n_classes=12, variation="confidence")
        cut = tn.tabulate_top(np.minimum(rank, 2), prob[:, :2], n_classes=12, variation="confidence")
        assert fine.cut(2) == cut

    @pytest.mark.parametrize("variation", ["entropy", "confidence"])
    def test_lists_equal_complete_rows_that_are_cut(self, variation: str) -> None:
        of_lists = tn.tabulate_top(*LISTS, n_classes=12, variation=variation)
        complete = tn.tabulate(Y_TRUE, Y_PROB, top_k=4, variation=variation, ties="split")
        assert of_lists.isclose(complete)
        assert np.array_equal(of_lists.rank_count, complete.rank_count)

    @pytest.mark.parametrize("variation", ["entropy", "confidence"])
    def test_any_split_adds_to_the_whole(self, variation: str) -> None:
        rank, prob = LISTS
        parts = [
            tn.tabulate_top(rank[cut], prob[cut], n_classes=12, variation=variation)
            for cut in (slice(0, 7), slice(7, 300), slice(300, 600))
        ]
        assert sum(parts) == tn.tabulate_top(rank, prob, n_classes=12, variation=variation)

    def test_whole_weights_are_repeated_rows(self) -> None:
        rank, prob = (part[:50] for part in LISTS)
        weight = np.arange(50) % 3
        weighted = tn.tabulate_top(rank, prob, n_classes=12, sample_weight=weight)
        repeated = tn.tabulate_top(np.repeat(rank, weight), np.repeat(prob, weight, axis=0), n_classes=12)
        assert np.allclose(weighted.rank_count, repeated.rank_count)
        assert np.allclose(weighted.gap, repeated.gap, equal_nan=True)
        assert weighted.log_score_sum == pytest.approx(repeated.log_score_sum)

    def test_ties_are_shared_within_the_list(self) -> None:
        table = tn.tabulate_top([0, 2], [[0.3, 0.3]] * 2, n_classes=10)
        assert table.rank_count.sum(axis=0).tolist() == [0.5, 0.5, 1.0]
        first = tn.tabulate_top([1, 2], [[0.3, 0.3]] * 2, n_classes=10, ties="first")
        assert first.rank_count.sum(axis=0).tolist() == [0, 1, 1]

    def test_impossible_rows(self) -> None:
        table = tn.tabulate_top([2, 0], [[0.7, 0.3], [0.7, 0.3]], n_classes=10)
        assert table.impossible_rows == 1

    def test_equal_mass(self) -> None:
        table = tn.tabulate_top(*LISTS, n_classes=12, bins=tn.EqualMass(6))
        assert table.row_count.tolist() == [100] * 6
        grid = tn.tabulate_top(*LISTS, n_classes=12, bins=tn.EqualWidth(4000))
        assert grid.coarsen(10) == tn.tabulate_top(*LISTS, n_classes=12)

    def test_top_label_event_has_the_same_ece(self) -> None:
        right, confidence = tn.top_label_event(Y_TRUE, Y_PROB)
        by_event = tn.event_calibration_error(tn.tabulate_events(right, confidence))
        table = tn.tabulate(Y_TRUE, Y_PROB, variation="confidence", bins=tn.Edges(np.linspace(0, 1, 11)))
        top = tn.tabulate_top(*LISTS, n_classes=12, variation="confidence")
        assert tn.expected_calibration_error(table) == pytest.approx(by_event, abs=1e-12)
        assert tn.expected_calibration_error(top) == pytest.approx(by_event, abs=1e-12)


def rows_with_tails(kind: str, seed: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Complete rows of 50 classes with even, concentrated or random tails beyond rank 5, and labels."""
    rng = np.random.default_rng(seed)
    head = np.sort(rng.dirichlet([0.6] * 6, 200), axis=1)[:, ::-1]
    y_prob = np.zeros((200, 50))
    y_prob[:, :5] = head[:, :5]
    for row, (cap, mass) in enumerate(zip(head[:, 4], head[:, 5], strict=True)):
        y_prob[row, 5:] = tail_of(kind, cap, mass, rng)
    y_prob /= y_prob.sum(axis=1, keepdims=True)
    sharp = y_prob ** rng.choice([0.7, 1.0, 1.4])
    sharp /= sharp.sum(axis=1, keepdims=True)
    labels = (sharp.cumsum(axis=1) < rng.random(200)[:, None]).sum(axis=1)
    return np.minimum(labels, 49), y_prob


def tail_of(kind: str, cap: float, mass: float, rng: np.random.Generator) -> NDArray[np.float64]:
    if kind == "even":
        return np.full(45, mass / 45)
    if kind == "concentrated":
        tail = np.zeros(45)
        full = int(mass / cap)
        tail[:full] = cap
        tail[full] = mass - full * cap
        return tail
    tail = np.sort(rng.dirichlet([0.2] * 45) * mass)[::-1]
    while tail[0] > cap:  # what exceeds the cap goes to the smallest entries
        excess = np.maximum(tail - cap, 0).sum()
        tail = np.minimum(tail, cap)
        room = cap - tail
        tail += excess * room / room.sum()
        tail = np.minimum(tail, cap * (1 + 1e-12)) if tail[0] > cap else tail
        if excess < 1e-12:
            break
    return tail


@settings(max_examples=30, deadline=None)
@given(kind=st.sampled_from(["even", "concentrated", "random"]), seed=st.integers(0, 10**6))
def test_bounds_hold_for_any_tail(kind: str, seed: int) -> None:
    """The plug-in values of the whole rows, in the bins of the cut ones, lie within the bounds (V = 50)."""
    y_true, y_prob = rows_with_tails(kind, seed)
    table = tn.tabulate(y_true, y_prob, top_k=5)
    bounds = tn.tail_bounds(table)
    order = np.argsort(-y_prob, axis=1, kind="stable")
    ordered = np.take_along_axis(y_prob, order, axis=1)
    place = np.argmax(order == y_true[:, None], axis=1)
    cells = np.column_stack([ordered[:, :5], ordered[:, 5:].sum(axis=1)])
    values = np.array([oracle.even_entropy(row, 50) for row in cells.tolist()])
    at = np.maximum(np.ceil(values * 10 - 1e-9).astype(int) - 1, 0)
    vce = net = rce = 0.0
    for m in set(at.tolist()):
        chosen = at == m
        q, r = ordered[chosen].mean(axis=0), np.bincount(place[chosen], minlength=50) / chosen.sum()
        gap = (sum(map(oracle.eta, r.tolist())) - sum(map(oracle.eta, q.tolist()))) / math.log(50)
        weight = chosen.mean()
        vce, net = vce + weight * abs(gap), net + weight * gap
        rce += weight * np.abs(r - q).sum() / 2
    slack = 1e-9
    for name, value in (("vce", vce), ("net", net), ("rce", rce)):
        low, high = getattr(bounds, name)
        assert low - slack <= value <= high + slack, name
    assert bounds.vce[0] - slack <= tn.variation_calibration_error(table) <= bounds.vce[1] + slack


class TestFiles:
    @pytest.mark.parametrize("variation", ["entropy", "confidence"])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_saved_tables_are_equal(self, tmp_path: Path, variation: str, weighted: bool) -> None:
        weight = np.linspace(0.5, 2, 600) if weighted else None
        table = tn.tabulate_top(*LISTS, n_classes=12, variation=variation, sample_weight=weight)
        table.save(tmp_path / "top.json")
        assert tn.CalibrationTable.load(tmp_path / "top.json") == table
        assert '"schema": 4' in (tmp_path / "top.json").read_text()

    def test_unknown_number_of_classes(self, tmp_path: Path) -> None:
        table = tn.tabulate_top(*LISTS, n_classes=None, variation="confidence")
        table.save(tmp_path / "top.json")
        loaded = tn.CalibrationTable.load(tmp_path / "top.json")
        assert loaded == table
        assert loaded.n_classes is None

    def test_ranks_are_saved_as_before(self, tmp_path: Path) -> None:
        tn.tabulate(Y_TRUE, Y_PROB).save(tmp_path / "ranks.json")
        text = (tmp_path / "ranks.json").read_text()
        assert '"schema": 3' in text
        assert "top_k" not in text

    @pytest.mark.parametrize(
        ("change", "words"),
        [
            ({"top_k": 12}, "top_k must be below n_classes"),
            ({"top_k": 0}, "top_k must be an integer"),
            ({"top_k": True}, "top_k must be an integer"),
            ({"cells": "event"}, "cells must be one of"),
            ({"cells": "ranks"}, "top_k is for the k largest"),
            ({"variation": "iqv"}, "by confidence, or by entropy"),
            ({"n_classes": None}, "by confidence, or by entropy"),
            ({"n_classes": 5}, "more mass is beyond the list"),
        ],
    )
    def test_damaged_specs_are_refused(self, change: dict[str, Any], words: str) -> None:
        rank, prob = lists_of(*complete_rows(50, 12, seed=2, scale=0.1), 4)
        content = tn.tabulate_top(rank, prob, n_classes=12).to_dict()
        content["spec"] |= change
        with pytest.raises(tn.Refusal, match=words):
            tn.CalibrationTable.from_dict(content)


class TestRefusals:
    def test_unlike_tables_do_not_add(self) -> None:
        rank, prob = LISTS
        table = tn.tabulate_top(rank, prob, n_classes=12)
        with pytest.raises(tn.Refusal, match="top_k differs: 4 and 2"):
            _ = table + tn.tabulate_top(np.minimum(rank, 2), prob[:, :2], n_classes=12)
        with pytest.raises(tn.Refusal, match="cells differs: 'top' and 'ranks'"):
            _ = table + tn.tabulate(Y_TRUE, Y_PROB)
        with pytest.raises(tn.Refusal, match="n_classes differs: 12 and 20"):
            _ = table + tn.tabulate_top(rank, prob, n_classes=20)

    @pytest.mark.parametrize(
        ("rank", "prob", "options", "words"),
        [
            ([0], [[0.2, 0.5]], {}, "rises from 0.2 to 0.5 in row 0"),
            ([3], [[0.5, 0.2]], {}, "rank is 3 in row 0"),
            ([0.5], [[0.5, 0.2]], {}, "rank is 0.5"),
            ([0], [[0.5, math.nan]], {}, "prob is nan in row 0"),
            ([0], [[-0.5, -1.0]], {}, "prob is -0.5"),
            ([0], [0.5, 0.2], {}, "prob has shape"),
            ([0, 1], [[0.5, 0.2]], {}, "rank has shape"),
            ([0], [[0.5, 0.2]], {"variation": "iqv"}, "'iqv' needs the probabilities of all classes"),
            ([0], [[0.5, 0.2]], {"n_classes": 2}, "n_classes"),
            ([0], [[0.5, 0.2]], {"n_classes": None}, "needs their number"),
            ([0], [[0.5, 0.0]], {}, "the list in row 0 has 2 tokens down to 0"),
        ],
    )
    def test_bad_lists(self, rank: Any, prob: Any, options: dict[str, Any], words: str) -> None:
        with pytest.raises(tn.Refusal, match=words):
            tn.tabulate_top(rank, prob, **({"n_classes": 10} | options))

    def test_the_compiled_engine_is_refused(self) -> None:
        with pytest.raises(tn.Refusal, match="does not support top_k"):
            tn.tabulate(Y_TRUE, Y_PROB, top_k=3, engine="compiled")

    def test_too_many_ranks(self) -> None:
        with pytest.raises(tn.Refusal, match="top_k is 12, and there are 12 classes"):
            tn.tabulate(Y_TRUE, Y_PROB, top_k=12)

    def test_tables_that_cannot_be_cut(self) -> None:
        with pytest.raises(tn.Refusal, match="can be cut, this one holds the 4 largest by entropy"):
            tn.tabulate_top(*LISTS, n_classes=12).cut(2)
        with pytest.raises(tn.Refusal, match="this one holds ranks by entropy"):
            tn.tabulate(Y_TRUE, Y_PROB).cut(2)
        with pytest.raises(tn.Refusal, match="top_k"):
            tn.tabulate_top(*LISTS, n_classes=12, variation="confidence").cut(5)

    def test_bounds_of_other_tables(self) -> None:
        for table in (
            tn.tabulate(Y_TRUE, Y_PROB),
            tn.tabulate_top(*LISTS, n_classes=12, variation="confidence"),
        ):
            with pytest.raises(tn.Refusal, match="tail_bounds reads a table of the k largest"):
                tn.tail_bounds(table)

    def test_there_is_no_uce(self) -> None:
        with pytest.raises(tn.Refusal, match="UCE is not defined for the k largest classes"):
            tn.uncertainty_calibration_error(tn.tabulate_top(*LISTS, n_classes=12))

    def test_a_monitor_does_not_watch_them(self) -> None:
        with pytest.raises(tn.Refusal, match="holds the 4 largest classes"):
            tn.Monitor().update(tn.tabulate_top(*LISTS, n_classes=12))
