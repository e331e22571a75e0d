"""`assess`: rows or their table, groups, clusters; plain data."""

from __future__ import annotations

import dataclasses
import inspect
import os
import pickle
import threading
import time
from typing import Any

import numpy as np
import pytest
from answered import FLAT, MAKERS, answered, clustered, grouped, options, rows, sharpened_part

from trueness.answers.assessment import assess, assess_table
from trueness.arguments import Settings
from trueness.refusals import Refusal
from trueness.spec import TableOptions
from trueness.table import Table
from trueness.today import read, tabulate_rows


def table_of(y_true: Any, y_prob: Any, bins: int = 10, **more: Any) -> Table:
    return tabulate_rows(read(y_true, y_prob, **more), TableOptions(bins=bins))


def test_at_most_twenty_parameters() -> None:
    assert len(inspect.signature(assess).parameters) == 20


@pytest.mark.parametrize("name", ["sharpened", "options", "clusters", "one group", "impossible"])
def test_a_table_gives_the_answer_of_its_rows(name: str) -> None:
    assert assess(table_of(**MAKERS[name][0]())) == answered(name)


def test_a_saved_table_gives_the_same_answer(tmp_path: Any) -> None:
    table = table_of(**MAKERS["one group"][0]())
    table.save(tmp_path / "table.json")
    assert assess(Table.load(tmp_path / "table.json")) == answered("one group")


def test_days_add() -> None:
    given = MAKERS["sharpened"][0]()
    days = [table_of(given["y_true"][k::2], given["y_prob"][k::2]) for k in (0, 1)]
    assert assess(sum(days)) == answered("sharpened")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "option",
    [
        {"sample_weight": [1]},
        {"groups": ["a"]},
        {"bins": 5},
        {"variation": "gini"},
        {"from_logits": True},
        {"ties": "split"},
        {"y_prob": [[0.5, 0.5]]},
        {"clusters": ["a"]},
    ],
)
def test_options_of_rows_are_refused_beside_a_table(option: dict[str, Any]) -> None:
    with pytest.raises(Refusal) as error:
        assess(answered("sharpened").table, **option)
    assert error.value.argument == next(iter(option))


def test_refused() -> None:
    given = rows(50, FLAT)
    with pytest.raises(Refusal, match="y_prob"):
        assess(given["y_true"])
    with pytest.raises(Refusal, match="level"):
        assess(**given, level=2)
    with pytest.raises(TypeError, match="n_bins"):
        assess(**given, n_bins=5)
    empty = Table.empty(answered("sharpened").table.spec)
    with pytest.raises(Refusal, match="without rows"):
        assess(empty)


def test_the_same_seed_gives_the_same_numbers() -> None:
    given = MAKERS["calibrated"][0]()
    assert assess(**given, seed=7) == assess(**given, seed=7)
    assert assess(**given, seed=7) != assess(**given, seed=8)
    rngs = [np.random.default_rng(3), np.random.default_rng(3)]
    first, second = (assess(**given, seed=rng) for rng in rngs)
    assert first == second
    assert assess(**given, seed=None).settings.seed >= 0


@pytest.mark.parametrize("name", MAKERS)
def test_it_is_plain_data(name: str) -> None:
    """Frozen, without a dict of attributes, without hidden ones, and nothing is made when read."""
    result = answered(name)
    assert not hasattr(result, "__dict__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.n_rows = 3  # type: ignore[misc]
    before = {field.name: getattr(result, field.name) for field in dataclasses.fields(result)}
    _ = str(result), result.details(), result.to_dict(), result.flat(), result.p_value
    for field, value in before.items():
        assert getattr(result, field) is value
        assert not callable(value)


def test_it_can_be_sent_to_another_process() -> None:
    result = answered("one group")
    assert pickle.loads(pickle.dumps(result)) == result


def test_a_group_is_as_its_rows_alone() -> None:
    given, result = MAKERS["one group"][0](), answered("one group")
    for name, group in result.groups.items():
        its = given["groups"] == name
        alone = assess(given["y_true"][its], given["y_prob"][its])
        assert (group.accuracy, group.brier) == (alone.accuracy, alone.brier)
        assert group.gap == alone.gap
        assert group.vce.value == alone.vce.value
        assert group.table == result.table.select(group=name)


def test_a_group_does_not_depend_on_the_others() -> None:
    given = MAKERS["one group"][0]()
    kept = np.isin(given["groups"], ["s5", "s6"])
    fewer = assess(**{key: value[kept] for key, value in given.items()})
    assert fewer.groups["s5"] == answered("one group").groups["s5"]


def test_many_groups_are_decided() -> None:
    """A few wrong groups among many are found, whatever the smallest p-value of one draw."""
    names = [f"g{k:02d}" for k in range(60)]
    result = assess(**grouped(120, names, {"g07"}))
    assert result.wrong_groups == ("g07",)
    assert result.groups["g07"].resamples > 999
    assert max(it.resamples for name, it in result.groups.items() if name != "g07") == 999


def test_a_cluster_is_as_its_rows_alone() -> None:
    given, result = MAKERS["clusters"][0](), answered("clusters")
    assert len(result.clusters) == 5
    for name, its in result.clusters.items():
        rows_of_it = given["clusters"] == name
        alone = assess(given["y_true"][rows_of_it], given["y_prob"][rows_of_it])
        for number in ("n_rows", "accuracy", "confidence"):
            assert getattr(its, number) == getattr(alone, number)
        for number in ("gap", "vce", "ece", "rce"):
            mine, theirs = getattr(its, number), getattr(alone, number)
            assert (mine.value, mine.debiased) == (theirs.value, theirs.debiased)
            assert mine.noise_floor == theirs.noise_floor
            assert mine.low is None


def test_the_furthest_clusters_are_shown() -> None:
    given = clustered(20, 50)
    given = sharpened_part(given, np.isin(given["clusters"], ["p3", "p8"]), 8.0)
    assert {"p3", "p8"} <= set(list(assess(**given).clusters)[:2])


def test_clusters_in_blocks_show_none() -> None:
    result = assess(**clustered(5000, 2))
    assert result.clusters == {}
    (caution,) = [it for it in result.answer.warnings if it.code == "blocks"]
    assert "5,000 clusters were summed in" in caution.text
    assert "no single cluster is shown" in caution.text


def test_a_gate_resolves_smaller_p_values() -> None:
    table = answered("sharpened").table
    usual, finer = (assess_table(table, Settings(), finest=p) for p in (None, 1e-4))
    assert usual == answered("sharpened")
    assert usual.p_value is not None
    assert finer.p_value is not None
    assert finer.p_value < 1e-4 < usual.p_value
    assert finer.resamples > usual.resamples == 999


def test_ties_can_be_shared() -> None:
    given = rows(300, FLAT)
    tied = np.repeat([[0.4, 0.4, 0.2]], 300, axis=0)
    first, split = (assess(given["y_true"], tied, ties=ties) for ties in (None, "split"))
    assert first.accuracy == np.mean(given["y_true"] == 0)
    assert split.accuracy == np.mean(given["y_true"] < 2) / 2


def test_weights_of_one_change_nothing() -> None:
    given = MAKERS["sharpened"][0]()
    plain, weighted = assess(**given), assess(**given, sample_weight=np.ones(2000))
    assert weighted.vce.value == pytest.approx(plain.vce.value, abs=1e-9)
    assert weighted.gap.low == pytest.approx(plain.gap.low, abs=1e-9)


def codes(**given: Any) -> set[str]:
    return {it.code for it in assess(**given).answer.warnings}


def test_warnings() -> None:
    given = rows(500, FLAT)
    rounded = np.round(given["y_prob"] * 5) / 5
    rounded[:, 0] = (1 - rounded[:, 1] - rounded[:, 2]).clip(0)
    rounded /= rounded.sum(axis=1, keepdims=True)
    assert "ties" in codes(y_true=given["y_true"], y_prob=rounded)
    assert "impossible" in {it.code for it in answered("impossible").answer.warnings}
    assert "uneven-weights" in codes(**given, sample_weight=np.geomspace(1, 1e4, 500))
    assert "few-clusters" in codes(**clustered(12, 50))
    assert "few-rows" in codes(**rows(60, [1.0] * 10))
    soft = {"y_true": (np.eye(3)[given["y_true"]] + given["y_prob"]) / 2, "soft_labels": True}
    assert "soft-labels" in codes(y_prob=given["y_prob"], **soft)
    assert codes(**given) == set()


@pytest.mark.parametrize("seed", range(40))
def test_any_rows_have_an_answer(seed: int) -> None:
    """Few rows, one class, certain or uniform predictions, ties, weights, clusters, groups."""
    rng = np.random.default_rng(seed)
    classes, n = int(rng.choice([2, 3, 12])), int(rng.choice([1, 2, 7, 60, 400]))
    p = rng.dirichlet([float(rng.choice([0.01, 0.3, 20]))] * classes, n)
    p = (p, np.eye(classes)[p.argmax(axis=1)], np.full(p.shape, 1 / classes))[seed % 3]
    given: dict[str, Any] = {"y_true": rng.integers(0, classes, n), "y_prob": p}
    if seed % 4 == 1:
        given["clusters"] = rng.integers(0, int(rng.choice([1, 12, 40])), n)
    if seed % 5 == 1:
        given |= {"groups": rng.integers(0, 3, n).astype(str), "min_group_size": 1}
    if seed % 7 == 1:
        given["sample_weight"] = rng.lognormal(0, 2, n)
    result = assess(**given, resamples=99)
    text = result.details()
    assert not {"nan", "inf", "None"} & set(text.replace("[", " ").replace(",", " ").split())
    assert max(map(len, text.splitlines())) <= 100
    assert result.p_value is None or 0 < result.p_value <= 1
    sign = {"over-confident": 1, "under-confident": -1}.get(result.verdict.kind)
    if sign is not None and not result.wrong_groups:
        assert sign * (result.confidence - result.accuracy) > 0


def test_images() -> None:
    rng = np.random.default_rng(5)
    p = rng.dirichlet(FLAT, (12, 6, 5)).transpose(0, 3, 1, 2)
    y = rng.integers(0, 3, (12, 6, 5))
    y[0, 0, :3] = 255
    result = assess(y, p, ignore_index=255)
    assert result.table.clusters is not None
    assert len(result.table.clusters.identities) == 12
    (caution,) = [it for it in result.answer.warnings if it.code == "ignored-rows"]
    assert caution.text.startswith("3 rows have the label ignore_index")


def test_options_of_their_own() -> None:
    result = assess(**options())
    assert result.classes is None
    assert result.temperature == pytest.approx(2.0, rel=0.2)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_forked_while_another_thread_assesses_can_assess() -> None:
    given, stop = rows(400, FLAT), threading.Event()

    def work() -> None:
        while not stop.is_set():
            assess(**given, resamples=19)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(5):
            child = os.fork()
            if child == 0:
                assess(**given, resamples=19)
                os._exit(0)
            for _ in range(1000):
                done, status = os.waitpid(child, os.WNOHANG)
                if done:
                    break
                time.sleep(0.01)
            else:
                os.kill(child, 9)
                os.waitpid(child, 0)
                pytest.fail("the forked process hangs")
            assert status == 0
    finally:
        stop.set()
        thread.join()
