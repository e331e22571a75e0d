"""Kernel jobs whose arrays lie at the edge of memory that cannot be accessed: an access beyond ends the process."""

import ctypes
import mmap
import sys
from typing import Any

import numpy as np
from kernel_jobs import kernel_job, nasty_jobs, specs_of
from numpy.typing import NDArray

from trueness.tabulation.compiled.library import require_library

PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
LIBC.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


class GuardedMemory:
    """Copies of arrays between two pages that cannot be accessed, at the first or the last byte in between."""

    def __init__(self, at_end: bool) -> None:
        self._at_end, self._mapped = at_end, list[tuple[int, int]]()

    def place(self, name: str, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
        inside = -(-len(data) // PAGE) * PAGE
        size = inside + 2 * PAGE
        kind = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        begin = LIBC.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE, kind, -1, 0)
        assert begin not in (None, ctypes.c_void_p(-1).value)
        self._mapped.append((begin, size))
        for page in (begin, begin + PAGE + inside):
            assert LIBC.mprotect(page, PAGE, 0) == 0
        first = begin + PAGE + (inside - len(data) if self._at_end else 0)
        made = np.frombuffer((ctypes.c_uint8 * len(data)).from_address(first), np.uint8)
        made[:] = data
        return made

    def free(self) -> None:
        for begin, size in self._mapped:
            assert LIBC.munmap(begin, size) == 0
        self._mapped.clear()


def main(side: str, *classes: str) -> None:
    library, memory = require_library(), GuardedMemory(at_end=side.startswith("end"))
    best, n_jobs = library.use_level(), 0
    if "beyond" in side:
        beyond: Any = kernel_job([0] * 16, np.full((16, 4), 0.25), specs_of(4, ["entropy"], 10))
        beyond.job.n_rows += 1 if side.startswith("end") else 0
        beyond.job.to_next_row *= 1 if side.startswith("end") else -1
        beyond.result(library, memory.place)
        return
    for level in range(min(best, 2), best + 1):
        for job in nasty_jobs([*map(int, classes)], seed=level):
            job.level = level
            expected = job.result(library)
            assert job.result(library, memory.place) == expected
            memory.free()
            n_jobs += 1
    print(n_jobs)  # noqa: T201


if __name__ == "__main__":
    main(*sys.argv[1:])
