"""A small package with tiny C sources, built by the hook of this repository, with the compilers that a test chooses."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = Path("src/trueness/tabulation/compiled/source")

KERNEL = """
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
double JOIN(sum_of_product_, LEVEL)(double a, double b, double c) { return a * b + c; }
"""
DISPATCH = """
#include "cpu.h"
#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif
typedef double function(double, double, double);
function sum_of_product_1, sum_of_product_2, sum_of_product_3, sum_of_product_4;
EXPORT int64_t trueness_level(void) { return best_level(); }
EXPORT double trueness_sum_of_product(double a, double b, double c)
{
#if defined(TRUENESS_X86)
    int64_t level = best_level();
    return level == 4 ? sum_of_product_4(a, b, c) : level == 3 ? sum_of_product_3(a, b, c) : sum_of_product_2(a, b, c);
#else
    return sum_of_product_1(a, b, c);
#endif
}
"""
COMPILER = """#!/bin/sh
echo "$@" >> '{log}'
[ "$1" = --version ] && echo '{version}'
while [ $# -gt 1 ]; do [ "$1" = -o ] && echo library > "$2"; shift; done
exit {code}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with this repository's hook and settings and tiny C sources."""
    root = tmp_path / "tree"
    (root / SOURCE).mkdir(parents=True)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src/trueness/_version.py"):
        shutil.copy(ROOT / name, root / name)
    for name in ("cpu.h", "windows_entry.c"):
        shutil.copy(ROOT / SOURCE / name, root / SOURCE / name)
    (root / "src/trueness/__init__.py").touch()
    (root / SOURCE / "kernel.c").write_text(KERNEL, encoding="utf-8")
    (root / SOURCE / "dispatch.c").write_text(DISPATCH, encoding="utf-8")
    return root


@pytest.fixture
def no_compilers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the whole PATH; ziglang is still importable."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in ("CC", "CFLAGS", "TRUENESS_TARGET"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def fake_compiler() -> Callable[..., Path]:
    """A program that logs its arguments and writes its output, or fails."""

    def make(path: Path, *, works: bool = True, version: str = "fake 1") -> Path:
        script = COMPILER.format(log=f"{path}.log", version=version, code=0 if works else 1)
        path.write_text(script, encoding="utf-8")
        path.chmod(0o755)
        Path(f"{path}.log").touch()
        return path

    return make
