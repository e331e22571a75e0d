"""Tables as versioned JSON: exact integers, a schema number, and a reader that believes nothing.

Never pickle: a file may come from anywhere. Whatever is inconsistent in it is refused with the reason.
"""

from __future__ import annotations

import math
import os
from typing import Any, NoReturn

import numpy as np

from trueness._content import Sums, TableSpec
from trueness._sums import ExactSum, FloatSum, IntArray, Sum
from trueness._version import __version__
from trueness.binning import Edges
from trueness.ranking import TIES
from trueness.variation import Variation, as_variation

FORMAT = "trueness calibration tables"
SCHEMA = 1


def write(tables: list[dict[str, Any]], path: str | os.PathLike[str]) -> None:
    """Write encoded tables beside the target and move them there, so that no half-written file is ever seen."""
    import json
    import tempfile

    if not tables:
        raise ValueError("there is no table to save")
    content = {"format": FORMAT, "schema": SCHEMA, "library": __version__, "tables": tables}
    text = json.dumps(content, allow_nan=False)
    folder, name = os.path.split(os.path.abspath(path))
    handle, beside = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(beside, 0o666 & ~_umask())  # mkstemp makes files that only the owner may read
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def read(path: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The encoded tables of a file of a schema that is known."""
    import json

    with open(path, encoding="utf-8") as file:
        try:
            content = json.load(file, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{os.fspath(path)} is not a file of calibration tables: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{os.fspath(path)} is JSON, but not a file of calibration tables")
    if not _is_int(content.get("schema")) or content["schema"] != SCHEMA:
        raise ValueError(
            f"{os.fspath(path)} has schema {content.get('schema')!r}; this version of trueness reads schema {SCHEMA}"
        )
    tables = content.get("tables")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{os.fspath(path)} holds no tables")
    return tables


def _refuse_constant(token: str) -> NoReturn:
    raise ValueError(f"{token} is no number")


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
    _require(isinstance(content, dict) and set(content) == {"spec", "n_rows", "sums"}, "its parts are wrong")
    spec = _decode_spec(content["spec"], variation)
    expected = dict(Sums.zeros(spec).items()) if _modest(spec, content["sums"]) else {}
    _require(set(content["sums"]) == set(expected), f"its sums must be {', '.join(expected)}")
    sums = Sums(**{name: _decode_sum(name, content["sums"][name], zero) for name, zero in expected.items()})
    _require_consistent(spec, sums, content["n_rows"])
    return spec, sums


def _modest(spec: TableSpec, sums: Any) -> bool:
    """Whether the lists are as long as the spec declares: looked at before anything of that size is made."""
    _require(isinstance(sums, dict) and isinstance(sums.get("rows"), list), "it has no rows")
    _require(len(sums["rows"]) == spec.bins.n_bins, f"rows must have {spec.bins.n_bins} entries")
    ordered = sums.get("ordered")
    lines = ordered.get("whole") if isinstance(ordered, dict) else ordered
    fits = isinstance(lines, list) and all(
        isinstance(line, list) and len(line) == spec.n_classes for line in lines
    )
    _require(fits, f"ordered must have {spec.n_classes} entries in each bin")
    return True


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
    return TableSpec(spec["n_classes"], measure, bins, spec["ties"], spec["weighted"])


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
        _require(value["bits"] == zero.bits, f"{name} must be in units of 2^-{zero.bits}")
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
    _require(
        all(_is_int(leaf) and abs(leaf) < 2**62 for leaf in _leaves(value)), f"{name} must be whole numbers"
    )
    return np.array(value, dtype=np.int64).reshape(shape)


def _shape_of(value: Any) -> tuple[int, ...] | None:
    """The shape of nested lists, None if they are ragged."""
    if not isinstance(value, list):
        return ()
    inner = {_shape_of(entry) for entry in value}
    if len(inner) > 1 or None in inner:
        return None
    return (len(value), *(inner.pop() or ())) if inner else (0,)


def _leaves(value: Any) -> list[Any]:
    return [leaf for entry in value for leaf in _leaves(entry)] if isinstance(value, list) else [value]


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= 1e300


def _require_consistent(spec: TableSpec, sums: Sums, n_rows: Any) -> None:
    """What holds for the sums of any rows: a file in which it does not was damaged or tampered with."""
    rows = sums.rows
    _require(bool(np.all(rows >= 0)), "a bin has a negative count")
    _require(
        _is_int(n_rows) and n_rows == int(rows.sum()), f"n_rows is {n_rows}, but its bins hold {rows.sum()}"
    )
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
    ordered = sums.ordered.value
    _require(bool(np.all(ordered >= 0)), "ordered has a negative sum")
    downwards = np.diff(ordered, axis=1) <= slack * weight[:, None]
    _require(bool(np.all(downwards)), "the ordered probabilities of a bin increase")
    # Rows may miss 1 by the eps of the coarsest dtype that is read, bfloat16's 2^-7.
    _require(_close(sums.ordered, weight, 2.0**-7), "the probabilities of a bin do not add up to its count")
    low, high = spec.variation.range_for(spec.n_classes)
    total, margin = sums.variation.value, 1e-9 * weight * (high - low)
    inside = (total >= low * weight - margin) & (total <= high * weight + margin)
    _require(bool(np.all(inside)), "the summed variation of a bin is outside the measure's range")
    # For one row: ln p_y from -745 (the smallest float) to 0, H up to ln C, a varentropy below (ln C)²/4 + 1.
    mass, log_c = float(weight.sum()), math.log(spec.n_classes)
    reachable = -746 * mass <= float(sums.log_score.value) <= (log_c + 1) * mass
    _require(reachable, "log_score is out of reach of so many rows")
    reachable = 0 <= float(sums.log_score_variance.value) <= (log_c**2 + 2) * mass
    _require(reachable, "log_score_variance is out of reach of so many rows")


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
