"""Where rows lie in memory, who else works with it, and what interrupts it, changes no bit of a table."""

import ctypes
import mmap
import platform
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest
from compiled_rows import assert_same, nasty, rows
from kernel_jobs import nasty_jobs

import trueness as tn
from trueness.tabulation.compiled.library import require_library

pytestmark = pytest.mark.usefixtures("compiled")


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_classes", [2, 10, 17])
def test_frames_of_separate_columns(n_classes: int, dtype: str) -> None:
    import pandas as pd
    import polars as pl

    y_true, y_prob = nasty(n_classes, dtype=dtype)
    expected = tn.tabulate(y_true, y_prob, engine="portable")
    columns = {f"p_{c}": y_prob[:, c].copy() for c in range(n_classes)}
    for frame in (pl.DataFrame(columns), pd.DataFrame(columns)):
        assert tn.tabulate(y_true, frame, engine="compiled") == expected


def test_several_threads_may_call_it_at_once() -> None:
    y_true, y_prob = rows(80_000, 10)
    expected = tn.tabulate(y_true, y_prob, engine="portable")
    with ThreadPoolExecutor(4) as pool:
        calls = [pool.submit(tn.tabulate, y_true, y_prob, engine="compiled", n_threads=2) for _ in range(12)]
        assert all(call.result() == expected for call in calls)


def run_python(code: str) -> str:
    """What an interpreter prints, in which only this code ran."""
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_forked_child_computes_the_same() -> None:
    """Before the parent's first call, and after it."""
    code = """
        import os, trueness as tn
        y_true, y_prob = tn.simulate.calibrated(100_000, [1.0] * 10, rng=0)
        expected = tn.tabulate(y_true, y_prob, engine="portable")
        for _ in range(2):
            child = os.fork()
            if not child:
                os._exit(tn.tabulate(y_true, y_prob, engine="compiled", n_threads=2) != expected)
            print(os.waitpid(child, 0)[1], tn.tabulate(y_true, y_prob, engine="compiled", n_threads=2) == expected)
    """
    assert run_python(code).split() == ["0", "True"] * 2


@pytest.mark.parametrize("n_threads", [1, 2])
def test_control_c_stops_it_and_leaves_the_accumulator_unchanged(n_threads: int) -> None:
    """A SIGINT arrives while the fifth of 400 blocks is summed: few more are begun, and nothing is added."""
    code = f"""
        import os, signal, numpy as np, trueness as tn
        from trueness.tabulation.compiled.library import Library

        y_true, y_prob = tn.simulate.calibrated(5000, [1.0] * 10, rng=0)
        stream = tn.Accumulator(10, engine="compiled", n_threads={n_threads})
        stream.update(y_true, y_prob)
        before, add, calls = stream.table, Library.sum, []

        def sum_and_interrupt(library, job):
            calls.append(1)
            if len(calls) == 5:
                os.kill(os.getpid(), signal.SIGINT)
            return add(library, job)

        Library.sum = sum_and_interrupt
        n_rows = 400 * 2**16
        try:
            stream.update(np.broadcast_to(y_true[:1], (n_rows,)), np.broadcast_to(y_prob[:1], (n_rows, 10)))
        except KeyboardInterrupt:
            print(stream.table == before, 5 <= len(calls) < 100)
    """
    assert run_python(code) == "True True"


MODES = {
    "x86_64": (
        bytes.fromhex("897c24f8 0fae5424f8 c3"),  # mov [rsp-8], edi; ldmxcsr [rsp-8]; ret
        bytes.fromhex("0fae5c24f8 8b4424f8 c3"),  # stmxcsr [rsp-8]; mov eax, [rsp-8]; ret
        {"flush to zero": 0x9FC0, "round down": 0x3F80, "round up": 0x5F80, "round to zero": 0x7F80},
    ),
    "aarch64": (
        bytes.fromhex("00441bd5 c0035fd6"),  # msr fpcr, x0; ret
        bytes.fromhex("00443bd5 c0035fd6"),  # mrs x0, fpcr; ret
        {"flush to zero": 1 << 24, "round down": 2 << 22, "round up": 1 << 22, "round to zero": 3 << 22},
    ),
}
"""Instructions that set and read how the processor rounds, and the modes that other libraries may have left."""


@contextmanager
def rounding(name: str) -> Iterator[Callable[[], bool]]:
    """A processor in another mode; what is given says whether it still is."""
    setting, reading, modes = MODES[platform.machine()]
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page[: len(setting)], page[64 : 64 + len(reading)] = setting, reading
    at = ctypes.addressof(ctypes.c_char.from_buffer(page))
    set_mode = ctypes.CFUNCTYPE(None, ctypes.c_uint64)(at)
    mode = ctypes.CFUNCTYPE(ctypes.c_uint32)(at + 64)
    flags = 0x3F if platform.machine() == "x86_64" else 0  # exceptions that were raised
    usual, wanted = mode(), modes[name]
    set_mode(wanted)
    try:
        yield lambda: mode() & ~flags == wanted & ~flags
    finally:
        set_mode(usual)


def test_flushing_subnormal_numbers_changes_nothing() -> None:
    for n_classes in (2, 9, 40):
        y_true, y_prob = nasty(n_classes)
        expected = assert_same(y_true, y_prob)
        with rounding("flush to zero") as is_set:
            lost = np.float64(5e-320) * 1.0 == 0.0
            made = tn.tabulate(y_true, y_prob, engine="compiled", n_threads=1)
            still = is_set()
        assert lost  # the mode was set, and would have changed a sum
        assert still  # and is as it was
        assert made == expected


@pytest.mark.parametrize("mode", ["flush to zero", "round down", "round up", "round to zero"])
def test_kernels_do_not_depend_on_the_mode_of_rounding(mode: str) -> None:
    library = require_library()
    for job in nasty_jobs([2, 5, 10, 17]):
        expected = job.result(library)
        with rounding(mode) as is_set:
            made = job.result(library)
            still = is_set()
        assert made == expected
        assert still


def test_a_stride_of_zero() -> None:
    """One row in memory stands for many."""
    y_prob = np.broadcast_to(np.array([[0.5, 0.25, 0.25]]), (5000, 3))
    assert_same(np.arange(5000) % 3, y_prob, ties="split")
