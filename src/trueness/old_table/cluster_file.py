"""The clusters of tables as JSON: exact integers, without the bins that a cluster does not fill."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from trueness.old_table import event_file
from trueness.old_table import file as table_file
from trueness.old_table.cluster_sums import (
    AnyCellSums,
    CellSums,
    ClusterSums,
    EventCellSums,
    n_bins_of,
    zero_cells,
)
from trueness.old_table.clusters import Clusters, ClusterTables
from trueness.old_table.consistency import is_int, require
from trueness.old_table.content import TableSpec
from trueness.old_table.event_content import EventSpec
from trueness.old_table.json_numbers import decode_sum, encode_numbers, encode_sum, indices
from trueness.rows.clusters import Identities, identity

if TYPE_CHECKING:
    from trueness.variation import Variation

MOST_BLOCKS = 2**12


def is_of_clusters(content: Any) -> bool:
    """Whether an encoded part of a file is the clusters of its tables."""
    return isinstance(content, dict) and "clusters" in content


def warn_of_clusters(parts: Iterable[Any], path: str | os.PathLike[str]) -> None:
    """Warn a caller who takes single tables from a file if it has clusters: without them rows count as independent."""
    if any(map(is_of_clusters, parts)):
        warnings.warn(
            f"{os.fsdecode(path)} holds clusters, and a CalibrationTable has none: its p-values and intervals count "
            "rows as independent; read the file with trueness.old_table.Tables.load",
            stacklevel=4,
        )


def encode(tables: ClusterTables) -> dict[str, Any]:
    """Clusters and sums as plain numbers, lists and strings."""
    clusters = tables.clusters
    return {
        "clusters": {
            "names": None if clusters.names is None else list(clusters.names),
            "identities": None if clusters.names is not None else _encode_identities(clusters.identities),
            "n_blocks": clusters.n_blocks,
        },
        "tables": [_encode_sums(sums) for sums in tables.of_tables],
    }


def _encode_identities(identities: Identities) -> str:
    """Sixteen hexadecimal digits for each."""
    return identities.astype(">u8").tobytes().hex()


def _encode_sums(sums: ClusterSums) -> dict[str, Any]:
    spec = sums.spec
    encoded = (
        {"events": event_file.encode_spec(spec)}
        if isinstance(spec, EventSpec)
        else {"spec": table_file.encode_spec(spec)}
    )
    return {
        **encoded,
        "cells": encode_numbers(sums.cells),
        "sums": {name: encode_sum(value) for name, value in sums.sums.items()},
    }


def decode(content: Any, variation: Variation | None = None) -> ClusterTables:
    """Clusters and sums of an encoded part, of which everything is checked."""
    require(isinstance(content, dict) and set(content) == {"clusters", "tables"}, "its parts are wrong")
    clusters = _decode_clusters(content["clusters"])
    tables = content["tables"]
    require(isinstance(tables, list) and len(tables) > 0, "its clusters have no sums")
    return ClusterTables(clusters, tuple(_decode_sums(sums, clusters, variation) for sums in tables))


def _decode_clusters(content: Any) -> Clusters:
    fields = {"names", "identities", "n_blocks"}
    require(isinstance(content, dict) and set(content) == fields, "its clusters are wrong")
    names, n_blocks = content["names"], content["n_blocks"]
    if names is None:
        dealt = is_int(n_blocks) and 1 <= n_blocks <= MOST_BLOCKS and n_blocks & (n_blocks - 1) == 0
        require(dealt, "n_blocks must be a power of two")
        return Clusters(_decode_identities(content["identities"]), None, n_blocks)
    require(isinstance(names, list) and all(isinstance(name, str) for name in names), "names must be texts")
    require(n_blocks is None and content["identities"] is None, "clusters have names or are in blocks")
    identities = np.fromiter(map(identity, names), np.uint64, len(names))
    require(_increase(identities), "the names of clusters are not in order")
    return Clusters(identities, tuple(names))


def _decode_identities(digits: Any) -> Identities:
    require(isinstance(digits, str) and len(digits) % 16 == 0, "identities must be hexadecimal")
    try:
        identities = np.frombuffer(bytes.fromhex(digits), ">u8").astype(np.uint64)
    except ValueError:
        identities = np.zeros(2, np.uint64)
    require(_increase(identities), "identities must be hexadecimal and increase")
    return identities


def _increase(identities: Identities) -> bool:
    return bool(np.all(identities[1:] > identities[:-1]))


def _decode_sums(content: Any, clusters: Clusters, variation: Variation | None) -> ClusterSums:
    kinds = ({"spec", "cells", "sums"}, {"events", "cells", "sums"})
    require(isinstance(content, dict) and set(content) in kinds, "the sums of its clusters are wrong")
    spec: TableSpec | EventSpec = (
        event_file.decode_spec(content["events"])
        if "events" in content
        else table_file.decode_spec(content["spec"], variation)
    )
    cells = indices("cells", content["cells"], clusters.n_units * n_bins_of(spec), "those of its clusters")
    sums = ClusterSums(spec, cells, _decode_cell_sums(content["sums"], spec, len(cells)))
    require(bool(np.all(sums.sums.rows > 0)), "a cell of a cluster has no rows")
    return sums


def _decode_cell_sums(given: Any, spec: TableSpec | EventSpec, n: int) -> AnyCellSums:
    zeros = dict(zero_cells(spec, n).items())
    require(isinstance(given, dict) and set(given) == set(zeros), f"its sums must be {', '.join(zeros)}")
    decoded = {name: decode_sum(name, given[name], zero) for name, zero in zeros.items()}
    return EventCellSums(**decoded) if isinstance(spec, EventSpec) else CellSums(**decoded)
