"""Tables as versioned JSON: exact integers and a schema number.

JSON and not pickle, because a file may come from anywhere. Inconsistent content is refused (`consistency`).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from trueness import _json
from trueness._arrays import IntArray
from trueness._version import __version__
from trueness.atomic_files import write_text
from trueness.bins import Edges, EqualWidth
from trueness.old_table import packed_numbers
from trueness.old_table.consistency import damaged_table_error, is_int, narrowest, require, require_consistent
from trueness.old_table.content import Sums, TableSpec, is_by_bin
from trueness.old_table.exact_sums import ZERO_IF_ABSENT
from trueness.old_table.json_numbers import (
    decode_sum,
    encode_numbers,
    encode_sum,
    indices,
    is_number,
)
from trueness.old_table.sparse_sums import decode_kept, kept
from trueness.ranking import TIES
from trueness.refusals import InvalidTypeError, InvalidValueError, Refusal, quote
from trueness.variation import Variation, as_variation

T = TypeVar("T")

FORMAT = "trueness calibration tables"
SCHEMA = 5

MOST_BINS_WRITTEN_OUT = 100
"""Of tables with more bins, those without rows are left out, and the edges if the bins are of equal width."""

OPTIONS = "options"
"""The value of the key "together"."""


def write(tables: list[dict[str, Any]], path: str | os.PathLike[str], together: str | None = None) -> None:
    """Write encoded tables as a file, atomically; `together` is `OPTIONS` if rows have options of their own."""
    import json

    if not tables:
        raise InvalidValueError("no-tables", "there is no table to save")
    write_text(os.fsdecode(path), json.dumps(file_content(tables, together), allow_nan=False))


def file_content(tables: list[dict[str, Any]], together: str | None = None) -> dict[str, Any]:
    """What is written to a file of encoded tables."""
    head: dict[str, Any] = {"format": FORMAT, "schema": SCHEMA, "library": __version__}
    return head | ({} if together is None else {"together": together}) | {"tables": tables}


def are_together(content: Any) -> bool:
    """Whether the tables of a file are those of different numbers of options."""
    return isinstance(content, dict) and content.get("together") is not None


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
        cause = f"{name} is not a file of calibration tables: {error}"
        raise InvalidValueError("damaged-file", cause) from error


def read_content(content: Any, name: str, decode: Callable[[Any], T]) -> list[T]:
    """Each table in the content of a file, as `decode` makes it; `name` is that of the file."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        cause = f"{name} is JSON, but not a file of calibration tables"
        raise InvalidValueError("damaged-file", cause)
    require_schema(content, name)
    if content.get("together") not in (None, OPTIONS):
        value = content["together"]
        cause = f"{name} is damaged: its tables belong together as {quote(value)}, which is unknown"
        raise InvalidValueError("damaged-file", cause, value=value)
    tables = content.get("tables")
    if not isinstance(tables, list) or not tables:
        raise InvalidValueError("no-tables", f"{name} holds no tables")
    return [_decode_in_file(table, decode, f"{name}, table {k}") for k, table in enumerate(tables, 1)]


def is_of_events(content: Any) -> bool:
    """Whether an encoded table is one of events."""
    return isinstance(content, dict) and "events" in content


def is_by_measure(content: Any) -> bool:
    """Whether an encoded table is one that is binned by a measure: not one of events, and not clusters."""
    return not isinstance(content, dict) or not ({"events", "clusters"} & set(content))


def require_schema(content: dict[str, Any], name: str) -> None:
    """Refuse a file of another schema."""
    if not is_int(content.get("schema")) or content["schema"] != SCHEMA:
        schema = content.get("schema")
        remedy = f"this version of trueness reads schema {SCHEMA}"
        raise InvalidValueError("unknown-schema", f"{name} has schema {schema!r}", remedy)


def _decode_in_file(content: Any, decode: Callable[[Any], T], place: str) -> T:
    try:
        return decode(content)
    except InvalidValueError as error:
        raise error.with_facts(source=place) from error


def encode(spec: TableSpec, sums: Sums) -> dict[str, Any]:
    """Spec and sums as plain numbers, lists and strings."""
    content = {"spec": encode_spec(spec), "n_rows": int(sums.rows.sum())}
    if not _leaves_out_bins(spec):
        return content | {"sums": {name: encode_sum(value) for name, value in sums.items()}}
    at = sums.filled_bins
    listed = {name: kept(value, (at,)) if is_by_bin(name, value) else value for name, value in sums.items()}
    return content | {
        "bins": encode_numbers(at),
        "sums": {name: encode_sum(value) for name, value in listed.items()},
    }


def _leaves_out_bins(spec: TableSpec) -> bool:
    """Whether bins without rows are left out: of many, but not so many that a short file could fill the memory."""
    n_bins = spec.bins.n_bins
    return n_bins > MOST_BINS_WRITTEN_OUT and n_bins * spec.n_cells <= packed_numbers.MOST


def encode_spec(spec: TableSpec) -> dict[str, Any]:
    """A spec as plain numbers, lists and strings."""
    return {
        "n_classes": spec.n_classes,
        "variation": spec.variation.name,
        "edges": _encode_edges(spec),
        "snap": spec.bins.snap,
        "ties": spec.ties,
        "weighted": spec.weighted,
    }


def _encode_edges(spec: TableSpec) -> list[float] | int:
    """The edges of the bins; of many bins of equal width only their number."""
    n_bins = spec.bins.n_bins
    many = n_bins > MOST_BINS_WRITTEN_OUT
    return n_bins if many and EqualWidth(n_bins).resolve(*spec.range) == spec.bins else list(spec.bins.edges)


def decode(content: dict[str, Any], variation: Variation | None = None) -> tuple[TableSpec, Sums]:
    """Spec and sums of an encoded table, of which everything is checked."""
    if variation is not None and not isinstance(variation, Variation):
        raise InvalidTypeError(
            "wrong-type",
            f"variation must be the trueness.Variation that the table was made with, got {variation!r}",
            "built-in measures are found by the name in the file",
            argument="variation",
            value=variation,
        )
    parts = {"spec", "n_rows", "sums"}
    require(isinstance(content, dict) and set(content) - {"bins"} == parts, "its parts are wrong")
    spec, given = decode_spec(content["spec"], variation), content["sums"]
    require(isinstance(given, dict), "it has no sums")
    at = _decode_bins(spec, content["bins"]) if "bins" in content else None
    _require_declared_lengths(spec, given, spec.bins.n_bins if at is None else len(at))
    expected = dict(Sums.zeros(spec).items())
    names = set(expected)
    if "label_spread" in given:
        expected["label_spread"] = expected["true_probability"]
    require(set(given) - ZERO_IF_ABSENT == names, f"its sums must be {', '.join(expected)}")
    sums = Sums(**{name: _decode_sum(name, given[name], expected[name], at) for name in given})
    require(at is None or bool(np.all(sums.rows[at] > 0)), "a listed bin has no rows")
    with np.errstate(over="ignore"):  # numbers that are far too large are refused without a warning
        require_consistent(spec, sums, content["n_rows"])
    return spec, sums


def _decode_bins(spec: TableSpec, bins: Any) -> IntArray:
    """The bins with rows, of a table that leaves out the others."""
    require(_leaves_out_bins(spec), "it has too few bins to leave some out, or too many cells")
    return indices("bins", bins, spec.bins.n_bins, "bins of the table")


def _decode_sum(name: str, value: Any, zero: Any, at: IntArray | None) -> Any:
    """A sum of the table, from its entries for the bins with rows if the others are left out."""
    if at is None or not is_by_bin(name, zero):
        return decode_sum(name, value, zero)
    return decode_kept(name, value, zero, (at,))


def _require_declared_lengths(spec: TableSpec, sums: dict[str, Any], n_listed: int) -> None:
    """Refuse lists of other lengths than declared, before anything of the size of the table is allocated."""
    rows, ordered = sums.get("rows"), sums.get("ordered")
    lines = ordered.get("whole") if isinstance(ordered, dict) else ordered
    if isinstance(lines, str):  # it is unpacked to no more than fits
        require(spec.bins.n_bins * spec.n_cells <= packed_numbers.MOST, "it has too many cells")
        return
    require(isinstance(rows, (list, str)), "it has no rows")
    require(not isinstance(rows, list) or len(rows) == n_listed, f"rows must have {n_listed} entries")
    fits = (
        isinstance(lines, list)
        and len(lines) == n_listed
        and all(isinstance(line, list) and len(line) == spec.n_cells for line in lines)
    )
    require(fits, f"ordered must have {spec.n_cells} entries in each bin")


def decode_spec(spec: Any, variation: Variation | None) -> TableSpec:
    """The spec of `encode_spec`, of which everything is checked."""
    names = {"n_classes", "variation", "edges", "snap", "ties", "weighted"}
    require(isinstance(spec, dict) and set(spec) == names, f"its spec must give {', '.join(sorted(names))}")
    n_classes = spec["n_classes"]
    require(is_int(n_classes) and n_classes >= 2, "n_classes must be an integer of at least 2")
    require(_are_edges(spec["edges"]), "edges must be numbers")
    snapped = is_number(spec["snap"]) and not is_int(spec["edges"])
    require(spec["snap"] is None or snapped, "snap must be a number or null, and null for many equal bins")
    require(spec["ties"] in TIES, f"ties must be one of {', '.join(TIES)}")
    require(isinstance(spec["weighted"], bool), "weighted must be true or false")
    measure = _decode_variation(spec["variation"], variation)
    try:
        bins = _decode_edges(spec["edges"], spec["snap"])
        some = Edges([0, 1]) if isinstance(bins, EqualWidth) else bins
        whole = TableSpec(n_classes, measure, some, spec["ties"], spec["weighted"])
        whole = replace(whole, bins=bins.resolve(*whole.range))
    except ValueError as error:
        raise damaged_table_error(error) from error
    snap = whole.bins.snap
    require(snap is None or snap < narrowest(whole.bins) / 2, "snap is as wide as half the narrowest bin")
    return whole


def _are_edges(edges: Any) -> bool:
    """Whether edges are listed, or are as many of equal width as are not written out."""
    if is_int(edges):
        return bool(edges > MOST_BINS_WRITTEN_OUT)
    return isinstance(edges, list) and all(map(is_number, edges))


def _decode_edges(edges: Any, snap: Any) -> Edges | EqualWidth:
    return EqualWidth(edges) if is_int(edges) else Edges(edges, snap)


def _decode_variation(name: Any, given: Variation | None) -> Variation:
    require(isinstance(name, str), "variation must be a name")
    if given is not None and given.name == name:
        return given
    try:
        return as_variation(name)
    except ValueError as error:
        other = None if given is None else given.name
        cause = f"this table was made with the measure {name!r}, which is not a built-in measure" + (
            "" if given is None else f" and not {other!r}"
        )
        remedy = "pass it as variation=" if given is None else ""
        raise InvalidValueError("unknown-measure", cause, remedy, argument="variation") from error
