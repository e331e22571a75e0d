"""`assess_event`: the calibration of the probability of one event, such as class 1 of two, over [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from trueness._arguments import boolean, require_choice, whole_number
from trueness._random import Seed
from trueness.assessment._cautions import Caution
from trueness.assessment._event_result import WHAT, EventAssessment, EventAssessments, EventGroup
from trueness.assessment._event_sample import EventRows, EventSample, require_clusters
from trueness.assessment._event_totals import totals_of
from trueness.assessment._full_confidence import full_confidence
from trueness.assessment._multilabel import multilabel_table
from trueness.assessment._settings import DEFAULT_CLASS_BINS, MIN_GROUP_SIZE, Settings
from trueness.bins import Bins, event_grid
from trueness.inference.classwise.assessment import gap_of_clusters, larger_spread
from trueness.inference.corrections import benjamini_hochberg
from trueness.inference.events.calibration_error import event_calibration_error
from trueness.inference.events.cells import EventCells
from trueness.inference.events.cox import CoxFit, cox_fit
from trueness.inference.events.cumulative import cumulative_differences
from trueness.inference.events.curve_errors import Curve, curve_errors
from trueness.inference.events.draws import event_seed
from trueness.inference.events.event_statistics import brier_score, log_loss, spiegelhalter_test
from trueness.inference.events.hosmer_lemeshow import hosmer_lemeshow_test
from trueness.inference.events.in_the_large import in_the_large
from trueness.inference.events.of_table import event_bins, event_cells
from trueness.inference.events.prevalence import adjust_prevalence
from trueness.inference.events.reliability import (
    brier_parts,
    detectable_gap,
    largest_gap,
    log_score_test,
    rms_error,
)
from trueness.inference.events.spread import spread_test
from trueness.ranking import TIES
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows import Rows
from trueness.rows.clusters import clusters_given, identity
from trueness.rows.containers import contents_of
from trueness.table import Event, EventTable, event_index
from trueness.tabulation.events import event_spec


def assess_event(
    y_true: Any,
    y_prob: Any,
    *,
    positive: Any = None,
    event: Any = None,
    multilabel: bool = False,
    bins: int | Bins = DEFAULT_CLASS_BINS,
    curve: Curve = "loess",
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = 0,
    what: str | None = None,
    default_confidence: bool = False,
    groups: Any = None,
    min_group_size: int = MIN_GROUP_SIZE,
    clusters: Any = None,
    ties: str = "first",
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    engine: str = "auto",
    n_threads: int | None = None,
) -> EventAssessment | EventAssessments:
    """Assess the probability of one event: is it observed as often as predicted, at all probabilities?

    Rows, labels, ties and engine are as in `tabulate`.

    Parameters
    ----------
    positive : a label or class
        The class of two whose probability is assessed, class 1 by default. If `y_prob` has one dimension, it holds the
        probabilities of this label, and all other labels mean that the event did not occur.
    event : a class, or "top"
        With more than two classes: the class whose probability is assessed, by name or index, or "top" for the class
        of the largest probability.
    multilabel : bool
        Whether `y_prob` holds the probabilities of K events that do not exclude one another, (rows, K), and `y_true`
        0 or 1 for each, (rows, K). The result is then one assessment for each, with corrected p-values.
    bins : int or EqualWidth, EqualMass
        The bins of the probability, over [0, 1], for ECE and the diagram.
    curve : "loess", "logistic" or "isotonic"
        The calibration curve from which ICI, E50, E90 and Emax are measured.
    what : None or "right"
        "right" if the event is that an answer is right and `y_prob` is its stated confidence: the verdict then says
        whether confidence is stated too high or too low. None names the class.
    default_confidence : bool
        Whether a grader wrote 100 % where no confidence was stated: warns with the number of rows at exactly 100 %, and
        with the error without them.
    groups, min_group_size
        As in `assess`: also assess each group, with p-values corrected for their number.
    level, resamples, rng, clusters
        As in `assess`.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y_prob = rng.uniform(0.1, 0.5, 2000)
    >>> y_true = rng.random(2000) < y_prob - 0.05
    >>> result = assess_event(y_true, y_prob)
    >>> print(result.verdict)
    forecasts class 1 too often: 599 expected, 495 observed, p = ...

    A model that is right in 60 % of its answers and states 30 % states too little, although 30 % is not confident:

    >>> right = np.arange(200) % 5 < 3
    >>> print(assess_event(right, np.full(200, 0.3), what="right").verdict)
    stated too low: 0.30 on average, right 0.60 of the time, net gap -0.300 [...], p = ...
    """
    settings = Settings.of(level, resamples, rng, class_bins=bins, one_event=not multilabel)
    if what is not None:
        require_choice("what", what, WHAT)
    options: dict[str, Any] = {
        "ties": ties,
        "sample_weight": sample_weight,
        "from_logits": from_logits,
        "normalize": normalize,
        "engine": engine,
        "n_threads": n_threads,
    }
    if boolean("multilabel", multilabel):
        if any(given is not None for given in (positive, event, groups, clusters, what)):
            raise InvalidValueError(
                "bad-argument",
                "multilabel=True assesses all events",
                "leave out positive, event, groups, clusters and what",
                argument="event",
            )
        table = multilabel_table(y_true, y_prob, classes, options)
        return assess_event_tables(table, settings, curve)
    if positive is not None and event is not None:
        raise InvalidValueError(
            "bad-argument",
            "positive and event were both passed",
            "pass positive= for two classes, event= for more",
            argument="event",
        )
    if positive is not None and len(contents_of(y_prob, "y_prob").flat.shape) == 1:
        y_true, classes, positive, named = _as_binary(y_true, positive), None, 1, str(positive)
    else:
        named = None
    rows = Rows.of(
        y_true, y_prob, sample_weight, from_logits=from_logits, normalize=normalize, classes=classes
    )
    require_choice("ties", ties, TIES)
    spec = event_spec(rows, _chosen(positive, event, y_prob), "event", ties)
    some = EventRows(rows, spec, clusters_given(clusters, rows.n_rows, rows.index), engine, n_threads)
    words = EventWords(named, what, boolean("default_confidence", default_confidence))
    result = event_assessment(some.sample(), settings, curve, words)
    if groups is None:
        return result
    min_group_size = whole_number("min_group_size", min_group_size, 1)
    return replace(result, groups=_groups(some.groups(groups), settings, curve, words, min_group_size))


def _groups(
    samples: Iterable[tuple[str, EventSample]],
    settings: Settings,
    curve: Curve,
    words: EventWords,
    min_group_size: int,
) -> tuple[EventGroup, ...]:
    """The assessment of each group that is large enough, with p-values corrected by Benjamini and Hochberg."""
    found = []
    for name, sample in samples:
        reason = sample.reason_to_skip(min_group_size)
        seed = (settings.seed ^ identity(name)) % 2**63
        own = None if reason else event_assessment(sample, replace(settings, seed=seed), curve, words)
        found.append(EventGroup(name, sample.table.n_rows, own, reason=reason))
    assessed = [k for k, group in enumerate(found) if not math.isnan(group.p_value)]
    adjusted = benjamini_hochberg([found[k].p_value for k in assessed])
    for k, p in zip(assessed, adjusted, strict=True):
        found[k] = replace(found[k], adjusted_p_value=p)
    return tuple(found)


def assess_event_table(
    table: EventTable,
    *,
    event: Event | None = None,
    bins: int | Bins = DEFAULT_CLASS_BINS,
    curve: Curve = "loess",
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = 0,
    what: str | None = None,
    default_confidence: bool = False,
) -> EventAssessment:
    """Assess an event from its table: the same numbers as `assess_event` for the same `rng`.

    `event` is one of `table.events`, or the name of a class; it may be left out if the table has one event only. The
    table must be on the event grid, as `tabulate_events(..., grid="event")` makes it.
    """
    if not isinstance(table, EventTable):
        raise InvalidTypeError(
            "wrong-type",
            "table must be an EventTable, such as tabulate_events returns, got {type}",
            argument="table",
            type=type(table).__name__,
        )
    settings = Settings.of(level, resamples, rng, class_bins=bins, one_event=True)
    if what is not None:
        require_choice("what", what, WHAT)
    if event is None and len(table.events) > 1:
        raise InvalidValueError(
            "bad-argument",
            "the table has {n_events} events",
            "name one of them as event=",
            argument="event",
            n_events=len(table.events),
        )
    chosen = table.events[0] if event is None else event
    if chosen not in table.events and table.n_classes is not None:
        chosen = event_index(chosen, table.n_classes, table.spec.class_names, "event")
    words = EventWords(None, what, boolean("default_confidence", default_confidence))
    return event_assessment(EventSample(table.select(chosen)), settings, curve, words)


def _chosen(positive: Any, event: Any, y_prob: Any) -> Any:
    """The event among the classes; class 1 of two by default."""
    if event is not None:
        return event
    if positive is not None:
        return positive
    shape = contents_of(y_prob, "y_prob").flat.shape
    if len(shape) == 2 and shape[1] > 2:
        raise InvalidValueError(
            "bad-argument",
            "y_prob has {n_classes} classes, so the event is not known",
            "pass event= with a class or 'top', or multilabel=True if the columns do not exclude one another",
            argument="event",
            n_classes=shape[1],
        )
    return 1


def _as_binary(y_true: Any, positive: Any) -> Any:
    """Whether each label is the positive one."""
    labels = contents_of(y_true, "y_true").flat.data
    if labels is None or labels.ndim != 1:
        raise InvalidValueError(
            "wrong-shape", "y_true must have one dimension if positive is a label", argument="y_true"
        )
    found = labels == positive
    if not np.any(found):
        known = ", ".join(map(str, np.unique(labels)[:5].tolist()))
        raise InvalidValueError(
            "unknown-event",
            "positive is {value!r}, which is not among the labels",
            "the labels are {known}",
            argument="positive",
            value=positive,
            known=known,
        )
    return np.asarray(found, np.int64)


def assess_event_tables(table: EventTable, settings: Settings, curve: Curve) -> EventAssessments:
    """The assessment of each event of a table, with p-values corrected by Benjamini and Hochberg."""
    found = [event_assessment(EventSample(table.select(event)), settings, curve) for event in table.events]
    known = [k for k, event in enumerate(found) if not math.isnan(event.p_value)]
    adjusted = benjamini_hochberg([found[k].p_value for k in known])
    for k, p in zip(known, adjusted, strict=True):
        found[k] = replace(found[k], adjusted_p_value=p)
    return EventAssessments({event.name: event for event in found}, settings.level)


class EventWords(NamedTuple):
    """What an event is called, and what is known of how it was stated."""

    name: str | None = None
    """None for the name of its class."""
    what: str | None = None
    default_confidence: bool = False


NO_WORDS = EventWords()


def event_assessment(
    sample: EventSample, settings: Settings, curve: Curve = "loess", words: EventWords = NO_WORDS
) -> EventAssessment:
    """The assessment of the only event of a table on the event grid."""
    table, noise = sample.table, sample.noise
    if table.grid != event_grid():
        raise InvalidValueError(
            "wrong-table",
            "the table has {n_cells} cells",
            "an event is assessed from a table on the event grid: tabulate_events(..., grid='event')",
            argument="table",
            n_cells=table.grid.n_cells,
        )
    if table.n_rows == 0:
        raise InvalidValueError("no-rows", "a table without rows cannot be assessed", argument="table")
    (cells,), (bins,) = event_cells(table), event_bins(table, settings.class_bins)
    require_clusters(sample)
    totals, level, resamples = totals_of(table), settings.level, settings.resamples
    gap, spread = in_the_large(cells, level), spread_test(cells)
    brier_noise = score_noise = 1.0
    independent = cells
    if noise is not None:
        gap = gap_of_clusters(gap, noise, cells, level)
        spread = larger_spread(spread, spread_test(noise.of_spread(cells)))
        brier_noise, score_noise = noise.brier, noise.log_score
        bins, cells = noise.of_bins(bins), noise.of_bins(cells)
    event = table.events[0]
    number = event if isinstance(event, int) else 0

    def stream(statistic: str) -> list[int]:
        return event_seed(settings.seed, number, statistic)

    cox = cox_fit(cells, level)
    return EventAssessment(
        name=table.spec.name_of(event) if words.name is None else words.name,
        table=table,
        in_the_large=gap,
        spread=spread,
        ece=event_calibration_error(bins, level, stream("calibration_error"), resamples),
        rms=rms_error(bins),
        max_gap=largest_gap(bins),
        spiegelhalter=spiegelhalter_test(totals, brier_noise),
        log_score_z=log_score_test(independent, totals.impossible_rows, score_noise),
        hosmer_lemeshow=hosmer_lemeshow_test(cells, stream("hosmer_lemeshow"), resamples),
        cox=cox,
        curve=curve_errors(cells, curve, stream(curve), resamples),
        cumulative=cumulative_differences(cells, stream("cumulative"), resamples, totals.square),
        brier=brier_score(totals),
        brier_parts=brier_parts(bins),
        detectable_net_gap=detectable_gap(independent if noise is None else noise.of_gap(independent), level),
        log=log_loss(totals, cells),
        prevalence=adjust_prevalence(cells, level),
        bins=bins,
        level=level,
        resamples=resamples,
        seed=settings.seed,
        warnings=(
            *_cautions(table, cells, cox),
            *(full_confidence(cells, settings.class_bins) if words.default_confidence else ()),
        ),
        class_bins=settings.class_bins,
        what=words.what,
        n_clusters=sample.n_clusters,
    )


def event_of(table: EventTable, level: float, resamples: int, seed: int, bins: Bins) -> EventAssessment:
    """The assessment of class 1 of two from the table by class."""
    return event_assessment(EventSample(table), Settings(level, resamples, seed, class_bins=bins))


def _cautions(table: EventTable, cells: EventCells, cox: CoxFit) -> Sequence[Caution]:
    found = []
    if cox.depends_on_the_clip:
        found.append(
            Caution(
                "certain-rows",
                f"in {100 * cox.certain_rows:.1f} % of the rows the probability is within 1e-9 of 0 or 1",
                "the slope depends on how such probabilities are clipped",
            )
        )
    expected = float(cells.predicted.sum())
    if min(expected, cells.total - expected) < 10:
        found.append(
            Caution(
                "rare-event",
                f"only {expected:.3g} of {table.n_rows} rows are expected to have the event",
                "tests are exact, but intervals are rough; collect more rows",
            )
        )
    return found
