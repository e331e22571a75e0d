"""Measurement of time and memory, and a description of the machine."""

from __future__ import annotations

import ctypes
import gc
import math
import os
import platform
import time
import tracemalloc
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import NamedTuple, TypeVar

Work = Callable[[], object]
Name = TypeVar("Name", bound=Hashable)

LIBRARIES = ("numpy", "torch", "torchmetrics", "scikit-learn", "netcal")

VECTORS = {"avx512f": "AVX-512", "avx2": "AVX2", "asimd": "NEON"}

REST = 0.1
"""Pause between two turns in seconds, because threads of a library may spin for a while after its call."""


TURN = 0.4
"""Shortest duration of a turn in seconds, by default."""


class Timing(NamedTuple):
    """Seconds of one contender; a median far above the best indicates a busy machine."""

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
    """Time the contenders in turn, repeatedly, for about `seconds`.

    Each round begins with another contender, so that none always follows the one that uses the most memory. An untimed
    round, which loads libraries and fills caches, comes first unless they are `warm` already. In a short run
    turns are shorter too.
    """
    turn_seconds = min(turn_seconds, seconds / (at_least * len(contenders)))
    rest = min(REST, seconds / 10)
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
            time.sleep(rest)
            times[name].append(_seconds(contenders[name], turn_seconds))
    return {name: Timing(min(some), median(some)) for name, some in times.items()}


def _seconds(work: Work, turn_seconds: float) -> float:
    """The shortest of all calls in a turn, after the system has reclaimed the memory of other contenders."""
    shortest, end = math.inf, time.perf_counter() + turn_seconds
    while shortest == math.inf or time.perf_counter() < end:
        begin = time.perf_counter()
        work()
        shortest = min(shortest, time.perf_counter() - begin)
    return shortest


def traced_growth(work: Work) -> float:
    """Peak memory of a call in MB, as allocated by Python and NumPy."""
    gc.collect()
    tracemalloc.start()
    work()
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return held / 2**20


def resident_growth(work: Work) -> float:
    """Peak growth of the process during a call in MB, including allocations of other libraries.

    NaN on systems other than Linux. Memory that the allocator kept from earlier calls is released first.
    """
    try:
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")  # reset the peak
        before = _status("VmRSS")
        work()
        return (_status("VmHWM") - before) / 2**10
    except (OSError, AttributeError):
        return float("nan")


def _status(field: str) -> int:
    """A field of /proc/self/status, in kB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))


def available_memory() -> float:
    """Available memory in GB; infinite if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return float("inf")
    return next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) / 2**20


def machine() -> str:
    """The processor, the versions and the load average."""
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


def markdown(header: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    cells = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in cells)


def figure(value: float) -> str:
    """A number with two or three significant digits: 0.42, 8.1, 166, 12 463."""
    if math.isnan(value):
        return ""
    if abs(value) >= 100:
        return thousands(value)
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def thousands(value: float) -> str:
    """A whole number in groups of three digits: 12 463."""
    return f"{value:,.0f}".replace(",", " ")
