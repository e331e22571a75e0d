"""Tiers of tests: which are left out, and what the last lines of a run say of them.

A test that needs more than the environment of `make test` has the marker of its tier, and is left out
if something is missing; in CI (`CI=true`) that is an error. Slow tests run if `-m` names them. Tests of
the compiled engine have the fixture or the parameter `compiled`.
"""

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

NEEDS = {
    "adapters": "dask distributed duckdb lightning pyspark torch torchmetrics",
    "browser": "axe_playwright_python playwright",
    "build": "hatchling ziglang",
    "peers": "calibration mapie model_diagnostics netcal relplot statsmodels torchmetrics",
}
PAGES = {"torch.md": "adapters", "polars-and-duckdb.md": "adapters"}
CHROMIUM = os.environ.get("TRUENESS_BROWSER") or next(
    filter(None, map(which, ("chromium", "chromium-browser", "google-chrome"))), None
)
IN_CI = os.environ.get("CI") in {"true", "1"}
COUNTS = pytest.StashKey[dict[str, int]]()

# A shared machine can be slow at any moment: no deadline, no check of the speed of generation.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=30)
settings.register_profile("newcomer", patient)
settings.register_profile("ci", patient, max_examples=100, derandomize=True, print_blob=True)
settings.load_profile("ci" if IN_CI else "newcomer")


def missing() -> dict[str, list[str]]:
    """What is missing, by tier."""
    absent = {tier: [name for name in names.split() if not find_spec(name)] for tier, names in NEEDS.items()}
    absent["adapters"] += [] if which("java") else ["Java 17"]
    absent["browser"] += [] if CHROMIUM else ["Chromium"]
    absent["build"] += [] if which("gcc") else ["gcc"]
    compiled = Path(find_spec("trueness").origin).parent / "tabulation/compiled"
    absent["compiled"] = [] if [*compiled.glob("_library.[sd]*")] else ["gcc or clang when it is installed"]
    return {tier: names for tier, names in absent.items() if names}


def pytest_configure() -> None:
    # Background processes ignore SIGINT, and their children, which tests interrupt, would inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # ziglang compiles parts of its own, once for all tests.
    for cache in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"):
        os.environ.setdefault(cache, str(Path(__file__).parents[1] / "build" / "zig"))
    if IN_CI and missing():
        raise pytest.UsageError(f"in CI no test may be left out, but this is missing: {missing()}")


def tiers(item: Any) -> set[str]:
    if item.path.name in PAGES:
        item.add_marker(PAGES[item.path.name])
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    compiled = {value for value in values if isinstance(value, str)} & {"compiled"}
    return {mark.name for mark in item.iter_markers()} | compiled | {*getattr(item, "fixturenames", ())}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    absent = {*missing()} | ({"slow"} - {*config.option.markexpr.split()})
    left_out = {item: min(found) for item in items if (found := tiers(item) & absent)}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=[*left_out])
    config.stash[COUNTS] = dict(Counter(left_out.values()))
    if hasattr(config, "workeroutput"):  # a worker of pytest-xdist: these collect the tests
        config.workeroutput["left out"] = config.stash[COUNTS]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash[COUNTS] = getattr(node, "workeroutput", {}).get("left out", {})


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> Iterator[None]:
    yield  # other plugins print first, so that these lines come last
    for tier, count in sorted(config.stash.get(COUNTS, {}).items()):
        why = f"need {', '.join(missing()[tier])}" if tier in missing() else "are run by `make release-check`"
        terminalreporter.line(f"left out: {count} tests of the tier '{tier}', which {why}")
    if {*config.stash.get(COUNTS, ())} - {"slow", "compiled"}:
        terminalreporter.line("`make everything` installs what is missing; then `make test` runs them too")


@pytest.fixture
def compiled() -> None:
    """Named by tests that need the compiled engine."""


@pytest.fixture(scope="session")
def chromium() -> str:
    return str(CHROMIUM)


@pytest.fixture(autouse=True)
def _no_open_figures() -> Iterator[None]:
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
