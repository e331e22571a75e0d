"""The seed of all random streams: the same `rng=` gives the same numbers, whatever the chunks and threads."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from trueness.refusals import InvalidTypeError

Seed: TypeAlias = "int | np.random.Generator | None"


def root_seed(rng: Seed) -> int:
    """A seed for all streams: the argument itself, a draw from a generator, or for None one from the system."""
    if isinstance(rng, (int, np.integer)) and not isinstance(rng, bool) and rng >= 0:
        return int(rng)
    if rng is not None and not isinstance(rng, np.random.Generator):
        cause = f"rng must be None, a seed of at least 0 or a numpy.random.Generator, got {rng!r}"
        raise InvalidTypeError("wrong-type", cause, argument="rng", value=rng)
    return int(np.random.default_rng(rng).integers(2**63))
