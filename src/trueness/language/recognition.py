"""Which framework wrote a file, by its content."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from trueness.formats.json_stream import JsonDocument, open_document
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

_FIRST_MEMBERS = 2000
"""Members of a document that are searched for a judged answer."""


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
    if not os.path.isfile(path) or not _may_be_log(path):
        return None
    if is_zip(path):
        return _of_zip(path)
    with open_document(path) as document:
        try:
            opens = document.opens()
            if opens == "[":
                return _of_list(document)
            return _of_object(document, path) if opens == "{" else None
        except Refusal as refusal:
            if refusal.code == "bad-json":  # reported by the reader of the format that its ending names
                return None
            raise


def has_token_lists(path: str) -> bool:
    """Whether a file is JSON Lines whose first object has `top_logprobs`."""
    if not _may_be_log(path) or is_zip(path):
        return False
    with open_document(path) as document:
        try:
            return document.opens() == "{" and any(name == "top_logprobs" for name, _ in _members(document))
        except Refusal as refusal:
            if refusal.code == "bad-json":  # reported by the reader of the format that its ending names
                return False
            raise


def _may_be_log(path: str) -> bool:
    """By the ending, so that large files of predictions are not opened."""
    name = path.lower()
    for ending in _COMPRESSIONS:
        name = name.removesuffix(ending)
    return name.endswith(_ENDINGS)


def _of_zip(path: str) -> Recognised | None:
    with open_zip(path) as members:
        for name in (HEADER, START):
            if name in members:
                return Recognised("inspect", f"a ZIP file with {name}")
    return None


def _of_list(document: JsonDocument) -> Recognised | None:
    first = next(document.elements(), None)
    if isinstance(first, Mapping) and {"instance_id", "stats"} <= set(first):
        return Recognised("helm", "a list of objects with instance_id and stats")
    return None


def _of_object(document: JsonDocument, path: str) -> Recognised | None:
    """By the members of the first object, one after another; the search ends as soon as they decide."""
    seen: set[str] = set()
    for number, (name, value) in enumerate(_members(document)):
        seen.add(name)
        if seen >= _TABLES and number < 8:
            return None
        found = _by_names(seen, path) or _of_member(value)
        if found is not None or number > _FIRST_MEMBERS:
            return found
    return None


def _members(document: JsonDocument) -> Iterator[tuple[str, Any]]:
    for name in document.members():
        yield name, document.value()


def _by_names(seen: set[str], path: str) -> Recognised | None:
    if seen >= _BATCH_INPUT:
        raise InvalidValueError(
            "batch-input",
            "{file}: this is the input of a batch",
            "name its output file",
            argument=path,
            file=path,
        )
    if seen >= _SIMPLE_EVALS:
        raise InvalidValueError(
            "no-grades",
            "{file} does not say which answers were right",
            "write confidence and grade of each question to a CSV and {stated_columns}",
            argument=path,
            file=path,
        )
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
