"""`assess_event`: the calibration of the probability of one event, such as class 1 of two, over [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from trueness._arguments import boolean, require_choice, whole_number
from trueness._random import Seed
from trueness.bins import Bins
from trueness.old_assessment._event_estimation import EventWords, event_assessment, with_event_groups
from trueness.old_assessment._event_result import WHAT, EventAssessment, EventAssessments
from trueness.old_assessment._event_sample import EventRows, EventSample
from trueness.old_assessment._group_result import GroupAssessment, correct_groups
from trueness.old_assessment._multilabel import multilabel_table
from trueness.old_assessment._settings import DEFAULT_CLASS_BINS, MIN_GROUP_SIZE, Settings
from trueness.old_inference.events.curve_errors import Curve
from trueness.old_table import Event, EventTable, event_index
from trueness.ranking import TIES
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows import Rows
from trueness.rows.clusters import clusters_given
from trueness.rows.containers import contents_of
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
    groups: Any = None,
    min_group_size: int = MIN_GROUP_SIZE,
    clusters: Any = None,
    what: str | None = None,
    default_confidence: bool = False,
    ties: str = "first",
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    soft_labels: bool = False,
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
    groups : array of names, shape (rows,), or a data frame or mapping of such columns
        Also assess the event in each group, in the bins of all rows, with p-values adjusted for the number of groups.
    min_group_size : int
        Groups of fewer rows are not assessed.
    what : None or "right"
        "right" if the event is that an answer is right and `y_prob` is its stated confidence: the verdict then says
        whether confidence is stated too high or too low. None names the class.
    default_confidence : bool
        Whether a grader wrote 100 % where no confidence was stated: warns with the number of rows at exactly 100 %, and
        with the error without them.
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
        "soft_labels": soft_labels,
        "engine": engine,
        "n_threads": n_threads,
    }
    if boolean("multilabel", multilabel):
        one_event = {
            "positive": positive,
            "event": event,
            "groups": groups,
            "clusters": clusters,
            "what": what,
        }
        _refuse_options_of_one_event(one_event)
        table = multilabel_table(y_true, y_prob, classes, options)
        return assess_event_tables(table, settings, curve)
    if positive is not None and event is not None:
        cause = "positive and event were both passed"
        remedy = "pass positive= for two classes, event= for more"
        raise InvalidValueError("bad-argument", cause, remedy, argument="event")
    if positive is not None and len(contents_of(y_prob, "y_prob").flat.shape) == 1:
        y_true, classes, positive, named = _as_binary(y_true, positive), None, 1, str(positive)
    else:
        named = None
    rows = Rows.of(
        y_true,
        y_prob,
        sample_weight,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
        soft_labels=soft_labels,
    )
    require_choice("ties", ties, TIES)
    spec = event_spec(rows, _chosen(positive, event, y_prob), "event", ties)
    some = EventRows(rows, spec, clusters_given(clusters, rows.n_rows, rows.index), engine, n_threads)
    words = EventWords(named, what, boolean("default_confidence", default_confidence))
    if groups is None:
        return event_assessment(some.sample(), settings, curve, words)
    min_group_size = whole_number("min_group_size", min_group_size, 1)
    samples = some.groups(groups)
    whole = event_assessment(some.whole(samples), settings, curve, words)
    return with_event_groups(whole, samples, settings, words, min_group_size)


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
    what: str | None = None,
    default_confidence: bool = False,
) -> EventAssessment:
    """Assess an event from its table: the same numbers as `assess_event` for the same `rng`.

    `event` is one of `table.events`, or the name of a class; it may be left out if the table has one event only. The
    table must be on the event grid, as `tabulate_events(..., grid="event")` makes it. `groups` are the tables of groups
    of the rows, by name.
    """
    if not isinstance(table, EventTable):
        raise InvalidTypeError(
            "wrong-type",
            f"table must be an EventTable, such as tabulate_events returns, got {type(table).__name__}",
            argument="table",
        )
    settings = Settings.of(level, resamples, rng, class_bins=bins, one_event=True)
    if what is not None:
        require_choice("what", what, WHAT)
    if event is None and len(table.events) > 1:
        cause = f"the table has {len(table.events)} events"
        remedy = "name one of them as event="
        raise InvalidValueError("bad-argument", cause, remedy, argument="event")
    chosen = table.events[0] if event is None else event
    if chosen not in table.events and table.n_classes is not None:
        chosen = event_index(chosen, table.n_classes, table.spec.class_names, "event")
    words = EventWords(None, what, boolean("default_confidence", default_confidence))
    result = event_assessment(EventSample(table.select(chosen)), settings, curve, words)
    if not groups:
        return result
    min_group_size = whole_number("min_group_size", min_group_size, 1)
    samples = {str(name): EventSample(part.select(chosen)) for name, part in groups.items()}
    return with_event_groups(result, samples, settings, words, min_group_size)


def _chosen(positive: Any, event: Any, y_prob: Any) -> Any:
    """The event among the classes; class 1 of two by default."""
    if event is not None:
        return event
    if positive is not None:
        return positive
    shape = contents_of(y_prob, "y_prob").flat.shape
    if len(shape) == 2 and shape[1] > 2:
        cause = f"y_prob has {shape[1]} classes, so the event is not known"
        remedy = (
            "pass event= with a class or 'top', or multilabel=True if the columns do not exclude one another"
        )
        raise InvalidValueError("bad-argument", cause, remedy, argument="event")
    return 1


def _refuse_options_of_one_event(given: Mapping[str, Any]) -> None:
    """Refuse arguments that multilabel=True does not take."""
    for argument, value in given.items():
        if value is not None:
            cause = f"multilabel=True assesses all events and does not take `{argument}`"
            remedy = "leave it out, or assess the columns one by one"
            raise InvalidValueError("bad-argument", cause, remedy, argument=argument)


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
        cause = f"positive is {positive!r}, which is not among the labels"
        remedy = f"the labels are {known}"
        raise InvalidValueError("unknown-event", cause, remedy, argument="positive", value=positive)
    return np.asarray(found, np.int64)


def assess_event_tables(table: EventTable, settings: Settings, curve: Curve) -> EventAssessments:
    """The assessment of each event of a table, with p-values corrected by Benjamini and Hochberg."""
    found = {
        str(event): event_assessment(EventSample(table.select(event)), settings, curve)
        for event in table.events
    }
    groups = {name: GroupAssessment(name, it.n_rows, it, it.p_value, math.nan) for name, it in found.items()}
    corrected = correct_groups(groups)
    events = {
        name: replace(it, adjusted_p_value=corrected[name].adjusted_p_value) for name, it in found.items()
    }
    return EventAssessments(events, settings.level)
