"""The built site (``make docs``), as its files say it: pages, links, pictures, and the names that have a place."""

import zlib
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

SITE = Path(__file__).parents[2] / "build" / "docs" / "html"


@dataclass
class Page(HTMLParser):
    """What a page contains."""

    path: Path
    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    pictures: list[dict[str, str | None]] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {values[name] or "" for name in ("id", "name") if name in values}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"] or "")
        if tag == "img":
            self.pictures.append(values)
        source = values.get("href") if tag == "link" else values.get("src")
        if source:
            self.loaded.append(source)

    @property
    def name(self) -> str:
        return str(self.path.relative_to(SITE))


@cache
def pages() -> dict[str, Page]:
    """All pages by their path below the site."""
    found = [Page(path) for path in sorted(SITE.rglob("*.html")) if "_static" not in path.parts]
    return {page.name: page for page in found}


def is_external(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


def broken(page: Page, link: str) -> bool:
    """Whether a link within the site leads nowhere: to no file, or to no anchor of a page."""
    parts = urlsplit(link)
    target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return True
    anchor = unquote(parts.fragment)
    if not anchor or target.suffix != ".html":
        return False
    return anchor not in pages()[str(target.relative_to(SITE.resolve()))].anchors


def documented_names() -> dict[str, str]:
    """The Python names of the inventory, with the page and anchor of each."""
    content = (SITE / "objects.inv").read_bytes()
    for _ in range(4):
        _, _, content = content.partition(b"\n")
    found = {}
    for line in zlib.decompress(content).decode().splitlines():
        name, domain, _, place, _ = line.split(" ", 4)
        if domain.startswith("py:"):
            found[name] = place.replace("$", name)
    return found
