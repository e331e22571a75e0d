"""Warnings: what limits an assessment, each with its remedy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trueness._printing import first_few, plural
from trueness.old_assessment._classes import are_too_many_for_clusters
from trueness.old_inference.results import Estimate
from trueness.old_table import AnyRankTable, CalibrationTable, OptionTables
from trueness.old_table.cluster_sums import MAX_EVENTS
from trueness.old_table.label_worth import has_soft_labels
from trueness.old_table.table_text import FEW_ROWS
from trueness.old_table.tables import Tables
from trueness.rows import OptionRows
from trueness.rows.images import ImageCounts

FEW_CLUSTERS = 30


@dataclass(frozen=True, slots=True)
class Caution:
    """Something that limits the conclusions from the numbers, and what to do about it."""

    code: str
    """Short and stable, for programs: "small-bins", "ties", …"""
    message: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.message}: {self.remedy}"


def supported_bins(table: AnyRankTable) -> int:
    """How many bins these rows could fill with enough each: ten, or as many as there are classes."""
    return int(float(table.effective_count.sum()) * (1 + 1e-9)) // max(FEW_ROWS, table.n_cells)


def cautions(table: AnyRankTable, vce: Estimate, n_clusters: int | None) -> tuple[Caution, ...]:
    """All warnings about a table and its VCE."""
    about_bins = _about_cells(table) if isinstance(table, OptionTables) else _about_bins(table)
    found = [*about_bins, *_about_ranks(table), *_about_rows(table), *_about_plug_in(vce)]
    if n_clusters is not None and n_clusters < FEW_CLUSTERS:
        found.append(
            Caution(
                "few-clusters",
                f"only {plural(n_clusters, 'cluster')}",
                f"a bootstrap over fewer than {FEW_CLUSTERS} clusters underestimates the noise; collect more clusters",
            )
        )
    return tuple(found)


def _about_bins(table: AnyRankTable) -> Iterator[Caution]:
    enough, supported = max(FEW_ROWS, table.n_cells), supported_bins(table)
    filled = table.row_count > 0
    empty = int(np.count_nonzero(~filled))
    small = int(np.count_nonzero(table.effective_count[filled] < enough * (1 - 1e-9)))
    n_filled = int(np.count_nonzero(filled))
    if supported < n_filled:
        remedy = (
            f"use at most {plural(supported, 'bin')}, or collect more rows"
            if supported
            else f"collect at least {enough} rows; not even one bin is supported"
        )
        yield Caution(
            "few-rows",
            f"{plural(table.n_rows, 'row')} {'is' if table.n_rows == 1 else 'are'} too few for {table.n_cells} "
            f"classes in {plural(n_filled, 'non-empty bin')}: "
            "the observed variation of small bins is too low",
            remedy,
        )
    elif small:
        yield Caution(
            "small-bins",
            f"{small} of {plural(n_filled, 'non-empty bin')} {'has' if small == 1 else 'have'} fewer than "
            f"{enough} rows",
            f"use {min(supported, table.n_bins)} bins of equal mass (EqualMass, --equal-mass), or fewer bins",
        )
    if empty:
        yield Caution(
            "empty-bins",
            f"{empty} of {plural(table.n_bins, 'bin')} hold no rows",
            "they do not affect the metrics; bins of equal mass would use the rows better",
        )


def _about_cells(tables: OptionTables) -> Iterator[Caution]:
    """The warning that most rows lie in bins with few rows of the same number of options."""
    in_small = sum(
        float(table.count[table.effective_count < max(FEW_ROWS, c) * (1 - 1e-9)].sum())
        for c, table in tables.items()
    )
    total = float(tables.count.sum())
    if in_small > total / 2:
        yield Caution(
            "small-cells",
            f"{100 * in_small / total:.0f} % of the rows lie in bins with fewer than 10 rows (or than options) of the "
            "same number of options: the plug-in values are far from those with unlimited data",
            "use the debiased values; take EqualMass(5), or fewer bins",
        )


def about_labels(rows: OptionRows, ties: str) -> tuple[Caution, ...]:
    """The warning that ties are not broken blindly: the right answer is always the same option."""
    labels = rows.labels
    if ties != "first" or labels is None or len(labels) < 2 or bool((labels != labels[0]).any()):
        return ()
    return (
        Caution(
            "one-label",
            f"the right answer is option {labels[0]} in all rows, and options of equal probability are ranked by their "
            "index",
            "use ties='split'",
        ),
    )


def _about_ranks(table: AnyRankTable) -> Iterator[Caution]:
    filled = np.flatnonzero(table.row_count)
    swapped = filled[np.argmax(table.rank_frequency[filled], axis=1) != 0]
    if swapped.size:
        yield Caution(
            "rank-order",
            f"in {plural(len(swapped), 'bin')} ({first_few(swapped + 1)} of {table.n_bins}) a class of lower rank is "
            "the true class more often than the top class; VCE by a symmetric measure such as entropy cannot detect "
            "this",
            "check RCE",
        )


def _about_rows(table: AnyRankTable) -> Iterator[Caution]:
    if table.tied_rows:
        remedy = (
            "their ranks are split evenly"
            if table.spec.ties == "split"
            else "try ties='split' (--ties split), or predictions with more digits; if the metrics change, they depend "
            "on the ties"
        )
        yield Caution(
            "ties",
            f"in {plural(table.tied_rows, 'row')} of {table.n_rows} another class has the same probability as the true "
            "class",
            remedy,
        )
    if table.impossible_rows:
        yield Caution(
            "impossible",
            f"in {plural(table.impossible_rows, 'row')} of {table.n_rows} the true class had probability 0",
            "the log-loss is infinite; clip or smooth the predictions",
        )
    if isinstance(table, CalibrationTable) and has_soft_labels(table):
        yield Caution(
            "soft-labels",
            f"labels are soft, and vary so much that a row is worth {table.row_worth:.2f} rows with single labels",
            "if annotators of a row copy each other, that is too much: pass one row per vote, with clusters= the row",
        )
    effective = float(table.effective_count.sum())
    if table.spec.weighted and effective < table.n_rows / 2:
        yield Caution(
            "uneven-weights",
            f"the effective sample size of {table.n_rows} weighted rows is {effective:.0f}",
            "the noise is computed for the smaller number; a few heavy rows dominate the metrics",
        )


def _about_plug_in(vce: Estimate) -> Iterator[Caution]:
    if vce.interval.low - 1e-9 <= vce.value <= vce.interval.high + 1e-9:
        return
    direction = "above" if vce.value > vce.interval.high else "below"
    cause = (
        "most of it is sampling noise"
        if vce.noise_floor > vce.value / 2
        else "with few rows for so many classes the observed variation is biased"
    )
    yield Caution(
        "plug-in-misleads",
        f"the plug-in VCE {vce.value:.4f} lies {direction} the interval of the debiased value {vce.debiased:.4f}",
        f"{cause}; use the debiased value, or fewer bins",
    )


def about_images(counts: ImageCounts) -> tuple[Caution, ...]:
    """What was assumed about arrays of images: which rows are one cluster, and how many were left out."""
    found = []
    if counts.by_default:
        each, rest = divmod(counts.n_rows, counts.n_images)
        of_rows = f"{counts.n_images} clusters of {each} rows" if not rest else f"{counts.n_images} clusters"
        found.append(
            Caution(
                "clusters-by-first-index",
                f"rows that share the first index of y_prob are one cluster: {of_rows}",
                "pass clusters= for others, or clusters=False if all rows are independent",
            )
        )
    if counts.n_ignored:
        found.append(
            Caution(
                "ignored-rows",
                f"{plural(counts.n_ignored, 'row')} with the label ignore_index left out",
                "their predictions were not checked",
            )
        )
    return tuple(found)


def without_classes(tables: Tables) -> tuple[Caution, ...]:
    """The warning that classes are left out, because clusters are not summed for so many."""
    if not are_too_many_for_clusters(tables):
        return ()
    return (
        Caution(
            "clusters-without-classes",
            f"the classes are not assessed: with clusters at most {MAX_EVENTS} can be, and there are "
            f"{tables.n_classes}",
            "assess without clusters to see them, with p-values that are too small",
        ),
    )


def too_few_resamples(needed: int, where: str) -> Caution:
    """The warning that no resample is as extreme as the data, and that more of them are needed for the correction."""
    return Caution(
        "few-resamples",
        "the smallest possible p-value, 1/(resamples + 1), is too large to be significant after the correction for "
        f"multiple tests{where}",
        f"raise the number of resamples to {needed} or more",
    )
