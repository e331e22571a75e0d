"""Where the time of the compiled kernel goes at ten classes, in two ways that leave the sources as they are.

Run by `compiled.py` in a process of its own, or alone: ``python benchmarks/stages.py 2000000 10``.

- Similar work in turns: columns instead of rows, V alone, a second table, more bins, one memory pass.
- Samples: the library is built again with debug information, which leaves its instructions as they are, and ``perf``
  notes a few thousand times a second which instruction is next. The debug information says from which function of
  the source each instruction is, also where functions are inlined. The share of a stage is that of its samples.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import contenders as who
import numpy as np
from contenders import Predictions, prepared, rows_of
from measuring import Work, figure, markdown, take_turns

import trueness as tn
from trueness._scratch import Scratch
from trueness.rows import Rows
from trueness.tabulation import tabulate_rows
from trueness.tabulation.compiled import set_block, spans
from trueness.tabulation.compiled.layout import job_for
from trueness.tabulation.compiled.library import MEASURES, address, require_library

ROOT = Path(__file__).resolve().parents[1]
SAMPLES_A_SECOND = 4000
WHOLE = "the table"

STAGES = {
    "load": "loading and turning rows into columns",
    "true_probability": "finding the probability of the true class",
    "load_ordered": "sorting network",
    "log2_of": "logarithms",
    "sweep": "sums over classes and ranks",
    "bin_of": "finding the bin",
    "conclude": "checks, V, varentropy and scores of a row",
    "note": "where rows are added",
    "transpose_doubles": "turning columns back into rows",
    "add": "adding rows to their bins, counting ranks",
    "empty_sums": "emptying the sums",
}
"""Functions of the C sources, without the number of classes at their end, and what they do."""

EXPLANATION = (
    "Samples are from the same sources and flags with debug information, by perf's clock; instructions overlap in the "
    "processor, so a share is where it waited as much as where it worked. The times below are of similar work on the "
    "same rows, in turns."
)
REST = "the loop itself"

WORK = """
import sys, time
from pathlib import Path
import trueness as tn
from trueness.tabulation.compiled import library
built, n_rows, seconds = Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
library.library_path = lambda: built
assert library.load()[0] is not None, library.load()[1]
rows = tn.simulate.calibrated(n_rows, [1.0] * 10, rng=0)
best, end = float("inf"), time.perf_counter() + seconds
while time.perf_counter() < end:
    begin = time.perf_counter()
    tn.tabulate(*rows, engine="compiled", n_threads=1)
    best = min(best, time.perf_counter() - begin)
maps = Path("/proc/self/maps").read_text().splitlines()
print(best, next(line for line in maps if line.endswith(str(built))).split("-")[0])
"""


class SamplingError(Exception):
    """Samples cannot be taken on this machine."""


def similar_work(data: Predictions) -> dict[str, Work]:
    """The table on one thread, and work that differs from it in one respect."""
    columns = Predictions(data.y_true, np.asfortranarray(data.y_prob))
    single = Predictions(data.y_true, data.y_prob.astype(np.float32))
    entropy, confidence = tn.variations["entropy"], tn.variations["confidence"]
    rows, of_columns = Rows.of(*data), Rows.of(*columns)
    specs = [
        tn.TableSpec(10, one, tn.EqualWidth(10).resolve(*one.range_for(10)), "first", weighted=False)
        for one in (entropy, confidence)
    ]

    def table(of: Predictions, **options: object) -> Work:
        return partial(tn.tabulate, *of, engine="compiled", n_threads=1, **options)

    return {
        WHOLE: table(data),
        "from columns, which need not be turned": table(columns),
        "from float32": table(single),
        "a second table (by confidence) in the same pass": lambda: tabulate_rows(rows, specs, "compiled", 1),
        "30 bins": table(data, bins=30),
        "100 bins": table(data, bins=100),
        "V alone: loading, checks and logarithms": lambda: measure_rows(rows),
        "V alone, from columns": lambda: measure_rows(of_columns),
    }


def measure_rows(rows: Rows) -> None:
    """V of each row by entropy, by the kernel that does nothing else."""
    library, job, scratch = require_library(), job_for(rows.form), Scratch()
    job.kinds[0], job.n_measures = MEASURES["entropy"], 1
    arena, values = np.zeros(library.arena_size(job), np.uint8), np.empty(rows.n_rows)
    job.arena = address(arena)
    for start, stop in spans(rows):
        block = set_block(job, rows, start, stop, scratch)
        assert library.measure(job, values[start:stop]) < 0
        del block


def build_with_debug_information(folder: Path) -> Path:
    """The library of these sources with the usual flags, and debug information."""
    if find_spec("hatchling") is None:
        raise SamplingError("hatchling is not installed")
    sys.path.insert(0, str(ROOT))
    import hatch_build

    class Unstripped(hatch_build.Compiler):
        def linking(self, target: hatch_build.Target) -> list[str]:
            return [flag for flag in super().linking(target) if flag != "-s"]

    target = hatch_build.host()
    compiler = target and hatch_build.find_compiler(target, os.environ, cross=False)
    if target is None or compiler is None:
        raise SamplingError("there is no C compiler")
    sources = hatch_build.source_folder(ROOT)
    return hatch_build.compile_library(sources, target, Unstripped(*compiler), folder, ["-g"])


def work_with(library: Path, n_rows: int, seconds: float) -> list[str]:
    """The command that tabulates with a library, and prints the best time and where the library is in memory."""
    return [sys.executable, "-c", WORK, str(library), str(n_rows), str(seconds)]


def sampled_addresses(library: Path, n_rows: int, seconds: float) -> list[int]:
    """Addresses in the library at which samples were taken."""
    data = str(library.with_name("perf.data"))
    record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(SAMPLES_A_SECOND), "-o", data, "--"]
    begin = int(_output([*record, *work_with(library, n_rows, seconds)]).split()[-1], 16)
    samples = _output(["perf", "script", "-i", data, "-F", "ip,dso"]).splitlines()
    return [int(line.split()[0], 16) - begin for line in samples if str(library) in line]


def stacks(library: Path, addresses: list[int]) -> Iterator[list[str]]:
    """For each address the functions that its instruction comes from, the innermost inlined one first."""
    text = "\n".join(map(hex, addresses))
    printed = _output(["addr2line", "-a", "-i", "-f", "-e", str(library)], text)
    for block in re.split(r"^0x[0-9a-f]+\n", printed, flags=re.MULTILINE)[1:]:
        yield [re.sub(r"_\d+$", "", name) for name in block.splitlines()[::2]]


def stage_of(functions: list[str]) -> str:
    """The stage of the innermost function that is one, with two exceptions; else the function that the loop calls.

    Turning rows is part of loading them, and logarithms of p_y would be part of the conclusion.
    """
    named = [name for name in functions if name in STAGES]
    if "load" in named:
        return STAGES["load"]
    if "conclude" in named and "bin_of" not in named:
        return STAGES["conclude"]
    if named:
        return STAGES[named[0]]
    return f"`{functions[-2]}`" if len(functions) > 1 else REST


def sampled_stages(n_rows: int, seconds: float) -> str:
    """The table of stages: shares of samples, and of the time that the same library takes without samples."""
    if missing := [tool for tool in ("perf", "addr2line") if shutil.which(tool) is None]:
        raise SamplingError(f"{' and '.join(missing)} not found")
    with tempfile.TemporaryDirectory() as folder:
        library = build_with_debug_information(Path(folder))
        addresses = sampled_addresses(library, n_rows, seconds)
        per_row = float(_output(work_with(library, n_rows, seconds)).split()[0]) / n_rows * 1e9
        counts = Counter(stage_of(functions) for functions in stacks(library, addresses))
    lines = [
        (name, f"{count / len(addresses):.1%}", figure(per_row * count / len(addresses)))
        for name in dict.fromkeys((*STAGES.values(), REST, *counts))
        if (count := counts[name])
    ]
    lines.append((f"all, of {len(addresses)} samples in the library", "100.0%", figure(per_row)))
    return markdown(("stage", "share", "ns a row"), lines)


def _output(command: list[str], text: str | None = None) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SamplingError(f"{command[0]} failed ({' '.join(done.stderr.split())})")
    return done.stdout


def main(n_rows: int, seconds: float) -> None:
    """Print both tables."""
    data = rows_of(n_rows, 10)
    times = take_turns(
        similar_work(data) | prepared(data, (who.PASS,)), seconds, turn_seconds=min(0.4, seconds / 10)
    )
    per_row = {name: time.best / n_rows * 1e9 for name, time in times.items()}
    whole, memory = per_row[WHOLE], per_row[who.PASS]
    lines = [
        (name, figure(ns), "" if name == WHOLE else f"{ns - whole:+.2f}", figure(ns / memory))
        for name, ns in per_row.items()
    ]
    try:
        print(sampled_stages(n_rows, max(1.0, seconds / 2)))
    except SamplingError as error:
        print(f"Samples were not taken: {error}.")
    print(f"\n{EXPLANATION}\n")
    print(markdown(("work", "ns a row", "against the table, ns", "memory passes"), lines))


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]))
