"""Pictures of the log-score: cumulated over the bins of V, and by predicted class."""

import math

from trueness._printing import plural
from trueness.plots.cumulative.data import (
    CumulativeScore,
    PredictedClasses,
    cumulative_score_of,
    predicted_classes_of,
)
from trueness.plots.cumulative.display import CumulativeScoreDisplay, PredictedClassDisplay
from trueness.plots.cumulative.svg import cumulative_chart, predicted_class_chart
from trueness.plots.picture import BINS, PREDICTED_CLASSES, Numbers, Picture

__all__ = [
    "CumulativeScore",
    "CumulativeScoreDisplay",
    "PredictedClassDisplay",
    "PredictedClasses",
    "cumulative_chart",
    "cumulative_score_of",
    "predicted_class_chart",
    "predicted_classes_of",
]


def _caption(r: CumulativeScore) -> str:
    return (
        "Bars: the log-score of each bin, in standard deviations; below 0 (orange) the model is over-confident there, "
        "above 0 (blue) under-confident. Line: the same, added up from the left. The line of a calibrated model stays "
        f"in the grey band in {100 * r.level:g} % of samples; one that falls and rises again is over-confident in one "
        "range and under-confident in another."
    )


def _predicted_caption(r: PredictedClasses) -> str:
    more = f" {plural(r.n_left_out, 'more class', 'more classes')} not shown." if r.n_left_out else ""
    return (
        "The rows in which each class has the largest probability. Left of 0 (orange) the model is over-confident "
        "where it predicts this class, right of 0 (blue) under-confident. Grey: where noise alone would put "
        f"{100 * r.level:g} % of the bars. Bold: significant after the correction for their number.{more}"
    )


def _predicted_numbers(r: PredictedClasses) -> Numbers:
    lines = [
        [
            bar.name,
            f"{bar.rows:,.6g}",
            *(f"{value:+.2f}".replace("-", "−") for value in (bar.z, bar.corrected)),
            f"{bar.adjusted_p_value:.2g}",
        ]
        for bar in r.bars
    ]
    heads = ["predicted class", "rows", "Z", "Z, corrected for rare misses", "adjusted p"]
    return Numbers("Predicted classes", heads, lines)


SCORE = Picture(
    key="cumulative-score",
    title="Log-score over the bins",
    caption=_caption,
    section=BINS,
    data=cumulative_score_of,
    svg=cumulative_chart,
    display=CumulativeScoreDisplay,
    applies=lambda result: (
        result.cumulative_log_score is not None and not math.isnan(result.cumulative_log_score.value)
    ),
)
BY_PREDICTED_CLASS = Picture(
    key="predicted-classes",
    title="Log-score by predicted class",
    caption=_predicted_caption,
    section=PREDICTED_CLASSES,
    data=predicted_classes_of,
    svg=predicted_class_chart,
    display=PredictedClassDisplay,
    applies=lambda result: (
        result.by_predicted_class is not None and not math.isnan(result.by_predicted_class.value)
    ),
    numbers=_predicted_numbers,
    wide=True,
)

PICTURES = (SCORE, BY_PREDICTED_CLASS)
