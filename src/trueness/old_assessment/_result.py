"""The result of `assess`: everything that is reported about a model's predictions, to print, to store and to draw."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from trueness._cells import Rows, Tabular
from trueness._version import __version__
from trueness.bins import Bins
from trueness.old_assessment import _result_cells, text
from trueness.old_assessment._compared_groups import ComparedGroups
from trueness.old_assessment._event_estimation import event_of
from trueness.old_assessment._event_result import EventAssessment
from trueness.old_assessment._flat import Flat
from trueness.old_assessment._group_result import GroupAssessment, flat_groups
from trueness.old_assessment._settings import DEFAULT_CLASS_BINS
from trueness.old_assessment._to_json import SCHEMA, plain
from trueness.old_assessment.cluster_text import cluster_spread_json
from trueness.old_assessment.reported import REPORTED, ReportedMetric
from trueness.old_assessment.verdict import (
    Finding,
    Verdict,
    evidence_p_value,
    findings_of,
    verdict_of,
)
from trueness.old_inference.classwise.results import ClasswiseAssessment
from trueness.old_inference.cluster_spread import ClusterSpread, cluster_spread
from trueness.old_inference.results import Estimate, Reference, ZTest
from trueness.old_inference.scores.cumulative import CumulativeTest
from trueness.old_inference.scores.predicted_class import PredictedClassTest
from trueness.old_table import AnyRankTable
from trueness.old_table.bin_cells import bin_cells
from trueness.old_table.tables import Tables

if TYPE_CHECKING:
    from trueness.old_assessment._cautions import Caution
    from trueness.old_assessment._comparison_result import Comparison
    from trueness.plots import RankDisplay, ReliabilityDisplay


@dataclass(frozen=True, slots=True, eq=False)
class Assessment(Tabular, Flat):
    """How well a model's predicted probabilities are calibrated, with the noise of every metric and a verdict.

    Returned by `assess` and `assess_table`. Print it to read it; `to_dict()` is for programs. Every metric of
    `estimates` is an attribute too.
    """

    estimates: Mapping[str, Estimate | None]
    """The metrics by key; None where the tables lack what a metric needs."""
    uce: Reference | None
    """Uncertainty calibration error, which is not zero for a calibrated model; None unless binned by entropy."""
    log_score_z: ZTest
    """Standardised log-score: below 0 over-confident, above 0 under-confident."""
    classes: ClasswiseAssessment | None
    """All classes: which are predicted too often, too seldom, too extremely or too timidly; None without them."""
    by_predicted_class: PredictedClassTest | None
    """The log-score of the rows that predict each class; None for rows with options of their own."""
    cumulative_log_score: CumulativeTest
    """The log-score cumulated over the bins of variation."""
    detectable_net_gap: float
    """The smallest net gap that is detected with 80 % power at this sample size; infinite if none is."""
    tables: Tables
    level: float
    resamples: int
    seed: int
    """Passed as `rng` it gives the same numbers again."""
    n_clusters: int | None
    warnings: tuple[Caution, ...]
    tolerance: Mapping[str, float] | None = None
    """The largest error that does not matter, for each metric that has one."""
    groups: tuple[GroupAssessment[Assessment], ...] = ()
    class_bins: Bins = DEFAULT_CLASS_BINS
    """The bins of the probability of each class."""
    by_options: tuple[GroupAssessment[Assessment], ...] = ()
    """The rows with each number of options as groups, if they have options of their own and several numbers occur."""
    compared_groups: ComparedGroups | None = None
    """The differences between groups in text, JSON and report, if `with_compared_groups` added them."""
    _made: list[EventAssessment] = field(default_factory=list, init=False, repr=False)
    """The event, once it has been asked for."""

    @property
    def event(self) -> EventAssessment | None:
        """The probability of class 1 of two, as `assess_event` assesses it; None with more classes."""
        table = self.tables.by_class
        if table is None or self.tables.n_classes != 2 or self.n_clusters is not None:
            return None
        if not self._made:
            self._made.append(event_of(table, self.level, self.resamples, self.seed, self.class_bins))
        return self._made[0]

    @property
    def options(self) -> dict[int, int] | None:
        """The rows by number of options; None unless rows have options of their own."""
        return self.tables.options

    @property
    def cwece(self) -> Estimate | None:
        """Classwise ECE, the mean over the classes; None without the event table of all classes."""
        return self.estimates["cwece"]

    @property
    def vce(self) -> Estimate:
        """Variation calibration error, by the measure of the table."""
        return self._estimate("vce")

    @property
    def net(self) -> Estimate:
        """Net gap: above 0 over-confident, below 0 under-confident, whatever the measure."""
        return self._estimate("net")

    @property
    def ece(self) -> Estimate | None:
        """Expected calibration error of the top class; None without a table binned by confidence."""
        return self.estimates["ece"]

    @property
    def rce(self) -> Estimate:
        """Ranked calibration error, total variation: depends on which rank was observed."""
        return self._estimate("rce")

    @property
    def rce_w1(self) -> Estimate:
        """Ranked calibration error, Wasserstein distance over ranks."""
        return self._estimate("rce_w1")

    def _estimate(self, key: str) -> Estimate:
        estimate = self.estimates[key]
        assert estimate is not None
        return estimate

    if not TYPE_CHECKING:  # so that a misspelt attribute is still an error of types

        def __getattr__(self, name: str) -> Any:
            if name in REPORTED:
                return self.estimates.get(name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super(Assessment, self).__dir__(), *REPORTED})

    @property
    def metrics(self) -> Mapping[str, ReportedMetric]:
        """What the keys of `estimates` stand for: label, meaning, sign."""
        return REPORTED

    @property
    def table(self) -> AnyRankTable:
        """The table binned by the variation measure."""
        return self.tables.by_variation

    @property
    def confidence_table(self) -> AnyRankTable | None:
        """The table binned by confidence, from which ECE is computed; `table` itself if confidence is the measure."""
        return self.tables.by_confidence

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.tables.n_rows

    @property
    def accuracy(self) -> float:
        """The share of rows whose true class has rank 1."""
        return self.table.accuracy

    @property
    def brier_score(self) -> float:
        """The mean squared distance between prediction and outcome, summed over classes: 0 to 2."""
        return self.table.brier_score

    @property
    def log_loss(self) -> float:
        """The mean of -ln p of the true class; infinite if a true class had probability 0."""
        return self.table.log_loss

    @property
    def evidence(self) -> list[Finding]:
        """The tests on which the verdict rests, with their p-values."""
        return findings_of(self)

    @property
    def p_value(self) -> float:
        """The p-value of all the evidence together; the verdict and the gate of the command use it."""
        return evidence_p_value(self.evidence)

    @property
    def verdict(self) -> Verdict:
        """The conclusion; `str(result.verdict)` is one sentence."""
        return verdict_of(self)

    def __str__(self) -> str:
        return text.page(self)

    __repr__ = __str__

    def plot(
        self, ax: Any = None, *, metric: str = "vce", label: str | None = None, color: str | None = None
    ) -> ReliabilityDisplay:
        """Draw the reliability diagram (extra `plots`): predicted against observed, with the noise.

        `metric` is "vce", "ece" or "uce"; further pictures are in `trueness.plots`. Models that are drawn on the same
        axes differ in `label` and `color`.
        """
        from trueness.plots import ReliabilityDisplay

        return ReliabilityDisplay.from_assessment(self, metric=metric, ax=ax, label=label, color=color)

    def plot_ranks(
        self, bin: int | None = None, ax: Any = None, *, label: str | None = None, color: str | None = None
    ) -> RankDisplay:
        """Draw how often the true class has each rank, observed and predicted (extra `plots`).

        `bin` is a number from 1, as in the printed tables and in other pictures; None for all rows.
        """
        from trueness.plots import RankDisplay

        return RankDisplay.from_assessment(self, bin=bin, ax=ax, label=label, color=color)

    def write_html(
        self, path: str | os.PathLike[str], *, title: str | None = None, made_by: str | None = None
    ) -> None:
        """Write the report: one self-contained HTML file with the tables in it.

        `title` names the model or the data, `made_by` the command or call that produced the result.
        `trueness.old_report.tables_in(path)` reads the table back.
        """
        from trueness import old_report as report  # upwards, once: see the exception in pyproject.toml

        report.write(self, path, title=title, made_by=made_by)

    def _repr_html_(self) -> str:
        """The result as a notebook displays it."""
        from trueness import old_report as report

        return report.fragment(self)

    tables_of_cells = ("metrics", "groups", "bins")

    def _cells(self, of: str) -> Rows:
        if of == "bins":
            return bin_cells(self.table)
        return _result_cells.metric_cells(self) if of == "metrics" else _result_cells.group_cells(self)

    def _numbers(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "p_value": self.p_value,
            "n_rows": self.n_rows,
            "impossible_rows": self.table.impossible_rows,
        }
        found |= {key: metric.of(self) for key, metric in REPORTED.items()}
        return found | {name: getattr(self, name) for name in _OTHERS if name != "classes"}

    def _parts(self) -> dict[str, dict[str, dict[str, float]]]:
        return {"group": flat_groups(self.groups), "options": flat_groups(self.by_options)}

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Assessment) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    @property
    def cluster_spread(self) -> ClusterSpread | None:
        """How much clusters differ in their net gap, and which are furthest off; None without clusters."""
        clusters = self.tables.clusters
        return None if clusters is None else cluster_spread(self.table, clusters, self.level)

    def compare_groups(self, against: str = "rest") -> Comparison:
        """Compare each group with all other rows of assessed groups ("rest"), or each group with each ("each").

        The differences have intervals and p-values that are corrected over all pairs, by Holm.
        """
        from trueness.old_assessment.unpaired import compare_groups

        return compare_groups(self, against)

    def with_compared_groups(self, against: str = "rest") -> Assessment:
        """The same assessment with `compare_groups(against)` as a part of its text, JSON and report."""
        return replace(self, compared_groups=ComparedGroups(against, self.compare_groups(against)))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings; NaN and infinities are null, with the reason beside them."""
        verdict = self.verdict
        content = {
            "schema": SCHEMA,
            "kind": "assessment",
            "trueness": __version__,
            "verdict": plain(verdict) | {"text": str(verdict)},
            "p_value": self.p_value,
            "evidence": [plain(finding) for finding in self.evidence],
            "n_rows": self.n_rows,
            "n_classes": self.tables.n_classes,
            "options": None if self.options is None else {str(c): n for c, n in self.options.items()},
            "variation": self.table.spec.variation.name,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "n_clusters": self.n_clusters,
            "cluster_spread": cluster_spread_json(self.cluster_spread),
            "tolerance": plain(self.tolerance),
            "value_is": "plug-in",
            "impossible_rows": self.table.impossible_rows,
            "row_worth": getattr(self.table, "row_worth", 1.0),
        }
        content |= {key: plain(metric.of(self)) for key, metric in REPORTED.items()}
        content |= {name: plain(getattr(self, name)) for name in _OTHERS}
        content |= self._reasons()
        content["warnings"] = [plain(caution) for caution in self.warnings]
        content["tables"] = [
            table.to_dict() for table in (self.table, self.confidence_table) if table is not None
        ]
        content["class_table"] = plain(self.tables.by_class)
        content["groups"] = [plain(group) for group in self.groups]
        content["by_options"] = [plain(group) for group in self.by_options]
        if self.compared_groups is not None:
            content["compared_groups"] = self.compared_groups.to_dict()
        return content

    def _reasons(self) -> dict[str, str]:
        """Why what is null in `to_dict` is null."""
        reasons = {
            f"{key}_reason": metric.reason(self)
            for key, metric in REPORTED.items()
            if metric.of(self) is None
        }
        if self.uce is None:
            reasons["uce_reason"] = text.NO_UCE
        if math.isinf(self.log_loss):
            reasons["log_loss_reason"] = "infinite: a true class had probability 0"
        if math.isinf(self.detectable_net_gap):
            reasons["detectable_net_gap_reason"] = "infinite: too few rows to detect a net gap of any size"
        return reasons


_OTHERS = (
    "uce",
    "log_score_z",
    "classes",
    "by_predicted_class",
    "cumulative_log_score",
    "detectable_net_gap",
    "accuracy",
    "brier_score",
    "log_loss",
)
