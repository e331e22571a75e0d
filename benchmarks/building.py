"""The time of ``pip install .`` from source, by gcc and by ziglang, and the sizes of the library and the wheel.

Run it with ``make bench``; results are printed and written to ``benchmarks/results/building.md``. Each install is into
a fresh environment that has the run-time dependencies already, from a copy of the sources, with pip's build isolation:
the time includes the isolated environment, for which pip fetches hatchling and, with ziglang, a compiler of about
100 MB, unless pip has cached them. There is no compiler on the path of the build by ziglang.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from measuring import machine
from required import TITLE, Target, required_markdown

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).parent / "results" / "building.md"
SOURCES = ("src", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE")

FIND = """
import json
from trueness.tabulation.compiled.library import library_path, load
library, reason = load()
assert library is not None, reason
print(json.dumps([library_path().stat().st_size, library.use_level()]))
"""


class Build(NamedTuple):
    """Seconds of an install, and the sizes in bytes of its library and its wheel."""

    compiler: str
    seconds: float
    library: int
    wheel: int


def copy_sources(folder: Path) -> None:
    """Copy what a build needs, without a library that lies beside the sources."""
    for name in SOURCES:
        given = ROOT / name
        if given.is_dir():
            leave = shutil.ignore_patterns("__pycache__", "_library.*")
            shutil.copytree(given, folder / name, ignore=leave)
        else:
            shutil.copy(given, folder / name)


def call(command: list[str], environment: Mapping[str, str]) -> str:
    """The output of a command; its messages if it fails."""
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def build(compiler: str, with_wheel: bool) -> Build:
    """Install from source in a fresh environment, by `$CC` or, for "ziglang", without a compiler on the path."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sources = folder / "sources"
        sources.mkdir()
        copy_sources(sources)
        venv.create(folder / "environment", with_pip=True)
        programs = folder / "environment" / ("Scripts" if os.name == "nt" else "bin")
        environment = {key: value for key, value in os.environ.items() if key not in ("CC", "PYTHONPATH")}
        pip = [str(programs / "python"), "-m", "pip", "--disable-pip-version-check"]
        call([*pip, "install", "--quiet", "numpy>=2.0", "narwhals>=1.30"], environment)
        environment |= {"PATH": str(programs)} if compiler == "ziglang" else {"CC": compiler}
        begin = time.perf_counter()
        call([*pip, "install", "--quiet", str(sources)], environment)
        seconds = time.perf_counter() - begin
        size, _ = json.loads(call([str(programs / "python"), "-c", FIND], environment))
        wheel = 0
        if with_wheel:
            call([*pip, "wheel", "--quiet", "--no-deps", "-w", str(folder), str(sources)], environment)
            wheel = next(folder.glob("*.whl")).stat().st_size
    return Build(compiler, seconds, size, wheel)


def required(builds: list[Build]) -> list[Target]:
    """The lines of the table."""
    lines = [
        Target(f"`pip install .` from source by {one.compiler}", one.seconds, 60, 30, at_most=True, unit="s")
        for one in builds
    ]
    for one in builds:
        text = f"library for this platform, by {one.compiler}"
        lines.append(Target(text, one.library / 1e6, 4, 2, at_most=True, unit="MB"))
    lines += [
        Target(f"wheel for this platform, by {one.compiler}", one.wheel / 1e6, at_most=True, unit="MB")
        for one in builds
        if one.wheel
    ]
    return lines


def main() -> None:
    """Build, print, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick",
        action="store_true",
        help="one build without its wheel, only to check that the script works",
    )
    parser.add_argument(
        "--compiler", action="append", help="gcc, clang or ziglang (default: gcc and ziglang)"
    )
    options = parser.parse_args()
    found = [name for name in ("gcc", "clang") if shutil.which(name)][:1]
    chosen = options.compiler or (found or ["ziglang"] if options.quick else [*found, "ziglang"])
    builds = [build(compiler, with_wheel=not options.quick) for compiler in chosen]
    text = (
        f"{machine()}\n\n### {TITLE}\n\n{required_markdown(required(builds))}\n\n"
        "Fresh environments with build isolation; pip may have cached what it fetches (hatchling, ziglang).\n"
    )
    print(text)
    if not options.quick and not options.compiler:
        RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
