"""The table: sums of rows, from which every number is computed.

Means cannot be merged, sums can: tables of batches, files, processes and days add with `+`, and
the rows are not needed again. The first axis of the sums is that of the table's *parts*: the
combinations of a group, a cluster and a number of options that occur. Everything that is done to
tables is one operation, `regroup`: parts get other labels, and those of equal labels are added.
Adding tables joins their parts first, a sum over clusters gives them all one label, and more
clusters than are kept apart get the labels of a few blocks.

What metrics read are `RankBins` and `EventBins`: the sums as plain arrays.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from trueness import exact_sums, table_file
from trueness._arguments import require_choice
from trueness.bins import Bins, Edges, as_bins, group_starts
from trueness.exact_sums import FloatArray, IntArray
from trueness.refusals import InvalidValueError, nearest
from trueness.spec import FIELDS, Spec
from trueness.variation import Variation

MOST_CLUSTER_BYTES = 2**27
"""The memory that the sums of all parts may take before clusters are dealt into blocks."""

MOST_UNITS, MOST_BLOCKS, FEWEST_BLOCKS = 4096, 2048, 256
"""Clusters that are kept apart, and blocks into which more are dealt. The variance of a sum over
2048 independent blocks is estimated with a relative error of √(2/2048), 3 %."""

By: TypeAlias = Literal["group", "unit"]


class Parts(NamedTuple):
    """What the entries of the first axis are of. Those of a table are sorted and distinct."""

    group: tuple[str | None, ...]
    """The name of the group; None without groups."""
    unit: NDArray[np.uint64]
    """The identity of the cluster, or the number of the block; 0 without clusters."""
    options: IntArray
    """The number of classes or options."""

    @classmethod
    def joined(cls, parts: Iterable[Parts]) -> Parts:
        """The entries of several, one after the other."""
        groups, units, options = zip(*parts, strict=True)
        names = tuple(name for of_one in groups for name in of_one)
        return cls(names, np.concatenate(units), np.concatenate(options))

    def take(self, which: NDArray[Any]) -> Parts:
        """Some of the entries: their numbers, or whether each is chosen."""
        numbers = np.flatnonzero(which) if which.dtype == bool else which
        names = tuple(self.group[k] for k in numbers.tolist())
        return Parts(names, self.unit[which], self.options[which])

    def distinct(self) -> tuple[Parts, IntArray]:
        """The distinct entries in order, and the place among them of each."""
        names = sorted(set(self.group), key=lambda name: (name is not None, name or ""))
        number = {name: k for k, name in enumerate(names)}
        group = np.fromiter(map(number.__getitem__, self.group), np.int64, len(self.group))
        order = np.lexsort((self.unit, self.options, group))
        keys = np.stack([key[order].astype(np.uint64) for key in (group, self.options, self.unit)])
        is_first = np.ones(len(order), bool)
        is_first[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
        place = np.empty(len(order), np.int64)
        place[order] = np.cumsum(is_first) - 1
        return self.take(order[is_first]), place

    @property
    def without_units(self) -> Parts:
        """The groups and numbers of options of the entries."""
        return self._replace(unit=np.zeros_like(self.unit))

    def is_same(self, other: Parts) -> bool:
        """Whether all entries are equal."""
        same = self.group == other.group and np.array_equal(self.unit, other.unit)
        return same and np.array_equal(self.options, other.options)


class Clusters(NamedTuple):
    """The clusters of a table's rows, which are its units or are dealt into them."""

    identities: NDArray[np.uint64]
    """A hash of the name of each cluster, increasing; empty if every row is one."""
    names: tuple[str, ...] | None = None
    """In the same order; None if they are in blocks."""
    n_blocks: int | None = None
    """A power of two: cluster k is in block k mod n_blocks. None if each cluster is a unit."""

    def units_of(self, identities: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """The unit of each of these clusters, or of units of more blocks."""
        return identities if self.n_blocks is None else identities & np.uint64(self.n_blocks - 1)

    def limited(self, spec: Spec, parts: Parts) -> Clusters:
        """These clusters, in blocks if the sums of `parts` would take too much memory."""
        kept = parts._replace(unit=self.units_of(parts.unit)).distinct()[0]
        few = self.n_blocks is not None or len(self.identities) <= MOST_UNITS
        part_bytes = spec.n_bytes(1, 0, int(parts.options.max(initial=0)))
        if few and len(kept.unit) * part_bytes <= MOST_CLUSTER_BYTES:
            return self
        n_kinds = len(kept.without_units.distinct()[0].unit)
        n_blocks = min(MOST_BLOCKS, self.n_blocks or MOST_BLOCKS)
        while n_blocks > FEWEST_BLOCKS and n_blocks * n_kinds * part_bytes > MOST_CLUSTER_BYTES:
            n_blocks //= 2
        return Clusters(self.identities, None, n_blocks)

    def is_same(self, other: Clusters) -> bool:
        """Whether they are the same clusters, kept apart or in as many blocks."""
        return self[1:] == other[1:] and np.array_equal(self.identities, other.identities)


class RankBins(NamedTuple):
    """Rows by their variation. Any axes may come first: groups, clusters, draws, …

    S is the number of different numbers of options, 1 of ordinary rows.
    """

    rows: FloatArray
    """Number of rows |B_m|, or the sum of their weights, (..., S, M)."""
    predicted: FloatArray
    """Σq of the ordered probabilities, zero beyond a row's own options, (..., S, M, C)."""
    observed: FloatArray
    """Σr, how often the true class had each rank, (..., S, M, C)."""
    options: tuple[int, ...]
    """The number of options of each entry of S."""

    def variation(self, sums: FloatArray, measure: Variation) -> FloatArray:
        """V of the mean of `sums` over the rows of each bin, (..., M); NaN in bins without rows.

        Of `predicted` it is the paper's 𝒫(B_m) = V(q̄_m), of `observed` 𝒪(B_m) = V(r̄_m). Each
        number of options has a mean of its own, and V is their average weighted by rows.
        """
        rows = self.rows
        if rows.shape != sums.shape[:-1]:
            rows = np.broadcast_to(rows, sums.shape[:-1])
        total = rows.sum(axis=-2)
        value = np.where(total > 0, 0.0, np.nan)
        for s, c in enumerate(self.options):
            filled = rows[..., s, :] > 0
            n = rows[..., s, :][filled]
            if n.size:
                share = n / total[filled]
                value[filled] += share * measure.of(sums[..., s, :, :c][filled] / n[:, None])
        return value


class EventBins(NamedTuple):
    """Events by their probability: K single classes, or that the top label is right (K = 1)."""

    rows: FloatArray
    """Number of rows, or the sum of their weights, (..., K, G)."""
    predicted: FloatArray
    """Σp, the expected number, (..., K, G)."""
    observed: FloatArray
    """How often the event happened, (..., K, G)."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Sums of rows: what `tabulate` returns, and what every metric can be computed from.

    Tables with the same options add with `+`; `Table.sum` adds many at once.

    >>> from trueness.today import read, tabulate_rows
    >>> monday = tabulate_rows(read([0, 1, 0], [[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]]))
    >>> tuesday = tabulate_rows(read([1], [[0.2, 0.8]]))
    >>> (monday + tuesday).n_rows
    4
    >>> monday + tuesday == Table.sum([tuesday, monday])
    True
    """

    spec: Spec
    parts: Parts
    sums: Mapping[str, NDArray[Any]]
    """Each of `spec.fields()`, (parts or groups, ...), as `exact_sums` stores it."""
    clusters: Clusters | None = None
    """What units are; None if rows are independent."""
    by: str | None = None
    """The column, or columns, that groups are values of."""

    def __post_init__(self) -> None:
        for values in self.sums.values():
            values.setflags(write=False)

    @classmethod
    def empty(cls, spec: Spec, *, clusters: bool = False, by: str | None = None) -> Table:
        """The table of no rows: adding it changes nothing."""
        none = np.zeros(0, np.uint64)
        parts = Parts((), none, np.zeros(0, np.int64))
        sums = spec.zeros(0, 0, spec.n_classes or 0)
        return cls(spec, parts, sums, Clusters(none, ()) if clusters else None, by)

    # One operation, and what follows from it

    def regroup(self, labels: Parts) -> Table:
        """The same sums under other labels, one for each part; parts of equal labels are added.

        The parts of one group and number of options must stay together.
        """
        _, place = self.parts.without_units.distinct()
        first = self._group_labels(labels)
        if not labels.without_units.is_same(first.take(place)):
            cause = "parts of one group and number of options must stay together"
            raise InvalidValueError("bad-argument", cause, argument="labels")
        return _added(self.spec, [self], [labels], self.clusters, self.by)

    @classmethod
    def sum(cls, tables: Iterable[Table]) -> Table:
        """All tables added, in a time that is proportional to their number."""
        listed = list(tables)
        if not listed:
            raise InvalidValueError("no-tables", "tables is empty", argument="tables")
        first, *others = listed
        for other in others:
            if (difference := _difference(first, other)) is not None:
                cause = f"these tables cannot be added: {difference}"
                remedy = "make both with the same options"
                raise InvalidValueError("different-tables", cause, remedy)
        spec = next((it.spec for it in listed if it.spec.class_names is not None), first.spec)
        labels, clusters = [it.parts for it in listed], first.clusters
        if clusters is not None:
            together = _joined_clusters([it.clusters for it in listed if it.clusters is not None])
            clusters = together.limited(spec, Parts.joined(labels))
            labels = [it._replace(unit=clusters.units_of(it.unit)) for it in labels]
        return _added(spec, listed, labels, clusters, first.by)

    def __add__(self, other: object) -> Table:
        return Table.sum([self, other]) if isinstance(other, Table) else NotImplemented

    def __radd__(self, other: object) -> Table:
        """`sum` begins with 0, which counts as the empty table."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def over(self, *labels: By) -> Table:
        """The sum over all groups, over all units, or both; numbers of options stay apart."""
        table = self
        for label in labels:
            require_choice("labels", label, ("group", "unit"))
            clusters: Clusters | None = None
            moved, by = table.parts.without_units, table.by
            if label == "group":
                moved = table.parts._replace(group=(None,) * len(table.parts.group))
                clusters, by = table.clusters, None
            table = _added(table.spec, [table], [moved], clusters, by)
        return table

    def select(self, *, group: str | None = None, options: int | None = None) -> Table:
        """The rows of one group, or with one number of options."""
        chosen = np.array([group in (None, name) for name in self.parts.group], bool)
        if group is not None and not chosen.any():
            remedy = nearest(group, [str(name) for name in self.group_names])
            raise InvalidValueError("unknown-name", f"there is no group {group!r}", remedy)
        if options is not None:
            chosen &= self.parts.options == options
        _, place = self.parts.without_units.distinct()
        kept = {"part": np.flatnonzero(chosen), "group": np.unique(place[chosen])}
        parts = self.parts.take(kept["part"])
        sums = {name: self.sums[name][kept[its.axis]] for name, its in self.spec.fields()}
        clusters = self.clusters
        if clusters is not None and clusters.n_blocks is None:
            present = np.isin(clusters.identities, parts.unit)
            names = clusters.names and tuple(np.array(clusters.names, object)[present].tolist())
            clusters = Clusters(clusters.identities[present], names)
        n_options = int(parts.options.max(initial=0))
        return Table(self.spec, parts, _of_width(self.spec, sums, n_options), clusters, self.by)

    def coarsen(
        self,
        bins: int | Bins | None = None,
        top_bins: int | Bins | None = None,
        class_bins: int | Bins | None = None,
    ) -> Table:
        """The same rows in coarser bins, whose edges are among those of this table."""
        spec, sums = self.spec, dict(self.sums)
        asked = {"bin": bins, "top_bin": top_bins, "cell": class_bins}
        for dim, (edges, rows) in _BINNED.items():
            fine: Edges | None = getattr(spec, edges)
            if (chosen := asked[dim]) is None or fine is None:
                continue
            count = self.mass(rows).reshape(-1, fine.n_bins)
            if len(count) > 1 and not hasattr(as_bins(chosen), "resolve"):
                cause = f"{chosen!r} depends on the class, and this table has {len(count)}"
                raise InvalidValueError("bad-argument", cause, argument=edges)
            starts, coarse = group_starts(fine, count[0], as_bins(chosen))
            changed: dict[str, Any] = {edges: Edges(coarse, fine.snap)}
            spec = replace(spec, **changed)
            for name, its in self.spec.fields():
                if dim in its.dims:
                    axis = 1 + its.dims.index(dim)
                    sums[name] = exact_sums.add_runs(sums[name], its.bits, starts, axis)
        return replace(self, spec=spec, sums=sums)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        if (self.spec, self.by) != (other.spec, other.by) or not self.parts.is_same(other.parts):
            return False
        mine, theirs = self.clusters, other.clusters
        alike = mine.is_same(theirs) if mine and theirs else mine is theirs
        return alike and all(np.array_equal(it, other.sums[name]) for name, it in self.sums.items())

    __hash__ = None  # type: ignore[assignment]

    # Sums as numbers

    @property
    def groups(self) -> Parts:
        """What the entries of the axis "group" are of: parts without their unit."""
        return self.parts.without_units.distinct()[0]

    @property
    def group_names(self) -> tuple[str | None, ...]:
        """The names of the groups, in order."""
        return tuple(dict.fromkeys(self.parts.group))

    @property
    def units(self) -> NDArray[np.uint64]:
        """The identity of each cluster, or the number of each block, that has rows, in order."""
        return np.unique(self.parts.unit)

    @property
    def options(self) -> tuple[int, ...]:
        """The different numbers of classes or options."""
        return tuple(np.unique(self.parts.options).tolist())

    def value(self, name: str, by: By | None = None) -> FloatArray:
        """One of the sums over all rows, (...), or of each group or unit, (groups, ...)."""
        summed = self._laid_out(name, by, strata=False)
        return summed if by is not None else summed[0]

    def mass(self, rows: str = "rows", by: By | None = None) -> FloatArray:
        """Number of rows, or the sum of their weights, in the bins of `rows`, as `value`."""
        return self.value(rows.replace("rows", "weight") if self.spec.weighted else rows, by)

    def rank_bins(self, by: By | None = None) -> RankBins:
        """The rows by variation, all together or those of each group or unit."""
        names = "weight" if self.spec.weighted else "rows", "ordered", "ranks"
        arrays = [self._laid_out(name, by, strata=True) for name in names]
        rows, predicted, observed = arrays if by is not None else [each[0] for each in arrays]
        return RankBins(rows, predicted, observed, self.options or (self.spec.n_classes or 2,))

    def top_bins(self, by: By | None = None) -> EventBins:
        """The rows by their largest probability, with how often the top label was right; K = 1."""
        sums = (self.value(f"top_{name}", by) for name in ("predicted", "observed"))
        return EventBins(*(each[..., None, :] for each in (self.mass("top_rows", by), *sums)))

    def class_bins(self, by: Literal["group"] | None = None) -> EventBins:
        """The probability of each of `spec.classes` in cells over [0, 1]."""
        names = "class_predicted", "class_observed"
        return EventBins(self.mass("class_rows", by), *(self.value(name, by) for name in names))

    def _laid_out(self, name: str, by: By | None, *, strata: bool) -> FloatArray:
        """A sum as numbers, (groups or units or 1, ...), or (..., numbers of options, ...)."""
        if name not in self.sums:
            raise InvalidValueError("wrong-table", f"this table has no sums `{name}`")
        its = FIELDS[name]
        parts = self.parts if its.axis == "part" else self.groups
        place, n = np.zeros(len(parts.group), np.int64), 1
        if by == "group":
            number = {group: k for k, group in enumerate(self.group_names)}
            place, n = np.array([number[group] for group in parts.group], np.int64), len(number)
        elif by == "unit":
            if its.axis == "group":
                raise InvalidValueError("bad-argument", f"{name} is not kept for each unit")
            present, place = np.unique(parts.unit, return_inverse=True)
            n = len(present)
        options = self.options or (self.spec.n_classes or 2,)
        shape: tuple[int, ...] = (n,)
        if strata:
            place = place * len(options) + np.searchsorted(options, parts.options)
            shape = n, len(options)
        kept = _of_width(self.spec, self.sums, options[-1])[name]
        added = exact_sums.add_alike(kept, its.bits, place, int(np.prod(shape)))
        return exact_sums.value(added.reshape(*shape, *kept.shape[1:]), its.bits)

    # What users read

    @property
    def n_rows(self) -> int:
        """Number of rows (with a positive weight, if weighted)."""
        return int(self.sums["rows" if self.spec.bins is not None else "top_rows"].sum())

    @property
    def n_classes(self) -> int:
        """Number of classes C; the largest number of options if rows have numbers of their own."""
        return self.spec.n_classes or max(self.options, default=2)

    @property
    def predicted_variation(self) -> FloatArray:
        """𝒫(B_m) = V(q̄_m), (M,); NaN in bins without rows."""
        bins = self.rank_bins()
        return bins.variation(bins.predicted, self.measure)

    @property
    def observed_variation(self) -> FloatArray:
        """𝒪(B_m) = V(r̄_m), (M,); NaN in bins without rows."""
        bins = self.rank_bins()
        return bins.variation(bins.observed, self.measure)

    @property
    def measure(self) -> Variation:
        """The variation measure of the bins."""
        if self.spec.variation is None or self.spec.bins is None:
            raise InvalidValueError("wrong-table", "this table has no bins of variation")
        return self.spec.variation

    @property
    def accuracy(self) -> float:
        """The share of rows, or of weight, whose true class ranked first; NaN without rows.

        With `ties="split"` it is the accuracy expected if ties are broken at random.
        """
        return self._mean(self.value("ranks")[:, 0].sum())

    @property
    def confidence(self) -> float:
        """The mean of the largest probability; NaN without rows."""
        return self._mean(self.value("ordered")[:, 0].sum())

    @property
    def brier_score(self) -> float:
        """The mean of Σ_c (p_c - 1[c = y])² over rows: the sum over classes, from 0 (best) to 2."""
        names = "true_probability", "square", "label_spread"
        if self.spec.weighted:
            of_true, square, spread = map(self.value, names)
            return self._mean(max(0.0, float(self.mass().sum() - 2 * of_true + square - spread)))
        # In whole units: where predictions are nearly perfect, floats would cancel.
        bits = exact_sums.PROBABILITY_BITS
        true, squares, spreads = (exact_sums.units(self.sums[name], bits) for name in names)
        total = (self.n_rows << bits) - 2 * true + squares - spreads
        return self._mean(max(0, total) / (1 << bits))

    @property
    def log_loss(self) -> float:
        """The mean of -ln p_y over rows, in nats; infinite if `impossible_rows` is not 0."""
        total = 0.0 - float(self.value("log_likelihood"))
        return self._mean(float("inf") if self.impossible_rows else total)

    @property
    def tied_rows(self) -> int:
        """Rows whose true class had the same probability as another class."""
        return int(self.sums["tied_rows"].sum())

    @property
    def impossible_rows(self) -> int:
        """Rows whose true class had probability zero."""
        return int(self.sums["impossible_rows"].sum())

    def _mean(self, total: float) -> float:
        """A sum over all rows divided by their number or weight; NaN if there are none."""
        return float(total / self.mass().sum()) if self.n_rows else float("nan")

    def __repr__(self) -> str:
        return "\n".join(_lines_of(self))

    # Files

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain numbers, lists and strings, exact, with a checksum."""
        arrays = {**self.sums, "unit": self.parts.unit, "options": self.parts.options}
        content = self.spec, self.parts.group, arrays, self.clusters, self.by
        return table_file.encode(table_file.Content(*content))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], variation: Variation | None = None) -> Table:
        """The table of `to_dict`; a measure of your own must be passed again."""
        spec, group, arrays, clusters, by = table_file.decode(content, variation)
        parts = Parts(group, arrays.pop("unit"), arrays.pop("options"))
        return cls(spec, parts, arrays, None if clusters is None else Clusters(*clusters), by)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to a JSON file, completely or not at all."""
        table_file.write(self.to_dict(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], variation: Variation | None = None) -> Table:
        """The table of a file that was saved, or of a report; of a folder, all of them added."""
        found = [cls.from_dict(content, variation) for content in table_file.read(path)]
        return found[0] if len(found) == 1 else cls.sum(found)

    def _group_labels(self, labels: Parts) -> Parts:
        """The label of each entry of the axis "group", from those of the parts."""
        groups, place = self.parts.without_units.distinct()
        return labels.take(np.searchsorted(place, np.arange(len(groups.group)))).without_units


_BINNED = {
    "bin": ("bins", "rows"),
    "top_bin": ("top_bins", "top_rows"),
    "cell": ("class_bins", "class_rows"),
}
"""For each axis of bins the field of the spec with its edges, and the sum that counts rows."""


def _added(
    spec: Spec,
    tables: Sequence[Table],
    labels: Sequence[Parts],
    clusters: Clusters | None,
    by: str | None,
) -> Table:
    """The sums of some tables, whose parts have these labels; those of equal labels are added."""
    if len(tables) > 1 and all(labels[0].is_same(its) for its in labels):
        alike, all_of_them = {}, np.zeros(1, np.int64)
        for name, its in spec.fields():
            first, *more = (table.sums[name] for table in tables)
            if len(more) == 1:
                alike[name] = exact_sums.add(first, more[0], its.bits)
            else:
                alike[name] = exact_sums.add_runs(np.stack([first, *more]), its.bits, all_of_them)[
                    0
                ]
        return Table(spec, labels[0], alike, clusters, by)
    parts, place = Parts.joined(labels).distinct()
    of_groups = [table._group_labels(its) for table, its in zip(tables, labels, strict=True)]
    groups, group_place = Parts.joined(of_groups).distinct()
    places = {"part": (place, len(parts.group)), "group": (group_place, len(groups.group))}
    n_options = int(parts.options.max(initial=0))
    wide = [_of_width(spec, table.sums, n_options) for table in tables]
    sums = {
        name: exact_sums.add_alike(
            np.concatenate([each[name] for each in wide]), its.bits, *places[its.axis]
        )
        for name, its in spec.fields()
    }
    return Table(spec, parts, sums, clusters, by)


def _of_width(
    spec: Spec, sums: Mapping[str, NDArray[Any]], n_options: int
) -> Mapping[str, NDArray[Any]]:
    """The sums with as many ranks; those beyond the largest number of options are zero."""
    if spec.n_classes is not None:
        return sums
    made = dict(sums)
    for name, its in spec.fields():
        for axis, dim in enumerate(its.dims, 1):
            if dim in ("rank", "prediction"):
                cut = sums[name].take(np.arange(min(n_options, sums[name].shape[axis])), axis)
                made[name] = exact_sums.padded(cut, axis, n_options)
    return made


def _joined_clusters(clusters: Sequence[Clusters]) -> Clusters:
    """The clusters of all; in the fewest blocks that some of them are in."""
    joined = np.concatenate([it.identities for it in clusters])
    identities, first = np.unique(joined, return_index=True)
    dealt = [it.n_blocks for it in clusters if it.n_blocks is not None]
    if dealt:
        return Clusters(identities, None, min(dealt))
    names = [name for it in clusters for name in it.names or ()]
    return Clusters(identities, tuple(names[k] for k in first.tolist()))


def _difference(mine: Table, other: Table) -> str | None:
    """Why two tables cannot be added, in words; None if they can."""
    if (found := mine.spec.difference(other.spec)) is not None:
        return found
    if mine.by != other.by:
        return f"one has groups by {mine.by!r}, the other by {other.by!r}"
    if (mine.clusters is None) != (other.clusters is None):
        return "one has clusters, and the other has not"
    both = [it.clusters for it in (mine, other) if it.clusters is not None and it.n_rows]
    if len({len(clusters.identities) == 0 for clusters in both}) == 2:
        return "the clusters of one are its rows, those of the other have names"
    return None


def _lines_of(table: Table) -> list[str]:
    """A table as text: one line for each bin, followed by remarks."""
    spec, bins = table.spec, table.spec.bins
    kind = "weighted rows" if spec.weighted else "rows"
    most = "" if spec.n_classes else "up to "
    head = f"Table: {table.n_rows:,} {kind}, {most}{table.n_classes} classes"
    if table.by is not None:
        head += f", {len(table.group_names)} groups by {table.by}"
    if table.clusters is not None:
        n_blocks = table.clusters.n_blocks
        dealt = f" in {n_blocks} blocks" if n_blocks else ""
        head += f", {len(table.clusters.identities) or table.n_rows:,} clusters{dealt}"
    if bins is None:
        return [head]
    lines = [f"{head}, {bins.n_bins} bins of {table.measure.name}, ties {spec.ties}"]
    held = table.mass("rows")
    if bins.n_bins > 40:
        return [*lines, f"  ({np.count_nonzero(held)} bins hold rows; coarsen() merges them)"]
    lines.append(f"   V from      to {'rows':>12}  predicted   observed        gap")
    both = zip(table.predicted_variation, table.observed_variation, strict=True)
    for low, high, n, (p, o) in zip(bins.edges, bins.edges[1:], held.tolist(), both, strict=False):
        numbers = f"{p:z11.4f}{o:z11.4f}{o - p:+z11.4f}" if n else f"{'-':>11}" * 3
        lines.append(f"  {low:z7.4f} {high:z7.4f} {n:>12,.10g}{numbers}")
    return lines
