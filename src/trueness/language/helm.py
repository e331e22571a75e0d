"""Run folders of HELM: the probability of the answer and whether it was right."""

from __future__ import annotations

import math
import os
from array import array
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from trueness.formats.json_stream import load_document
from trueness.language._collected import BadRows, names_array, refuse_no_rows
from trueness.language._inspect_logs import field_in
from trueness.language.results import PROBABILITIES, Statements
from trueness.refusals import InvalidValueError, Refusal, quote

STATS = "per_instance_stats.json"
PERTURBED = "perturbed"
_SPECS = ("run_spec.json", "scenario_state.json")
_PER_TOKEN = ("multiple_choice_separate_original", "ranking_binary")
"""Methods whose max_prob is the softmax of log-likelihoods per token."""

_MEANING = {
    "multiple_choice_joint": "the probability of the generated text",
    "generation": "the probability of the generated text",
    "multiple_choice_separate_calibrated": "the softmax of log-likelihoods minus those without the context",
}
_WANTED = ("max_prob", "exact_match")


def read_helm(
    folder: str | os.PathLike[str],
    *,
    perturbation: str | None = None,
    on_bad_rows: str = "refuse",
) -> Statements:
    """The stated probability of the answer and whether it was right, from a run folder of HELM.

    HELM keeps no distribution over the options: `max_prob` is the probability of the answer, and `exact_match` whether
    it was right.

    Parameters
    ----------
    folder
        The folder of a run, or its `per_instance_stats.json`.
    perturbation : str
        Read the rows of this perturbation; by default those without one, and the others are left out and counted.
    on_bad_rows : "refuse" or "skip"
        Whether bad rows are refused, or left out and counted.
    """
    path = os.fspath(folder)
    file = os.path.join(path, STATS) if os.path.isdir(path) else path
    bad = BadRows(on_bad_rows)
    found: dict[tuple[str, str, int], dict[str, float]] = {}
    for key, stats in _instances(file):
        found.setdefault(key, {}).update(_used(stats))
    return _statements(found, perturbation, bad, file)


def _instances(file: str) -> Iterator[tuple[tuple[str, str, int], Any]]:
    """Instance, perturbation and trial of each entry, with its statistics."""
    content = load_document(file)
    for entry in content if isinstance(content, list) else [None]:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("stats"), list):
            cause = f"{file}: an entry has no stats"
            remedy = "name the per_instance_stats.json of a run"
            raise InvalidValueError("wrong-layout", cause, remedy, argument=file)
        name = field_in(entry, "perturbation", "name") or ""
        trial = entry.get("train_trial_index")
        key = (str(entry.get("instance_id")), str(name), trial if isinstance(trial, int) else 0)
        yield key, entry["stats"]


def _used(stats: list[Any]) -> dict[str, float]:
    """The statistics that are used, as numbers; several entries of an instance hold different ones."""
    found = {}
    for stat in stats:
        name, mean = field_in(stat, "name", "name"), field_in(stat, "mean")
        if name in _WANTED and isinstance(mean, (int, float)) and not isinstance(mean, bool):
            found[str(name)] = float(mean)
    return found


def _spec_of(folder: str) -> tuple[str, str | None]:
    """The name of the run, and the method of its adapter."""
    for name in _SPECS:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            spec = load_document(path)
            method = field_in(spec, "adapter_spec", "method")
            named = field_in(spec, "name") or os.path.basename(folder)
            return str(named), None if method is None else str(method)
    return os.path.basename(folder) or STATS, None


def _statements(
    found: Mapping[tuple[str, str, int], Mapping[str, float]],
    perturbation: str | None,
    bad: BadRows,
    file: str,
) -> Statements:
    run, method = _spec_of(os.path.dirname(file))
    _refuse_unknown_perturbation(found, perturbation, file)
    event, stated, cluster = array("b"), array("d"), []
    for (instance, name, _), stats in found.items():
        if name != (perturbation or ""):
            bad.left_out[PERTURBED if perturbation is None else "other perturbations"] += 1
            continue
        try:
            row = _row(stats)
        except Refusal as refusal:
            bad.add(refusal.with_facts(source=f"{file}, instance {quote(instance)}"))
            continue
        event.append(row[0])
        stated.append(row[1])
        cluster.append(instance)
    refuse_no_rows(len(stated), file, bad.left_out)
    _refuse_all_one(np.array(stated), file)
    meaning = (
        "the softmax of log-likelihoods per token" if method in _PER_TOKEN else _MEANING.get(method or "")
    )
    return Statements(
        event=np.array(event, bool),
        stated=np.array(stated),
        group=names_array([run] * len(stated)),
        cluster=names_array(cluster),
        scale="scores per token" if method in _PER_TOKEN else PROBABILITIES,
        left_out=bad.left_out,
        remarks=(
            f"run {run}, method {method or 'unknown'}: max_prob is {meaning or 'of an unknown kind'}",
            f"{len(stated)} rows",
        ),
    )


def _refuse_unknown_perturbation(
    found: Mapping[tuple[str, str, int], Any], perturbation: str | None, file: str
) -> None:
    names = sorted({name for _, name, _ in found if name})
    if perturbation is not None and perturbation not in names:
        listed = ", ".join(map(quote, names)) or "none"
        cause = f"{file} has no rows of the perturbation {quote(perturbation)}"
        remedy = f"available: {listed}"
        raise InvalidValueError(
            "unknown-perturbation", cause, remedy, argument="perturbation", value=perturbation
        )


def _row(stats: Mapping[str, float]) -> tuple[bool, float]:
    """Whether the answer was right, and its probability."""
    for name in _WANTED:
        if name not in stats or math.isnan(stats[name]):
            remedy = "run a model that gives log-probabilities"
            raise InvalidValueError("missing-value", f"there is no {name}", remedy)
    right, probability = stats["exact_match"], stats["max_prob"]
    if right not in (0.0, 1.0):
        cause = f"exact_match is {right}: several options are tied"
        raise InvalidValueError("not-right-or-wrong", cause, "a row needs one answer", value=right)
    if not 0 <= probability <= 1:
        cause = f"max_prob is {probability}"
        remedy = "probabilities are from 0 to 1"
        raise InvalidValueError("out-of-range", cause, remedy, value=probability)
    return right == 1, probability


def _refuse_all_one(stated: Any, file: str) -> None:
    if (stated == 1).all():
        cause = f"{file}: this model gave no log-probabilities: every max_prob is 1"
        remedy = "run a model that gives them"
        raise InvalidValueError("no-log-probabilities", cause, remedy, argument=file)
