"""The numbers behind an assessment: tables by name, and the sections of details and report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from trueness.bins import Edges
from trueness.document import Document, Entry, Forest, Section
from trueness.exact_sums import FloatArray
from trueness.formatting import count, counted, listed, number, percent
from trueness.inference.estimates import Estimate
from trueness.inference.sample import Sample
from trueness.listing import Listing

if TYPE_CHECKING:
    from trueness.answers.assessment import Assessment, ClusterResult

MOST_LINES = 40
"""Lines of a table that the details show; `to_frame` has all."""

MEANINGS = {
    "VCE": "distance between predicted and observed variation, averaged over the bins",
    "ECE": "distance between confidence and accuracy, averaged over bins of confidence",
    "RCE": "share of the rows whose true class has another rank than predicted",
    "confidence minus accuracy": "above 0 over-confident, below 0 under-confident",
    "log-score minus entropy": "mean of -ln p of the true class less the entropy, above 0 over-confident",
}
"""What the numbers mean, in a few words."""


def document_of(result: Assessment) -> Document:
    """All that is known about an assessment, in the order in which people ask."""
    return Document(result.answer, facts_of(result), tuple(_sections(result)))


def facts_of(result: Assessment) -> tuple[str, ...]:
    """What was assessed, and how."""
    spec, settings, table = result.table.spec, result.settings, result.table
    kind = "weighted rows" if spec.weighted else "rows"
    if spec.n_classes is None:
        classes = f"{listed([str(n) for n in table.options], 6)} options"
    else:
        classes = counted(spec.n_classes, "class", "classes")
    n_bins = spec.bins.n_bins if spec.bins else 0
    measure = spec.variation.display_name if spec.variation else ""
    facts = [f"{count(result.n_rows)} {kind}, {classes}, {counted(n_bins, 'bin')} of {measure}"]
    facts.append(
        f"{100 * settings.level:g} % intervals, {count(settings.resamples)} resamples, seed {settings.seed}"
    )
    if result.groups:
        facts.append(counted(len(result.groups), "group"))
    if table.clusters is not None:
        design = Sample.of(table).design
        worth = f"{number(design.clusters)} effective; a row counts as {number(1 / design.effect)}"
        facts.append(f"{counted(len(table.clusters.identities), 'cluster')}, {worth}")
    return tuple(facts)


def _sections(result: Assessment) -> Iterator[Section]:
    found = result.listings()
    meanings = (f"{name}: {words}." for name, words in MEANINGS.items())
    yield Section("Numbers", (found["metrics"], *_scores(result), *meanings))
    if result.tests:
        yield Section("Tests, combined into the p-value of the answer", (found["tests"],))
    if result.groups:
        yield Section("Groups", (_short(found["groups"]),))
    if result.clusters:
        entries = (_furthest(name, each) for name, each in result.clusters.items())
        title = "confidence minus accuracy"
        yield Section("Clusters that are furthest off", (Forest(title, title, tuple(entries)),))
    if result.classes is not None:
        yield Section("Classes", (_short(found["classes"]),), folded=True)
    yield Section("Bins of variation", (_short(found["bins"]),), folded=True)
    yield Section("Bins of confidence", (_short(found["confidence"]),), folded=True)
    yield Section("Ranks of the true class", (_short(found["ranks"]),), folded=True)


def _furthest(name: str, of: ClusterResult) -> Entry:
    words = f"states {percent(of.confidence)}, right in {percent(of.accuracy)}"
    return Entry(name, of.gap.value, None, None, of.n_rows, words, signed=True)


def _short(listing: Listing) -> Listing:
    return listing._replace(rows=listing.rows[:MOST_LINES])


def _scores(result: Assessment) -> tuple[str, ...]:
    loss, brier = number(result.log_loss), number(result.brier)
    shares = f"Accuracy {percent(result.accuracy)}, mean confidence {percent(result.confidence)}"
    return (f"{shares}, Brier score {brier} (from 0 to 2), log-loss {loss}.",)


def estimates_of(result: Assessment) -> dict[str, Estimate]:
    """The estimates by the names that people see."""
    found = {
        "confidence minus accuracy": result.gap,
        "VCE": result.vce,
        "ECE": result.ece,
        "RCE": result.rce,
        "log-score minus entropy": result.score_gap,
    }
    return {name: each for name, each in found.items() if each is not None}


def listings_of(result: Assessment) -> dict[str, Listing]:
    """The tables of numbers by name; groups that are wrong come first."""
    ordered = sorted(result.groups, key=lambda name: name not in result.wrong_groups)
    return {
        "metrics": Listing.of([_metric(name, it) for name, it in estimates_of(result).items()]),
        "tests": Listing.of(
            [
                {
                    "test": it.name,
                    "statistic": it.statistic,
                    "p_value": it.p_value,
                    "where": it.where,
                }
                for it in result.tests
            ]
        ),
        "groups": Listing.of([_group(name, result.groups[name], result) for name in ordered]),
        "clusters": Listing.of([_cluster(name, it) for name, it in result.clusters.items()]),
        "classes": Listing((), ()) if result.classes is None else result.classes.listing(),
        "bins": bins_of(result),
        "confidence": confidence_of(result),
        "ranks": ranks_of(result),
    }


def _metric(name: str, it: Estimate) -> dict[str, object]:
    return {
        "metric": name,
        "estimate": it.value if it.debiased is None else it.debiased,
        "low": it.low,
        "high": it.high,
        "plug_in": it.value,
        "noise_floor": it.noise_floor,
        "remark": it.reason,
    }


def _group(name: str, it: Assessment, whole: Assessment) -> dict[str, object]:
    wrong = name in whole.wrong_groups
    found: dict[str, object] = {"group": name, "n_rows": it.n_rows}
    found |= {"verdict": it.verdict.kind if wrong else "no-evidence", "p_value": it.p_value}
    for key, each in (("gap", it.gap), ("vce", it.vce), ("ece", it.ece)):
        value = None if each is None else each.value if each.debiased is None else each.debiased
        found |= {key: value, f"{key}_low": each and each.low, f"{key}_high": each and each.high}
    return found | {"accuracy": it.accuracy, "confidence": it.confidence, "wrong": wrong}


def _cluster(name: str, it: ClusterResult) -> dict[str, object]:
    return {
        "cluster": name,
        "n_rows": it.n_rows,
        "gap": it.gap.value,
        "vce": it.vce.debiased,
        "accuracy": it.accuracy,
        "confidence": it.confidence,
    }


def bins_of(result: Assessment) -> Listing:
    """Each bin of variation that has rows: predicted and observed variation."""
    table, bins = result.table, result.table.rank_bins()
    predicted, observed = table.predicted_variation, table.observed_variation
    return _by_bin(
        table.spec.bins, bins.rows.sum(axis=0), ("predicted", predicted), ("observed", observed)
    )


def confidence_of(result: Assessment) -> Listing:
    """Each bin of confidence that has rows: mean confidence and accuracy."""
    n, stated, right = (each[0] for each in result.table.top_bins())
    rows = np.where(n > 0, n, np.nan)
    return _by_bin(
        result.table.spec.top_bins, n, ("accuracy", right / rows), ("confidence", stated / rows)
    )


def _by_bin(
    edges: Edges | None,
    rows: FloatArray,
    first: tuple[str, FloatArray],
    second: tuple[str, FloatArray],
) -> Listing:
    """One line for each bin with rows: two numbers, and how much the second exceeds the first."""
    assert edges is not None
    names = ("bin", "from", "to", "rows", first[0], second[0], "gap")
    columns = (
        np.arange(edges.n_bins) + 1,
        edges.edges[:-1],
        edges.edges[1:],
        rows,
        first[1],
        second[1],
        second[1] - first[1],
    )
    kept = np.flatnonzero(rows > 0)
    cells = [np.asarray(column)[kept].tolist() for column in columns]
    cells[3] = [int(n) if n.is_integer() else n for n in cells[3]]
    return Listing(names, tuple(zip(*cells, strict=True)))


def ranks_of(result: Assessment) -> Listing:
    """How often the true class was the most probable one, the second, and so on."""
    bins = result.table.rank_bins()
    total = float(bins.rows.sum())

    def share(sums: FloatArray) -> FloatArray:
        return np.asarray(sums.sum(axis=(0, 1)) / total)

    pairs = zip(share(bins.predicted).tolist(), share(bins.observed).tolist(), strict=True)
    return Listing.of(
        [
            {"rank": k, "predicted": p, "observed": o, "gap": p - o}
            for k, (p, o) in enumerate(pairs, 1)
        ]
    )


def numbers_of(result: Assessment) -> Mapping[str, object]:
    """The numbers by their flat names."""
    names = (
        "n_rows p_value accuracy confidence brier log_loss vce ece rce gap score_gap temperature"
    )
    return {name: getattr(result, name) for name in names.split()}
