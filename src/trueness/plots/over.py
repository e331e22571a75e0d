"""The number against something that it should not depend on: the number of bins, and the number of rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._random import Seed
from trueness.plots._display import Display, light_grid
from trueness.plots.readings import Judgement
from trueness.plots.style import BAND, INK, OBSERVED, PREDICTED
from trueness.table import CalibrationTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CURVES = ("value", "noise_floor", "debiased", "low", "high")


class SweepDisplay(Display):
    """VCE and its noise floor against the number of bins: what of the number is the binning's doing."""

    SIZE = (6.0, 3.8)

    def __init__(self, reading: Any) -> None:
        self.reading = reading

    @classmethod
    def from_sweep(cls, sweep: Any, *, ax: Axes | None = None) -> Self:
        """From what `sweep_bins` returned."""
        return cls(sweep).plot(ax)

    def _draw(self, ax: Any) -> None:
        s = self.reading
        order = np.argsort(s.n_bins)
        x = s.n_bins[order]
        _draw_curves(ax, x, {name: getattr(s, name)[order] for name in CURVES}, s.level)
        ax.set_xscale("log", base=2)
        ax.set_xticks(x, [str(number) for number in x])
        ax.minorticks_off()
        ax.set_ylim(bottom=0)
        ax.set_xlabel(f"number of bins, of equal {s.bins_of_equal}")
        ax.set_ylabel(f"VCE by {s.variation.replace('_', ' ')}")
        light_grid(ax)
        ax.legend(fontsize=8, framealpha=0.85, edgecolor="none")


def _draw_curves(ax: Any, x: Any, curves: dict[str, Any], level: float) -> None:
    ax.fill_between(
        x,
        curves["low"],
        curves["high"],
        color=BAND,
        alpha=0.4,
        linewidth=0,
        label=f"{100 * level:g} % interval",
    )
    ax.plot(
        x, curves["debiased"], "s-", color=PREDICTED, markeredgecolor="white", linewidth=1.6, label="debiased"
    )
    ax.plot(x, curves["value"], "o-", color=OBSERVED, markeredgecolor="white", linewidth=1.6, label="plug-in")
    floor = "noise floor: plug-in of a calibrated model"
    ax.plot(x, curves["noise_floor"], ":", color=INK, linewidth=1.4, label=floor)


@dataclass(frozen=True, slots=True, eq=False)
class Convergence:
    """VCE against the number of rows, (K,) each."""

    n_rows: IntArray
    value: FloatArray
    noise_floor: FloatArray
    debiased: FloatArray
    low: FloatArray
    high: FloatArray
    variation: str
    level: float


def converging(
    tables: Iterable[CalibrationTable | str | os.PathLike[str]],
    *,
    cumulative: bool = False,
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = 0,
) -> Convergence:
    """Tables, or files of saved ones, from the smallest to the largest; or summed up one after the other."""
    loaded = [
        CalibrationTable.load(table) if isinstance(table, (str, os.PathLike)) else table for table in tables
    ]
    if not loaded:
        raise ValueError("tables is empty: name at least one table or file of a saved one")
    if cumulative:
        loaded = list(accumulate(loaded, add))
    judged = [Judgement.of(table, level=level, resamples=resamples, rng=rng) for table in loaded]
    measures = {it.table.spec.variation.name for it in judged}
    if len(measures) > 1:
        raise ValueError(f"these tables have different measures: {', '.join(sorted(measures))}")
    judged.sort(key=lambda it: it.table.n_rows)
    columns = _columns([it.vce for it in judged])
    sizes = np.array([it.table.n_rows for it in judged])
    return Convergence(n_rows=sizes, **columns, variation=measures.pop(), level=level)


def _columns(estimates: Sequence[Any]) -> dict[str, FloatArray]:
    columns = {
        name: np.array([getattr(it, name) for it in estimates])
        for name in ("value", "noise_floor", "debiased")
    }
    return columns | {
        end: np.array([getattr(it.interval, end) for it in estimates]) for end in ("low", "high")
    }


class ConvergenceDisplay(Display):
    """VCE against the number of rows, on logarithmic axes.

    The plug-in value of a calibrated model falls along its noise floor, as 1/√N; where it leaves it, what remains is
    miscalibration.
    """

    SIZE = (6.0, 3.8)

    def __init__(self, reading: Convergence) -> None:
        self.reading = reading

    @classmethod
    def from_tables(
        cls,
        tables: Iterable[CalibrationTable | str | os.PathLike[str]],
        *,
        cumulative: bool = False,
        level: float = 0.95,
        resamples: int = 999,
        rng: Seed = 0,
        ax: Axes | None = None,
    ) -> Self:
        """From tables or files of saved ones; with `cumulative` each is added to those before it."""
        reading = converging(tables, cumulative=cumulative, level=level, resamples=resamples, rng=rng)
        return cls(reading).plot(ax)

    def _draw(self, ax: Any) -> None:
        r = self.reading
        # What is 0 has no place on a logarithmic axis: it is marked at the border, and the interval reaches to it.
        bottom = 0.3 * float(
            np.concatenate([r.value[r.value > 0], r.noise_floor[r.noise_floor > 0], [1.0]]).min()
        )
        debiased = np.where(r.debiased > bottom, r.debiased, np.nan)
        low, high = (np.maximum(column, bottom) for column in (r.low, r.high))
        shown = {
            "value": r.value,
            "noise_floor": r.noise_floor,
            "debiased": debiased,
            "low": low,
            "high": high,
        }
        _draw_curves(ax, r.n_rows, shown, r.level)
        none = r.n_rows[np.isnan(debiased)]
        if none.size:
            ax.plot(
                none,
                np.full(none.shape, bottom),
                "v",
                color=PREDICTED,
                markerfacecolor="white",
                clip_on=False,
                label="debiased: 0",
            )
        ax.set(xscale="log", yscale="log")
        ax.set_ylim(bottom=bottom)
        ax.set_xlabel("number of rows N")
        ax.set_ylabel(f"VCE by {r.variation.replace('_', ' ')}")
        light_grid(ax)
        ax.legend(fontsize=8, framealpha=0.85, edgecolor="none")
