"""The answer as a value: everything that is reported about a model's predictions, to print, to store and to draw."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness._version import __version__
from trueness.assessment import text
from trueness.assessment.reported import REPORTED
from trueness.assessment.verdict import Finding, Verdict, evidence_p_value, findings_of, limit_of, verdict_of
from trueness.inference.estimates import Estimate, Reference, ZTest
from trueness.table import CalibrationTable

if TYPE_CHECKING:
    from trueness.plots import RankDisplay, ReliabilityDisplay

SCHEMA = 2
"""Of `to_dict`. 2: the verdict is an object; scores, evidence and tolerance are there."""


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that limits what the numbers say, and what to do about it."""

    code: str
    """Short and stable, for programs: "small-bins", "ties", …"""
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.message}: {self.remedy}"


@dataclass(frozen=True, slots=True, eq=False)
class GroupAssessment:
    """One group of rows: its own assessment, unless it is too small, and a p-value corrected for all groups."""

    name: str
    n_rows: int
    assessment: Assessment | None
    p_value: float
    """Of all the evidence in the group, as `Assessment.p_value`; NaN if it was not assessed."""
    adjusted_p_value: float
    """By Benjamini and Hochberg across the groups that were assessed."""
    reason: str | None = None
    """Why it was not assessed."""

    @property
    def flagged(self) -> bool:
        """Whether the group is called miscalibrated after the correction for the number of groups."""
        return self.assessment is not None and self.adjusted_p_value <= limit_of(self.assessment.level)

    def to_dict(self) -> dict[str, Any]:
        """As plain numbers, lists and strings."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)} | {
            "flagged": self.flagged
        }


@dataclass(frozen=True, slots=True, eq=False)
class Assessment:
    """How far a model's stated uncertainty can be trusted, and how sure that is.

    Made by `assess` or `assess_table`. Print it for people, `to_dict()` for machines.
    """

    vce: Estimate
    """Variation calibration error, by the measure of the table."""
    net: Estimate
    """Signed gap: above 0 over-confident, below 0 under-confident, whatever the measure."""
    ece: Estimate | None
    """Expected calibration error of the top label; None without a table binned by confidence."""
    uce: Reference | None
    """Uncertainty calibration error, which is not zero for a calibrated model; None unless binned by entropy."""
    rce: Estimate
    """Ranked calibration error, total variation: sees which rank was observed."""
    rce_w1: Estimate
    """Ranked calibration error, Wasserstein distance over ranks."""
    log_score_z: ZTest
    """Standardised log-score: below 0 over-confident, above 0 under-confident."""
    detectable_net_gap: float
    """The smallest net gap that this sample size would reveal with 80 % power; infinite if it would reveal none."""
    table: CalibrationTable
    confidence_table: CalibrationTable | None
    level: float
    resamples: int
    seed: int
    """Passed as `rng` it gives the same numbers again."""
    n_clusters: int | None
    warnings: tuple[Caution, ...]
    tolerance: Mapping[str, float] | None = None
    """The largest error that does not matter, for each metric that has one."""
    groups: tuple[GroupAssessment, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows were assessed."""
        return self.table.n_rows

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
        """The p-value of all the evidence together: the verdict and a gate use it."""
        return evidence_p_value(self.evidence)

    @property
    def verdict(self) -> Verdict:
        """What is concluded; `str(result.verdict)` is one sentence."""
        return verdict_of(self)

    def __str__(self) -> str:
        return text.page(self)

    __repr__ = __str__

    def plot(self, ax: Any = None, *, metric: str = "vce") -> ReliabilityDisplay:
        """Draw the reliability diagram (extra `plots`): predicted against observed, with the noise.

        `metric` is "vce", "ece" or "uce"; further pictures are in `trueness.plots`.
        """
        from trueness.plots import ReliabilityDisplay

        return ReliabilityDisplay.from_assessment(self, metric=metric, ax=ax)

    def plot_ranks(self, bin: int | None = None, ax: Any = None) -> RankDisplay:
        """Draw which ranks came true beside the predicted ones (extra `plots`).

        `bin` is a number from 1, as in the printed tables and in other pictures; None for all rows.
        """
        from trueness.plots import RankDisplay

        return RankDisplay.from_assessment(self, bin=bin, ax=ax)

    def write_html(
        self, path: str | os.PathLike[str], *, title: str | None = None, made_by: str | None = None
    ) -> None:
        """Write the report: one HTML file that needs nothing else, with the table in it.

        `title` names the model or the data, `made_by` the command or call that made it.
        `trueness.report.tables_in(path)` reads the table back.
        """
        from trueness import report  # upwards, once: see the exception in pyproject.toml

        report.write(self, path, title=title, made_by=made_by)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        from trueness import report

        return report.fragment(self)

    def __eq__(self, other: object) -> bool:
        return self.to_dict() == other.to_dict() if isinstance(other, Assessment) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

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
            "n_classes": self.table.n_classes,
            "variation": self.table.spec.variation.name,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "n_clusters": self.n_clusters,
            "tolerance": plain(self.tolerance),
            "value_is": "plug-in",
            "impossible_rows": self.table.impossible_rows,
        }
        content |= {metric.key: plain(metric.of(self)) for metric in REPORTED}
        content |= {name: plain(getattr(self, name)) for name in _OTHERS}
        content |= self._reasons()
        content["warnings"] = [plain(caution) for caution in self.warnings]
        content["tables"] = [
            table.to_dict() for table in (self.table, self.confidence_table) if table is not None
        ]
        content["groups"] = [plain(group) for group in self.groups]
        return content

    def _reasons(self) -> dict[str, str]:
        """Why what is null in `to_dict` is null."""
        reasons = {}
        if self.ece is None:
            reasons["ece_reason"] = text.NO_ECE
        if self.uce is None:
            reasons["uce_reason"] = text.NO_UCE
        if math.isnan(self.brier_score):
            reasons["brier_score_reason"] = reasons["log_loss_reason"] = text.NO_SCORES
        elif math.isinf(self.log_loss):
            reasons["log_loss_reason"] = "infinite: a true class had probability 0"
        if math.isinf(self.detectable_net_gap):
            reasons["detectable_net_gap_reason"] = "infinite: too few rows to reveal a net gap of any size"
        return reasons


_OTHERS = ("uce", "log_score_z", "detectable_net_gap", "accuracy", "brier_score", "log_loss")


def plain(value: Any) -> Any:
    """Numbers, lists, strings and dicts alone; what JSON cannot say is None."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(part) for part in (value.tolist() if isinstance(value, np.ndarray) else value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value
