"""Tables of data that lie on a Dask cluster: data frames, arrays and files, partition by partition.

    from trueness.adapters import dask
    table = dask.tabulate(frame, label="y", probs="p_*")
    answer = dask.assess("s3://bucket/day-*.parquet", label="y", probs="p_*", by="hospital")

Each partition becomes a table where it lies, and tables are added in a tree: rows never move.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import dask
from dask import delayed

from trueness import partitions
from trueness._random import Seed
from trueness.assessment import MIN_GROUP_SIZE, Assessment
from trueness.files import Batch, Choice, GroupedTables, InputError, Plan, Request, RowOptions, Summed
from trueness.files._arrow import field_of, pyarrow
from trueness.files._fields import Field
from trueness.files._remote import Remote, find_remote, local_source
from trueness.partitions import Options, Part, Work, in_python
from trueness.table import CalibrationTable

__all__ = ["tabulate", "assess", "sum_files"]

FAN_IN = 8
"""How many tables are added in one task: few enough to begin early, many enough for a low tree."""


def tabulate(
    data: Any,
    label: Any = None,
    probs: str | Sequence[str] | None = None,
    *,
    client: Any = None,
    retries: int = 0,
    storage_options: dict[str, Any] | None = None,
    **options: Unpack[Options],
) -> CalibrationTable | dict[str, CalibrationTable]:
    """The table that `trueness.tabulate` would make of all rows at once, to the bit; with `by`, one for each group.

    Parameters
    ----------
    data : dask.dataframe.DataFrame, dask.array.Array, or paths of files
        An array holds the predictions, (rows, classes) or (rows,), and `label`, `sample_weight` and `by` are arrays
        too. Paths may be globs, folders and whatever fsspec reads.
    label : str
        The column of true classes.
    probs : str or list of str
        "p_*" (in natural order: p_2 before p_10), "a,b,c" (in this order), or one column of lists. If left out, found
        where only one reading of the columns is possible.
    client : distributed.Client
        By default Dask's own choice: the current client, else threads of this process.
    retries : int
        How often a task that failed is tried again on a `distributed` cluster. One whose worker died is, anyway.
    storage_options : dict
        For fsspec.
    **options
        As in `trueness.partitions.Options`.
    """
    cluster = _Cluster(client, retries)
    with in_python():
        return partitions.by_group(_tables(data, label, probs, cluster, storage_options, options, False))


def assess(
    data: Any,
    label: Any = None,
    probs: str | Sequence[str] | None = None,
    *,
    level: float = 0.95,
    resamples: int = 999,
    rng: Seed = None,
    min_group_size: int = MIN_GROUP_SIZE,
    client: Any = None,
    retries: int = 0,
    storage_options: dict[str, Any] | None = None,
    **options: Unpack[Options],
) -> Assessment:
    """The answer that `trueness.assess` would give for all rows at once; data and options are as in `tabulate`."""
    cluster = _Cluster(client, retries)
    with in_python():
        tables = _tables(data, label, probs, cluster, storage_options, options, True)
    return partitions.assessed(
        tables, level=level, resamples=resamples, rng=rng, min_group_size=min_group_size
    )


class _Cluster(NamedTuple):
    """Where work is done."""

    client: Any
    retries: int

    def compute(self, result: Any) -> Any:
        how = {"retries": self.retries} if self.retries else {}
        if self.client is not None:
            return self.client.compute(result, **how).result()
        return dask.compute(result, **how)[0]

    def kept(self, results: list[Any]) -> list[Any]:
        """The results, made and kept where they were made."""
        return self.client.persist(results) if self.client is not None else list(dask.persist(*results))


class _Pieces(NamedTuple):
    """The partitions: `batches(work, *piece)` are the rows of one of them, on its worker."""

    work: Work
    batches: Callable[..., Iterable[Batch]]
    pieces: list[tuple[Any, ...]]


def _tables(
    data: Any, label: Any, probs: Any, cluster: _Cluster, storage: Any, options: Options, confidence: bool
) -> GroupedTables:
    partitions.require_known(options)
    rows, plan = partitions.row_options_of(options), partitions.plan_of(options, with_confidence=confidence)
    module = type(data).__module__
    if module.startswith("dask.array"):
        pieces = _of_array(data, label, rows, plan, options)
    elif module.startswith("dask.dataframe"):
        pieces = _of_frame(data, partitions.request_of(label, probs, options), rows, plan)
    elif isinstance(data, (str, os.PathLike, list, tuple)):
        paths = [os.fspath(path) for path in (data if isinstance(data, (list, tuple)) else [data])]
        request = partitions.request_of(label, probs, options)
        pieces = _of_files(find_remote(paths, storage_options=storage), request, rows, plan)
    else:
        raise TypeError(
            f"data must be a Dask data frame or array, or paths of files, got {type(data).__name__}; "
            "trueness.tabulate takes what is in memory"
        )
    work, part = _sum(pieces, cluster)
    return work.finish(part)


def sum_files(files: Sequence[Remote], request: Request, rows: RowOptions, plan: Plan, client: Any) -> Summed:
    """What `trueness.files.sum_source` makes of files, made by a cluster: for the command."""
    work, part = _sum(_of_files(files, request, rows, plan), _Cluster(client, 0))
    return Summed(work.checked(part), part.skipped, work.engine)


def _sum(pieces: _Pieces, cluster: _Cluster) -> tuple[Work, Part]:
    """The map and the sum; exact bins of equal mass take a map and a search before."""
    work = pieces.work
    if work.is_exact:
        values = cluster.kept(_mapped(Work.variations, pieces))
        n_rows = cluster.compute(_tree([delayed(_count)(some) for some in values], sum))

        def below(candidates: Any) -> Any:
            sent = delayed(candidates)
            counts = [delayed(partitions.values_below)(some, sent) for some in values]
            return cluster.compute(_tree(counts, sum))

        work = work.with_edges(partitions.exact_edges(work, n_rows, below))
    parts = _mapped(Work.sum, pieces._replace(work=work))
    return work, cluster.compute(_tree(parts, partitions.total))


def _mapped(do: Callable[[Work, Iterable[Batch]], Any], pieces: _Pieces) -> list[Any]:
    """A task for each partition; the work is sent once."""
    work = delayed(pieces.work, traverse=False)
    return [delayed(_done)(do, work, pieces.batches, *piece) for piece in pieces.pieces]


def _done(
    do: Callable[[Work, Iterable[Batch]], Any],
    work: Work,
    batches: Callable[..., Iterable[Batch]],
    *piece: Any,
) -> Any:
    return do(work, batches(work, *piece))


def _count(values: list[Any]) -> int:
    return len(values[0])


def _tree(results: list[Any], add: Callable[[list[Any]], Any]) -> Any:
    """All results added, `FAN_IN` at a time."""
    while len(results) > 1:
        results = [
            delayed(add)(results[start : start + FAN_IN]) for start in range(0, len(results), FAN_IN)
        ]
    return results[0]


def _of_frame(frame: Any, request: Request, rows: RowOptions, plan: Plan) -> _Pieces:
    names = [str(name) for name in frame.columns]
    fields = {name: _field(frame, place) for place, name in enumerate(names)}
    choice = partitions.choice_of(fields, request)
    n_classes = choice.known_classes or _first_width(frame, choice)
    work = Work.of(request, rows, plan, choice, n_classes)
    wanted = [frame.columns[names.index(name)] for name in choice.wanted.names]
    parts = frame[wanted].to_delayed()
    return _Pieces(work, _frame_batches, list(zip(parts, range(len(parts)), strict=True)))


def _field(frame: Any, place: int) -> Field:
    """What a column holds; objects may be lists, which only a row can tell."""
    meta = frame._meta.iloc[:, place]
    if meta.dtype != object:
        return field_of(pyarrow().Schema.from_pandas(meta.to_frame("it"), preserve_index=False).field(0).type)
    first = _first_value(frame, frame.columns[place])
    return Field("list") if hasattr(first, "__len__") and not isinstance(first, (str, bytes)) else Field("text")


def _first_value(frame: Any, name: Any) -> Any:
    for number in range(frame.npartitions):
        head = frame[name].get_partition(number).head(1)
        if len(head):
            return head.iloc[0]
    return None


def _first_width(frame: Any, choice: Choice) -> int:
    first = _first_value(frame, choice.probs[0])
    if first is None:
        raise InputError("there are no rows", "check where the data come from")
    return len(first)


def _frame_batches(work: Work, frame: Any, number: int) -> Iterator[Batch]:
    pa, place = pyarrow(), f"partition {number}"
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, TypeError) as error:
        raise InputError(f"{place} cannot be read: {error}", "give its columns one type each") from error
    columns = {str(name): table.column(place) for place, name in enumerate(frame.columns)}
    yield work.batch(columns, table.num_rows, place)


def _of_array(y_prob: Any, label: Any, rows: RowOptions, plan: Plan, options: Options) -> _Pieces:
    beside = {
        "label": label,
        "sample_weight": options.get("sample_weight"),
        "by": options.get("by"),
    }
    given = {name: array for name, array in beside.items() if array is not None}
    for name in ("label", *given):
        if not type(beside[name]).__module__.startswith("dask.array"):
            raise TypeError(f"beside an array of predictions, {name} must be a Dask array too")
    wide = y_prob.ndim == 2
    classes = partitions.named_classes(options)
    names = classes if isinstance(classes, tuple) else None
    weight, by = (name if name in given else None for name in ("sample_weight", "by"))
    choice = Choice("label", ("probs",), wide, weight, by, (), names)
    n_classes = int(y_prob.shape[1]) if wide else 2
    work = Work.of(Request(), rows, plan, choice, n_classes)
    blocks = (y_prob.rechunk({1: -1}) if wide else y_prob).to_delayed().ravel()
    others = [array.rechunk({0: y_prob.chunks[0], **{1: -1 for _ in range(array.ndim - 1)}}) for array in given.values()]
    columns = [blocks, *(array.to_delayed().ravel() for array in others)]
    order = ("probs", *given)
    return _Pieces(work, _array_batches, [(order, n, *blocks) for n, blocks in enumerate(zip(*columns, strict=True))])


def _array_batches(work: Work, names: Sequence[str], number: int, *blocks: Any) -> Iterator[Batch]:
    lengths = {name: len(block) for name, block in zip(names, blocks, strict=True)}
    if len(set(lengths.values())) > 1:
        raise InputError(f"the arrays have blocks of other lengths: {lengths}", "chunk them alike")
    yield work.batch(dict(zip(names, blocks, strict=True)), len(blocks[0]), f"block {number}")


def _of_files(files: Sequence[Remote], request: Request, rows: RowOptions, plan: Plan) -> _Pieces:
    with local_source(files[0], request, rows) as source:
        work = Work.of(request, rows, plan, source.choice, source.n_classes)
    return _Pieces(work, _file_batches, [(delayed(file, traverse=False), files[0].input.path) for file in files])


def _file_batches(work: Work, file: Remote, first: str) -> Iterator[Batch]:
    with local_source(file, work.request, work.options, n_classes=work.n_classes) as source:
        if source.choice != work.choice:
            raise InputError(
                f"{file.input.path} has other columns than {first}", "files of one run have the same columns"
            )
        for placed in source.batches():
            yield replace(placed.batch, file=file.input.path)
