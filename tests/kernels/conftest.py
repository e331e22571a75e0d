"""Builds of the kernels by several compilers, and programs made of them."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from kernel_jobs import DRIVER

from trueness.tabulation.compiled.library import require_library

ROOT = Path(__file__).parents[2]

Build = Callable[..., Path]


def run(command: list[str]) -> None:
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{' '.join(command)}\n{ended.stderr}"


@pytest.fixture(autouse=True)
def _best_level() -> Iterator[None]:
    """Use the best instruction set again after a test of others."""
    yield
    require_library().use_level()


@pytest.fixture(scope="session")
def compilers() -> dict[str, Any]:
    import hatch_build

    zig = (sys.executable, "-m", "ziglang", "cc")
    return {"gcc": hatch_build.Compiler(("gcc",)), "clang": hatch_build.Compiler(zig, zig=True)}


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory, compilers: dict[str, Any]) -> Build:
    """The program of `driver.c` and the kernels for a target: the flags of the build hook without some, and others."""

    def build(
        compiler: str, target: Any, *, without: tuple[str, ...] = (), flags: tuple[str, ...] = ()
    ) -> Path:
        from concurrent.futures import ThreadPoolExecutor

        import hatch_build

        folder, sources = tmp_path_factory.mktemp("driver"), hatch_build.source_folder(ROOT)
        units = hatch_build.units(sources, target, compilers[compiler])
        units.append(hatch_build.Unit(DRIVER, (f"-I{sources}", *units[-1].flags)))
        commands = [
            [
                word
                for word in hatch_build.compilation(unit, target, compilers[compiler], flags)
                if word not in without
            ]
            for unit in units
        ]
        objects = [str(folder / f"{number}.o") for number in range(len(units))]
        with ThreadPoolExecutor(2) as pool:
            list(
                pool.map(
                    run, [[*command, "-o", made] for command, made in zip(commands, objects, strict=True)]
                )
            )
        where = compilers[compiler].platform_flags(target)
        run([*compilers[compiler].command, *where, *flags, *objects, "-o", str(folder / "driver")])
        return folder / "driver"

    return build
