"""Ways to combine the p-values of all tests of the same rows into one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Combination = Callable[[np.ndarray], np.ndarray]
"""From p-values, (runs, tests), to one for each run."""

COMBINATIONS: dict[str, Combination] = {}
