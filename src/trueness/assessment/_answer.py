"""The answer as a value: everything that is said of a model's predictions, ready to print, to store and to draw."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness._version import __version__
from trueness.assessment import _words
from trueness.inference._corrections import holm
from trueness.inference._estimates import Estimate, Reference, ZTest
from trueness.table import CalibrationTable

if TYPE_CHECKING:
    from trueness.plots import RankDisplay, ReliabilityDisplay

SCHEMA = 1


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
    """Holm-corrected within the group, as `Assessment.p_value`; NaN if it was not assessed."""
    adjusted_p_value: float
    """By Benjamini and Hochberg across the groups that were assessed."""
    reason: str | None = None
    """Why it was not assessed."""


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
    """Ranked calibration error, total variation: sees which rank came true."""
    rce_w1: Estimate
    """Ranked calibration error, Wasserstein distance over ranks."""
    log_score_z: ZTest
    """Standardised log-score: below 0 over-confident, above 0 under-confident."""
    detectable_net_gap: float
    """The smallest net gap that so many rows would reveal with 80 % power; infinite if none would be."""
    table: CalibrationTable
    confidence_table: CalibrationTable | None
    level: float
    resamples: int
    seed: int
    """Passed as `rng` it brings back these very numbers."""
    n_clusters: int | None
    warnings: tuple[Caution, ...]
    groups: tuple[GroupAssessment, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows were assessed."""
        return self.table.n_rows

    @property
    def p_value(self) -> float:
        """The smaller p-value of the centred VCE and the net gap, Holm-corrected: what the verdict and a gate use."""
        return min(holm([self.vce.centred_p_value, self.net.centred_p_value]))

    @property
    def verdict(self) -> str:
        """One plain sentence."""
        return _words.verdict(self)

    def __str__(self) -> str:
        return _words.page(self)

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
        content = {
            "schema": SCHEMA,
            "kind": "assessment",
            "trueness": __version__,
            "verdict": self.verdict,
            "p_value": self.p_value,
            "n_rows": self.n_rows,
            "n_classes": self.table.n_classes,
            "variation": self.table.spec.variation.name,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "n_clusters": self.n_clusters,
        }
        content |= {name: plain(getattr(self, name)) for name in _NUMBERS}
        if self.ece is None:
            content["ece_reason"] = _words.NO_ECE
        if self.uce is None:
            content["uce_reason"] = _words.NO_UCE
        content["warnings"] = [plain(caution) for caution in self.warnings]
        content["tables"] = [
            table.to_dict() for table in (self.table, self.confidence_table) if table is not None
        ]
        content["groups"] = [plain(group) for group in self.groups]
        return content


_NUMBERS = ("vce", "net", "ece", "uce", "rce", "rce_w1", "log_score_z", "detectable_net_gap")


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
