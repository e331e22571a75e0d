"""The page in a real browser: sizes, schemes, keyboard, screen reader; no request, no message."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_html import hostile, ten_classes

pytestmark = pytest.mark.browser

SCHEMES = [(width, scheme) for width in (360, 1400) for scheme in ("light", "dark")]


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # Containers often have no sandbox; the pages are our own.
        started = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, make in (("ten", ten_classes), ("hostile", hostile)):
        make().write_html(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in ("ten", "hostile")}


def opened(browser: Any, path: Path, width: int = 1400, **options: Any) -> tuple[Any, list[str]]:
    page = browser.new_context(viewport={"width": width, "height": 900}, **options).new_page()
    seen: list[str] = []
    page.on("console", lambda message: seen.append(message.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("request", lambda request: seen.append(request.url))
    page.goto(f"file://{path}")
    return page, seen


@pytest.mark.parametrize("name", ["ten", "hostile"])
@pytest.mark.parametrize(("width", "scheme"), SCHEMES)
def test_it_fits_can_be_read_by_all_and_asks_for_nothing(
    browser: Any, pages: dict[str, Path], name: str, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page, seen = opened(browser, pages[name], width, color_scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.documentElement.scrollHeight") <= (2600 if width > 400 else 3600)
    assert Axe().run(page).response["violations"] == []
    page.evaluate("document.querySelectorAll('details').forEach((it) => { it.open = true; })")
    assert Axe().run(page).response["violations"] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("window.hacked") is None
    assert seen == [f"file://{pages[name]}"]
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(17, 23, 29)") == (scheme == "dark")


def test_what_is_folded_opens_by_keyboard_and_marks_show_their_words(
    browser: Any, pages: dict[str, Path]
) -> None:
    page, _ = opened(browser, pages["ten"])
    page.locator("summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None
    point = page.locator("circle[role=img]").first
    point.hover()
    assert (
        page.locator(".tip").inner_text().splitlines()[0]
        == (point.get_attribute("aria-label").splitlines()[0])
    )


def test_it_is_complete_without_script(browser: Any, pages: dict[str, Path]) -> None:
    page, seen = opened(browser, pages["ten"], java_script_enabled=False)
    assert page.locator("circle title").count() > 10
    page.locator("summary").first.click()
    assert page.locator("details table").first.is_visible()
    assert len(seen) == 1


def test_long_lists_can_be_searched(browser: Any, tmp_path: Path) -> None:
    from trueness.document import Answer, Document, Entry, Forest, Section
    from trueness.report import html

    entries = tuple(Entry(f"group {k}", 0.1) for k in range(30))
    answer = Answer("Fine.", Forest("", "", ()), "", (), "", ())
    section = Section("Groups", (Forest("Groups", "gap", entries),))
    (tmp_path / "r.html").write_text(html.page(Document(answer, (), (section,))))
    page, _ = opened(browser, tmp_path / "r.html")
    page.get_by_placeholder("Find a name").fill("GROUP 29")
    assert page.locator("tbody tr:visible").count() == 1
