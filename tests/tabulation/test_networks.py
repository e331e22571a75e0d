"""The sorting networks of the compiled engine are those of the Python code, and they sort."""

from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path

import pytest

from trueness.ranking import comparators

SCRIPT = Path(__file__).parents[2] / "scripts/make_networks.py"


def test_the_committed_file_is_what_the_script_writes() -> None:
    spec = spec_from_file_location("make_networks", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.HEADER.read_text(encoding="utf-8") == script.networks()


@pytest.mark.parametrize("n", range(2, 17))
def test_networks_sort(n: int) -> None:
    """All sequences of zeros and ones, which is enough (Knuth 5.3.4, theorem Z); up to 12 of them here, then some."""
    pairs = list(comparators(n))
    step = max(1, 2**n // 4096)
    for bits in list(product((0, 1), repeat=n))[::step]:
        x = list(bits)
        for upper, lower in pairs:
            x[upper], x[lower] = max(x[upper], x[lower]), min(x[upper], x[lower])
        assert x == sorted(bits, reverse=True)
