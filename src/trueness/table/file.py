"""Tables as versioned JSON: exact integers and a schema number.

JSON and not pickle, because a file may come from anywhere. Inconsistent content is refused (`consistency`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from trueness import _json
from trueness._arrays import IntArray
from trueness._atomic_write import write_text
from trueness._version import __version__
from trueness.bins import Edges
from trueness.ranking import TIES
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal
from trueness.table.consistency import damaged_table_error, is_int, narrowest, require, require_consistent
from trueness.table.content import Sums, TableSpec
from trueness.table.exact_sums import ExactSum, FloatSum
from trueness.variation import Variation, as_variation

FORMAT = "trueness calibration tables"
SCHEMA = 2
SCHEMAS = (1, SCHEMA)
"""The schemas that are read."""

SINCE_SCHEMA_2 = frozenset({"true_probability", "square", "log_likelihood"})
"""Sums that a table of schema 1 lacks, and so do tables added to it. A table has all of them or none."""


def write(tables: list[dict[str, Any]], path: str | os.PathLike[str]) -> None:
    """Write encoded tables as a file, atomically."""
    import json

    if not tables:
        raise InvalidValueError("no-tables", "there is no table to save")
    content = {"format": FORMAT, "schema": SCHEMA, "library": __version__, "tables": tables}
    write_text(os.fsdecode(path), json.dumps(content, allow_nan=False))


def read(path: str | os.PathLike[str], variation: Variation | None = None) -> list[tuple[TableSpec, Sums]]:
    """Spec and sums of each table of a file."""
    name = os.fsdecode(path)
    with open(path, encoding="utf-8") as file:
        return read_content(parse_file(file.read, name), name, variation)


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


def read_content(content: Any, name: str, variation: Variation | None) -> list[tuple[TableSpec, Sums]]:
    """Spec and sums of each table in the content of a file; `name` is that of the file."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidValueError(
            "damaged-file", "{file} is JSON, but not a file of calibration tables", file=name
        )
    require_schema(content, name)
    tables = content.get("tables")
    if not isinstance(tables, list) or not tables:
        raise InvalidValueError("no-tables", "{file} holds no tables", file=name)
    return [_decode_in_file(table, variation, f"{name}, table {k}") for k, table in enumerate(tables, 1)]


def require_schema(content: dict[str, Any], name: str, known: tuple[int, ...] = SCHEMAS) -> None:
    """Refuse a file of an unknown schema."""
    if not is_int(content.get("schema")) or content["schema"] not in known:
        raise InvalidValueError(
            "unknown-schema",
            "{file} has schema {schema!r}",
            "this version of trueness reads schema {known}",
            file=name,
            schema=content.get("schema"),
            known=" and ".join(map(str, known)),
        )


def _decode_in_file(content: Any, variation: Variation | None, place: str) -> tuple[TableSpec, Sums]:
    try:
        return decode(content, variation)
    except InvalidValueError as error:
        raise error.with_facts(source=place) from error


def encode(spec: TableSpec, sums: Sums) -> dict[str, Any]:
    """Spec and sums as plain numbers, lists and strings."""
    return {
        "spec": {
            "n_classes": spec.n_classes,
            "variation": spec.variation.name,
            "edges": list(spec.bins.edges),
            "snap": spec.bins.snap,
            "ties": spec.ties,
            "weighted": spec.weighted,
        },
        "n_rows": int(sums.rows.sum()),
        "sums": {name: _encode_sum(value) for name, value in sums.items()},
    }


def _encode_sum(value: Any) -> Any:
    if isinstance(value, ExactSum):
        return {"bits": value.bits, "whole": value.whole.tolist(), "fraction": value.fraction.tolist()}
    return (value.value if isinstance(value, FloatSum) else value).tolist()


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
    spec = _decode_spec(content["spec"], variation)
    _require_declared_lengths(spec, content["sums"])
    expected = dict(Sums.zeros(spec).items())
    given = content["sums"]
    complete = set(given) in (set(expected), set(expected) - SINCE_SCHEMA_2)
    require(complete, f"its sums must be {', '.join(expected)}")
    sums = Sums(**{name: _decode_sum(name, given[name], expected[name]) for name in given})
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


def _decode_spec(spec: Any, variation: Variation | None) -> TableSpec:
    names = {"n_classes", "variation", "edges", "snap", "ties", "weighted"}
    require(isinstance(spec, dict) and set(spec) == names, f"its spec must give {', '.join(sorted(names))}")
    require(
        is_int(spec["n_classes"]) and spec["n_classes"] >= 2, "n_classes must be an integer of at least 2"
    )
    require(isinstance(spec["edges"], list) and all(map(_is_number, spec["edges"])), "edges must be numbers")
    require(spec["snap"] is None or _is_number(spec["snap"]), "snap must be a number or null")
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


def _decode_sum(name: str, value: Any, zero: Any) -> Any:
    if isinstance(zero, ExactSum):
        require(
            isinstance(value, dict) and set(value) == {"bits", "whole", "fraction"},
            f"{name} is not an exact sum",
        )
        require(
            is_int(value["bits"]) and value["bits"] == zero.bits,
            f"{name} must be in units of 2^-{zero.bits}",
        )
        whole, fraction = (
            _integers(f"{name}.{part}", value[part], zero.whole.shape) for part in ("whole", "fraction")
        )
        require(
            bool(np.all((fraction >= 0) & (fraction >> zero.bits == 0))),
            f"{name}.fraction must be from 0 to 1",
        )
        return ExactSum(whole, fraction, zero.bits)
    if isinstance(zero, FloatSum):
        require(_shape_of(value) == zero.value.shape, f"{name} must have shape {zero.value.shape}")
        require(all(map(_is_number, _leaves(value))), f"{name} must be finite numbers")
        return FloatSum(np.array(value, dtype=np.float64))
    return _integers(name, value, zero.shape)


def _integers(name: str, value: Any, shape: tuple[int, ...]) -> IntArray:
    require(_shape_of(value) == shape, f"{name} must have shape {shape}")
    leaves = _leaves(value)
    whole = set(map(type, leaves)) <= {int} and all(abs(leaf) < 2**62 for leaf in (max(leaves), min(leaves)))
    require(whole, f"{name} must be integers")
    return np.array(value, dtype=np.int64).reshape(shape)


def _shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of nested lists, None if they are ragged."""
    if not isinstance(value, list):
        return ()
    if list not in set(map(type, value)):  # the innermost lists, which hold nearly everything
        return (len(value),)
    inner = {_shape_of(entry) for entry in value}
    if len(inner) > 1 or None in inner:
        return None
    return (len(value), *(inner.pop() or ())) if inner else (0,)


def _leaves(value: Any) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    if list not in set(map(type, value)):
        return value
    return [leaf for entry in value for leaf in _leaves(entry)]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e300
