"""The table inside a report, and how it is read back: a report is a file of saved tables that people can read too."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueness._markup import Markup, json_text, tag
from trueness._version import __version__
from trueness.table import CalibrationTable
from trueness.table import file as table_file
from trueness.variation import Variation

if TYPE_CHECKING:
    from trueness.assessment import Assessment

MOST_FOR_GROUPS = 300_000
"""Characters that the tables of all groups may take; where they are more, none of them is in the file."""

_ID = "trueness-tables"
_BEGIN, _END = f'<script type="application/json" id="{_ID}">', "</script>"


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """What a report holds for machines."""

    tables: list[CalibrationTable]
    """The table, and the one by confidence if there is one."""
    groups: dict[str, tuple[CalibrationTable, CalibrationTable | None]]
    """Of each group, as `assess_table` takes them; empty where they would have made the file too large."""
    level: float
    resamples: int
    seed: int
    tolerance: dict[str, float] | None = None


def embedded(result: Assessment) -> tuple[Markup, bool]:
    """The script element that holds the tables, and whether those of the groups are in it."""
    groups = [
        {"name": group.name, "tables": _tables(group.assessment)}
        for group in result.groups
        if group.assessment is not None
    ]
    whole: dict[str, Any] = {
        "format": table_file.FORMAT,
        "schema": table_file.SCHEMA,
        "library": __version__,
        "tables": _tables(result),
        "report": {
            "level": result.level,
            "resamples": result.resamples,
            "seed": result.seed,
            "tolerance": None if result.tolerance is None else dict(result.tolerance),
        },
    }
    fits = len(json_text(groups[:1])) * len(groups) <= 2 * MOST_FOR_GROUPS  # a look before the long way
    if fits and len(json_text(groups)) <= MOST_FOR_GROUPS:
        whole["report"]["groups"] = groups
    else:
        fits = False
    return tag("script", json_text(whole), type="application/json", id=_ID), fits


def _tables(result: Assessment) -> list[dict[str, Any]]:
    found = [result.table]
    if result.confidence_table is not None and result.confidence_table is not result.table:
        found.append(result.confidence_table)
    return [table.to_dict() for table in found]


def is_report(path: str | os.PathLike[str]) -> bool:
    """Whether a file's name says that it is a web page."""
    return os.fsdecode(path).lower().endswith((".html", ".htm"))


def read(path: str | os.PathLike[str], variation: Variation | None = None) -> Saved:
    """What a report of `write_html` holds; `variation` is needed if it was made with a measure of your own."""
    name = os.fsdecode(path)
    with open(path, encoding="utf-8") as file:
        content = table_file.parsed(lambda: _between(file.read(), name), name)
    tables = [CalibrationTable(*parts) for parts in table_file.read_content(content, name, variation)]
    settings = content.get("report")
    try:
        groups = {str(group["name"]): group["tables"] for group in settings.get("groups", [])}
        level, resamples, seed = float(settings["level"]), int(settings["resamples"]), int(settings["seed"])
        tolerance = settings.get("tolerance")  # missing in reports of older versions
        limits = None if tolerance is None else {str(key): float(x) for key, x in tolerance.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{name} is damaged: the report's metadata is corrupt") from error
    return Saved(
        tables=tables,
        groups={group: _pair(given, f"{name}, group {group}", variation) for group, given in groups.items()},
        level=level,
        resamples=resamples,
        seed=seed,
        tolerance=limits,
    )


def _between(text: str, name: str) -> str:
    start = text.find(_BEGIN)
    end = text.find(_END, start)
    if start < 0 or end < 0:
        raise ValueError(f"{name} holds no tables; it is not a report of trueness, or not all of it")
    return text[start + len(_BEGIN) : end]


def _pair(
    given: Any, place: str, variation: Variation | None
) -> tuple[CalibrationTable, CalibrationTable | None]:
    content = {"format": table_file.FORMAT, "schema": table_file.SCHEMA, "tables": given}
    tables = [CalibrationTable(*parts) for parts in table_file.read_content(content, place, variation)]
    return tables[0], tables[1] if len(tables) > 1 else None


def tables_in(path: str | os.PathLike[str], variation: Variation | None = None) -> list[CalibrationTable]:
    """The tables of a report, as `load_all` gives those of a file: by the measure, then by confidence."""
    return read(path, variation).tables
