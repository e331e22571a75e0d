"""How functions are compiled here: without the interpreter's lock, and kernels kept on disk where there is a place.

Numba looks at one file to decide whether code that it kept is still good: the one that holds the function. Kernels are
put together from several files, so each closes over `FINGERPRINT`, which numba counts in; what a kernel calls is not
kept by itself.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numba

from trueness import _sums, ranking


def _fingerprint() -> int:
    """A number that changes with any file that kernels are made of."""
    sources = [*sorted(Path(__file__).parent.glob("*.py")), Path(_sums.__file__), Path(ranking.__file__)]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources if source.exists()))
    return int.from_bytes(digest.digest()[:7], "big")


FINGERPRINT = _fingerprint()


def jit(function: Any) -> Any:
    """A compiled function for kernels to call."""
    return numba.njit(nogil=True)(function)


def kernel(function: Any) -> Any:
    """A compiled function for Python to call, kept on disk; threads run it side by side."""
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        return jit(function)
