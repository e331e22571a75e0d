"""The judges' few verbs, said in the package's names: the one file of a judge that a new name may change.

The judges import this and nothing of the package.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import trueness as tn
from trueness import cli, demo, today
from trueness.spec import FIELDS

# Numbers and tables -------------------------------------------------------------------------------

vce, ece, uce, rce, cwece, smece = tn.vce, tn.ece, tn.uce, tn.rce, tn.cwece, tn.smece
tabulate, Accumulator, Refusal = tn.tabulate, tn.Accumulator, tn.Refusal
EqualWidth, EqualMass, Edges = tn.EqualWidth, tn.EqualMass, tn.Edges
Variation, variations, renyi, tsallis = tn.Variation, tn.variations, tn.renyi, tn.tsallis
simulate, conventions = tn.simulate, tn.conventions
skce, skce_test = tn.simplex.skce, tn.simplex.skce_test
load, load_options, add = tn.CalibrationTable.load, tn.OptionTables.load, sum
vce_of, rce_of = tn.variation_calibration_error, tn.ranked_calibration_error  # of a table
ece_of, uce_of = tn.expected_calibration_error, tn.uncertainty_calibration_error
needs_compiled = pytest.mark.usefixtures("compiled")

gaps_of = {"vce": tn.variation_gap, "rce": tn.ranked_gap, "uce": tn.uncertainty_gap}
_ONE = "rows weight_square ordered rank variation log_score log_score_variance tied_rows"
_ONE += " impossible_rows true_probability square log_likelihood label_spread"


def sums_of(table: Any) -> dict[str, Any]:
    """Its sums in units of 2^-52 (logarithms 2^-40), or floats if it has weights; edges; scores."""
    found: dict[str, Any] = {"weight": table.count.tolist(), "edges": table.edges.tolist()}
    for name in _ONE.split():
        kept = getattr(table.sums, "possible_variance" if name == "log_score_variance" else name)
        if kept is not None:
            found[name] = _exact(kept).tolist()
    scores = ("accuracy", "brier_score", "log_loss") if table.n_rows else ()
    return found | {"ranks": found["rank"]} | {name: getattr(table, name) for name in scores}


def _exact(kept: Any) -> Any:
    if hasattr(kept, "whole"):
        kept = kept.whole.astype(object) * 2**kept.bits + kept.fraction.astype(object)
    return np.asarray(getattr(kept, "value", kept))


def sums(
    y: Any, p: Any, cells: Any, groups: Any = None, clusters: Any = None, engine: str = "auto", **how: Any
) -> dict[str, Any]:
    """The sums of all rows, or of each group, by bin, top label and class; those of each cluster."""
    asked = {name: how.pop(name) for name in ("variation", "bins", "ties") if name in how}
    rows = today.read(y, p, groups=groups, clusters=clusters, **how)
    options = today.TableOptions(confidence_bins=10, **asked)
    whole = today.tabulate_rows(rows, options, engine=engine)
    parts: dict[str, Any] = {}
    for group, n in zip(whole.groups.group, whole.groups.options.tolist(), strict=True):
        table, name = whole.select(group=group, options=n), f"group={group} " if group else ""
        of_rows = table.over("unit")
        found = {key: _units(it, FIELDS[key].bits)[0] for key, it in of_rows.sums.items()}
        found |= {"rank": found["ranks"], "weight": table.mass(), "edges": table.spec.bins.edges}
        names = "predicted_score", "predicted_score_variance"
        found["predicted_scores"] = np.stack([found[key] for key in names], axis=-1)
        found |= {key: getattr(table, key) for key in ("accuracy", "brier_score", "log_loss")}
        gone = () if "soft_labels" in how else ("label_spread",)
        parts[f"{name}options={n} view=bin"] = {
            key: np.asarray(found[key]).tolist()
            for key in [*f"{_ONE} ranks weight edges predicted_scores".split(), *NUMBERS]
            if key in found and key not in gone
        }
        parts[f"{name}options={n} view=top"] = _view(found, "top", "ordered", "rank")
        if table.spec.classes:
            of_rows = table.over("unit").coarsen(class_bins=tn.Edges(cells))
            merged = {key: _units(it, FIELDS[key].bits)[0] for key, it in of_rows.sums.items()}
            parts[f"{name}options={n} view=class"] = _view(merged, "class", "predicted", "observed")
        for k, unit in enumerate(table.parts.unit.tolist() if clusters is not None else ()):
            of = {
                key: _units(it, FIELDS[key].bits)[k]
                for key, it in table.sums.items()
                if FIELDS[key].axis == "part"
            }
            own = table.clusters.names[table.clusters.identities.tolist().index(unit)]
            label = f"{name}cluster={own} options={n}"
            for at in np.flatnonzero(of["rows"]):
                kept = {"rank": of["ranks"][at].tolist()}
                for key in ("rows", "weight", "ordered", "log_score", "log_score_variance"):
                    kept |= {key: np.asarray(of[key][at]).tolist()} if key in of else {}
                parts[f"{label} view=bin at={at}"] = kept
            for at in np.flatnonzero(of["top_rows"]):
                top = {key: it[at] for key, it in of.items() if key.startswith("top_")}
                parts[f"{label} view=top at={at}"] = _view(top, "top", "ordered", "rank")
            mass = of.get("weight", of["rows"]).sum()
            for at in range(len(table.spec.classes)):
                pair = [of[f"class_{kind}_total"][at] for kind in ("predicted", "observed")]
                sums_of_class = dict(zip(("rows", "predicted", "observed"), (mass, *pair), strict=True))
                parts[f"{label} view=class at={at}"] = sums_of_class
    return parts


NUMBERS = ("accuracy", "brier_score", "log_loss")


def _units(kept: Any, bits: int) -> Any:
    """Sums in units, as Python integers; floats of weighted rows as they are."""
    if bits and kept.dtype == np.int64:
        return kept[..., 0].astype(object) * 2**bits + kept[..., 1].astype(object)
    return kept.astype(object)


def _view(found: dict[str, Any], view: str, *names: str) -> dict[str, Any]:
    """The sums by top label, of which only the first rank is known, or of classes."""
    mass = found.get(f"{view}_weight", found[f"{view}_rows"])
    pair = [np.asarray(found[f"{view}_{kind}"], object) for kind in ("predicted", "observed")]
    if view == "top":
        pair = [each[..., None] for each in pair]
    return {"rows": np.asarray(mass).tolist()} | {
        name: each.tolist() for name, each in zip(names, pair, strict=True)
    }


def compiles(variation: Any = "entropy", **how: Any) -> bool:
    """Whether the compiled engine sums such rows."""
    own = {"sample_weight", "soft_labels"} & how.keys()
    return not own and variation in ("entropy", "confidence", "max_probability")


def empty(table: Any) -> Any:
    """The table of no rows that adds to this one."""
    return type(table).empty(table.spec)


def lipschitz(name: str, n_classes: int) -> float:
    """L1 of a measure: |V(x) - V(y)| <= L1 ||x - y||_1; infinite if there is none."""
    return float(measure(name).lipschitz_for(n_classes))


def measure(name: str) -> Any:
    """A measure by name, with its order in brackets if it has one."""
    kind, _, order = name.partition("(")
    return getattr(tn, kind)(float(order[:-1])) if order else tn.variations[name]


def class_bins(y: Any, p: Any, bins: int) -> tuple[Any, Any, Any]:
    """Rows, predicted and observed of each class in bins of equal width, (C, M)."""
    it = tn.tabulate_events(y, p).coarsen(bins)
    return it.count, it.predicted_sum, it.observed_count


def event_numbers(y: Any, p: Any) -> dict[str, Any]:
    """The classical numbers of an event; of fits the value, its standard error and interval."""
    it = tn.assess_event(y, p, resamples=99, rng=0)
    found = {"brier_score": it.brier_score, "log_loss": it.log_loss, "ece": it.ece.value}
    for name, fit in (("intercept", it.cox.intercept), ("slope", it.cox.slope)):
        found[name] = (fit.value, fit.standard_error, fit.interval.low, fit.interval.high)
    for name in ("ks", "kuiper"):
        found[name] = (getattr(it, name).standardised, getattr(it, name).law_p_value)
    shift, z, h = it.prevalence.shift, it.spiegelhalter, it.hosmer_lemeshow
    found |= {"ici": it.ici.value, "shift": (shift.value, shift.standard_error)}
    return found | {"z": (z.value, z.p_value), "hosmer": (h.value, h.chi_square_p_value)}


def brier_parts(y: Any, p: Any, bins: Any) -> dict[str, float]:
    """The Brier score of an event, or of ordered rows, and its parts in bins."""
    found = tn.brier_decomposition(y, p, bins, resamples=9)
    names = "score reliability resolution uncertainty within_variance within_covariance"
    return {n: getattr(found, n) for n in f"{names} corrected_reliability".split()}


def corp_parts(y: Any, p: Any, score: str = "brier") -> dict[str, Any]:
    """The score of an event, its parts by isotonic regression, and the curve."""
    found = tn.corp_decomposition(tn.tabulate_events(y, p), score=score, resamples=9)
    names = "score miscalibration discrimination uncertainty curve"
    return {n: getattr(found, n) for n in names.split()}


def evidence(looks: Any, bins: int, tolerance: float = 0.0) -> list[float]:
    """The logarithm of a monitor's e-value after each look, which is rows."""
    monitor = tn.Monitor(alpha=0.05, tolerance=tolerance)
    for at, (y, p) in enumerate(looks, 1):
        monitor.update(tn.tabulate(y, p, bins=bins), at=at)
    return [look.log_e_value for look in monitor.looks]


# Answers: results, their numbers and their conclusion ---------------------------------------------

assess, assess_event, compare = tn.assess, tn.assess_event, tn.compare
load_digits, printed = demo.load_digits, str
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


def first_alarm(looks: Iterable[Any], **settings: Any) -> int:
    """The number of the look with which a monitor's alarm comes, 0 if none does; looks are rows."""
    watch = tn.Monitor(**settings)
    for at, rows in enumerate(looks, 1):
        watch.update(tn.tabulate(*rows), at=at)
        if watch.alarm is not None:
            return at
    return 0


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


def intervals(result: Any) -> dict[str, tuple[float, float, float] | None]:
    """Each estimate with its interval; of classes the gap; of two models their differences."""
    if isinstance(result, tn.Comparison):
        found = {key: (it.difference, it.interval) for key, it in result.pairs[0].contrasts.items()}
    else:
        classes = result.classes.classes if result.classes else ()
        found = {key: (it.debiased, it.interval) for key, it in result.estimates.items()}
        found |= {f"class {it.name}": (it.gap.value, it.gap.interval) for it in classes}
    return {key: (it, by.low, by.high) if by else None for key, (it, by) in found.items()}


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
        return np.array(kept["whole"], object) * 2 ** kept["bits"] + np.array(kept["fraction"], object)

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
