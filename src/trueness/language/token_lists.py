"""Lists of tokens with log-probabilities, as services send them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from trueness.refusals import InvalidValueError, quote
from trueness.rows import sum_tolerance

LEAST_LOGPROB = -100.0
"""Log-probabilities of this and less are sentinels: services write -9999 or -100 for "not among the best"."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token by its text, and by its bytes if they are known."""

    text: str
    bytes: tuple[int, ...] | None = None

    def matches(self, other: Token) -> bool:
        """Whether both are the same token: by bytes if both have them, else by text."""
        if self.bytes is not None and other.bytes is not None:
            return self.bytes == other.bytes
        return self.text == other.text


@dataclass(frozen=True, slots=True)
class TokenList:
    """The tokens of one position, the most probable first; equal ones in the order of the list."""

    tokens: tuple[Token, ...]
    prob: tuple[float, ...]
    n_sentinels: int = 0
    """Entries that were not probabilities."""
    sampled_first: bool = False
    """Whether the first entry was the sampled token in place of the k-th best, and was dropped."""

    @property
    def missing(self) -> float:
        """The probability of all tokens that are not listed; 0 if the list sums to 1 or more."""
        return max(0.0, 1.0 - math.fsum(self.prob))

    def place_of(self, true: Any) -> int | None:
        """The place of the true token, from 0; None if it is not listed. Refused if two entries could be meant."""
        wanted = token_of(true)
        found = [k for k, token in enumerate(self.tokens) if token.matches(wanted)]
        if len(found) > 1:
            cause = f"the true token {quote(wanted.text)} is listed {len(found)} times"
            remedy = "give the bytes of the tokens, as services do beside the text"
            raise InvalidValueError("ambiguous-token", cause, remedy, argument="true", value=wanted.text)
        return found[0] if found else None


def token_of(value: Any) -> Token:
    """A token from its text, or from an object with `token` and perhaps `bytes`."""
    if isinstance(value, Mapping):
        given = value.get("bytes")
        return Token(str(value.get("token")), None if given is None else tuple(given))
    return Token(str(value))


def token_list(top_logprobs: Any) -> TokenList:
    """The list of one position, without sentinels and without a sampled token that was put in front.

    `top_logprobs` is a list of objects with `token`, `logprob` and perhaps `bytes`, a list of pairs, or a mapping from
    tokens to log-probabilities. Refused if the probabilities sum to more than 1.

    >>> token_list([("a", -4.0), ("b", -0.2), ("c", -2.0)]).tokens
    (Token(text='b', bytes=None), Token(text='c', bytes=None))
    >>> len(token_list({"a": -0.1, "b": -2.5, "c": -9999.0}).prob)
    2
    """
    entries = [_entry(entry) for entry in _entries(top_logprobs)]
    kept = [entry for entry in entries if entry[1] > LEAST_LOGPROB]
    if not kept:
        raise InvalidValueError(
            "empty-list", "no token is listed", "leave such rows out", argument="top_logprobs"
        )
    # vLLM puts the sampled token first and cuts the list to k: the smallest in front is that token.
    sampled_first = len(kept) > 1 and kept[0][1] < min(number for _, number in kept[1:])
    listed = sorted(kept[1:] if sampled_first else kept, key=lambda entry: -entry[1])
    prob = tuple(math.exp(number) for _, number in listed)
    if (total := math.fsum(prob)) > 1 + sum_tolerance(max(2, len(prob)), 0.0):
        cause = f"the listed tokens have a probability of {total:.6g}, which is above 1"
        remedy = "check that these are natural logarithms of probabilities"
        raise InvalidValueError("sum-not-1", cause, remedy, argument="top_logprobs", value=total)
    return TokenList(tuple(token for token, _ in listed), prob, len(entries) - len(kept), sampled_first)


def _entries(top_logprobs: Any) -> Iterable[Any]:
    return top_logprobs.items() if isinstance(top_logprobs, Mapping) else top_logprobs


def _entry(entry: Any) -> tuple[Token, float]:
    """The token and log-probability of an entry; -inf counts as a sentinel, NaN and other types are refused."""
    token, number = (entry, entry.get("logprob")) if isinstance(entry, Mapping) else tuple(entry)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or math.isnan(number):
        cause = f"logprob is {number!r}"
        remedy = "log-probabilities are numbers of at most 0"
        raise InvalidValueError("not-finite", cause, remedy, argument="logprob", value=number)
    return token_of(token), float(number)
