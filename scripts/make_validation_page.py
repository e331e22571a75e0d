"""Write ``docs/background/validation.md``: numbers of trueness beside those of other libraries, on the same rows.

Needs torch, torchmetrics, netcal and other libraries of calibration (`make everything`).

python scripts/make_validation_page.py
"""

import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import trueness as tn
from trueness.conventions import CONVENTIONS

PAGE = Path(__file__).parents[1] / "docs" / "background" / "validation.md"
N_ROWS = 3000
LIBRARIES = (
    "scikit-learn",
    "torchmetrics",
    "netcal",
    "uncertainty-calibration",
    "MAPIE",
    "relplot",
    "statsmodels",
)


CELLS = "cells of the probability here, rows there"
PATH = "largest over cells of the probability here, over rows there"


class Check(NamedTuple):
    """One line of a table: a number here and elsewhere."""

    what: str
    library: str
    ours: float
    theirs: float
    note: str = ""


class Rows(NamedTuple):
    """Seeded rows, and their name on the page."""

    name: str
    y_true: Any
    y_prob: Any


def random_rows(n_classes: int) -> Rows:
    """Over-confident predictions, none of them on an edge."""
    y_true, y_prob = tn.simulate.calibrated(N_ROWS, np.ones(n_classes), rng=n_classes)
    return Rows(f"{n_classes} classes", y_true, tn.simulate.sharpen(y_prob, 1.5))


def rows_on_edges() -> Rows:
    """Three classes, confidences in tenths, every tenth row certain; accuracies alternate above and below them."""
    rng = np.random.default_rng(0)
    tenths = rng.integers(4, 11, N_ROWS)
    tenths[::10] = 10
    top, predicted = tenths / 10, rng.integers(0, 3, N_ROWS)
    y_prob = np.repeat(((1 - top) / 2)[:, None], 3, axis=1)
    y_prob[np.arange(N_ROWS), predicted] = top
    right = rng.random(N_ROWS) < np.clip(top + np.where(tenths % 2, 0.1, -0.1), 0, 1)
    return Rows("on edges", np.where(right, predicted, (predicted + 1) % 3), y_prob)


def event_rows(slope: float) -> tuple[Any, Any]:
    """Labels of 0 and 1, and the probability of the event, whose log-odds should be `slope` times as large."""
    rng = np.random.default_rng(1)
    odds = rng.normal(-0.5, 1.2, N_ROWS)
    happened = rng.random(N_ROWS) < 1 / (1 + np.exp(-slope * odds))
    return happened.astype(int), 1 / (1 + np.exp(-odds))


def convention_checks(rows: Rows) -> Iterator[Check]:
    """The number of every convention whose library is installed, and the library's own."""
    for name, call in _LIBRARY_CALLS.items():
        entry, n_bins = CONVENTIONS[name], CONVENTIONS[name].default_bins
        ours = entry.compute(rows.y_true, rows.y_prob).value
        theirs = call(rows.y_true, rows.y_prob, n_bins)
        yield Check(entry.bins_text(None), f"{entry.library} (`{name}`)", ours, float(theirs))


def _torchmetrics(y_true: Any, y_prob: Any, n_bins: int) -> float:
    import torch
    from torchmetrics.functional.classification import multiclass_calibration_error

    return float(
        multiclass_calibration_error(
            torch.tensor(y_prob), torch.tensor(y_true), num_classes=y_prob.shape[1], n_bins=n_bins
        )
    )


def _netcal(y_true: Any, y_prob: Any, n_bins: int) -> float:
    from netcal.metrics import ECE

    return float(ECE(n_bins).measure(y_prob, y_true))


def _scikit_learn(strategy: str) -> Callable[[Any, Any, int], float]:
    """The mean gap of its curve, weighted with the counts, which it does not return."""

    def call(y_true: Any, y_prob: Any, n_bins: int) -> float:
        from sklearn.calibration import calibration_curve

        event, number = _event_of(y_true, y_prob)
        observed, predicted = calibration_curve(event, number, n_bins=n_bins, strategy=strategy)
        edges = np.linspace(0, 1, n_bins + 1)
        edges = edges if strategy == "uniform" else np.percentile(number, edges * 100)
        count = np.bincount(np.searchsorted(edges[1:-1], number), minlength=n_bins)
        return float(np.abs(observed - predicted) @ count[count > 0] / len(number))

    return call


def _event_of(y_true: Any, y_prob: Any) -> tuple[Any, Any]:
    """Class 1 of two, else the top label."""
    if y_prob.shape[1] == 2:
        return y_true == 1, y_prob[:, 1]
    return y_prob.argmax(axis=1) == y_true, y_prob.max(axis=1)


def _uncertainty_calibration(y_true: Any, y_prob: Any, n_bins: int) -> float:
    from calibration import get_ece

    return float(get_ece(y_prob, y_true, num_bins=n_bins))


def _equal_mass(y_true: Any, y_prob: Any, n_bins: int) -> float:
    from calibration import get_ece_em

    return float(get_ece_em(y_prob, y_true, num_bins=n_bins))


def _mapie(y_true: Any, y_prob: Any, n_bins: int) -> float:
    from mapie.metrics.calibration import top_label_ece

    return float(top_label_ece(y_true, y_prob, num_bins=n_bins))


def _relplot(y_true: Any, y_prob: Any, _: int) -> float:
    from relplot import multiclass_logits_to_confidences, smECE

    return float(smECE(*multiclass_logits_to_confidences(y_prob, y_true, probs=True)))


_LIBRARY_CALLS: dict[str, Callable[[Any, Any, Any], float]] = {
    "torchmetrics": _torchmetrics,
    "netcal": _netcal,
    "scikit-learn": _scikit_learn("uniform"),
    "scikit-learn-quantile": _scikit_learn("quantile"),
    "uncertainty-calibration": _uncertainty_calibration,
    "uncertainty-calibration-equal-mass": _equal_mass,
    "mapie": _mapie,
    "relplot": _relplot,
}


def score_checks(rows: Rows) -> Iterator[Check]:
    """Accuracy, Brier score and log-loss."""
    from sklearn.metrics import accuracy_score, brier_score_loss, log_loss

    y_true, y_prob, _ = rows.y_true, rows.y_prob, rows.name
    table, labels = tn.tabulate(y_true, y_prob), np.arange(y_prob.shape[1])
    brier = brier_score_loss(y_true, y_prob, labels=labels, scale_by_half=False)
    yield Check("accuracy", "scikit-learn", table.accuracy, accuracy_score(y_true, y_prob.argmax(axis=1)))
    yield Check("Brier score, sum over classes", "scikit-learn", table.brier_score, brier)
    yield Check("log-loss", "scikit-learn", table.log_loss, log_loss(y_true, y_prob, labels=labels))


def same_bin_checks() -> Iterator[Check]:
    """ECE of trueness in its own bins, where they are those of the other library."""
    for n_classes, n_bins in ((2, 20), (3, 15), (6, 12)):
        rows = random_rows(n_classes)
        ours = tn.ece(rows.y_true, rows.y_prob)
        what = f"ECE, {n_classes} classes, 10 bins over [1/{n_classes}, 1] against {n_bins} over [0, 1]"
        yield Check(what, "torchmetrics", ours, _torchmetrics(rows.y_true, rows.y_prob, n_bins))
        yield Check(
            what, "uncertainty-calibration", ours, _uncertainty_calibration(rows.y_true, rows.y_prob, n_bins)
        )
    rows = random_rows(3)
    theirs = _mapie_classwise(rows)
    ours = tn.cwece(rows.y_true, rows.y_prob)
    yield Check("classwise ECE, 10 bins against num_bins=11", "MAPIE", ours, theirs)


def _mapie_classwise(rows: Rows) -> float:
    from mapie.metrics.calibration import expected_calibration_error

    return float(
        expected_calibration_error(
            rows.y_true == rows.y_prob.argmax(axis=1),
            rows.y_prob,
            num_bins=11,
            classwise=True,
            class_labels=rows.y_true,
        )
    )


def event_checks() -> Iterator[Check]:
    """Numbers of `assess_event`."""
    from mapie.metrics.calibration import kolmogorov_smirnov_statistic, kuiper_statistic
    from sklearn.metrics import brier_score_loss, log_loss
    from statsmodels.api import GLM, Logit, add_constant, families

    y, p = event_rows(slope=0.9)
    result = tn.assess_event(y, p, resamples=99, rng=0)
    odds = np.log(p / (1 - p))
    fit = Logit(y, add_constant(odds)).fit(disp=0)
    shift = GLM(y, np.ones((len(y), 1)), offset=odds, family=families.Binomial()).fit()
    yield Check("Brier score", "scikit-learn", result.brier.value, brier_score_loss(y, p))
    yield Check("log-loss", "scikit-learn", result.log.value, log_loss(y, p))
    yield from _spiegelhalter_checks("too extreme", y, p)
    yield from _spiegelhalter_checks("too timid", *event_rows(slope=1.2))
    cox = result.cox
    yield Check("intercept of Cox's regression", "statsmodels", cox.intercept.value, fit.params[0], CELLS)
    yield Check("its standard error", "statsmodels", cox.intercept.standard_error, fit.bse[0], CELLS)
    yield Check("slope of Cox's regression", "statsmodels", cox.slope.value, fit.params[1], CELLS)
    yield Check("its standard error", "statsmodels", cox.slope.standard_error, fit.bse[1], CELLS)
    prevalence = result.prevalence.shift
    yield Check("shift of the log-odds", "statsmodels", prevalence.value, shift.params[0], CELLS)
    ks, kuiper = result.cumulative.ks, result.cumulative.kuiper
    yield Check("Kolmogorov-Smirnov", "MAPIE", ks.standardised, kolmogorov_smirnov_statistic(y, p), PATH)
    yield Check("Kuiper", "MAPIE", kuiper.standardised, kuiper_statistic(y, p), PATH)


def _spiegelhalter_checks(name: str, y: Any, p: Any) -> Iterator[Check]:
    from mapie.metrics.calibration import spiegelhalter_p_value, spiegelhalter_statistic

    z, one_sided = tn.assess_event(y, p, resamples=99, rng=0).spiegelhalter, spiegelhalter_p_value(y, p)
    yield Check(f"Spiegelhalter's Z, log-odds {name}", "MAPIE", z.value, spiegelhalter_statistic(y, p))
    yield Check("its p-value", "MAPIE", z.p_value, one_sided, "two-sided here, one-sided there: see below")
    both = 2 * min(one_sided, 1 - one_sided)
    yield Check("its p-value", "MAPIE, 2·min(p, 1 - p)", z.p_value, both)


def table_of(checks: Iterator[Check]) -> str:
    """A Markdown table of the checks."""
    lines = ["| number | library | trueness | theirs | difference | |", "|---|---|---|---|---|---|"]
    for check in checks:
        ours, theirs = _number_text(check.ours), _number_text(check.theirs)
        lines.append(
            f"| {check.what} | {check.library} | {ours} | {theirs} | {_difference(check)} | {check.note} |"
        )
    return "\n".join(lines)


def _number_text(value: float) -> str:
    return f"{value:.7f}" if abs(value) >= 1e-3 else f"{value:.3g}"


def _difference(check: Check) -> str:
    """The size of the difference as a bound, which does not depend on the processor, or its value if it is large."""
    apart = abs(check.ours - check.theirs)
    bound = next((limit for limit in (1e-12, 1e-9, 1e-6, 1e-4) if apart <= limit), None)
    return f"{check.ours - check.theirs:+.6f}" if bound is None else f"< {bound:.0e}"


def difference_table(rows: Rows) -> str:
    """The parts of the difference of each convention, as `compare_convention` gives them."""
    lines = [
        "| convention | theirs | trueness | bins and range | edges (rows) | dropped (rows) | the rest |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in CONVENTIONS:
        found = tn.compare_convention(rows.y_true, rows.y_prob, name)
        parts = {part.code: part for part in found.parts}
        cells = [_part_text(parts.get(code)) for code in ("bins", "edges", "dropped", "rest")]
        lines.append(f"| `{name}` | {found.theirs:.5f} | {found.ours:.5f} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _part_text(part: Any) -> str:
    if part is None:
        return ""
    change = f"{round(part.change, 5) + 0.0:+.5f}"
    return f"{change} ({part.n_rows})" if part.n_rows else change


def defects() -> str:
    """The known defects of every convention, once each."""
    lines = []
    for entry in CONVENTIONS.values():
        for defect in entry.defects:
            link = f" ([public issue]({defect.link}))" if defect.link else ""
            lines.append(f"- {entry.library} {entry.version}: {defect.text}{link}.")
    return "\n".join(lines)


def registry() -> str:
    """The conventions in words."""
    lines = [
        "| name | computes | default bins | values on an edge | rows dropped | read in |",
        "|---|---|---|---|---|---|",
    ]
    for name, entry in CONVENTIONS.items():
        lines.append(
            f"| `{name}` | {entry.computes} | {entry.bins_text(None)} | {entry.edges} | {entry.dropped} | "
            f"{entry.source} ({entry.version}) |"
        )
    return "\n".join(lines)


def page() -> str:
    """The text of the page."""
    versions = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    one, edges = random_rows(3), rows_on_edges()
    return f"""# Validation against other libraries

Numbers of trueness beside the same numbers of other libraries, on the same seeded rows. The page is written by
`scripts/make_validation_page.py`, which draws the rows and calls the libraries. Tests check the same agreements on
more rows (`tests/peers/`, `tests/oracles/test_conventions.py`).

Libraries: {versions}.

A difference below a bound is shown as the bound. torchmetrics computes the top label in float32, hence 1e-6.

## Where the definitions are the same

{N_ROWS} over-confident rows, none of them on an edge. Bins of trueness cover [1/C, 1]; M of them are those of
M·C/(C - 1) bins over [0, 1], where the rows are.

{table_of(same_bin_checks())}

Scores without bins, three classes:

{table_of(score_checks(one))}

One event, {N_ROWS} rows, log-odds too extreme (`tn.assess_event`):

{table_of(event_checks())}

MAPIE's `spiegelhalter_p_value` is 1 - Φ(Z), the probability of a larger Z. It is one-sided, although calibration fails
in both directions: where the log-odds are too timid, it is near 1. The test here is two-sided. No public issue on it
was found.

## Numbers of other libraries, reproduced

`tn.ece(y_true, y_prob, convention="torchmetrics", bins=15)` gives the number of another library from the same rows
([how](../guide/conventions.md)). With the libraries' default bins, {N_ROWS} rows of three classes:

{table_of(convention_checks(one))}

Confidences in tenths, so that most rows lie on an edge, and every tenth row at 1:

{table_of(convention_checks(edges))}

HELM, Humanity's Last Exam and the UCE authors' script are not called here, as they are not installable libraries, and
probmetrics adds its own rule to torchmetrics. Their conventions are tested against their published definitions in
plain loops (`tests/oracles/test_conventions.py`), probmetrics also through torchmetrics, and HELM through
uncertainty-calibration.

## Why they differ

The same rows on edges. Theirs minus trueness is the sum of the last four columns: other bins or another range; rows on
edges; rows dropped; and the rest, which is arithmetic, or another formula. UCE is compared with UCE, and L2 (`hle`)
with L2. `tn.compare_convention` gives these parts for any rows.

{difference_table(edges)}

## Known defects

{defects()}
- MAPIE {version("MAPIE")}: `spiegelhalter_p_value` is one-sided (above).

## All conventions

{registry()}
"""


def main() -> None:
    """Write the page."""
    warnings.simplefilter("ignore")
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
