"""Single classes: how often each was predicted and observed, and whether it is too extreme."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trueness.arguments import Settings
from trueness.exact_sums import FloatArray
from trueness.formatting import counted, visible
from trueness.inference.binomial import CERTAIN
from trueness.inference.calibration_tests import class_roots, holm
from trueness.inference.distributions import two_sided
from trueness.inference.estimates import Estimate, class_gaps, class_slopes
from trueness.inference.sample import Events, Sample
from trueness.listing import Listing, plain

MOST_SHOWN = 20
"""Classes that a printed list shows."""


@dataclass(frozen=True, slots=True)
class ClassResult:
    """One class as an event: is it observed as often as its probability says?"""

    name: str
    expected: float
    """The number of rows that its probabilities add up to."""
    observed: float
    """The number of rows of the class; sums of weights if rows have weights."""
    gap: Estimate
    """(Expected - observed)/N: above 0 if it is predicted more often than it comes true."""
    slope: Estimate
    """How its log-odds must be stretched: below 1 they are too extreme, above 1 not enough."""
    p_value: float | None
    """Of frequency and slope together, corrected for the number of classes by Holm's method."""
    fault: str
    """ "frequency", "slope", or "" if no error is found."""
    is_extreme: bool
    """Whether its probabilities are too near to 0 and 1, if they have an error of that kind."""
    size: float
    """The error as a share of the rows."""

    @property
    def words(self) -> str:
        """What is wrong with the class; empty if no error is found."""
        if self.fault == "frequency":
            return f"{'over' if self.expected > self.observed else 'under'}-predicted"
        if self.fault == "slope":
            return "too extreme" if self.is_extreme else "not extreme enough"
        return ""


@dataclass(frozen=True, slots=True)
class ClassResults:
    """All classes, in order; of two classes only the second, since the first mirrors it."""

    classes: tuple[ClassResult, ...]

    def __iter__(self) -> Iterator[ClassResult]:
        return iter(self.classes)

    def __len__(self) -> int:
        return len(self.classes)

    def __getitem__(self, key: int | str) -> ClassResult:
        if isinstance(key, str):
            return next(it for it in self.classes if it.name == key)
        return self.classes[key]

    @property
    def wrong(self) -> tuple[ClassResult, ...]:
        """The classes in which an error is found, the largest error first."""
        return tuple(sorted((it for it in self if it.fault), key=lambda it: -it.size))

    def listing(self) -> Listing:
        """One row for each class, with its intervals."""
        return Listing.of([_cells(it) for it in self])

    def __str__(self) -> str:
        if not self.wrong:
            return f"No error is found in {counted(len(self), 'class', 'classes')}."
        lines = ClassResults(self.wrong[:MOST_SHOWN]).listing().lines()
        if (more := len(self.wrong) - MOST_SHOWN) > 0:
            lines.append(f"… and {counted(more, 'more class', 'more classes')}")
        return "\n".join(lines)

    __repr__ = __str__

    def to_dict(self) -> list[dict[str, object]]:
        """Each class as plain numbers and strings."""
        return [{**plain(it), "words": it.words} for it in self]


def _cells(it: ClassResult) -> dict[str, object]:
    found: dict[str, object] = {"class": it.name, "expected": it.expected, "observed": it.observed}
    for name, each in (("gap", it.gap), ("slope", it.slope)):
        found |= {name: each.value, f"{name}_low": each.low, f"{name}_high": each.high}
    return found | {"p_value": it.p_value, "finding": it.words or it.slope.reason or ""}


def class_results(sample: Sample, settings: Settings) -> ClassResults | None:
    """All classes of a sample; None if the table has none."""
    roots, events = class_roots(sample), sample.classes
    if roots is None or events is None:
        return None
    gaps, slopes = class_gaps(sample, settings.level), class_slopes(sample, settings.level)
    z = np.abs(np.nan_to_num(np.stack([roots.frequency, roots.slope])))
    corrected = holm(np.minimum(2 * two_sided(z.max(axis=0)), 1.0).tolist())
    sizes, can_tell = _sizes(events, slopes), sample.without_p_value() is None
    made = []
    for k, (gap, slope) in enumerate(zip(gaps, slopes, strict=True)):
        apart, spread = abs(gap.value or 0.0), float(sizes[k]) / sample.totals.mass
        fault = "frequency" if z[0, k] >= z[1, k] else "slope"
        found = can_tell and corrected[k] <= settings.largest_p
        is_extreme = float(roots.slope[k]) < 0
        if slope.value is not None and slope.low is not None:
            is_extreme = slope.value < 1
        made.append(
            ClassResult(
                name=visible(sample.class_names[sample.class_index[k]]),
                expected=float(events.predicted[k].sum()),
                observed=float(events.observed[k].sum()),
                gap=gap,
                slope=slope,
                p_value=corrected[k] if can_tell else None,
                fault=fault if found else "",
                is_extreme=is_extreme,
                size=max(apart, spread),
            )
        )
    return ClassResults(tuple(made))


def _sizes(events: Events, slopes: tuple[Estimate, ...]) -> FloatArray:
    """Σ|p - p'|, where p' is what its slope makes of the probability of a class, (K,).

    Log-odds are stretched about their mean, so that the frequency stays nearly what it is.
    """
    n, p = events.rows, np.clip(events.mean, CERTAIN, 1 - CERTAIN)
    x, v = np.log(p) - np.log1p(-p), n * p * (1 - p)
    centre = (v * x).sum(axis=1) / np.maximum(v.sum(axis=1), 1e-300)
    b = np.array([1.0 if it.value is None else it.value for it in slopes])[:, None]
    at = centre[:, None] + b * (x - centre[:, None])
    fitted = 1 / (1 + np.exp(-np.clip(at, -500, 500)))
    return np.asarray((n * np.abs(p - fitted)).sum(axis=1))
