"""The bootstrap weights of clusters: Poisson(1) by a table of slots, the same wherever a cluster is read."""

import math

import inference_oracle as exact
import numpy as np
import pytest

from trueness.old_inference.bootstrap_weights import SLOTS, poisson_weights, stream_key
from trueness.rows.clusters import clusters_of_rows, identity, row_identities, scramble, stream_words


class TestPoissonWeights:
    def test_the_table_of_weights(self) -> None:
        """65536 slots, mean and variance exactly 1, every share within 2 slots and a bit of Poisson(1)."""
        assert sum(SLOTS) == 2**16
        assert sum(k * n for k, n in enumerate(SLOTS)) == 2**16
        assert sum(k * k * n for k, n in enumerate(SLOTS)) == 2 * 2**16
        for k, n in enumerate(SLOTS):
            assert n / 2**16 == pytest.approx(exact.poisson_pmf(k), abs=1.5e-4)

    @pytest.mark.parametrize("of_rows", [True, False])
    def test_as_drawn(self, of_rows: bool) -> None:
        """Shares of 512000 weights within five errors of those of the table, and no two replicates alike.

        The identities of rows are scrambled; blocks are numbered from 0, so that neighbours differ in one bit.
        """
        identities = row_identities(np.arange(2000)) if of_rows else np.arange(2000, dtype=np.uint64)
        weights = poisson_weights(stream_key([1]), identities, 0, 256)
        for k, n in enumerate(SLOTS):
            share = n / 2**16
            error = 5 * math.sqrt(share * (1 - share) / weights.size) + 1e-9
            assert np.mean(weights == k) == pytest.approx(share, abs=error)
        units, replicates = np.corrcoef(weights[:200]), np.corrcoef(weights.T[:100])
        for correlation, size in ((units, 256), (replicates, 2000)):
            beside = correlation[~np.eye(len(correlation), dtype=bool)]
            assert np.abs(beside).max() < 6 / math.sqrt(size)

    def test_replicates_may_be_drawn_in_parts(self) -> None:
        names = row_identities(np.arange(9))
        whole = poisson_weights(5, names, 0, 50)
        parts = [poisson_weights(5, names, 0, 20), poisson_weights(5, names, 20, 50)]
        assert np.array_equal(np.concatenate(parts, axis=1), whole)
        assert (poisson_weights(6, names, 0, 50) != whole).any()

    def test_key_and_identity_do_not_cancel(self) -> None:
        """Neighbouring seeds and names, which differ in one bit, give other weights, and not shifted ones."""
        names = np.arange(4, dtype=np.uint64)
        lines = np.concatenate([poisson_weights(key, names, 0, 400) for key in (0, 1, 2, 3)])
        assert len({line.tobytes() for line in lines}) == 16


class TestIdentities:
    def test_identity_is_the_same_everywhere(self) -> None:
        """A hash of the name, not Python's, which changes with the process."""
        assert identity("patient-7") == 13551768810836757873  # blake2b, eight bytes, little-endian
        assert identity(7) == identity(7.0) == identity("7")
        assert identity("a") != identity("b")

    def test_seven_and_seven_point_zero_are_one_patient(self) -> None:
        whole, point = (clusters_of_rows(np.array([7, 8, 7], dtype=d), 3) for d in (int, float))
        assert np.array_equal(whole.identities, point.identities)
        assert whole.names == point.names
        assert whole.codes.tolist() == point.codes.tolist()

    def test_clusters_are_in_the_order_of_their_identities(self) -> None:
        found = clusters_of_rows(["b", "a", "c", "a"], 4)
        assert found.identities.tolist() == sorted(map(identity, "abc"))
        assert [found.names[code] for code in found.codes] == ["b", "a", "c", "a"]

    def test_split_mix(self) -> None:
        """The first outputs of SplitMix64 with seed 1234567, as in the reference implementation."""
        assert stream_words(np.array([1234567], np.uint64), 0, 5).tolist() == [
            [
                6457827717110365317,
                3203168211198807973,
                9817491932198370423,
                4593380528125082431,
                16408922859458223821,
            ]
        ]
        assert len(np.unique(scramble(np.arange(100_000, dtype=np.uint64)))) == 100_000
