"""The data of the figures, which `trueness.plots.paper` draws."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from trueness._arrays import FloatArray
from trueness.old_table import CalibrationTable
from trueness.reproduction.cells import BINNINGS, CellTables
from trueness.reproduction.metric_values import FURTHER_METRICS, PAPER_METRICS
from trueness.reproduction.results import TheoryCheck
from trueness.reproduction.scenarios import Cell, Scenario
from trueness.reproduction.twins import CALIBRATED, TWIN_METRICS, twins_for

if TYPE_CHECKING:
    from trueness.plots.paper import Panel, PaperReliability, Ratios

TITLES = {metric.name: metric.title for metric in (*PAPER_METRICS, *FURTHER_METRICS)}
STYLE = {name: number for number, name in enumerate(TITLES)}
BIN_WORDS = {"width": "equal-width bins", "mass": "equal-frequency bins"}
FIGURE_NUMBER = {"width": 1, "mass": 3}
"""The paper's Figures 1 and 3."""


def draw_metrics(verdicts: Sequence[TheoryCheck], out: Path) -> list[Path]:
    """Draw Figures 1 and 3 of the paper, and the same for further metrics if they are among the verdicts."""
    from trueness.plots import paper

    paper_names = {metric.name for metric in PAPER_METRICS}
    drawn: list[Path] = []
    for binning in BINNINGS:
        title = f"Calibrated predictions, {BIN_WORDS[binning]}"
        of_paper = panels(verdicts, binning, paper_names)
        drawn += paper.save(paper.metric_panels(of_paper, title), out / f"figure{FIGURE_NUMBER[binning]}")
        further = panels(verdicts, binning, {v.place.metric for v in verdicts} - {"ece", "uce"})
        if len(further[0].curves) > 1:
            drawn += paper.save(
                paper.metric_panels(further, f"{title}: further metrics"), out / f"beyond-{binning}"
            )
    return drawn


def panels(verdicts: Sequence[TheoryCheck], binning: str, metrics: set[str]) -> list[Panel]:
    """One panel for each scenario with one curve for each metric, in the order of the verdicts."""
    from trueness.plots.paper import Curve, Panel

    wanted = [v for v in verdicts if v.place.binning == binning and v.place.metric in metrics]
    all_panels = []
    for scenario, of_scenario in groupby(wanted, key=lambda v: v.place.scenario):
        curves = []
        for name, group in groupby(of_scenario, key=lambda v: v.place.metric):
            points = [(v.n_rows, v.mean, v.sd, v.expected, v.spread) for v in group]
            curves.append(Curve(TITLES[name], STYLE[name], *zip(*points, strict=True)))
        all_panels.append(Panel(scenario.title, curves))
    return all_panels


def draw_reliability(done: CellTables, out: Path) -> list[Path]:
    """Draw Figure 2 of the paper: the reliability diagrams of ECE, UCE and VCE of one cell, equal-width bins."""
    from trueness.plots import paper

    title = f"{done.cell.scenario.title}, N = {done.cell.n_rows:,}, equal-width bins".replace(
        ",000", "\u2009000"
    )
    return paper.save(paper.reliability_panels(reliability(done), title), out / "figure2")


def reliability(done: CellTables) -> list[PaperReliability]:
    """The data of the three diagrams: predicted and observed values of each metric in the bins that hold rows."""
    from trueness.plots.paper import PaperReliability

    entropy, confidence = done.tables["entropy", "width"], done.tables["confidence", "width"]
    metrics = {metric.name: metric for metric in PAPER_METRICS}
    sides = (
        (
            "ece",
            "mean confidence",
            "accuracy",
            confidence.mean_ordered[:, 0],
            confidence.rank_frequency[:, 0],
        ),
        ("uce", "mean entropy", "error rate", entropy.mean_variation, 1 - entropy.rank_frequency[:, 0]),
        ("vce", "predicted entropy", "observed entropy", *_variations(entropy)),
    )
    diagrams = []
    for name, x_label, y_label, predicted, observed in sides:
        table = done.tables[metrics[name].measure, "width"]
        filled = np.flatnonzero(table.row_count)
        legend = f"{name.upper()} = {metrics[name].read(table):.2g}"
        share = (table.count[filled] / table.n_rows).tolist()
        points = predicted[filled].tolist(), observed[filled].tolist(), share
        low = float(table.edges[0])
        diagrams.append(PaperReliability(TITLES[name], STYLE[name], legend, x_label, y_label, *points, low))
    return diagrams


def _variations(table: CalibrationTable) -> tuple[FloatArray, FloatArray]:
    return table.predicted_variation, table.observed_variation


TwinValues = Mapping[Cell, Mapping[tuple[str, str], float]]


def draw_twins(values: TwinValues, out: Path) -> list[Path]:
    """Draw which metric detects which fault: a row of panels for each scenario, a column for each fault."""
    from trueness.plots import paper

    title = (
        "Which metric detects what: miscalibrated predictions relative to calibrated ones, equal-width bins"
    )
    return paper.save(paper.ratio_panels(twin_ratios(values), title), out / "twins")


def twin_ratios(values: TwinValues) -> list[list[Ratios]]:
    """Each metric of each miscalibrated twin divided by that of the calibrated rows, by scenario and fault."""
    from trueness.plots.paper import Ratios

    def ratios(scenario: Scenario, twin: str) -> Ratios:
        cells = sorted((cell for cell in values if cell.scenario == scenario), key=lambda cell: cell.n_rows)
        curves = {
            (metric.title, STYLE[metric.name]): [
                values[cell][twin, metric.name] / values[cell][CALIBRATED, metric.name] for cell in cells
            ]
            for metric in TWIN_METRICS
        }
        return Ratios(f"{scenario.title}: {twin}", [cell.n_rows for cell in cells], curves)

    scenarios = dict.fromkeys(cell.scenario for cell in values)
    return [[ratios(one, twin.name) for twin in twins_for(one.n_classes)[1:]] for one in scenarios]
