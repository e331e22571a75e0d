"""Measure what `pip install trueness` and each extra bring, and write the table of docs/reference/installing.md.

Run it with ``make extras``. Each extra is installed into an empty folder, from the package index that pip is configured
to use, and the sizes of its files are added up, without compiled modules. ``scripts/results/extras.json`` keeps what
was found with the requirements it was found for, so that only extras that are new or have changed are measured;
``--all`` measures all of them again.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import PathDistribution
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "scripts/results/extras.json"
PAGE = ROOT / "docs/reference/installing.md"
BEGIN, END = "<!-- extras: written by scripts/measure_extras.py -->", "<!-- end of extras -->"
BASE = ""
"""The name of what is installed without extras."""
FOR_DEVELOPERS = frozenset({"bench", "dev", "dist", "docs", "lint", "test", "test-bare", "wheels"})

PURPOSE = {
    BASE: "tables, metrics, `assess`, `compare`, monitoring, the HTML report; NPY and NPZ files",
    "all": "all of the extras here except those of Spark",
    "cli": "the command: Parquet, Arrow, CSV and JSON Lines files, shell completion, progress bars",
    "dask": "`trueness.adapters.dask`",
    "excel": "Excel files",
    "frames": "pandas and Polars frames, as input and from `to_frame`",
    "images": "NIfTI labels of nnU-Net",
    "mlflow": "`trueness.adapters.mlflow` with a tracking server; a store on disk needs all of MLflow",
    "plots": "pictures by matplotlib: `plot`, `--plot`, the Displays",
    "queries": "`trueness.adapters.queries`: Polars lazy frames and DuckDB relations in batches",
    "reproduction": "`trueness reproduce`: the experiments of the paper",
    "sklearn": "`trueness.adapters.sklearn`: scorers, `assess_estimator`",
    "spark": "`trueness.adapters.spark`; Java 17 or newer is needed too",
}
"""What each extra is for."""


def project() -> dict[str, Any]:
    """The project table of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


def requirements() -> dict[str, list[str]]:
    """The requirements of the package alone and with each extra for users, without references to other extras."""
    content = project()
    extras = content["optional-dependencies"]

    def expand(listed: list[str]) -> list[str]:
        found: list[str] = []
        for one in listed:
            if one.startswith("trueness["):
                names = one.removeprefix("trueness[").removesuffix("]").split(",")
                found += [each for name in names for each in expand(extras[name])]
            else:
                found.append(one)
        return found

    base = content["dependencies"]
    users = {name: expand(listed) for name, listed in extras.items() if name not in FOR_DEVELOPERS}
    return {BASE: base} | {name: sorted({*base, *listed}) for name, listed in users.items()}


def installed_sizes(listed: list[str]) -> dict[str, int]:
    """The bytes of each distribution that pip installs for these requirements, by name."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "install",
            "--quiet",
            "--no-compile",
        ]
        subprocess.run([*command, "--target", folder, *listed], check=True)
        found = {}
        for path in Path(folder).glob("*.dist-info"):
            distribution = PathDistribution(path)
            files = [Path(str(distribution.locate_file(file))) for file in distribution.files or []]
            found[distribution.name] = sum(file.stat().st_size for file in files if file.is_file())
    return found


def measure(known: dict[str, Any], wanted: dict[str, list[str]]) -> dict[str, Any]:
    """What is known, with the extras that are new or have other requirements measured."""
    found = {}
    for name, listed in wanted.items():
        if known.get(name, {}).get("requirements") == listed:
            found[name] = known[name]
            continue
        print(f"installing {name or 'the package alone'} ...", flush=True)
        found[name] = {"requirements": listed, "bytes": dict(sorted(installed_sizes(listed).items()))}
    return found


def table(measured: dict[str, Any], package: int) -> list[str]:
    """The lines of the table; `package` is the size of trueness itself, in bytes."""
    base = measured[BASE]["bytes"]
    lines = ["| install | for | brings | MB |", "|---|---|---|---|"]
    for name, one in sorted(measured.items()):
        more = sorted(set(one["bytes"]) - (set(base) if name else set()), key=lambda it: -one["bytes"][it])
        brings = ", ".join(more[:6]) + (f" and {len(more) - 6} more" if len(more) > 6 else "")
        size = sum(one["bytes"][each] for each in more) + (0 if name else package)
        install = f"`trueness[{name}]`" if name else "`trueness`"
        lines.append(
            f"| {install} | {PURPOSE[name]} | {brings} | {'' if not name else '+'}{size / 1e6:.0f} |"
        )
    return lines


def package_size() -> int:
    """The bytes of the modules, the data and the compiled library."""
    files = [
        path
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".c", ".h"}
    ]
    return sum(path.stat().st_size for path in files)


def page_with(text: str, lines: list[str]) -> str:
    """The page with these lines between its marks."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n\n" + "\n".join(lines) + "\n\n" + END + rest.split(END)[1]


def main() -> int:
    """Measure, and write results and table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="measure all extras again")
    again = parser.parse_args().all
    known = {} if again or not RESULTS.exists() else json.loads(RESULTS.read_text(encoding="utf-8"))
    measured = measure(known, requirements())
    RESULTS.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(
        page_with(PAGE.read_text(encoding="utf-8"), table(measured, package_size())), encoding="utf-8"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
