"""What the tests of Dask, Spark and process pools share: the same rows, and a measure that stops a worker.

One process is the oracle: `trueness.tabulate` on the rows as one array.
"""

import functools
import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest
from close_tables import assert_close
from numpy.typing import NDArray

import trueness as tn

N_ROWS, N_CLASSES = 3000, 11  # eleven, so that p_10 must not be sorted between p_1 and p_2
Y_TRUE, Y_PROB = tn.simulate.calibrated(N_ROWS, [0.5] * N_CLASSES, rng=7)
Y_PROB[::50] = np.roll(Y_PROB[::50], 1, axis=1)
GROUP = np.where(Y_PROB[:, 0] > 0.2, "north", np.where(Y_TRUE % 3 == 0, "süd, east", "west"))
WEIGHT = np.random.default_rng(8).gamma(2.0, 1.0, N_ROWS)
PROBS = [f"p_{c}" for c in range(N_CLASSES)]


def frame() -> Any:
    """The rows as a pandas frame, with columns in alphabetical order: p_10 before p_2."""
    import pandas as pd

    columns = {name: Y_PROB[:, c] for c, name in enumerate(PROBS)}
    whole = pd.DataFrame({"y": Y_TRUE, "g": GROUP, "w": WEIGHT, **columns})
    return whole[sorted(whole.columns)]


@functools.cache
def whole() -> Any:
    """The frame, made once."""
    return frame()


def collection(npartitions: int = 5, of: Any = None) -> Any:
    """A Dask data frame of all rows, or of another frame."""
    import dask.dataframe as dd

    return dd.from_pandas(whole() if of is None else of, npartitions=npartitions, sort=False)


def dask_tabulate(data: Any, **options: Any) -> Any:
    """The table of a Dask collection or of files."""
    from trueness.adapters import dask

    return dask.tabulate(data, "y", "p_*", **options)


@contextmanager
def dask_client() -> Iterator[Any]:
    """A client of a cluster of two worker processes on this machine."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "memory_limit": "2GB"}
    with (
        LocalCluster(dashboard_address="127.0.0.1:0", **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


RESULT_BYTES = 2**23
"""More than all tables of a test, and much less than its rows: no job of Spark can bring the rows to the driver."""


@contextmanager
def spark_session() -> Iterator[Any]:
    """A session of local[2,4]: a task may be lost three times, as on a cluster; with local[2] one loss ends the job."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        settings = {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "768m",
            "spark.driver.maxResultSize": str(RESULT_BYTES),
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.log.level": "OFF",
        }
        builder = SparkSession.builder.master("local[2,4]").appName("trueness")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        yield session
        gateway = session.sparkContext._gateway
        session.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait(timeout=60)
        SparkContext._gateway = SparkContext._jvm = None  # the next session starts a new JVM


NAMES = ["low", "mid", "high"]
THREE_TRUE, THREE_PROB = tn.simulate.calibrated(600, [2, 1, 1], rng=9)


def three_classes(order: list[int], labels: Any = THREE_TRUE) -> Any:
    """A frame of columns p_low, p_mid, p_high in another order, and two columns of groups."""
    import pandas as pd

    columns = {f"p_{NAMES[c]}": THREE_PROB[:, c] for c in order}
    sites, sexes = (
        np.array(["north", "south"])[np.arange(600) % 2],
        np.array(["F", "M"])[np.arange(600) // 2 % 2],
    )
    return pd.DataFrame({"y": labels, **columns, "site": sites, "sex": sexes})


def one_process(**options: Any) -> tn.CalibrationTable:
    """All rows at once."""
    return tn.tabulate(Y_TRUE, Y_PROB, **options)


def one_process_by_class(rows: Any = slice(None), **options: Any) -> tn.EventTable:
    """All rows, or some, at once, into the event table of all classes."""
    return tn.tabulate_events(Y_TRUE[rows], Y_PROB[rows], **options)


def require_tables_by_class(tabulate: Callable[..., Any]) -> None:
    """With by_class=True an adapter gives all tables of one process, of all rows and of each group."""
    found = tabulate(by_class=True)
    assert found.stored == [one_process(), one_process_by_class()]
    groups = tabulate(by_class=True, groups="g", ties="split")
    assert sorted(groups) == ["north", "süd, east", "west"]
    for name, tables in groups.items():
        assert tables.by_variation == of_group(name, ties="split")
        assert tables.by_class == one_process_by_class(name == GROUP, ties="split")
    weighted = tabulate(by_class=True, sample_weight="w")
    assert_close(weighted.by_class, one_process_by_class(sample_weight=WEIGHT))
    assert tabulate(by_class=False) == one_process()


def require_tables_of_three(found: Any) -> None:
    """Tables of `three_classes` in whatever order of the classes."""
    places = [NAMES.index(name.removeprefix("p_")) for name in found.by_class.spec.class_names]
    labels = np.argsort(places)[THREE_TRUE]
    assert found.by_variation == tn.tabulate(labels, THREE_PROB[:, places])
    assert found.by_class == tn.tabulate_events(labels, THREE_PROB[:, places])


def of_group(name: str, **options: Any) -> tn.CalibrationTable:
    """The rows of a group at once."""
    mine = name == GROUP
    return tn.tabulate(Y_TRUE[mine], Y_PROB[mine], **options)


def require_clusters(assess: Callable[..., Any], data: Any) -> None:
    """With clusters= an adapter gives the answer of one process, though clusters are spread over partitions."""
    who = np.array([f"patient {k}" for k in np.arange(N_ROWS) % 90])
    for options in ({}, {"groups": "g"}):
        how = {"clusters": who, "resamples": 99, "rng": 5}
        expected = tn.assess(Y_TRUE, Y_PROB, **how, **({"groups": GROUP} if options else {}))
        assert assess(data(who), clusters="who", resamples=99, rng=5, **options) == expected


SHARP_PROB = tn.simulate.sharpen(Y_PROB, 1.3)
MODELS = {"plain": "p_*", "sharp": "s_*"}
"""The columns of two models in `both_models`."""


def both_models(**more: Any) -> Any:
    """A frame with the columns of two models, the second of which is sharper."""
    sharp = {f"s_{c}": SHARP_PROB[:, c] for c in range(N_CLASSES)}
    return whole().assign(**sharp, **more)


def one_process_comparison(**options: Any) -> dict[str, Any]:
    """Both models at once."""
    models = {"plain": Y_PROB, "sharp": SHARP_PROB}
    return tn.compare(Y_TRUE, models, resamples=99, rng=5, **options).to_dict()


def deadly(folder: Path) -> tn.Variation:
    """A measure whose first call in another process sends the number of that process through a pipe, and then blocks.

    It is called where the rows of a partition are summed, so the blocked process has unfinished work.
    """
    place, home = str(folder), os.getpid()
    os.mkfifo(folder / "victim")

    def gini(x: NDArray[np.float64]) -> NDArray[np.float64]:
        if os.getpid() != home:
            try:
                open(f"{place}/first", "x").close()
            except FileExistsError:
                with open(f"{place}/survivors", "a", encoding="utf-8") as file:
                    file.write(f"{os.getpid()}\n")
            else:
                with open(f"{place}/victim", "w", encoding="utf-8") as pipe:
                    pipe.write(str(os.getpid()))
                Event().wait()  # until the process is killed
        return np.asarray(1 - (x**2).sum(axis=-1))

    return tn.Variation("gini_under_fire", gini, range=lambda c: (0.0, 1 - 1 / c))


class Killing:
    """A thread that reads the number of the blocked process, kills it with SIGKILL and waits for its end."""

    SECONDS = 120
    """The longest wait for an event, so that a test that fails ends."""

    def __init__(self, folder: Path, is_victim: Callable[[str], bool]) -> None:
        self._folder, self._is_victim = folder, is_victim
        self.pid, self.was_alive, self.is_gone = 0, False, False
        self._thread = Thread(target=self._run)

    def __enter__(self) -> "Killing":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join()

    def _run(self) -> None:
        pipe = os.open(self._folder / "victim", os.O_RDWR)  # not only to read, which would wait for a writer
        if not self._is_ready(pipe):
            return
        self.pid = int(os.read(pipe, 32))
        process = os.pidfd_open(self.pid)
        self.was_alive = self._is_victim(_command(self.pid))
        os.kill(self.pid, signal.SIGKILL)
        self.is_gone = self._is_ready(process)

    def _is_ready(self, handle: int) -> bool:
        """Whether there is something to read, or the process has ended, within the longest wait."""
        return bool(select.select([handle], [], [], self.SECONDS)[0])

    @property
    def survivors(self) -> set[int]:
        """The processes that finished the work."""
        return {int(line) for line in (self._folder / "survivors").read_text().split()}


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
