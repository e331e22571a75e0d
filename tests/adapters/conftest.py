"""A Dask cluster, and rows as files, for the tests that need them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from partitioned import dask_client, whole


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with dask_client() as client:
        yield client


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows as files of two formats."""
    folder = tmp_path_factory.mktemp("shards")
    whole()[:1000].to_parquet(folder / "a.parquet", row_group_size=300)
    whole()[1000:1700].to_csv(folder / "b.csv", index=False)
    whole()[1700:].to_parquet(folder / "c.parquet")
    return folder
