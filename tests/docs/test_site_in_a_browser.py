"""The built site in a real browser, from its files: accessible in both colour schemes and widths, and searchable."""

from collections.abc import Iterator
from typing import Any

import pytest
from built_site import SITE, pages

pytestmark = [pytest.mark.site, pytest.mark.browser]

WIDTHS = (360, 1280)
SCHEMES = ("light", "dark")
OF_EACH_KIND = (
    "reference/api/generated/trueness.assess.html",
    "reference/api/generated/trueness.Assessment.html",
    "reference/api/generated/trueness.variations.html",
    "reference/api/generated/trueness.adapters.torch.VariationCalibrationError.html",
    "genindex.html",
    "search.html",
)
"""Of the generated pages one of each kind; all written pages are checked."""


def checked_pages() -> list[str]:
    """Every written page, and generated ones of each kind; two architecture decisions stand for all."""
    if not SITE.is_dir():
        return []
    written = [
        str(path.relative_to(SITE))
        for path in sorted(SITE.rglob("*.html"))
        if not {"_static", "generated", "_modules"} & set(path.relative_to(SITE).parts)
    ]
    decisions = [name for name in written if name.startswith("adr/")]
    return [name for name in written if name not in {*decisions[2:], *OF_EACH_KIND}] + list(OF_EACH_KIND)


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
    page.on("console", lambda message: wrong.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: wrong.append(f"error: {error}"))
    page.on("request", lambda request: wrong.append(request.url) if is_remote(request.url) else None)
    found = {}
    for name in checked_pages():
        wrong.clear()
        page.goto((SITE / name).as_uri())
        results = Axe().run(page)
        if results.violations_count:
            wrong.append(results.generate_report())
        if page.evaluate("document.documentElement.scrollWidth") > width:
            wrong.append("wider than the window")
        if wrong:
            found[name] = list(wrong)
    context.close()
    assert found == {}


def is_remote(url: str) -> bool:
    return not url.startswith(("file:", "data:", "blob:"))


@pytest.mark.parametrize(
    ("words", "expected"),
    [("reliability diagram", "guide/gallery.html"), ("sample_weight", "generated/trueness.tabulate.html")],
)
def test_search_works_from_a_file(browser: Any, words: str, expected: str) -> None:
    page = browser.new_page()
    page.goto(f"{(SITE / 'search.html').as_uri()}?q={words.replace(' ', '+')}")
    page.wait_for_selector("#search-results ul.search li a")
    page.wait_for_function("document.querySelector('#search-results h2')?.innerText != 'Searching'")
    targets = page.eval_on_selector_all("#search-results ul.search li a", "links => links.map(it => it.href)")
    page.close()
    assert any(expected in target for target in targets)


def test_every_checked_page_exists() -> None:
    assert set(checked_pages()) <= set(pages())
