"""VCE against the number of rows."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import add
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness._printing import plain_name
from trueness._random import Seed
from trueness.old_table import CalibrationTable
from trueness.plots._curves import draw_curves
from trueness.plots._display import Display, light_grid
from trueness.plots._layers import Layer
from trueness.plots._legend import place_legend
from trueness.plots.style import PREDICTED
from trueness.plots.table_estimates import TableEstimates
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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


def convergence_of(
    tables: Iterable[CalibrationTable | str | os.PathLike[str]],
    *,
    cumulative: bool = False,
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = 0,
) -> Convergence:
    """VCE of tables or saved tables, from the fewest rows to the most; with `cumulative` of their running sums."""
    loaded = [
        CalibrationTable.load(table) if isinstance(table, (str, os.PathLike)) else table for table in tables
    ]
    if not loaded:
        remedy = "pass at least one table or the path of a saved table"
        raise InvalidValueError("no-tables", "tables is empty", remedy, argument="tables")
    if cumulative:
        loaded = list(accumulate(loaded, add))
    estimates = [TableEstimates.of(table, level=level, resamples=resamples, rng=rng) for table in loaded]
    measures = {it.table.spec.variation.name for it in estimates}
    if len(measures) > 1:
        value = ", ".join(sorted(measures))
        cause = f"tables have different variation measures: {value}"
        remedy = "draw one measure at a time"
        raise InvalidValueError("different-measures", cause, remedy, argument="tables", value=value)
    estimates.sort(key=lambda it: it.table.n_rows)
    columns = _columns([it.vce for it in estimates])
    sizes = np.array([it.table.n_rows for it in estimates])
    return Convergence(n_rows=sizes, **columns, variation=measures.pop(), level=level)


def _columns(estimates: Sequence[Any]) -> dict[str, FloatArray]:
    columns = {
        name: np.array([getattr(it, name) for it in estimates])
        for name in ("value", "noise_floor", "debiased")
    }
    return columns | {
        end: np.array([getattr(it.interval, end) for it in estimates]) for end in ("low", "high")
    }


class ConvergenceDisplay(Display[Convergence]):
    """VCE against the number of rows, on logarithmic axes.

    The plug-in value of a calibrated model follows its noise floor, which falls as 1/√N. A value that stays above it
    shows miscalibration.
    """

    SIZE = (6.0, 4.4)

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
        label: str | None = None,
        color: str | None = None,
    ) -> Self:
        """Draw from tables or paths of saved tables; with `cumulative` each is added to those before it."""
        data = convergence_of(tables, cumulative=cumulative, level=level, resamples=resamples, rng=rng)
        return cls(data).plot(ax, label=label, color=color)

    @property
    def _shows(self) -> str:
        return f"VCE by {plain_name(self.data.variation)} against the number of rows"

    def _draw(self, ax: Any, layers: Sequence[Layer[Convergence]]) -> None:
        # A logarithmic axis has no 0: such values are marked at its lower end, and their intervals reach down to it.
        known = [it[it > 0] for layer in layers for it in (layer.data.value, layer.data.noise_floor)]
        bottom = 0.3 * float(np.concatenate([*known, [1.0]]).min())
        for layer in layers:
            _draw_layer(ax, layer, bottom)
        ax.set(xscale="log", yscale="log")
        ax.set_ylim(bottom=bottom)
        ax.set_xlabel("number of rows N")
        ax.set_ylabel(f"VCE by {plain_name(layers[0].data.variation)}")
        light_grid(ax)
        place_legend(ax)


def _draw_layer(ax: Any, layer: Layer[Convergence], bottom: float) -> None:
    r = layer.data
    debiased = np.where(r.debiased > bottom, r.debiased, np.nan)
    low, high = (np.maximum(column, bottom) for column in (r.low, r.high))
    shown = {"value": r.value, "noise_floor": r.noise_floor, "debiased": debiased, "low": low, "high": high}
    draw_curves(ax, r.n_rows, shown, r.level, layer)
    none = r.n_rows[np.isnan(debiased)]
    if none.size:
        colour = PREDICTED if layer.alone else layer.colour
        look: dict[str, Any] = {"color": colour, "markerfacecolor": "white", "clip_on": False}
        words = "debiased: 0" if layer.first else None
        ax.plot(none, np.full(none.shape, bottom), "v", label=words, **look)
