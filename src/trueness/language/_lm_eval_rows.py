"""A line of lm-evaluation-harness as the log-likelihoods of options."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from trueness.formats.fields import is_number
from trueness.refusals import InvalidValueError, Refusal

TRUTHS = ("true", "false")


class Question(NamedTuple):
    """The options of a line."""

    loglikelihood: list[float]
    unconditional: list[float] | None
    """Without the context, if the requests have it."""
    continuations: list[str]
    in_context: bool
    """Whether the options are in the contexts, before one continuation."""


def question_of(line: Mapping[str, Any]) -> Question:
    """The log-likelihoods of the options of a line, or the refusal of its layout."""
    pairs = [_pair(entry) for entry in _list(line, "filtered_resps")]
    requests = _requests(line.get("arguments"))
    if len(requests) != len(pairs):
        raise _layout(f"{len(requests)} requests, but {len(pairs)} answers")
    _refuse_unequal_repeats(line.get("resps"))
    contexts, continuations = [a for a, _ in requests], [b for _, b in requests]
    n, unconditional = len(pairs), None
    half = n // 2
    if n and n % 2 == 0 and not any(contexts[half:]) and continuations[half:] == continuations[:half]:
        n, unconditional = half, pairs[half:]
    contexts, continuations = contexts[:n], continuations[:n]
    if n < 2:
        raise _layout("one request, not a choice")
    in_context = len(set(continuations)) == 1 and len(set(contexts)) > 1
    if not in_context and len(set(contexts)) > 1:
        raise _layout(
            "its requests are neither options after one context nor contexts before one continuation"
        )
    return Question(pairs[:n], unconditional, continuations, in_context)


def _layout(cause: str) -> Refusal:
    return InvalidValueError("wrong-layout", cause, "the file must have the layout of multiple-choice tasks")


def _list(line: Mapping[str, Any], name: str) -> list[Any]:
    found = line.get(name)
    if not isinstance(found, list):
        raise _layout(f"{name} is not a list")
    return found


def _pair(entry: Any) -> float:
    """The log-likelihood of a pair of a number and a truth value."""
    if isinstance(entry, (list, tuple)) and len(entry) == 2 and str(entry[1]).lower() in TRUTHS:
        number = number_of(entry[0])
        if number is not None:
            return number
    cause = "it holds generated text, not log-likelihoods"
    remedy = (
        "accuracy alone says nothing of calibration; run a multiple_choice variant of the "
        "task, or state a confidence"
    )
    raise InvalidValueError("generated-text", cause, remedy, value=str(entry)[:60])


def number_of(value: Any) -> float | None:
    """A number, also one written as text; None for anything else.

    >>> number_of("-1.5"), number_of("-inf"), number_of("nan"), number_of("x"), number_of(True)
    (-1.5, -inf, nan, None, None)
    """
    if isinstance(value, str):
        return math.nan if value.strip().lower() == "nan" else float(value) if is_number(value) else None
    return None if isinstance(value, bool) or not isinstance(value, (int, float)) else float(value)


def _requests(arguments: Any) -> list[tuple[str, str]]:
    """Context and continuation of each request; a list of lists in old files."""
    if isinstance(arguments, Mapping):
        names = sorted(arguments, key=_request_number)
        arguments = [_of_mapping(arguments[name]) for name in names]
    if not isinstance(arguments, list):
        raise _layout("arguments is neither an object nor a list")
    return [_request(request) for request in arguments]


def _of_mapping(request: Any) -> Any:
    return [request.get("arg_0"), request.get("arg_1")] if isinstance(request, Mapping) else request


def _request(request: Any) -> tuple[str, str]:
    if isinstance(request, list) and len(request) >= 2 and all(isinstance(part, str) for part in request[:2]):
        return request[0], request[1]
    raise _layout("a request is not a context and a continuation")


def _request_number(name: str) -> int:
    found = re.search(r"[0-9]{1,9}$", name)
    return int(found.group()) if found else 0


def _refuse_unequal_repeats(resps: Any) -> None:
    """Refuse repeats of a request that differ: which one counts is not known."""
    for repeats in resps if isinstance(resps, list) else ():
        if isinstance(repeats, list) and any(repeat != repeats[0] for repeat in repeats[1:]):
            cause = "the repeats of a request have different log-likelihoods"
            raise InvalidValueError("repeats-differ", cause, "run the task with one repeat")


def refuse_unusable(numbers: Sequence[float], name: str = "the log-likelihood") -> None:
    """Refuse numbers that are NaN or above all numbers, and -inf for all options."""
    for number in numbers:
        if math.isnan(number) or number == math.inf:
            cause = f"{name} of an option is {number}"
            raise InvalidValueError("not-finite", cause, "fix the model's output", value=number)
    if all(number == -math.inf for number in numbers):
        cause = f"{name} of all options is -inf"
        raise InvalidValueError("not-finite", cause, "fix the model's output", value=-math.inf)


def ratios_of(question: Question) -> list[float]:
    """The log-likelihoods minus those without the context; NaN if an option is impossible with and without it."""
    without = question.unconditional or ()
    pairs = zip(question.loglikelihood, without, strict=True)
    return [math.nan if before == -math.inf else own - before for own, before in pairs]
