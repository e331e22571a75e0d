"""Checks of single arguments, the seed of all random streams, and the settings of an answer."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal, nearest

Seed: TypeAlias = "int | np.random.Generator | None"

WITH_TOLERANCE = ("vce", "gap", "ece", "rce")
"""The numbers that may have a tolerance; one number alone is meant for the first two."""


def whole_number(argument: str, value: Any, least: int, most: int | None = None) -> int:
    """The value as an int; refused if it is not a whole number, too small or too large."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        wanted = f"an integer of at least {least}"
    elif most is not None and value > most:
        wanted = f"at most {most}"
    else:
        return int(value)
    raise bad_argument(argument, wanted, value)


def number_in(argument: str, value: Any, low: float, high: float) -> float:
    """The value as a float; refused unless low ≤ value < high."""
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not low <= value < high:
        wanted = f"a number from {low:g} to below {high:g}"
        raise bad_argument(argument, wanted, value)
    return float(value)


def bad_argument(name: str, wanted: str, value: Any, code: str = "bad-argument") -> Refusal:
    """The refusal of a value that is not what is wanted."""
    cause = f"`{name}` must be {wanted}, got {value!r}"
    return InvalidValueError(code, cause, argument=name, value=value)


def root_seed(seed: Seed) -> int:
    """A seed for all streams: the argument, a draw from a generator, or for None a new one.

    >>> root_seed(7)
    7
    """
    if isinstance(seed, (int, np.integer)) and not isinstance(seed, bool) and seed >= 0:
        return int(seed)
    if seed is not None and not isinstance(seed, np.random.Generator):
        cause = f"`seed` must be None, an integer of at least 0 or a numpy Generator, got {seed!r}"
        raise InvalidTypeError("wrong-type", cause, argument="seed", value=seed)
    return int(np.random.default_rng(seed).integers(2**63))


@dataclass(frozen=True, slots=True)
class Settings:
    """How an answer is computed; the same settings and rows give the same numbers.

    The fields are arguments of `assess` and explained there; the seed is that of all streams.
    """

    level: float = 0.95
    resamples: int = 999
    seed: int = 0
    tolerance: float | Mapping[str, float] | None = None
    min_group_size: int = 100

    def __post_init__(self) -> None:
        level = number_in("level", self.level, 0.5, 1.0)
        needed = math.ceil(1 / (1 - level) * (1 - 1e-9)) - 1  # 1/(R + 1) is the smallest p-value
        if whole_number("resamples", self.resamples, 1, 10**7) < needed:
            wanted = f"{needed} or more, since p-values of {1 - level:.3g} are to be found"
            raise bad_argument("resamples", wanted, self.resamples, "too-few-resamples")
        whole_number("seed", self.seed, 0)
        whole_number("min_group_size", self.min_group_size, 1)
        _refuse_unknown_limits(self.tolerance)

    @property
    def largest_p(self) -> float:
        """The largest p-value that counts; 1 - 0.9 is rounded to below 0.1, which p may equal."""
        return 1 - self.level + 1e-12

    @property
    def limits(self) -> dict[str, float]:
        """The tolerance of each number that has one."""
        if self.tolerance is None:
            return {}
        if isinstance(self.tolerance, Mapping):
            return {name: float(limit) for name, limit in self.tolerance.items()}
        return dict.fromkeys(WITH_TOLERANCE[:2], float(self.tolerance))


def _refuse_unknown_limits(tolerance: Any) -> None:
    limits = tolerance if isinstance(tolerance, Mapping) else {"vce": tolerance}
    if not limits:
        raise bad_argument("tolerance", "a number, or a mapping such as {'vce': 0.02}", tolerance)
    for name, limit in limits.items():
        if name not in WITH_TOLERANCE:
            cause = f"`tolerance` has the unknown number {name!r}"
            remedy = nearest(str(name), WITH_TOLERANCE)
            raise InvalidValueError("unknown-metric", cause, remedy, argument="tolerance")
        if tolerance is not None:
            number_in("tolerance", limit, 0.0, 2.0)
