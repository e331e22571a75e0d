"""Errors over the full simplex, for comparison with papers: `simplex_ece`, the kernel error `skce`, and their tests.

They need the rows, do not merge, and are no part of `assess`: see docs/guide/simplex.md for what they cannot detect.
"""

from trueness.simplex.estimators import skce
from trueness.simplex.kernel_test import SkceTest, skce_test
from trueness.simplex.partition_test import SimplexEceTest, simplex_ece_test
from trueness.simplex.partitions import simplex_ece

__all__ = [
    "SimplexEceTest",
    "SkceTest",
    "simplex_ece",
    "simplex_ece_test",
    "skce",
    "skce_test",
]
