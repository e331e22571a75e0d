"""Tables as versioned JSON: exact integers, a schema number, and a reader that believes nothing.

Never pickle: a file may come from anywhere. Whatever is inconsistent in it is refused with the reason.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from trueness import _json
from trueness._arrays import IntArray
from trueness._atomic_write import write_text
from trueness._version import __version__
from trueness.bins import Edges
from trueness.ranking import LEAST_LOG, TIES
from trueness.rows import sum_tolerance
from trueness.table.content import Sums, TableSpec
from trueness.table.exact_sums import ExactSum, FloatSum, Sum
from trueness.variation import Variation, as_variation

FORMAT = "trueness calibration tables"
SCHEMA = 2
SCHEMAS = (1, SCHEMA)
"""Those that are read."""

SINCE_SCHEMA_2 = frozenset({"true_probability", "square", "log_likelihood"})
"""Sums that a table read from a file of schema 1 lacks, and what was added to it too: it has all of them or none."""

COARSEST_EPS = 2.0**-7
"""That of bfloat16, the coarsest dtype that is read: by so much may the sum of a row miss 1."""


def write(tables: list[dict[str, Any]], path: str | os.PathLike[str]) -> None:
    """Write encoded tables as a file, whole or not at all."""
    import json

    if not tables:
        raise ValueError("there is no table to save")
    content = {"format": FORMAT, "schema": SCHEMA, "library": __version__, "tables": tables}
    write_text(os.fsdecode(path), json.dumps(content, allow_nan=False))


def read(path: str | os.PathLike[str], variation: Variation | None = None) -> list[tuple[TableSpec, Sums]]:
    """Spec and sums of each table of a file of a schema that is known."""
    name = os.fsdecode(path)
    with open(path, encoding="utf-8") as file:
        return read_content(parsed(file.read, name), name, variation)


def parsed(text: Callable[[], str], name: str) -> Any:
    """What JSON says; `text` is called here because bytes that are no text are refused in the same words."""
    try:
        return _json.parse(text())
    except ValueError as error:
        raise ValueError(f"{name} is not a file of calibration tables: {error}") from error


def read_content(content: Any, name: str, variation: Variation | None) -> list[tuple[TableSpec, Sums]]:
    """Spec and sums of each table in what JSON said; `name` is that of the file."""
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{name} is JSON, but not a file of calibration tables")
    require_schema(content, name)
    tables = content.get("tables")
    if not isinstance(tables, list) or not tables:
        raise ValueError(f"{name} holds no tables")
    return [_decode_in_file(table, variation, f"{name}, table {k}") for k, table in enumerate(tables, 1)]


def require_schema(content: dict[str, Any], name: str) -> None:
    """Refuse a file of a schema that is not known."""
    if not _is_int(content.get("schema")) or content["schema"] not in SCHEMAS:
        raise ValueError(
            f"{name} has schema {content.get('schema')!r}; this version of trueness reads schema "
            f"{' and '.join(map(str, SCHEMAS))}"
        )


def _decode_in_file(content: Any, variation: Variation | None, place: str) -> tuple[TableSpec, Sums]:
    try:
        return decode(content, variation)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from error


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
    """Spec and sums of an encoded table, after looking at all of it."""
    if variation is not None and not isinstance(variation, Variation):
        raise TypeError(
            f"variation must be the trueness.Variation that the table was made with, got {variation!r}; "
            "measures of trueness's own are found by the name in the file"
        )
    _require(isinstance(content, dict) and set(content) == {"spec", "n_rows", "sums"}, "its parts are wrong")
    spec = _decode_spec(content["spec"], variation)
    _require_declared_lengths(spec, content["sums"])
    expected = dict(Sums.zeros(spec).items())
    given = content["sums"]
    complete = set(given) in (set(expected), set(expected) - SINCE_SCHEMA_2)
    _require(complete, f"its sums must be {', '.join(expected)}")
    sums = Sums(**{name: _decode_sum(name, given[name], expected[name]) for name in given})
    with np.errstate(over="ignore"):  # numbers out of all proportion are refused, not warned about
        _require_consistent(spec, sums, content["n_rows"])
    return spec, sums


def _require_declared_lengths(spec: TableSpec, sums: Any) -> None:
    """Lists as long as the spec declares: looked at before anything of that size is made."""
    _require(isinstance(sums, dict) and isinstance(sums.get("rows"), list), "it has no rows")
    _require(len(sums["rows"]) == spec.bins.n_bins, f"rows must have {spec.bins.n_bins} entries")
    ordered = sums.get("ordered")
    lines = ordered.get("whole") if isinstance(ordered, dict) else ordered
    fits = isinstance(lines, list) and all(
        isinstance(line, list) and len(line) == spec.n_classes for line in lines
    )
    _require(fits, f"ordered must have {spec.n_classes} entries in each bin")


def _decode_spec(spec: Any, variation: Variation | None) -> TableSpec:
    names = {"n_classes", "variation", "edges", "snap", "ties", "weighted"}
    _require(isinstance(spec, dict) and set(spec) == names, f"its spec must give {', '.join(sorted(names))}")
    _require(
        _is_int(spec["n_classes"]) and spec["n_classes"] >= 2, "n_classes must be a whole number from 2 up"
    )
    _require(isinstance(spec["edges"], list) and all(map(_is_number, spec["edges"])), "edges must be numbers")
    _require(spec["snap"] is None or _is_number(spec["snap"]), "snap must be a number or null")
    _require(spec["ties"] in TIES, f"ties must be one of {', '.join(TIES)}")
    _require(isinstance(spec["weighted"], bool), "weighted must be true or false")
    measure = _decode_variation(spec["variation"], variation)
    try:
        bins = Edges(spec["edges"], spec["snap"]).resolve(*measure.range_for(spec["n_classes"]))
    except ValueError as error:
        raise ValueError(f"this table is damaged: {error}") from error
    _require(
        bins.snap is None or bins.snap < _narrowest(bins) / 2, "snap is as wide as half the narrowest bin"
    )
    return TableSpec(spec["n_classes"], measure, bins, spec["ties"], spec["weighted"])


def _narrowest(bins: Edges) -> float:
    """The width of the narrowest bin, but for one that holds the lowest value alone."""
    widths = np.diff(bins.edges)
    return float(widths[widths > 0].min())


def _decode_variation(name: Any, given: Variation | None) -> Variation:
    _require(isinstance(name, str), "variation must be a name")
    if given is not None and given.name == name:
        return given
    try:
        return as_variation(name)
    except ValueError as error:
        raise ValueError(
            f"this table was made with the measure {name!r}, which is none of trueness's own"
            + ("; pass it as variation=" if given is None else f", nor is it {given.name!r}")
        ) from error


def _decode_sum(name: str, value: Any, zero: Any) -> Any:
    if isinstance(zero, ExactSum):
        _require(
            isinstance(value, dict) and set(value) == {"bits", "whole", "fraction"}, f"{name} is no exact sum"
        )
        _require(
            _is_int(value["bits"]) and value["bits"] == zero.bits,
            f"{name} must be in units of 2^-{zero.bits}",
        )
        whole, fraction = (
            _integers(f"{name}.{part}", value[part], zero.whole.shape) for part in ("whole", "fraction")
        )
        _require(
            bool(np.all((fraction >= 0) & (fraction >> zero.bits == 0))),
            f"{name}.fraction must be from 0 to 1",
        )
        return ExactSum(whole, fraction, zero.bits)
    if isinstance(zero, FloatSum):
        _require(_shape_of(value) == zero.value.shape, f"{name} must have shape {zero.value.shape}")
        _require(all(map(_is_number, _leaves(value))), f"{name} must be finite numbers")
        return FloatSum(np.array(value, dtype=np.float64))
    return _integers(name, value, zero.shape)


def _integers(name: str, value: Any, shape: tuple[int, ...]) -> IntArray:
    _require(_shape_of(value) == shape, f"{name} must have shape {shape}")
    leaves = _leaves(value)
    whole = set(map(type, leaves)) <= {int} and all(abs(leaf) < 2**62 for leaf in (max(leaves), min(leaves)))
    _require(whole, f"{name} must be whole numbers")
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


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e300


def _require_consistent(spec: TableSpec, sums: Sums, n_rows: Any) -> None:
    """What holds for the sums of any rows: a file in which it does not was damaged or tampered with."""
    rows = sums.rows
    _require(bool(np.all(rows >= 0)), "a bin has a negative count")
    _require(_is_int(n_rows), f"n_rows must be a whole number, got {type(n_rows).__name__}")
    _require(abs(n_rows) < 2**62, "n_rows is more than can be counted")
    counted = sum(rows.tolist())
    _require(n_rows == counted, f"n_rows is {n_rows}, but its bins hold {counted}")
    for name in ("tied_rows", "impossible_rows"):
        _require(0 <= int(getattr(sums, name)) <= n_rows, f"{name} is not between 0 and the number of rows")
    weight, slack = _require_weights(sums)
    for name in ("rank", "ordered", "variation"):
        value = getattr(sums, name).value
        _require(bool(np.all(value[rows == 0] == 0)), f"{name} is not zero in a bin without rows")
    _require(bool(np.all(sums.rank.value >= 0)), "rank has a negative count")
    _require(_close(sums.rank, weight, slack), "the ranks of a bin do not add up to its count")
    whole_ranks = spec.ties == "split" or not isinstance(sums.rank, ExactSum) or not sums.rank.fraction.any()
    _require(whole_ranks, "ties are not split, but ranks have fractions")
    ordered, off = sums.ordered.value, sum_tolerance(spec.n_classes, COARSEST_EPS)
    _require(bool(np.all(ordered >= 0)), "ordered has a negative sum")
    downwards = np.diff(ordered, axis=1) <= slack * weight[:, None]
    _require(bool(np.all(downwards)), "the ordered probabilities of a bin increase")
    _require(_close(sums.ordered, weight, off), "the probabilities of a bin do not add up to its count")
    _require(
        _within_edges(spec, sums.variation, weight), "the summed variation of a bin is outside its edges"
    )
    # For one row: H up to ln C, a varentropy below (ln C)²/4 + 1, and ln p_y from that of the farthest logit to 0.
    mass, log_c = float(weight.sum()), math.log(spec.n_classes)
    reachable = LEAST_LOG * mass <= float(sums.log_score.value) <= (log_c + 1) * mass
    _require(reachable, "log_score is out of reach of so many rows")
    reachable = 0 <= float(sums.log_score_variance.value) <= (log_c**2 + 2) * mass
    _require(reachable, "log_score_variance is out of reach of so many rows")
    _require_scores(spec, sums, mass, slack)


def _require_scores(spec: TableSpec, sums: Sums, mass: float, slack: float) -> None:
    """What holds for the sums that accuracy's companions are read off: p_y is one of the ordered probabilities."""
    if sums.true_probability is None or sums.square is None or sums.log_likelihood is None:
        return
    slack = max(slack, 1e-15) * mass
    ordered = sums.ordered.value.sum(axis=0)
    within = ordered[-1] - slack <= float(sums.true_probability.value) <= ordered[0] + slack
    _require(within, "true_probability is not between the smallest and the largest probabilities")
    # Cauchy and Schwarz: (Σp)² ≤ C·Σp² ≤ C·Σp for each row.
    off = sum_tolerance(spec.n_classes, COARSEST_EPS)
    least, most = (1 - off) ** 2 / spec.n_classes, 1 + off
    within = least * mass - slack <= float(sums.square.value) <= most * mass + slack
    _require(within, "square is out of reach of so many rows")
    log_likelihood = float(sums.log_likelihood.value)
    _require(LEAST_LOG * mass <= log_likelihood <= 0, "log_likelihood is out of reach of so many rows")
    entropy = float(sums.log_score.value) - log_likelihood
    rounding = slack + 1e-12 * (mass - log_likelihood)
    within = -rounding <= entropy <= (math.log(spec.n_classes) + 1) * mass + rounding
    _require(within, "log_score and log_likelihood do not belong to the same rows")


def _within_edges(spec: TableSpec, variation: Sum, weight: Any) -> bool:
    """Whether the mean V of each bin is between its edges, or above by no more than still counts as on the edge.

    How much that is depends on the dtype of the rows, which is not in the file: at most that of the coarsest one,
    and always less than half a bin.
    """
    low, high = spec.variation.range_for(spec.n_classes)
    coarsest = min((high - low) * 4 * COARSEST_EPS, _narrowest(spec.bins) / 2)
    snap = coarsest if spec.bins.snap is None else spec.bins.snap
    edges = np.array(spec.bins.edges)
    edges[0], edges[-1] = min(edges[0], low), max(edges[-1], high)  # V was put into its range first
    least, most = np.maximum(edges[:-1], low), np.minimum(edges[1:] + snap, high)
    margin = 1e-9 * max(abs(low), abs(high))
    total = variation.value
    return bool(np.all((total >= (least - margin) * weight) & (total <= (most + margin) * weight)))


def _require_weights(sums: Sums) -> tuple[Any, float]:
    """The mass of each bin, and how exactly sums over it are kept."""
    if sums.weight is None or sums.weight_square is None:
        return sums.rows.astype(np.float64), 0.0
    weight, square = sums.weight.value, sums.weight_square.value
    _require(bool(np.all((weight >= 0) & (square >= 0))), "a bin has a negative weight")
    _require(
        bool(np.all((weight > 0) == (sums.rows > 0))), "a bin has weight without rows, or rows without weight"
    )
    cauchy = weight**2 <= sums.rows * square * (1 + 1e-9)
    _require(bool(np.all(cauchy)), "weight_square of a bin is too small for its weight")
    return weight, 1e-9


def _close(lines: Sum, total: Any, slack: float) -> bool:
    """Whether the lines of a sum add up to the total of their bin; exactly if slack is 0."""
    if isinstance(lines, ExactSum) and slack == 0.0:
        units = lines.fraction.astype(object).sum(axis=1)
        exact = lines.whole.astype(object).sum(axis=1) * 2**lines.bits + units
        return bool(np.all(exact == total.astype(np.int64).astype(object) * 2**lines.bits))
    return bool(np.all(np.abs(lines.value.sum(axis=1) - total) <= slack * total))


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(f"this table is damaged: {problem}")
