"""The bootstrap weights of rows: Poisson(1) by a table of slots, the same wherever a row is read."""

import math

import inference_oracle as exact
import numpy as np
import pytest

from trueness.inference.bootstrap_weights import (
    BLOCK_ROWS,
    SLOTS,
    ClusterWeights,
    RowWeights,
    identity,
    stream_key,
)


@pytest.mark.simulation
class TestPoissonWeights:
    def test_the_table_of_weights(self) -> None:
        """65536 slots, mean and variance exactly 1, every share within 2 slots and a bit of Poisson(1)."""
        assert sum(SLOTS) == 2**16
        assert sum(k * n for k, n in enumerate(SLOTS)) == 2**16
        assert sum(k * k * n for k, n in enumerate(SLOTS)) == 2 * 2**16
        for k, n in enumerate(SLOTS):
            assert n / 2**16 == pytest.approx(exact.poisson_pmf(k), abs=1.5e-4)

    def test_as_drawn(self) -> None:
        """Shares of 512000 weights within five errors of those of the table, and no two replicates alike."""
        weights = RowWeights(stream_key([1]), 256).block(0, 2000)
        for k, n in enumerate(SLOTS):
            share = n / 2**16
            error = 5 * math.sqrt(share * (1 - share) / weights.size) + 1e-9
            assert np.mean(weights == k) == pytest.approx(share, abs=error)
        rows, replicates = np.corrcoef(weights[:200]), np.corrcoef(weights.T[:100])
        for correlation, size in ((rows, 256), (replicates, 2000)):
            beside = correlation[~np.eye(len(correlation), dtype=bool)]
            assert np.abs(beside).max() < 6 / math.sqrt(size)

    def test_position_alone_decides(self) -> None:
        whole = RowWeights(5, 7).block(0, 3 * BLOCK_ROWS)
        for start, stop in ((0, 1), (5, 9), (BLOCK_ROWS - 1, BLOCK_ROWS + 1), (100, 2 * BLOCK_ROWS + 3)):
            assert (RowWeights(5, 7).block(start, stop) == whole[start:stop]).all()
            assert (RowWeights(5, 7, first_row=start).block(0, stop - start) == whole[start:stop]).all()
        assert (RowWeights(6, 7).block(0, 100) != whole[:100]).any()

    def test_identity_is_the_same_everywhere(self) -> None:
        """A hash of the name, not Python's, which changes with the process."""
        assert identity("patient-7") == 13551768810836757873  # blake2b, eight bytes, little-endian
        assert identity(7) == identity(7.0) == identity("7")
        assert identity("a") != identity("b")


class TestClusterWeights:
    def test_weights_belong_to_the_name_not_to_the_place(self) -> None:
        names = np.array(["b", "a", "c", "a", "b", "a"])
        weights = ClusterWeights(7, 50, names)
        lines = weights.block(0, 6)
        assert (lines[1] == lines[3]).all()
        assert (lines[0] == lines[4]).all()
        assert (lines[0] != lines[1]).any()
        order = np.array([5, 2, 0, 4, 1, 3])
        assert (ClusterWeights(7, 50, names[order]).block(0, 6) == lines[order]).all()
        assert (ClusterWeights(7, 50, names[2:5]).block(0, 3) == lines[2:5]).all()
        assert (weights.block(3, 5) == lines[3:5]).all()
        assert (ClusterWeights(8, 50, names).block(0, 6) != lines).any()

    def test_seven_and_seven_point_zero_are_one_patient(self) -> None:
        whole, point = (ClusterWeights(1, 9, np.array([7, 8], dtype=d)).block(0, 2) for d in (int, float))
        assert (whole == point).all()
