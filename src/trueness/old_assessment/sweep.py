"""How VCE, or the ECE of classes and events, depends on the number of bins, from one table on a fine grid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness._arguments import require_choice, whole_number
from trueness._arrays import FloatArray, IntArray
from trueness._random import Seed
from trueness._version import __version__
from trueness.bins import Bins, EqualMass, EqualWidth
from trueness.event_metrics import class_gap
from trueness.old_assessment._settings import Settings
from trueness.old_assessment._to_json import SCHEMA, plain
from trueness.old_inference.classwise.errors import classwise_errors, stream_of
from trueness.old_inference.estimates import ResampledTable, net_gap, variation_error
from trueness.old_inference.events.of_table import event_bins
from trueness.old_table import AnyRankTable, EventTable, require_rank_table
from trueness.refusals import InvalidValueError

if TYPE_CHECKING:
    from trueness.plots import SweepDisplay

KINDS = ("mass", "width")
NUMBERS, EVENT_NUMBERS = (5, 10, 20, 40, 80), (5, 10, 15, 20, 30, 60)
_CLASSWISE = "classwise ECE"
_STREAM = 7


@dataclass(frozen=True, slots=True, eq=False)
class BinSweep:
    """A metric against the number of bins, with its noise: arrays with one entry for each number of bins."""

    n_bins: IntArray
    """Numbers of bins that hold rows; with ties there may be fewer than requested."""
    value: FloatArray
    noise_floor: FloatArray
    p_value: FloatArray
    """The centred p-value of VCE; of classes and events the p-value."""
    debiased: FloatArray
    low: FloatArray
    """The lower end of the interval of the debiased value."""
    high: FloatArray
    """The upper end."""
    net: FloatArray
    """The debiased net gap; of an event (expected - observed)/rows, of classes the class gap."""
    smallest_share: FloatArray
    """The share of rows in the smallest filled bin."""
    largest_share: FloatArray
    """The share of rows in the largest bin."""
    bins_of_equal: str
    """"mass" or "width"."""
    variation: str
    """The measure of the bins; "probability" of classes and events."""
    level: float
    resamples: int
    seed: int
    metric: str = "VCE"
    """"VCE", "classwise ECE", or the ECE of an event."""

    @property
    def _gap_label(self) -> str:
        if self.metric == "VCE":
            return "net gap"
        return "class gap" if self.metric == _CLASSWISE else "gap"

    def __str__(self) -> str:
        interval = f"{100 * self.level:g} % interval"
        head = (
            f"{self.metric}, bins of equal {self.bins_of_equal} by {self.variation}; {self.resamples} resamples, "
            f"seed {self.seed}"
        )
        heads = f"{'bins':>6}{'plug-in':>9}{'noise':>9}{'p':>8}{'debiased':>10}"
        titles = f"{heads}  {interval:18}{self._gap_label:>9}  bin sizes"
        lines = [
            f"{self.n_bins[k]:6d}{self.value[k]:9.4f}{self.noise_floor[k]:9.4f}{self.p_value[k]:8.3f}"
            f"{self.debiased[k]:10.4f}  [{self.low[k]:.4f}, {self.high[k]:.4f}]  {self.net[k]:+9.4f}  "
            f"{100 * self.smallest_share[k]:.2g} to {100 * self.largest_share[k]:.2g} %"
            for k in range(len(self.n_bins))
        ]
        return "\n".join([head, titles, *lines])

    __repr__ = __str__

    def plot(self, ax: Any = None, *, label: str | None = None, color: str | None = None) -> SweepDisplay:
        """Draw the metric and its noise floor against the number of bins (extra `plots`)."""
        from trueness.plots import SweepDisplay

        return SweepDisplay.from_sweep(self, ax=ax, label=label, color=color)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings."""
        numbers = {field.name: plain(getattr(self, field.name)) for field in fields(self)}
        return {"schema": SCHEMA, "kind": "bin-sweep", "trueness": __version__, **numbers}


def sweep_bins(
    table: AnyRankTable | EventTable,
    n_bins: Sequence[int] | None = None,
    *,
    kind: str = "mass",
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = 0,
) -> BinSweep:
    """Compute a calibration error and its noise floor for several numbers of bins, from one table on a fine grid.

    Parameters
    ----------
    table : CalibrationTable, OptionTables or EventTable
        For VCE a table with many narrow bins, such as tabulate(..., bins=EqualWidth(4000)) returns. For classwise ECE
        a table of all classes, and for the ECE of an event a table of one event, such as tabulate_events returns.
    n_bins : list of int
        The numbers of bins; for bins of equal width, each must divide that of the grid (60 for classes and events). By
        default 5, 10, 20, 40 and 80, for classes and events 5, 10, 15, 20, 30 and 60.
    kind : "mass" or "width"
        Whether the bins have equal numbers of rows, or equal widths. For classes each class has its own.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(5000, [1, 1, 1], rng=0)
    >>> sweep = tn.sweep_bins(tn.tabulate(y_true, y_prob, bins=tn.EqualWidth(4000)), [5, 20], rng=0)
    >>> bool(sweep.value[1] > sweep.value[0]), bool(sweep.p_value.min() > 0.05)
    (True, True)
    >>> tn.sweep_bins(tn.tabulate_events(y_true, y_prob), [10, 15], kind="width").metric
    'classwise ECE'
    """
    require_choice("kind", kind, KINDS)
    settings = Settings.of(level, resamples, rng)
    if isinstance(table, EventTable):
        return _sweep_of_events(table, n_bins, kind, settings)
    require_rank_table("table", table)
    points = [
        _point(table.coarsen(bins), settings)
        for bins in _bins(NUMBERS if n_bins is None else n_bins, kind, table.n_bins)
    ]
    return _sweep(points, kind, table.spec.variation.name, settings, "VCE")


def _sweep_of_events(
    table: EventTable, n_bins: Sequence[int] | None, kind: str, settings: Settings
) -> BinSweep:
    if len(table.events) > 1 and not table.spec.is_by_class:
        cause = f"the table has {len(table.events)} events"
        remedy = "select one with table.select(event), or pass a table of all classes"
        raise InvalidValueError("several-events", cause, remedy, argument="table")
    chosen = _bins(EVENT_NUMBERS if n_bins is None else n_bins, kind, table.grid.n_cells)
    points = [_event_point(table, bins, settings) for bins in chosen]
    return _sweep(points, kind, "probability", settings, _metric_of(table))


def _bins(numbers: Sequence[int], kind: str, most: int) -> list[Bins]:
    """The bins of each number."""
    checked = [whole_number("n_bins", number, 1, most) for number in numbers]
    if not checked:
        cause = "n_bins must hold at least one number of bins"
        raise InvalidValueError("bad-argument", cause, argument="n_bins")
    return [EqualMass(number) if kind == "mass" else EqualWidth(number) for number in checked]


def _sweep(
    points: Sequence[dict[str, float]], kind: str, variation: str, settings: Settings, metric: str
) -> BinSweep:
    columns: dict[str, Any] = {name: np.array([point[name] for point in points]) for name in points[0]}
    return BinSweep(
        **columns,
        bins_of_equal=kind,
        variation=variation,
        level=settings.level,
        resamples=settings.resamples,
        seed=settings.seed,
        metric=metric,
    )


def _metric_of(table: EventTable) -> str:
    if len(table.events) > 1:
        return _CLASSWISE
    (event,) = table.events
    return "ECE of the top label" if event == "top" else f"ECE of class {table.spec.name_of(event)}"


def _event_point(table: EventTable, bins: Bins, settings: Settings) -> dict[str, float]:
    """The entries of the sweep of classes or of an event for one kind and number of bins."""
    cells = event_bins(table, bins)
    streams = [stream_of(settings.seed, k, None) for k in range(len(cells))]
    error = classwise_errors(cells, settings.level, settings.resamples, streams).mean
    assert error.interval is not None
    shares = np.concatenate([each.count / each.total for each in cells])
    (gap, *others) = (table.expected_total - table.observed_total) / table.count[0].sum()
    return {
        "n_bins": max(len(each.count) for each in cells),
        "value": error.value,
        "noise_floor": error.noise_floor,
        "p_value": error.p_value,
        "debiased": error.debiased,
        "low": error.interval.low,
        "high": error.interval.high,
        "net": class_gap(table) if others else float(gap),
        "smallest_share": float(shares.min()),
        "largest_share": float(shares.max()),
    }


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
