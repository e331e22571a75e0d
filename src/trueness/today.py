"""Today's rows, engines and tables behind the signatures of the new ones; the one place for both.

`read` and `tabulate_rows` are final: what is built on them does not change when rows and engines
are replaced and this module goes. `table_of` converts tables of today's kinds, never back.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from trueness import exact_sums, old_table
from trueness.bins import Bins, Edges, ProbabilityGrid, as_bins, class_grid, confidence_bins_for
from trueness.engine import portable
from trueness.exact_sums import FloatArray, IntArray
from trueness.old_table.clusters import MAX_ROW_BLOCKS, row_blocks
from trueness.old_table.event_content import classes_as_events, event_index
from trueness.old_table.exact_sums import ExactSum, FloatSum
from trueness.ranking import DEFAULT_TIES, ties_for
from trueness.refusals import InvalidTypeError, InvalidValueError
from trueness.rows import OptionRows, option_rows_of, refuse_bad_rows
from trueness.rows import Rows as TodaysRows
from trueness.rows import groups as row_groups
from trueness.rows.class_columns import Columns as ClassColumns
from trueness.rows.clusters import clusters_of_names
from trueness.rows.images import pixels_of
from trueness.rows.lists import rectangular
from trueness.rows.option_rows import refuse_soft_options
from trueness.spec import MOST_BYTES, Spec, TableOptions
from trueness.table import Clusters, EventBins, Parts, RankBins, Table
from trueness.tabulation import edges_for, passes, tabulate_in_detail
from trueness.tabulation import portable as todays_portable
from trueness.tabulation.compiled import LOG_SCORE, POSSIBLE_VARIANCE, units
from trueness.tabulation.options import refused_by_row
from trueness.variation import CONFIDENCE, as_variation

# Rows ---------------------------------------------------------------------------------------------


class Names(NamedTuple):
    """The groups or clusters of rows."""

    names: tuple[str, ...]
    codes: IntArray
    """The place of each row's name, (rows,)."""
    identities: NDArray[np.uint64] | None = None
    """A hash of the name of each cluster, increasing; none if each row is one, in blocks."""
    by: str | None = None
    """The column, or columns, that groups are values of."""


class Piece(NamedTuple):
    """The rows with one number of classes."""

    source: TodaysRows
    which: IntArray | None = None
    """Their places among all rows; None if they are all."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Predictions and labels that were read, with the names of their groups and clusters."""

    pieces: tuple[Piece, ...]
    n_rows: int
    n_classes: int | None
    """None if rows have options of their own."""
    source: TodaysRows | OptionRows
    class_names: tuple[str, ...] | None = None
    groups: Names | None = None
    clusters: Names | None = None
    columns: ClassColumns | None = None
    """The columns of a frame in the order of the classes, to which later ones are matched."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """How many rows were left out, by reason."""

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self.source.sample_weight is not None


def read(
    y_true: Any,
    y_prob: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    clusters: Any = None,
    classes: Any = None,
    n_options: Any = None,
    class_axis: int | None = None,
    ignore_index: int | None = None,
    from_logits: bool = False,
    normalize: bool = False,
    soft_labels: bool = False,
    like: Rows | None = None,
) -> Rows:
    """Rows of what a user passed; the only way in.

    The columns of a data frame are matched to those of `like`. `clusters` may also be False, for
    images whose pixels are independent, or "rows", for rows that are one cluster each.
    """
    how: dict[str, Any] = {"from_logits": from_logits, "normalize": normalize, "classes": classes}
    ragged = option_rows_of(y_true, y_prob, sample_weight, n_options=n_options, **how)
    refuse_soft_options(ragged, soft_labels)
    left_out: dict[str, int] = {}
    if ragged is not None:
        pieces = tuple(Piece(part, which) for _, which, part in ragged.parts())
        source: TodaysRows | OptionRows = ragged
    else:
        y_prob = rectangular(y_prob)
        if (pixels := pixels_of(y_true, y_prob, class_axis, ignore_index)) is not None:
            y_true, y_prob = pixels.y_true, pixels.y_prob
            sample_weight = pixels.spread("sample_weight", sample_weight)
            if isinstance(groups, Mapping):
                groups = {name: pixels.spread("groups", each) for name, each in groups.items()}
            elif groups is not None:
                groups = pixels.spread("groups", groups)
            clusters = "rows" if _is_rows(clusters) else pixels.names_of_clusters(clusters)
            left_out = {"ignored": pixels.n_ignored} if pixels.n_ignored else {}
        how |= {"soft_labels": soft_labels, "first": None if like is None else like.columns}
        source = TodaysRows.of(y_true, y_prob, sample_weight, **how)
        pieces = (Piece(source),)
    index, n = source.index, source.n_rows
    return Rows(
        pieces,
        n,
        None if ragged is not None else source.n_classes,
        source,
        source.class_names,
        None if groups is None else _groups(groups, n, index),
        None if clusters is None or clusters is False else _clusters(clusters, n, index),
        source.columns_of_classes,
        left_out,
    )


def _is_rows(clusters: Any) -> bool:
    return isinstance(clusters, str) and clusters == "rows"


def _groups(groups: Any, n_rows: int, index: Any) -> Names:
    columns, by = row_groups._columns(groups), getattr(groups, "name", None)
    if columns is not None:
        by = row_groups.join_columns([*map(str, columns)])
    found = row_groups.encode_groups_of_rows(groups, n_rows, index)
    return Names(tuple(found.names), found.codes, by=str(by) if by is not None else "groups")


def _clusters(clusters: Any, n_rows: int, index: Any) -> Names:
    if _is_rows(clusters):
        return Names((), row_blocks(range(n_rows), MAX_ROW_BLOCKS), np.zeros(0, np.uint64))
    names = row_groups.names_of("clusters", clusters, n_rows, index)
    found = clusters_of_names(*row_groups.encode_names(names))
    return Names(found.names, found.codes, found.identities)


# Tables -------------------------------------------------------------------------------------------

_CELLS = Edges(class_grid().edges)


def spec_of(rows: Rows, options: TableOptions, engine: str = "auto") -> Spec:
    """The spec of the table of these rows; bins that depend on the rows are fitted to them."""
    own, measure = rows.n_classes is None, as_variation(options.variation)
    ties = ties_for(DEFAULT_TIES if options.ties is None else options.ties, options=own)

    def edges(variation: Any, bins: Bins) -> Edges:
        return edges_for(rows.source, variation, bins, engine, None)

    bins = as_bins(options.bins)
    classes: tuple[int, ...] = ()
    if own and options.events:
        cause = "rows with options of their own have no classes in common, and so no events"
        raise InvalidValueError("bad-argument", cause, "leave out events", argument="events")
    if (n := rows.n_classes) is not None and options.by_class:
        asked = [event_index(event, n, rows.class_names) for event in options.events]
        chosen = dict.fromkeys(each for each in asked if isinstance(each, int))
        classes = tuple(chosen) or classes_as_events(n)
    return Spec(
        rows.n_classes,
        measure,
        edges(measure, bins),
        edges(CONFIDENCE, confidence_bins_for(bins, options.confidence_bins)),
        classes,
        _CELLS if classes else None,
        ties,
        rows.weighted,
        class_names=rows.class_names,
    )


def tabulate_rows(
    rows: Rows,
    options: TableOptions | Spec = TableOptions(),  # noqa: B008  it is frozen
    *,
    engine: str = "auto",
    n_threads: int | None = None,
) -> Table:
    """The table of rows. Of a `Spec` the bins are known, and tables of other rows add to it."""
    spec = options if isinstance(options, Spec) else spec_of(rows, options, engine)
    if (spec.n_classes, spec.weighted) != (rows.n_classes, rows.weighted):
        cause = "these rows have another number of classes, or weights, than the spec"
        raise InvalidTypeError("wrong-type", cause, argument="options")
    labels, clusters = [_labels(rows, piece) for piece in rows.pieces], None
    if (of := rows.clusters) is not None and of.identities is not None:
        alone = len(of.identities) == 0 and rows.n_rows > 0
        names_or_blocks = (None, MAX_ROW_BLOCKS) if alone else (of.names, None)
        clusters = Clusters(of.identities, *names_or_blocks)
        clusters = clusters.limited(spec, Parts.joined([parts for parts, _ in labels]))
    by, tables = None if rows.groups is None else rows.groups.by, []
    with refused_by_row(rows.source) if isinstance(rows.source, OptionRows) else nullcontext():
        for piece, (its, of_rows) in zip(rows.pieces, labels, strict=True):
            unit = its.unit if clusters is None else clusters.units_of(its.unit)
            kept, place = its._replace(unit=unit).distinct()
            sums = _summed(piece.source, spec, kept, place[of_rows], engine, n_threads)
            tables.append(Table(spec, kept, sums, clusters, by))
    return tables[0] if len(tables) == 1 else Table.sum(tables or [Table.empty(spec)])


def _labels(rows: Rows, piece: Piece) -> tuple[Parts, IntArray]:
    """The distinct labels of the rows of a piece, and the place among them of each row's."""
    which = slice(None) if piece.which is None else piece.which
    code, identities = np.zeros(piece.source.n_rows, np.int64), np.zeros(1, np.uint64)
    names: tuple[str | None, ...] = (None,)
    if rows.groups is not None:
        code, names = rows.groups.codes[which], rows.groups.names
    unit = np.zeros(piece.source.n_rows, np.int64)
    if rows.clusters is not None and rows.clusters.identities is not None:
        unit, identities = rows.clusters.codes[which], rows.clusters.identities
        if not len(identities):
            identities = np.arange(MAX_ROW_BLOCKS, dtype=np.uint64)
    if rows.groups is None and rows.clusters is None:
        present, of_rows = np.zeros(1, np.int64), code
    else:
        present, of_rows = np.unique(code * len(identities) + unit, return_inverse=True)
    group, of = np.divmod(present, len(identities))
    options = np.full(len(present), piece.source.n_classes)
    return Parts(tuple(names[k] for k in group.tolist()), identities[of], options), of_rows


def _summed(
    rows: TodaysRows, spec: Spec, parts: Parts, part: IntArray, engine: str, n_threads: int | None
) -> Mapping[str, NDArray[Any]]:
    """The sums of rows of one number of classes, each in the part of its number."""
    specs, n_classes = _todays_specs(spec, rows.n_classes), rows.n_classes
    groups, group_of_part = parts.without_units.distinct()
    n_bytes = spec.n_bytes(len(parts.group), len(groups.group), n_classes)
    if n_bytes > MOST_BYTES:
        cause = f"the sums of {len(groups.group):,} groups would take {n_bytes >> 20:,} MB"
        remedy = "use fewer groups, or by_class=False"
        raise InvalidValueError("too-many-groups", cause, remedy, argument="groups")
    few = engine == "auto" and rows.n_rows * n_classes < 2000 * len(groups.group)  # each
    if (few and len(groups.group) > 1) or passes.engine_for(rows, specs, engine) is todays_portable:
        sums = spec.zeros(len(parts.group), len(groups.group), n_classes)
        portable.add(rows, rows.spans(), spec, part, group_of_part[part], sums)
        return sums
    if len(parts.group) == 1:
        return _of_units(rows, spec, specs, part, 1, n_threads)
    found: list[Mapping[str, NDArray[Any]]] = []
    for which in row_groups.rows_of_groups(group_of_part[part], len(groups.group)):
        own = np.flatnonzero(group_of_part == len(found))
        some = rows if len(which) == rows.n_rows else rows.take(which)
        try:
            found.append(_of_units(some, spec, specs, part[which] - own[0], len(own), n_threads))
        except ValueError:
            refuse_bad_rows(rows, 0, rows.n_rows)  # by its number among all rows
            raise
    return {name: np.concatenate([each[name] for each in found]) for name in found[0]}


def _of_units(
    rows: TodaysRows,
    spec: Spec,
    specs: list[old_table.SingleSpec],
    unit: IntArray,
    n_units: int,
    n_threads: int | None,
) -> Mapping[str, NDArray[Any]]:
    """The sums of the parts of one group by the compiled engine; `unit` numbers them."""
    if n_units == 1:
        tables = passes.tabulate_rows(rows, specs, "compiled", n_threads)
        return _sums_of(spec, *(it.sums for it in tables))
    unit_pass, step = units.UnitPass(rows, specs, n_units), max(1, 2**22 // rows.n_classes)
    for start in range(0, rows.n_rows, step):
        some = slice(start, min(start + step, rows.n_rows))
        unit_pass.add(rows.take(some), unit[some], n_threads or 2)
    sums = _sums_of(spec, *(each.table for each in unit_pass.sums()))
    (of,) = unit_pass._parts
    return sums | _sums_of_lines(spec, of, rows.n_classes)


def _todays_specs(spec: Spec, n_classes: int) -> list[old_table.SingleSpec]:
    """The specs of today's tables that have the same sums."""
    assert spec.variation is not None
    assert spec.bins is not None
    assert spec.top_bins is not None
    made: list[old_table.SingleSpec] = [
        old_table.TableSpec(n_classes, measure, bins, spec.ties, spec.weighted)
        for measure, bins in ((spec.variation, spec.bins), (CONFIDENCE, spec.top_bins))
    ]
    if spec.class_bins is not None:
        grid = ProbabilityGrid(spec.class_bins.edges)
        made.append(old_table.EventSpec(n_classes, spec.classes, grid, spec.ties, spec.weighted))
    return made


def _array(value: Any, bits: int) -> NDArray[Any]:
    """A sum of today's as an array."""
    if isinstance(value, ExactSum):
        return np.stack([value.whole, value.fraction], axis=-1) if bits else value.whole
    return np.asarray(value.value if isinstance(value, FloatSum) else value)


_NAMES = {
    "ranks": "rank",
    "log_score_variance": "possible_variance",
    "predicted_score": "predicted_scores",
    "predicted_score_variance": "predicted_possible_variance",
    "top_predicted": "ordered",
    "top_observed": "rank",
}
_ALL = np.zeros(1, np.int64)
"""One run, of all entries."""


def _sums_of(
    spec: Spec, rank: Any, top: Any = None, classes: Any = None
) -> dict[str, NDArray[Any]]:
    """The sums of one part, from those of today's tables of the same rows."""
    found = {}
    for name, its in spec.fields():
        view = name.partition("_")[0]
        table, bare = {"top": top, "class": classes}.get(view, rank), name.removesuffix("_total")
        if view in ("top", "class"):
            bare = bare.removeprefix(f"{view}_")
        value = getattr(table, _NAMES.get(name, bare))
        if name == "label_spread" and value is None:
            value = ExactSum.zeros((), 52)
        kept = _array(value, its.bits)
        if name in ("predicted_score", "top_predicted", "top_observed"):
            kept = kept[:, 0]
        elif name.endswith("_total"):
            kept = exact_sums.add_runs(kept, its.bits, _ALL, axis=1)[:, 0]
        found[name] = kept[None]
    return found


def _sums_of_lines(spec: Spec, of: Any, n_classes: int) -> dict[str, NDArray[Any]]:
    """The sums of each part that the compiled engine has left as lines of totals, one for each."""
    assert spec.bins is not None
    assert spec.top_bins is not None
    lines, m, k = of.lines, spec.bins.n_bins, spec.top_bins.n_bins
    parts = {
        name: lines[:, start:stop].reshape(len(lines), *shape)
        for name, (start, stop, shape) in of.layout.parts.items()
    }
    ordered = np.stack([parts["ordered"][:, 0], parts["ordered"][:, 1]], axis=-1)
    rows, count = parts["rank_count"].sum(axis=-1), parts["rank_count"]
    shared = parts["split"].swapaxes(0, 1) if parts["split"].size else (0, 0 * count)
    ranks = exact_sums.of_units(count + shared[0], shared[1], 52)
    made = {
        "rows": rows[:, 0, :m],
        "ordered": ordered[:, 0, :m, :n_classes],
        "ranks": ranks[:, 0, :m],
        "log_score": parts["bin_scores"][:, 0, :m, LOG_SCORE],
        "log_score_variance": parts["bin_scores"][:, 0, :m, POSSIBLE_VARIANCE],
        "top_rows": rows[:, 1, :k],
        "top_predicted": ordered[:, 1, :k, 0],
        "top_observed": ranks[:, 1, :k, 0],
        "predicted_score": parts["predicted_scores"][:, :, LOG_SCORE],
        "log_likelihood": parts["overall"][:, 0],
    }
    if of.events is not None:
        _, whole, fraction, observed = of.events.of_units.swapaxes(0, 1)
        for kind, units_of in (
            ("predicted", (whole, fraction)),
            ("observed", (observed, 0 * whole)),
        ):
            cells = exact_sums.of_units(*units_of, 52)
            made[f"class_{kind}_total"] = exact_sums.add_runs(cells, 52, _ALL, axis=2)[:, :, 0]
    kept = [name for name, its in spec.fields() if its.axis == "part"]
    return {name: np.ascontiguousarray(made[name]) for name in kept}


# Today's tables -----------------------------------------------------------------------------------


def table_of(old: Any) -> Table:
    """A table of one of today's kinds as a `Table`, with the sums that it has but of clusters."""
    if isinstance(old, Table):
        return old
    if isinstance(old, (old_table.CalibrationTable, old_table.OptionTables)):
        old = old_table.Tables(old)
    if not isinstance(old, old_table.Tables):
        cause = f"`table` must be a table, such as tabulate returns, got {type(old).__name__}"
        raise InvalidTypeError("wrong-type", cause, argument="table")
    first, top, by_class = old.by_variation, old.by_confidence, old.by_class
    of, own = first.spec, isinstance(first, old_table.OptionTables)
    bins = of.bins, None if top is None else top.spec.bins
    spec = Spec(None if own else first.n_classes, of.variation, *bins, ties=of.ties)
    spec = replace(spec, weighted=of.weighted)
    if isinstance(by_class, old_table.EventTable):
        by_class = by_class.coarsen(ProbabilityGrid(class_grid().edges))
        grid, names = by_class.spec.grid, by_class.spec.class_names
        events = tuple(event for event in by_class.events if isinstance(event, int))
        spec = replace(spec, classes=events, class_bins=Edges(grid.edges), class_names=names)
    tables = []
    for n in [*first] if isinstance(first, old_table.OptionTables) else [first.n_classes]:
        pair = [it[n] if isinstance(it, old_table.OptionTables) else it for it in (first, top)]
        sums = [None if it is None else it.sums for it in (*pair, by_class)]
        parts = Parts((None,), np.zeros(1, np.uint64), np.array([n]))
        tables.append(Table(spec, parts, _sums_of(spec, *sums)))
    return Table.sum(tables or [Table.empty(spec)])


# Fast paths of single numbers ---------------------------------------------------------------------


def rank_bins_of_rows(
    y_true: Any, y_prob: Any, *, detail: str, ties: str | None = None, **how: Any
) -> tuple[RankBins, FloatArray]:
    """The rows by variation, summing no more than `detail` says; of "scores" ΣV of each bin too."""
    how |= {"ties": DEFAULT_TIES if ties is None else ties, "detail": detail}
    table = tabulate_in_detail(y_true, y_prob, **how)
    tables = [*table.tables.values()] if isinstance(table, old_table.OptionTables) else [table]
    options = tuple(it.n_classes for it in tables)
    sums = [[it.count[None], it.ordered_sum[None], 1.0 * it.rank_count[None]] for it in tables]
    if len(tables) > 1:
        wide = [[n, *(exact_sums.padded(it, 2, max(options)) for it in its)] for n, *its in sums]
        sums = [[np.concatenate(each) for each in zip(*wide, strict=True)]]
    rows, predicted, observed = sums[0]
    variation = sum((it.variation_sum for it in tables if detail == "scores"), start=np.zeros(1))
    return RankBins(rows, predicted, observed, options), variation


def class_bins_of_rows(
    y_true: Any, y_prob: Any, *, ties: str | None = None, **how: Any
) -> tuple[EventBins, Edges]:
    """The probability of each class in cells over [0, 1], and the edges of the cells."""
    rows = read(y_true, y_prob, **how)
    if isinstance(rows.source, OptionRows):
        cause = "rows with options of their own have no classes in common"
        raise InvalidValueError("wrong-table", cause, argument="y_prob")
    own = ties or DEFAULT_TIES, rows.weighted
    spec = old_table.EventSpec(n := rows.source.n_classes, classes_as_events(n), class_grid(), *own)
    (table,) = passes.tabulate_rows(rows.source, [spec], "auto", None)
    sums = (
        np.asarray(getattr(table, name)) for name in ("count", "predicted_sum", "observed_count")
    )
    return EventBins(*sums), _CELLS
