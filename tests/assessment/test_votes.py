"""`assess_votes`: the vector, exactness of the exchange by enumeration, held-out votes against plain loops, size."""

import itertools
import json
import math

import numpy as np
import pytest
from numpy.typing import NDArray

import trueness as tn
from trueness.bins import EqualWidth
from trueness.old_assessment.votes import _reference, exchanged, held_out_vce

BINS = EqualWidth(10).resolve(0.0, 1.0)


def voted(n_rows: int, n_votes: int, power: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Votes from p ∝ π^power for labels from π, of four options."""
    rng = np.random.default_rng(seed)
    logits = rng.standard_normal((n_rows, 4)) * rng.choice([0.7, 1.5, 3.0], n_rows)[:, None]

    def softmax(z: NDArray[np.float64]) -> NDArray[np.float64]:
        p = np.exp(z - z.max(axis=1, keepdims=True))
        return p / p.sum(axis=1, keepdims=True)

    labels = (softmax(logits).cumsum(axis=1) < rng.random(n_rows)[:, None]).sum(axis=1)
    return np.minimum(labels, 3), rng.multinomial(n_votes, softmax(power * logits))


def test_v1() -> None:
    """Votes 2, 1, 1 of four, label 1: ranks (0, ½, ½); votes 3, 1, 0, label 2: ranks (0, 0, 1), impossible."""
    result = tn.assess_votes([1, 2], [[2, 1, 1], [3, 1, 0]])
    assert result.table.rank_count[result.table.row_count > 0].tolist() == [[0, 0, 1], [0, 0.5, 0.5]]
    assert result.table.impossible_rows == 1


def test_exchanging_keeps_what_is_pooled() -> None:
    labels, counts = voted(200, 5, 1.0, 0)
    for seed in range(5):
        new_labels, new_counts = exchanged(labels, counts, np.random.default_rng(seed))
        assert (new_counts >= 0).all()
        assert (new_counts.sum(axis=1) == 5).all()
        pooled = [
            part + np.eye(4, dtype=int)[label] for part, label in ((counts, labels), (new_counts, new_labels))
        ]
        assert np.array_equal(*pooled)


def test_each_of_the_pooled_answers_is_taken_equally_often() -> None:
    labels, counts = np.zeros(60_000, int), np.tile([1, 2, 0], (60_000, 1))
    taken, _ = exchanged(labels, counts, np.random.default_rng(1))
    share = np.bincount(taken, minlength=3) / 60_000
    assert share == pytest.approx([0.5, 0.5, 0.0], abs=5 * math.sqrt(0.25 / 60_000))


def test_p_is_uniform_over_all_exchanges() -> None:
    """Over all ways to choose the label among n + 1 answers, the share of p ≤ α is at most α, for every α."""
    pooled = [["a", "a", "b"], ["a", "b", "c"], ["b", "b", "b"], ["c", "c", "a"]]
    values = []
    for chosen in itertools.product(range(3), repeat=4):
        labels = ["abc".index(row[k]) for row, k in zip(pooled, chosen, strict=True)]
        rest = [
            [name for at, name in enumerate(row) if at != k] for row, k in zip(pooled, chosen, strict=True)
        ]
        shares = np.array([[names.count(name) / 2 for name in "abc"] for names in rest])
        values.append(tn.vce(labels, shares, ties="split"))
    all_values = np.array(values)
    p = np.array(
        [_reference(x, np.append(np.delete(all_values, k), x)).p_value for k, x in enumerate(values)]
    )
    for level in sorted(set(p.tolist())):
        assert np.mean(p <= level) <= level + 1e-12


def test_held_out_votes_against_plain_loops() -> None:
    labels, counts = voted(60, 4, 1.3, 2)
    bins: dict[int, tuple[list[float], list[float], list[float]]] = {}

    def ranks(others: list[int], option: int) -> list[float]:
        more, tied = sum(k > others[option] for k in others), others.count(others[option])
        return [1 / tied if more <= c < more + tied else 0.0 for c in range(4)]

    def entropy(x: list[float]) -> float:
        return -math.fsum(p * math.log(p) for p in x if p > 0) / math.log(4)

    for label, row in zip(labels.tolist(), counts.tolist(), strict=True):
        for option, k in enumerate(row):
            for _ in range(k):  # every vote on its own
                others = [count - (c == option) for c, count in enumerate(row)]
                value = entropy([count / 3 for count in others])
                at = max(0, math.ceil(value * 10 - 1e-9) - 1)
                own = bins.setdefault(at, ([0.0] * 4, [0.0] * 4, [0.0]))
                for c in range(4):
                    own[0][c] += ranks(others, option)[c] / 4
                    own[1][c] += ranks(others, label)[c] / 4
                own[2][0] += 1 / 4
    total = math.fsum(own[2][0] for own in bins.values())
    expected = math.fsum(
        n / total * abs(entropy([x / n for x in truth]) - entropy([x / n for x in vote]))
        for vote, truth, (n,) in bins.values()
    )
    assert held_out_vce(labels, counts, BINS) == pytest.approx(expected, abs=1e-12)


def test_result() -> None:
    labels, counts = voted(300, 10, 1.6, 4)
    result = tn.assess_votes(labels, counts, resamples=199)
    assert result.verdict.kind == "over-confident"
    assert "a calibrated model with 10 votes would get" in str(result.verdict)
    assert "against held-out votes VCE is" in str(result)
    shares = counts / 10
    assert result.vce.value == tn.vce(labels, shares, ties="split")
    right, confidence = result.accuracy, shares.max(axis=1).mean()
    assert result.ece.value >= abs(confidence - right) - 1e-12
    assert json.loads(json.dumps(result.to_dict()))["kind"] == "vote-assessment"
    assert result.to_dict() == tn.assess_votes(labels, counts, resamples=199).to_dict()


def test_under_confidence_of_votes_that_agree_too_little() -> None:
    result = tn.assess_votes(*voted(1000, 10, 0.6, 5), resamples=99)
    assert result.verdict.kind == "under-confident"
    assert result.net.value < result.net.calibrated_value


def test_different_numbers_of_votes() -> None:
    result = tn.assess_votes([0, 1, 0], [[2, 0], [1, 3], [5, 1]], resamples=19)
    assert result.n_votes == (2, 6)
    assert "2 to 6 votes" in str(result)


@pytest.mark.parametrize(
    ("labels", "votes", "words"),
    [
        ([0], [[1, 0]], "row 0 has 1 votes"),
        ([0], [[0.5, 0.5]], "votes are counts, not shares"),
        ([2], [[1, 1]], "options are counted from 0 to 1"),
        ([0], [1, 1], "votes has shape"),
        ([0, 1], [[1, 1]], "y_true has shape"),
        ([0], [[-1, 3]], "votes is -1"),
    ],
)
def test_bad_votes_are_refused(labels: list[int], votes: list[object], words: str) -> None:
    with pytest.raises(tn.Refusal, match=words):
        tn.assess_votes(labels, votes)


def test_bins_that_depend_on_votes_are_refused() -> None:
    with pytest.raises(tn.Refusal, match="exchanged in every resample"):
        tn.assess_votes([0], [[1, 1]], bins=tn.EqualMass(2))


@pytest.mark.slow
class TestSimulations:
    def test_calibrated_shares_and_held_out_votes(self) -> None:
        """n = 10, 40 000 rows: VCE of shares .145 to .165, against held-out votes below .012."""
        labels, counts = voted(40_000, 10, 1.0, 6)
        assert 0.145 <= tn.vce(labels, counts / 10, ties="split") <= 0.165
        assert held_out_vce(labels, counts, BINS) < 0.012

    def test_size_of_the_exchange(self) -> None:
        """N = 300, n = 3, 99 resamples: p ≤ .05 in .01 to .10 of 100 runs."""
        p = []
        for seed in range(100):
            result = tn.assess_votes(*voted(300, 3, 1.0, 100 + seed), resamples=99, rng=seed)
            p.append([result.metrics[key].p_value for key in ("vce", "net", "rce")])
        share = np.mean(np.array(p) <= 0.05, axis=0)
        assert ((share >= 0.0) & (share <= 0.11)).all(), share  # standard error .022
