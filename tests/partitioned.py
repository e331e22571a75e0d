"""What the tests of Dask, Spark and process pools share: the same rows, and a measure that can be shot at.

One process is the oracle: `trueness.tabulate` on the rows as one array.
"""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import NDArray

import trueness as tn

N_ROWS, N_CLASSES = 3000, 11  # eleven, so that p_10 must not be sorted between p_1 and p_2
Y_TRUE, Y_PROB = tn.simulate.calibrated(N_ROWS, [0.5] * N_CLASSES, rng=7)
Y_PROB[::50] = np.roll(Y_PROB[::50], 1, axis=1)
GROUP = np.where(Y_PROB[:, 0] > 0.2, "north", np.where(Y_TRUE % 3 == 0, "süd, east", "west"))
WEIGHT = np.random.default_rng(8).gamma(2.0, 1.0, N_ROWS)
PROBS = [f"p_{c}" for c in range(N_CLASSES)]


def frame() -> Any:
    """The rows as a pandas frame, its columns in an order that no one should rely on."""
    import pandas as pd

    columns = {name: Y_PROB[:, c] for c, name in enumerate(PROBS)}
    whole = pd.DataFrame({"y": Y_TRUE, "g": GROUP, "w": WEIGHT, **columns})
    return whole[sorted(whole.columns)]


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
    return tn.tabulate(Y_TRUE, Y_PROB, engine="portable", **options)


def of_group(name: str, **options: Any) -> tn.CalibrationTable:
    """The rows of a group at once."""
    mine = name == GROUP
    return tn.tabulate(Y_TRUE[mine], Y_PROB[mine], engine="portable", **options)


def deadly(folder: Path) -> tn.Variation:
    """A measure that, on the first call in another process than this, writes down the process's number and waits.

    It is computed where the rows of a partition are summed, so a process that waits in it is in the middle of its work.
    """
    place, home = str(folder), os.getpid()

    def gini(x: NDArray[np.float64]) -> NDArray[np.float64]:
        if os.getpid() != home:
            try:
                handle = os.open(f"{place}/victim", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
            except FileExistsError:
                with open(f"{place}/survivors", "a", encoding="utf-8") as file:
                    file.write(f"{os.getpid()}\n")
            else:
                os.write(handle, f"{os.getpid()}\n".encode())
                os.close(handle)
                time.sleep(120)
                raise AssertionError("nobody came to kill this process")
        return np.asarray(1 - (x**2).sum(axis=-1))

    return tn.Variation("gini_under_fire", gini, range=lambda c: (0.0, 1 - 1 / c))


class Killing:
    """A thread that waits for the victim, looks at it, kills it with SIGKILL and sees it gone."""

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
        found = self._folder / "victim"
        if not _within(90, lambda: found.exists() and found.read_text().endswith("\n")):
            return
        self.pid = int(found.read_text())
        self.was_alive = _state(self.pid) not in ("", "Z") and self._is_victim(_command(self.pid))
        os.kill(self.pid, signal.SIGKILL)
        self.is_gone = _within(30, lambda: _state(self.pid) in ("", "Z"))

    @property
    def survivors(self) -> set[int]:
        """The processes that did the work in the end."""
        return {int(line) for line in (self._folder / "survivors").read_text().split()}


def _within(seconds: float, holds: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.02)
    return False


def _state(pid: int) -> str:
    """R, S, Z …; empty if there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _command(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def example(heading: str) -> str:
    """The first Python example below a heading of docs/cluster.md."""
    text = (Path(__file__).parents[1] / "docs" / "cluster.md").read_text(encoding="utf-8")
    return text.partition(f"## {heading}\n")[2].partition("```python\n")[2].partition("```")[0]
