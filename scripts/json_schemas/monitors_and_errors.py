"""The schemas of what a monitor says and of errors."""

from __future__ import annotations

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
    heading,
    list_of,
    parameters_of,
    reference,
)
from trueness.assessment._cautions import Caution
from trueness.monitoring import Monitor
from trueness.monitoring.results import Alarm, GroupEvidence, Look, TrendPoint
from trueness.monitoring.to_json import SCHEMA as MONITOR_SCHEMA


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
