"""Tables of data on a Dask cluster: data frames, arrays and files, one partition at a time.

    from trueness.adapters import dask
    table = dask.tabulate(frame, label="y", probs="p_*")
    answer = dask.assess("s3://bucket/day-*.parquet", label="y", probs="p_*", groups="hospital")

Each partition becomes a table on its worker, and the tables are added in a tree: rows are never moved.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Unpack

from trueness import partitions
from trueness._random import Seed
from trueness.adapters._dask_rows import Pieces, of_array, of_files, of_frame
from trueness.bins import Bins
from trueness.files import Batch
from trueness.old_assessment import MIN_GROUP_SIZE, Assessment
from trueness.old_table import GroupedTables
from trueness.partitions import Options, Part, Tabulated, Work
from trueness.refusals import InvalidTypeError, MissingLibraryError

__all__ = ["tabulate", "assess"]

FAN_IN = 8
"""The number of tables added in one task: small enough to start early, large enough for a tree of few levels."""


def tabulate(
    data: Any,
    label: Any = None,
    probs: str | Sequence[str] | None = None,
    *,
    client: Any = None,
    retries: int = 0,
    storage_options: dict[str, Any] | None = None,
    **options: Unpack[Options],
) -> Tabulated | dict[str, Tabulated]:
    """The table that `trueness.tabulate` would make of all rows at once, to the bit; with `groups`, one for each group.

    Parameters
    ----------
    data : dask.dataframe.DataFrame, dask.array.Array, or paths of files
        An array holds the predictions, (rows, classes) or (rows,), and `label`, `sample_weight` and `groups` are arrays
        too. Paths may be globs, folders and whatever fsspec reads.
    label : str
        The column of true classes.
    probs : str or list of str
        "p_*" (by number, p_2 before p_10, else in the order of the frame), "a,b,c" (in this order), or one column of
        lists. If left out, detected where only one reading of the columns is possible. Labels that are names are
        matched to the columns by name.
    client : distributed.Client
        By default Dask chooses: the current client, or else threads of this process.
    retries : int
        How often a failed task is retried on a `distributed` cluster. Tasks of a worker that died are always retried.
    storage_options : dict
        Options of fsspec, such as credentials.
    **options
        As in `trueness.partitions.Options`.
    """
    cluster = _Cluster(client, retries, storage_options)
    return partitions.tables_by_group(_tables(data, label, probs, cluster, options, for_assessment=False))


def assess(
    data: Any,
    label: Any = None,
    probs: str | Sequence[str] | None = None,
    *,
    class_bins: int | Bins = 10,
    level: float = 0.95,
    tolerance: float | Mapping[str, float] | None = None,
    resamples: int = 999,
    rng: Seed = 0,
    min_group_size: int = MIN_GROUP_SIZE,
    client: Any = None,
    retries: int = 0,
    storage_options: dict[str, Any] | None = None,
    **options: Unpack[Options],
) -> Assessment:
    """Assess all rows, with the result of `trueness.assess`; `data` and options are as in `tabulate`."""
    cluster = _Cluster(client, retries, storage_options)
    tables = _tables(data, label, probs, cluster, options, for_assessment=True)
    return partitions.assess_grouped(
        tables,
        class_bins=class_bins,
        level=level,
        tolerance=tolerance,
        resamples=resamples,
        rng=rng,
        min_group_size=min_group_size,
    )


def _dask() -> Any:
    """The module dask, or a refusal that says how to install it."""
    try:
        import dask
    except ImportError:
        raise _missing_dask() from None
    return dask


def _missing_dask() -> MissingLibraryError:
    cause = "this needs Dask, which is not installed"
    return MissingLibraryError("missing-library", cause, "pip install 'trueness[dask]'")


def delayed(value: Any, **how: Any) -> Any:
    """`dask.delayed`, imported when it is called."""
    return _dask().delayed(value, **how)


class _Cluster(NamedTuple):
    """The cluster that runs the tasks, and its options."""

    client: Any
    retries: int = 0
    storage_options: dict[str, Any] | None = None

    @property
    def slots(self) -> int:
        """The number of tasks that run at the same time."""
        client = self.client
        if client is None and "distributed" in sys.modules:
            from distributed import default_client

            with suppress(ValueError):  # there is none: Dask uses threads of this process
                client = default_client()
        return os.cpu_count() or 1 if client is None else sum(client.nthreads().values())

    def compute(self, result: Any) -> Any:
        """Compute a delayed result and fetch it to this process."""
        how = {"retries": self.retries} if self.retries else {}
        if self.client is not None:
            return self.client.compute(result, **how).result()
        return _dask().compute(result, **how)[0]


def _tables(
    data: Any, label: Any, probs: Any, cluster: _Cluster, options: Options, *, for_assessment: bool
) -> GroupedTables:
    partitions.require_known(options)
    rows, plan = (
        partitions.row_options_of(options),
        partitions.plan_of(options, for_assessment=for_assessment),
    )
    module = type(data).__module__
    if module.startswith("dask.array"):
        pieces = of_array(data, label, rows, plan, options)
    elif module.startswith("dask.dataframe"):
        pieces = of_frame(data, partitions.request_of(label, probs, options), rows, plan)
    elif partitions.is_paths(data):
        request = partitions.request_of(label, probs, options)
        files = partitions.files_of(data, cluster.storage_options)
        pieces = of_files(files, request, rows, plan, cluster.slots)
    else:
        cause = f"data must be a Dask data frame or array, or paths of files, got {type(data).__name__}"
        remedy = "for data in memory use trueness.tabulate"
        raise InvalidTypeError("wrong-type", cause, remedy, argument="data")
    work, part = _sum(pieces, cluster)
    return work.finish(part)


def _sum(pieces: Pieces, cluster: _Cluster) -> tuple[Work, Part]:
    """The sums of all partitions."""
    parts = _tasks(Work.sum, pieces)
    return pieces.work, cluster.compute(_tree(parts, partitions.total))


def _tasks(do: Callable[[Work, Iterable[Batch]], Any], pieces: Pieces) -> list[Any]:
    """One task for each partition; the work is sent to the cluster once."""
    work = delayed(pieces.work, traverse=False)
    return [delayed(_run)(do, work, pieces.batches, *piece) for piece in pieces.pieces]


def _run(
    do: Callable[[Work, Iterable[Batch]], Any],
    work: Work,
    batches: Callable[..., Iterable[Batch]],
    *piece: Any,
) -> Any:
    return do(work, batches(work, *piece))


def _tree(results: list[Any], add: Callable[[list[Any]], Any]) -> Any:
    """All results added, `FAN_IN` at a time."""
    while len(results) > 1:
        results = [delayed(add)(results[start : start + FAN_IN]) for start in range(0, len(results), FAN_IN)]
    return results[0]
