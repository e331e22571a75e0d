"""Times, memory and the machine: what every part of the benchmark measures with."""

from __future__ import annotations

import ctypes
import gc
import hashlib
import math
import os
import platform
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

Work = Callable[[], object]
Name = TypeVar("Name", bound=Hashable)

LIBRARIES = ("numpy", "numba", "torch", "torchmetrics", "scikit-learn", "netcal")

VECTORS = {"avx512f": "AVX-512", "avx2": "AVX2", "asimd": "NEON"}

REST = 0.1
"""Seconds between two turns: a library's threads spin for a while after its call, on the next one's time."""


TURN = 0.4
"""Seconds that a turn lasts at least, unless said otherwise."""


class Timing(NamedTuple):
    """Seconds of one contender; a median far from the best tells of a busy machine."""

    best: float
    median: float


def take_turns(
    contenders: Mapping[Name, Work],
    seconds: float,
    *,
    at_least: int = 3,
    at_most: int = 12,
    turn_seconds: float = TURN,
    warm: bool = False,
) -> dict[Name, Timing]:
    """Time the contenders in turn, again and again, until about so many seconds are spent.

    Each round begins with another contender, so that none is always the one after the greatest eater of memory. An
    untimed round comes first, unless they are `warm` already: it compiles and fills caches.
    """
    for work in () if warm else contenders.values():
        work()
    names, times = list(contenders), {name: list[float]() for name in contenders}
    end = time.perf_counter() + seconds
    for turn in range(at_most):
        if turn >= at_least and time.perf_counter() > end:
            break
        gc.collect()
        first = turn % len(names)
        for name in names[first:] + names[:first]:
            time.sleep(REST)
            times[name].append(_seconds(contenders[name], turn_seconds))
    return {name: Timing(min(some), median(some)) for name, some in times.items()}


def _seconds(work: Work, turn_seconds: float) -> float:
    """The shortest of as many calls as fit into a turn: what another one's freed memory costs the system dies away."""
    shortest, end = math.inf, time.perf_counter() + turn_seconds
    while shortest == math.inf or time.perf_counter() < end:
        begin = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest


def traced_growth(work: Work) -> float:
    """The most that a call holds at once, in MB, of what Python and NumPy allocate."""
    gc.collect()
    tracemalloc.start()
    work()
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held / 2**20


def resident_growth(work: Work) -> float:
    """The most by which a call makes the process grow, in MB: also what libraries allocate by themselves.

    NaN where the system is not Linux. Memory that an earlier call left to the allocator is given back first.
    """
    try:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # the high-water mark begins anew
        before = _status("VmRSS")
        work()
        return (_status("VmHWM") - before) / 2**10
    except (OSError, AttributeError):
        return float("nan")


def _status(field: str) -> int:
    """A line of /proc/self/status, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))


def available_memory() -> float:
    """What the system can still give, in GB; infinite where it does not say."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) / 2**20


def machine() -> str:
    """The processor, the versions, and how busy the machine was."""
    versions = [f"Python {platform.python_version()}"]
    for library in LIBRARIES:
        try:
            versions.append(f"{library} {version(library)}")
        except PackageNotFoundError:
            continue
    return (
        f"{_processor()}, {os.cpu_count()} cores, {platform.system()}; {', '.join(versions)}. "
        f"Load average at the start: {os.getloadavg()[0]:.1f}."
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    flags = facts.get("flags", "").split()
    vectors = next((name for flag, name in VECTORS.items() if flag in flags), "no AVX2")
    return f"{facts.get('model name', platform.machine())} ({vectors})"


def use_own_cache() -> Path:
    """Keep compiled code in a folder of its own for this state of the sources.

    Numba recompiles a function when its own file has changed, not when a file it draws from has. Must be called before
    numba is imported.
    """
    import trueness

    state = hashlib.sha256(sys.version.encode())
    for source in sorted(Path(trueness.__file__).parent.rglob("*.py")):
        state.update(source.read_bytes())
    folder = Path(tempfile.gettempdir()) / f"trueness-bench-{state.hexdigest()[:12]}"
    folder.mkdir(exist_ok=True)
    os.environ["NUMBA_CACHE_DIR"] = str(folder)
    return folder


def markdown(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    cells = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in cells)


def figure(value: float) -> str:
    """Two or three digits that mean something: 0.42, 8.1, 166, 12 463."""
    if math.isnan(value):
        return ""
    if abs(value) >= 100:
        return thousands(value)
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def thousands(value: float) -> str:
    """A whole number in groups of three digits: 12 463."""
    return f"{value:,.0f}".replace(",", " ")
