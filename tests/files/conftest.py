"""A file that most tests of files read."""

from pathlib import Path

import predictions as same
import pytest


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    same.FORMATS["parquet"][1](tmp_path / "x.parquet")
    return tmp_path / "x.parquet"
