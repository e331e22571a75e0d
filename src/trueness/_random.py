"""One seed for everything that is drawn: the same `rng=` gives the same numbers, however the work is cut."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Seed: TypeAlias = "int | np.random.Generator | None"


def root_seed(rng: Seed) -> int:
    """A seed for all streams; a generator gives one and moves on, None takes one from the system."""
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng must be None, a seed from 0 up or a numpy.random.Generator, got {rng!r}")
    return int(np.random.default_rng(rng).integers(2**63))
