"""`assess_top`: the calibration of rows that list the k largest probabilities of many classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trueness._arguments import whole_number
from trueness._progress import Progress, progress_callback
from trueness._random import Seed
from trueness.assessment._assess import assess_rows
from trueness.assessment._result import Assessment
from trueness.assessment._settings import MIN_GROUP_SIZE, Settings
from trueness.bins import Bins
from trueness.rows.clusters import clusters_given
from trueness.rows.top_lists import rows_of_lists
from trueness.table import TablePlan
from trueness.tabulation import top_specs
from trueness.variation import Variation


def assess_top(
    rank: Any,
    prob: Any,
    *,
    n_classes: int | None,
    variation: str | Variation = "entropy",
    bins: int | Bins = 10,
    confidence_bins: int | Bins | None = None,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    p_resolution: float | None = None,
    rng: Seed = 0,
    groups: Any = None,
    min_group_size: int = MIN_GROUP_SIZE,
    clusters: Any = None,
    ties: str = "split",
    sample_weight: Any = None,
    progress: Progress | bool | None = None,
) -> Assessment:
    """Assess predictions of which the k largest probabilities are known, such as the best tokens of a language model.

    Rows are as in `tabulate_top`, all other arguments as in `assess`. A row is read as even beyond its list. P-values
    are as valid as those of complete rows: the true class is at rank 1 to k, or beyond, as often as the means of these
    k + 1 cells say if the model is calibrated, whatever the tails are. `Assessment.tail_bounds` says what the unknown
    tails could make of the plug-in values.

    Without `n_classes` there is no entropy: pass `variation="confidence"`; VCE and the log-score are then not reported.

    Examples
    --------
    >>> import numpy as np
    >>> import trueness as tn
    >>> y_true, y_prob = tn.simulate.calibrated(3000, [0.2] * 50, rng=0)
    >>> order = np.argsort(-y_prob, axis=1)
    >>> prob = np.take_along_axis(y_prob, order, axis=1)[:, :5]
    >>> rank = np.minimum(np.argmax(order == y_true[:, None], axis=1), 5)
    >>> result = tn.assess_top(rank, prob, n_classes=50)
    >>> result.top_k, result.verdict.kind
    (5, 'none')
    >>> low, high = result.tail_bounds.vce
    >>> low <= result.vce.value <= high
    True
    """
    settings = Settings.of(level, resamples, rng, tolerance, p_resolution)
    min_group_size = whole_number("min_group_size", min_group_size, 1)
    rows = rows_of_lists(rank, prob, n_classes, sample_weight)
    plan = TablePlan.of(variation, bins, confidence_bins, ties, top_k=rows.n_classes - 1)
    return assess_rows(
        rows,
        top_specs(rows, plan, n_classes),
        settings,
        found=clusters_given(clusters, rows.n_rows, rows.index),
        groups=groups,
        min_group_size=min_group_size,
        progress=progress_callback(progress),
    )
