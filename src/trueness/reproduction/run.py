"""The whole reproduction: compute missing cells, compare all of them with theory, write and draw the results."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trueness._version import __version__
from trueness.atomic_files import write_text
from trueness.reproduction import figures, results
from trueness.reproduction.cells import (
    BINNINGS,
    PAPER_MEASURES,
    CellTables,
    Tick,
    batches,
    drawing_seconds,
    tabulate_cells,
)
from trueness.reproduction.metric_values import Metric, limits_of, measures_of
from trueness.reproduction.results import MetricValue, Slope, TheoryCheck
from trueness.reproduction.scenarios import Cell, Scenario, grid
from trueness.reproduction.store import Store, Timing, TimingLog, load_object, plain
from trueness.reproduction.theory import Limit, Limits
from trueness.reproduction.twins import tabulate_twins, twin_values
from trueness.tabulation.engines import engine_name
from trueness.variation import variations

Progress = Callable[[str, int], AbstractContextManager[Tick]]
"""Called with a name and a number of rows; returns a context manager that yields the callback for finished rows."""


@dataclass(frozen=True, slots=True)
class RunSettings:
    """The cells and metrics to compute, the engine, and the output folder."""

    scenarios: tuple[Scenario, ...]
    sizes: tuple[int, ...]
    metrics: tuple[Metric, ...]
    out: Path
    seed: int = 0
    repeats: int | None = None
    twins: bool = False
    draws_figures: bool = True
    engine: str = "auto"
    n_threads: int = 1

    @property
    def cells(self) -> list[Cell]:
        """All cells, those of the first seed first."""
        return grid(self.scenarios, self.sizes, self.seed, self.repeats)

    @property
    def first_seed(self) -> list[Cell]:
        """The grid with one seed."""
        return grid(self.scenarios, self.sizes, self.seed, 1)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of a run."""

    settings: RunSettings
    engine: str
    readings: list[MetricValue]
    verdicts: list[TheoryCheck]
    slopes: list[Slope]
    timing: Timing | None
    busy: float
    """Mean number of busy threads while cells were computed; NaN if none was computed."""
    mass_shares: tuple[float, float]
    """The smallest and the largest share of rows in any equal-frequency bin, over all cells."""
    twins: dict[Cell, dict[tuple[str, str], float]]
    files: list[Path]

    @property
    def failed(self) -> list[TheoryCheck]:
        """The verdicts in which theory and observation disagree."""
        return [verdict for verdict in self.verdicts if not verdict.holds]


def reproduce(settings: RunSettings, progress: Progress) -> Outcome:
    """Compute the missing cells, then compare all of them with theory, write and draw the results."""
    settings.out.mkdir(parents=True, exist_ok=True)
    engine = engine_name(settings.engine, [variations[name] for name in PAPER_MEASURES])
    store = Store(settings.out)
    finished, busy = _finished_cells(settings, engine, store, progress)
    twins = _finished_twins(settings, engine, store, progress) if settings.twins else {}
    limits = {one: _load_limits(one, settings, store) for one in settings.scenarios}
    readings = results.read(finished, settings.metrics, limits)
    verdicts = results.judge(readings, limits)
    shares = [
        done.tables[at].count / done.cell.n_rows for done in finished for at in done.tables if at[1] == "mass"
    ]
    outcome = Outcome(
        settings=settings,
        engine=engine,
        readings=readings,
        verdicts=verdicts,
        slopes=results.slopes(verdicts),
        timing=TimingLog(store, measures_of(settings.metrics), settings.n_threads).total(settings.first_seed),
        busy=busy,
        mass_shares=(
            float(min(share.min() for share in shares)),
            float(max(share.max() for share in shares)),
        ),
        twins=twins,
        files=[],
    )
    _write(outcome, limits)
    if settings.draws_figures:
        _draw(outcome, finished)
    return outcome


def _load_limits(scenario: Scenario, settings: RunSettings, store: Store) -> Limits:
    """The limits of the metrics in a scenario, loaded from the store or computed and saved."""
    path = store.folder / f"limits-{scenario.name}.json"
    names = {f"{binning} {metric.name}" for binning in BINNINGS for metric in settings.metrics}
    saved = load_object(path)
    if not names <= set(saved):
        limits = limits_of(scenario, settings.metrics, settings.n_threads)
        saved = {" ".join(name): list(astuple(limit)) for name, limit in limits.items()}
        write_text(str(path), json.dumps(saved))
    return {(name.split()[0], name.split()[1]): Limit(*numbers) for name, numbers in saved.items()}


def _finished_cells(
    settings: RunSettings, engine: str, store: Store, progress: Progress
) -> tuple[list[CellTables], float]:
    """All cells, loaded or computed, and the mean number of busy threads."""
    measures = measures_of(settings.metrics)
    tables = {cell: store.load_cell(cell, measures) for cell in settings.cells}
    waiting = [cell for cell, done in tables.items() if done is None]
    log, seconds, cpu_seconds = TimingLog(store, measures, settings.n_threads), 0.0, 0.0
    with progress("calibrated rows", sum(cell.n_rows for cell in waiting)) as tick:
        for timed in (True, False):
            for batch in batches(cell for cell in waiting if (cell.seed == settings.seed) == timed):
                done = tabulate_cells(batch, measures, engine, settings.n_threads, tick)
                seconds, cpu_seconds = seconds + done.seconds, cpu_seconds + done.cpu_seconds
                for finished in done.cells:
                    tables[finished.cell] = finished
                    store.save_cell(finished)
                if timed:
                    log.add(batch, Timing(done.seconds, drawing_seconds(batch, settings.n_threads)))
    busy = cpu_seconds / seconds if seconds else float("nan")
    return [done for done in tables.values() if done is not None], busy


def _finished_twins(
    settings: RunSettings, engine: str, store: Store, progress: Progress
) -> dict[Cell, dict[tuple[str, str], float]]:
    """The metrics of the miscalibrated twins of the first seed's cells."""
    cells, values = settings.first_seed, {}
    loaded = {cell: store.load(f"twins-{cell.name}", cell.n_rows) for cell in cells}
    with progress("miscalibrated twins", sum(cell.n_rows for cell in cells if loaded[cell] is None)) as tick:
        for cell in cells:
            tables = loaded[cell]
            if tables is None:
                tables = tabulate_twins(cell, engine, settings.n_threads, tick)
                store.save(f"twins-{cell.name}", tables)
            values[cell] = twin_values(cell, tables)
    return values


def _write(outcome: Outcome, limits: dict[Scenario, Limits]) -> None:
    """results.csv, results.json, verdict.md and, with twins, twins.csv."""
    texts = {
        "results.csv": results.csv_text(outcome.readings),
        "results.json": json.dumps(plain(_content(outcome, limits)), allow_nan=False) + "\n",
        "verdict.md": "\n".join(report_lines(outcome)) + "\n",
    }
    if outcome.twins:
        texts["twins.csv"] = _twin_text(outcome)
    for name, text in texts.items():
        write_text(str(outcome.settings.out / name), text)
        outcome.files.append(outcome.settings.out / name)


def _content(outcome: Outcome, limits: dict[Scenario, Limits]) -> dict[str, Any]:
    settings = outcome.settings

    def with_place(one: MetricValue | TheoryCheck | Slope) -> dict[str, Any]:
        scenario, binning, metric = one.place
        where = {"classes": scenario.n_classes, "alpha": scenario.label, "binning": binning, "metric": metric}
        return where | {key: value for key, value in one._asdict().items() if key != "place"}

    return {
        "format": "trueness reproduction",
        "schema": 1,
        "made_with": {
            "trueness": __version__,
            "numpy": np.__version__,
            "engine": outcome.engine,
            **machine(),
        },
        "settings": {"seed": settings.seed, "repeats": settings.repeats, "n_threads": settings.n_threads},
        "timing": None
        if outcome.timing is None
        else outcome.timing._asdict() | {"ratio": outcome.timing.ratio},
        "busy_threads": outcome.busy,
        "equal_frequency_shares": list(outcome.mass_shares),
        "limits": [
            {
                "alpha": scenario.label,
                "binning": binning,
                "metric": metric,
                "floor": limit.floor,
                "a": limit.a,
                "b": limit.b,
            }
            for scenario, of_scenario in limits.items()
            for (binning, metric), limit in of_scenario.items()
        ],
        "verdicts": [with_place(verdict) | {"holds": verdict.holds} for verdict in outcome.verdicts],
        "slopes": [with_place(slope) for slope in outcome.slopes],
        "readings": [
            with_place(group[0])
            | {"seed": [one.seed for one in group], "value": [one.value for one in group]}
            for group in results.by_size(outcome.readings)
        ],
    }


def machine() -> dict[str, str]:
    """Versions and processor of this machine."""
    return {
        "python": platform.python_version(),
        "system": platform.platform(terse=True),
        "processor": _processor(),
    }


def _processor() -> str:
    """The name of the processor and its number of cores."""
    name = platform.processor() or platform.machine()
    listed = Path("/proc/cpuinfo")
    if listed.exists():
        lines = listed.read_text(encoding="utf-8", errors="replace").splitlines()
        name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), name)
    return f"{name}, {os.cpu_count()} cores"


def report_lines(outcome: Outcome) -> list[str]:
    """The verdicts, slopes and timing, in Markdown."""
    agreeing = len(outcome.verdicts) - len(outcome.failed)
    smallest, largest = outcome.mass_shares
    return [
        f"{agreeing} of {len(outcome.verdicts)} cells agree with theory.",
        "",
        *results.verdict_lines(outcome.verdicts),
        "",
        *(results.slope_lines(outcome.slopes) if outcome.slopes else []),
        "",
        f"Equal-frequency bins hold {100 * smallest:.2f} % to {100 * largest:.2f} % of the rows each.",
        timing_line(outcome),
    ]


def timing_line(outcome: Outcome) -> str:
    """The time for the grid with one seed, compared with drawing its rows only."""
    if outcome.timing is None:
        return "The grid with one seed was not timed as a whole with this number of threads."
    timing, n_threads = outcome.timing, outcome.settings.n_threads
    threads = "1 thread" if n_threads == 1 else f"{n_threads} threads"
    return (
        f"The grid with one seed took {timing.seconds:.2f} s, drawing its Dirichlet rows alone "
        f"{timing.drawing_seconds:.2f} s: a ratio of {timing.ratio:.2f}, on {threads} "
        f"with the {outcome.engine} engine, by {' and '.join(measures_of(outcome.settings.metrics))}."
    )


def _twin_text(outcome: Outcome) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(("classes", "alpha", "binning", "twin", "metric", "n_rows", "seed", "value"))
    for cell, values in outcome.twins.items():
        for (twin, metric), value in values.items():
            where = (cell.scenario.n_classes, cell.scenario.label, "width", twin, metric)
            writer.writerow((*where, cell.n_rows, cell.seed, repr(value)))
    return text.getvalue()


def _draw(outcome: Outcome, finished: Sequence[CellTables]) -> None:
    settings = outcome.settings
    shown = Cell(settings.scenarios[0], settings.sizes[-1], settings.seed)
    (largest,) = [done for done in finished if done.cell == shown]
    outcome.files.extend(figures.draw_metrics(outcome.verdicts, settings.out))
    outcome.files.extend(figures.draw_reliability(largest, settings.out))
    if outcome.twins:
        outcome.files.extend(figures.draw_twins(outcome.twins, settings.out))
