"""The numbers behind an assessment: tables by name, and the sections of details and report."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from trueness.bins import Edges
from trueness.document import Entry, Forest, Section
from trueness.exact_sums import FloatArray
from trueness.formatting import count, counted, listed, number, percent
from trueness.inference.estimates import Estimate
from trueness.inference.sample import Sample
from trueness.listing import Listing

if TYPE_CHECKING:
    from trueness.answers.assessment import Assessment, ClusterResult
    from trueness.charts import Chart

MOST_DIAGRAMS = 4
"""Classes whose reliability diagrams are shown beside one another."""

MEANINGS = {
    "VCE": "distance between predicted and observed variation, averaged over the bins",
    "ECE": "distance between confidence and accuracy, averaged over bins of confidence",
    "RCE": "share of the probability that lies at the wrong rank",
    "net gap": "VCE with signs; above 0 outcomes vary more than predicted",
    "confidence minus accuracy": "above 0 over-confident, below 0 under-confident",
    "log-score minus entropy": "mean of -ln p of the true class less entropy; 0 if calibrated",
}
"""What the numbers mean, in a few words."""


def facts_of(result: Assessment) -> tuple[str, ...]:
    """What was assessed, and how."""
    spec, settings, table = result.table.spec, result.settings, result.table
    kind = "weighted rows" if spec.weighted else "rows"
    if spec.n_classes is None:
        classes = f"{listed([str(n) for n in table.options], 6)} options"
    else:
        classes = counted(spec.n_classes, "class", "classes")
    bins = counted(spec.bins.n_bins if spec.bins else 0, "bin")
    measure = table.measure.display_name
    facts = [f"{count(result.n_rows)} {kind}, {classes}, {bins} of {measure}"]
    draws = f"{count(result.resamples)} resamples, seed {settings.seed}"
    facts.append(f"{100 * settings.level:g} % intervals, {draws}")
    if result.groups:
        facts.append(counted(len(result.groups), "group"))
    if table.clusters is not None:
        design = Sample.of(table).design
        worth = f"{number(design.clusters)} effective; a row counts as {number(1 / design.effect)}"
        facts.append(f"{counted(len(table.clusters.identities), 'cluster')}, {worth}")
    return tuple(facts)


def sections_of(result: Assessment) -> Iterator[Section]:
    """All that is known about an assessment, in the order in which people ask."""
    found, charts = result.listings(), charts_of(result)
    if result.groups:
        yield Section("Groups", (groups_forest(result),))
    elif result.classes is not None:
        yield Section("Classes", (classes_forest(result),))
    yield Section("Predicted and observed", (charts["reliability"](), charts["ranks"]()))
    meanings = (f"{name}: {words}." for name, words in MEANINGS.items())
    shares = f"Accuracy {percent(result.accuracy)}, mean confidence {percent(result.confidence)}"
    scores = f"Brier score {number(result.brier)} (from 0 to 2), log-loss {number(result.log_loss)}"
    yield Section("Numbers", (found["metrics"], f"{shares}, {scores}.", *meanings), folded=True)
    if result.tests:
        title = "Tests, combined into the p-value of the answer"
        yield Section(title, (found["tests"],), folded=True)
    if result.groups:
        yield Section("Groups in numbers", (found["groups"],), folded=True)
    if result.clusters:
        yield Section("Clusters that are furthest off", (found["clusters"],), folded=True)
    if result.classes is not None:
        wrong = [f"class {it.name}" for it in result.classes.wrong][:MOST_DIAGRAMS]
        diagrams = [charts[name]() for name in wrong]
        yield Section("Classes in numbers", (found["classes"], *diagrams), folded=True)
    yield Section("Bins of variation", (found["bins"],), folded=True)
    yield Section("Bins of confidence", (found["confidence"], charts["confidence"]()), folded=True)
    yield Section("Ranks of the true class", (found["ranks"], charts["rank_map"]()), folded=True)


def charts_of(result: Assessment) -> dict[str, Callable[[], Chart]]:
    """The pictures by kind, as functions that make them."""
    from trueness import charts

    table, settings = result.table, result.settings
    kinds: dict[str, Callable[[], Chart]] = {
        "reliability": lambda: charts.reliability_chart(table, settings),
        "confidence": lambda: charts.confidence_chart(table, settings),
        "gap": lambda: charts.reliability_chart(table, settings, gap=True),
        "ranks": lambda: charts.rank_chart(table, settings),
        "rank_map": lambda: charts.rank_map(table),
        "cumulative": lambda: charts.cumulative_chart(table, None, settings),
    }
    if result.groups:
        kinds["groups"] = lambda: charts.forest_chart(groups_forest(result))
    if result.classes is not None:
        kinds["classes"] = lambda: charts.forest_chart(classes_forest(result))
        for it, k in zip(result.classes, table.spec.classes, strict=True):
            kinds[f"class {it.name}"] = partial(charts.class_chart, table, k, settings)
            kinds[f"cumulative {it.name}"] = partial(charts.cumulative_chart, table, k, settings)
    return kinds


def groups_forest(result: Assessment) -> Forest:
    """Confidence minus accuracy of each group, those that are wrong first, and of all rows."""
    ordered = sorted(result.groups, key=lambda name: name not in result.wrong_groups)
    of = {name: result.groups[name] for name in ordered} | {"all rows": result}
    entries = []
    for name, it in of.items():
        wrong = it is result or name in result.wrong_groups
        words = it.verdict.kind.replace("-", " ") if wrong else "no evidence"
        entries.append(Entry(name, it.gap.value, it.gap.low, it.gap.high, it.n_rows, words, True))
    unit = "confidence minus accuracy (above 0: over-confident)"
    return Forest("Confidence minus accuracy by group", unit, tuple(entries))


def classes_forest(result: Assessment) -> Forest:
    """What is wrong with the classes: frequencies, or slopes if those are the clearer error."""
    classes = result.classes
    assert classes is not None
    by_slope = 2 * sum(it.fault == "slope" for it in classes.wrong) > len(classes.wrong)
    entries = []
    for it in sorted(classes, key=lambda it: (not it.fault, -it.size * bool(it.fault))):
        each, less = (it.slope, 1.0) if by_slope else (it.gap, 0.0)
        value, low, high = (
            None if v is None else v - less for v in (each.value, each.low, each.high)
        )
        words = it.words or ("no error is found" if each.value is not None else each.reason or "")
        entries.append(Entry(it.name, value, low, high, round(it.observed), words, True))
    if by_slope:
        unit = "slope of the log-odds less 1 (below 0: too extreme)"
        return Forest("Slopes of the classes", unit, tuple(entries))
    unit = "expected minus observed, as a share of rows"
    return Forest("Frequencies of the classes", unit, tuple(entries))


_ESTIMATES = {
    "gap": "confidence minus accuracy",
    "vce": "VCE",
    "ece": "ECE",
    "rce": "RCE",
    "net": "net gap",
    "score_gap": "log-score minus entropy",
}
"""The estimates of an assessment by attribute, with the names that people see."""


def listings_of(result: Assessment) -> dict[str, Listing]:
    """The tables of numbers by name; groups that are wrong come first."""
    ordered = sorted(result.groups, key=lambda name: name not in result.wrong_groups)
    tests = (
        {"test": it.name, "statistic": it.statistic, "p_value": it.p_value, "where": it.where}
        for it in result.tests
    )
    return {
        "metrics": Listing.of([_metric(result, name) for name in _ESTIMATES]),
        "tests": Listing.of([*tests]),
        "groups": Listing.of([_group(name, result.groups[name], result) for name in ordered]),
        "clusters": Listing.of([_cluster(name, it) for name, it in result.clusters.items()]),
        "classes": Listing((), ()) if result.classes is None else result.classes.listing(),
        "bins": bins_of(result),
        "confidence": confidence_of(result),
        "ranks": ranks_of(result),
    }


def _interval(name: str, it: Estimate) -> dict[str, object]:
    """The best value of an estimate with its interval, as three cells."""
    value = it.value if it.debiased is None else it.debiased
    return {name: value, f"{name}_low": it.low, f"{name}_high": it.high}


def _metric(result: Assessment, name: str) -> dict[str, object]:
    it: Estimate = getattr(result, name)
    rest = {"plug_in": it.value, "noise_floor": it.noise_floor, "remark": it.reason}
    return {"metric": _ESTIMATES[name], **_interval("estimate", it), **rest}


def _group(name: str, it: Assessment, whole: Assessment) -> dict[str, object]:
    wrong = name in whole.wrong_groups
    found: dict[str, object] = {"group": name, "n_rows": it.n_rows}
    found |= {"verdict": it.verdict.kind if wrong else "no-evidence", "p_value": it.p_value}
    found |= _interval("gap", it.gap) | _interval("vce", it.vce) | _interval("ece", it.ece)
    return found | {"accuracy": it.accuracy, "confidence": it.confidence, "wrong": wrong}


def _cluster(name: str, it: ClusterResult) -> dict[str, object]:
    found: dict[str, object] = {"cluster": name, "n_rows": it.n_rows, "gap": it.gap.value}
    found |= {"vce": it.vce.debiased, "ece": it.ece.debiased, "rce": it.rce.debiased}
    return found | {"accuracy": it.accuracy, "confidence": it.confidence}


def bins_of(result: Assessment) -> Listing:
    """Each bin of variation that has rows: predicted and observed variation."""
    table, rows = result.table, result.table.rank_bins().rows.sum(axis=0)
    pairs = {"predicted": table.predicted_variation, "observed": table.observed_variation}
    return _by_bin(table.spec.bins, rows, pairs)


def confidence_of(result: Assessment) -> Listing:
    """Each bin of confidence that has rows: mean confidence and accuracy."""
    n, stated, right = (each[0] for each in result.table.top_bins())
    rows = np.where(n > 0, n, np.nan)
    pairs = {"accuracy": right / rows, "confidence": stated / rows}
    return _by_bin(result.table.spec.top_bins, n, pairs)


def _by_bin(edges: Edges | None, rows: FloatArray, pairs: Mapping[str, FloatArray]) -> Listing:
    """One line for each bin with rows: two numbers, and how much the second exceeds the first."""
    assert edges is not None
    first, second = pairs.values()
    found = {"bin": np.arange(edges.n_bins) + 1, "from": edges.edges[:-1], "to": edges.edges[1:]}
    found |= {"rows": rows, **pairs, "gap": second - first}
    kept = np.flatnonzero(rows > 0)
    cells = {name: np.asarray(column)[kept].tolist() for name, column in found.items()}
    cells["rows"] = [int(n) if n.is_integer() else n for n in cells["rows"]]
    return Listing(tuple(cells), tuple(zip(*cells.values(), strict=True)))


def ranks_of(result: Assessment) -> Listing:
    """How often the true class was the most probable one, the second, and so on."""
    bins = result.table.rank_bins()
    total = float(bins.rows.sum())
    shares = [(sums.sum(axis=(0, 1)) / total).tolist() for sums in (bins.predicted, bins.observed)]
    rows = tuple((k, p, o, p - o) for k, (p, o) in enumerate(zip(*shares, strict=True), 1))
    return Listing(("rank", "predicted", "observed", "gap"), rows)


def numbers_of(result: Assessment) -> Mapping[str, object]:
    """The numbers by their flat names."""
    names = "n_rows p_value accuracy confidence brier log_loss temperature"
    return {name: getattr(result, name) for name in (*names.split(), *_ESTIMATES)}
