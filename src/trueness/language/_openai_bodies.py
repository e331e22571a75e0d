"""The answers in a line of OpenAI batch output, whichever endpoint it is from, in one layout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from trueness.language._inspect_logs import field_in


class Answer(NamedTuple):
    """One generated answer."""

    text: str | None
    content: list[Mapping[str, Any]] | None
    """Tokens with `top_logprobs`; None if there are no log-probabilities."""


def answers_of(body: Mapping[str, Any]) -> list[Answer]:
    """The answers of a body of /v1/chat/completions, /v1/completions or /v1/responses."""
    if isinstance(body.get("choices"), list):
        return [_of_choice(choice) for choice in body["choices"] if isinstance(choice, Mapping)]
    return _of_output(body.get("output"))


def _of_choice(choice: Mapping[str, Any]) -> Answer:
    logprobs = choice.get("logprobs")
    if "message" in choice:
        content = field_in(logprobs, "content")
        return Answer(field_in(choice, "message", "content"), content if isinstance(content, list) else None)
    return Answer(choice.get("text"), _of_completion(logprobs))


def _of_completion(logprobs: Any) -> list[Mapping[str, Any]] | None:
    """Tokens of /v1/completions, whose lists are objects of tokens and log-probabilities."""
    tokens, tops = field_in(logprobs, "tokens"), field_in(logprobs, "top_logprobs")
    if not isinstance(tops, list):
        return None
    if not isinstance(tokens, list):
        tokens = [
            max(top, key=top.__getitem__, default="") if isinstance(top, Mapping) else "" for top in tops
        ]
    return [
        {"token": token, "top_logprobs": [{"token": t, "logprob": p} for t, p in (top or {}).items()]}
        for token, top in zip(tokens, tops, strict=False)
    ]


def _of_output(output: Any) -> list[Answer]:
    """The answer of /v1/responses: all text of its messages."""
    parts = [
        part
        for item in (output if isinstance(output, list) else ())
        for part in (field_in(item, "content") or ())
        if field_in(part, "type") in (None, "output_text")
    ]
    if not parts:
        return []
    tokens = [token for part in parts for token in (field_in(part, "logprobs") or ())]
    return [Answer("".join(str(field_in(part, "text") or "") for part in parts), tokens or None)]
