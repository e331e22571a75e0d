"""Bootstrap replicates of tables: replicates of batches add up, and each is the table of the drawn rows."""

from typing import Any

import numpy as np
from assessment_data import Y_PROB, Y_TRUE

import trueness as tn
from trueness.inference.bootstrap_weights import ClusterWeights
from trueness.inference.replicates import replicate
from trueness.rows import Rows


def test_replicates_of_batches_add_up() -> None:
    names = np.arange(1200) % 40
    table = tn.tabulate(Y_TRUE, Y_PROB)

    def made(cut: slice) -> Any:
        rows = Rows.of(Y_TRUE[cut], Y_PROB[cut], None, from_logits=False, normalize=False, classes=None)
        return replicate([(rows, [table.spec])], ClusterWeights(3, 20, names[cut]), 20)[0][0][0]

    whole, parts = made(slice(None)), made(slice(0, 333)) + made(slice(333, None))
    np.testing.assert_allclose(parts.sums, whole.sums, rtol=1e-12)
    # A replicate is the table of the rows repeated as often as their weights say.
    weights = ClusterWeights(3, 20, names).block(0, 1200)
    for k in (0, 7, 19):
        again = tn.tabulate(
            np.repeat(Y_TRUE, weights[:, k]), np.repeat(Y_PROB, weights[:, k], axis=0), bins=table.bins
        )
        rounding = 1200 * 2.0**-39  # each row's half a unit of 2⁻³⁸
        np.testing.assert_allclose(whole.ordered[:, k], again.ordered_sum, rtol=1e-12, atol=rounding)
        np.testing.assert_allclose(whole.rank[:, k], again.rank_count, rtol=1e-12, atol=1e-12)


def test_split_ties_and_weights_in_replicates() -> None:
    rounded = np.round(Y_PROB, 1)
    rounded /= rounded.sum(axis=1, keepdims=True)
    weight = np.arange(1200) % 3  # zeros among them
    table = tn.tabulate(Y_TRUE, rounded, ties="split", sample_weight=weight)
    rows = Rows.of(Y_TRUE, rounded, weight, from_logits=False, normalize=False, classes=None)
    names = np.arange(1200) // 10
    made = replicate([(rows, [table.spec])], ClusterWeights(3, 5, names), 5)[0][0][0]
    drawn = ClusterWeights(3, 5, names).block(0, 1200)
    again = tn.tabulate(Y_TRUE, rounded, ties="split", sample_weight=weight * drawn[:, 2], bins=table.bins)
    np.testing.assert_allclose(made.rank[:, 2], again.rank_count, atol=1e-9)
    np.testing.assert_allclose(made.ordered[:, 2], again.ordered_sum, atol=1e-9)


def test_the_bits_of_replicates_do_not_depend_on_the_order_of_summation() -> None:
    # Matrix products add in an order that depends on threads and processor; reversed rows stand for all of these.
    table = tn.tabulate(Y_TRUE[:1000], Y_PROB[:1000])
    names = np.arange(1000) % 40

    def made(order: slice) -> Any:
        y_true, y_prob = (np.ascontiguousarray(array[:1000][order]) for array in (Y_TRUE, Y_PROB))
        rows = Rows.of(y_true, y_prob, None, from_logits=False, normalize=False, classes=None)
        return replicate([(rows, [table.spec])], ClusterWeights(3, 20, names[order]), 20)[0][0][0]

    forward, backward = made(slice(None)), made(slice(None, None, -1))
    assert np.array_equal(forward.sums, backward.sums)
    assert np.array_equal(forward.log_score, backward.log_score)
