"""Saved tables: JSON with a checksum, which is refused if anything in it was changed.

The header tells the shapes of all sums, and how much memory they take is checked before any is
allocated. Bins without rows are left out. Up to 256 numbers are a list; more are packed: their
bytes, the lowest of all numbers first, compressed by zlib (RFC 1950) and written in base64
(RFC 4648). Reading a file executes nothing.
"""

from __future__ import annotations

import base64
import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, fields
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness import exact_sums
from trueness._version import __version__
from trueness.atomic_files import write_text
from trueness.bins import Edges
from trueness.exact_sums import LOG_SCORE_BITS, IntArray
from trueness.refusals import InvalidValueError, quote
from trueness.spec import MOST_BYTES, Field, Spec
from trueness.variation import Variation, as_variation

FORMAT, SCHEMA = "trueness table", 1
MOST_LISTED = 256

Arrays = dict[str, NDArray[Any]]
_EMBEDDED = re.compile(
    r'<script[^>]* type="application/json"[^>]* id="table"[^>]*>(.*?)</script>', re.DOTALL
)


def write(content: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Write an encoded table, completely or not at all."""
    write_text(os.fsdecode(path), json.dumps(content, allow_nan=False))


def read(path: str | os.PathLike[str]) -> Iterator[Mapping[str, Any]]:
    """The encoded table of a file or a report, or those of the JSON files of a folder."""
    place = Path(os.fsdecode(path))
    if place.is_dir():
        files = sorted(place.glob("*.json"))
        if not files:
            raise InvalidValueError("no-tables", f"{place} holds no file *.json")
        for file in files:
            yield from read(file)
        return
    try:
        text = place.read_text(encoding="utf-8").strip()
        if (report := _EMBEDDED.search(text)) is not None:
            text = report[1].replace(r"<\/", "</").strip()
        content = json.loads(text)
        unchanged = json.dumps(content) == text
    except (ValueError, RecursionError) as error:
        cause = f"{place} is not a saved table: it is not JSON"
        raise InvalidValueError("damaged-file", cause) from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InvalidValueError("damaged-file", f"{place} is JSON, but not a saved table")
    if not unchanged:
        raise InvalidValueError("damaged-file", f"{place} was changed after it was saved")
    yield content


# A table as plain numbers, lists and texts


class Content(NamedTuple):
    """What a table holds: with the sums the unit and the number of options of each part."""

    spec: Spec
    group: tuple[str | None, ...]
    arrays: Arrays
    clusters: tuple[Any, ...] | None
    by: str | None


def encode(table: Content) -> dict[str, Any]:
    """Everything in a table, with a checksum at the end."""
    spec, group, arrays, clusters, by = table
    number = {name: k for k, name in enumerate(dict.fromkeys(group))}
    code = np.array([number[name] for name in group], np.int64)
    kept = {_family(its): _filled(spec, arrays, its) for _, its in spec.fields()}
    sums = {
        name: _listed(_lines(arrays[name], its)[kept[_family(its)]]) for name, its in spec.fields()
    }
    content: dict[str, Any] = {
        "format": FORMAT,
        "schema": SCHEMA,
        "library": __version__,
        "spec": _encode_spec(spec),
        "by": by,
        "groups": [*number],
        "clusters": None,
        "n_groups": len(arrays["square"]),
        "parts": [_listed(each) for each in (code, arrays["unit"], arrays["options"])],
        "kept": {family: _listed(at) for family, at in kept.items()},
        "sums": sums,
    }
    if clusters is not None:
        identities, named, n_blocks = clusters
        content["clusters"] = [_listed(identities), None if named is None else [*named], n_blocks]
    return content | {"crc32": _checksum(content)}


def decode(content: Mapping[str, Any], variation: Variation | None = None) -> Content:
    """What `encode` was given; refused if anything was changed, or is larger than allowed."""
    schema = content.get("schema") if isinstance(content, Mapping) else None
    if schema != SCHEMA or isinstance(schema, bool):
        cause = f"this table has schema {quote(schema)}"
        raise InvalidValueError("unknown-schema", cause, f"this version reads schema {SCHEMA}")
    try:
        body = {name: value for name, value in content.items() if name != "crc32"}
        if content.get("crc32") != _checksum(body):
            raise _damaged("its checksum is wrong")
        return _decoded(content, variation)
    except (
        LookupError,
        TypeError,
        ValueError,
        ArithmeticError,
        AttributeError,
        RecursionError,
    ) as error:
        if isinstance(error, InvalidValueError):
            raise
        raise _damaged(error) from error


def _decoded(content: Mapping[str, Any], variation: Variation | None) -> Content:
    """`decode` of content whose checksum is right, but which anybody may have written."""
    spec = _decode_spec(content["spec"], variation)
    names, n_groups, by = (content[name] for name in ("groups", "n_groups", "by"))
    code, unit, options = (
        _numbers(each, None, dtype)
        for each, dtype in zip(content["parts"], (np.int64, np.uint64, np.int64), strict=True)
    )
    n_options = max(options.tolist(), default=spec.n_classes or 0)
    if spec.n_classes not in (None, n_options):
        raise _damaged("its parts have another number of classes")
    if content["sums"].keys() != {name for name, _ in spec.fields()}:
        raise _damaged("it has other sums than its spec says")
    _limit(spec.n_bytes(len(unit), n_groups, n_options))
    arrays = spec.zeros(len(unit), n_groups, n_options)
    for name, its in spec.fields():
        lines = _lines(arrays[name], its)
        at = _numbers(content["kept"][_family(its)], None, np.int64)
        if len(at) and (at[0] < 0 or at[-1] >= len(lines) or (np.diff(at) <= 0).any()):
            raise _damaged(f"the bins of {name} are out of range")
        lines[at] = _numbers(content["sums"][name], (len(at), *lines.shape[1:]), lines.dtype)
    group = tuple(names[k] for k in code.tolist())
    of_group = _groups_of_parts(code, options, unit)
    kinds = {type(name) for name in (*names, by)}
    if kinds - {str} and (kinds != {type(None)} or len(names) > 1):
        raise _damaged("groups must have names and be values of a column")
    if names != sorted(set(group), key=str) or n_groups != len(set(of_group.tolist())):
        raise _damaged("it has other groups than its parts")
    _refuse_impossible(spec, arrays, of_group, n_options)
    clusters = _decode_clusters(content["clusters"], unit)
    arrays |= {"unit": unit, "options": options}
    return Content(spec, group, arrays, clusters, by)


def _groups_of_parts(code: IntArray, options: IntArray, unit: NDArray[np.uint64]) -> IntArray:
    """The number of each part's group and number of options; parts must be in order, and differ."""
    if (code < 0).any() or (options < 2).any():
        raise _damaged("its parts are out of range")
    steps = np.diff(code), np.diff(options)
    starts = (steps[0] > 0) | (steps[0] == 0) & (steps[1] > 0)
    stays = (steps[0] == 0) & (steps[1] == 0) & (unit[1:] > unit[:-1])
    if not (starts | stays).all():
        raise _damaged("its parts are not in order, or not distinct")
    return np.cumsum(np.append(False, starts))[: len(code)]


def _decode_clusters(content: Any, unit: NDArray[np.uint64]) -> tuple[Any, ...] | None:
    """Identities, names and number of blocks, if they are those of the units."""
    if content is None:
        if unit.any():
            raise _damaged("it has units but no clusters")
        return None
    given, names, n_blocks = content
    identities = _numbers(given, None, np.uint64)
    if (identities[1:] <= identities[:-1]).any():
        raise _damaged("its clusters are not in order, or not distinct")
    if n_blocks is None:
        known = isinstance(names, list) and {type(name) for name in names} <= {str}
        if not known or len(names) != len(identities) or not np.isin(unit, identities).all():
            raise _damaged("its clusters are not its units")
        return identities, tuple(names), None
    is_power = type(n_blocks) is int and 0 < n_blocks <= 2**63 and not n_blocks & (n_blocks - 1)
    if names is not None or not is_power or (unit >= np.uint64(n_blocks)).any():
        raise _damaged("its units are not blocks of its clusters")
    return identities, None, n_blocks


def _refuse_impossible(spec: Spec, arrays: Arrays, of_group: IntArray, n_options: int) -> None:
    """Refuse sums that no rows have: of bins that do not add up, or of more than rows can add."""
    mass = "weight" if spec.weighted else "rows"
    total: dict[tuple[str, str], NDArray[Any]] = {}
    for kind in {"rows", mass}:
        n = 1.0 * arrays[kind if spec.bins is not None else f"top_{kind}"].sum(axis=-1)
        of_groups = exact_sums.add_alike(n, 0, of_group, len(arrays["square"]))
        total |= {("part", kind): n, ("group", kind): of_groups}
    for name, its in spec.fields():
        each, axes = exact_sums.value(arrays[name], its.bits), (..., *[None] * len(its.dims))
        kind = "rows" if its.counts else mass
        whole, low, high = total[its.axis, kind], 0.0, 1.0  # the least and most that a row adds
        held, exact, rules = whole[axes], its.bits > 0 and not spec.is_float(its), []
        for dim in its.dims:
            if dim in _VIEWS:
                held = np.asarray(arrays[_VIEWS[dim] + kind], float)
                if len(held) != len(whole):
                    held = exact_sums.add_alike(held, 0, of_group, len(whole))
        if "rank" in its.dims:  # the sum of a row's probabilities may be off by some rounding
            near = 1e-9 if name == "ranks" else 0.02
            rules += [np.isclose(each.sum(axis=-1), held, near, 0)]
            held = held[..., None]
        if name.endswith(("rows", "weight")) and its.dims:
            rules += [np.isclose(each.sum(axis=-1), whole[axes[:-1]], 1e-9, 0)]
        if name.endswith("weight"):
            rules += [(each >= 1e-140) == (arrays[name.replace("weight", "rows")] > 0)]
        if name == "variation" and spec.variation is not None:
            low, high = spec.variation.range_for(n_options or 2)
        if its.bits == LOG_SCORE_BITS:  # ln p is not below -2²²
            low, high = -(2.0**23), 0.0 if name == "log_likelihood" else 2.0**23
        if name.endswith(("_square", "_variance")):
            low, high = 0.0, 2.0**23
            held = whole[axes] ** 2 if spec.weighted else held
        slack = 1e-9 * max(-low, high) * held
        rules += [each >= low * held - slack, each <= high * held + slack]
        rules += [np.abs(each) < (2.0**60 if exact else 1e300)]
        if exact:
            rules += [arrays[name][..., 1] >= 0, arrays[name][..., 1] >> its.bits == 0]
        if not all(np.all(rule) for rule in rules):
            raise _damaged(f"{name} is not a sum of rows")


_VIEWS = {"bin": "", "top_bin": "top_", "cell": "class_"}
"""For each axis of bins, how the names of the sums begin that count the rows in them."""


def _family(its: Field) -> str:
    """The axes of a sum without the ranks, such as "part bin": sums that share them share bins."""
    return " ".join([its.axis, *(dim for dim in its.dims if dim != "rank")])


def _lines(sums: NDArray[Any], its: Field) -> NDArray[Any]:
    """A sum as lines, one for each bin of each part: a view, (lines, ...)."""
    n = 1 + len(its.dims) - ("rank" in its.dims)
    return sums.reshape(prod(sums.shape[:n]), *sums.shape[n:])


def _filled(spec: Spec, arrays: Mapping[str, NDArray[Any]], like: Field) -> IntArray:
    """The lines in which one of the sums that share them is not zero."""
    filled: Any = False
    for name, its in spec.fields():
        if _family(its) == _family(like):
            lines = _lines(arrays[name], its)
            filled |= (lines != 0).reshape(len(lines), prod(lines.shape[1:])).any(axis=1)
    return np.flatnonzero(filled)


def _encode_spec(spec: Spec) -> dict[str, Any]:
    kept = {each.name: getattr(spec, each.name) for each in fields(spec)}
    return {
        name: asdict(it) if isinstance(it, Edges) else it.name if isinstance(it, Variation) else it
        for name, it in kept.items()
    }


def _decode_spec(content: Any, variation: Variation | None) -> Spec:
    """The spec, whose every part is checked by what it is made of."""
    made: dict[str, Any] = {
        name: tuple(it) if isinstance(it, list) else it for name, it in content.items()
    }
    for name in ("bins", "top_bins", "class_bins"):
        if made[name] is not None:
            made[name] = Edges(made[name]["edges"], made[name]["snap"])
    name = made["variation"]
    if variation is not None and name == variation.name:
        made["variation"] = variation
    elif name is not None:
        try:
            made["variation"] = as_variation(name)
        except ValueError as error:
            cause = f"this table was made with the measure {quote(name)}, which is not built in"
            remedy = "pass it as `variation=`"
            raise InvalidValueError("unknown-measure", cause, remedy) from error
    spec = Spec(**made)
    n, names, classes = spec.n_classes, spec.class_names, spec.classes
    is_class = range(n) if type(n) is int else ()
    rules = {
        "n_classes": n is None or (type(n) is int and n >= 2),
        "bins": (spec.bins is None) == (spec.variation is None) and (spec.bins or spec.top_bins),
        "classes": type(classes) is tuple
        and all(type(k) is int and k in is_class for k in classes),
        "class_bins": len({*classes}) == len(classes)
        and bool(classes) == (spec.class_bins is not None),
        "ties": spec.ties in ("first", "split"),
        "weighted": {type(it) for it in (spec.weighted, spec.scores, spec.by_prediction)} == {bool},
        "class_names": names is None
        or (len(names) == n and {type(name) for name in names} == {str}),
    }
    for name, holds in rules.items():
        if not holds:
            raise _damaged(f"its {name} cannot be those of a table")
    _limit(spec.n_bytes(1, 1, n or 2))
    return spec


def _limit(n_bytes: int) -> None:
    if n_bytes > MOST_BYTES:
        raise InvalidValueError("too-large", f"this table takes more than {MOST_BYTES >> 20} MB")


# Numbers


def _listed(numbers: NDArray[Any]) -> Any:
    """Numbers as nested lists, or packed."""
    return numbers.tolist() if numbers.size <= MOST_LISTED else _packed(numbers)


def _packed(numbers: NDArray[Any]) -> str:
    flat = np.ascontiguousarray(numbers).astype(numbers.dtype.newbyteorder("<")).reshape(-1)
    planes = flat.view(np.uint8).reshape(-1, 8).T
    return base64.b64encode(zlib.compress(planes.tobytes(), 6)).decode("ascii")


def _numbers(given: Any, shape: tuple[int, ...] | None, dtype: Any) -> NDArray[Any]:
    """What `_listed` was given: an array of this shape, or of one axis if the shape is None."""
    if isinstance(given, str):
        most = 8 * prod(shape) if shape is not None else 2**26
        unpacker = zlib.decompressobj()
        try:
            raw = unpacker.decompress(base64.b64decode(given, validate=True), most + 1)
        except zlib.error as error:
            raise _damaged(error) from error
        if len(raw) % 8 or (shape is not None and len(raw) != most) or unpacker.unused_data:
            raise _damaged("it holds another number of numbers than its header says")
        unpacked = np.ascontiguousarray(np.frombuffer(raw, np.uint8).reshape(8, -1).T)
        numbers: NDArray[Any] = unpacked.view(np.dtype(dtype).newbyteorder("<"))[:, 0].astype(dtype)
        return numbers.reshape(-1 if shape is None else shape)
    found: NDArray[Any] = np.array(given, dtype=dtype) if given else np.zeros(shape or 0, dtype)
    if not _are_of(given, dtype) or found.shape != (shape or found.shape[:1]):
        raise _damaged("numbers have another shape or kind than its header says")
    return found


def _are_of(given: Any, dtype: Any) -> bool:
    """Whether nested lists hold numbers alone, and whole ones if they must be."""
    if isinstance(given, list):
        return all(_are_of(each, dtype) for each in given)
    whole = np.dtype(dtype).kind in "iu"
    return isinstance(given, int if whole else (int, float)) and not isinstance(given, bool)


def _checksum(content: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, allow_nan=False).encode("ascii"))


def _damaged(problem: object) -> InvalidValueError:
    return InvalidValueError("damaged-file", f"this table is damaged: {problem}")
