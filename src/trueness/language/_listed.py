"""The listed tokens of one position, in decreasing order of probability."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trueness.refusals import InvalidValueError
from trueness.rows import sum_tolerance

SENTINEL = -100.0


def listed_tokens(top_logprobs: Any) -> list[tuple[str, float]]:
    """The tokens with their probabilities, without sentinels and a sampled token that was put in front."""
    pairs = [(text, number) for text, number in map(_pair, _entries(top_logprobs)) if number > SENTINEL]
    if len(pairs) > 1 and pairs[0][1] < min(number for _, number in pairs[1:]):
        pairs = pairs[1:]
    found = sorted(((text, math.exp(number)) for text, number in pairs), key=lambda pair: -pair[1])
    total = math.fsum(p for _, p in found)
    if total > 1 + sum_tolerance(max(2, len(found)), 0.0):
        raise InvalidValueError(
            "bad-token-list",
            "the listed tokens have a probability of {value:.6g}",
            "check the list",
            value=total,
        )
    return found


def _entries(top_logprobs: Any) -> list[Any]:
    return list(top_logprobs.items() if isinstance(top_logprobs, Mapping) else top_logprobs)


def _pair(entry: Any) -> tuple[str, float]:
    token, number = (entry.get("token"), entry.get("logprob")) if isinstance(entry, Mapping) else tuple(entry)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or math.isnan(number):
        raise InvalidValueError(
            "not-finite", "logprob is {value!r}", "log-probabilities are numbers", value=number
        )
    return str(token), float(number)
