"""Time per row as a function of rows, classes, bins and threads: a table of all points, and a figure."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

import contenders as who
from contenders import Predictions, first, prepared, rows_of, torch_ece, with_best_torch
from measuring import Timing, Work, figure, markdown, take_turns, thousands
from targets import Comparison

import trueness as tn

ROWS = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000)
"""The last point, 10⁷, is the comparison of everyone."""

CLASSES = (2, 3, 5, 10, 20, 32, 50, 100, 300, 1000)
VALUES = 6_000_000
"""Rows × classes of every point of that curve."""

BINS = (5, 10, 20, 50, 100, 200, 500, 1000)
BINS_ROWS = 1_000_000

THREADS_ROWS = 3_000_000

MAIN = (who.COMPILED_TWO, who.COMPILED_ONE, who.PORTABLE, who.FORMULA, who.TORCH_TWO, who.TORCH_ONE, who.PASS)
ALL = (*MAIN, who.SKLEARN, who.NETCAL)

LOOK = {
    # Okabe and Ito's colour-blind safe colours; each contender also has a marker of its own.
    who.COMPILED_TWO: ("#0072B2", "o", "-"),
    who.COMPILED_ONE: ("#56B4E9", "s", "-"),
    who.PORTABLE: ("#009E73", "^", "-"),
    who.FORMULA: ("#D55E00", "D", "--"),
    who.TORCH: ("#CC79A7", "v", "--"),
    who.SKLEARN: ("#E69F00", "P", "--"),
    who.NETCAL: ("#000000", "X", "--"),
    who.PASS: ("#999999", ".", ":"),
}


class Point(NamedTuple):
    """One point of a curve; `at` is its x value."""

    curve: str
    at: int
    rows: int
    classes: int
    bins: int
    contender: str
    ns_per_row: float
    median_ns_per_row: float


def _points(
    curve: str, at: int, data: Predictions, times: Mapping[str, Timing], bins: int = 10
) -> Iterator[Point]:
    n_rows, n_classes = data.y_prob.shape
    shown = {name: time for name, time in with_best_torch(times).items() if name in LOOK}
    for name, (best, middle) in shown.items():
        yield Point(curve, at, n_rows, n_classes, bins, name, best / n_rows * 1e9, middle / n_rows * 1e9)


def over_rows(data: Predictions, everyone: Comparison, seconds: float) -> Iterator[Point]:
    """From 10³ rows up to those on which all contenders were compared."""
    for n_rows in (n for n in ROWS if n < len(data.y_true)):
        some = first(data, n_rows)
        yield from _points("rows", n_rows, some, take_turns(prepared(some, ALL), seconds, turn_seconds=0.05))
    yield from _points("rows", everyone.n_rows, data, everyone.times)


def over_classes(seconds: float, scale: int) -> Iterator[Point]:
    """From two classes to a thousand, always the same number of values; a quick run takes fewer points."""
    for n_classes in CLASSES[:: 1 if scale == 1 else 3]:
        data = rows_of(VALUES // scale // n_classes, n_classes)
        times = take_turns(prepared(data, MAIN), seconds, turn_seconds=0.05)
        yield from _points("classes", n_classes, data, times)


def over_bins(data: Predictions, seconds: float, scale: int) -> Iterator[Point]:
    """From five bins to a thousand."""
    some = first(data, BINS_ROWS // scale)
    for n_bins in BINS[:: 1 if scale == 1 else 3]:
        times = take_turns(prepared(some, MAIN, n_bins), seconds, turn_seconds=0.05)
        yield from _points("bins", n_bins, some, times, n_bins)


def over_threads(data: Predictions, seconds: float, scale: int) -> Iterator[Point]:
    """One thread, two, four and so on, to as many as there are cores."""
    some = first(data, THREADS_ROWS // scale)
    counts = [2**k for k in range((os.cpu_count() or 1).bit_length())]
    work: dict[tuple[str, int], Work] = {}
    for n in counts:
        work[who.COMPILED_TWO, n] = partial(tn.tabulate, *some, engine="compiled", n_threads=n)
        work[who.PORTABLE, n] = partial(tn.tabulate, *some, engine="portable", n_threads=n)
        if prepared(some, (who.TORCH_TWO,)):
            work[who.TORCH, n] = torch_ece(some, 10, n)
    for (name, n), time in take_turns(work, seconds).items():
        yield from _points("threads", n, some, {name: time})


def write_csv(points: Iterable[Point], path: Path) -> None:
    """Write one line per point."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(Point._fields)
        for point in points:
            table.writerow([f"{x:.4g}" if isinstance(x, float) else x for x in point])


def as_markdown(points: list[Point], curve: str) -> str:
    """One curve as a table: nanoseconds per row, one column per contender."""
    some = [point for point in points if point.curve == curve]
    names = [name for name in LOOK if any(point.contender == name for point in some)]
    seen = {(point.at, point.contender): figure(point.ns_per_row) for point in some}
    places = sorted({point.at for point in some})
    titles = [_label(name) if curve == "threads" else name for name in names]
    return markdown(
        (curve, *titles),
        [(thousands(at), *(seen.get((at, name), "") for name in names)) for at in places],
    )


def _label(name: str) -> str:
    """The name without its number of threads."""
    return name.rsplit(",", 1)[0] if "thread" in name else name


def draw(points: list[Point], path: Path) -> None:
    """Draw four panels of nanoseconds per row on logarithmic axes."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    panels = (
        ("rows", "rows N (C = 10, M = 10)"),
        ("classes", "classes C (rows × classes fixed, M = 10)"),
        ("bins", "bins M (C = 10)"),
        ("threads", "threads (C = 10, M = 10)"),
    )
    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "trueness", "font.size": 9}):
        sheet = Figure(figsize=(10, 8.2), layout="constrained", facecolor="white")
        for ax, (curve, label) in zip(sheet.subplots(2, 2).flat, panels, strict=True):
            _draw_panel(ax, [point for point in points if point.curve == curve], curve)
            ax.set(xlabel=label, ylabel="time, ns a row")
        handles, labels = sheet.axes[0].get_legend_handles_labels()
        sheet.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
        sheet.savefig(path, metadata={"Date": None})


def _draw_panel(ax: object, points: list[Point], curve: str) -> None:
    from matplotlib.axes import Axes
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    assert isinstance(ax, Axes)
    for name, (colour, marker, line) in LOOK.items():
        places = sorted((point.at, point.ns_per_row) for point in points if point.contender == name)
        if places:
            ax.plot(*zip(*places, strict=True), line, color=colour, marker=marker, markersize=4.5, label=name)
    ax.set(xscale="log", yscale="log")
    if curve == "threads":
        ax.set_xticks(sorted({point.at for point in points}))
        ax.xaxis.set_major_formatter(ScalarFormatter())
        ax.xaxis.set_minor_formatter(NullFormatter())
        for name in dict.fromkeys(point.contender for point in points):
            last = max((point.at, point.ns_per_row) for point in points if point.contender == name)
            ax.annotate(
                _label(name), last, xytext=(-4, 6), textcoords="offset points", ha="right", fontsize=8
            )
    ax.grid(which="major", alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
