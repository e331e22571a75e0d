"""The judges' few verbs, said in the package's names: the one file of a judge that a new name may change.

The judges import this and nothing of the package.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import trueness as tn

# Numbers and tables -------------------------------------------------------------------------------

vce, ece, uce, rce, cwece, smece = tn.vce, tn.ece, tn.uce, tn.rce, tn.cwece, tn.smece
tabulate, Accumulator, Refusal = tn.tabulate, tn.Accumulator, tn.Refusal
EqualWidth, EqualMass, Edges = tn.EqualWidth, tn.EqualMass, tn.Edges
Variation, variations, renyi, tsallis = tn.Variation, tn.variations, tn.renyi, tn.tsallis
simulate, conventions, skce, add = tn.simulate, tn.conventions, tn.simplex.skce, sum
load, load_options = tn.CalibrationTable.load, tn.OptionTables.load
vce_of, rce_of = tn.variation_calibration_error, tn.ranked_calibration_error  # of a table
ece_of, uce_of = tn.expected_calibration_error, tn.uncertainty_calibration_error

_KEPT = {
    "bin": "rows weight weight_square ordered rank variation log_score log_score_variance tied_rows"
}
_KEPT["bin"] += (
    " impossible_rows true_probability square log_likelihood label_spread predicted_scores"
)
_KEPT |= {"top": "rows weight ordered rank", "class": "rows weight predicted observed"}


def engines(variation: Any = "entropy", **how: Any) -> tuple[str, ...]:
    """The engines that sum such rows."""
    plain = "sample_weight" not in how and "soft_labels" not in how
    fast = plain and variation in ("entropy", "confidence", "max_probability")
    return ("portable", "compiled") if fast else ("portable",)


def sums(y: Any, p: Any, cells: Any, groups: Any = None, clusters: Any = None, **how: Any) -> Any:
    """The sums of all rows or of each group by bin, top label and class, those of clusters one by one."""
    if groups is None and clusters is None:
        rows = {name: how[name] for name in how if name not in ("variation", "bins")}
        classes = None if isinstance(p, list) else tn.tabulate_events(y, p, grid="class", **rows)
        top = tn.tabulate(y, p, variation="confidence", **rows)
        return _parts("all", cells, tn.tabulate(y, p, **how), top, classes)
    how |= {"confidence_bins": 10, "min_group_size": 1, "resamples": 1, "level": 0.5}
    result = tn.assess(y, p, groups=groups, clusters=clusters, **how)
    parts, found = {}, {f"group {it.name}": it.assessment.tables for it in result.groups}
    for name, it in (found or {"all": result.tables}).items():
        parts |= _parts(name, cells, it.by_variation, it.by_confidence, it.by_class)
        for of in it.clusters.of_tables if it.clusters else ():
            view = (
                "class"
                if hasattr(of.spec, "grid")
                else "top"
                if of.spec.is_by_confidence
                else "bin"
            )
            for i, (unit, cell) in enumerate(zip(of.units, of.bins, strict=True)):
                at = f"{view} {cell // 10 if view == 'class' else cell} of {of.spec.n_classes} classes"
                label = f"{name}, cluster {it.clusters.clusters.names[unit]}, {at}"
                part = parts.setdefault(label, {})
                for key, value in _exact(of.sums, view).items():
                    part[key] = np.add(part.get(key, 0), value[i]).tolist()
    return parts


def _parts(name: str, cells: Any, table: Any, top: Any, classes: Any) -> dict[str, Any]:
    if isinstance(table, tn.OptionTables):
        each = [_parts(f"{name}, {n} options", cells, table[n], top[n], None) for n in table]
        return {label: part for parts in each for label, part in parts.items()}
    found = {name: _exact(table.sums, "bin"), f"{name}, top": _exact(top.sums, "top")}
    if classes is not None:
        found[f"{name}, classes"] = _exact(classes.coarsen(tn.Edges(cells)).sums, "class")
    return {label: {key: it.tolist() for key, it in part.items()} for label, part in found.items()}


def _exact(sums: Any, view: str) -> dict[str, Any]:
    """Whole numbers of Python in units of 2**-52, of logarithms 2**-40; floats if weighted."""
    found = {name: getattr(sums, name, None) for name in _KEPT[view].split()}
    for name, it in found.items():
        whole = it.whole.astype(object) * 2**it.bits + it.fraction if hasattr(it, "bits") else it
        values = np.array(getattr(whole, "value", whole))
        found[name] = values[:, 0] if view == "top" and values.ndim == 2 else values
    return {
        name: values for name, values in found.items() if values.shape or values.item() is not None
    }


def numbers(y: Any, p: Any, engine: str = "auto", **how: Any) -> dict[str, Any]:
    """Each number of rows: VCE and RCE from the rows and from their table."""
    table = tn.tabulate(y, p, engine=engine, **how)
    rows = {name: how[name] for name in how if name not in ("variation", "bins")}
    found: dict[str, Any] = {"edges": table.edges.tolist(), "accuracy": table.accuracy}
    found |= {"brier": table.brier_score, "log_loss": table.log_loss, "uce": tn.uce(y, p, **rows)}
    for norm in ("l1", "l2", "max"):
        found[f"vce {norm}"] = [tn.vce(y, p, norm=norm, **how), vce_of(table, norm=norm)]
        found[f"ece {norm}"] = tn.ece(y, p, norm=norm, **rows)
    for d in ("tv", "w1"):
        found[f"rce {d}"] = [tn.rce(y, p, distance=d, **how), rce_of(table, d)]
    if not isinstance(p, list):
        rows.pop("ties", None)
        found["cwece"] = tn.cwece(y, p, **rows)
    return found


# Answers: results, their numbers and their conclusion ---------------------------------------------

assess = tn.assess

# The command: a job and its options as a command line, and what came of it ------------------------
