"""What tests of files share: files of a few rows, their tables, their refusals, and the command in a process."""

import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import predictions as same
import pytest

import trueness as tn
from trueness.cli import main
from trueness.cli._errors import as_options
from trueness.files import Plan, Request, RowOptions, Source, Summed, find_inputs, load_tables, sum_source
from trueness.old_table import Tables
from trueness.refusals import Refusal

EXPECTED = [tn.tabulate(same.Y_TRUE, same.Y_PROB, variation=name) for name in ("entropy", "confidence")]
BY_CLASS = tn.tabulate_events(same.Y_TRUE, same.Y_PROB)


def run(
    *arguments: Any, folder: Path, stdin: bytes | None = None, code: int = 0
) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own."""
    command = [sys.executable, "-m", "trueness", *map(str, arguments)]
    ended = subprocess.run(command, cwd=folder, input=stdin, capture_output=True, check=False)
    text = subprocess.CompletedProcess(
        command, ended.returncode, ended.stdout.decode(), ended.stderr.decode()
    )
    assert ended.returncode == code, text.stderr
    return text


def all_tables(folder: Path, *arguments: Any) -> Tables:
    """The tables that the command makes, in this process."""
    out = folder / "out.json"
    assert main(["tabulate", *map(str, arguments), "-o", str(out)]) == 0
    return load_tables(str(out)).whole


def tables(folder: Path, *arguments: Any) -> list[tn.CalibrationTable]:
    """Those of them that are binned by a measure."""
    return all_tables(folder, *arguments).calibration_tables


ROWS = ["0,0.25,0.75"] * 9


def csv(path: Path, *rows: str, head: str = "y,p_0,p_1") -> str:
    path.write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")
    return str(path)


def summed(*paths: Any, skip: bool = False, plan: Plan = Plan(), **request: Any) -> Summed:  # noqa: B008
    options = RowOptions(
        request.pop("scale", "probabilities"), request.pop("normalize", False), "skip" if skip else "refuse"
    )
    return sum_source(Source(find_inputs([str(p) for p in paths]).files, Request(**request), options), plan)


class Refused(NamedTuple):
    """A refusal as the command prints it."""

    code: str
    cause: str
    remedy: str


def refused(*paths: Any, **options: Any) -> Refused:
    with pytest.raises(Refusal) as caught:
        summed(*paths, **options)
    return Refused(caught.value.code, as_options(caught.value.cause), as_options(caught.value.remedy))


def message(path: Path, **options: Any) -> str:
    """The refusal of a file as the command prints it."""
    with pytest.raises(Refusal) as caught:
        sum_source(Source(find_inputs([str(path)]).files, Request(), RowOptions(), **options), Plan())
    return as_options(str(caught.value))


MEGABYTE = 2**20


def peak_of(*arguments: str) -> tuple[int, str, float]:
    """Exit code, stderr and the most memory of a process that runs the command, in MB."""
    script = (
        "import resource, sys\nfrom trueness.cli import main\ncode = main(sys.argv[1:])\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        # On Linux that also remembers the process that this one was forked from; the mark below is its own.
        "if sys.platform == 'linux':\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    peak = next(int(line.split()[1]) for line in lines if line.startswith('VmHWM:'))\n"
        "print('peak', peak)\nsys.exit(code)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False
    )
    unit = 1 if sys.platform == "darwin" else 1024
    peak = int(ended.stdout.rsplit("peak ", 1)[1]) * unit / MEGABYTE
    return ended.returncode, ended.stderr, peak
