"""How VCE depends on the number of bins, from one table on a fine grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness._arguments import require_choice, whole_number
from trueness._arrays import FloatArray, IntArray
from trueness._random import Seed
from trueness._version import __version__
from trueness.assessment._settings import Settings
from trueness.assessment._to_json import SCHEMA, plain
from trueness.bins import EqualMass, EqualWidth
from trueness.inference.estimates import ResampledTable, net_gap, variation_error
from trueness.refusals import InvalidValueError
from trueness.table import AnyRankTable, require_rank_table

if TYPE_CHECKING:
    from trueness.plots import SweepDisplay

KINDS = ("mass", "width")
_STREAM = 7


@dataclass(frozen=True, slots=True, eq=False)
class BinSweep:
    """VCE against the number of bins, with its noise: arrays with one entry for each number of bins."""

    n_bins: IntArray
    """Numbers of bins that hold rows; with ties there may be fewer than requested."""
    value: FloatArray
    noise_floor: FloatArray
    p_value: FloatArray
    """The centred p-value of VCE."""
    debiased: FloatArray
    low: FloatArray
    """The lower end of the interval of the debiased value."""
    high: FloatArray
    """The upper end."""
    net: FloatArray
    """The debiased net gap."""
    smallest_share: FloatArray
    """The share of rows in the smallest filled bin."""
    largest_share: FloatArray
    """The share of rows in the largest bin."""
    bins_of_equal: str
    """"mass" or "width"."""
    variation: str
    level: float
    resamples: int
    seed: int

    def __str__(self) -> str:
        interval = f"{100 * self.level:g} % interval"
        head = f"bins of equal {self.bins_of_equal}, by {self.variation}; {self.resamples} resamples, seed {self.seed}"
        titles = f"{'bins':>6}{'VCE':>9}{'noise':>9}{'p':>8}{'debiased':>10}  {interval:18}{'net gap':>9}  bin sizes"
        lines = [
            f"{self.n_bins[k]:6d}{self.value[k]:9.4f}{self.noise_floor[k]:9.4f}{self.p_value[k]:8.3f}"
            f"{self.debiased[k]:10.4f}  [{self.low[k]:.4f}, {self.high[k]:.4f}]  {self.net[k]:+9.4f}  "
            f"{100 * self.smallest_share[k]:.2g} to {100 * self.largest_share[k]:.2g} %"
            for k in range(len(self.n_bins))
        ]
        return "\n".join([head, titles, *lines])

    __repr__ = __str__

    def plot(self, ax: Any = None) -> SweepDisplay:
        """Draw VCE and its noise floor against the number of bins (extra `plots`)."""
        from trueness.plots import SweepDisplay

        return SweepDisplay.from_sweep(self, ax=ax)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings."""
        numbers = {field.name: plain(getattr(self, field.name)) for field in fields(self)}
        return {"schema": SCHEMA, "kind": "bin-sweep", "trueness": __version__, **numbers}


def sweep_bins(
    table: AnyRankTable,
    n_bins: Sequence[int] = (5, 10, 20, 40, 80),
    *,
    kind: str = "mass",
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = 0,
) -> BinSweep:
    """Compute VCE and its noise floor for several numbers of bins, from a table on a `FineGrid`.

    Parameters
    ----------
    table : CalibrationTable or OptionTables
        A table with many narrow bins, such as tabulate(..., bins=FineGrid()) returns.
    n_bins : list of int
        The numbers of bins; for bins of equal width, each must divide that of the grid.
    kind : "mass" or "width"
        Whether the bins have equal numbers of rows, or equal widths.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(5000, [1, 1, 1], rng=0)
    >>> sweep = tn.sweep_bins(tn.tabulate(y_true, y_prob, bins=tn.FineGrid()), [5, 20], rng=0)
    >>> bool(sweep.value[1] > sweep.value[0]), bool(sweep.p_value.min() > 0.05)
    (True, True)
    """
    require_rank_table("table", table)
    require_choice("kind", kind, KINDS)
    settings = Settings.of(level, resamples, rng)
    numbers = [whole_number("n_bins", number, 1, table.n_bins) for number in n_bins]
    if not numbers:
        raise InvalidValueError(
            "bad-argument", "{argument} must hold at least one number of bins", argument="n_bins"
        )
    points = [
        _point(table.coarsen(EqualMass(number) if kind == "mass" else EqualWidth(number)), settings)
        for number in numbers
    ]
    columns: dict[str, Any] = {name: np.array([point[name] for point in points]) for name in points[0]}
    return BinSweep(
        **columns,
        bins_of_equal=kind,
        variation=table.spec.variation.name,
        level=settings.level,
        resamples=settings.resamples,
        seed=settings.seed,
    )


def _point(table: AnyRankTable, settings: Settings) -> dict[str, float]:
    """The entries of the sweep for one number of bins."""
    resampled = ResampledTable.of(table, settings.resamples, [settings.seed, _STREAM])
    vce = variation_error(resampled, settings.level, [settings.seed, _STREAM])
    shares = resampled.bins.weight
    return {
        "n_bins": len(shares),
        "value": vce.value,
        "noise_floor": vce.noise_floor,
        "p_value": vce.centred_p_value,
        "debiased": vce.debiased,
        "low": vce.interval.low,
        "high": vce.interval.high,
        "net": net_gap(resampled, settings.level).debiased,
        "smallest_share": float(shares.min()),
        "largest_share": float(shares.max()),
    }
