"""The page "which number sees what" shows the saved results of its script, and a run of the script has all lines."""

import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

SCRIPTS = str(Path(__file__).parents[1] / "scripts")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(SCRIPTS)
    yield import_module("study_which_number")
    for name in [name for name in sys.modules if name.startswith(("study_which_number", "inference_study"))]:
        monkeypatch.delitem(sys.modules, name)


def test_the_page_shows_the_saved_results(script: Any) -> None:
    results, page = script.load(), script.PAGE.read_text(encoding="utf-8")
    assert script.table(results, 3) in page
    assert script.table(results, 10) in page
    assert f"{min(it['runs'] for it in results.values())} runs of each setting" in page


def test_calibrated_rows_are_detected_in_five_percent_of_runs(script: Any) -> None:
    for name in ("3 none", "10 none"):
        saved = script.load()[name]
        for line, detected in saved["detected"].items():
            # .05 and three standard errors of the runs.
            assert detected / saved["runs"] <= 0.05 + 3 * (0.05 * 0.95 / saved["runs"]) ** 0.5, (name, line)


@pytest.mark.simulation
def test_a_run_has_a_result_for_every_line(script: Any) -> None:
    found = dict(zip(script.LINES, script.run("shift", 3, 0), strict=True))
    assert found["class gap, BH"]
    assert found["SKCE, unbiased"]
