"""Soft labels: one-hot rows give the table of their labels; others against plain loops; their inference."""

import json
import math

import numpy as np
import pytest
from close_tables import assert_close
from event_rows import T_PROBS
from event_tables import mixed_rows
from hypothesis import given
from hypothesis import strategies as st

import trueness as tn

seeds = st.integers(0, 2**32 - 1)
SHARES = np.array([[2, 1, 0], [3, 0, 0], [1, 1, 1], [0, 2, 1]]) / 3


def votes(n_rows: int, n_classes: int, seed: int, n_votes: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Shares of votes that are drawn from the predictions themselves."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(n_classes, 0.5), n_rows)
    return rng.multinomial(n_votes, p) / n_votes, p


def test_the_vector_of_the_specification() -> None:
    table = tn.tabulate(SHARES, T_PROBS[:4], bins=1, soft_labels=True)
    assert table.mean_ordered[0] == pytest.approx([0.6475, 0.2375, 0.115], abs=1e-12)
    assert table.rank_frequency[0] == pytest.approx([2 / 3, 1 / 4, 1 / 12], abs=1e-12)
    assert tn.variation_calibration_error(table) == pytest.approx(0.043345262743, abs=1e-12)
    assert 4 - float(table.sums.square.value) == pytest.approx(2.007, abs=1e-12)
    assert table.brier_score * 4 == pytest.approx(0.404111111111, abs=1e-12)
    assert table.row_worth == pytest.approx(4.966455870223, abs=1e-11)


@pytest.mark.parametrize("ties", ["first", "split"])
@pytest.mark.parametrize("kind", ["plain", "float32", "logits", "weighted", "columns"])
def test_one_hot_rows_give_the_table_of_their_labels(kind: str, ties: str) -> None:
    y, p = mixed_rows(400, 4, "float32" if kind == "float32" else "float64")
    how: dict = {"ties": ties}
    if kind == "logits":
        with np.errstate(divide="ignore"):
            p = np.where(p > 0, np.log(p), -800.0)
        how["from_logits"] = True
    if kind == "weighted":
        how["sample_weight"] = np.random.default_rng(0).integers(0, 3, 400).astype(float)
    given_p = np.asfortranarray(p) if kind == "columns" else p
    hot = np.eye(4)[y]
    soft, plain = tn.tabulate(hot, given_p, soft_labels=True, **how), tn.tabulate(y, given_p, **how)
    if kind == "weighted":
        assert_close(soft, plain)
    else:
        assert soft == plain
    for events in (None, ["top", 2]):
        soft = tn.tabulate_events(hot, given_p, soft_labels=True, events=events, **how)
        assert soft == tn.tabulate_events(y, given_p, events=events, **how)


def test_one_hot_rows_are_assessed_as_their_labels() -> None:
    y, p = tn.simulate.calibrated(400, [0.5] * 3, rng=0)
    groups, clusters = np.arange(400) % 2, np.arange(400) // 4
    for more in ({}, {"groups": groups}, {"clusters": clusters}):
        soft, plain = (tn.assess(t, p, soft_labels=s, **more) for t, s in ((np.eye(3)[y], True), (y, False)))
        assert str(soft) == str(plain)
        assert soft.table.row_worth == 1


@given(seeds, st.integers(2, 6), st.sampled_from(["first", "split"]), st.booleans())
def test_shares_against_plain_loops(seed: int, n_classes: int, ties: str, rounded: bool) -> None:
    s, p = votes(30, n_classes, seed)
    if rounded:
        p = np.round(p * 4)
        p[:, 0] += p.sum(axis=1) == 0
        p /= p.sum(axis=1, keepdims=True)
    ranks, loglik, residual, variance, brier = np.zeros(n_classes), 0.0, 0.0, 0.0, 0.0
    impossible = 0
    for row, shares in zip(p.tolist(), s.tolist(), strict=True):
        order = sorted(range(n_classes), key=lambda c: -row[c])
        for place, c in enumerate(order):
            same = [k for k in order if row[k] == row[c]]
            ranks[place] += shares[c] if ties == "first" else sum(shares[k] for k in same) / len(same)
        brier += sum((a - b) ** 2 for a, b in zip(row, shares, strict=True))
        entropy = -sum(v * math.log(v) for v in row if v > 0)
        if any(a > 0 and b == 0 for a, b in zip(shares, row, strict=True)):
            impossible += 1
            continue
        log = sum(a * math.log(b) for a, b in zip(shares, row, strict=True) if a > 0)
        varentropy = sum(v * (math.log(v) + entropy) ** 2 for v in row if v > 0)
        loglik, residual = loglik + log, residual + log + entropy
        variance += (log + entropy) ** 2 if max(shares) < 1 else varentropy
    table = tn.tabulate(s, p, soft_labels=True, bins=3, ties=ties)
    assert table.sums.rank.value.sum(axis=0) == pytest.approx(ranks, abs=1e-12)
    assert table.impossible_rows == impossible
    assert float(table.sums.log_likelihood.value) == pytest.approx(loglik, abs=1e-9)
    assert table.log_score_sum == pytest.approx(residual, abs=1e-9)
    if not impossible:
        assert table.log_score_variance == pytest.approx(variance, abs=1e-9)
    assert table.brier_score == pytest.approx(brier / 30, abs=1e-12)


@given(seeds, st.integers(1, 39))
def test_tables_add_to_the_bit(seed: int, cut: int) -> None:
    s, p = votes(40, 4, seed)
    parts = (slice(cut, None), slice(0, cut))
    for make in (tn.tabulate, tn.tabulate_events):
        whole = make(s, p, soft_labels=True)
        assert sum(make(s[part], p[part], soft_labels=True) for part in parts) == whole
        assert make(s[::-1], p[::-1], soft_labels=True, n_threads=3) == whole
    y, q = tn.simulate.calibrated(20, [1, 1, 1, 1], rng=seed)
    mixed = tn.tabulate(y, q) + tn.tabulate(s, p, soft_labels=True)
    assert mixed == tn.tabulate(np.vstack([np.eye(4)[y], s]), np.vstack([q, p]), soft_labels=True)


def test_every_row_adds_exactly_one() -> None:
    s, p = votes(50, 5, 1)
    events = tn.tabulate_events(s, p, soft_labels=True)
    assert events.observed_total.sum() == pytest.approx(50, abs=1e-12)
    units = events.sums.observed.whole.sum() * 2**52 + sum(events.sums.observed.fraction.ravel().tolist())
    assert units == 50 * 2**52
    assert events.observed_total == pytest.approx(s.sum(axis=0), abs=1e-12)


def test_tables_are_saved_with_what_soft_labels_need(tmp_path) -> None:
    s, p = votes(60, 3, 1)
    for make in (tn.tabulate, tn.tabulate_events):
        table = make(s, p, soft_labels=True)
        table.save(tmp_path / "table.json")
        assert type(table).load(tmp_path / "table.json") == table
    content = json.loads((tmp_path / "table.json").read_text())
    content["tables"][0]["sums"]["label_spread"]["whole"][0] = 10**6
    (tmp_path / "table.json").write_text(json.dumps(content))
    with pytest.raises(tn.Refusal, match="label_spread"):
        tn.EventTable.load(tmp_path / "table.json")


def test_two_classes_may_give_the_share_of_class_1() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0, 1, 50)
    share = rng.binomial(5, p) / 5
    table = tn.tabulate_events(share, p, soft_labels=True)
    assert table == tn.tabulate_events(np.stack([1 - share, share], axis=1), p, soft_labels=True)
    found = tn.assess_event(share, p, soft_labels=True, resamples=99)
    assert found.in_the_large.observed == pytest.approx(share.sum())
    two = tn.assess_event(
        np.stack([share, share], axis=1),
        np.stack([p, p], axis=1),
        multilabel=True,
        soft_labels=True,
        resamples=99,
    )
    assert [event.in_the_large.observed for event in two.events.values()] == pytest.approx([share.sum()] * 2)


def test_batches_and_functions_take_soft_labels() -> None:
    s, p = votes(60, 3, 1)
    stream = tn.Accumulator(3, soft_labels=True)
    for part in (slice(0, 20), slice(20, 60)):
        stream.update(s[part], p[part])
    table = tn.tabulate(s, p, soft_labels=True)
    assert stream.table == table
    assert tn.vce(s, p, soft_labels=True) == tn.vce(table) == tn.variation_calibration_error(table)
    assert tn.rce(s, p, soft_labels=True) == tn.ranked_calibration_error(table)
    assert tn.ece(s, p, soft_labels=True) == tn.expected_calibration_error(
        tn.tabulate(s, p, soft_labels=True, variation="confidence")
    )
    assert tn.cwece(s, p, soft_labels=True) == tn.classwise_error(tn.tabulate_events(s, p, soft_labels=True))


def test_an_assessment_says_what_a_row_is_worth() -> None:
    s, p = votes(300, 3, 1)
    result = tn.assess(s, p, soft_labels=True)
    assert [caution.code for caution in result.warnings].count("soft-labels") == 1
    assert result.to_dict()["row_worth"] == pytest.approx(5, rel=0.2)
    assert tn.assess_table(result.table).table.row_worth == result.table.row_worth


@pytest.mark.parametrize(
    ("labels", "code", "row"),
    [
        ([[0.5, 0.5, 0.0], [0.5, 0.4, 0.0]], "bad-soft-label", 1),
        ([[1.5, -0.5, 0.0], [0.5, 0.5, 0.0]], "bad-soft-label", 0),
        ([[1.0, 0.0, 0.0], [np.nan, 0.5, 0.5]], "bad-soft-label", 1),
        ([[0.5, 0.5], [0.5, 0.5]], "wrong-shape", None),
        ([0, 1], "wrong-shape", None),
        ([["a", "b", "c"], ["a", "b", "c"]], "wrong-type", None),
    ],
)
def test_bad_soft_labels_are_refused(labels, code: str, row: int | None) -> None:
    with pytest.raises(tn.Refusal) as caught:
        tn.tabulate(labels, [[0.5, 0.3, 0.2]] * 2, soft_labels=True)
    assert (caught.value.code, caught.value.row, caught.value.argument) == (code, row, "y_true")


def test_the_compiled_engine_refuses_soft_labels() -> None:
    with pytest.raises(tn.Refusal, match="soft labels"):
        tn.tabulate(SHARES, T_PROBS[:4], soft_labels=True, engine="compiled")


def test_a_monitor_refuses_soft_labels() -> None:
    with pytest.raises(tn.Refusal, match="soft labels"):
        tn.Monitor().update(tn.tabulate(SHARES, T_PROBS[:4], soft_labels=True))


def test_shares_without_the_option_are_refused_as_before() -> None:
    with pytest.raises(tn.Refusal):
        tn.tabulate(SHARES, T_PROBS[:4])


@pytest.mark.slow
def test_five_votes_of_rows_that_differ_or_not() -> None:
    """Section 9: a row is worth 5 or 2.8 rows; the net gap keeps its size, which plain n would not."""
    runs, size = 150, {"alike": 0, "differ": 0}
    worth = {"alike": [], "differ": []}
    for run in range(runs):
        rng = np.random.default_rng(run)
        p = rng.dirichlet(np.full(10, 0.3), 600)
        of_rows = np.stack([rng.dirichlet(np.maximum(4 * row, 1e-9)) for row in p])
        for name, drawn in (("alike", p), ("differ", of_rows)):
            shares = rng.multinomial(5, drawn) / 5
            found = tn.assess(shares, p, soft_labels=True, by_class=False, resamples=99, rng=run)
            size[name] += found.net.centred_p_value <= 0.05
            worth[name].append(found.table.row_worth)
    assert np.mean(worth["alike"]) == pytest.approx(5.0, abs=0.1)
    assert 2.2 < np.mean(worth["differ"]) < 3.4
    # The specification: .02 to .095; with three standard errors of 150 runs, .053.
    for name, count in size.items():
        assert count / runs <= 0.148, name
