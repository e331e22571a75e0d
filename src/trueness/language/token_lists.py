"""Lists of tokens with log-probabilities, as services send them, as the k largest probabilities of each row."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trueness._arguments import whole_number
from trueness._arrays import FloatArray, IntArray
from trueness._printing import plural
from trueness.refusals import InvalidValueError, Refusal
from trueness.rows import sum_tolerance
from trueness.rows.top_lists import CAP_TOLERANCE, impossible_list

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

    @property
    def is_complete(self) -> bool:
        """Whether no mass is missing, to the tolerance of sums."""
        return self.missing <= sum_tolerance(max(2, len(self.prob)), 0.0)

    def place_of(self, true: Any) -> int | None:
        """The place of the true token, from 0; None if it is not listed. Refused if two entries could be meant."""
        wanted = token_of(true)
        found = [k for k, token in enumerate(self.tokens) if token.matches(wanted)]
        if len(found) > 1:
            raise InvalidValueError(
                "ambiguous-token",
                "the true token {value!q} is listed {times} times",
                "give the bytes of the tokens, as services do beside the text",
                argument="true",
                value=wanted.text,
                times=len(found),
            )
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
        raise InvalidValueError(
            "sum-not-1",
            "the listed tokens have a probability of {value:.6g}, which is above 1",
            "check that these are natural logarithms of probabilities",
            argument="top_logprobs",
            value=total,
        )
    return TokenList(tuple(token for token, _ in listed), prob, len(entries) - len(kept), sampled_first)


def _entries(top_logprobs: Any) -> Iterable[Any]:
    return top_logprobs.items() if isinstance(top_logprobs, Mapping) else top_logprobs


def _entry(entry: Any) -> tuple[Token, float]:
    """The token and log-probability of an entry; -inf counts as a sentinel, NaN and other types are refused."""
    token, number = (entry, entry.get("logprob")) if isinstance(entry, Mapping) else tuple(entry)
    if isinstance(number, bool) or not isinstance(number, (int, float)) or math.isnan(number):
        raise InvalidValueError(
            "not-finite",
            "logprob is {value!r}",
            "log-probabilities are numbers of at most 0",
            argument="logprob",
            value=number,
        )
    return token_of(token), float(number)


@dataclass(frozen=True, slots=True, eq=False)
class TopLists:
    """The k largest probabilities of each row, for `trueness.assess_top`."""

    prob: FloatArray
    """(rows, k), the largest first."""
    rank: IntArray
    """The place of the true token, from 0; k if it is not listed, (rows,)."""
    missing: FloatArray
    """The mass beyond the list, (rows,)."""
    rows: IntArray
    """The number of each row among those given."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Rows that were skipped, by the code of the refusal."""
    n_sentinels: int = 0
    n_sampled_first: int = 0


def top_lists(
    lists: Sequence[Any],
    true: Sequence[Any],
    *,
    top_k: int | None = None,
    n_classes: int | None = None,
    skip: bool = False,
) -> TopLists:
    """Lists of tokens and the true tokens as arrays of the k largest probabilities.

    `top_k` is by default the length of the shortest list that lacks mass. Longer lists are cut; shorter ones that lack
    no mass end in zeros, others are bad rows. A true token that is not listed counts as beyond the list. Bad rows are
    refused with their number, or left out and counted with `skip`.

    >>> top_lists([{"a": -0.5, "b": -1.5}], ["b"]).rank
    array([1])
    """
    left_out: Counter[str] = Counter()
    read: list[tuple[int, TokenList, int | None]] = []
    for row, (given, token) in enumerate(zip(lists, true, strict=True)):
        with _BadRow(row, left_out if skip else None):
            one = token_list(given)
            read.append((row, one, one.place_of(token)))
    k = common_length([one for _, one, _ in read]) if top_k is None else whole_number("top_k", top_k, 1)
    prob, rank, rows = [], [], []
    for row, one, place in read:
        with _BadRow(row, left_out if skip else None):
            prob.append(first_k(one, k, row, n_classes))
            rank.append(k if place is None else min(place, k))
            rows.append(row)
    if not rows:
        raise InvalidValueError("no-rows", "no row has a usable list of tokens", argument="top_logprobs")
    missing = [max(0.0, 1.0 - math.fsum(row)) for row in prob]
    return TopLists(
        np.array(prob),
        np.array(rank, np.int64),
        np.array(missing),
        np.array(rows, np.int64),
        left_out,
        sum(one.n_sentinels for _, one, _ in read),
        sum(one.sampled_first for _, one, _ in read),
    )


class _BadRow:
    """Adds the row's number to a refusal; with a counter, counts it instead."""

    def __init__(self, row: int, left_out: Counter[str] | None) -> None:
        self.row, self.left_out = row, left_out

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: Any, error: Any, _trace: Any) -> bool:
        if not isinstance(error, Refusal):
            return False
        if self.left_out is None:
            raise error.with_facts(row=self.row) from error
        self.left_out[error.code] += 1
        return True


def common_length(lists: Sequence[TokenList]) -> int:
    """The length of the shortest list that lacks mass; of the longest if all are complete."""
    lengths = [len(one.prob) for one in lists if not one.is_complete]
    return min(lengths) if lengths else max((len(one.prob) for one in lists), default=1)


def first_k(one: TokenList, k: int, row: int, n_classes: int | None = None) -> list[float]:
    """The k largest probabilities of a list, with zeros after a complete one; a shorter one that lacks mass is refused.

    So is one that lacks more than the other classes can have, if their number is known.
    """
    prob = list(one.prob[:k])
    if len(prob) < k and not one.is_complete:
        raise InvalidValueError(
            "short-list",
            "the list{place} has {tokens} and lacks {missing:.3g} of its mass; {top_k} {k} needs {k}",
            "take {top_k} {length}, or {skip_rows}",
            argument="top_k",
            row=row,
            tokens=plural(len(prob), "token"),
            missing=one.missing,
            value=len(prob),
            length=len(prob),
            k=k,
        )
    if len(prob) < k:
        return [*prob, *([0.0] * (k - len(prob)))]
    missing = max(0.0, 1.0 - math.fsum(prob))
    if n_classes is not None and missing > max(n_classes - k, 0) * prob[-1] * (1 + CAP_TOLERANCE):
        raise impossible_list(row, k, prob[-1], missing, n_classes - k)
    return prob
