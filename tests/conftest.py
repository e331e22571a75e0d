"""Which tests need which libraries, and what happens when a library is missing.

A test that needs an optional library carries a marker of ``NEEDS`` and imports the library inside itself, so
that its file can be read without it. When the library is missing the test is left out and the summary says so;
in CI a missing library is an error instead, except in the leg without extras (``TRUENESS_BARE=1``).
"""

import os
from importlib.util import find_spec

import pytest
from hypothesis import HealthCheck, settings

NEEDS = {
    "frames": ("pandas", "polars", "pyarrow"),
    "jax": ("jax",),
    "sklearn": ("sklearn",),
    "torch": ("torch", "torchmetrics"),
}
REMEDY = {"torch": "make torch"}
DEFAULT_REMEDY = "pip install -e '.[test]' (make test does it)"

BARE = os.environ.get("TRUENESS_BARE") == "1"
IN_CI = os.environ.get("CI") in {"true", "1"}

# A shared machine can be slow at any moment, which says nothing about the code: no deadline, no speed check.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("local"), derandomize=True, print_blob=True)
# The leg without extras repeats what the whole suite tries at length.
settings.register_profile("bare", parent=settings.get_profile("ci"), max_examples=15)
settings.load_profile("bare" if BARE else "ci" if IN_CI else "local")


def missing_modules() -> dict[str, list[str]]:
    absent = {marker: [name for name in names if find_spec(name) is None] for marker, names in NEEDS.items()}
    return {marker: names for marker, names in absent.items() if names}


MISSING = missing_modules()


def pytest_configure() -> None:
    if MISSING and IN_CI and not BARE:
        lines = [f"  {marker}: {', '.join(names)} not installed" for marker, names in MISSING.items()]
        raise pytest.UsageError("in CI no test may be left out:\n" + "\n".join(lines))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if any(item.get_closest_marker(marker) for marker in MISSING)]
    if left_out:
        items[:] = [item for item in items if item not in set(left_out)]
        config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not MISSING:
        return
    terminalreporter.section("left out")
    for marker, names in MISSING.items():
        remedy = "left out on purpose here" if BARE else f"to run them: {REMEDY.get(marker, DEFAULT_REMEDY)}"
        terminalreporter.line(f"tests marked {marker!r} need {', '.join(names)}; {remedy}")
