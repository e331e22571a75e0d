"""The p-values of all tests of the same rows: those of ranks, of the log-score and of classes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import trueness as tn
from trueness.inference.corrections import benjamini_hochberg

TESTS = (
    "VCE, centred",
    "net gap",
    "ECE",
    "RCE",
    "RCE W1",
    "log-score",
    "cumulative log-score",
    "log-score by predicted class",
    "classes, BH",
    "log-score Z, normal",
    "class gap, BH",
    "class spread, BH",
    "classwise ECE",
    "verdict",
)
"""In the order of the columns of `p_values`; the first nine are the evidence. RCE W1 is NaN for two classes, where it
equals RCE."""


def p_values(y_true: np.ndarray, y_prob: np.ndarray, bins: Any, resamples: int, seed: int) -> list[float]:
    """The p-value of each of `TESTS`, as `assess` gives it."""
    result = tn.assess(y_true, y_prob, bins=bins, resamples=resamples, rng=seed)
    classes, q, cumulated = result.classes, result.by_predicted_class, result.cumulative_log_score
    assert result.ece is not None
    assert classes is not None
    assert q is not None
    assert cumulated is not None
    return [
        result.vce.centred_p_value,
        result.net.centred_p_value,
        result.ece.p_value,
        result.rce.p_value,
        result.rce_w1.p_value if y_prob.shape[1] > 2 else math.nan,
        result.log_score_z.safe_p_value,
        cumulated.safe_p_value,
        q.safe_p_value,
        classes.evidence_p_value,
        result.log_score_z.p_value,
        _smallest([each.gap.p_value for each in classes.classes]),
        _smallest([each.spread.p_value for each in classes.classes]),
        classes.mean.p_value,
        result.p_value,
    ]


def _smallest(p: list[float]) -> float:
    return min(benjamini_hochberg([each for each in p if not math.isnan(each)]), default=math.nan)
