"""The report in a real browser: no requests, everything reachable by keyboard, and no name runs as code."""

import threading
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

import trueness as tn
from trueness import demo
from trueness import old_report as report

pytestmark = pytest.mark.browser

FLAGS = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
HOSTILE = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "</script><script>window.hacked=1</script>",
    "javascript:window.hacked=1",
    "plain",
]


@pytest.fixture(scope="module")
def browser(chromium):
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        # Containers often have no sandbox; the pages are our own.
        started = driver.chromium.launch(executable_path=chromium, args=[*FLAGS, "--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """The report of a real model, with groups whose names are attacks."""
    digits = demo.load_digits()
    names = np.array(HOSTILE, dtype=object)[np.arange(1797) % len(HOSTILE)]
    result = tn.assess(digits.y_true, digits.y_prob["random_forest"], rng=0, groups=names)
    written = tmp_path_factory.mktemp("report") / "report.html"
    result.write_html(written, title=HOSTILE[0], made_by=HOSTILE[2])
    return written


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Reports of two classes, of an event, and of classes that are all wrong, with names that are attacks."""
    folder = tmp_path_factory.mktemp("classes")
    y_true, y_prob = tn.simulate.calibrated(2000, [0.3, 3.0], rng=0)
    tn.assess(y_true, y_prob**2, normalize=True, resamples=99).write_html(folder / "two-classes.html")
    tn.assess_event(y_true, y_prob[:, 1], resamples=99).write_html(folder / "event.html", title=HOSTILE[1])
    labels, moved = tn.simulate.calibrated(4000, [0.5] * 5, rng=0)
    names = np.array(HOSTILE, dtype=object)
    wrong = tn.assess(
        names[labels], moved * [0.4, 1, 2, 1, 0.6], classes=HOSTILE, normalize=True, resamples=99
    )
    wrong.write_html(folder / "wrong-classes.html")
    digits = demo.load_digits()
    groups = names[np.arange(1797) % len(HOSTILE)]
    by_group = tn.assess(digits.y_true, digits.y_prob["random_forest"], groups=groups, resamples=99)
    for against in ("rest", "each"):
        by_group.with_compared_groups(against).write_html(folder / f"groups-{against}.html")
    models = dict(zip(HOSTILE, digits.y_prob.values(), strict=False))
    compared = tn.compare(digits.y_true, models, groups=groups, resamples=99)
    compared.write_html(folder / "comparison.html", title=HOSTILE[2], made_by=HOSTILE[1])
    pair = tn.compare(y_true, {"before": y_prob**2, "after": y_prob}, normalize=True, resamples=99)
    pair.write_html(folder / "comparison-of-two.html")
    return folder


@pytest.fixture
def opened(browser, path):
    """Opens the report (or another file) and records console messages, errors and requests."""
    contexts = []

    def open_page(file=path, width=1100, height=800, **options):
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        contexts.append(context)
        page = context.new_page()
        page.problems, page.requests = [], []
        page.on("console", lambda message: page.problems.append(message.text))
        page.on("pageerror", lambda error: page.problems.append(str(error)))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(f"file://{file}")
        return page

    yield open_page
    for context in contexts:
        context.close()


class Counting(BaseHTTPRequestHandler):
    """Records every request."""

    def __init__(self, seen, *arguments):
        self.seen = seen
        super().__init__(*arguments)

    def do_GET(self):
        self.seen.append(self.path)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture
def outside():
    """A local server in place of the internet, and the requests that it received."""
    seen = []
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Counting, seen))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", seen
    server.shutdown()
    thread.join()
    server.server_close()


class TestNoRequests:
    def test_no_error_and_one_request_which_is_the_file_itself(self, opened, path):
        page = opened()
        page.wait_for_load_state("networkidle")
        assert page.problems == []
        assert page.requests == [f"file://{path}"]

    def test_names_do_not_run(self, opened):
        page = opened()
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0
        assert page.locator("h1").inner_text() == HOSTILE[0]
        assert HOSTILE[1] in page.locator("#groups").inner_text()

    @pytest.mark.parametrize(
        "attempt",
        [
            "fetch('{}/fetch').catch(() => 0)",
            "(() => {{ new Image().src = '{}/image'; }})()",
            "navigator.sendBeacon('{}/beacon')",
            "(() => {{ const s = document.createElement('script'); s.src = '{}/script'; document.body.append(s); }})()",
            (
                "(() => {{ const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = '{}/s'; "
                "document.head.append(l); }})()"
            ),
            "(() => {{ const f = document.createElement('iframe'); f.src = '{}/frame'; document.body.append(f); }})()",
        ],
        ids=["fetch", "image", "beacon", "script", "style", "frame"],
    )
    def test_the_policy_blocks_injected_code(self, opened, outside, attempt):
        """Even code that runs in the page cannot send anything: the server receives no request."""
        address, seen = outside
        page = opened()
        page.evaluate(
            "window.stopped = []; addEventListener('securitypolicyviolation', e => stopped.push(e.blockedURI))"
        )
        page.evaluate(attempt.format(address))
        page.wait_for_function("stopped.length > 0")
        assert page.evaluate("stopped[0]").startswith(address)
        assert seen == []

    def test_the_server_receives_requests_of_other_pages(self, opened, outside, tmp_path):
        address, seen = outside
        plain = tmp_path / "plain.html"
        plain.write_text("<!doctype html><title>x</title>", encoding="utf-8")
        opened(plain).evaluate(f"fetch('{address}/fetch', {{mode: 'no-cors'}})")
        assert seen == ["/fetch"]

    def test_injected_inline_code_does_not_run(self, opened, path, tmp_path):
        spoiled = tmp_path / "spoiled.html"
        text = path.read_text(encoding="utf-8")
        spoiled.write_text(
            text.replace("</main>", "<script>window.hacked = 1</script></main>"), encoding="utf-8"
        )
        page = opened(spoiled)
        assert page.evaluate("window.hacked") is None
        assert any("Content Security Policy" in problem for problem in page.problems)


class TestDetails:
    def test_hovering_shows_the_numbers(self, opened):
        page = opened()
        dot = page.locator(".chart").first.locator(".mark").nth(3)
        dot.scroll_into_view_if_needed()
        words = dot.get_attribute("aria-label")
        dot.locator(".dot").hover()
        tip = page.locator(".tip")
        assert tip.is_visible()
        assert tip.inner_text().split() == words.split()
        assert words.startswith("bin 4, entropy in (0.3, 0.4]: 258 rows")
        page.mouse.move(1, 1)
        assert tip.is_hidden()

    def test_the_tooltip_stays_on_the_screen(self, opened):
        page = opened(width=375)
        for chart in range(page.locator(".chart").count()):
            mark = page.locator(".chart").nth(chart).locator(".mark").last
            mark.scroll_into_view_if_needed()
            mark.focus()
            box = page.locator(".tip").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= 375
            assert box["y"] >= 0

    def test_a_picture_is_one_stop_of_the_tab_key_and_arrows_go_through_it(self, opened):
        page = opened()
        chart = page.locator(".chart").first
        assert chart.locator('[tabindex="0"]').count() == 1
        marks = chart.locator(".mark")
        marks.first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowDown")
        focused = "document.activeElement.getAttribute('aria-label')"
        assert page.evaluate(focused) == marks.nth(2).get_attribute("aria-label")
        page.keyboard.press("End")
        assert page.evaluate(focused) == marks.last.get_attribute("aria-label")
        page.keyboard.press("ArrowRight")  # the last one: nothing changes
        assert page.evaluate(focused) == marks.last.get_attribute("aria-label")
        assert page.locator(".tip").is_visible()
        page.keyboard.press("Escape")
        assert page.locator(".tip").is_hidden()
        assert chart.locator('[tabindex="0"]').count() == 1

    def test_the_tab_key_alone_reaches_everything(self, opened):
        page = opened()
        reached = set()
        for _ in range(60):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.tagName.toLowerCase()"))
        assert {"g", "div", "summary", "pre"} <= reached


class TestForEveryone:
    @pytest.mark.parametrize("width", [1100, 360])
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_axe_finds_nothing(self, opened, width, scheme):
        from axe_playwright_python.sync_playwright import Axe

        page = opened(width=width, color_scheme=scheme, bypass_csp=True)  # so that axe itself may run
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert len(found.response["passes"]) > 15

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("kind", ["two-classes", "event", "wrong-classes", "groups-rest", "groups-each"])
    def test_axe_finds_nothing_in_reports_of_classes_and_events(self, opened, reports, kind, scheme):
        from axe_playwright_python.sync_playwright import Axe

        page = opened(reports / f"{kind}.html", color_scheme=scheme, bypass_csp=True)
        assert page.problems == []
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()

    @pytest.mark.parametrize("width", [320, 1000])
    @pytest.mark.parametrize("kind", ["two-classes", "event", "wrong-classes", "groups-rest", "groups-each"])
    def test_reports_of_classes_and_events_fit_the_screen(self, opened, reports, kind, width):
        page = opened(reports / f"{kind}.html", width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if kind == "wrong-classes" and width == 1000:  # all columns of the table are visible
            table = page.locator("#classes").bounding_box()
            assert table["x"] + table["width"] <= width

    @pytest.mark.parametrize("width", [1280, 360])
    @pytest.mark.parametrize("scheme", ["light", "dark"])
    @pytest.mark.parametrize("kind", ["comparison", "comparison-of-two"])
    def test_axe_finds_nothing_in_comparisons(self, opened, reports, kind, scheme, width):
        from axe_playwright_python.sync_playwright import Axe

        page = opened(reports / f"{kind}.html", width=width, color_scheme=scheme, bypass_csp=True)
        assert page.problems == []
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert len(found.response["passes"]) > 15

    def test_a_comparison_loads_nothing_and_shows_its_numbers(self, opened, reports):
        page = opened(reports / "comparison.html")
        page.wait_for_load_state("networkidle")
        assert page.problems == []
        assert page.requests == [f"file://{reports / 'comparison.html'}"]
        mark = page.locator(".chart").first.locator(".mark").first
        mark.focus()
        assert page.locator(".tip").inner_text().split() == mark.get_attribute("aria-label").split()

    @pytest.mark.parametrize("width", [320, 375, 768, 1100])
    def test_nothing_is_wider_than_the_screen(self, opened, width):
        page = opened(width=width)
        assert page.evaluate("document.documentElement.scrollWidth") <= width

    def test_text_in_pictures_is_large_enough_on_a_phone(self, opened):
        page = opened(width=360)
        sizes = page.evaluate(
            "[...document.querySelectorAll('.chart text')].map(t => {"
            " const m = t.getScreenCTM(); return parseFloat(getComputedStyle(t).fontSize) * Math.hypot(m.a, m.b); })"
        )
        assert min(sizes) >= 7.5

    def test_the_text_is_the_same_without_scripts(self, opened):
        page, scripted = opened(java_script_enabled=False), opened()
        assert page.locator("main").inner_text() == scripted.locator("main").inner_text()
        first = page.locator(".chart").first
        assert first.is_visible()
        assert first.locator(".mark title").first.text_content().startswith("bin 1, entropy in")
        page.locator("summary").first.click()
        assert page.locator("details table").first.is_visible()

    def test_dark_and_light(self, opened):
        shades = {}
        for scheme in ("light", "dark"):
            page = opened(color_scheme=scheme)
            shades[scheme] = page.evaluate(
                "[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
            )
        assert shades["light"][0] == "rgb(255, 255, 255)"
        assert sum(map(int, shades["dark"][0][4:-1].split(", "))) < 100
        assert sum(map(int, shades["dark"][1][4:-1].split(", "))) > 600

    def test_print_is_light_and_hides_interactive_parts(self, opened, tmp_path):
        page = opened(color_scheme="dark")
        page.locator(".chart .mark").first.focus()
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.locator(".tip").is_hidden()
        assert page.evaluate("getComputedStyle(document.querySelector('.tall')).maxHeight") == "none"
        pdf = tmp_path / "r.pdf"
        page.pdf(path=pdf, format="A4")
        content = pdf.read_bytes()
        assert content.startswith(b"%PDF")
        assert 3 <= content.count(b"/Type /Page\n") <= 10


@pytest.fixture(scope="module")
def large():
    """A thousand classes and a thousand groups."""
    rng = np.random.default_rng(0)
    y_prob = rng.dirichlet(np.full(1000, 0.05), 6000).astype(np.float32)
    y_true = (y_prob.cumsum(axis=1) < rng.random(6000)[:, None]).sum(axis=1).clip(0, 999)
    whole = tn.assess(y_true, y_prob, bins=10, rng=0, resamples=99, normalize=True)
    some, p_some = tn.simulate.calibrated(2000, [3, 1, 1], rng=1)
    twenty = tn.assess(some, tn.simulate.sharpen(p_some, 1.2), groups=np.arange(2000) % 20, rng=0).groups
    # The report shows only numbers of a group, so a thousand groups may share those of twenty.
    names = (f"hospital {k}, ward <b>{k % 7}</b> of the region with a rather long name" for k in range(1000))
    return replace(whole, groups=tuple(replace(twenty[k % 20], name=name) for k, name in enumerate(names)))


class TestLarge:
    def test_it_stays_small_and_readable(self, opened, large, tmp_path):
        path = tmp_path / "large.html"
        large.write_html(path)
        assert path.stat().st_size < 5_000_000
        page = opened(path, width=375)
        assert page.problems == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 375
        assert page.locator("#groups tbody tr").count() == 1000
        # The page stays short enough to scroll, and the list of groups scrolls by itself.
        assert page.evaluate("document.documentElement.scrollHeight") < 14_000
        page.get_by_label("Find a group by its name").fill("hospital 77,")
        visible = page.locator("#groups tbody tr:visible")
        assert visible.count() == 1
        assert "hospital 77, ward <b>0</b>" in visible.inner_text()
        assert page.locator(".chart").count() == 10
        assert page.locator("#classes tbody tr").count() == 40
        assert page.locator("#further-classes tbody tr").count() == 960
        assert report.tables_in(path)[0] == large.table
