"""The options for evaluation logs of language models, and which of them go with which format."""

from __future__ import annotations

import argparse
from typing import Any

from trueness.refusals import InvalidValueError

FORMATS = ("lm-eval", "inspect", "openai", "helm", "hle")
"""Those of `trueness.language`; the command lists them without importing it."""

STATED, TOKENS, VOTES = "stated confidences", "lists of tokens", "votes"
"""Files that are no logs, read by what the options say."""

_OPTIONS: dict[str, dict[str, Any]] = {
    "--normalise-by": {
        "choices": ("none", "char", "byte", "token", "unconditional"),
        "help": "lm-eval: what the log-likelihood of an option is divided by, or `unconditional`: minus the "
        "log-likelihood without the context (default: none)",
    },
    "--target": {"choices": ("index", "text"), "help": "lm-eval: how the right option is stated"},
    "--filter": {"metavar": "NAME", "help": "lm-eval: the filter whose rows are read"},
    "--options": {"metavar": "A,B,C", "help": "inspect, openai: labels of the options (default: A, B, …)"},
    "--answer-at": {
        "metavar": "TEXT",
        "help": "inspect, openai: text after which the letter of the answer stands",
    },
    "--missing": {
        "choices": ("cap", "zero"),
        "help": "inspect, openai: what an option gets that is not among the listed tokens: the largest probability "
        "that it may have (default), or 0",
    },
    "--letters": {
        "action": "store_true",
        "help": "inspect: read the letters of the answers, if there are confidences too",
    },
    "--tokens": {
        "action": "store_true",
        "help": "openai: the true token among the listed ones, with all others as one more option",
    },
    "--stated-confidence": {
        "nargs": "?",
        "const": True,
        "metavar": "COLUMN",
        "help": "column of stated confidences; for inspect without a column",
    },
    "--correct": {"metavar": "COLUMN", "help": "with --stated-confidence: whether the answer was right"},
    "--not-attempted": {
        "choices": ("skip", "incorrect"),
        "help": "leave out answers that were not attempted (default), or count them as wrong",
    },
    "--votes": {
        "nargs": "?",
        "const": True,
        "metavar": "COLUMNS",
        "help": "columns of the number of answers for each option; for inspect and openai without columns",
    },
    "--scorer": {"metavar": "NAME", "help": "inspect: the scorer whose scores are read"},
    "--partial": {"action": "store_true", "help": "inspect: read a log that did not end with success"},
    "--perturbation": {"metavar": "NAME", "help": "helm: read the rows of this perturbation"},
}

_GOES_WITH: dict[str, tuple[str, ...]] = {
    "normalise_by": ("lm-eval",),
    "target": ("lm-eval",),
    "filter": ("lm-eval",),
    "options": ("inspect", "openai"),
    "answer_at": ("inspect", "openai"),
    "missing": ("inspect", "openai"),
    "letters": ("inspect",),
    "label_file": ("openai", TOKENS),
    "label": ("openai", TOKENS, VOTES),
    "key": ("openai", TOKENS),
    "tokens": ("openai", TOKENS),
    "stated_confidence": ("inspect", STATED),
    "correct": (STATED,),
    "percent": (STATED,),
    "not_attempted": ("inspect", STATED),
    "votes": ("inspect", "openai", VOTES),
    "scorer": ("inspect",),
    "partial": ("inspect",),
    "perturbation": ("helm",),
    "no_header": (STATED, VOTES),
    "clusters": ("lm-eval", "inspect", "openai", STATED, TOKENS, VOTES),
}
"""The formats that an option goes with."""

_NEVER = (
    "probs", "classes", "sample_weight", "from_logits", "logprobs", "normalize", "where", "ragged", "class_axis",
    "ignore_index", "label_dir", "event", "delimiter", "decimal", "encoding", "sheet",
)  # fmt: skip
"""Options of files of predictions, which go with none of these formats."""

_OF_RANKS = ("variation", "edges", "confidence_bins", "ties", "table_out", "tolerance")
"""Options for tables of ranks."""


def add_language_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for evaluation logs of language models."""
    group = parser.add_argument_group(
        "language models",
        "Logs of lm-eval, inspect, OpenAI batches, HELM and HLE are recognised by their content; --format says it.",
    )
    for name, settings in _OPTIONS.items():
        group.add_argument(name, **settings)


def given(arguments: argparse.Namespace, name: str) -> bool:
    """Whether an option was given."""
    return getattr(arguments, name, None) not in (None, False, [])


def refuse_language_options(arguments: argparse.Namespace) -> None:
    """Refuse options of evaluation logs for files of predictions."""
    for option in _OPTIONS:
        name = option[2:].replace("-", "_")
        if given(arguments, name):
            raise _conflict(
                option, f"goes with {', '.join(_GOES_WITH[name])}, and these files are predictions"
            )


def refuse_other_options(arguments: argparse.Namespace, format: str) -> None:
    """Refuse options that do not go with a format."""
    for name in (*_NEVER, *_GOES_WITH):
        formats = _GOES_WITH.get(name, ())
        if format not in formats and given(arguments, name):
            option = f"--{name.replace('_', '-')}"
            with_which = f"goes with {', '.join(formats)}" if formats else "goes with files of predictions"
            raise _conflict(option, f"{with_which}, and these files are {_title(format)}")


def refuse_options_of_ranks(arguments: argparse.Namespace, what: str) -> None:
    """Refuse options for tables of ranks where there are none."""
    default = {"variation": "entropy"}
    for name in _OF_RANKS:
        value = getattr(arguments, name)
        if given(arguments, name) and value != default.get(name):
            raise _conflict(f"--{name.replace('_', '-')}", f"does not apply to {what}")


def _title(format: str) -> str:
    return f"of format {format}" if format in FORMATS else format


def _conflict(option: str, cause: str) -> InvalidValueError:
    remedy = "leave it out"
    return InvalidValueError("conflicting-arguments", f"{option} {cause}", remedy, argument=option)
