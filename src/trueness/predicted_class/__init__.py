"""Rows by the class they predict: VCE and RCE within predicted classes, and the expected confusion matrix."""

from trueness.predicted_class.conditional_errors import (
    ClassConditionalErrors,
    PooledCell,
    class_conditional_errors,
)
from trueness.predicted_class.confusion import ConfusionTable, tabulate_confusion
from trueness.predicted_class.tables import PredictedClassTables, tabulate_by_predicted_class

__all__ = [
    "ClassConditionalErrors",
    "ConfusionTable",
    "PooledCell",
    "PredictedClassTables",
    "class_conditional_errors",
    "tabulate_by_predicted_class",
    "tabulate_confusion",
]
