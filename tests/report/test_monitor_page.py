"""The page of a monitor: what it says, that names are text, that it contains the state, and a real browser."""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from monitored import T1, T2, stream, watched

import trueness as tn
from trueness.old_report import page_of_monitor

HOSTILE = "<script>window.hacked = 1</script>"
FIRST = dt.date(2026, 10, 1)


def alarmed() -> tn.Monitor:
    """Over-confident from the eleventh look on."""
    monitor = tn.Monitor(alpha=0.01, tolerance=0.01)
    for k, table in enumerate(stream(16, 800, exponent=1.6, after=10, seed=1)):
        monitor.update(table, at=FIRST + dt.timedelta(k))
    return monitor


def grouped() -> tn.Monitor:
    monitor = tn.Monitor(alpha=0.01, tolerance=0.01)
    calm, wrong = stream(6, 400, seed=2), stream(6, 400, exponent=1.8, seed=3)
    for k in range(6):
        tables = {f"group {j}": calm[(j + k) % 6] for j in range(24)}
        monitor.update({HOSTILE: wrong[k], **tables}, at=f"look {k}")
    return monitor


class TestContent:
    def test_an_alarm(self) -> None:
        page = page_of_monitor(alarmed(), title="Ward model")
        assert "Alarm: " in page
        assert "over-confident, E = " in page
        assert "Before and since the estimated start" in page
        assert page.count("<figure") == 2
        evidence = alarmed().evidence_of().sum(axis=0)
        table = page[page.index("Bins with most evidence") :].partition("</table>")[0]
        assert f"{evidence.max():+.4f}".replace("-", "−") in table
        assert table.count("<tr") == 1 + 3
        assert "Rows are taken as independent" in page

    def test_no_alarm(self) -> None:
        page = page_of_monitor(watched([T1, T2], tolerance=0.02))
        assert "No alarm in 2 looks, 30 rows; E = 1.85." in page
        assert "No alarm does not show that the model is calibrated" in page

    def test_no_looks(self) -> None:
        assert "There are no looks yet" in page_of_monitor(tn.Monitor())

    def test_names_are_text(self) -> None:
        page = page_of_monitor(grouped(), title=HOSTILE)
        assert HOSTILE not in page
        assert "&lt;script&gt;window.hacked" in page
        assert "1 of 25 groups is flagged as of now" in page

    @pytest.mark.parametrize("settings", [{"average_run": 50}, {"dependence": "look"}, {"max_cluster": 5}])
    def test_other_settings(self, settings: dict[str, Any]) -> None:
        page = page_of_monitor(watched(stream(3, 300, exponent=2.5), **settings))
        assert "Evidence" in page
        assert ("Bin by bin" in page) == ("dependence" not in settings)

    def test_class_tables_alone(self) -> None:
        y_true, y_prob = tn.simulate.calibrated(300, [1, 1, 1], rng=0)
        monitor = tn.Monitor()
        monitor.update(tn.tabulate_events(y_true, y_prob), at=1)
        assert "Trend" not in page_of_monitor(monitor)

    def test_equal_monitors_give_equal_pages(self) -> None:
        assert page_of_monitor(alarmed()) == page_of_monitor(alarmed())

    def test_many_looks_and_groups_stay_small(self) -> None:
        tables = stream(1, 100)
        long = watched([])
        first = long.update(tables[0], at=1)
        entry = replace(long.entries[0])
        for k in range(2, 1001):
            long.count(replace(entry, at=str(k)))  # with the values of its bets, which are not computed again
        assert first.n_rows == 100
        page = page_of_monitor(long)
        picture = page[: page.index("trueness-monitor")]
        assert len(picture) < 1_200_000
        assert len(re.findall('class="mark"', page)) < 3000


class TestState:
    def test_the_page_contains_it(self, tmp_path: Path) -> None:
        for name, monitor in {"a": alarmed(), "g": grouped()}.items():
            path = tmp_path / f"{name}.html"
            monitor.write_html(path)
            loaded = tn.Monitor.load(path)
            assert loaded == monitor
            assert loaded.log_e_value == monitor.log_e_value

    def test_a_page_without_a_state_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "other.html"
        path.write_text("<html></html>")
        with pytest.raises(ValueError, match="the page contains no state"):
            tn.Monitor.load(path)

    def test_a_state_that_is_too_large_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from trueness.old_report import _monitor

        monkeypatch.setattr(_monitor, "MOST_STATE", 10)
        assert "too large for this file" in page_of_monitor(watched([T1]))


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        started = driver.chromium.launch(
            executable_path=chromium, args=["--disable-gpu", "--no-sandbox", "--disable-sync"]
        )
        yield started
        started.close()


@pytest.mark.browser
class TestBrowser:
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("name", ["alarm", "groups"])
    def test_accessible_and_silent(self, browser: Any, tmp_path: Path, name: str, scheme: str) -> None:
        from axe_playwright_python.sync_playwright import Axe

        path = tmp_path / "monitor.html"
        (alarmed() if name == "alarm" else grouped()).write_html(path, title=HOSTILE)
        context = browser.new_context(viewport={"width": 1000, "height": 800}, color_scheme=scheme)
        page = context.new_page()
        problems: list[str] = []
        requests: list[str] = []
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(f"file://{path}")
        results = Axe().run(page)
        assert results.violations_count == 0, results.generate_report()
        assert problems == []
        assert requests == [f"file://{path}"]
        assert page.evaluate("window.hacked") is None
        context.close()

    def test_no_sideways_scrolling_on_a_phone(self, browser: Any, tmp_path: Path) -> None:
        path = tmp_path / "monitor.html"
        grouped().write_html(path)
        context = browser.new_context(viewport={"width": 390, "height": 800})
        page = context.new_page()
        page.goto(f"file://{path}")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        context.close()
