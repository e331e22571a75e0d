"""HTML tables that scroll by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trueness._markup import Markup, tag


def html_table(
    name: str, heads: Sequence[str], lines: list[list[Any]], *, tall: bool = False, id: str | None = None
) -> Markup:
    """A table that scrolls by itself where the screen is narrow; the first cell of a line is its name."""
    head = tag("thead", tag("tr", [tag("th", words, scope="col") for words in heads]))
    body = [
        tag("tr", tag("th", line[0], scope="row"), [tag("td", cell) for cell in line[1:]]) for line in lines
    ]
    table = tag("table", tag("caption", name), head, tag("tbody", body), id=id)
    kind = "scroll tall" if tall else "scroll"
    return tag("div", table, class_=kind, tabindex="0", role="region", aria_label=name)
