"""A Dask cluster for the tests that need one."""

from collections.abc import Iterator
from typing import Any

import pytest
from partitioned import dask_client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with dask_client() as client:
        yield client
