"""The schema of tables and of files of tables."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from json_schemas.building import (
    INTEGER,
    NUMBER,
    STRING,
    Schema,
    an_object,
    described,
    either_or_null,
    file_of,
    first_line,
    list_of,
    reference,
    texts_of,
)
from trueness.ranking import TIES
from trueness.table import EventTable, OptionTables, file, grouped_file
from trueness.table.cluster_sums import CellSums, EventCellSums
from trueness.table.content import Sums
from trueness.table.event_content import EventSums
from trueness.table.tables import GroupedTables

BOOLEAN: Schema = {"type": "boolean"}
OTHER_TEXTS = {"weight": "Σw of weighted rows.", "log_score_variance": "Σ of the varentropies of the rows."}


def sums_of(cls: Any) -> Schema:
    """The sums of a class; counts are integers, all others are exact sums or, of weighted rows, floats."""
    texts = OTHER_TEXTS | texts_of(cls)
    properties = {
        field.name: described(
            reference("Sum" if str(field.type).startswith(("Sum", "FloatSum")) else "Numbers"),
            texts[field.name],
        )
        for field in fields(cls)
    }
    optional = [field.name for field in fields(cls) if field.default is not MISSING]
    return an_object(properties, first_line(cls), optional)


def numbers() -> dict[str, Schema]:
    """Numbers and sums."""
    packed = described(
        STRING,
        "Many numbers as one text: 64-bit little-endian integers or floats, column by column, the lowest bytes of all "
        "numbers first, then the next ones and so on; compressed by zlib (RFC 1950), in base64 (RFC 4648).",
    )
    nested = described(
        list_of({"anyOf": [{"type": "number"}, {"$ref": "#/$defs/Numbers"}]}),
        "Lists of numbers, of as many levels as there are axes; written out if there are at most 256.",
    )
    one = described({"type": "number"}, "One number.")
    exact = an_object(
        {
            "bits": described(INTEGER, "The unit of `fraction` is 2 to the power of minus this number."),
            "whole": described(reference("Numbers"), "The whole part of each sum."),
            "fraction": described(reference("Numbers"), "The rest, from 0 to 1, as a number of units."),
        },
        "Exact sums: whole + fraction·2^-bits.",
    )
    return {
        "Numbers": {"description": "Numbers of an array.", "anyOf": [one, nested, packed]},
        "ExactSum": exact,
        "Sum": {
            "description": "Sums: exact, or floats if rows are weighted.",
            "anyOf": [reference("ExactSum"), reference("Numbers")],
        },
    }


def specs() -> dict[str, Schema]:
    """What the sums of a table are sums of."""
    ties = described({"enum": list(TIES)}, "How rows with equal probabilities are ranked.")
    weighted = described(BOOLEAN, "Whether rows have weights.")
    of_ranks = {
        "n_classes": described(either_or_null(INTEGER), "The number of classes; null if it is not known."),
        "variation": described(STRING, "The name of the variation measure."),
        "edges": described(
            {"type": ["array", "integer"], "items": {"type": "number"}},
            "The edges of the bins; of more than 100 bins of equal width only their number.",
        ),
        "snap": described(
            NUMBER,
            "How far above an edge a value is still on it; null for the rule by the dtype of the input.",
        ),
        "ties": ties,
        "weighted": weighted,
        "cells": described({"const": "top"}, "Columns are the k largest classes and one for all others."),
        "top_k": described(INTEGER, "k."),
    }
    of_events = {
        "n_classes": described(
            either_or_null(INTEGER), "The number of classes; null if events are no classes."
        ),
        "events": described(
            list_of({"type": ["integer", "string"]}), "Each event: the index of a class, `top`, or a name."
        ),
        "grid": described(
            {"anyOf": [{"enum": ["class", "event"]}, list_of({"type": "number"})]},
            "The cells of the probability: the class grid, the event grid, or edges.",
        ),
        "ties": ties,
        "weighted": weighted,
        "class_names": described(either_or_null(list_of(STRING)), "The names of the classes; null without."),
    }
    return {
        "TableSpec": an_object(of_ranks, "What the sums of a rank table are sums of.", ["cells", "top_k"]),
        "EventSpec": an_object(of_events, "What the sums of an event table are sums of."),
    }


def tables() -> dict[str, Schema]:
    """Tables of ranks, of events, of options, and the sums of clusters."""
    n_rows = described(INTEGER, "The number of rows.")
    spec = described(reference("TableSpec"), "What the sums are sums of.")
    rank_table = {
        "spec": spec,
        "n_rows": n_rows,
        "bins": described(
            reference("Numbers"),
            "The bins with rows, if there are more than 100 bins; sums by bin then have entries for these only.",
        ),
        "sums": described(reference("Sums"), "The sums."),
    }
    event_table = {
        "events": described(reference("EventSpec"), "What the sums are sums of."),
        "n_rows": n_rows,
        "cells": described(
            list_of(list_of(INTEGER)),
            "For each event, the cells with rows: sums by cell have an entry for each.",
        ),
        "sums": described(reference("EventSums"), "The sums."),
    }
    option_tables = {
        "together": described({"const": file.OPTIONS}, "Tables of different numbers of options."),
        "spec": described(reference("TableSpec"), "That of all tables, written for two options."),
        "tables": described(list_of(reference("RankTable")), "A table for each number of options."),
    }
    return {
        "RankTable": an_object(rank_table, "A `CalibrationTable`.", ["bins"]),
        "EventTable": an_object(event_table, first_line(EventTable)),
        "OptionTables": an_object(option_tables, first_line(OptionTables)),
    }


def clusters() -> dict[str, Schema]:
    """The sums of clusters."""
    names = {
        "names": described(
            either_or_null(list_of(STRING)), "The name of each cluster; null if there are many."
        ),
        "identities": described(
            either_or_null(STRING), "Sixteen hexadecimal digits for each of many clusters; null with names."
        ),
        "n_blocks": described(
            either_or_null(INTEGER), "The blocks into which many clusters are dealt; null with names."
        ),
    }
    sums = {
        "spec": described(reference("TableSpec"), "Of the sums of a rank table."),
        "events": described(reference("EventSpec"), "Of the sums of an event table."),
        "cells": described(reference("Numbers"), "unit·M + bin of each entry, increasing, for M bins."),
        "sums": described(
            {"anyOf": [reference("CellSums"), reference("EventCellSums")]}, "An entry for each of `cells`."
        ),
    }
    whole = {
        "clusters": described(reference("ClusterNames"), "The clusters."),
        "tables": described(list_of(reference("ClusterSums")), "The sums of each table by cluster."),
    }
    return {
        "ClusterTables": an_object(whole, "The sums of each cluster, from which they are resampled."),
        "ClusterNames": an_object(names, "The clusters of a file."),
        "ClusterSums": an_object(sums, "The sums of one table by cluster and bin.", ["spec", "events"]),
    }


def files() -> dict[str, Schema]:
    """Files of tables."""
    any_table = {"anyOf": [reference(name) for name in ("RankTable", "EventTable", "ClusterTables")]}
    schema = described(
        {"enum": [file.SCHEMA, file.SCHEMA_TOP_OR_TOGETHER, file.SCHEMA_COMPACT]},
        "The first schema that has what the tables need. Files of schema 1 and 2 are read, and no longer written.",
    )
    library = described(STRING, "The version of trueness that wrote the file.")
    tables_of_file = described(
        list_of(any_table), "The table by the variation measure, that by confidence, event tables, clusters."
    )
    table_file = {
        "format": described({"const": file.FORMAT}, "What the file is."),
        "schema": schema,
        "library": library,
        "together": described(
            {"const": file.OPTIONS}, "The tables are those of different numbers of options."
        ),
        "tables": tables_of_file,
    }
    in_group = {
        "anyOf": [*any_table["anyOf"], reference("OptionTables")],
    }
    group = {
        "group": described(either_or_null(STRING), "The name of the group."),
        "tables": described(list_of(in_group), "Its tables."),
    }
    groups = {
        "format": described({"const": grouped_file.FORMAT}, "What the file is."),
        "schema": schema,
        "library": library,
        "by": described(STRING, "The columns of the groups."),
        "groups": described(list_of(reference("TablesOfGroup")), "The tables of each group."),
    }
    return {
        "TableFile": an_object(
            table_file, "What `save`, `trueness tabulate` and `--table-out` write.", ["together"]
        ),
        "GroupFile": an_object(groups, f"The same with groups. {first_line(GroupedTables)}"),
        "TablesOfGroup": an_object(group, "The tables of one group."),
    }


def table_schema() -> Schema:
    """Tables, alone or in files."""
    kinds = ["TableFile", "GroupFile", "RankTable", "EventTable", "OptionTables"]
    sums = {cls.__name__: sums_of(cls) for cls in (Sums, EventSums, CellSums, EventCellSums)}
    definitions = files() | tables() | specs() | sums | clusters() | numbers()
    return file_of(definitions, kinds, "table.json", "Tables of trueness")
