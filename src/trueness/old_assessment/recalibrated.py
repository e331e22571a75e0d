"""Before and after a recalibration: the change of calibration, and its price in log-loss."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness._arguments import require_choice
from trueness._arrays import FloatArray, IntArray
from trueness._printing import p_sentence, rows_text
from trueness._random import Seed
from trueness.bins import Bins
from trueness.decompositions import temperature_profile
from trueness.old_assessment._comparison_result import Comparison
from trueness.old_assessment._flat import Flat
from trueness.old_assessment._settings import Settings
from trueness.old_assessment._to_json import plain
from trueness.old_assessment.comparison import compare
from trueness.old_inference.normal import normal_quantile
from trueness.old_inference.results import Interval
from trueness.recalibration import Temperature, scale_by_temperature, variation_temperature
from trueness.refusals import InvalidValueError
from trueness.rows import Rows
from trueness.rows.clusters import clusters_of_rows
from trueness.tabulation import tabulate
from trueness.variation import Variation

if TYPE_CHECKING:
    from trueness.plots import ReliabilityDisplay

METHODS = ("variation", "likelihood")
BEFORE, AFTER = "before", "after"
_STREAM = 13
LEAST_ROWS = 2
"""Rows, or clusters, in each part."""


@dataclass(frozen=True, slots=True)
class ScoreChange:
    """The change of the log-loss, after less before, on the same rows."""

    before: float
    after: float
    difference: float
    """After less before: below 0 the recalibration gained."""
    interval: Interval
    """Normal, from the differences of the rows, or of the clusters."""
    p_value: float
    """NaN with fewer than two rows or clusters, as the ends of the interval are."""
    left_out: int
    """Rows whose true class had probability 0 before or after: the other numbers are without them."""


@dataclass(frozen=True, slots=True, eq=False)
class Recalibration(Flat):
    """Probabilities before and after a recalibration, returned by `compare_recalibration`."""

    comparison: Comparison
    """Of "before" and "after", on the rows on which nothing was fitted."""
    log_loss: ScoreChange
    temperature: Temperature | None = None
    """The temperature that was fitted; None if the probabilities after were passed."""
    n_fitted: int = 0
    """The rows on which it was fitted; they are not among those that are compared."""

    @property
    def verdict(self) -> str:
        """What the recalibration changed, and at which price."""
        return f"{self.comparison.verdict}\n{self._price}"

    @property
    def _price(self) -> str:
        """The change of the log-loss as a sentence."""
        change = self.log_loss
        if math.isnan(change.p_value):
            return "the change of the log-loss is unknown: it needs two rows or clusters whose log-loss is finite"
        low, high = change.interval.low, change.interval.high
        word = "falls" if high < 0 else ("rises" if low > 0 else "does not change clearly")
        return (
            f"the log-loss {word}: {change.before:.4f} before, {change.after:.4f} after, {change.difference:+.4f} "
            f"[{low:+.4f}, {high:+.4f}], {p_sentence(change.p_value)}"
        )

    def __str__(self) -> str:
        rows = rows_text(next(iter(self.comparison.assessments.values())).n_rows)
        lines = [f"compared on {rows}"]
        if self.temperature is not None:
            error = f"{self.temperature.standard_error:.3f}"
            fitted = f"temperature {self.temperature.value:.3f} (standard error {error}) fitted on other rows"
            lines = [f"{fitted}: {self.n_fitted}; {lines[0]}"]
        left_out = [f"log-loss without {self.log_loss.left_out} rows whose true class had probability 0"]
        return "\n".join(
            [
                *lines,
                *(left_out if self.log_loss.left_out else []),
                "",
                str(self.comparison),
                "",
                self._price,
            ]
        )

    __repr__ = __str__

    def plot(self, ax: Any = None, *, metric: str = "vce") -> ReliabilityDisplay:
        """Draw the reliability diagrams before and after over one another (extra `plots`)."""
        return self.comparison.plot_models(ax, metric=metric)

    def write_html(
        self, path: str | os.PathLike[str], *, title: str | None = None, made_by: str | None = None
    ) -> None:
        """Write the report of the comparison; see `Comparison.write_html`."""
        self.comparison.write_html(path, title=title or "Before and after recalibration", made_by=made_by)

    def _repr_html_(self) -> str:
        """The comparison as a notebook displays it."""
        return self.comparison._repr_html_()

    def _numbers(self) -> dict[str, Any]:
        change = plain(self.log_loss)
        return {
            "change_of_log_loss": {"value": change.pop("difference"), **change},
            "temperature": self.temperature,
            "n_fitted": self.n_fitted,
        }

    def _parts(self) -> dict[str, dict[str, dict[str, float]]]:
        return self.comparison._parts()

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings."""
        return self.comparison.to_dict() | {
            "kind": "recalibration",
            "verdict": self.verdict,
            "change_of_log_loss": plain(self.log_loss),
            "temperature": plain(self.temperature),
            "n_fitted": self.n_fitted,
        }


def compare_recalibration(
    y_true: Any,
    before: Any,
    after: Any = None,
    *,
    method: str = "variation",
    calibration_share: float = 0.5,
    clusters: Any = None,
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    confidence_bins: int | Bins | None = None,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    rng: Seed = 0,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
) -> Recalibration:
    """Compare probabilities before and after a recalibration, on rows on which nothing was fitted.

    Parameters
    ----------
    y_true, before
        Rows as in `assess`.
    after : predictions, optional
        The recalibrated predictions of the same rows, by a recalibration that was fitted on other rows. If left out,
        the rows are divided at random (clusters stay together): a temperature is fitted on one part, and the other
        part is compared before and after.
    method : {"variation", "likelihood"}
        The temperature at which the predicted variation equals the observed one (`trueness.recalibration`), or that of
        the largest likelihood, the usual temperature scaling.
    calibration_share : float
        The share of the rows, or clusters, on which the temperature is fitted.
    clusters, variation, bins, confidence_bins, level, tolerance, resamples, rng, from_logits, normalize, classes
        As in `compare`. `rng` also divides the rows.

    Examples
    --------
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(4000, [1, 1, 1], rng=0)
    >>> found = tn.compare_recalibration(y_true, tn.simulate.sharpen(y_prob, 1.6), resamples=199)
    >>> round(found.temperature.value, 1), found.comparison.verdicts[0].better
    (1.7, 'after')
    >>> found.log_loss.difference < 0
    True
    """
    require_choice("method", method, METHODS)
    _refuse_share(calibration_share)
    how: dict[str, Any] = {"from_logits": from_logits, "normalize": normalize, "classes": classes}
    rows, p, labels = _checked(y_true, before, how)
    units = None if clusters is None else clusters_of_rows(clusters, rows.n_rows, rows.index).codes
    settings = Settings.of(level, resamples, rng, tolerance)
    kept = np.arange(rows.n_rows)
    temperature = None
    if after is None:
        fitted, kept = _halves(rows.n_rows, units, calibration_share, settings.seed)
        temperature = _fit(labels[fitted], p[fitted], method, variation)
        later = scale_by_temperature(p[kept], temperature.value)
    else:
        _, later, _ = _checked(y_true, after, how)
    earlier, truth, names = p[kept], labels[kept], rows.class_names
    comparison = compare(
        truth if names is None else np.array(names, dtype=object)[truth],
        {BEFORE: earlier, AFTER: later},
        variation=variation,
        bins=bins,
        confidence_bins=confidence_bins,
        level=level,
        tolerance=tolerance,
        resamples=resamples,
        rng=rng,
        clusters=None if units is None else units[kept],
        classes=None if names is None else list(names),
    )
    change = change_of_log_loss(truth, earlier, later, level, None if units is None else units[kept])
    return Recalibration(comparison, change, temperature, rows.n_rows - len(kept))


def _checked(y_true: Any, y_prob: Any, how: Mapping[str, Any]) -> tuple[Rows, FloatArray, IntArray]:
    """The rows, their probabilities, (rows, classes), and the index of their true classes; refused if one is bad."""
    rows = Rows.of(y_true, y_prob, **how)
    tabulate(y_true, y_prob, bins=1, **how)  # checks every row, with its number among all
    assert rows.labels is not None
    spans = list(rows.spans())
    p = np.concatenate([rows.block(start, stop).astype(np.float64) for start, stop in spans])
    return rows, p, np.concatenate([np.array(rows.labels.block(start, stop)) for start, stop in spans])


def _refuse_share(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
        cause = f"calibration_share must be a number between 0 and 1, such as 0.5, got {value!r}"
        raise InvalidValueError("bad-argument", cause, argument="calibration_share", value=value)


def _halves(n_rows: int, units: IntArray | None, share: float, seed: int) -> tuple[IntArray, IntArray]:
    """The rows on which the temperature is fitted, and the others, in their order; a cluster is in one part."""
    codes = np.arange(n_rows) if units is None else units
    names = np.unique(codes)
    n_fitted = round(share * len(names))
    if min(n_fitted, len(names) - n_fitted) < LEAST_ROWS:
        unit = "rows" if units is None else "clusters"
        raise InvalidValueError(
            "too-few-rows",
            f"{len(names)} {unit} are too few to be divided by calibration_share={share}: each "
            f"part needs at least {LEAST_ROWS}",
            "pass more rows, or the probabilities after",
            argument="calibration_share",
            value=share,
        )
    order = np.random.default_rng([seed, _STREAM]).permutation(names)
    chosen = np.isin(codes, order[:n_fitted])
    return np.flatnonzero(chosen), np.flatnonzero(~chosen)


def _fit(labels: IntArray, p: FloatArray, method: str, variation: str | Variation) -> Temperature:
    if method == "variation":
        return variation_temperature(labels, p, variation=variation)
    fit = temperature_profile(labels, p).fit()
    # T = 1/a, so that its relative error is that of a.
    return Temperature(fit.temperature, fit.standard_error * fit.temperature**2)


def change_of_log_loss(
    labels: IntArray, before: FloatArray, after: FloatArray, level: float, units: IntArray | None
) -> ScoreChange:
    """The mean of ln p_before - ln p_after of the true class, with a normal interval from rows or clusters.

    The variance of the mean is Σ_g(Σ_i∈g (d_i - d̄))²·G/(G - 1)/N² over the G clusters; rows are clusters of one.
    """
    place = np.arange(len(labels))
    first, second = before[place, labels], after[place, labels]
    known = (first > 0) & (second > 0)
    losses = [-np.log(it[known]) for it in (first, second)]
    difference = losses[1] - losses[0]
    mean = float(difference.mean()) if known.any() else math.nan
    codes = place[known] if units is None else units[known]
    sums = np.bincount(np.unique(codes, return_inverse=True)[1], difference - mean)
    error, n_units = math.nan, len(sums)
    if n_units > 1:
        error = math.sqrt(float(sums @ sums) * n_units / (n_units - 1)) / len(difference)
    reach = normal_quantile(level) * error
    p_value = float(mean == 0) if error == 0 else math.erfc(abs(mean) / error / math.sqrt(2))
    return ScoreChange(
        before=float(losses[0].mean()) if known.any() else math.nan,
        after=float(losses[1].mean()) if known.any() else math.nan,
        difference=mean,
        interval=Interval(mean - reach, mean + reach, level, "normal"),
        p_value=p_value,
        left_out=int(np.count_nonzero(~known)),
    )
