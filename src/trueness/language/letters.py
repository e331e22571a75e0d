"""The letters of a multiple-choice answer among the most probable tokens at its position."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray
from trueness.language.token_lists import token_list
from trueness.refusals import InvalidValueError, quote

MISSING = ("cap", "zero")
REASONING_TOKENS = 32
"""An answer after more tokens than this is an answer after reasoning."""

_WORD_BEGINS = ("▁", "Ġ")
"""How tokenizers write the space before a word."""


class Letters(NamedTuple):
    """The distribution over the options at one position."""

    prob: FloatArray
    """Of each option, given that the answer is one of them."""
    off: float
    """The probability of listed tokens that are none of the options."""
    unknown_share: float
    """m/(S + m): the largest share of the answer's distribution that is unaccounted for."""
    n_missing: int
    """The number of options none of whose tokens is listed."""
    unlisted: tuple[bool, ...]
    """Which options these are."""


def letters(top_logprobs: Any, labels: Sequence[str], missing: str = "cap") -> Letters:
    """The distribution over labelled options from the most probable tokens at one position.

    A token belongs to an option if its text, without surrounding white space, equals the option's label.

    Parameters
    ----------
    top_logprobs : sequence of {"token", "logprob"} or of (token, logprob), or mapping of tokens to log-probabilities
        The listed tokens.
    labels : sequence of str
        The labels of the options, such as ["A", "B", "C", "D"].
    missing : "cap" or "zero"
        An option none of whose tokens is listed gets min(q, m/g), where q is the smallest listed probability, m the
        probability that is not listed, and g the number of such options; or 0.

    Examples
    --------
    >>> tokens = [("A", 0.6), (" A", 0.1), ("B", 0.15), ("The", 0.1), ("C", 0.02)]
    >>> found = letters([(token, np.log(p)) for token, p in tokens], ["A", "B", "C", "D"])
    >>> found.prob.round(4).tolist(), round(found.off, 4), round(found.unknown_share, 4), found.n_missing
    ([0.7865, 0.1685, 0.0225, 0.0225], 0.1, 0.0333, 1)
    """
    require_choice("missing", missing, MISSING)
    listed_tokens = token_list(top_logprobs)
    place = {label: number for number, label in enumerate(labels)}
    mass, listed, off = np.zeros(len(labels)), np.zeros(len(labels), bool), 0.0
    for token, probability in zip(listed_tokens.tokens, listed_tokens.prob, strict=True):
        option = place.get(bare(token.text))
        if option is None:
            off += probability
        else:
            mass[option] += probability
            listed[option] = True
    if not listed.any():
        letters = ", ".join(labels)
        cause = f"none of {letters} is among the {len(listed_tokens.prob)} listed tokens"
        remedy = "ask for more top_logprobs, or check `options`"
        raise InvalidValueError("no-option-listed", cause, remedy)
    total, n_missing = float(mass.sum()), int(np.count_nonzero(~listed))
    rest = max(0.0, 1 - total - off)
    if n_missing and missing == "cap":
        mass[~listed] = min(listed_tokens.prob[-1], rest / n_missing)
    return Letters(mass / mass.sum(), off, rest / (total + rest), n_missing, tuple((~listed).tolist()))


def bare(token: str) -> str:
    r"""The text of a token without surrounding white space and the sign of a word's beginning.

    >>> bare(" A"), bare("ĠB"), bare("▁C\n")
    ('A', 'B', 'C')
    """
    text = token.strip()
    return text[1:].strip() if text.startswith(_WORD_BEGINS) else text


class Position(NamedTuple):
    """Where the answer stands."""

    entry: Mapping[str, Any]
    """Its token with `top_logprobs`."""
    n_before: int
    """The number of tokens before it."""


def answer_position(content: Sequence[Mapping[str, Any]], answer_at: str | None = None) -> Position:
    """The first token that is not white space alone, of the whole text or after the last `answer_at`."""
    start = 0
    tokens = [str(entry.get("token", "")) for entry in content]
    if answer_at is not None:
        found = "".join(tokens).rfind(answer_at)
        if found < 0:
            cause = f"the answer does not contain {quote(answer_at)}"
            remedy = "check `answer_at='Answer:'`"
            raise InvalidValueError("answer-not-an-option", cause, remedy, value=answer_at)
        start = found + len(answer_at)
    reached = 0
    for number, token in enumerate(tokens):
        if reached >= start and token.strip():
            return Position(content[number], number)
        reached += len(token)
    after = "" if answer_at is None else f" after {answer_at!r}"
    cause = f"there is no answer{after}"
    raise InvalidValueError("answer-not-an-option", cause, "ask the model for the letter alone")


def require_label(token: str, labels: Sequence[str]) -> None:
    """Refuse an answer that does not begin with a label."""
    if bare(token) not in labels:
        value = token[:40]
        listed = ", ".join(labels)
        cause = f'the answer begins with "{value}", which is none of {listed}'
        remedy = "say where it stands: `answer_at='Answer:'`, or ask the model for the letter alone"
        raise InvalidValueError("answer-not-an-option", cause, remedy, value=value)


def letters_of_answer(
    content: Sequence[Mapping[str, Any]], labels: Sequence[str], answer_at: str | None, missing: str
) -> tuple[Letters, int]:
    """The distribution at the answer's position, and the number of tokens before it."""
    position = answer_position(content, answer_at)
    require_label(str(position.entry.get("token", "")), labels)
    top = position.entry.get("top_logprobs")
    if not top:
        cause = "no tokens are listed at the answer"
        remedy = "ask for logprobs and top_logprobs in the requests"
        raise InvalidValueError("no-log-probabilities", cause, remedy)
    return letters(top, labels, missing), position.n_before
