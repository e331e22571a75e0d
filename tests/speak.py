"""The judges' few verbs, said in the package's names: the one file of a judge that a new name may change.

The judges import this and nothing of the package.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import trueness as tn
from trueness import cli

# Numbers and tables -------------------------------------------------------------------------------

vce, ece, uce, rce, cwece = tn.vce, tn.ece, tn.uce, tn.rce, tn.cwece
tabulate = tn.tabulate

# Answers: results, their numbers and their conclusion ---------------------------------------------

assess = tn.assess

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


def refusal_of(errors: str) -> tuple[str | None, int | None]:
    """Code and row of the refusal, if there is one."""
    refused = [json.loads(line) for line in errors.splitlines() if line.startswith('{"kind"')]
    return (refused[-1]["code"], refused[-1]["row"]) if refused else (None, None)


def numbers_of(printed: str) -> dict[str, list[float]]:
    """Rows, accuracy or rate, and log-loss if finite, of each model; of `only` one, from JSON."""
    found = {}
    for name, of in (content := json.loads(printed)).get("assessments", {"only": content}).items():
        rate = of.get("accuracy") or of["in_the_large"]["observed"] / of["n_rows"]
        found[name] = [of["n_rows"], rate, *filter(None, [of.get("log_loss")])]
    return found


def saved_sums(path: Path) -> dict[str, list[Any]]:
    """The sums of a saved table that outlive its schema, with fractions in units of 2^-52."""
    content, sums = json.loads(path.read_text("utf-8")), {}
    for part in content.get("groups", [content]):
        group = part.get("group", "all")
        for stored in part["tables"]:
            for table in stored["tables"] if "together" in stored else [stored]:
                for name, values in _saved_sums_of(table):
                    sums.setdefault(f"{group}, {name}", values)
    return sums


def _saved_sums_of(table: dict[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    def get(name: str) -> Any:
        kept = table["sums"][name]
        kept = kept if isinstance(kept, dict) else {"bits": 0, "whole": kept, "fraction": 0}
        return np.array(kept["whole"], object) * 2 ** kept["bits"] + np.array(
            kept["fraction"], object
        )

    if "clusters" in table:
        yield "clusters", [len(table["clusters"]["names"])]
    elif "events" in table:
        ends = np.cumsum([0, *map(len, table["cells"])])
        names = dict(enumerate(table["events"]["class_names"] or ()))
        for event, *of in zip(table["events"]["events"], ends, ends[1:], strict=False):
            pair = [sum(get(name)[slice(*of)]) for name in ("predicted", "observed")]
            yield f"class {names.get(event, event)}", pair
    elif table["spec"]["variation"] != "confidence":  # that one is kept beside the other, for ECE
        for at in np.flatnonzero(table["sums"]["rows"]):
            values = np.hstack([get(name)[at] for name in ("rows", "ordered", "rank")])
            yield f"{table['spec']['n_classes']} options, bin {at}", values.tolist()
