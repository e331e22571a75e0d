"""The built site without a browser: links, anchors, pictures, assets, and a place for every public name."""

import importlib
import re
from pathlib import Path

from built_site import SITE, broken, documented_names, is_external, pages

import trueness

PUBLIC_MODULES = (
    "trueness.language",
    "trueness.monitoring",
    "trueness.simplex",
)
ADAPTERS = Path(trueness.__file__).parent / "adapters"


def public_names() -> set[str]:
    """Every name that `trueness` and the modules promised to users export."""
    names = {f"trueness.{name}" for name in trueness.__all__}
    names |= {
        f"{module}.{name}" for module in PUBLIC_MODULES for name in importlib.import_module(module).__all__
    }
    return names | {name for path in ADAPTERS.glob("[a-z]*.py") for name in exported(path)}


def exported(path: Path) -> set[str]:
    """`__all__` of an adapter, read from its source, since the library that it adapts may be missing."""
    listed = re.search(r"^__all__ = \[(.*?)\]", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert listed is not None, f"{path.name} has no __all__"
    return {f"trueness.adapters.{path.stem}.{name}" for name in re.findall(r'"(\w+)"', listed[1])}


def test_every_public_name_has_a_page() -> None:
    documented = documented_names()
    modules = {f"trueness.{name}" for name in ("conventions", "simplex", "simulate")}
    for module in modules:  # each has a page of its functions
        assert any(name.startswith(f"{module}.") for name in documented), module
    # A name may be documented where users import it from: trueness.Monitor, not trueness.monitoring.Monitor.
    missing = {
        name
        for name in public_names() - modules
        if name not in documented
        and (name.startswith("trueness.adapters.") or f"trueness.{name.rpartition('.')[2]}" not in documented)
    }
    assert missing == set()


def test_every_documented_name_is_where_the_inventory_says() -> None:
    index = pages()["index.html"]
    assert [name for name, place in documented_names().items() if broken(index, place)] == []


def test_links_within_the_site_resolve() -> None:
    wrong = [
        f"{page.name}: {link}"
        for page in pages().values()
        for link in page.links
        if not is_external(link) and broken(page, link)
    ]
    assert wrong == []


def test_pages_load_nothing_from_the_network() -> None:
    loaded = [
        f"{page.name}: {link}" for page in pages().values() for link in page.loaded if is_external(link)
    ]
    assert [link for link in loaded if ": data:" not in link] == []


def test_style_sheets_load_nothing_from_the_network() -> None:
    wrong = [
        f"{path.relative_to(SITE)}: {url}"
        for path in SITE.rglob("*.css")
        for url in re.findall(r"(?:url\(|@import\s*)[\"']?([^\"')\s]+)", path.read_text(encoding="utf-8"))
        if re.match(r"(https?:)?//", url)
    ]
    assert wrong == []
