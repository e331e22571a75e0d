"""Write the JSON Schemas of results: ``docs/reference/schemas/result.json``, ``monitor.json`` and ``error.json``.

The fields of a result are those of its classes, and so are their types; what they mean is read from the texts below
the fields, or from ``docs/_ext/parameters.toml``, as in the reference of the API. What is not a class is described here. The
schemas allow no further fields, so that `tests/docs/test_json_schema.py` fails for a field that nobody described.
``table.json`` is written by hand.

    python scripts/make_json_schemas.py
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
import tomllib
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from trueness._arrays import FloatArray, IntArray
from trueness.assessment import (
    Assessment,
    BinSweep,
    Comparison,
    ConventionDifference,
    EventAssessment,
    EventAssessments,
    VoteAssessment,
)
from trueness.assessment._cautions import Caution
from trueness.assessment._comparison_result import Contrast, GroupComparison, Pair
from trueness.assessment._group_result import GroupAssessment
from trueness.assessment._pair_verdict import PairVerdict
from trueness.assessment._to_json import SCHEMA
from trueness.assessment.compared import COMPARED_ONLY
from trueness.assessment.reported import REPORTED
from trueness.assessment.verdict import Finding, Verdict
from trueness.inference.cluster_spread import ClusterSpread
from trueness.inference.events.cumulative import CumulativeTest as EventCumulativeTest
from trueness.inference.results import Estimate, Reference
from trueness.monitoring import Monitor
from trueness.monitoring.results import Alarm, GroupEvidence, Look, TrendPoint
from trueness.monitoring.to_json import SCHEMA as MONITOR_SCHEMA
from trueness.unknown_tails import TailBounds

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "reference" / "schemas"
TEXTS = tomllib.loads((ROOT / "docs" / "_ext" / "parameters.toml").read_text(encoding="utf-8"))["attributes"]

Schema = dict[str, Any]

NAMES = {EventCumulativeTest: "EventCumulativeTest"}
"""Classes whose name is that of another one."""

NUMBER: Schema = {"type": ["number", "null"]}
STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
PLAIN = {float: NUMBER, int: INTEGER, str: STRING, bool: {"type": "boolean"}, type(None): {"type": "null"}}


def described(schema: Schema, text: str) -> Schema:
    """The schema with a description, in the terms of JSON."""
    return schema | {"description": text.replace("None", "null").replace("NaN", "null")}


def either_or_null(schema: Schema) -> Schema:
    """The schema, or null."""
    if "$ref" in schema or "anyOf" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return schema | {"type": kinds if "null" in kinds else [*kinds, "null"]}


def list_of(schema: Schema) -> Schema:
    """A list whose entries have this schema."""
    return {"type": "array", "items": schema}


def map_of(schema: Schema) -> Schema:
    """An object whose keys are names and whose values have this schema."""
    return {"type": "object", "additionalProperties": schema}


def reference(name: str, file: str = "") -> Schema:
    """A reference to a definition."""
    return {"$ref": f"{file}#/$defs/{name}"}


def an_object(properties: Schema, text: str, optional: typing.Iterable[str] = ()) -> Schema:
    """An object with these fields and no others."""
    return {
        "description": text,
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in set(optional)],
        "additionalProperties": False,
    }


def texts_of(cls: type) -> dict[str, str]:
    """What each field of a class means: the text below it, or the text for its name."""
    found = {field.name: TEXTS[field.name] for field in fields(cls) if field.name in TEXTS}
    found |= {
        field.name: text for field in fields(cls) if (text := TEXTS.get(f"{cls.__name__}.{field.name}"))
    }
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    assert isinstance(body, ast.ClassDef)
    for line, text in pairwise(body.body):
        if isinstance(line, ast.AnnAssign) and isinstance(text, ast.Expr):
            assert isinstance(line.target, ast.Name) and isinstance(text.value, ast.Constant)
            found[line.target.id] = " ".join(str(text.value.value).split())
    return found


LATE = {"Caution": Caution}
"""Names that modules import for type checkers only."""


class Definitions(dict[str, Schema]):
    """The definitions of a schema by name, with those of the classes that others use."""

    def of(self, cls: type) -> Schema:
        """A reference to a class, which is defined by its fields."""
        name = NAMES.get(cls, cls.__name__)
        if name not in self:
            self[name] = {}  # reserved: classes may contain themselves
            texts = texts_of(cls)
            properties = {
                field.name: described(self.of_field(cls, field.name), texts[field.name])
                for field in fields(cls)
            }
            self[name] = an_object(properties, first_line(cls))
        return reference(name)

    def of_field(self, cls: type, name: str) -> Schema:
        """The schema of one field of a class."""
        (hint,) = [field.type for field in fields(cls) if field.name == name]
        return self.of_hint(
            eval(hint, vars(inspect.getmodule(cls)) | LATE) if isinstance(hint, str) else hint
        )

    def of_hint(self, hint: Any) -> Schema:
        """The schema of a type."""
        if hint in PLAIN:
            return PLAIN[hint]
        if is_dataclass(hint):
            return self.of(hint)  # type: ignore[arg-type]
        if hint in (FloatArray, IntArray) or typing.get_origin(hint) is np.ndarray:
            return list_of(NUMBER)
        origin, parts = typing.get_origin(hint), typing.get_args(hint)
        if origin in (typing.Union, types.UnionType):
            (one,) = [part for part in parts if part is not type(None)]
            return either_or_null(self.of_hint(one))
        if origin is typing.Literal:
            return {"enum": list(parts)}
        if origin in (tuple, list):
            return list_of(self.of_hint(parts[0]))
        if origin in (dict, Mapping):
            return map_of(self.of_hint(parts[1]))
        raise TypeError(f"no schema for {hint}")


def first_line(cls: type) -> str:
    """What a class is, in its own words."""
    assert cls.__doc__ is not None
    return " ".join(cls.__doc__.strip().split("\n\n")[0].split())


def parameters_of(cls: type) -> dict[str, str]:
    """What each parameter of a class means, from its docstring."""
    found = re.findall(r"^(\w+) : .*\n((?:    .*\n?)+)", inspect.getdoc(cls) or "", re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


def heading(kind: str, schema: int = SCHEMA) -> Schema:
    """The first fields of every result."""
    return {
        "schema": described({"const": schema}, "The number of this schema; it grows if fields change."),
        "kind": described({"const": kind}, "What kind of result this is."),
        "trueness": described(STRING, "The version of trueness that wrote it."),
    }


P_VALUE = described(NUMBER, "The p-value of all the evidence together, on which verdict and gate rest.")
LEVEL = described({"type": "number"}, TEXTS["level"])
RESAMPLES = described(INTEGER, TEXTS["resamples"])
SEED = described(INTEGER, TEXTS["seed"])
SETTINGS = {"level": LEVEL, "resamples": RESAMPLES, "seed": SEED}
N_ROWS = described(INTEGER, TEXTS["n_rows"])
RANK_TABLE, EVENT_TABLE = reference("RankTable", "table.json"), reference("EventTable", "table.json")
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
        "conventions": described(
            list_of(reference("ConventionDifference")),
            "The numbers of other libraries; only in files of the command, with `--convention`.",
        ),
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
    }
    return an_object(properties, "The result of `assess_event` and `assess_event_table`.")


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


def group(definitions: Definitions, of: str) -> Schema:
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
            for key in ("vce", "net", "ece", "rce")
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


def file_of(definitions: Mapping[str, Schema], kinds: typing.Iterable[str], name: str, text: str) -> Schema:
    """A file of definitions, one of which describes the whole content."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": name,
        "title": text,
        "anyOf": [reference(kind) for kind in kinds],
        "$defs": dict(definitions),
    }


def result_schema() -> Schema:
    """All results."""
    definitions = Definitions()
    made = {
        "Assessment": assessment(definitions),
        "EventAssessment": event_assessment(definitions),
        "EventAssessments": event_assessments(),
        "Comparison": comparison(definitions),
        "VoteAssessment": vote_assessment(definitions),
        "BinSweep": bin_sweep(definitions),
        "ConventionDifference": convention_difference(definitions),
        "Group": group(definitions, "Assessment"),
        "EventGroup": group(definitions, "EventAssessment"),
    }
    kinds = list(made)[:7]
    return file_of(made | dict(sorted(definitions.items())), kinds, "result.json", "Results of trueness")


def monitor_schema() -> Schema:
    """What `trueness monitor --json` writes."""
    definitions = Definitions()
    settings_texts = parameters_of(Monitor) | {
        "restarted": "The look at which it was restarted; null if it was not."
    }
    kinds = {
        "alpha": {"type": "number"},
        "tolerance": {"type": "number"},
        "max_cluster": INTEGER,
        "max_weight": NUMBER,
        "dependence": {"enum": ["rows", "look"]},
        "average_run": NUMBER,
        "restarted": either_or_null(STRING),
    }
    settings = {name: described(schema, settings_texts[name]) for name, schema in kinds.items()}
    settings["reference_rows"] = described(
        either_or_null(INTEGER), "The rows of the reference; null without one."
    )
    properties = {
        **heading("monitor", MONITOR_SCHEMA),
        "verdict": described(STRING, "What the monitor says, in one sentence."),
        "alarm": described(
            either_or_null(definitions.of(Alarm)), "The alarm, which stays; null without one."
        ),
        "e_value": described(NUMBER, "E as of now; null beyond the largest number."),
        "log_e_value": described({"type": "number"}, "ln E as of now."),
        "p_value": described(
            NUMBER, "min(1, 1/max E), valid however often one looks; null with `average_run`."
        ),
        "n_looks": described(INTEGER, TEXTS["n_looks"]),
        "n_rows": described(INTEGER, "The rows of all looks."),
        "settings": described(reference("Settings"), "The settings."),
        "looks": described(list_of(definitions.of(Look)), "The looks in order of arrival."),
        "trend": described(
            list_of(definitions.of(TrendPoint)), "The top-label gap of each look, and of all so far."
        ),
        "groups": described(list_of(definitions.of(GroupEvidence)), "The groups, largest evidence first."),
        "warnings": described(list_of(definitions.of(Caution)), TEXTS["warnings"]),
    }
    made = {
        "Monitor": an_object(properties, "What a monitor says, without its tables."),
        "Settings": an_object(settings, "The settings of a monitor."),
    }
    return file_of(
        made | dict(sorted(definitions.items())), ["Monitor"], "monitor.json", "Monitors of trueness"
    )


def error_schema() -> Schema:
    """What `--json-errors` prints."""
    properties = {
        "kind": described(
            {"enum": ["refusal", "fault"]},
            '"refusal" if the input is refused (exit code 2), "fault" for an internal error (exit code 70).',
        ),
        "code": described(STRING, "Short and stable, for programs, such as `row-sum` or `missing-file`."),
        "argument": described(
            either_or_null(STRING), "The option or argument that is wrong; null if none is."
        ),
        "source": described(either_or_null(STRING), "The file that is wrong; null if none is."),
        "row": described(either_or_null(INTEGER), "The first bad row: from 0 in arrays, from 1 in files."),
        "class_index": described(either_or_null(INTEGER), "The class of the bad value, from 0."),
        "value": described(
            {"type": ["number", "string", "boolean", "null"]},
            "The value that is refused: a number or a boolean as it is, anything else as text.",
        ),
        "cause": described(STRING, "What is wrong, as a sentence."),
        "remedy": described(STRING, "What to do; empty if the cause says it."),
    }
    return file_of(
        {"Error": an_object(properties, "An error on one line.")},
        ["Error"],
        "error.json",
        "Errors of trueness",
    )


SCHEMAS = {"result": result_schema, "monitor": monitor_schema, "error": error_schema}


def text_of(name: str) -> str:
    """The content of the file of a schema."""
    return json.dumps(SCHEMAS[name](), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for each in SCHEMAS:
        (FOLDER / f"{each}.json").write_text(text_of(each), encoding="utf-8")
        print(f"{each}.json")
