"""Adjusted p-values, against plain loops."""

import inference_oracle as exact
import numpy as np
import pytest

from trueness.old_inference.corrections import benjamini_hochberg, holm


class TestCorrections:
    CASES = ([0.01], [0.01, 0.04, 0.03], [0.5, 0.5], [1.0, 0.001, 0.9, 0.02, 0.02], [0.2, 0.1, 0.05, 0.6])

    @pytest.mark.parametrize("p", CASES)
    def test_against_plain_loops(self, p: list[float]) -> None:
        assert holm(p) == pytest.approx(exact.holm(p), abs=1e-15)
        assert benjamini_hochberg(p) == pytest.approx(exact.benjamini_hochberg(p), abs=1e-15)

    def test_random(self) -> None:
        rng = np.random.default_rng(0)
        for size in (2, 3, 7, 20):
            p = np.round(rng.random(size), 2).tolist()
            assert holm(p) == pytest.approx(exact.holm(p), abs=1e-14)
            assert benjamini_hochberg(p) == pytest.approx(exact.benjamini_hochberg(p), abs=1e-14)

    def test_of_none(self) -> None:
        assert holm([]) == benjamini_hochberg([]) == []
