"""Ten jobs as a newcomer would type them, each run in a folder of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LOGS = HERE.parent / "data" / "language-models"
JOBS = {  # exit code, what is concluded, and the files that are made
    "release_gate.sh": (
        1,
        "model_a may be released(?s:.*)over-confident",
        "model_a.json model_b.json",
    ),
    "paper_table.py": (0, r"naive\\_Bayes & 0\.15", "table.md"),
    "rare_event.py": (0, "too often.*396 expected, 197 observed", "sepsis.html"),
    "segmentation.py": (0, "39,?680 rows(?s:.*)over-confident", "segmentation.html"),
    "spreadsheet.py": (0, "500 rows(?s:.*)over-confident", "cases.xlsx"),
    "pytorch_loop.py": (0, "1,?597 rows(?s:.*)over-confident", ""),
    "evaluation_logs.sh": (0, "40 rows(?s:.*)better calibrated", "letters.html"),
    "monitoring.sh": (1, "no alarm in 2(?s:.*)alarm at 2026-11-03", "service.html service.monitor"),
    "groups.py": (0, "west +3,?000(?s:.*)over-confident", "hospitals.csv"),
    "large_files.sh": (0, "400,?000 rows(?s:.*)over-confident", "all.json"),
}
MISSING = {
    "spreadsheet.py": "predicted class with its confidence, and 86,27 %: issue 54",
    "evaluation_logs.sh": "evaluation logs of two models are compared: issue 54",
}
MARKS = {"pytorch_loop.py": [pytest.mark.adapters]} | {
    name: [pytest.mark.xfail(reason=reason, raises=AssertionError, strict=True)]
    for name, reason in MISSING.items()
}


@pytest.mark.parametrize("name", [pytest.param(job, marks=MARKS.get(job, ())) for job in JOBS])
def test_job(name: str, tmp_path: Path) -> None:
    code, conclusion, made = JOBS[name]
    (tmp_path / "logs").symlink_to(LOGS)
    scripts = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": scripts + os.pathsep + os.environ["PATH"]}
    program = "python" if name.endswith(".py") else "bash"
    ended = subprocess.run(
        [program, str(HERE / name)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code, ended.stderr
    assert re.search(conclusion, ended.stdout, re.IGNORECASE), ended.stdout
    for file in made.split():
        assert (tmp_path / file).stat().st_size > 0
