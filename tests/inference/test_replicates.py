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
    np.testing.assert_allclose(parts.sums, whole.sums, rtol=1e-12, atol=1e-12)
    # A replicate is the table of the rows repeated as often as their weights say.
    weights = ClusterWeights(3, 20, names).block(0, 1200)
    for k in (0, 7, 19):
        again = tn.tabulate(
            np.repeat(Y_TRUE, weights[:, k]), np.repeat(Y_PROB, weights[:, k], axis=0), bins=table.bins
        )
        np.testing.assert_allclose(whole.ordered[:, k], again.ordered_sum, rtol=1e-12, atol=1e-12)
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
