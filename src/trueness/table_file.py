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

from trueness._version import __version__
from trueness.atomic_files import write_text
from trueness.bins import Edges
from trueness.refusals import InvalidValueError, quote
from trueness.spec import MOST_BYTES, Field, Spec
from trueness.table_checks import (
    damaged,
    groups_of_parts,
    require_clusters,
    require_names,
    require_spec,
    require_sums,
)
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
            text = report[1].replace(r"<\/", "</").replace(r"<\u0021", "<!").strip()
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
    lines = {name: _lines(arrays[name], its) for name, its in spec.fields()}
    kept = {
        name: np.flatnonzero(np.any(it != 0, tuple(range(1, it.ndim))))
        for name, it in lines.items()
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
        "kept": {name: _listed(at) for name, at in kept.items()},
        "sums": {name: _listed(lines[name][at]) for name, at in kept.items()},
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
            raise damaged("its checksum is wrong")
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
        raise damaged(error) from error


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
        raise damaged("its parts have another number of classes")
    if content["sums"].keys() != {name for name, _ in spec.fields()}:
        raise damaged("it has other sums than its spec says")
    _limit(spec.n_bytes(len(unit), n_groups, n_options))
    arrays = spec.zeros(len(unit), n_groups, n_options)
    for name, its in spec.fields():
        lines = _lines(arrays[name], its)
        at = _numbers(content["kept"][name], None, np.int64)
        if len(at) and (at[0] < 0 or at[-1] >= len(lines) or (np.diff(at) <= 0).any()):
            raise damaged(f"the bins of {name} are out of range")
        lines[at] = _numbers(content["sums"][name], (len(at), *lines.shape[1:]), lines.dtype)
    group = tuple(names[k] for k in code.tolist())
    of_group = groups_of_parts(code, options, unit)
    require_names(names, group, by)
    if n_groups != len(set(of_group.tolist())):
        raise damaged("it has other groups than its parts")
    require_sums(spec, arrays, of_group, n_options)
    if (clusters := content["clusters"]) is not None:
        identities, named, n_blocks = clusters
        clusters = _numbers(identities, None, np.uint64), named, n_blocks
    require_clusters(clusters, unit)
    if clusters is not None:
        clusters = clusters[0], None if named is None else tuple(named), n_blocks
    arrays |= {"unit": unit, "options": options}
    return Content(spec, group, arrays, clusters, by)


def _lines(sums: NDArray[Any], its: Field) -> NDArray[Any]:
    """A sum as lines, one for each bin of each part, which has all ranks: a view, (lines, ...)."""
    n = 1 + len(its.dims) - ("rank" in its.dims)
    return sums.reshape(prod(sums.shape[:n]), *sums.shape[n:])


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
    require_spec(spec)
    _limit(spec.n_bytes(1, 1, spec.n_classes or 2))
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
            raise damaged(error) from error
        if len(raw) % 8 or (shape is not None and len(raw) != most) or unpacker.unused_data:
            raise damaged("it holds another number of numbers than its header says")
        unpacked = np.ascontiguousarray(np.frombuffer(raw, np.uint8).reshape(8, -1).T)
        numbers: NDArray[Any] = unpacked.view(np.dtype(dtype).newbyteorder("<"))[:, 0].astype(dtype)
        return numbers.reshape(-1 if shape is None else shape)
    found: NDArray[Any] = np.array(given, dtype=dtype) if given else np.zeros(shape or 0, dtype)
    if not _are_of(given, dtype) or found.shape != (shape or found.shape[:1]):
        raise damaged("numbers have another shape or kind than its header says")
    return found


def _are_of(given: Any, dtype: Any) -> bool:
    """Whether nested lists hold numbers alone, and whole ones if they must be."""
    if isinstance(given, list):
        return all(_are_of(each, dtype) for each in given)
    whole = np.dtype(dtype).kind in "iu"
    return isinstance(given, int if whole else (int, float)) and not isinstance(given, bool)


def _checksum(content: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(content, allow_nan=False).encode("ascii"))
