"""The judges' few verbs, said in the package's names: the one file of a judge that a new name may change.

The judges import this and nothing of the package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import trueness as tn
from trueness import cli, demo

# Numbers and tables -------------------------------------------------------------------------------

vce, ece, uce, rce, cwece = tn.vce, tn.ece, tn.uce, tn.rce, tn.cwece
tabulate = tn.tabulate

# Answers: results, their numbers and their conclusion ---------------------------------------------

assess, assess_event, compare, load_digits = (
    tn.assess,
    tn.assess_event,
    tn.compare,
    demo.load_digits,
)
Refusal, printed = tn.Refusal, str
assess_labels = partial(tn.assess_event, multilabel=True)

_KINDS = {"none": "no-evidence", "too-few-rows": "cannot-tell", "ranks": "order", "curve": "varies"}
_KINDS |= {"predicted-class": "by-class", "mixed": "varies", "too-extreme": "over-confident"}
_KINDS |= {"too-timid": "under-confident", "over-forecast": "class-frequency"}
_KINDS |= {"under-forecast": "class-frequency"}


def monitor(looks: Iterable[tuple[str, Any]], **settings: Any) -> tn.Monitor:
    """A monitor that has seen these looks: of each the name, and its rows or those of groups."""
    watch = tn.Monitor(**settings)
    for name, rows in looks:
        groups = rows if isinstance(rows, dict) else {None: rows}
        tables = {group: tn.tabulate(*some) for group, some in groups.items()}
        watch.update(tables.get(None, tables), at=name)
    return watch


def conclusion(result: Any) -> str | None:
    """The kind; the better of two models, "neither" or "cannot-tell"; the day of an alarm."""
    if isinstance(result, tn.Monitor):
        return "no-alarm" if result.alarm is None else result.alarm.at
    if isinstance(result, tn.Comparison):
        (pair,) = result.verdicts
        return {"none": "cannot-tell", "differ": "neither"}.get(pair.kind, pair.better)
    verdict = result.verdict
    if verdict.kind == "classes" and "correct the prior" in verdict.advice:
        return "class-frequency"
    if verdict.kind == "classes" and result.tables.n_classes > 2:
        return "by-class"
    if verdict.kind in ("classes", "top-class"):
        over = verdict.direction == "over" or "extreme" in verdict.headline
        return "over-confident" if over else "under-confident"
    return _KINDS.get(verdict.kind, verdict.kind)


def p_value(result: Any) -> float | None:
    """The p-value of the conclusion, None if there is none."""
    return result.pairs[0].adjusted_p_value if isinstance(result, tn.Comparison) else result.p_value


def advice(result: Any) -> str:
    """What the answer says should be done."""
    return getattr(getattr(result, "verdict", None), "advice", "")


def answer(result: Any) -> str:
    """The sentences of the conclusion, with what they advise."""
    return f"{getattr(result, 'verdict', result)}\n{advice(result)}"


def named(result: Any) -> set[str]:
    """The names of the groups or labels that the answer finds wrong."""
    if isinstance(result, tn.Monitor):
        return set(result.alarm.groups)
    groups = getattr(result, "as_groups", None) or result.groups
    return {it.name for it in groups if it.flagged}


def numbers(result: Any) -> dict[str, float]:
    """The estimates by name, without noise; of two models their differences."""
    if isinstance(result, tn.Comparison):
        return {key: it.difference for key, it in result.pairs[0].contrasts.items()}
    return {key: it.debiased for key, it in result.estimates.items()}


def furthest(result: Any) -> dict[str, float]:
    """The clusters that are furthest off, with the net gap of their rows."""
    return {it.name: it.gap for it in result.cluster_spread.clusters[:5]}


# The command: a job and its options as a command line, and what came of it ------------------------

command = cli.main
JOBS = {"event": "assess", "logs": "assess", "images": "assess"}


def command_line(job: str, options: Mapping[str, Any]) -> list[str]:
    """The command's arguments; options have the names of Python's arguments, `files` come first."""
    line = [JOBS.get(job, job), "--json-errors", *options.get("files", ())]
    for name, value in options.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else value
        option = "--" + name.replace("_", "-")
        line += [] if name == "files" else [option if value is True else f"{option}={text}"]
    return line
