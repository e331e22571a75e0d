"""Measure the calibration of classifiers: whether their predicted probabilities agree with the outcomes.

Each row is sorted and assigned to a bin by its variation. Sums per bin are exact. All metrics are computed from them.

>>> import trueness as tn
>>> y_true, y_prob = tn.simulate.calibrated(1000, alpha=[1, 1, 1], rng=0)
>>> tn.vce(y_true, y_prob) < 0.1
True
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from trueness._version import __version__

if TYPE_CHECKING:
    from trueness import conventions, metrics, simplex, simulate
    from trueness.bins import Edges, EqualMass, EqualWidth
    from trueness.decompositions import (
        BrierDecomposition,
        CorpDecomposition,
        LogReliability,
        SmoothError,
        TemperatureFit,
        TemperatureProfile,
        brier_decomposition,
        brier_test,
        corp_decomposition,
        log_reliability,
        smece,
        smooth_calibration_error,
        temperature_profile,
        temperature_step,
    )
    from trueness.metrics import cwece, ece, rce, uce, vce
    from trueness.monitoring import Monitor
    from trueness.old_assessment import (
        AssessedModels,
        Assessment,
        BinSweep,
        Brier,
        Comparer,
        Comparison,
        ConventionDifference,
        EventAssessment,
        EventAssessments,
        Recalibration,
        VoteAssessment,
        assess,
        assess_event,
        assess_event_table,
        assess_many,
        assess_table,
        assess_votes,
        brier,
        compare,
        compare_convention,
        compare_recalibration,
        compare_tables,
        sweep_bins,
    )
    from trueness.old_metrics import (
        SignedParts,
        classwise_error,
        event_calibration_error,
        expected_calibration_error,
        hle_calibration_error,
        ranked_calibration_error,
        ranked_gap,
        signed_parts,
        top_label_error,
        top_label_event,
        top_label_gap,
        uncertainty_calibration_error,
        uncertainty_gap,
        variation_calibration_error,
        variation_gap,
    )
    from trueness.old_table import CalibrationTable, EventTable, OptionTables, TableSpec
    from trueness.predicted_class import (
        ClassConditionalErrors,
        ConfusionTable,
        PredictedClassTables,
        class_conditional_errors,
        tabulate_by_predicted_class,
        tabulate_confusion,
    )
    from trueness.refusals import Refusal
    from trueness.streaming import Accumulator
    from trueness.tabulation import tabulate, tabulate_events
    from trueness.variation import Variation, renyi, tsallis, variations

__all__ = [
    "vce",
    "ece",
    "uce",
    "rce",
    "cwece",
    "assess",
    "assess_table",
    "assess_many",
    "AssessedModels",
    "assess_votes",
    "VoteAssessment",
    "compare",
    "compare_convention",
    "ConventionDifference",
    "compare_recalibration",
    "Recalibration",
    "compare_tables",
    "Comparer",
    "Comparison",
    "sweep_bins",
    "BinSweep",
    "Assessment",
    "assess_event",
    "assess_event_table",
    "EventAssessment",
    "EventAssessments",
    "tabulate",
    "tabulate_events",
    "Accumulator",
    "Monitor",
    "CalibrationTable",
    "EventTable",
    "OptionTables",
    "TableSpec",
    "EqualWidth",
    "EqualMass",
    "Edges",
    "Variation",
    "variations",
    "renyi",
    "tsallis",
    "variation_calibration_error",
    "expected_calibration_error",
    "uncertainty_calibration_error",
    "ranked_calibration_error",
    "top_label_error",
    "classwise_error",
    "event_calibration_error",
    "brier",
    "Brier",
    "hle_calibration_error",
    "top_label_event",
    "variation_gap",
    "top_label_gap",
    "uncertainty_gap",
    "ranked_gap",
    "signed_parts",
    "SignedParts",
    "smece",
    "smooth_calibration_error",
    "SmoothError",
    "corp_decomposition",
    "CorpDecomposition",
    "brier_decomposition",
    "BrierDecomposition",
    "brier_test",
    "log_reliability",
    "LogReliability",
    "temperature_profile",
    "TemperatureProfile",
    "TemperatureFit",
    "temperature_step",
    "tabulate_by_predicted_class",
    "PredictedClassTables",
    "class_conditional_errors",
    "ClassConditionalErrors",
    "tabulate_confusion",
    "ConfusionTable",
    "Refusal",
    "conventions",
    "metrics",
    "simplex",
    "simulate",
    "__version__",
]

_MODULES = {
    "old_assessment": [
        "AssessedModels",
        "Assessment",
        "BinSweep",
        "Brier",
        "Comparer",
        "Comparison",
        "ConventionDifference",
        "EventAssessment",
        "EventAssessments",
        "Recalibration",
        "VoteAssessment",
        "assess",
        "assess_event",
        "assess_event_table",
        "assess_many",
        "assess_table",
        "assess_votes",
        "brier",
        "compare",
        "compare_convention",
        "compare_recalibration",
        "compare_tables",
        "sweep_bins",
    ],
    "bins": ["Edges", "EqualMass", "EqualWidth"],
    "decompositions": [
        "BrierDecomposition",
        "CorpDecomposition",
        "LogReliability",
        "SmoothError",
        "TemperatureFit",
        "TemperatureProfile",
        "brier_decomposition",
        "brier_test",
        "corp_decomposition",
        "log_reliability",
        "smece",
        "smooth_calibration_error",
        "temperature_profile",
        "temperature_step",
    ],
    "old_metrics": [
        "SignedParts",
        "classwise_error",
        "event_calibration_error",
        "expected_calibration_error",
        "hle_calibration_error",
        "ranked_calibration_error",
        "ranked_gap",
        "signed_parts",
        "top_label_error",
        "top_label_event",
        "top_label_gap",
        "uncertainty_calibration_error",
        "uncertainty_gap",
        "variation_calibration_error",
        "variation_gap",
    ],
    "metrics": ["cwece", "ece", "rce", "uce", "vce"],
    "monitoring": ["Monitor"],
    "predicted_class": [
        "ClassConditionalErrors",
        "ConfusionTable",
        "PredictedClassTables",
        "class_conditional_errors",
        "tabulate_by_predicted_class",
        "tabulate_confusion",
    ],
    "refusals": ["Refusal"],
    "streaming": ["Accumulator"],
    "old_table": ["CalibrationTable", "EventTable", "OptionTables", "TableSpec"],
    "tabulation": ["tabulate", "tabulate_events"],
    "variation": ["Variation", "renyi", "tsallis", "variations"],
}
"""The modules that define the public names; imported on first use, so that `trueness --help` does not load NumPy."""

_PUBLIC_MODULES = ("conventions", "metrics", "simplex", "simulate")

_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _PUBLIC_MODULES:
        return import_module(f"trueness.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"trueness.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
