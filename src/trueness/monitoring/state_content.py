"""Settings and looks of a monitor as plain JSON, of which everything is checked."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from trueness._arrays import FloatArray
from trueness.monitoring._entries import Entry
from trueness.monitoring.names import look_name
from trueness.monitoring.settings import Settings, decode_bins, encode_bins
from trueness.monitoring.watched import Watched
from trueness.old_table import CalibrationTable, EventTable, OptionTables
from trueness.old_table.file import are_together
from trueness.old_table.tables import table_from_dict
from trueness.refusals import InvalidValueError
from trueness.variation import Variation

PRESET = 1
"""The version of the bets: their directions, sizes and weights. Cached values of another version are not used."""


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise InvalidValueError("damaged-file", f"the state of a monitor is damaged: {problem}")


# Settings

_PLAIN = ("alpha", "tolerance", "max_cluster", "max_weight", "dependence", "average_run", "restarted")


def encode_settings(settings: Settings) -> dict[str, Any]:
    """The settings as plain numbers and strings."""
    reference = settings.reference
    return {
        **{name: getattr(settings, name) for name in _PLAIN},
        "reference": None if reference is None else encode_tables(reference),
        "bins": encode_bins(settings.bins),
    }


def decode_settings(content: Any, variation: Variation | None) -> Settings:
    """The settings of `encode_settings`, checked as arguments are."""
    names = {*_PLAIN, "reference", "bins"}
    _require(
        isinstance(content, dict) and set(content) == names, f"settings must be {', '.join(sorted(names))}"
    )
    given = {name: content[name] for name in _PLAIN}
    start = given.pop("restarted")
    _require(start is None or isinstance(start, str), "restarted must be a name")
    reference = content["reference"]
    tables = None if reference is None else _by_group(decode_tables(reference, variation))
    return Settings.of(
        **given,
        reference=tables,
        bins=decode_bins(content["bins"]),
        restarted=None if start is None else look_name(start),
    )


def _by_group(tables: Mapping[str | None, Watched]) -> Any:
    """Tables as an argument of a monitor."""
    plain = {name: list(watched.tables) for name, watched in tables.items()}
    return plain.get(None, plain)


# Tables


def encode_tables(tables: Mapping[str | None, Watched]) -> dict[str, Any]:
    """The tables of a look: a rank table as it is, several tables as a list, those of groups by name."""
    if None in tables:
        return _encode_watched(tables[None])
    return {"groups": {str(name): _encode_watched(each) for name, each in tables.items()}}


def _encode_watched(watched: Watched) -> dict[str, Any]:
    if watched.by_class is None and watched.ranks is not None:
        return watched.ranks.to_dict()
    return {"tables": [table.to_dict() for table in watched.tables]}


def decode_tables(content: Any, variation: Variation | None) -> dict[str | None, Watched]:
    """The tables of `encode_tables`."""
    _require(isinstance(content, dict), "table must be an object")
    if set(content) == {"groups"}:
        groups = content["groups"]
        _require(isinstance(groups, dict) and len(groups) > 0, "groups must be tables by name")
        return {name: _decode_watched(each, variation) for name, each in groups.items()}
    return {None: _decode_watched(content, variation)}


def _decode_watched(content: Any, variation: Variation | None) -> Watched:
    _require(isinstance(content, dict), "table must be an object")
    listed = [content] if are_together(content) else content.get("tables", [content])
    _require(isinstance(listed, list) and 1 <= len(listed) <= 2, "tables must be one or two")
    tables = [table_from_dict(each, variation) for each in listed]
    ranks = [table for table in tables if isinstance(table, (CalibrationTable, OptionTables))]
    events = [table for table in tables if isinstance(table, EventTable)]
    _require(len(ranks) + len(events) == len(tables), "a look has a table of another kind")
    _require(len(ranks) <= 1 and len(events) <= 1, "a look has two tables of one kind")
    watched = Watched(ranks[0] if ranks else None, events[0] if events else None)
    n_rows = {*(table.n_rows for table in ranks), *(table.n_rows for table in events)}
    _require(len(n_rows) == 1, "the tables of a look have unlike numbers of rows")
    return watched


# Looks


def encode_entry(entry: Entry, settings: dict[str, Any]) -> dict[str, Any]:
    """A look with its tables and the cached values of its bets."""
    table = encode_tables(entry.tables)
    values = {
        "" if name is None else f"={name}": base64.b64encode(log_bets.astype("<f8").tobytes()).decode()
        for name, log_bets in entry.log_bets.items()
    }
    cache = {"preset": PRESET, "digest": _digest(settings, table, values), "values": values}
    return {"at": entry.at, "table": table, "log_e": cache, "late": entry.late}


def _digest(settings: Any, table: Any, values: Any) -> str:
    """A digest of the settings, the tables and the values computed from them."""
    text = json.dumps([settings, table, values], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def decode_entries(content: dict[str, Any], variation: Variation | None) -> Iterator[Entry]:
    """The looks of a file; names occur once."""
    looks, settings = content.get("looks"), content["settings"]
    _require(isinstance(looks, list), "looks must be a list")
    seen: set[str] = set()
    for look in looks if isinstance(looks, list) else []:
        entry = _decode_entry(look, settings, variation)
        _require(entry.at not in seen, f"{entry.at} is there twice")
        seen.add(entry.at)
        yield entry


def _decode_entry(look: Any, settings: Any, variation: Variation | None) -> Entry:
    names = {"at", "table", "log_e", "late"}
    _require(isinstance(look, dict) and set(look) == names, f"a look must have {', '.join(sorted(names))}")
    _require(
        isinstance(look["at"], str) and isinstance(look["late"], bool),
        "at must be a name and late true or false",
    )
    tables = decode_tables(look["table"], variation)
    return Entry(look_name(look["at"]), tables, log_bets=_cached(look, settings))


def _cached(look: dict[str, Any], settings: Any) -> dict[str | None, FloatArray]:
    """The cached values of the bets; none if they are of another version or do not belong to these tables."""
    cache = look["log_e"]
    if (
        not isinstance(cache, dict)
        or cache.get("preset") != PRESET
        or not isinstance(cache.get("values"), dict)
    ):
        return {}
    values = cache["values"]
    if cache.get("digest") != _digest(settings, look["table"], values):
        return {}
    found = {name[1:] if name else None: _numbers(text) for name, text in values.items()}
    usable = all(array is not None and not np.isnan(array).any() for array in found.values())
    return {name: array for name, array in found.items() if array is not None} if usable else {}


def _numbers(text: Any) -> FloatArray | None:
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), "<f8").astype(np.float64)
    except (TypeError, ValueError):
        return None
