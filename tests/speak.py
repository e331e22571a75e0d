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
simulate, conventions, add = tn.simulate, tn.conventions, sum
skce, skce_test = tn.simplex.skce, tn.simplex.skce_test
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


gaps_of = {"vce": tn.variation_gap, "rce": tn.ranked_gap, "uce": tn.uncertainty_gap}  # by bin


def sums_of(table: Any) -> dict[str, Any]:
    """The sums of one table by bin, its edges and scores."""
    found = {name: it.tolist() for name, it in _exact(table.sums, "bin").items()}
    scores = ("accuracy", "brier_score", "log_loss") if table.n_rows else ()
    found |= {"weight": table.count.tolist(), "edges": table.edges.tolist()}
    return found | {name: getattr(table, name) for name in scores}


def empty(table: Any) -> Any:
    """The table of no rows that adds to this one."""
    return type(table).empty(table.spec)


def measure(name: str) -> Any:
    """A measure by its name, which may end in its order: "renyi(2)"."""
    kind, _, order = name.partition("(")
    return getattr(tn, kind)(float(order[:-1])) if order else variations[name]


def lipschitz(name: str, n_classes: int) -> float:
    """L1 of a measure: |V(x) - V(y)| <= L1 ||x - y||_1; infinite if there is none."""
    return float(measure(name).lipschitz_for(n_classes))


def class_bins(y: Any, p: Any, bins: int) -> tuple[Any, Any, Any]:
    """Rows, predicted and observed of each class in bins of equal width, (C, M)."""
    it = tn.tabulate_events(y, p).coarsen(bins)
    return it.count, it.predicted_sum, it.observed_count


def event_numbers(y: Any, p: Any, bins: int = 10) -> dict[str, Any]:
    """The classical numbers of an event; of fits the value, its standard error and interval."""
    it = tn.assess_event(y, p, bins=bins, resamples=99, rng=0)
    found = {name: getattr(it, name) for name in ("brier_score", "log_loss")}
    found |= {"ece": it.ece.value, "ici": it.ici.value}
    fits = {"intercept": it.cox.intercept, "slope": it.cox.slope, "shift": it.prevalence.shift}
    found |= {
        k: (f.value, f.standard_error, f.interval.low, f.interval.high) for k, f in fits.items()
    }
    found |= {
        k: (getattr(it, k).standardised, getattr(it, k).law_p_value) for k in ("ks", "kuiper")
    }
    z, h = it.spiegelhalter, it.hosmer_lemeshow
    return found | {"z": (z.value, z.p_value), "hosmer": (h.value, h.chi_square_p_value)}


def score_parts(y: Any, p: Any, bins: Any = None, score: str = "brier") -> Any:
    """A score's parts: of ordered rows or an event in bins; of an event by isotonic regression."""
    if np.ndim(p) == 2:
        return tn.brier_decomposition(tn.tabulate(y, p, bins=bins), resamples=9)
    if bins is not None:
        return tn.brier_decomposition(tn.tabulate_events(y, p), bins, resamples=9)
    return tn.corp_decomposition(tn.tabulate_events(y, p), score=score, resamples=9)


def evidence(looks: Any, bins: int, tolerance: float = 0.0) -> list[float]:
    """The logarithm of a monitor's e-value after each look, which is rows."""
    monitor = tn.Monitor(alpha=0.05, tolerance=tolerance)
    for at, (y, p) in enumerate(looks, 1):
        monitor.update(tn.tabulate(y, p, bins=bins), at=at)
    return [look.log_e_value for look in monitor.looks]


# Answers: results, their numbers and their conclusion ---------------------------------------------

assess = tn.assess

# The command: a job and its options as a command line, and what came of it ------------------------
