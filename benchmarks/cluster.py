"""Dask and Spark with one worker and with two against one process on the same files; and the cost of a large cluster.

Run it with ``make bench``, or with ``--quick`` to check that it works. It writes `results/cluster.md`. All numbers are
from one run on one machine: ratios are more reliable than seconds.

The model at the end is that of docs/integrations/cluster.md. Its cost of summing many tables is measured here, on a
tree of 10⁴ partitions that reuse 64 different tables.
"""

from __future__ import annotations

import argparse
import math
import os
import pickle
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, NamedTuple

from measuring import figure, machine, markdown, resident_growth, thousands
from required import Target, required_markdown

CLASSES = 10
RESULTS = Path(__file__).parent / "results" / "cluster.md"


class Size(NamedTuple):
    """The size of the measurement."""

    shards: int
    rows: int
    partitions: int


FULL, QUICK = Size(8, 500_000, 10_000), Size(4, 20_000, 200)


class Run(NamedTuple):
    """One way to compute the table."""

    name: str
    workers: int
    seconds: float
    alone: float
    """Seconds of one process, measured in the same turns."""
    driver_growth: float
    """Growth of the driver process in MB."""


@dataclass(frozen=True)
class Costs:
    """The measured costs that the model uses."""

    rows_per_second: float
    """Rows per second of one worker, from file to table."""
    task_seconds: float
    """Overhead of a task on the scheduler."""
    add_seconds: float
    """Time to add two tables."""
    part_bytes: int
    """Serialized size of the tables of a partition."""


def write_shards(folder: Path, size: Size) -> list[str]:
    """Calibrated rows as Parquet files, one for each partition."""
    from trueness.files import write_predictions
    from trueness.simulate import calibrated

    paths = [str(folder / f"shard-{number}.parquet") for number in range(size.shards)]
    for seed, path in enumerate(paths):
        y_true, y_prob = calibrated(size.rows, [1.0] * CLASSES, rng=seed)
        write_predictions(path, [(y_true, y_prob)], size.rows, CLASSES)
    return paths


def best(name: str, workers: int, work: Callable[[], Any], alone: Callable[[], Any], turns: int = 5) -> Run:
    """The shortest of several turns after a warm-up, each beside one of one process; memory is that of the last."""
    seconds: tuple[list[float], list[float]] = ([], [])
    for turn in range(turns + 1):
        for way, measured in zip((alone, work), seconds, strict=True):
            begin = time.perf_counter()
            way()
            if turn:
                measured.append(time.perf_counter() - begin)
    of_alone, of_work = map(min, seconds)
    return Run(name, workers, of_work, of_alone, resident_growth(work))


def kernel_alone(paths: list[str], alone: Callable[[], Any]) -> Run:
    """The rows of one shard in memory, once for each shard."""
    import numpy as np
    import pyarrow.parquet as pq

    import trueness as tn

    table = pq.read_table(paths[0])
    y_true = table["y_true"].to_numpy()
    y_prob = np.stack([table[f"p_{c}"].to_numpy() for c in range(CLASSES)], axis=1)

    def work() -> None:
        for _ in paths:
            tn.tabulate(y_true, y_prob, n_threads=1)

    return best("kernel, rows in memory", 1, work, alone)


def one_process(paths: list[str]) -> Callable[[], Any]:
    """The files one after the other: one thread sums, one reads ahead, and Arrow decodes on all cores."""
    from trueness.files import Plan, Request, RowOptions, Source, find_inputs, sum_source

    def work() -> Any:
        source = Source(find_inputs(paths).files, Request(), RowOptions())
        return sum_source(source, Plan.of(n_threads=1, with_confidence=False)).tables.whole.by_variation

    return work


@contextmanager
def dask_workers(count: int) -> Iterator[Any]:
    """Worker processes with one thread each, on the loopback interface."""
    from distributed import Client, LocalCluster

    settings = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "threads_per_worker": 1}
    with (
        LocalCluster(n_workers=count, memory_limit="3GB", **settings) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def on_dask(paths: list[str], alone: Callable[[], Any]) -> list[Run]:
    """The same files on one worker and on two."""
    from trueness.adapters import dask

    runs = []
    for count in (1, 2):
        with dask_workers(count) as client:

            def work() -> Any:
                return dask.tabulate(paths, "y_true", "p_*", client=client)

            assert work() == alone()
            runs.append(best("Dask, paths", count, work, alone))
    return runs


def on_spark(paths: list[str], alone: Callable[[], Any]) -> list[Run]:
    """The same files on one core and on two: as paths, and as a data frame of which each file is a partition."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession

    from trueness.adapters import spark

    warnings.filterwarnings("ignore", message="PySpark does not yet")
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.sql.files.maxPartitionBytes": str(2**30),
        "spark.sql.files.openCostInBytes": str(2**30),
    }
    runs = []
    for count in (1, 2):
        builder = SparkSession.builder.master(f"local[{count},4]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        data = session.read.parquet(*paths)

        for name, source in (("paths", paths), ("data frame", data)):

            def work() -> Any:
                return spark.tabulate(source, "y_true", "p_*", session=session)  # noqa: B023

            assert work() == alone()
            runs.append(best(f"Spark, {name}", count, work, alone))
        session.stop()
    return runs


def parts_of(count: int, bins: Any) -> tuple[Any, list[Any]]:
    """The work, and `count` parts of it with a hundred rows each; each part begins one row after the previous one."""
    import numpy as np

    from trueness import partitions, simulate
    from trueness.formats.fields import Field

    options: Any = {"engine": "portable", "bins": bins}
    names = ["y", *(f"p_{c}" for c in range(CLASSES))]
    request = partitions.request_of("y", "p_*", options)
    choice = partitions.choice_of({name: Field("number") for name in names}, request)
    plan = partitions.plan_of(options, for_assessment=False)
    work = partitions.Work.of(request, partitions.row_options_of(options), plan, choice, CLASSES)
    y_true, y_prob = simulate.calibrated(count + 100, [1.0] * CLASSES, rng=0)

    def part(number: int) -> Any:
        some = slice(number, number + 100)
        columns = {
            "y": y_true[some],
            **{f"p_{c}": np.ascontiguousarray(y_prob[some, c]) for c in range(CLASSES)},
        }
        return work.sum([work.batch(columns, 100, f"partition {number}")])

    return work, [part(number) for number in range(count)]


def simulate_reduction(size: Size) -> tuple[list[tuple[Any, ...]], dict[str, Costs]]:
    """The tree of many partitions: on a real scheduler for the cost per task, in this process for that of adding.

    On the scheduler all partitions reuse 64 parts, which are sent before the time is measured.
    """
    from trueness import EqualWidth, partitions
    from trueness.adapters import dask

    lines, costs = [], {}
    for name, bins, count in (
        ("10 bins", 10, size.partitions),
        ("grid of 4000", EqualWidth(4000), max(64, size.partitions // 20)),
    ):
        work, parts = parts_of(count, bins)
        begin = time.perf_counter()
        in_line = reduce(add, parts)
        adding = (time.perf_counter() - begin) / (count - 1)
        moved, row = len(pickle.dumps(parts[0], protocol=5)), len(parts[0].to_json())
        with dask_workers(2) as client:
            sources = client.scatter(parts[:64], broadcast=True)

            def tree(sources: Any = sources, count: int = count) -> Any:
                leaves = [dask.delayed(_same)(sources[number % 64], number) for number in range(count)]
                return client.compute(dask._tree(leaves, partitions.total)).result()

            expected = reduce(add, [parts[number % 64] for number in range(count)])
            begin = time.perf_counter()
            added = tree()
            seconds = time.perf_counter() - begin
            assert work.checked(added).whole == work.checked(expected).whole
        tasks = count + sum(_levels(count, dask.FAN_IN))
        assert in_line.tables.n_rows == 100 * count
        costs[name] = Costs(math.nan, seconds / tasks, adding, moved)
        lines.append(
            (name, thousands(count), len(_levels(count, dask.FAN_IN)), thousands(tasks), f"{seconds:.1f}",
             f"{seconds / tasks * 1e3:.2f}", f"{adding * 1e3:.2f}", thousands(moved), thousands(row))
        )  # fmt: skip
    return lines, costs


def _same(part: Any, _: int) -> Any:
    return part


def _levels(count: int, fan_in: int) -> list[int]:
    """The number of tasks on each level of the tree."""
    levels = []
    while count > 1:
        count = math.ceil(count / fan_in)
        levels.append(count)
    return levels


def modelled(
    costs: Costs, rows: float = 1e11, workers: int = 100, partitions: int = 10_000
) -> dict[str, float]:
    """The model of docs/integrations/cluster.md, "What a large run would cost": seconds of each part, and gigabytes."""
    fan_in = 8
    levels = _levels(partitions, fan_in)
    tasks = partitions + sum(levels)
    return {
        "map": rows / (workers * costs.rows_per_second),
        "scheduler": tasks * costs.task_seconds,
        "adding": partitions * costs.add_seconds / workers + len(levels) * fan_in * costs.add_seconds,
        "gigabytes moved": (tasks - 1) * costs.part_bytes / 1e9,
    }


def speeds(runs: list[Run], n_rows: int) -> str:
    """A table of the speeds relative to one process in the same turns."""
    header = ["way", "workers", "rows/s", "rows/s and worker, against one process", "driver grew by, MB"]
    lines = [
        [
            run.name,
            run.workers,
            thousands(n_rows / run.seconds),
            f"{run.alone / run.seconds / run.workers:.2f} ×",
            figure(max(run.driver_growth, 0.0)),
        ]
        for run in runs
    ]
    return markdown(header, lines)


def required(runs: list[Run]) -> list[Target]:
    """One worker that reads paths against one process."""
    seen = {run.name: run.alone / run.seconds for run in runs if run.workers == 1}
    limits = {"Spark, paths": (0.5, 0.8), "Dask, paths": (0.7, 0.9)}
    return [
        Target(f"{name} of Parquet files, one worker, against one process", seen[name], *limits[name])
        for name in limits
    ]


def main() -> None:
    """Measure, apply the model, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a short run, only to check that the script works"
    )
    size = QUICK if parser.parse_args().quick else FULL
    about = machine()
    with tempfile.TemporaryDirectory() as folder:
        paths = write_shards(Path(folder), size)
        alone = one_process(paths)
        runs = [
            kernel_alone(paths, alone),
            best("one process", 1, alone, alone),
            *on_dask(paths, alone),
            *on_spark(paths, alone),
        ]
    lines, costs = simulate_reduction(size)
    n_rows = size.shards * size.rows
    per_worker = n_rows / next(run.seconds for run in runs if run.name == "Dask, paths" and run.workers == 1)
    header = [
        "tables",
        "partitions",
        "levels",
        "tasks",
        "s",
        "ms a task",
        "ms to add two",
        "bytes, Dask",
        "bytes, Spark",
    ]
    model = [
        [
            name,
            *(
                figure(value)
                for value in modelled(Costs(per_worker, *list(vars(cost).values())[1:])).values()
            ),
        ]
        for name, cost in costs.items()
    ]
    what = (
        f"{thousands(n_rows)} rows of {CLASSES} classes in {size.shards} Parquet files, the compiled engine; one "
        "thread sums in each worker and in the one process. The one process decodes on all cores, a worker that reads "
        "paths on two threads. The tables of all ways are equal (`==`), and ratios are from turns of both. Memory is "
        "that of the driving Python process."
    )
    text = "\n\n".join(
        [
            "# Dask and Spark",
            about,
            what,
            required_markdown(required(runs)),
            speeds(runs, n_rows),
            "The sum of many partitions, on a Dask cluster of two workers (checked against a plain sum):",
            markdown(header, lines),
            "What 100 workers, 10 000 partitions and 10¹¹ rows would cost, seconds (docs/integrations/cluster.md):",
            markdown(["tables", "map", "scheduler", "adding", "GB moved"], model),
        ]
    )
    print(text)
    if size is FULL:
        RESULTS.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
