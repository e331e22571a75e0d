"""Metrics computed from rows in one call: those of `trueness.old_metrics` that need no event.

VCE and RCE sum ordered probabilities and ranks alone, ECE the first of them: no more is needed for one number.
"""

from __future__ import annotations

from typing import Any

from trueness.bins import Bins
from trueness.conventions import Convention, value_by_convention
from trueness.old_metrics import (
    expected_calibration_error,
    ranked_calibration_error,
    uncertainty_calibration_error,
    variation_calibration_error,
)
from trueness.ranking import DEFAULT_TIES
from trueness.tabulation import tabulate, tabulate_in_detail
from trueness.variation import Variation

DEFAULT_BINS = 10

# These functions repeat one call on purpose: bundling the row options would hide them from `help()` (if they
# were a TypedDict) or from editors and type checkers (if a decorator made the signatures).


def vce(
    y_true: Any,
    y_prob: Any,
    *,
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    ties: str = DEFAULT_TIES,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_options: Any = None,
    soft_labels: bool = False,
    norm: str = "l1",
) -> float:
    """Variation calibration error of predictions; arguments as in `tabulate` and `variation_calibration_error`.

    Nine of ten right at (0.9, 0.1) is calibrated, five of ten is not:

    >>> round(vce([0] * 9 + [1], [[0.9, 0.1]] * 10), 6)
    0.0
    >>> round(vce([0, 1] * 5, [[0.9, 0.1]] * 10), 6)
    0.531004
    """
    table = tabulate_in_detail(
        y_true,
        y_prob,
        variation=variation,
        bins=bins,
        ties=ties,
        sample_weight=sample_weight,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
        n_options=n_options,
        soft_labels=soft_labels,
        detail="ranks",
    )
    return variation_calibration_error(table, norm=norm)


def ece(
    y_true: Any,
    y_prob: Any,
    *,
    bins: int | Bins | None = None,
    ties: str = DEFAULT_TIES,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_options: Any = None,
    soft_labels: bool = False,
    norm: str = "l1",
    convention: str | Convention | None = None,
) -> float:
    """Expected calibration error of the top class, in 10 bins over [1/C, 1]; arguments as in `tabulate`.

    The bins are over [0, 1] if rows have options of their own. `convention` names another library
    (`trueness.conventions`), whose number is returned instead, by default with its own number of bins.

    >>> round(ece([0, 1] * 5, [[0.9, 0.1]] * 10), 6)
    0.4
    """
    if convention is not None:
        own = (ties != DEFAULT_TIES, sample_weight is not None, n_options is not None)
        rows = (y_true, y_prob, from_logits, normalize, classes)
        return value_by_convention(convention, "ece", own, rows, bins=bins, norm=norm)
    table = tabulate_in_detail(
        y_true,
        y_prob,
        variation="confidence",
        bins=DEFAULT_BINS if bins is None else bins,
        ties=ties,
        sample_weight=sample_weight,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
        n_options=n_options,
        soft_labels=soft_labels,
        detail="first",
    )
    return expected_calibration_error(table, norm=norm)


def uce(
    y_true: Any,
    y_prob: Any,
    *,
    bins: int | Bins | None = None,
    ties: str = DEFAULT_TIES,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_options: Any = None,
    soft_labels: bool = False,
    norm: str = "l1",
    convention: str | Convention | None = None,
) -> float:
    """Uncertainty calibration error; arguments as in `ece`. Not zero for a calibrated model:

    >>> round(uce([0] * 9 + [1], [[0.9, 0.1]] * 10), 6)
    0.368996
    """
    if convention is not None:
        own = (ties != DEFAULT_TIES, sample_weight is not None, n_options is not None)
        rows = (y_true, y_prob, from_logits, normalize, classes)
        return value_by_convention(convention, "uce", own, rows, bins=bins, norm=norm)
    table = tabulate(
        y_true,
        y_prob,
        variation="entropy",
        bins=DEFAULT_BINS if bins is None else bins,
        ties=ties,
        sample_weight=sample_weight,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
        n_options=n_options,
        soft_labels=soft_labels,
    )
    return uncertainty_calibration_error(table, norm=norm)


def rce(
    y_true: Any,
    y_prob: Any,
    *,
    distance: str = "tv",
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    ties: str = DEFAULT_TIES,
    sample_weight: Any = None,
    from_logits: bool = False,
    normalize: bool = False,
    classes: Any = None,
    n_options: Any = None,
    soft_labels: bool = False,
    norm: str = "l1",
) -> float:
    """Ranked calibration error; arguments as in `tabulate` and `ranked_calibration_error`.

    One of ten right at (0.9, 0.1): the entropies agree and VCE is 0, but the ranks are reversed.

    >>> round(rce([0] + [1] * 9, [[0.9, 0.1]] * 10), 6)
    0.8
    """
    table = tabulate_in_detail(
        y_true,
        y_prob,
        variation=variation,
        bins=bins,
        ties=ties,
        sample_weight=sample_weight,
        from_logits=from_logits,
        normalize=normalize,
        classes=classes,
        n_options=n_options,
        soft_labels=soft_labels,
        detail="ranks",
    )
    return ranked_calibration_error(table, distance, norm=norm)
