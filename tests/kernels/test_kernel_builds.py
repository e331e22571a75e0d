"""The same bits with every instruction set, compiler and level of optimisation, and on an emulated ARM processor."""

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compiled_rows import (
    every_kind_of_events,
    less_detailed_tables,
    nasty,
    nasty_logits,
    on_edges,
    rows,
    tables_of,
)
from kernel_jobs import nasty_jobs

import trueness as tn
from trueness.rows import Rows
from trueness.tabulation import tabulate_rows
from trueness.tabulation.compiled import library as library_module
from trueness.tabulation.compiled.library import Library, known_answer, require_library

pytestmark = pytest.mark.usefixtures("compiled")

ROOT = Path(__file__).parents[2]
CLASSES = [*range(2, 21), 33, 100, 257]
FEW_AND_MANY = [2, 3, 8, 10, 15, 16, 17, 40, 129]


OPTIONS: list[dict[str, Any]] = [
    {},
    {"ties": "split", "variation": "confidence", "bins": 15},
    {"bins": tn.EqualWidth(500)},
    {"bins": tn.EqualMass(7)},
]


def levels(library: Library) -> list[int]:
    """The instruction sets of this processor."""
    best = library.use_level()
    return [1] if best == 1 else list(range(2, best + 1))


def tables(engine: str, n_classes: int) -> list[Any]:
    """Of many kinds of rows, bins and events, both dtypes, ties and layouts."""
    made: list[Any] = []
    for dtype in ("float64", "float32"):
        kinds = (rows(301, n_classes), nasty(n_classes, dtype=dtype), on_edges(n_classes, dtype))
        for number, (y_true, y_prob) in enumerate(kinds):
            given = y_prob.astype(dtype)
            made += [tn.tabulate(y_true, given, engine=engine, **how) for how in OPTIONS]
            made.append(tn.tabulate(y_true, np.asfortranarray(given), engine=engine))
            made += less_detailed_tables(y_true, given, engine)
            laid_out = given if number else np.asfortranarray(given)
            for events in every_kind_of_events(n_classes):
                specs = [*tables_of(n_classes), events]
                made += tabulate_rows(Rows.of(y_true, laid_out), specs[number:], engine, 1)
    y_true, z = nasty_logits(n_classes)
    made += tabulate_rows(Rows.of(y_true, z, from_logits=True), every_kind_of_events(n_classes), engine, 1)
    return [*made, tn.tabulate(y_true, z, from_logits=True, ties="split", engine=engine)]


def same_result(one: bytes, other: bytes) -> bool:
    """All bytes are equal; if a row is bad, kernels stop at its group, and groups are as long as vectors."""
    (first,), (second,) = np.frombuffer(one[:8], np.int64), np.frombuffer(other[:8], np.int64)
    if first == -1 or second == -1:
        return one == other
    return abs(int(first) - int(second)) < 8


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a library the one that engines use."""

    def patch(library: Library) -> None:
        monkeypatch.setattr(library_module, "load", lambda: (library, ""))
        monkeypatch.setattr("trueness.tabulation.engines.load", lambda: (library, ""))

    return patch


class TestThisLibrary:
    @pytest.mark.parametrize("n_classes", FEW_AND_MANY)
    def test_every_instruction_set_gives_the_portable_tables(self, n_classes: int) -> None:
        library, expected = require_library(), tables("portable", n_classes)
        for level in levels(library):
            assert library.use_level(level) == level
            assert tables("compiled", n_classes) == expected, level

    @pytest.mark.parametrize("n_classes", CLASSES)
    def test_every_instruction_set_gives_the_same_sums(self, n_classes: int) -> None:
        library = require_library()
        for job in nasty_jobs([n_classes]):
            expected = job.result(library)
            for level in levels(library):
                job.level = level
                assert same_result(job.result(library), expected), level

    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    @pytest.mark.parametrize("n_classes", [2, 3, 10, 15, 16, 40])
    def test_sums_of_many_rows_that_are_almost_certain(self, n_classes: int, dtype: str) -> None:
        """Before they are emptied, 4095 probabilities of nearly 1 in one word exceed 2⁶³ units."""
        y_true = np.zeros(20_000, np.int64)
        y_prob = np.full((20_000, n_classes), 1e-9 / (n_classes - 1))
        y_prob[:, 0] = 1 - 1e-9
        expected = tn.tabulate(y_true, y_prob.astype(dtype), engine="portable")
        library = require_library()
        for level in levels(library):
            library.use_level(level)
            assert tn.tabulate(y_true, y_prob.astype(dtype), engine="compiled", n_threads=1) == expected, (
                level
            )

    def test_the_best_is_used(self) -> None:
        library = require_library()
        best = library.use_level()
        assert [library.use_level(level) for level in levels(library)] == levels(library)
        assert library.use_level(99) == library.use_level() == best


@pytest.mark.build
@pytest.mark.parametrize(
    ("compiler", "optimisation"),
    [("gcc", "-O1"), ("gcc", "-O2"), ("gcc", "-O3"), ("clang", "-Os"), ("clang", "-O3")],
)
def test_every_build_gives_the_same(
    compiler: str, optimisation: str, compilers: dict[str, Any], tmp_path: Path, use: Any
) -> None:
    """One test for each build, since building takes longest: the known answer, whole tables, and sums of nasty rows."""
    import hatch_build

    target, here = hatch_build.host(), require_library()
    assert target is not None
    path = hatch_build.compile_library(
        hatch_build.source_folder(ROOT), target, compilers[compiler], tmp_path, [optimisation]
    )
    expected = {n_classes: tables("portable", n_classes) for n_classes in FEW_AND_MANY}
    results = [(job, job.result(here)) for job in nasty_jobs(CLASSES)]
    built = Library(path)
    use(built)
    for level in levels(built):
        assert built.use_level(level) == level
        assert known_answer(built) == library_module.KNOWN_ANSWER
        for n_classes, of_classes in expected.items():
            assert tables("compiled", n_classes) == of_classes, (level, n_classes)
        for job, result in results:
            job.level = level
            assert same_result(job.result(built), result), (level, job.job.n_classes)


@pytest.mark.build
def test_products_that_are_not_rounded_would_be_found(
    compilers: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With contraction, which x86-64-v2 has no instruction for, the known answer is another one."""
    import hatch_build

    target = hatch_build.host()
    assert target is not None
    monkeypatch.setattr(hatch_build, "LAST", ("-ffp-contract=fast",))
    path = hatch_build.compile_library(
        hatch_build.source_folder(ROOT), target, compilers["gcc"], tmp_path, ["-O2"]
    )
    library = Library(path)
    answers = {level: library.use_level(level) and known_answer(library) for level in levels(library)}
    for level, answer in answers.items():
        assert (answer == library_module.KNOWN_ANSWER) == (level == 2)


@pytest.mark.build
@pytest.mark.slow
def test_an_emulated_arm_processor_gives_the_same_bytes(driver: Any) -> None:
    """Vectors of NEON are as long as those of x86-64-v2: even groups of bad rows are the same."""
    import hatch_build

    (target,) = (target for target in hatch_build.TARGETS if target.triple.startswith("aarch64-linux"))
    target = target._replace(triple="aarch64-linux-musl")
    program = driver("clang", target, flags=("-DFREESTANDING", "-static", "-nostdlib"))
    jobs, here = list(nasty_jobs(CLASSES)), require_library()
    for job in jobs:
        job.level = min(levels(here))
    expected = [job.result(here) for job in jobs]
    given = b"".join(job.to_bytes() for job in jobs)
    ended = subprocess.run(["qemu-aarch64", str(program)], input=given, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert ended.stdout == b"".join(expected)
