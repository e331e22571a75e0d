"""The result of `compare`: models side by side with the differences between them, to print, to store and to draw."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueness._cells import Rows, Tabular
from trueness._version import __version__
from trueness.old_assessment import _comparison_text, _result_cells
from trueness.old_assessment._flat import Flat
from trueness.old_assessment._pair_verdict import PairVerdict, pair_verdict
from trueness.old_assessment._result import Assessment
from trueness.old_assessment._to_json import SCHEMA, plain
from trueness.old_assessment.compared import ComparedNumber, compared_numbers
from trueness.old_assessment.reported import ReportedMetric
from trueness.old_assessment.verdict import significance_limit
from trueness.old_inference.corrections import holm
from trueness.old_inference.results import Interval

if TYPE_CHECKING:
    from trueness.plots import ForestDisplay, ReliabilityDisplay


@dataclass(frozen=True, slots=True)
class Contrast:
    """The difference of one metric between two models: the first minus the second."""

    difference: float
    """Of the debiased values."""
    interval: Interval
    p_value: float
    adjusted_p_value: float
    """Corrected over all pairs of models, by Holm."""


@dataclass(frozen=True, slots=True, eq=False)
class Pair(Flat):
    """Two models, and by how much their metrics differ. Every metric of `contrasts` is an attribute too."""

    first: str
    second: str
    contrasts: Mapping[str, Contrast]
    """The differences by key, for each metric that both models have; of two classes also `event_gap`, the gap of class
    1, `brier_score` and `log_loss`."""
    p_value: float
    """Of the differences of all metrics together: that the two models differ at all."""
    adjusted_p_value: float
    """The same corrected over all pairs of models, by Holm."""

    @property
    def vce(self) -> Contrast:
        """The difference of VCE."""
        return self.contrasts["vce"]

    @property
    def net(self) -> Contrast:
        """The difference of the net gap."""
        return self.contrasts["net"]

    @property
    def ece(self) -> Contrast:
        """The difference of ECE."""
        return self.contrasts["ece"]

    @property
    def rce(self) -> Contrast:
        """The difference of RCE, total variation."""
        return self.contrasts["rce"]

    @property
    def rce_w1(self) -> Contrast:
        """The difference of RCE, Wasserstein distance."""
        return self.contrasts["rce_w1"]

    if not TYPE_CHECKING:  # so that a misspelt attribute is still an error of types

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") and name in self.contrasts:
                return self.contrasts[name]
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return sorted({*super(Pair, self).__dir__(), *self.contrasts})

    def clear_keys(self, level: float) -> list[str]:
        """The metrics whose difference is significant by itself (Holm over metrics); else that of the smallest p."""
        numbers = compared_numbers()
        p_values = {
            key: contrast.p_value for key, contrast in self.contrasts.items() if numbers[key].is_calibration
        }
        corrected = holm(list(p_values.values()))
        clear = [key for key, p in zip(p_values, corrected, strict=True) if p <= significance_limit(level)]
        return clear or [min(p_values, key=lambda key: p_values[key])]

    def _numbers(self) -> dict[str, Any]:
        found: dict[str, Any] = {"p_value": self.p_value, "adjusted_p_value": self.adjusted_p_value}
        for key, contrast in self.contrasts.items():
            parts = plain(contrast)
            found[key] = {"value": parts.pop("difference"), **parts}
        return found

    def to_dict(self) -> dict[str, Any]:
        """As plain numbers, lists and strings; the differences are beside the names of the models."""
        return {
            "first": self.first,
            "second": self.second,
            **plain(self.contrasts),
            "p_value": plain(self.p_value),
            "adjusted_p_value": plain(self.adjusted_p_value),
        }


@dataclass(frozen=True, slots=True, eq=False)
class GroupComparison:
    """One group of rows; p-values of its pairs are adjusted for the number of groups as well."""

    name: str
    n_rows: int
    comparison: Comparison | None
    adjusted_p_values: tuple[float, ...]
    """Of all metrics together, for each pair of models, by Benjamini and Hochberg over groups."""
    reason: str | None = None
    """Why it was not compared."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison(Tabular, Flat):
    """Models side by side, returned by `compare`; or tables of different rows, returned by `compare_tables`."""

    assessments: Mapping[str, Assessment]
    pairs: tuple[Pair, ...]
    level: float
    resamples: int
    seed: int
    groups: tuple[GroupComparison, ...] = ()
    paired: bool = True
    """Whether all models have the same rows, as in `compare`; or each has rows of its own, as in `compare_tables`."""

    @property
    def verdict(self) -> str:
        """One sentence for each pair of models; `verdicts` has them as values."""
        return "\n".join(str(verdict) for verdict in self.verdicts)

    @property
    def verdicts(self) -> tuple[PairVerdict, ...]:
        """The conclusion about each pair of models."""
        return tuple(pair_verdict(self, pair) for pair in self.pairs)

    @property
    def metrics(self) -> Mapping[str, ReportedMetric | ComparedNumber]:
        """What the keys of `Pair.contrasts` stand for: label, long name, sign."""
        return compared_numbers()

    @property
    def model_table(self) -> str:
        """One line for each model, under two lines of heads."""
        return _comparison_text.model_table(self)

    def __str__(self) -> str:
        return _comparison_text.page(self)

    __repr__ = __str__

    def plot(
        self, ax: Any = None, *, metric: str = "vce", label: str | None = None, color: str | None = None
    ) -> ForestDisplay:
        """Draw the difference between each pair of models with its interval (extra `plots`).

        `metric` is a key of `metrics`. Comparisons on the same axes, such as those of two data sets, differ in
        `label` and `color`.
        """
        from trueness.plots import ForestDisplay

        return ForestDisplay.from_comparison(self, metric=metric, ax=ax, label=label, color=color)

    def plot_models(self, ax: Any = None, *, metric: str = "vce") -> ReliabilityDisplay:
        """Draw the reliability diagrams of all models over one another (extra `plots`).

        `metric` is "vce", "ece" or "uce", as in `Assessment.plot`.
        """
        drawn = None
        for name, result in self.assessments.items():
            drawn = result.plot(ax, metric=metric, label=name)
            ax = drawn.ax_
        assert drawn is not None
        return drawn

    def write_html(
        self, path: str | os.PathLike[str], *, title: str | None = None, made_by: str | None = None
    ) -> None:
        """Write the report: one self-contained HTML file with the verdicts, the differences and the models.

        `title` names what is compared, `made_by` the command or call that produced the result.
        `trueness.old_report.model_tables_in(path)` reads the tables of the models back.
        """
        from trueness import old_report as report  # upwards: see the exception in pyproject.toml

        report.write(self, path, title=title, made_by=made_by)

    def _repr_html_(self) -> str:
        """The comparison as a notebook displays it."""
        from trueness import old_report as report

        return report.comparison_fragment(self)

    tables_of_cells = ("differences", "models", "groups")

    def _cells(self, of: str) -> Rows:
        if of == "models":
            return _result_cells.model_cells(self)
        return (
            _result_cells.difference_cells(self)
            if of == "differences"
            else _result_cells.compared_group_cells(self)
        )

    def _numbers(self) -> dict[str, Any]:
        return {}

    def _parts(self) -> dict[str, dict[str, dict[str, float]]]:
        return {
            "model": {name: result.flat() for name, result in self.assessments.items()},
            "difference": {f"{pair.first}-{pair.second}": pair.flat() for pair in self.pairs},
            "group": {group.name: group.comparison.flat() for group in self.groups if group.comparison},
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings."""
        return {
            "schema": SCHEMA,
            "kind": "comparison",
            "trueness": __version__,
            "verdict": self.verdict,
            "verdicts": [plain(verdict) for verdict in self.verdicts],
            "difference_of": "debiased values",
            "paired": self.paired,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "assessments": plain(self.assessments),
            "pairs": [plain(pair) for pair in self.pairs],
            "groups": [plain(group) for group in self.groups],
        }
