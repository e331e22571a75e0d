"""`assess`: is a model calibrated, how wrong is it, where, and what can be done?

From rows to the answer in six steps: read the rows, tabulate them, take the sample that the table
is, draw what a calibrated model would give, estimate and test, conclude. A table gives the same
answer as its rows. Groups are assessed in the bins of all rows, and their p-values are corrected
for their number.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trueness.answers.assessment_details import (
    charts_of,
    facts_of,
    listings_of,
    numbers_of,
    sections_of,
)
from trueness.answers.class_results import ClassResults, class_results
from trueness.answers.result import Result
from trueness.answers.verdict import Evidence, conclude
from trueness.arguments import Seed, Settings, root_seed
from trueness.bins import Bins
from trueness.document import Caution, Document
from trueness.formatting import count, counted, listed, number, percent, visible
from trueness.inference import calibration_tests, estimates
from trueness.inference.calibration_tests import MOST_RESAMPLES, Test
from trueness.inference.debiasing import variation_gaps
from trueness.inference.estimates import Estimate
from trueness.inference.noise import RankDraws, Streams, draw_ranks, draw_top_errors
from trueness.inference.sample import FEWEST_CLUSTERS, Sample
from trueness.listing import Listing, plain
from trueness.refusals import InvalidValueError
from trueness.spec import TableOptions
from trueness.table import Table
from trueness.today import Rows, read, tabulate_rows
from trueness.variation import Variation

if TYPE_CHECKING:
    from trueness.charts import Chart

MOST_CLUSTERS = 5
"""Clusters that are shown: those that are furthest off."""

FEW_ROWS = 10
"""With fewer rows, or fewer than classes, the observed variation of a bin is far too low."""

FEW_CLUSTERS = 30
"""With fewer clusters only large errors are found."""


class ClusterResult(NamedTuple):
    """The numbers of one cluster: exactly those of `assess` on its rows alone.

    Rows of one cluster are not independent, so there are no intervals and no p-value.
    """

    n_rows: int
    accuracy: float
    confidence: float
    gap: Estimate
    vce: Estimate
    ece: Estimate
    rce: Estimate


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Assessment(Result):
    """How well a model's probabilities agree with the outcomes. Returned by `assess`.

    Print it to read the answer; `details()` has all numbers, `to_frame()` has them as tables, and
    `verdict`, `p_value` and `to_dict()` are for programs.
    """

    vce: Estimate
    """Variation calibration error: the distance between predicted and observed variation."""
    ece: Estimate
    """Expected calibration error: the distance between confidence and accuracy."""
    rce: Estimate
    """Ranked calibration error: depends on which rank the true class has."""
    gap: Estimate
    """Mean confidence less accuracy: above 0 over-confident, below 0 under-confident."""
    net: Estimate
    """VCE with signs: above 0 outcomes vary more than predicted, below 0 less."""
    score_gap: Estimate
    """Mean of -ln p of the true class less the entropy, in nats (Sumler et al. 2025)."""
    accuracy: float
    """The share of rows whose most probable class is the true one."""
    confidence: float
    """The mean of the largest probability."""
    brier: float
    """The mean squared distance between prediction and outcome, summed over classes: 0 to 2."""
    log_loss: float
    """The mean of -ln p of the true class; infinite if one had probability 0."""
    n_rows: int
    temperature: float | None
    """The number that would divide the logits, found from the table; None if there is none."""
    classes: ClassResults | None
    """Each class; None if rows have options of their own, or the table has no classes."""
    tests: tuple[Test, ...]
    """The tests that the p-value combines."""
    resamples: int
    """How often a calibrated model was drawn; more than asked for if that decided."""
    groups: Mapping[str, Assessment] = field(default_factory=dict)
    """The groups that are large enough, by name."""
    wrong_groups: tuple[str, ...] = ()
    """Groups in which an error is found, corrected for their number; the clearest first."""
    clusters: Mapping[str, ClusterResult] = field(default_factory=dict)
    """The clusters that are furthest off, the clearest first."""

    def document(self) -> Document:
        """The answer, how it was made, all sections, and the saved table."""
        saved = json.dumps(self.table.to_dict(), allow_nan=False)
        return Document(self.answer, facts_of(self), tuple(sections_of(self)), saved)

    def listings(self) -> Mapping[str, Listing]:
        """The tables: metrics, tests, groups, clusters, classes, bins, confidence, ranks."""
        return listings_of(self)

    def chart_kinds(self) -> Mapping[str, Callable[[], Chart]]:
        """The pictures: reliability, confidence, gap, ranks, rank_map, groups, classes, …

        Those of single classes are `class NAME` and `cumulative NAME`.
        """
        return charts_of(self)

    def numbers(self) -> Mapping[str, Any]:
        """The numbers by name."""
        return numbers_of(self)

    def parts(self) -> Mapping[str, Mapping[str, Result]]:
        """The groups."""
        return {"group": self.groups}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings, with the table."""
        content = {"schema": 1, "kind": "assessment", **_plain_parts(self)}
        return {**content, "table": self.table.to_dict()}


def _plain_parts(it: Assessment) -> dict[str, Any]:
    names = ("verdict", "answer", "settings", "wrong_groups", "classes", "tests", "resamples")
    found = {name: plain(getattr(it, name)) for name in names}
    found |= {"text": str(it), **plain(it.numbers())}
    found["groups"] = {name: _plain_parts(each) for name, each in it.groups.items()}
    return {**found, "clusters": plain(it.clusters)}


def assess(
    y_true: Any,
    y_prob: Any = None,
    *,
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    ties: str | None = None,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_options: Any = None,
    soft_labels: bool = False,
    class_axis: int | None = None,
    ignore_index: int | None = None,
    groups: Any = None,
    clusters: Any = None,
    level: float = 0.95,
    resamples: int = 999,
    seed: Seed = 0,
    tolerance: float | Mapping[str, float] | None = None,
    min_group_size: int = 100,
) -> Assessment:
    """Assess whether predicted probabilities agree with the outcomes.

    Parameters
    ----------
    y_true : array of labels, shape (rows,), or Table
        The true classes: indices, or names with `classes`. A table takes the place of the rows, and
        then no other option of rows can be given.
    y_prob : array, shape (rows, classes)
        Predicted probabilities; of images (images, classes, height, width). Rows with options of
        their own are lists.
    variation : str or Variation
        The measure by which rows are put into bins.
    bins : int or EqualWidth, EqualMass, Edges
        The bins; a number means bins of equal width.
    ties : "first" or "split", optional
        The rank of equal probabilities: the lower class index first, or shared.
    sample_weight : array, shape (rows,)
        Weights of the rows; they may not depend on the labels.
    from_logits, normalize : bool
        Whether predictions are logits; whether rows are divided by their sum.
    classes : list of names
        The classes in the order of the columns.
    n_options : array of int
        The number of options of each row, where rows have different numbers.
    soft_labels : bool
        Whether labels are shares of the classes, shape (rows, classes).
    class_axis, ignore_index : int
        The axis of the classes of an array of images; a label whose rows are left out.
    groups : array of names, or a data frame or mapping of such columns
        Each group is assessed too; of several columns, the combinations of values that occur.
    clusters : array of names, or False
        Which rows belong together (a patient, a session) and are not independent. Pixels of an
        image are one cluster; False means that they are independent.
    level : float
        Of the intervals; an error is found if the p-value is at most 1 - level.
    resamples : int
        How often rows of a calibrated model are drawn.
    seed : int, None or numpy.random.Generator
        The same seed gives the same numbers; None takes a new one.
    tolerance : float or mapping from "vce", "gap", "ece", "rce" to floats
        The largest error that does not matter.
    min_group_size : int
        Groups of fewer rows are not assessed.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(2000, [1, 1, 1], rng=0)
    >>> result = assess(y_true, tn.simulate.sharpen(y_prob, 1.5))
    >>> result.verdict.kind
    'over-confident'
    >>> print(result.answer.advice)
    Divide the logits by about 1.4 (fit it on other rows), then assess again.
    """
    settings = Settings(level, resamples, root_seed(seed), tolerance, min_group_size)
    of_rows = {
        "sample_weight": sample_weight,
        "groups": groups,
        "clusters": clusters,
        "classes": classes,
        "n_options": n_options,
        "class_axis": class_axis,
        "ignore_index": ignore_index,
        "from_logits": from_logits,
        "normalize": normalize,
        "soft_labels": soft_labels,
    }
    if isinstance(y_true, Table):
        own = {"variation": variation != "entropy", "bins": bins != 10}
        for name, value in {**of_rows, "y_prob": y_prob, "ties": ties, **own}.items():
            if value is not None and value is not False:
                cause, remedy = f"`{name}` cannot be given with a table", "pass it to tabulate"
                raise InvalidValueError("bad-argument", cause, remedy, argument=name)
        return assess_table(y_true, settings)
    rows = read(y_true, y_prob, **of_rows)
    table = tabulate_rows(rows, TableOptions(variation, bins, ties=ties))
    return assess_table(table, settings, tuple(_about_reading(rows)))


def assess_table(
    table: Table, settings: Settings, notes: tuple[Caution, ...] = (), finest: float | None = None
) -> Assessment:
    """The assessment of a table; `finest` is the p-value that a gate wants to be resolved."""
    if table.spec.variation is None or table.spec.top_bins is None:
        raise InvalidValueError("wrong-table", "the table has no bins of variation and confidence")
    sample = Sample.of(table)
    it = _evidence(sample, settings, Streams(settings.seed), finest)
    it = it._replace(cautions=(*_cautions(table, sample), *notes))
    groups, corrected = _groups(table, settings)
    wrong: list[str] = []
    if corrected and it.p_value is not None:
        both = [it.p_value, min(corrected.values())]
        p = calibration_tests.cauchy_combination(both, [1.0, 1.0])
        limit = settings.largest_p if p <= settings.largest_p else 0.0
        wrong = sorted((k for k in corrected if corrected[k] <= limit), key=corrected.__getitem__)
        answers = {name: (groups[name].verdict, groups[name].answer) for name in wrong}
        it = it._replace(p_value=p, wrong_groups=answers, n_groups=len(groups))
    small = [name for name in table.group_names if name is not None and name not in groups]
    if small:
        size = f"fewer than {settings.min_group_size} rows"
        text = f"{counted(len(small), 'group')} of {size} not assessed: {listed(small)}."
        it = it._replace(cautions=(*it.cautions, Caution("small-groups", text)))
    nearest = dict(_furthest_clusters(table, sample, settings))
    made = _result(it, table)
    return replace(made, groups=groups, wrong_groups=tuple(wrong), clusters=nearest)


def _evidence(
    sample: Sample, settings: Settings, streams: Streams, resolution: float | None = None
) -> Evidence:
    """Estimates and tests of a sample; p-values are resolved as finely as asked for."""
    draws, temperature, found = _estimates(sample, settings, streams)
    finest = settings.largest_p if resolution is None else resolution
    outcome = calibration_tests.calibration_tests(sample, draws, streams, resolution=finest)
    tests, p, _, resamples = outcome
    classes = class_results(sample, settings)
    return Evidence(sample, settings, tests, p, found, classes, temperature, resamples)


def _estimates(
    sample: Sample, settings: Settings, streams: Streams
) -> tuple[RankDraws, float | None, dict[str, Estimate]]:
    """Draws of a calibrated model, the temperature, and the estimates by name."""
    level, resamples = settings.level, settings.resamples
    draws = draw_ranks(sample, resamples, streams)
    gaps = variation_gaps(sample, draws, streams)
    noise = draw_top_errors(sample, float(sample.rank_effects()[1][0]), resamples, streams)
    found = {
        "vce": estimates.variation_error(sample, gaps, level),
        "ece": estimates.top_error(sample, noise, level),
        "rce": estimates.rank_error(sample, draws, level),
        "gap": estimates.confidence_gap(sample, level),
        "net": estimates.net_gap(sample, gaps, level),
        "score_gap": estimates.entropic_difference(sample, level),
    }
    return draws, 1 / gaps.beta if gaps.beta > 0 else None, found


def _result(it: Evidence, table: Table) -> Assessment:
    """The assessment with its conclusion."""
    (verdict, answer), totals, found = conclude(it), it.sample.totals, it.estimates
    return Assessment(
        answer=answer,
        verdict=verdict,
        table=table,
        settings=it.settings,
        vce=found["vce"],
        ece=found["ece"],
        rce=found["rce"],
        gap=found["gap"],
        net=found["net"],
        score_gap=found["score_gap"],
        accuracy=totals.accuracy,
        confidence=totals.confidence,
        brier=totals.brier,
        log_loss=totals.log_loss,
        n_rows=totals.n_rows,
        temperature=it.temperature,
        classes=it.classes,
        tests=it.tests,
        resamples=it.resamples,
    )


def _groups(table: Table, settings: Settings) -> tuple[dict[str, Assessment], dict[str, float]]:
    """The groups that are large enough, and their p-values corrected for their number.

    Where no draw is as extreme as a group and only that keeps it from being called, more are made.
    """
    tables = {name: table.select(group=name) for name in table.group_names if name is not None}
    tables = {name: each for name, each in tables.items() if each.n_rows >= settings.min_group_size}
    samples = {name: Sample.of(each) for name, each in tables.items()}
    streams = {name: Streams(settings.seed, name) for name in tables}
    made = {name: _evidence(samples[name], settings, streams[name]) for name in tables}
    while True:
        p_values = {name: p for name, it in made.items() if (p := it.p_value) is not None}
        adjusted = calibration_tests.benjamini_hochberg([*p_values.values()])
        corrected = dict(zip(p_values, adjusted, strict=True))
        others = [name for name, p in corrected.items() if p > settings.largest_p]
        short = [name for name in others if _is_short(made[name])]
        if not short:
            return {name: _result(it, tables[name]) for name, it in made.items()}, corrected
        called = len(corrected) - len(others) + len(short)
        for name in short:
            more = replace(settings, resamples=min(10 * made[name].resamples, MOST_RESAMPLES))
            needed = settings.largest_p * called / len(corrected)
            made[name] = _evidence(samples[name], more, streams[name], needed)


def _is_short(it: Evidence) -> bool:
    """Whether in some test no draw is as extreme as the rows, and more can be made."""
    smallest = min((test.p_value for test in it.tests), default=1.0)
    return smallest * (it.resamples + 1) < 1.5 and it.resamples < MOST_RESAMPLES


def _furthest_clusters(
    table: Table, sample: Sample, settings: Settings
) -> Iterator[tuple[str, ClusterResult]]:
    """The clusters whose confidence and accuracy are furthest apart, in standard errors."""
    units, clusters = sample.units, table.clusters
    if units is None or units.top is None or clusters is None or clusters.names is None:
        return
    if sample.design.soft != 1.0:  # what a soft label is worth is not kept by cluster
        return
    n, stated, right = (each[:, 0] for each in units.top)
    p = np.divide(stated, n, out=np.zeros(n.shape), where=n > 0)
    noise = np.sqrt((n * p * (1 - p)).sum(axis=1) + 1e-9 * n.sum(axis=1))
    z = np.abs((stated - right).sum(axis=1)) / noise
    places = np.searchsorted(clusters.identities, table.units)
    for u in np.argsort(-z, kind="stable")[:MOST_CLUSTERS].tolist():
        alone = Sample.of(_rows_of_cluster(table, u))
        _, _, found = _estimates(alone, settings, Streams(settings.seed))
        shares = (alone.totals.n_rows, alone.totals.accuracy, alone.totals.confidence)
        why, names = "one cluster alone", ("gap", "vce", "ece", "rce")
        four = [replace(found[name], low=None, high=None, reason=why) for name in names]
        yield visible(clusters.names[int(places[u])]), ClusterResult(*shares, *four)


def _rows_of_cluster(table: Table, u: int) -> Table:
    """The rows of one cluster, as if they were independent; what is not kept by cluster is 0."""
    whole = table.over("group")
    chosen = whole.parts.unit == whole.units[u]
    parts = whole.parts.take(chosen).without_units
    spec = replace(whole.spec, classes=(), class_bins=None)
    none = spec.zeros(len(chosen), len(parts.unit), whole.n_classes)
    own = {name for name, its in spec.fields() if its.axis == "part"}
    sums = {name: whole.sums[name][chosen] if name in own else none[name] for name in none}
    return Table(spec, parts, sums)


# What limits the conclusions ----------------------------------------------------------------------


def _cautions(table: Table, sample: Sample) -> Iterator[Caution]:
    """All warnings about a table, each with its remedy."""
    totals, n = sample.totals, counted(sample.totals.n_rows, "row")
    rows = np.concatenate([stratum.rows for stratum in sample.strata])
    enough = max(FEW_ROWS, table.n_classes)
    few = float(rows[rows < enough].sum() / rows.sum())
    if few > 0.1 and sample.without_interval() is None:  # a few rows do no harm
        supported = min(10, int(rows.sum() / enough))
        remedy = f"use bins=EqualMass({supported})" if supported > 1 else "collect more"
        text = f"{percent(few)} of the rows are in bins of fewer than {enough}: {remedy}."
        yield Caution("few-rows", text)
    if table.tied_rows > totals.impossible:
        split = table.spec.ties == "split"
        remedy = "their ranks are shared" if split else "compare with ties='split'"
        tied = f"In {count(table.tied_rows)} of {n} another class is as probable as the true one"
        yield Caution("ties", f"{tied}; {remedy}.")
    if totals.impossible:
        zero = f"the true class had probability 0 in {count(totals.impossible)} of {n}"
        yield Caution("impossible", f"The log-loss is infinite: {zero}.")
    if sample.design.soft != 1.0:
        worth = f"a row is worth {number(1 / sample.design.soft)} rows with one label each"
        yield Caution("soft-labels", f"Soft labels: {worth}, if annotators are independent.")
    effective = totals.mass / sample.row_weight
    if table.spec.weighted and effective < totals.n_rows / 2:
        worth = f"{n} with uneven weights are worth {count(round(effective))}"
        yield Caution("uneven-weights", f"{worth}; a few heavy rows decide.")
    clusters = sample.design.clusters
    if FEWEST_CLUSTERS <= clusters < FEW_CLUSTERS:
        words = f"With {count(round(clusters, 1))} effective clusters"
        yield Caution("few-clusters", f"{words} only large errors are found.")
    if table.clusters is not None and table.clusters.n_blocks is not None:
        names = counted(len(table.clusters.identities), "cluster")
        blocks = f"were summed in {count(table.clusters.n_blocks)} blocks"
        yield Caution("blocks", f"{names} {blocks}: no single cluster is shown.")


def _about_reading(rows: Rows) -> Iterator[Caution]:
    """What was left out when rows were read."""
    for reason, n in rows.left_out.items():
        words = "have the label ignore_index" if reason == "ignored" else f"are {reason}"
        text = f"{counted(n, 'row')} {words} and were left out, unchecked."
        yield Caution(f"{reason}-rows", text)
