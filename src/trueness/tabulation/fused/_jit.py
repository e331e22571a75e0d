"""How functions are compiled here: without the interpreter's lock, and kernels kept on disk where there is a place.

Numba looks at one file to decide whether code that it kept is still good: the one that holds the function. Kernels are
put together from several files, so each closes over `FINGERPRINT`, which numba counts in; what a kernel calls is not
kept by itself.
"""

from __future__ import annotations

import hashlib
import pickle
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

from trueness import ranking
from trueness.table import exact_sums


def _fingerprint() -> int:
    """A number that changes with any file that kernels are made of."""
    sources = [*sorted(Path(__file__).parent.glob("*.py")), Path(exact_sums.__file__), Path(ranking.__file__)]
    digest = hashlib.sha256(b"".join(source.read_bytes() for source in sources if source.exists()))
    return int.from_bytes(digest.digest()[:7], "big")


FINGERPRINT = _fingerprint()


def jit(function: Any) -> Any:
    """A compiled function for kernels to call."""
    return numba.njit(nogil=True)(function)


class _CheckedFile(IndexDataCacheFile):  # type: ignore[misc]
    """Numba's files of compiled code, with a checksum: code that is damaged must not be run."""

    def _save_data(self, name, data):
        content = self._dump(data)
        super()._save_data(name, (hashlib.sha256(content).digest(), content))

    def _load_data(self, name):
        digest, content = super()._load_data(name)
        if hashlib.sha256(content).digest() != digest:
            raise ValueError(f"{name} is damaged")
        return pickle.loads(content)


class _CheckedCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache of a function, in which what cannot be read is compiled anew."""

    def __init__(self, function):
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFile(self._cache_path, self._impl.filename_base, stamp)

    def _load_overload(self, sig, target_context):
        try:
            return super()._load_overload(sig, target_context)
        except Exception:  # whatever unpickling damaged bytes raises
            try:
                self.flush()
            except OSError:
                self.disable()
            return None


def kernel(function: Any) -> Any:
    """A compiled function for Python to call, kept on disk; threads run it side by side."""
    compiled = jit(function)
    try:
        compiled._cache = _CheckedCache(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        return compiled
    return compiled
