"""The tables embedded in a report: a report is also a file of saved tables."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from trueness._markup import Markup, json_text, tag
from trueness._version import __version__
from trueness.old_table import AnyRankTable, EventTable
from trueness.old_table import file as table_file
from trueness.old_table.tables import Tables, tables_of_content
from trueness.refusals import InvalidValueError
from trueness.variation import Variation

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment, Comparison, EventAssessment, GroupAssessment

MOST_FOR_GROUPS = 300_000
"""The most characters that the tables of all groups may take; if they need more, they are left out, those of events
first."""

MOST_FOR_CLUSTERS = 2_000_000
"""The most characters that the sums of the clusters may take, of all rows and of all groups; if they need more, they
are left out. Those of 300 clusters take about a million."""

_ID = "trueness-tables"
_BEGIN, _END = f'<script type="application/json" id="{_ID}">', "</script>"
_MODELS_ID = "trueness-models"
_MODELS_BEGIN = f'<script type="application/json" id="{_MODELS_ID}">'
"""Of the tables of each model in the report of a comparison."""


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """The tables and settings embedded in a report."""

    tables: Tables
    groups: dict[str, Tables]
    """Of each group, as `assess_table` takes them; empty if they were left out."""
    level: float
    resamples: int
    seed: int
    tolerance: dict[str, float] | None = None


class Embedded(NamedTuple):
    """The script element with the tables, and which of them are in it."""

    script: Markup
    groups: bool
    group_events: bool
    """Whether all event tables of the groups are in it, if they have some."""
    clusters: bool
    """Whether the sums of the clusters are in it, if there are some."""


def embed_tables(result: Assessment) -> Embedded:
    """The tables of an assessment with the sums of its clusters, and those of its groups, as far as they fit."""
    tolerance = None if result.tolerance is None else dict(result.tolerance)
    settings = _settings(result.level, result.resamples, result.seed) | {"tolerance": tolerance}
    with_clusters = _clusters_fit(result.tables)
    whole = _file(_tables(result, with_clusters=with_clusters), settings)
    complete = _groups(result, with_events=True, with_clusters=with_clusters)
    groups = _groups(result, with_events=False, with_clusters=with_clusters) if complete is None else complete
    if groups is not None:
        whole["report"]["groups"] = groups
    script = tag("script", json_text(whole), type="application/json", id=_ID)
    return Embedded(script, groups is not None, complete is not None, with_clusters)


def _clusters_fit(tables: Tables) -> bool:
    """Whether the sums of the clusters are small enough; true without clusters."""
    clusters = tables.clusters
    if clusters is None:
        return True
    least = 2 * tables.by_variation.n_cells * sum(len(sums.cells) for sums in clusters.of_tables)
    return least <= MOST_FOR_CLUSTERS and len(json_text(clusters.to_dict())) <= MOST_FOR_CLUSTERS


def embed_events(events: Sequence[EventAssessment]) -> Markup:
    """The script element with the tables of one event or more."""
    some = events[0]
    tables = [event.table.to_dict() for event in events]
    whole = _file(tables, _settings(some.level, some.resamples, some.seed))
    return tag("script", json_text(whole), type="application/json", id=_ID)


def embed_models(comparison: Comparison) -> tuple[Markup, bool]:
    """The script element with the tables of each model, and whether they are in it: not if they take too much.

    Tables of classes are left out if that makes the others fit.
    """
    settings = _settings(comparison.level, comparison.resamples, comparison.seed)
    for with_events in (True, False):
        models: list[dict[str, Any]] = [
            {"name": name, "tables": _tables(result, with_events, with_clusters=False)}
            for name, result in comparison.assessments.items()
        ]
        whole = {
            "format": table_file.FORMAT,
            "schema": table_file.SCHEMA,
            "library": __version__,
            "models": models,
            "report": settings,
        }
        text = json_text(whole)
        if len(text) <= MOST_FOR_GROUPS:
            return tag("script", text, type="application/json", id=_MODELS_ID), True
    return Markup(""), False


def model_tables_in(path: str | os.PathLike[str], variation: Variation | None = None) -> dict[str, Tables]:
    """The tables of each model in the report of a comparison, by its name, as `assess_table` takes them."""
    name = os.fsdecode(path)
    with open(path, encoding="utf-8") as file:
        content = table_file.parse_file(lambda: _between(file.read(), name, _MODELS_BEGIN), name)
    try:
        models = {str(model["name"]): model["tables"] for model in content["models"]}
        kind = {"format": content["format"], "schema": content["schema"]}
    except (KeyError, TypeError) as error:
        raise _corrupt(name) from error
    return {
        model: _decode_tables(kind | {"tables": given}, f"{name}, model {model}", variation)
        for model, given in models.items()
    }


def _corrupt(name: str) -> InvalidValueError:
    cause = f"{name} is damaged: the report's metadata is corrupt"
    return InvalidValueError("corrupt-file", cause, argument="path")


def _file(tables: list[dict[str, Any]], settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": table_file.FORMAT,
        "schema": table_file.SCHEMA,
        "library": __version__,
        "tables": tables,
        "report": settings,
    }


def _settings(level: float, resamples: int, seed: int) -> dict[str, Any]:
    return {"level": level, "resamples": resamples, "seed": seed}


def _groups(result: Assessment, *, with_events: bool, with_clusters: bool) -> list[dict[str, Any]] | None:
    """The tables of all groups, with or without those of events and the clusters; None if they take too much."""
    assessed = [group for group in result.groups if group.assessment is not None]
    in_clusters = with_clusters and result.tables.clusters is not None
    most = MOST_FOR_CLUSTERS if in_clusters else MOST_FOR_GROUPS

    def encode(some: Sequence[GroupAssessment[Assessment]]) -> list[dict[str, Any]]:
        return [
            {"name": group.name, "tables": _tables(group.assessment, with_events, with_clusters)}
            for group in some
        ]

    if len(json_text(encode(assessed[:1]))) * len(assessed) > 2 * most:  # an estimate
        return None
    groups = encode(assessed)
    return groups if len(json_text(groups)) <= most else None


def _tables(
    result: Assessment | None, with_events: bool = True, with_clusters: bool = True
) -> list[dict[str, Any]]:
    assert result is not None
    tables = result.tables
    if not (
        with_clusters and tables.clusters is not None
    ):  # those of clusters belong to all tables of a file
        tables = replace(tables, others=(), clusters=None)
    return [table.to_dict() for table in (tables if with_events else tables.without_events()).parts]


def is_report(path: str | os.PathLike[str]) -> bool:
    """Whether a path has the ending of an HTML file."""
    return os.fsdecode(path).lower().endswith((".html", ".htm"))


def read(path: str | os.PathLike[str], variation: Variation | None = None) -> Saved:
    """Read the tables and settings of a report; pass `variation` if it was made with a measure of your own."""
    name = os.fsdecode(path)
    with open(path, encoding="utf-8") as file:
        content = table_file.parse_file(lambda: _between(file.read(), name), name)
    tables = _decode_tables(content, name, variation)
    settings = content.get("report")
    try:
        groups = {str(group["name"]): group["tables"] for group in settings.get("groups", [])}
        level, resamples, seed = float(settings["level"]), int(settings["resamples"]), int(settings["seed"])
        tolerance = settings.get("tolerance")
        limits = None if tolerance is None else {str(key): float(x) for key, x in tolerance.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise _corrupt(name) from error
    return Saved(
        tables=tables,
        groups={
            group: _decode_tables(
                {"format": table_file.FORMAT, "schema": table_file.SCHEMA, "tables": given},
                f"{name}, group {group}",
                variation,
            )
            for group, given in groups.items()
        },
        level=level,
        resamples=resamples,
        seed=seed,
        tolerance=limits,
    )


def _between(text: str, name: str, begin: str = _BEGIN) -> str:
    start = text.find(begin)
    end = text.find(_END, start)
    if start < 0 and _MODELS_BEGIN in text:
        cause = f"{name} is the report of a comparison"
        remedy = "read the tables of its models with trueness.old_report.model_tables_in"
        raise InvalidValueError("no-tables", cause, remedy, argument="path")
    if start < 0 or end < 0:
        remedy = "pass a complete report written by trueness"
        raise InvalidValueError("no-tables", f"{name} has no tables", remedy, argument="path")
    return text[start + len(begin) : end]


def _decode_tables(content: Any, place: str, variation: Variation | None) -> Tables:
    return Tables.of_file(tables_of_content(content, place, variation))


def event_tables_in(path: str | os.PathLike[str]) -> list[EventTable]:
    """The event tables of a report: that of its event, or that of all classes."""
    name = os.fsdecode(path)
    with open(path, encoding="utf-8") as file:
        content = table_file.parse_file(lambda: _between(file.read(), name), name)
    tables = tables_of_content(content, name)
    return [table for table in tables if isinstance(table, EventTable)]


def tables_in(path: str | os.PathLike[str], variation: Variation | None = None) -> list[AnyRankTable]:
    """The tables of a report that are binned by a measure: by variation, then by confidence."""
    return read(path, variation).tables.calibration_tables
