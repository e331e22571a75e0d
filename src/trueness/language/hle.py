"""Judged answers of Humanity's Last Exam: `judged_<model>.json`."""

from __future__ import annotations

import os
from array import array
from collections.abc import Mapping
from typing import Any

import numpy as np

from trueness.formats.json_stream import load_document
from trueness.language._collected import BadRows, names_array, refuse_no_rows
from trueness.language.results import Statements
from trueness.language.stated_confidence import confidence_of
from trueness.refusals import InvalidValueError, Refusal, quote

NOT_JUDGED = "not judged"


def read_hle(path: str | os.PathLike[str], *, on_bad_rows: str = "refuse") -> Statements:
    """Stated confidences and whether the answer was right, from a judged file of Humanity's Last Exam.

    Questions that were not judged are left out and counted; the published accuracy counts them as wrong.

    Parameters
    ----------
    path
        The file.
    on_bad_rows : "refuse" or "skip"
        Whether bad rows are refused, or left out and counted.
    """
    file, bad = os.fspath(path), BadRows(on_bad_rows)
    event, stated, cluster = array("b"), array("d"), []
    models: dict[str, None] = {}
    content = load_document(file)
    if not isinstance(content, dict):
        raise _wrong_layout("it is not an object", file)
    for name, answer in content.items():
        if not isinstance(answer, Mapping):
            raise _wrong_layout(f"{quote(name)} is not an object", file)
        judged = answer.get("judge_response")
        if judged is None:
            bad.left_out[NOT_JUDGED] += 1
            continue
        try:
            row = _row(judged)
        except Refusal as refusal:
            refusal = refusal.with_facts(source=f"{file}, question {quote(name)}")
            if refusal.code == "wrong-layout":
                raise refusal from None
            bad.add(refusal)
            continue
        models.setdefault(str(answer.get("model") or "all"))
        event.append(row[0])
        stated.append(row[1])
        cluster.append(name)
    refuse_no_rows(len(stated), file, bad.left_out)
    group = next(iter(models)) if len(models) == 1 else os.path.basename(file)
    return Statements(
        event=np.array(event, bool),
        stated=np.array(stated),
        group=names_array([group] * len(stated)),
        cluster=names_array(cluster),
        default_confidence=True,
        left_out=bad.left_out,
        remarks=(f"model {group}: {len(stated)} judged questions, confidences in percent",),
    )


def _row(judged: Any) -> tuple[bool, float]:
    """Whether the judge says yes, and the confidence."""
    for name in ("correct", "confidence"):
        if not isinstance(judged, Mapping) or name not in judged:
            raise _wrong_layout(f"judge_response has no field {name!r}")
    verdict = judged["correct"]
    if not isinstance(verdict, str) or ("yes" not in verdict.lower() and "no" not in verdict.lower()):
        cause = f"{quote(verdict)} is neither right nor wrong"
        remedy = "the judge writes yes or no"
        raise InvalidValueError("not-right-or-wrong", cause, remedy, value=verdict)
    return "yes" in verdict, confidence_of(_number(judged["confidence"]), percent=True)


def _number(confidence: Any) -> Any:
    """A confidence that the judge wrote as a number; text is not one."""
    return None if isinstance(confidence, str) else confidence


def _wrong_layout(cause: str, file: str | None = None) -> Refusal:
    remedy = "the file must have the layout of run_judge_results.py"
    return InvalidValueError("wrong-layout", cause, remedy, source=file)
