"""Settings and statistics shared by all parts of the study."""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import Any

import numpy as np

import trueness as tn

EXPONENTS = (0.7, 0.9, 1.0, 1.03, 1.1, 1.3, 1.7)


SIZES = (300, 1000, 5000)


ALPHAS = {
    "C=3 flat": (1.0,) * 3,
    "C=3 skew": (10.0, *(1.0,) * 2),
    "C=10 flat": (1.0,) * 10,
    "C=10 skew": (10.0, *(1.0,) * 9),
    "C=100 flat": (1.0,) * 100,
}


BINS: dict[str, Any] = {"EW": tn.EqualWidth(10), "EF": tn.EqualMass(10)}


def seed_of(*name: object) -> int:
    """A seed derived from the name of a setting."""
    return int.from_bytes(blake2b(repr(name).encode(), digest_size=7).digest(), "big")


def entropy(p: np.ndarray) -> np.ndarray:
    """Entropy in base C, along the last axis."""
    return np.asarray(-(p * np.log(np.where(p > 0, p, 1.0))).sum(axis=-1) / math.log(p.shape[-1]))


def p_values(result: tn.Assessment) -> list[float]:
    """All p-values of an assessment, in the order of `size.TESTS`."""
    assert result.ece is not None
    return [
        result.vce.p_value,
        result.vce.centred_p_value,
        result.net.centred_p_value,
        result.ece.p_value,
        result.rce.p_value,
        result.rce_w1.p_value,
        result.log_score_z.p_value,
        result.p_value,
    ]


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [head, ["---"] * len(head), *rows])


def share(x: float) -> str:
    """A share with three digits, without the leading zero."""
    return f"{x:.3f}".removeprefix("0") if x < 1 else "1"
