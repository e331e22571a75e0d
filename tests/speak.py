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
simulate, conventions, skce = tn.simulate, tn.conventions, tn.simplex.skce
load, load_options, add = tn.CalibrationTable.load, tn.OptionTables.load, sum
vce_of, rce_of = tn.variation_calibration_error, tn.ranked_calibration_error  # of a table
ece_of, uce_of = tn.expected_calibration_error, tn.uncertainty_calibration_error

# Numbers and tables: gaps, sums of one table, classical numbers, evidence of a monitor

gaps_of = {"vce": tn.variation_gap, "rce": tn.ranked_gap, "uce": tn.uncertainty_gap}
_ONE = "rows weight_square ordered rank variation log_score log_score_variance tied_rows"
_ONE += " impossible_rows true_probability square log_likelihood"


def sums_of(table: Any) -> dict[str, Any]:
    """Its sums in units of 2^-52 (logarithms 2^-40), or floats if it has weights; edges; scores."""
    found: dict[str, Any] = {"weight": table.count.tolist(), "edges": table.edges.tolist()}
    for name in _ONE.split():
        kept = getattr(table.sums, name)
        if hasattr(kept, "whole"):
            kept = kept.whole.astype(object) * 2**kept.bits + kept.fraction
        if kept is not None:
            found[name] = np.asarray(getattr(kept, "value", kept)).tolist()
    scores = ("accuracy", "brier_score", "log_loss") if table.n_rows else ()
    return found | {"ranks": found["rank"]} | {name: getattr(table, name) for name in scores}


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


def class_bins(y_true: Any, y_prob: Any, bins: int) -> list[Any]:
    """Rows, predicted and observed sums of each class in bins of equal width, (C, M) each."""
    t = tn.tabulate_events(y_true, y_prob).coarsen(bins)
    return [t.count.tolist(), t.predicted_sum.tolist(), t.observed_count.tolist()]


def event_numbers(y: Any, p: Any) -> dict[str, Any]:
    """The classical numbers of an event from its rows."""
    r = tn.assess_event(y, p, resamples=99, rng=0)
    found = {name: getattr(r, name).value for name in ("ici", "spiegelhalter", "hosmer_lemeshow")}
    found |= {name: (getattr(r, name).standardised, getattr(r, name).law_p_value) for name in ("ks", "kuiper")}
    fits = {"intercept": r.cox.intercept, "slope": r.cox.slope, "shift": r.prevalence.shift}
    found |= {n: (f.value, f.standard_error, f.interval.low, f.interval.high) for n, f in fits.items()}
    p_values = {"p": r.spiegelhalter.p_value, "chi_square_p": r.hosmer_lemeshow.chi_square_p_value}
    return found | p_values | {"ece": r.ece.value, "brier": r.brier_score.value, "log_loss": r.log_loss.value}


def brier_parts(y: Any, p: Any, bins: Any) -> dict[str, float]:
    """The Brier score of an event, or of ordered rows, and its parts in bins."""
    event = np.ndim(p) == 1
    table = tn.tabulate_events(y, p) if event else tn.tabulate(y, p, bins=bins)
    found = tn.brier_decomposition(table, *([bins] if event else []), resamples=9)
    names = "score reliability resolution uncertainty within_variance within_covariance"
    return {n: getattr(found, n) for n in f"{names} corrected_reliability".split()}


def corp_parts(y: Any, p: Any, score: str = "brier") -> dict[str, Any]:
    """The score of an event, its parts by isotonic regression, and the curve."""
    found = tn.corp_decomposition(tn.tabulate_events(y, p), score=score, resamples=9)
    return {n: getattr(found, n) for n in ("score", "miscalibration", "discrimination", "uncertainty", "curve")}


def evidence(looks: Any, bins: int, tolerance: float = 0.0) -> list[float]:
    """ln E of a monitor after each look (rows)."""
    monitor = tn.Monitor(alpha=0.05, tolerance=tolerance)
    for at, rows in enumerate(looks, 1):
        monitor.update(tn.tabulate(*rows, bins=bins), at=at)
    return [look.log_e_value for look in monitor.looks]


# Answers: results, their numbers and their conclusion ---------------------------------------------

assess = tn.assess

# The command: a job and its options as a command line, and what came of it ------------------------
