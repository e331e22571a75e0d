"""No kernel reads or writes beyond its arrays, and none relies on what C leaves undefined."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_jobs import KernelJob, kernel_job, nasty_jobs, specs_of

from trueness.tabulation.compiled.library import require_library

pytestmark = pytest.mark.usefixtures("compiled")

CLASSES = [*range(2, 21), 31, 33, 64, 100, 257]
HERE = Path(__file__).parent


def one_job(**how: Any) -> KernelJob:
    return kernel_job([0] * 16, np.full((16, 4), 0.25), specs_of(4, ["entropy"], 10), **how)


SANITIZERS = (
    "-O1",
    "-g1",
    "-fsanitize=address,undefined,float-cast-overflow",
    "-fsanitize-undefined-trap-on-error",  # SIGILL: to compile messages would take minutes
    "--param=asan-instrumentation-with-call-threshold=0",  # calls and not code in place, for the same reason
)


@pytest.mark.build
def test_sanitizers_report_nothing(driver: Any) -> None:
    """Of gcc. One test, since building takes longest: first, what they must find; then all instruction sets."""
    import hatch_build

    target = hatch_build.host()
    assert target is not None
    program = driver("gcc", target, without=("-fno-sanitize=undefined",), flags=SANITIZERS)

    def run(*jobs: KernelJob) -> subprocess.CompletedProcess[bytes]:
        given = b"".join(job.to_bytes() for job in jobs)
        return subprocess.run([str(program)], input=given, capture_output=True, check=False)

    for name in ("rows", "labels", "edges"):
        short = one_job()
        short.arrays[name] = (short.arrays[name] or b"")[:-8]
        assert b"ERROR: AddressSanitizer" in run(short).stderr
    # A label at an address that no int64 may have.
    assert run(one_job(shift=4, shifted="labels")).returncode == -signal.SIGILL

    library = require_library()
    best = library.use_level()
    for level in range(min(best, 2), best + 1):
        jobs = list(nasty_jobs(CLASSES, seed=level))
        for job in jobs:
            job.level = level
        ended = run(*jobs)
        assert (ended.returncode, ended.stderr) == (0, b""), level
        assert ended.stdout == b"".join(job.result(library) for job in jobs)


def guarded(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The program beside this file, with the modules that this process imports."""
    path = str(HERE / "guard_pages.py")
    code = f"import runpy, sys; sys.path[:] = {sys.path!r}; runpy.run_path({path!r}, run_name='__main__')"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


class TestGuardPages:
    """Rows, labels and logits begin right behind, or end right before, a page of memory that cannot be accessed."""

    @pytest.mark.parametrize("side", ["begin", "end"])
    def test_nothing_beyond_is_accessed(self, side: str) -> None:
        ended = guarded(side, *map(str, CLASSES))
        assert ended.returncode == 0, ended.stderr
        assert int(ended.stdout) > 900
