"""Products in tiles are products."""

from __future__ import annotations

import numpy as np
import pytest

from trueness.inference.products import LEAST_TILE, TILE, in_tiles


@pytest.mark.parametrize(
    ("columns", "units", "replicates"),
    [
        (0, 5, 7),  # no columns
        (70, 256, 999),  # tiles, of which the last one is shorter
        (70, 256, TILE // (70 * 256)),  # one tile
        (70, TILE // (70 * LEAST_TILE) + 1, 40),  # too large for tiles
    ],
)
def test_in_tiles_is_the_product(columns: int, units: int, replicates: int) -> None:
    """Whole numbers, so that sums are exact in any order."""
    rng = np.random.default_rng(0)
    values = rng.integers(-1000, 1000, (columns, units)).astype(np.float64)
    weights = rng.integers(0, 8, (units, replicates)).astype(np.float64)
    wanted = np.einsum("cu,ub->cb", values, weights)
    np.testing.assert_array_equal(in_tiles(values, weights), wanted)
