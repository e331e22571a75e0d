"""Which tests need which libraries, and what happens when a library is missing.

A test that needs an optional library carries a marker of ``NEEDS`` and imports the library inside itself, so
that its file can be imported without it. If the library is missing, the test is left out, and the last lines of the
run print the number of such tests and the remedy; in CI a missing library is an error, except in the leg without extras
(``TRUENESS_BARE=1``).
"""

import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

NEEDS = {
    "conventions": ("calibration", "mapie", "relplot", "statsmodels"),
    "dask": ("dask", "distributed", "pandas", "pyarrow"),
    "cli": ("pyarrow", "shtab", "tqdm"),
    "browser": ("playwright", "axe_playwright_python"),
    "build": ("hatchling", "ziglang"),
    "emulation": ("hatchling", "ziglang"),
    "frames": ("pandas", "polars", "pyarrow"),
    "excel": ("openpyxl",),
    "images": ("nibabel",),
    "lightning": ("lightning",),
    "netcal": ("netcal",),
    "outside": ("statsmodels", "mapie"),
    "peers": (
        *("calibration", "mapie", "model_diagnostics", "netcal", "relplot", "statsmodels"),
        *("sklearn", "torch", "torchmetrics"),
    ),
    "plots": ("matplotlib",),
    "reproduction": ("scipy",),
    "sklearn": ("sklearn",),
    "spark": ("pyspark", "fsspec", "pandas", "pyarrow"),
    "queries": ("duckdb", "polars", "pyarrow"),
    "torch": ("torch", "torchmetrics"),
    "workflows": ("yaml",),
}
PROGRAMS = {"emulation": ("qemu-aarch64", "qemu-x86_64"), "gcc": ("gcc",), "spark": ("java",)}
SITE = Path(__file__).parents[1] / "build" / "docs" / "html" / "objects.inv"
"""Written at the end of `make docs`."""
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
REMEDY = {
    "dask": "make cluster, then make test again",
    "spark": "make cluster, install Java 17, then make test again",
    "compiled": "install gcc 12 or newer, then pip install -e . and make test again",
    "gcc": "apt install gcc, then make test again",
    "browser": "make browser (or TRUENESS_BROWSER=/path/to/chromium), then make test again",
    "site": "make docs, then make test again",
    "emulation": "apt install qemu-user, then make test again",
    "torch": "make torch, then make test again",
    "lightning": "make torch, then make test again",
    "netcal": "make torch, then make test again",
}
DEFAULT_REMEDY = "pip install -e '.[test]' (make test does it)"

LEFT_OUT = "trueness_left_out"
"""The key under which an xdist worker, which collects the tests, reports to the process that prints the summary."""
COUNTS = pytest.StashKey[tuple[int, dict[str, int]]]()
"""Number of tests that were left out, in all and by marker; a test may have several markers."""

BARE = os.environ.get("TRUENESS_BARE") == "1"
IN_CI = os.environ.get("CI") in {"true", "1"}

# A shared machine can be slow at any moment: no deadline, no check of the speed of generation.
settings.register_profile("local", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("local"), derandomize=True, print_blob=True)
# The leg without extras repeats tests of the whole suite, with fewer examples.
settings.register_profile("bare", parent=settings.get_profile("ci"), max_examples=15)
settings.load_profile("bare" if BARE else "ci" if IN_CI else "local")


def browser_path() -> str | None:
    """The path of an installed Chromium, which playwright drives but does not install."""
    return os.environ.get("TRUENESS_BROWSER") or next(filter(None, map(which, BROWSERS)), None)


def compiled_library() -> Path | None:
    """The library beside the installed package, which is not imported: coverage is not yet measured here."""
    package = find_spec("trueness")
    assert package is not None
    assert package.origin is not None
    return next((Path(package.origin).parent / "tabulation/compiled").glob("_library.[sd]*"), None)


def missing_modules() -> dict[str, list[str]]:
    absent = {marker: [name for name in names if find_spec(name) is None] for marker, names in NEEDS.items()}
    for marker, programs in PROGRAMS.items():
        absent.setdefault(marker, []).extend(name for name in programs if which(name) is None)
    if compiled_library() is None:
        absent["compiled"] = ["the compiled library"]
    if not SITE.is_file():
        absent["site"] = ["the built site"]
    if browser_path() is None:
        absent["browser"].append("chromium")
    return {marker: names for marker, names in absent.items() if names}


MISSING = missing_modules()


def pytest_configure() -> None:
    # Background processes ignore SIGINT, and their children, which tests interrupt, would inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if MISSING and IN_CI and not BARE:
        lines = [f"  {marker}: {', '.join(names)} not installed" for marker, names in MISSING.items()]
        raise pytest.UsageError("in CI no test may be left out:\n" + "\n".join(lines))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if any(item.get_closest_marker(marker) for marker in MISSING)]
    if not left_out:
        return
    items[:] = [item for item in items if item not in set(left_out)]
    config.hook.pytest_deselected(items=left_out)
    by_marker = {marker: sum(1 for item in left_out if item.get_closest_marker(marker)) for marker in MISSING}
    config.stash[COUNTS] = len(left_out), by_marker
    if hasattr(config, "workeroutput"):
        config.workeroutput[LEFT_OUT] = config.stash[COUNTS]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts of any worker: all of them collect the same tests."""
    counts = getattr(node, "workeroutput", {}).get(LEFT_OUT)
    if counts:
        node.config.stash[COUNTS] = counts


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> Iterator[None]:
    yield  # other plugins print first, so that these lines come last
    total, by_marker = config.stash.get(COUNTS, (0, {}))
    if not total:
        return
    terminalreporter.section(f"left out: {total} of the tests")
    for marker, count in by_marker.items():
        if count:
            terminalreporter.line(_left_out(marker, count))


def _left_out(marker: str, count: int) -> str:
    tests, need, them = ("tests", "need", "them") if count > 1 else ("test", "needs", "it")
    to_do = "left out on purpose here" if BARE else f"to run {them}: {REMEDY.get(marker, DEFAULT_REMEDY)}"
    return f"{count} {tests} marked {marker!r} {need} {', '.join(MISSING[marker])}; {to_do}"


@pytest.fixture(scope="session")
def chromium() -> str:
    path = browser_path()
    assert path is not None
    return path


@pytest.fixture(autouse=True)
def _no_traces_of_matplotlib(request: pytest.FixtureRequest) -> Iterator[None]:
    """Close all figures after a test, and check that no setting of matplotlib changed."""
    if request.node.get_closest_marker("plots") is None:
        yield
        return
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    before = dict(mpl.rcParams)
    yield
    plt.close("all")
    assert dict(mpl.rcParams) == before


@pytest.fixture(scope="session")
def zig_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """One cache of ziglang for all tests of a process."""
    folder = str(tmp_path_factory.mktemp("zig"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ZIG_GLOBAL_CACHE_DIR", folder)
        patch.setenv("ZIG_LOCAL_CACHE_DIR", folder)
        yield
