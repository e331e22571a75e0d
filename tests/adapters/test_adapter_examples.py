"""The examples in the docstrings of the adapters, which need the adapted libraries."""

import doctest
from importlib import import_module

import pytest

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.parametrize(
    "name",
    ["_scorers", "sklearn"]
    + [pytest.param(name, marks=pytest.mark.adapters) for name in ("_assessed_metrics", "torch")],
)
def test_examples(name: str) -> None:
    found = doctest.testmod(import_module(f"trueness.adapters.{name}"), optionflags=FLAGS)
    assert found.attempted > 1
    assert found.failed == 0
