"""Letters among the listed tokens: vector M1, and two readings of options that are not listed."""

import math

import numpy as np
import pytest
from logs import tokens

from trueness.language import letters
from trueness.language.normalisation import softmax
from trueness.refusals import Refusal

LABELS = ["A", "B", "C", "D"]
M1 = tokens(A=0.6, _A=0.1, B=0.15, The=0.1, C=0.02)


def test_M1() -> None:
    cap, zero = letters(M1, LABELS), letters(M1, LABELS, missing="zero")
    np.testing.assert_allclose(
        cap.prob, [0.786516853933, 0.168539325843, 0.022471910112, 0.022471910112], atol=1e-12
    )
    np.testing.assert_allclose(zero.prob, [0.804597701149, 0.172413793103, 0.022988505747, 0], atol=1e-12)
    for found in (cap, zero):
        assert found.off == pytest.approx(0.1, abs=1e-12)
        assert found.unknown_share == pytest.approx(0.033333333333, abs=1e-12)
        assert found.n_missing == 1


def test_pairs_and_mappings_read_alike() -> None:
    pairs = [(entry["token"], entry["logprob"]) for entry in M1]
    for listed in (pairs, dict(pairs)):
        assert np.array_equal(letters(listed, LABELS).prob, letters(M1, LABELS).prob)


def test_sentinels_are_not_probabilities() -> None:
    with_sentinel = [*M1, {"token": "D", "logprob": -9999.0}]
    assert letters(with_sentinel, LABELS).n_missing == 1
    assert np.array_equal(letters(with_sentinel, LABELS).prob, letters(M1, LABELS).prob)


@pytest.mark.parametrize("token", [" A", "A\n", "ĠA", "▁A"])
def test_white_space_does_not_belong_to_a_label(token: str) -> None:
    assert letters([(token, math.log(0.5)), ("B", math.log(0.25))], ["A", "B"]).prob[0] == pytest.approx(
        2 / 3
    )


def test_part_of_a_word_is_not_a_label() -> None:
    with pytest.raises(Refusal, match="none of A is among the 1 listed tokens"):
        letters([("Apple", math.log(0.5))], ["A"])


def test_a_complete_list_leaves_nothing_for_missing_options() -> None:
    found = letters(tokens(A=0.75, B=0.25), LABELS)
    assert found.unknown_share == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(found.prob, [0.75, 0.25, 0, 0], atol=1e-12)


def test_the_net_gap_of_the_whole_distribution_lies_between_the_two_readings() -> None:
    """Four letters with two tokens each, sharpened by 1.4, and 300 words with a tenth of the probability; k = 20."""
    import trueness as tn

    rng = np.random.default_rng(0)
    rows, off, names = 6000, 0.1, [*"ABCD", " A", " B", " C", " D", *(f"w{k}" for k in range(300))]
    truth = softmax(rng.choice([0.7, 1.5, 3], (rows, 1)) * rng.normal(size=(rows, 4)))
    y_true = (truth.cumsum(axis=1) < rng.random((rows, 1))).sum(axis=1)
    whole = truth**1.4 / (truth**1.4).sum(axis=1, keepdims=True)
    bare = (1 - off) * whole * rng.uniform(0.5, 0.95, (rows, 4))
    sharp = np.concatenate(
        [bare, (1 - off) * whole - bare, off * softmax(2 * rng.normal(size=(rows, 300)))], axis=1
    )
    readings = {"cap": np.empty((rows, 4)), "zero": np.empty((rows, 4))}
    for row in range(rows):
        best = np.argsort(-sharp[row])[:20]
        listed = [(names[k], math.log(sharp[row, k])) for k in best]
        for name, found in readings.items():
            found[row] = letters(listed, LABELS, missing=name).prob
    nets = {
        name: tn.signed_parts(tn.tabulate(y_true, found, normalize=True)).net
        for name, found in {**readings, "whole": whole}.items()
    }
    assert nets["cap"] <= nets["whole"] <= nets["zero"]
