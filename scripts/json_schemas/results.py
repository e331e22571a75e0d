"""The schema of all results."""

from __future__ import annotations

from dataclasses import fields

from json_schemas.building import (
    INTEGER,
    NUMBER,
    STRING,
    TEXTS,
    Definitions,
    Schema,
    an_object,
    described,
    either_or_null,
    file_of,
    first_line,
    heading,
    list_of,
    map_of,
    reference,
    texts_of,
)
from trueness.assessment import (
    Assessment,
    BinSweep,
    Comparison,
    ConventionDifference,
    EventAssessment,
    EventAssessments,
    Recalibration,
    ScoreChange,
    VoteAssessment,
)
from trueness.assessment._cautions import Caution
from trueness.assessment._comparison_result import Contrast, GroupComparison, Pair
from trueness.assessment._group_result import GroupAssessment
from trueness.assessment._pair_verdict import PairVerdict
from trueness.assessment.compared import COMPARED_ONLY
from trueness.assessment.reported import REPORTED
from trueness.assessment.verdict import Finding, Verdict
from trueness.inference.cluster_spread import ClusterSpread
from trueness.inference.results import Estimate, Reference
from trueness.recalibration import Temperature
from trueness.unknown_tails import TailBounds

P_VALUE = described(NUMBER, "The p-value of all the evidence together, on which verdict and gate rest.")
LEVEL = described({"type": "number"}, TEXTS["level"])
RESAMPLES = described(INTEGER, TEXTS["resamples"])
SEED = described(INTEGER, TEXTS["seed"])
SETTINGS = {"level": LEVEL, "resamples": RESAMPLES, "seed": SEED}
N_ROWS = described(INTEGER, TEXTS["n_rows"])
RANK_TABLE, EVENT_TABLE = reference("RankTable", "table.json"), reference("EventTable", "table.json")
CONVENTIONS = described(
    list_of(reference("ConventionDifference")),
    "The numbers of other libraries; only in files of the command, with `--convention`.",
)
TABLES = list_of({"anyOf": [RANK_TABLE, reference("OptionTables", "table.json")]})


def verdict(definitions: Definitions) -> Schema:
    """The verdict and its sentence."""
    properties = definitions.of(Verdict) and dict(definitions["Verdict"]["properties"])
    properties["text"] = described(STRING, "Headline and sentence as one sentence, as it is printed.")
    definitions["Verdict"] = an_object(properties, "The conclusion from all the evidence.")
    return described(reference("Verdict"), "The conclusion from all the evidence.")


def assessment(definitions: Definitions) -> Schema:
    """The result of `assess`."""
    texts = texts_of(Assessment)
    hints = {
        "uce": either_or_null(definitions.of(Reference)),
        **{name: definitions.of_field(Assessment, name) for name in ("log_score_z", "classes")},
        **{
            name: definitions.of_field(Assessment, name)
            for name in ("by_predicted_class", "cumulative_log_score")
        },
        "detectable_net_gap": NUMBER,
    }
    estimate = either_or_null(definitions.of(Estimate))
    properties = {
        **heading("assessment"),
        "verdict": verdict(definitions),
        "p_value": P_VALUE,
        "evidence": described(list_of(definitions.of(Finding)), "The tests on which the verdict rests."),
        "n_rows": N_ROWS,
        "n_classes": described(
            either_or_null(INTEGER), "The number of classes; null if rows have their own."
        ),
        "options": described(
            either_or_null(map_of(INTEGER)),
            "The rows by number of options; null unless rows have options of their own.",
        ),
        "top_k": described(
            either_or_null(INTEGER), "The number of ranks that are counted one by one; null if all are."
        ),
        "tail_bounds": described(
            either_or_null(
                an_object(
                    {
                        name: described(list_of({"type": "number"}), f"Least and largest {name}.")
                        for name in TailBounds._fields
                    },
                    "Bounds by metric.",
                )
            ),
            "What the unknown probabilities beyond the k largest could make of the metrics; null without them.",
        ),
        "variation": described(STRING, "The name of the variation measure of the bins."),
        **SETTINGS,
        "n_clusters": described(either_or_null(INTEGER), TEXTS["n_clusters"]),
        "cluster_spread": described(
            either_or_null(definitions.of(ClusterSpread)),
            "How much clusters differ in their net gap, with the five that are furthest off; null without clusters.",
        ),
        "tolerance": described(either_or_null(map_of({"type": "number"})), TEXTS["tolerance"]),
        "value_is": described({"const": "plug-in"}, "What `value` of a metric is."),
        "impossible_rows": described(NUMBER, "The number of rows whose true class had probability 0."),
        "row_worth": described(
            {"type": "number"},
            "How many rows with single labels a row with a soft label is worth; 1 otherwise.",
        ),
        **{key: described(estimate, metric.long_name.capitalize() + ".") for key, metric in REPORTED.items()},
        **{name: described(schema, texts[name]) for name, schema in hints.items()},
        "accuracy": described(NUMBER, "The share of rows whose true class has rank 1."),
        "brier_score": described(NUMBER, "The mean squared distance between prediction and outcome: 0 to 2."),
        "log_loss": described(NUMBER, "The mean of -ln p of the true class; null if infinite."),
        **{f"{name}_reason": described(STRING, f"Why `{name}` is null.") for name in _REASONS},
        "warnings": described(list_of(definitions.of(Caution)), TEXTS["warnings"]),
        "tables": described(
            TABLES, "The table by the variation measure and, if there is one, that by confidence."
        ),
        "class_table": described(either_or_null(EVENT_TABLE), "The sums of all classes; null without them."),
        "groups": described(list_of(reference("Group")), "The groups of `groups=`; empty without."),
        "by_options": described(list_of(reference("Group")), texts["by_options"]),
        "compared_groups": described(
            reference("ComparedGroups"), "The differences between groups, if asked for."
        ),
        "conventions": CONVENTIONS,
    }
    optional = ["compared_groups", "conventions", *(f"{name}_reason" for name in _REASONS)]
    return an_object(properties, "The result of `assess`, `assess_table` and `assess_top`.", optional)


_REASONS = (*REPORTED, "uce", "brier_score", "log_loss", "detectable_net_gap")
"""Numbers that may be null, with the reason beside them."""


def event_assessment(definitions: Definitions) -> Schema:
    """The result of `assess_event`."""
    left_out = {"table", "brier", "log", "prevalence", "bins", "warnings", "class_bins", "groups"}
    texts = texts_of(EventAssessment)
    kept = [field.name for field in fields(EventAssessment) if field.name not in left_out]
    prevalence = definitions.of_field(EventAssessment, "prevalence")
    definitions["PrevalenceAdjustment"]["properties"].pop("cells")
    definitions["PrevalenceAdjustment"]["required"].remove("cells")
    properties = {
        **heading("event-assessment"),
        "verdict": verdict(definitions),
        "p_value": P_VALUE,
        "n_rows": N_ROWS,
        "impossible_rows": described(NUMBER, "The number of rows whose outcome had probability 0."),
        **{name: described(definitions.of_field(EventAssessment, name), texts[name]) for name in kept},
        "brier_score": described(NUMBER, "The mean of (p - y)²."),
        "log_loss": described(NUMBER, "The mean of -ln of the probability of the outcome; null if infinite."),
        "expected_brier_score": described(
            NUMBER, "The Brier score of a calibrated event with these predictions."
        ),
        "expected_log_loss": described(NUMBER, "The log-loss of a calibrated event with these predictions."),
        "prevalence": described(prevalence, texts["prevalence"]),
        "bins": described(definitions.of_field(EventAssessment, "bins"), texts["bins"]),
        "warnings": described(list_of(definitions.of(Caution)), TEXTS["warnings"]),
        "tables": described(list_of(EVENT_TABLE), "The sums of the event, on the event grid."),
        "groups": described(list_of(reference("EventGroup")), texts["groups"]),
        "conventions": CONVENTIONS,
    }
    return an_object(properties, "The result of `assess_event` and `assess_event_table`.", ["conventions"])


def event_assessments() -> Schema:
    """The result of `assess_event` for several labels."""
    properties = {
        **heading("event-assessments"),
        "verdict": described(reference("Verdict"), "The conclusion about all events."),
        "p_value": described(NUMBER, "The smallest p-value, corrected for the number of events."),
        "n_rows": N_ROWS,
        "level": LEVEL,
        "flagged": described(
            list_of(STRING), "The events that are called miscalibrated, smallest p-value first."
        ),
        "events": described(
            list_of(reference("EventAssessment")), "Each event, in the order of the columns."
        ),
    }
    return an_object(properties, first_line(EventAssessments))


def group(of: str) -> Schema:
    """A group of rows, whose assessment has the schema `of`."""
    texts = texts_of(GroupAssessment)
    schemas = {
        "name": STRING,
        "n_rows": INTEGER,
        "assessment": either_or_null(reference(of)),
        "p_value": NUMBER,
        "adjusted_p_value": NUMBER,
        "reason": either_or_null(STRING),
    }
    properties = {name: described(schema, texts[name]) for name, schema in schemas.items()}
    flagged = described({"type": "boolean"}, "Whether it is called miscalibrated after the correction.")
    return an_object(properties | {"flagged": flagged}, first_line(GroupAssessment))


def comparison(definitions: Definitions) -> Schema:
    """The result of `compare` and `compare_tables`."""
    contrasts = {key: metric.long_name for key, metric in (REPORTED | COMPARED_ONLY).items()}
    pair_texts, contrast = texts_of(Pair), definitions.of(Contrast)
    definitions["Pair"] = an_object(
        {
            "first": described(STRING, pair_texts["first"]),
            "second": described(STRING, pair_texts["second"]),
            **{key: described(contrast, f"Difference: {name}.") for key, name in contrasts.items()},
            "p_value": described(NUMBER, pair_texts["p_value"]),
            "adjusted_p_value": described(NUMBER, pair_texts["adjusted_p_value"]),
        },
        "Two models, with the difference of each number that both have: first minus second.",
        contrasts,
    )
    group_texts = texts_of(GroupComparison)
    group_schemas = {
        "name": STRING,
        "n_rows": INTEGER,
        "comparison": either_or_null(reference("Comparison")),
        "adjusted_p_values": list_of(NUMBER),
        "reason": either_or_null(STRING),
    }
    definitions["ComparedGroup"] = an_object(
        {name: described(schema, group_texts[name]) for name, schema in group_schemas.items()},
        first_line(GroupComparison),
    )
    pairs = described(list_of(reference("Pair")), "The differences between each two models.")
    verdicts = described(list_of(definitions.of(PairVerdict)), "The conclusion about each pair.")
    difference_of = described({"const": "debiased values"}, "Of what the differences are taken.")
    definitions["ComparedGroups"] = an_object(
        {
            "against": described(
                {"enum": ["rest", "each"]}, "Each group with all other rows, or each group with each."
            ),
            "difference_of": difference_of,
            "pairs": pairs,
            "verdicts": verdicts,
        },
        "The differences between the groups of an assessment.",
    )
    properties = {
        **heading("comparison"),
        "verdict": described(STRING, "One sentence for each pair of models."),
        "verdicts": verdicts,
        "difference_of": difference_of,
        "paired": described({"type": "boolean"}, texts_of(Comparison)["paired"]),
        **SETTINGS,
        "assessments": described(map_of(reference("Assessment")), TEXTS["assessments"]),
        "pairs": pairs,
        "groups": described(
            list_of(reference("ComparedGroup")), "The same in each group; empty without groups."
        ),
    }
    return an_object(properties, "The result of `compare` and `compare_tables`.")


def recalibration(definitions: Definitions, of_comparison: Schema) -> Schema:
    """The result of `compare_recalibration`: that of the comparison, and what was fitted."""
    texts = texts_of(Recalibration)
    properties = {
        **of_comparison["properties"],
        **heading("recalibration"),
        "verdict": described(STRING, "What the recalibration changed, and at which price in log-loss."),
        "change_of_log_loss": described(
            definitions.of(ScoreChange), "The change of the log-loss, after less before, on the same rows."
        ),
        "temperature": described(either_or_null(definitions.of(Temperature)), texts["temperature"]),
        "n_fitted": described(INTEGER, texts["n_fitted"]),
    }
    return an_object(properties, "The result of `compare_recalibration`.")


def vote_assessment(definitions: Definitions) -> Schema:
    """The result of `assess_votes`."""
    texts, found = texts_of(VoteAssessment), definitions.of(Reference)
    properties = {
        **heading("vote-assessment"),
        "verdict": described(reference("Verdict"), "The conclusion from all the evidence."),
        "p_value": P_VALUE,
        "n_rows": N_ROWS,
        "n_classes": described(INTEGER, "The number of options."),
        "n_votes": described(list_of(INTEGER), texts["n_votes"]),
        "accuracy": described(NUMBER, "The share of rows whose most frequent answer is the right one."),
        **{
            key: described(found, f"{REPORTED[key].long_name.capitalize()} of the shares of votes.")
            for key in ("vce", "net", "ece", "rce", "rce_w1")
        },
        "held_out_vce": described(NUMBER, texts["held_out_vce"]),
        **SETTINGS,
        "tables": described(list_of(RANK_TABLE), texts["table"]),
    }
    return an_object(properties, "The result of `assess_votes`.")


def bin_sweep(definitions: Definitions) -> Schema:
    """The result of `sweep_bins`."""
    definitions.of(BinSweep)
    entry = definitions.pop("BinSweep")
    return an_object(
        heading("bin-sweep") | entry["properties"], "The result of `sweep_bins`: a list for each number."
    )


def convention_difference(definitions: Definitions) -> Schema:
    """The result of `compare_convention`."""
    definitions.of(ConventionDifference)
    properties = definitions.pop("ConventionDifference")["properties"]
    properties["bins"] = properties.pop("their_bins")
    properties["difference"] = described({"type": "number"}, "Theirs minus ours.")
    return an_object(properties, first_line(ConventionDifference))


def result_schema() -> Schema:
    """All results."""
    definitions = Definitions()
    compared = comparison(definitions)
    made = {
        "Assessment": assessment(definitions),
        "EventAssessment": event_assessment(definitions),
        "EventAssessments": event_assessments(),
        "Comparison": compared,
        "Recalibration": recalibration(definitions, compared),
        "VoteAssessment": vote_assessment(definitions),
        "BinSweep": bin_sweep(definitions),
        "ConventionDifference": convention_difference(definitions),
        "Group": group("Assessment"),
        "EventGroup": group("EventAssessment"),
    }
    kinds = list(made)[:8]
    return file_of(made | dict(sorted(definitions.items())), kinds, "result.json", "Results of trueness")
