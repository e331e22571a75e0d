"""Tables as versioned JSON: exact integers and a schema number.

JSON and not pickle, because a file may come from anywhere. Inconsistent content is refused (`consistency`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from trueness import _json
from trueness._atomic_write import write_text
from trueness._version import __version__
from trueness.bins import Edges
from trueness.ranking import TIES
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal
from trueness.table.consistency import damaged_table_error, is_int, narrowest, require, require_consistent
from trueness.table.content import Sums, TableSpec
from trueness.table.exact_sums import ZERO_IF_ABSENT
from trueness.table.json_numbers import decode_sum, encode_sum, is_number
from trueness.variation import Variation, as_variation

T = TypeVar("T")

FORMAT = "trueness calibration tables"
SCHEMA = 3
SCHEMAS = (1, 2, SCHEMA)
"""The schemas that are read."""

SINCE_SCHEMA_2 = frozenset({"true_probability", "square", "log_likelihood"})
"""Sums that a table of schema 1 lacks, and so do tables added to it. A table has all of them or none."""

SINCE_SCHEMA_3 = frozenset(
    {
        "brier_residual",
        "brier_residual_variance",
        "predicted_rows",
        "predicted_scores",
        "predicted_brier",
    }
)
"""Sums that a table of schema 2 lacks, of which the log-scores are totals over all bins."""


def write(tables: list[dict[str, Any]], path: str | os.PathLike[str]) -> None:
    """Write encoded tables as a file, atomically."""
    import json

    if not tables:
        raise InvalidValueError("no-tables", "there is no table to save")
    content = {"format": FORMAT, "schema": SCHEMA, "library": __version__, "tables": tables}
    write_text(os.fsdecode(path), json.dumps(content, allow_nan=False))


def read(path: str | os.PathLike[str], decode: Callable[[Any], T]) -> list[T]:
    """Each table of a file, as `decode` makes it of its content."""
    name = os.fsdecode(path)
    with open(path, encoding="utf-8") as file:
        return read_content(parse_file(file.read, name), name, decode)


def parse_file(text: Callable[[], str], name: str) -> Any:
    """The content of a JSON file; `text` is called here, so that an encoding error is refused in the same words."""
    try:
        return _json.parse(text())
    except Refusal as error:
        if error.code != "bad-json":
            raise
        raise error.with_facts(source=name) from error
    except ValueError as error:
        raise InvalidValueError(
            "damaged-file",
            "{file} is not a file of calibration tables: {reason}",
            file=name,
            reason=str(error),
        ) from error


def read_content(content: Any, name: str, decode: Callable[[Any], T]) -> list[T]:
    """Each table in the content of a file, as `decode` makes it; `name` is that of the file."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidValueError(
            "damaged-file", "{file} is JSON, but not a file of calibration tables", file=name
        )
    require_schema(content, name)
    tables = content.get("tables")
    if not isinstance(tables, list) or not tables:
        raise InvalidValueError("no-tables", "{file} holds no tables", file=name)
    return [_decode_in_file(table, decode, f"{name}, table {k}") for k, table in enumerate(tables, 1)]


def is_of_events(content: Any) -> bool:
    """Whether an encoded table is one of events."""
    return isinstance(content, dict) and "events" in content


def is_by_measure(content: Any) -> bool:
    """Whether an encoded table is one that is binned by a measure: not one of events, and not clusters."""
    return not isinstance(content, dict) or not ({"events", "clusters"} & set(content))


def require_schema(content: dict[str, Any], name: str, known: tuple[int, ...] = SCHEMAS) -> None:
    """Refuse a file of an unknown schema."""
    if not is_int(content.get("schema")) or content["schema"] not in known:
        raise InvalidValueError(
            "unknown-schema",
            "{file} has schema {schema!r}",
            "this version of trueness reads schema {known}",
            file=name,
            schema=content.get("schema"),
            known=", ".join(map(str, known[:-1])) + f" and {known[-1]}",
        )


def _decode_in_file(content: Any, decode: Callable[[Any], T], place: str) -> T:
    try:
        return decode(content)
    except InvalidValueError as error:
        raise error.with_facts(source=place) from error


def encode(spec: TableSpec, sums: Sums) -> dict[str, Any]:
    """Spec and sums as plain numbers, lists and strings."""
    return {
        "spec": encode_spec(spec),
        "n_rows": int(sums.rows.sum()),
        "sums": {name: encode_sum(value) for name, value in sums.items()},
    }


def encode_spec(spec: TableSpec) -> dict[str, Any]:
    """A spec as plain numbers, lists and strings."""
    return {
        "n_classes": spec.n_classes,
        "variation": spec.variation.name,
        "edges": list(spec.bins.edges),
        "snap": spec.bins.snap,
        "ties": spec.ties,
        "weighted": spec.weighted,
    }


def decode(content: dict[str, Any], variation: Variation | None = None) -> tuple[TableSpec, Sums]:
    """Spec and sums of an encoded table, of which everything is checked."""
    if variation is not None and not isinstance(variation, Variation):
        raise InvalidTypeError(
            "wrong-type",
            "variation must be the trueness.Variation that the table was made with, got {value!r}",
            "built-in measures are found by the name in the file",
            argument="variation",
            value=variation,
        )
    require(isinstance(content, dict) and set(content) == {"spec", "n_rows", "sums"}, "its parts are wrong")
    spec = decode_spec(content["spec"], variation)
    _require_declared_lengths(spec, content["sums"])
    expected, given = dict(Sums.zeros(spec).items()), content["sums"]
    names = set(expected)
    if "label_spread" in given:
        expected["label_spread"] = expected["true_probability"]
    complete = set(given) - ZERO_IF_ABSENT in (
        names,
        names - SINCE_SCHEMA_3,
        names - SINCE_SCHEMA_3 - SINCE_SCHEMA_2,
    )
    require(complete, f"its sums must be {', '.join(expected)}")
    if not set(given) >= SINCE_SCHEMA_3:
        expected |= {name: expected[name].total() for name in ("log_score", "log_score_variance")}
    sums = Sums(**{name: decode_sum(name, given[name], expected[name]) for name in given})
    with np.errstate(over="ignore"):  # numbers that are far too large are refused without a warning
        require_consistent(spec, sums, content["n_rows"])
    return spec, sums


def _require_declared_lengths(spec: TableSpec, sums: Any) -> None:
    """Refuse lists of other lengths than the spec declares, before anything of that size is allocated."""
    require(isinstance(sums, dict) and isinstance(sums.get("rows"), list), "it has no rows")
    require(len(sums["rows"]) == spec.bins.n_bins, f"rows must have {spec.bins.n_bins} entries")
    ordered = sums.get("ordered")
    lines = ordered.get("whole") if isinstance(ordered, dict) else ordered
    fits = isinstance(lines, list) and all(
        isinstance(line, list) and len(line) == spec.n_classes for line in lines
    )
    require(fits, f"ordered must have {spec.n_classes} entries in each bin")


def decode_spec(spec: Any, variation: Variation | None) -> TableSpec:
    """The spec of `encode_spec`, of which everything is checked."""
    names = {"n_classes", "variation", "edges", "snap", "ties", "weighted"}
    require(isinstance(spec, dict) and set(spec) == names, f"its spec must give {', '.join(sorted(names))}")
    require(
        is_int(spec["n_classes"]) and spec["n_classes"] >= 2, "n_classes must be an integer of at least 2"
    )
    require(isinstance(spec["edges"], list) and all(map(is_number, spec["edges"])), "edges must be numbers")
    require(spec["snap"] is None or is_number(spec["snap"]), "snap must be a number or null")
    require(spec["ties"] in TIES, f"ties must be one of {', '.join(TIES)}")
    require(isinstance(spec["weighted"], bool), "weighted must be true or false")
    measure = _decode_variation(spec["variation"], variation)
    try:
        bins = Edges(spec["edges"], spec["snap"]).resolve(*measure.range_for(spec["n_classes"]))
    except ValueError as error:
        raise damaged_table_error(error) from error
    require(bins.snap is None or bins.snap < narrowest(bins) / 2, "snap is as wide as half the narrowest bin")
    return TableSpec(spec["n_classes"], measure, bins, spec["ties"], spec["weighted"])


def _decode_variation(name: Any, given: Variation | None) -> Variation:
    require(isinstance(name, str), "variation must be a name")
    if given is not None and given.name == name:
        return given
    try:
        return as_variation(name)
    except ValueError as error:
        raise InvalidValueError(
            "unknown-measure",
            "this table was made with the measure {name!r}, which is not a built-in measure"
            + ("" if given is None else " and not {given!r}"),
            "pass it as variation=" if given is None else "",
            argument="variation",
            name=name,
            given=None if given is None else given.name,
        ) from error
