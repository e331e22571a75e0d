"""`assess_event`: the calibration of the probability of one event, such as class 1 of two, over [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from trueness._arguments import boolean, whole_number
from trueness._random import Seed
from trueness.assessment._cautions import Caution
from trueness.assessment._event_result import EventAssessment, EventAssessments
from trueness.assessment._group_result import GroupAssessment, correct_groups
from trueness.assessment._settings import DEFAULT_CLASS_BINS, MIN_GROUP_SIZE, Settings, settings_of_group
from trueness.bins import Bins, Edges, EqualMass, event_grid
from trueness.inference.events.calibration_error import event_calibration_error
from trueness.inference.events.cells import EventCells
from trueness.inference.events.cox import CoxFit, cox_fit
from trueness.inference.events.cumulative import cumulative_differences
from trueness.inference.events.curve_errors import Curve, curve_errors
from trueness.inference.events.draws import event_seed
from trueness.inference.events.event_statistics import EventTotals, brier_score, log_loss, spiegelhalter_test
from trueness.inference.events.hosmer_lemeshow import hosmer_lemeshow_test
from trueness.inference.events.in_the_large import in_the_large
from trueness.inference.events.of_table import event_bins, event_cells
from trueness.inference.events.prevalence import adjust_prevalence
from trueness.inference.events.spread import spread_test
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows.containers import contents_of
from trueness.table import Event, EventTable, event_index, stack_events
from trueness.tabulation.events import tabulate_event_groups, tabulate_events


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
    groups: Any = None,
    min_group_size: int = MIN_GROUP_SIZE,
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
    level, resamples, rng
        As in `assess`.
    groups : array of names, shape (rows,), or a data frame or mapping of such columns
        Also assess the event in each group, in the bins of all rows, with p-values adjusted for the number of groups.
    min_group_size : int
        Groups of fewer rows are not assessed.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y_prob = rng.uniform(0.1, 0.5, 2000)
    >>> y_true = rng.random(2000) < y_prob - 0.05
    >>> result = assess_event(y_true, y_prob)
    >>> print(result.verdict)
    forecasts class 1 too often: 599 expected, 495 observed, p = ...
    """
    settings = Settings.of(level, resamples, rng, class_bins=bins)
    options: dict[str, Any] = {
        "ties": ties,
        "sample_weight": sample_weight,
        "from_logits": from_logits,
        "normalize": normalize,
        "engine": engine,
        "n_threads": n_threads,
    }
    if boolean("multilabel", multilabel):
        if positive is not None or event is not None:
            raise InvalidValueError(
                "bad-argument",
                "multilabel=True assesses all events",
                "leave out positive and event",
                argument="event",
            )
        if groups is not None:
            raise InvalidValueError(
                "bad-argument",
                "multilabel=True does not take groups",
                "assess the columns one by one with groups=",
                argument="groups",
            )
        table = _multilabel_table(y_true, y_prob, classes, options)
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
    chosen = _chosen(positive, event, y_prob)
    if groups is None:
        table = tabulate_events(y_true, y_prob, events=chosen, grid="event", classes=classes, **options)
        return event_assessment(table, settings, curve, name=named)
    parts = tabulate_event_groups(
        y_true, y_prob, groups, events=chosen, grid="event", classes=classes, **options
    )
    whole = event_assessment(reduce(add, parts.values()), settings, curve, name=named)
    return with_event_groups(whole, parts, settings, min_group_size)


def assess_event_table(
    table: EventTable,
    *,
    event: Event | None = None,
    bins: int | Bins = DEFAULT_CLASS_BINS,
    curve: Curve = "loess",
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = 0,
    groups: Mapping[str, EventTable] | None = None,
    min_group_size: int = MIN_GROUP_SIZE,
) -> EventAssessment:
    """Assess an event from its table: the same numbers as `assess_event` for the same `rng`.

    `event` is one of `table.events`, or the name of a class; it may be left out if the table has one event only. The
    table must be on the event grid, as `tabulate_events(..., grid="event")` makes it. `groups` are the tables of groups
    of the rows, by name.
    """
    if not isinstance(table, EventTable):
        raise InvalidTypeError(
            "wrong-type",
            "table must be an EventTable, such as tabulate_events returns, got {type}",
            argument="table",
            type=type(table).__name__,
        )
    settings = Settings.of(level, resamples, rng, class_bins=bins)
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
    result = event_assessment(table.select(chosen), settings, curve)
    if not groups:
        return result
    parts = {str(name): part.select(chosen) for name, part in groups.items()}
    return with_event_groups(result, parts, settings, min_group_size)


def with_event_groups(
    whole: EventAssessment, parts: Mapping[str, EventTable], settings: Settings, min_group_size: int
) -> EventAssessment:
    """The assessment of all rows with one for each group, in the bins of the whole."""
    least = whole_number("min_group_size", min_group_size, 1)
    if isinstance(settings.class_bins, EqualMass):  # groups are compared in the bins of all rows
        starts = settings.class_bins.cell_starts(whole.table.count[0])
        edges = [*whole.table.edges[starts].tolist(), 1.0]
        settings = replace(settings, class_bins=Edges(edges))
    groups = {name: _event_group(name, part, settings, least, whole) for name, part in parts.items()}
    return replace(whole, groups=tuple(correct_groups(groups).values()))


def _event_group(
    name: str, table: EventTable, settings: Settings, least: int, whole: EventAssessment
) -> GroupAssessment[EventAssessment]:
    if table.n_rows < least:
        reason = f"fewer than {least} rows"
        return GroupAssessment(name, table.n_rows, None, math.nan, math.nan, reason)
    own = settings_of_group(settings, name)
    result = event_assessment(table, own, whole.curve.curve, name=whole.name)
    return GroupAssessment(name, table.n_rows, result, result.p_value, math.nan)


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


def _multilabel_table(y_true: Any, y_prob: Any, classes: Any, options: dict[str, Any]) -> EventTable:
    """The events of all columns, each as a row of its own in one table."""
    if options["normalize"]:
        raise InvalidValueError(
            "bad-argument", "events that do not exclude one another have no common sum", argument="normalize"
        )
    truth, given = contents_of(y_true, "y_true").flat, contents_of(y_prob, "y_prob").flat
    if len(given.shape) != 2 or truth.shape != given.shape:
        raise InvalidValueError(
            "wrong-shape",
            "y_true has shape {shape} and y_prob {other}",
            "with multilabel=True both have shape (rows, events)",
            argument="y_true",
            shape=truth.shape,
            other=given.shape,
        )
    labels, p = (
        np.stack(it.columns, axis=1) if it.data is None and it.columns is not None else it.data
        for it in (truth, given)
    )
    assert labels is not None
    assert p is not None
    names = _event_names(classes, y_prob, p.shape[1])
    parts = [tabulate_events(labels[:, k], p[:, k], **options) for k in range(p.shape[1])]
    return stack_events(parts, names)


def _event_names(classes: Any, y_prob: Any, n_events: int) -> list[str]:
    given = classes if classes is not None else getattr(y_prob, "columns", range(n_events))
    names = [str(name) for name in given]
    if len(names) != n_events or len(set(names)) != n_events:
        raise InvalidValueError(
            "wrong-length",
            "{n_names} different names were given for {n_events} events",
            argument="classes",
            n_names=len(set(names)),
            n_events=n_events,
        )
    return names


def assess_event_tables(table: EventTable, settings: Settings, curve: Curve) -> EventAssessments:
    """The assessment of each event of a table, with p-values corrected by Benjamini and Hochberg."""
    found = {str(event): event_assessment(table.select(event), settings, curve) for event in table.events}
    groups = {name: GroupAssessment(name, it.n_rows, it, it.p_value, math.nan) for name, it in found.items()}
    corrected = correct_groups(groups)
    events = {
        name: replace(it, adjusted_p_value=corrected[name].adjusted_p_value) for name, it in found.items()
    }
    return EventAssessments(events, settings.level)


def event_assessment(
    table: EventTable, settings: Settings, curve: Curve = "loess", name: str | None = None
) -> EventAssessment:
    """The assessment of the only event of a table on the event grid."""
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
    totals, level, resamples = totals_of(table), settings.level, settings.resamples
    event = table.events[0]
    number = event if isinstance(event, int) else 0

    def stream(statistic: str) -> list[int]:
        return event_seed(settings.seed, number, statistic)

    cox = cox_fit(cells, level)
    return EventAssessment(
        name=table.spec.name_of(event) if name is None else name,
        table=table,
        in_the_large=in_the_large(cells, level),
        spread=spread_test(cells),
        ece=event_calibration_error(bins, level, stream("calibration_error"), resamples),
        spiegelhalter=spiegelhalter_test(totals),
        hosmer_lemeshow=hosmer_lemeshow_test(cells, stream("hosmer_lemeshow"), resamples),
        cox=cox,
        curve=curve_errors(cells, curve, stream(curve), resamples),
        cumulative=cumulative_differences(cells, stream("cumulative"), resamples, totals.square),
        brier=brier_score(totals),
        log=log_loss(totals, cells),
        prevalence=adjust_prevalence(cells, level),
        bins=bins,
        level=level,
        resamples=resamples,
        seed=settings.seed,
        warnings=tuple(_cautions(table, cells, cox)),
        class_bins=settings.class_bins,
    )


def event_of(table: EventTable, level: float, resamples: int, seed: int, bins: Bins) -> EventAssessment:
    """The assessment of class 1 of two from the table by class."""
    return event_assessment(table, Settings(level, resamples, seed, class_bins=bins))


def totals_of(table: EventTable) -> EventTotals:
    """The sums over all rows of the only event of a table on the event grid."""
    sums = table.sums

    def total(value: Any) -> float:
        return float(value.value[0])

    assert sums.impossible_rows is not None
    return EventTotals(
        count=float(table.count[0].sum()),
        predicted=float(table.expected_total[0]),
        observed=float(table.observed_total[0]),
        square=total(sums.square),
        cube=total(sums.cube),
        fourth=total(sums.fourth),
        product=total(sums.product),
        log_likelihood=total(sums.log_likelihood),
        impossible_rows=float(sums.impossible_rows[0]),
        weight_square=float(table.weight_square_sum[0].sum()) if table.spec.weighted else None,
    )


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
