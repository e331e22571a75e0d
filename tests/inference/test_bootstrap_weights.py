"""The bootstrap weights of rows: Poisson(1) by a table of slots, the same wherever a row is read."""

import math

import inference_oracle as exact
import numpy as np
import pytest

from trueness.inference.poisson import BLOCK_ROWS, SLOTS, RowWeights, identity, stream_key

pytestmark = pytest.mark.simulation


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
