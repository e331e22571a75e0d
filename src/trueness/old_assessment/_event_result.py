"""The result of `assess_event`: everything that is reported about the probability of an event."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from trueness._cells import Rows, Tabular
from trueness._printing import visible
from trueness._version import __version__
from trueness.bins import Bins
from trueness.old_assessment import _event_text, _result_cells
from trueness.old_assessment._cautions import Caution
from trueness.old_assessment._event_verdict import event_verdict, verdict_of_events
from trueness.old_assessment._flat import Flat
from trueness.old_assessment._group_result import GroupAssessment, flat_groups
from trueness.old_assessment._settings import DEFAULT_CLASS_BINS
from trueness.old_assessment._stated_verdict import stated_verdict
from trueness.old_assessment._to_json import SCHEMA, plain
from trueness.old_assessment.verdict import Finding, Verdict, evidence_p_value
from trueness.old_inference.corrections import holm
from trueness.old_inference.events.calibration_error import EventError
from trueness.old_inference.events.cells import EventCells
from trueness.old_inference.events.cox import CoxFit
from trueness.old_inference.events.cumulative import CumulativeDifferences, CumulativeTest
from trueness.old_inference.events.curve_errors import CurveErrors
from trueness.old_inference.events.draws import DrawnStatistic
from trueness.old_inference.events.event_statistics import EventScore
from trueness.old_inference.events.hosmer_lemeshow import HosmerLemeshowTest
from trueness.old_inference.events.in_the_large import GapTest
from trueness.old_inference.events.prevalence import PrevalenceAdjustment
from trueness.old_inference.events.reliability import BrierParts, RmsError
from trueness.old_inference.events.spread import SpreadTest
from trueness.old_inference.results import ZTest
from trueness.old_table import EventTable

if TYPE_CHECKING:
    from trueness.plots import EventDisplay


WHAT = ("right",)
"""What an event may be, apart from a class: that an answer is right, whose confidence is stated."""


@dataclass(frozen=True, slots=True, eq=False)
class EventAssessment(Tabular, Flat):
    """How well the stated probability of an event agrees with how often it is observed.

    Returned by `assess_event`. Print it to read it; `to_dict()` is for programs.
    """

    name: str
    """The name of the event: that of the class, or its index."""
    table: EventTable
    """Of this event alone, on the event grid."""
    in_the_large: GapTest
    """(Expected - observed)/rows with its exact p-value: above 0 the event is forecast too often."""
    spread: SpreadTest
    """Whether the probabilities are too extreme or too timid."""
    ece: EventError
    """The calibration error over bins of the probability."""
    rms: RmsError
    """The root mean square of the gaps of the bins."""
    max_gap: float
    """The largest gap of a bin."""
    spiegelhalter: ZTest
    """Spiegelhalter's Z of the Brier score, two-sided: above 0 the probabilities are too extreme."""
    log_score_z: ZTest
    """Z of the log-score: below 0 the probabilities are too extreme; -inf if an outcome had probability 0."""
    hosmer_lemeshow: HosmerLemeshowTest
    """Over ten bins of equal mass, with as many degrees of freedom."""
    cox: CoxFit
    """Intercept and slope of a logistic recalibration."""
    curve: CurveErrors
    """ICI, E50, E90 and Emax: distances from a smooth calibration curve."""
    cumulative: CumulativeDifferences
    """The differences between observed and predicted, cumulated over the probability."""
    brier: EventScore
    brier_parts: BrierParts
    """Reliability, resolution and uncertainty over the bins."""
    log: EventScore
    detectable_net_gap: float
    """The smallest gap over all rows that is detected with 80 % power at this sample size."""
    prevalence: PrevalenceAdjustment
    """What is left once the predicted prevalence is made right."""
    bins: EventCells
    """The bins of `ece`."""
    level: float
    resamples: int
    seed: int
    warnings: tuple[Caution, ...] = ()
    adjusted_p_value: float = math.nan
    """The p-value corrected over the events of one multi-label model; NaN if there is only this event."""
    class_bins: Bins = DEFAULT_CLASS_BINS
    """How `bins` were chosen."""
    what: str | None = None
    """"right" if the event is that an answer is right, and the probabilities are its stated confidence."""
    n_clusters: int | None = None
    groups: tuple[GroupAssessment[EventAssessment], ...] = ()
    """The same event in groups of the rows."""

    @property
    def net(self) -> GapTest:
        """The net gap, mean probability less observed frequency: `in_the_large`."""
        return self.in_the_large

    @property
    def brier_z(self) -> ZTest:
        """The Z of the Brier score: `spiegelhalter`."""
        return self.spiegelhalter

    @property
    def impossible_rows(self) -> int:
        """Rows in which the event had probability 0 and was observed, or probability 1 and was not."""
        rows = self.table.sums.impossible_rows
        return 0 if rows is None else int(rows[0])

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.table.n_rows

    @property
    def label(self) -> str:
        """What is assessed: "stated confidence", "top label", a class, or an event of a multi-label model."""
        if self.what == "right":
            return "stated confidence"
        if self.table.events == ("top",):
            return "top label"
        return f"{'event' if self.table.n_classes is None else 'class'} {visible(self.name)}"

    @property
    def label_in_sentence(self) -> str:
        """The event as the object of a sentence: "a right answer", "the top label" or "class cat"."""
        if self.what == "right":
            return "a right answer"
        return f"the {self.label}" if self.table.events == ("top",) else self.label

    @property
    def ici(self) -> DrawnStatistic:
        """The integrated calibration index: the mean distance from the curve."""
        return self.curve.ici

    @property
    def e50(self) -> DrawnStatistic:
        """The median distance from the curve."""
        return self.curve.e50

    @property
    def e90(self) -> DrawnStatistic:
        """The distance from the curve that nine tenths of the rows do not exceed."""
        return self.curve.e90

    @property
    def e_max(self) -> DrawnStatistic:
        """The largest distance from the curve."""
        return self.curve.e_max

    @property
    def ks(self) -> CumulativeTest:
        """The largest cumulative difference (Kolmogorov and Smirnov)."""
        return self.cumulative.ks

    @property
    def kuiper(self) -> CumulativeTest:
        """The range of the cumulative differences (Kuiper)."""
        return self.cumulative.kuiper

    @property
    def brier_score(self) -> float:
        """The mean of (p - y)², from 0 (best) to 1."""
        return self.brier.value

    @property
    def log_loss(self) -> float:
        """The mean of -ln of the probability of the outcome; infinite if an outcome had probability 0."""
        return math.inf if self.impossible_rows else self.log.value

    @property
    def evidence(self) -> list[Finding]:
        """The tests on which the verdict rests.

        Stated confidences are often exactly 0 or 1, where the logarithms of the spread depend on how they are clipped:
        for these it is not among the evidence.
        """
        tests = {"in_the_large": self.in_the_large.p_value}
        if self.what is None:
            tests["spread"] = self.spread.p_value
        tests["ece"] = self.ece.p_value
        return [Finding(key, p) for key, p in tests.items() if not math.isnan(p)]

    @property
    def p_value(self) -> float:
        """The p-value of the evidence together; of a stated confidence the smaller one after Holm's correction."""
        if self.what is None:
            return evidence_p_value(self.evidence)
        return min(holm([finding.p_value for finding in self.evidence]), default=math.nan)

    @property
    def verdict(self) -> Verdict:
        """The conclusion; `str(result.verdict)` is one sentence."""
        return event_verdict(self) if self.what is None else stated_verdict(self)

    def __str__(self) -> str:
        return _event_text.page(self)

    __repr__ = __str__

    def plot(self, ax: Any = None, *, label: str | None = None, color: str | None = None) -> EventDisplay:
        """Draw the reliability diagram of the event (extra `plots`); several models on the same axes, by `label`."""
        from trueness.plots import EventDisplay

        return EventDisplay.from_event(self, ax=ax, label=label, color=color)

    def write_html(
        self, path: str | os.PathLike[str], *, title: str | None = None, made_by: str | None = None
    ) -> None:
        """Write the report: one self-contained HTML file with the table in it.

        `title` names the model or the data, `made_by` the command or call that produced the result.
        `trueness.old_report.event_tables_in(path)` reads the table back.
        """
        from trueness import old_report as report  # upwards: see the exception in pyproject.toml

        report.write(self, path, title=title, made_by=made_by)

    def _repr_html_(self) -> str:
        """The result as a notebook displays it."""
        from trueness import old_report as report

        return report.event_fragment(self)

    tables_of_cells = ("metrics", "groups", "bins")

    def _cells(self, of: str) -> Rows:
        if of == "groups":
            return _result_cells.event_group_cells(self.groups, "group")
        return (
            _result_cells.event_number_cells(self) if of == "metrics" else _result_cells.event_bin_cells(self)
        )

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, EventAssessment) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def _numbers(self) -> dict[str, Any]:
        """What `to_dict` and `flat` have in common."""
        left_out = {"table", "brier", "log", "prevalence", "bins", "warnings", "class_bins", "groups"}
        found = {name: getattr(self, name) for name in ("p_value", "n_rows", "impossible_rows")}
        found |= {
            field.name: getattr(self, field.name) for field in fields(self) if field.name not in left_out
        }
        found |= {"brier_score": self.brier_score, "log_loss": self.log_loss}
        found["expected_brier_score"] = self.brier.calibrated_value
        found["expected_log_loss"] = self.log.calibrated_value
        found["prevalence"] = {
            field.name: getattr(self.prevalence, field.name)
            for field in fields(self.prevalence)
            if field.name != "cells"
        }
        return found

    def _parts(self) -> dict[str, dict[str, dict[str, float]]]:
        return {"group": flat_groups(self.groups)}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings; NaN and infinities are null, with the reason beside them."""
        content = {
            "schema": SCHEMA,
            "kind": "event-assessment",
            "trueness": __version__,
            "verdict": plain(self.verdict) | {"text": str(self.verdict)},
        }
        content |= plain(self._numbers())
        content["bins"] = plain(self.bins)
        content["warnings"] = [plain(caution) for caution in self.warnings]
        content["tables"] = [self.table.to_dict()]
        content["groups"] = [plain(group) for group in self.groups]
        return content


@dataclass(frozen=True, slots=True, eq=False)
class EventAssessments(Tabular, Flat):
    """The events of a multi-label model, each assessed by itself, with p-values corrected for their number."""

    events: Mapping[str, EventAssessment]
    """By name."""
    level: float

    def __getitem__(self, name: str) -> EventAssessment:
        return self.events[name]

    def __len__(self) -> int:
        return len(self.events)

    @property
    def n_rows(self) -> int:
        """The number of rows, each of which has all events."""
        return next(iter(self.events.values())).n_rows

    @property
    def as_groups(self) -> tuple[GroupAssessment[EventAssessment], ...]:
        """The events with their corrected p-values, in the order of the columns."""
        return tuple(
            GroupAssessment(name, event.n_rows, event, event.p_value, event.adjusted_p_value)
            for name, event in self.events.items()
        )

    @property
    def flagged(self) -> list[EventAssessment]:
        """The events that are called miscalibrated after the correction, smallest p-value first."""
        found = [group for group in self.as_groups if group.flagged]
        ordered = sorted(found, key=lambda group: group.adjusted_p_value)
        return [self.events[group.name] for group in ordered]

    @property
    def p_value(self) -> float:
        """That all events are calibrated: the smallest corrected p-value; NaN if none is known."""
        known = [event.adjusted_p_value for event in self.events.values()]
        return min((p for p in known if not math.isnan(p)), default=math.nan)

    @property
    def verdict(self) -> Verdict:
        """The conclusion about all events; `str(result.verdict)` is one sentence."""
        return verdict_of_events(self)

    def __str__(self) -> str:
        return _event_text.page_of_events(self)

    __repr__ = __str__

    def write_html(
        self, path: str | os.PathLike[str], *, title: str | None = None, made_by: str | None = None
    ) -> None:
        """Write one report of all events: a self-contained HTML file with their tables in it."""
        from trueness import old_report as report

        report.write(self, path, title=title, made_by=made_by)

    def _repr_html_(self) -> str:
        """The result as a notebook displays it."""
        from trueness import old_report as report

        return report.events_fragment(self)

    tables_of_cells = ("events",)

    def _cells(self, _: str) -> Rows:
        return _result_cells.event_group_cells(self.as_groups, "event")

    def _numbers(self) -> dict[str, Any]:
        return {"p_value": self.p_value, "n_rows": self.n_rows}

    def _parts(self) -> dict[str, dict[str, dict[str, float]]]:
        return {"event": flat_groups(self.as_groups)}

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, EventAssessments) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings."""
        return {
            "schema": SCHEMA,
            "kind": "event-assessments",
            "trueness": __version__,
            "verdict": plain(self.verdict) | {"text": str(self.verdict)},
            "p_value": plain(self.p_value),
            "n_rows": self.n_rows,
            "level": self.level,
            "flagged": [event.name for event in self.flagged],
            "events": [event.to_dict() for event in self.events.values()],
        }
