"""Progress bars."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from trueness.cli import main


def test_progress_counts_the_bytes(npz: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    totals, steps = [], []

    @contextmanager
    def bar(total: int, _: str) -> Iterator[Any]:
        totals.append(total)
        yield steps.append

    monkeypatch.setattr("trueness.cli._summation.progress_bar", bar)
    monkeypatch.setattr("trueness.files.source.BATCH_VALUES", 3 * 500)  # several batches
    assert main(["tabulate", npz, "-o", str(tmp_path / "t.json")]) == 0
    assert totals == [os.path.getsize(npz)]
    assert sum(steps) == totals[0]
    assert len(steps) == 6
