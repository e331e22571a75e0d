"""Which framework wrote a file, by its content."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from trueness.formats.json_stream import first_line, load_document
from trueness.formats.zip_members import is_zip, open_zip
from trueness.language._inspect_logs import HEADER, START
from trueness.language.helm import STATS
from trueness.refusals import InvalidValueError, Refusal

FORMATS = ("lm-eval", "inspect", "openai", "helm", "hle")
_ENDINGS = (".json", ".jsonl", ".ndjson", ".eval")
_COMPRESSIONS = (".gz", ".zst", ".zstd")
_LM_EVAL = {"doc_id", "doc", "target", "arguments", "resps", "filtered_resps"}
_INSPECT = {"version", "status", "eval", "plan"}
_BATCH_INPUT = {"custom_id", "method", "url"}
_SIMPLE_EVALS = {"score", "metrics", "htmls", "convos"}
_TABLES = {"format", "schema"}
"""Members of saved tables of this library."""


class Recognised(NamedTuple):
    """A format, and by what it was recognised."""

    format: str
    reason: str

    def __str__(self) -> str:
        return f"format {self.format}: {self.reason}"


def recognise(path: str | os.PathLike[str]) -> Recognised | None:
    """The format of an evaluation log; None for files of other kinds, such as predictions or saved tables.

    Files that are known and cannot be used are refused by name: the input of a batch, and results of simple-evals.
    """
    path = os.fspath(path)
    if os.path.isdir(path):
        stats = os.path.exists(os.path.join(path, STATS))
        return Recognised("helm", f"a folder with {STATS}") if stats else None
    if not os.path.isfile(path) or not _ending(path):
        return None
    if is_zip(path):
        return _of_zip(path)
    first = _beginning(path)
    if isinstance(first, list):
        return _of_list(first)
    return _of_object(first, path) if isinstance(first, dict) else None


def _beginning(path: str) -> Any:
    """The first line of JSON Lines, or a document; None if it is not JSON, which the reader of its format reports."""
    try:
        return first_line(path) if _ending(path) != ".json" else first_line(path) or load_document(path)
    except Refusal as refusal:
        if refusal.code == "bad-json":
            return None
        raise


def has_token_lists(path: str) -> bool:
    """Whether a file is JSON Lines whose first object has `top_logprobs`."""
    if not _ending(path) or is_zip(path):
        return False
    first = _beginning(path)
    return isinstance(first, dict) and "top_logprobs" in first


def _ending(path: str) -> str:
    """The ending of a log; empty for other files, so that large files of predictions are not opened."""
    name = path.lower()
    for ending in _COMPRESSIONS:
        name = name.removesuffix(ending)
    return next((ending for ending in _ENDINGS if name.endswith(ending)), "")


def _of_zip(path: str) -> Recognised | None:
    with open_zip(path) as members:
        for name in (HEADER, START):
            if name in members:
                return Recognised("inspect", f"a ZIP file with {name}")
    return None


def _of_list(entries: list[Any]) -> Recognised | None:
    first = next(iter(entries), None)
    if isinstance(first, Mapping) and {"instance_id", "stats"} <= set(first):
        return Recognised("helm", "a list of objects with instance_id and stats")
    return None


def _of_object(content: Mapping[str, Any], path: str) -> Recognised | None:
    if content.keys() >= _TABLES:
        return None
    found = _by_names(set(content), path)
    return found or next(filter(None, map(_of_member, content.values())), None)


def _by_names(seen: set[str], path: str) -> Recognised | None:
    if seen >= _BATCH_INPUT:
        cause = f"{path}: this is the input of a batch"
        raise InvalidValueError("batch-input", cause, "name its output file", argument=path)
    if seen >= _SIMPLE_EVALS:
        cause = f"{path} does not say which answers were right"
        remedy = (
            "write confidence and grade of each question to a CSV and read them with pandas "
            "or csv and call assess_event(correct, confidence)"
        )
        raise InvalidValueError("no-grades", cause, remedy, argument=path)
    if seen >= _LM_EVAL:
        return Recognised("lm-eval", "lines with doc_id, arguments and filtered_resps")
    if seen >= _INSPECT:
        return Recognised("inspect", "an object with version, status, eval and plan")
    if "custom_id" in seen and seen & {"response", "error"}:
        return Recognised("openai", "lines with custom_id and response")
    return None


def _of_member(value: Any) -> Recognised | None:
    judged = value.get("judge_response") if isinstance(value, Mapping) else None
    if isinstance(judged, Mapping) and {"correct", "confidence"} <= set(judged):
        return Recognised("hle", "objects with judge_response")
    return None
