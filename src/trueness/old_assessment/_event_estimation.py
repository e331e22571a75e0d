"""The assessment of one event from its table: every number of an `EventAssessment`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import nan
from typing import NamedTuple

from trueness.bins import Bins, Edges, EqualMass, event_grid
from trueness.old_assessment._cautions import Caution
from trueness.old_assessment._event_result import EventAssessment
from trueness.old_assessment._event_sample import EventSample, require_clusters
from trueness.old_assessment._full_confidence import full_confidence
from trueness.old_assessment._group_result import GroupAssessment, correct_groups
from trueness.old_assessment._settings import Settings, settings_of_group
from trueness.old_inference.classwise.assessment import gap_of_clusters, larger_spread
from trueness.old_inference.events.calibration_error import event_calibration_error
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.cox import CoxFit, cox_fit
from trueness.old_inference.events.cumulative import cumulative_differences
from trueness.old_inference.events.curve_errors import Curve, curve_errors
from trueness.old_inference.events.draws import event_seed
from trueness.old_inference.events.event_statistics import brier_score, log_loss, spiegelhalter_test
from trueness.old_inference.events.hosmer_lemeshow import hosmer_lemeshow_test
from trueness.old_inference.events.in_the_large import in_the_large
from trueness.old_inference.events.of_table import event_bins, event_cells, totals_of
from trueness.old_inference.events.prevalence import adjust_prevalence
from trueness.old_inference.events.reliability import (
    brier_parts,
    detectable_gap,
    largest_gap,
    log_score_test,
    rms_error,
)
from trueness.old_inference.events.spread import spread_test
from trueness.old_table import EventTable
from trueness.refusals import InvalidValueError


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
        cause = f"the table has {table.grid.n_cells} cells"
        remedy = "an event is assessed from a table on the event grid: tabulate_events(..., grid='event')"
        raise InvalidValueError("wrong-table", cause, remedy, argument="table")
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

    cox = cox_fit(independent if noise is None else noise.of_fit(independent), level)
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


def with_event_groups(
    whole: EventAssessment,
    samples: Mapping[str, EventSample],
    settings: Settings,
    words: EventWords,
    min_group_size: int,
) -> EventAssessment:
    """The assessment of all rows with one for each group, in the bins of all rows."""
    if isinstance(settings.class_bins, EqualMass):
        starts = settings.class_bins.cell_starts(whole.table.count[0])
        edges = [*whole.table.edges[starts].tolist(), 1.0]
        settings = replace(settings, class_bins=Edges(edges))

    def group(name: str, sample: EventSample) -> GroupAssessment[EventAssessment]:
        n_rows, reason = sample.table.n_rows, sample.reason_to_skip(min_group_size)
        if reason is not None:
            return GroupAssessment(name, n_rows, None, nan, nan, reason)
        result = event_assessment(sample, settings_of_group(settings, name), whole.curve.curve, words)
        return GroupAssessment(name, n_rows, result, result.p_value, nan)

    groups = correct_groups({name: group(name, sample) for name, sample in samples.items()})
    return replace(whole, groups=tuple(groups.values()))
