"""Assessments of calibration: `assess` from rows, `assess_table` from tables, `compare` for models on the same rows."""

from trueness.old_assessment._assess import assess, assess_table
from trueness.old_assessment._brier_score import Brier, brier
from trueness.old_assessment._cautions import Caution
from trueness.old_assessment._compared_groups import ComparedGroups
from trueness.old_assessment._comparison_result import Comparison, Contrast, GroupComparison, Pair
from trueness.old_assessment._event_result import EventAssessment, EventAssessments
from trueness.old_assessment._group_result import GroupAssessment
from trueness.old_assessment._pair_verdict import PairVerdict
from trueness.old_assessment._result import Assessment
from trueness.old_assessment._seeds import SeedsAssessment, SeedsComparison
from trueness.old_assessment._settings import MIN_GROUP_SIZE, Settings
from trueness.old_assessment.comparison import Comparer, compare
from trueness.old_assessment.convention_difference import (
    ConventionDifference,
    compare_convention,
)
from trueness.old_assessment.event import assess_event, assess_event_table
from trueness.old_assessment.many import AssessedModels, assess_many
from trueness.old_assessment.recalibrated import Recalibration, ScoreChange, compare_recalibration
from trueness.old_assessment.reported import REPORTED, as_limits
from trueness.old_assessment.sweep import BinSweep, sweep_bins
from trueness.old_assessment.unpaired import compare_tables
from trueness.old_assessment.verdict import Finding, Verdict
from trueness.old_assessment.votes import VoteAssessment, assess_votes

__all__ = [
    "MIN_GROUP_SIZE",
    "REPORTED",
    "AssessedModels",
    "Assessment",
    "BinSweep",
    "Brier",
    "Caution",
    "ComparedGroups",
    "Comparer",
    "Comparison",
    "Contrast",
    "ConventionDifference",
    "EventAssessment",
    "EventAssessments",
    "Finding",
    "GroupAssessment",
    "GroupComparison",
    "Pair",
    "PairVerdict",
    "Recalibration",
    "ScoreChange",
    "SeedsAssessment",
    "SeedsComparison",
    "Settings",
    "Verdict",
    "VoteAssessment",
    "as_limits",
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
]
