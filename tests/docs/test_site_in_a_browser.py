"""The built site in a real browser, from its files: accessible in both colour schemes and widths, and searchable."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from built_site import SITE, pages

pytestmark = [pytest.mark.site, pytest.mark.browser]

WIDTHS = (360, 1280)
SCHEMES = ("light", "dark")
OF_EACH_KIND = (
    "index.html",
    "start/five-minutes.html",
    "guide/files.html",
    "cases/digits.html",
    "metrics/vce.html",
    "background/theory.html",
    "reference/api/assessing.html",
    "adr/0001-exact-sums.html",
    "reference/api/generated/trueness.assess.html",
    "reference/api/generated/trueness.Assessment.html",
    "reference/api/generated/trueness.variations.html",
    "reference/api/generated/trueness.adapters.torch.VariationCalibrationError.html",
    "genindex.html",
    "search.html",
)
"""One page of each kind, checked in all widths and colour schemes."""
OF_ALL_PAGES = {(360, "dark"), (1280, "light")}
"""All written pages are checked in these."""


def checked_pages(width: int, scheme: str) -> list[str]:
    """One page of each kind, or every written page; the architecture decisions are of one kind."""
    if (width, scheme) not in OF_ALL_PAGES:
        return list(OF_EACH_KIND)
    written = [name for name in pages() if not {"generated", "adr"} & set(Path(name).parts)]
    return [*OF_EACH_KIND, *(name for name in written if name not in OF_EACH_KIND)]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=chromium,
            args=["--disable-gpu", "--no-sandbox", "--disable-background-networking"],
        )
        yield started
        started.close()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_pages_are_accessible_and_silent(browser: Any, width: int, scheme: str) -> None:
    """No violation by axe, no message on the console, nothing fetched but files, no sideways scrolling."""
    from axe_playwright_python.sync_playwright import Axe

    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    wrong: list[str] = []
    page.set_default_timeout(120_000)  # a shared machine can be slow at any moment
    page.on("console", lambda message: wrong.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("request", lambda request: wrong.append(request.url) if is_remote(request.url) else None)
    found = {}
    for name in checked_pages(width, scheme):
        wrong.clear()
        page.goto((SITE / name).as_uri())
        problems = [text for text in wrong if not text.startswith("log: ")]  # of the page, not of axe
        results = Axe().run(page)
        if results.violations_count:
            problems.append(results.generate_report())
        if page.evaluate("document.documentElement.scrollWidth") > width:
            problems.append("wider than the window")
        if problems:
            found[name] = problems
    context.close()
    assert found == {}


def is_remote(url: str) -> bool:
    return not url.startswith(("file:", "data:", "blob:"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [("temperature scaling", "cases/digits.html"), ("sample_weight", "generated/trueness.tabulate.html")],
)
def test_search_works_from_a_file(browser: Any, words: str, expected: str) -> None:
    page = browser.new_page()
    page.goto(f"{(SITE / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    page.wait_for_selector("#search-results ul.search li a")
    page.wait_for_function("document.querySelector('#search-results h2')?.innerText != 'Searching'")
    targets = page.eval_on_selector_all("#search-results ul.search li a", "links => links.map(it => it.href)")
    page.close()
    assert any(expected in target for target in targets)


def test_a_page_of_each_kind_exists() -> None:
    assert set(OF_EACH_KIND) <= set(pages())
