"""A document as a page: complete, safe, small, and the same bytes each time."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from answered import MAKERS, answered

import trueness as tn
from trueness.answers.assessment import Assessment, assess
from trueness.document import Answer, Caution, Document, Entry, Forest, Section
from trueness.listing import Listing
from trueness.report import html
from trueness.table import Table

HOSTILE = [
    "</script><script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked = 1">',
    "<!--<script>",
    "javascript:alert(1)",
    "a\u202eb\x1b[31m\ufeff",
]


class Reader(HTMLParser):
    """Elements with their attributes, and whether each was closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def ten_classes() -> Assessment:
    y, p = tn.simulate.calibrated(20_000, [0.5] * 10, rng=0)
    return assess(y, tn.simulate.sharpen(p, 1.3))


def hostile() -> Assessment:
    y, p = tn.simulate.calibrated(2000, [1.0] * 5, rng=0)
    names = np.array(HOSTILE, object)
    return assess(names[y], p, classes=HOSTILE, groups=names[np.arange(2000) % 5], resamples=99)


@pytest.mark.parametrize("name", MAKERS)
def test_every_answer_is_a_page_whose_table_can_be_read(name: str, tmp_path: Path) -> None:
    answered(name).write_html(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert Reader(text).open == []
    assert answered(name).answer.headline in text.replace("&#x27;", "'")
    assert Table.load(tmp_path / "r.html") == answered(name).table
    assert "nan" not in re.findall(
        r"[a-z]+", re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    )


def test_names_are_text_and_come_back(tmp_path: Path) -> None:
    result = hostile()
    result.write_html(tmp_path / "r.html", title=HOSTILE[0])
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    reader = Reader(text)
    assert reader.open == []
    assert not [tag for tag, _ in reader.tags if tag in ("img", "iframe", "link", "a", "form")]
    assert sum(tag == "script" for tag, _ in reader.tags) == 2
    assert not [
        key for _, its in reader.tags for key in its if key.startswith("on") or key == "style"
    ]
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ufeff]", text)
    assert Table.load(tmp_path / "r.html") == result.table
    assert set(Table.load(tmp_path / "r.html").group_names) == set(HOSTILE)


def test_the_policy_allows_this_style_and_this_script_alone() -> None:
    text = html.page(ten_classes().document())
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    assert "unsafe" not in policy[1]
    for tag in ("style", "script"):
        found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, flags=re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(found[-1].encode()).digest()).decode()
        assert f"sha256-{digest}" in policy[1]
        assert len(found) == 1
    assert not re.search(r"(?:src|href)=", text)
    assert "url(" not in text
    assert not re.search(r"<[^>]* style=", text)


def test_the_same_document_gives_the_same_bytes_few_and_fast() -> None:
    result = ten_classes()
    first = html.page(result.document())
    took = []
    for _ in range(5):
        start = time.perf_counter()
        assert html.page(result.document()) == first
        took.append(time.perf_counter() - start)
    assert len(first.encode()) <= 150_000
    assert min(took) <= 0.1


def test_the_answer_comes_first_then_where_then_pictures_then_what_is_folded() -> None:
    text = html.page(ten_classes().document())
    order = [
        "<h1>",
        "What to do",
        "<h2>Classes</h2>",
        '<svg class="strip"',
        "<figure>",
        "<details>",
    ]
    places = [text.index(it) for it in order]
    assert places == sorted(places)
    assert "<h2>" not in text[: text.index("What to do")]
    assert text.count("<section>") == 2
    assert text.index("</section>", text.index("<figure>")) < text.index("<details>")


def test_all_that_a_document_can_hold() -> None:
    numbers = Forest("", "share", (Entry("VCE", 0.12, 0.08, 0.16, None, "why"), Entry("no", None)))
    answer = Answer("Fine.", numbers, "p = 0.5.", ("here",), "Nothing.", (Caution("few", "Few."),))
    many = Forest("Many", "gap", tuple(Entry(f"g{k}", 0.1, signed=True) for k in range(300)))
    listing = Listing(("name", "n_rows"), tuple((f"<{k}>", k) for k in range(300)))
    parts = ("A sentence.", many, listing, Listing((), ()))
    text = html.page(Document(answer, ("2 rows",), (Section("All", parts),)), title="Mine")
    assert Reader(text).open == []
    assert "<title>Mine</title>" in text
    assert text.count("… and 100 more") == 2
    assert "&lt;7&gt;" in text
    assert "None." in text
    assert 'id="table"' not in text
    assert "n rows" in text


def test_names_that_cannot_be_encoded_or_are_huge(tmp_path: Path) -> None:
    names = ["\ud800 lone", "a\x00b", "x" * 100_000, "\ufeff", "=1+1\r|[a](b)*"]
    y, p = tn.simulate.calibrated(1500, [1.0] * 5, rng=0)
    groups = np.array(names, object)
    result = assess(groups[y], p, classes=names, groups=groups[np.arange(1500) % 5], resamples=99)
    result.write_html(tmp_path / "r.html")
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert Table.load(tmp_path / "r.html") == result.table
    assert "x" * 200 not in text[: text.index("<footer>")]
    assert "x" * 200 not in result.details() + result._repr_html_()
    assert all(line.isprintable() for line in result.details().splitlines())


def test_a_notebook_shows_the_answer_and_one_chart() -> None:
    text = ten_classes()._repr_html_()
    assert Reader(text).open == []
    assert text.count('<svg class="chart"') == 1
    assert "<h3>Over-confident" in text
    assert "script" not in text
    assert len(text) < 12_000
    for rule in re.findall(
        r"^(.*?)\{", text[text.index("<style>") + 7 : text.index("</style>")], re.MULTILINE
    ):
        selectors = [it.strip() for it in rule.split(",") if it.strip()]
        assert all(it.startswith(".trueness") for it in selectors)


def test_charts_of_a_result() -> None:
    result = hostile()
    kinds = result.chart_kinds()
    assert list(kinds)[:4] == ["reliability", "confidence", "gap", "ranks"]
    assert {"rank_map", "cumulative", "groups", "classes", "class javascript:alert(1)"} <= set(
        kinds
    )
    for kind in kinds:
        assert result.chart(kind).svg()
    assert result.chart().title == "Reliability by entropy"
    with pytest.raises(tn.Refusal, match="did you mean"):
        result.chart("reliabilty")


def test_results_are_plotted_and_overlaid() -> None:
    pytest.importorskip("matplotlib")
    result = ten_classes()
    ax = result.plot("ranks", label="a")
    assert result.plot("ranks", ax=ax, label="b", color="black") is ax
