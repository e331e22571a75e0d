"""The picture of the log-score by predicted class."""

import math

from trueness._printing import plural
from trueness.plots.cumulative.data import PredictedClasses, predicted_classes_of
from trueness.plots.cumulative.display import PredictedClassDisplay
from trueness.plots.cumulative.svg import predicted_class_chart
from trueness.plots.picture import PREDICTED_CLASSES, Numbers, Picture

__all__ = [
    "PredictedClassDisplay",
    "PredictedClasses",
    "predicted_class_chart",
    "predicted_classes_of",
]


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

PICTURES = (BY_PREDICTED_CLASS,)
