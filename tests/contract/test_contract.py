"""What the command makes of good and bad files: exit code, refusal and row, sums of the table."""

from __future__ import annotations

import csv
import glob
import io
import json
import math
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import inputs
import pytest
import speak

HERE = Path(__file__).parent
LOGS = HERE.parent / "data" / "language-models"
CASES = tomllib.loads((HERE / "cases.toml").read_text("utf-8"))
SUMS = json.loads((HERE / "sums.json").read_text("utf-8"))
SAVES = {"tabulate": "output", "merge": "output"}
"""The option that names the file of the table; of other jobs it is `table_out`."""
UNIT = 2**52


class Outcome(NamedTuple):
    code: Any
    printed: str
    errors: str


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("given")
    inputs.write_all(folder)
    return folder


@pytest.fixture
def given(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The current folder, with all files and nothing else."""
    monkeypatch.chdir(made)
    before = contents(made, locks=True)
    yield made
    for name, data in contents(made, locks=True).items():
        if name not in before:
            Path(made, name).unlink()
        elif data != before[name]:
            Path(made, name).write_bytes(before[name])


def parameters() -> Iterator[Any]:
    for job, cases in CASES.items():
        for name, case in cases.items():
            fails = pytest.mark.xfail(reason=case.get("fails"), raises=AssertionError, strict=True)
            marks = [fails] if "fails" in case else []
            yield pytest.param(job, case, id=f"{job}: {name}", marks=marks)


@pytest.mark.parametrize(("job", "case"), [*parameters()])
def test_contract(job: str, case: dict[str, Any], given: Path) -> None:
    if "text" in case:
        Path(case.get("name", "given.csv")).write_text(case["text"], "utf-8")
    before = contents(given)
    ended = run(job, case)
    after = contents(given)
    printed = ended.printed + ended.errors
    refusal, row = speak.refusal_of(ended.errors)
    wanted = case.get("refusal")
    assert ended.code == case.get("code", 2 if wanted else 0), printed
    assert (refusal == wanted) or (wanted == "*" and refusal), printed
    assert row == case.get("row"), printed
    assert {name: after.get(name) for name in before} == before, "an input is changed"
    assert ended.code in (0, 1, 3) or after.keys() == before.keys(), "something is written"
    assert all(c.isprintable() or c in "\n\t" for c in printed), "a terminal would be written to"
    if "numbers" in case:
        found = speak.numbers_of(ended.printed)
        assert found.keys() == case["numbers"].keys()
        for name, expected in case["numbers"].items():
            assert found[name] == pytest.approx(expected, rel=1e-12), name
    if "made" in case or "table" in case:
        assert case.get("made", "t.json") in after, printed
    if "table" in case:
        sums = speak.saved_sums(Path(case.get("made", "t.json")))
        assert sums.keys() == SUMS[case["table"]].keys()
        for name, expected in SUMS[case["table"]].items():
            assert sums[name] == pytest.approx(expected, rel=case.get("close", 0), abs=0), name


def run(job: str, case: dict[str, Any]) -> Outcome:
    names = [case.get("name", "given.csv")] if "text" in case else case["files"].split()
    options = {"files": [path for name in names for path in found(name)], **case.get("options", {})}
    if "table" in case or job in SAVES:
        options.setdefault(SAVES.get(job, "table_out"), "t.json")
    if "numbers" in case:
        options["json"] = "-"
    if "label_file" in options:
        options["label_file"] = found(options["label_file"])[0]
    line = speak.command_line(job, options)
    if "shell" in case:
        given = case["shell"].replace("{}", shlex.join([sys.executable, "-m", "trueness", *line]))
        bash = ["bash", "-c", given]
        ended = subprocess.run(bash, capture_output=True, text=True, check=False, timeout=120)
        return Outcome(ended.returncode, ended.stdout, ended.stderr)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = speak.command(line)
        except SystemExit as end:
            code = end.code
    return Outcome(code, *(stream.buffer.getvalue().decode() for stream in (out, err)))


def found(name: str) -> list[str]:
    """The name, or the paths of logs, which are not copied."""
    path = name.removeprefix("logs/")
    return [name] if path == name else sorted(glob.glob(str(LOGS / path)))


def contents(folder: Path, locks: bool = False) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    kept = [path for path in paths if locks or path.suffix != ".lock"]
    return {str(path.relative_to(folder)): path.read_bytes() for path in kept}


@pytest.mark.parametrize(
    ("table", "text"), [("three", "three.csv"), ("twelve", "twelve.csv"), ("binary", "binary.csv")]
)
def test_recorded_sums_are_those_of_the_rows(given: Path, table: str, text: str) -> None:
    """The sums of the definition: rows by entropy, in plain Python."""
    sums: dict[str, list[int | float]] = {}
    for row in csv.DictReader((given / text).read_text().splitlines()):
        classes = sorted(int(name[2:]) for name in row if name.startswith("p_"))
        label, prob = int(row["y"]), [float(row[f"p_{k}"]) for k in classes]
        order = sorted(classes, key=lambda k: -prob[k])
        variation = -sum(p * math.log(p) for p in prob) / math.log(len(prob))
        in_bin = [1, *(UNIT * prob[k] for k in order), *(UNIT * (k == label) for k in order)]
        add(sums, f"all, {len(prob)} options, bin {int(10 * variation)}", in_bin)
        for k in classes if len(classes) > 2 else [1]:
            add(sums, f"all, class {k}", [UNIT * prob[k], UNIT * (k == label)])
    assert SUMS[table] == sums


def add(sums: dict[str, list[int | float]], name: str, values: list[float]) -> None:
    """Add to the sums; a probability enters as the nearest multiple of 2**-52."""
    sums[name] = [a + round(b) for a, b in zip(sums.get(name, [0] * len(values)), values, strict=True)]
