"""A Dask cluster, and rows as files, for the tests that need them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from partitioned import PROBS, both_models, dask_client, whole


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


@pytest.fixture(scope="module")
def model_shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The rows of two models as files: of both together, and of each in its own files."""
    folder = tmp_path_factory.mktemp("models")
    rows = both_models(who=np.arange(len(whole())) % 90)
    own = ["y", "g", "who"]
    for name, part in (("a", slice(1100)), ("b", slice(1100, 1700)), ("c", slice(1700, None))):
        rows[part].to_parquet(folder / f"both-{name}.parquet", row_group_size=300)
        rows[part][[*own, *PROBS]].to_csv(folder / f"plain-{name}.csv", index=False)
        rows[part][["y", *(f"s_{c}" for c in range(len(PROBS)))]].to_parquet(folder / f"sharp-{name}.parquet")
    return folder
