"""A document as one HTML page, or as the cell of a notebook.

A page is complete in itself: it loads nothing, sends nothing, and runs no script but its own, which
its content security policy states by hash. Without the script only the tooltips look plainer. The
same document gives the same bytes. Whatever comes from users is escaped by `tag`.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Iterator
from importlib.resources import files
from itertools import groupby
from typing import Any

from trueness._version import __version__
from trueness.atomic_files import write_text
from trueness.charts.chart import Axis, Chart
from trueness.charts.forest import centre_of, range_of, strip, strip_axis
from trueness.charts.svg import safe
from trueness.document import Answer, Document, Entry, Forest, Section
from trueness.formatting import count, counted, estimate, shortened
from trueness.listing import Listing, are_numbers

MOST_ROWS = 200
"""Of a table on a page; data frames and CSV have all."""

MOST_LETTERS = 120
"""Of a name."""

_LONE = ("meta", "input")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element; children that are not `Markup` and all attributes are escaped.

    >>> tag("p", "2 < 3 ", tag("b", "always"), class_="note", id=None)
    '<p class="note">2 &lt; 3 <b>always</b></p>'
    """
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{safe(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inside = "".join(it if isinstance(it, Markup) else safe(str(it)) for it in _flat(children))
    return Markup(f"<{name}{words}>" if name in _LONE else f"<{name}{words}>{inside}</{name}>")


def _flat(children: Iterable[Any]) -> Iterator[Any]:
    for child in children:
        if isinstance(child, (list, tuple, Iterator)):
            yield from _flat(child)
        elif child is not None:
            yield child


def write(document: Document, path: str | os.PathLike[str], title: str | None = None) -> None:
    """Write a page, completely or not at all."""
    write_text(os.fsdecode(path), page(document, title))


def page(document: Document, title: str | None = None) -> str:
    """The whole page: the answer, where, pictures, and everything else folded."""
    css, script = _part("page.css"), _part("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(css)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", shortened(title or document.answer.headline, MOST_LETTERS)),
        tag("style", Markup(css)),
    ]
    above = None if title is None else tag("p", shortened(title, MOST_LETTERS), class_="title")
    made = f"trueness {__version__}. The metric: Thompson and Desai, arXiv 2602.12975."
    main = [above, _answer(document.answer, "h1"), _facts(document), _sections(document.sections)]
    body = [tag("main", main), tag("footer", tag("p", made))]
    if document.table is not None:
        saved = document.table.replace("</", r"<\/").replace("<!", r"<\u0021")
        note = "The table of sums is in this file: trueness.Table.load reads it."
        body[1] = tag("footer", tag("p", note), tag("p", made))
        body.append(tag("script", Markup(saved), type="application/json", id="table"))
    body.append(tag("script", Markup(script)))
    whole = tag(
        "html", tag("head", head), "\n", tag("body", body, class_="trueness page"), lang="en"
    )
    return f"<!doctype html>\n{whole}\n"


def fragment(document: Document) -> str:
    """For a notebook: the answer and its first picture, in the colours of the notebook."""
    css = _part("page.css").split("/* Page")[0]
    parts = (part for section in document.sections for part in section.parts)
    charts = [_figure(part) for part in parts if isinstance(part, Chart)][:1]
    inside = [tag("div", _answer(document.answer, "h3")), charts]
    return tag(
        "div", tag("style", Markup(css)), tag("div", inside, class_="cell"), class_="trueness"
    )


def _part(name: str) -> str:
    return files("trueness.report").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _answer(answer: Answer, heading: str) -> Markup:
    """Headline, numbers, certainty, where, advice, warnings."""
    rows = [_number(it) for it in answer.numbers.entries]
    warnings = ((tag("strong", "Warning: "), it.text) for it in answer.warnings)
    said = [
        tag("p", answer.certainty),
        tag("ul", [tag("li", it) for it in answer.where]) if answer.where else None,
        tag("p", tag("strong", "What to do: "), answer.advice),
        [tag("p", text, class_="warning") for text in warnings],
    ]
    numbers = tag("table", tag("tbody", rows), class_="numbers")
    return tag("header", tag(heading, answer.headline), numbers, tag("div", said), class_="answer")


def _number(it: Entry) -> Markup:
    value, interval = estimate(it.value, it.low, it.high, sign=it.signed)
    name = tag("th", it.name, tag("small", it.words) if it.words else None, scope="row")
    return tag("tr", name, tag("td", tag("b", value), " ", tag("span", interval)))


def _facts(document: Document) -> Markup:
    return tag("ul", [tag("li", it) for it in document.facts], class_="facts")


def _sections(sections: Iterable[Section]) -> Iterator[Markup]:
    for section in sections:
        heading, parts = tag("h2", section.title), list(_parts(section))
        if section.folded:
            yield tag("details", tag("summary", heading), parts)
        else:
            yield tag("section", heading, parts)


def _parts(section: Section) -> Iterator[Markup]:
    """Sentences, tables and pictures; neighbouring pictures stand side by side."""
    for are_charts, some in groupby(section.parts, lambda part: isinstance(part, Chart)):
        if are_charts:
            yield tag("div", [_figure(part) for part in some], class_="figures")
            continue
        for part in some:
            if isinstance(part, Forest):
                yield _forest(part, section.title)
            elif isinstance(part, Listing):
                yield _listing(part, section.title)
            elif isinstance(part, str):
                yield tag("p", part)
            else:
                yield tag("pre", "\n".join(part.lines(80)))


def _figure(chart: Any) -> Markup:
    return tag("figure", tag("figcaption", chart.title), Markup(chart.svg()))


def _forest(forest: Forest, title: str) -> Markup:
    """One table: name, interval as a strip, and the numbers."""
    centre, shown = centre_of(forest), forest.entries[:MOST_ROWS]
    axis = Axis("", range_of(forest, centre))
    rows = []
    for it in shown:
        value, interval = estimate(it.value, it.low, it.high, sign=it.signed)
        held = [] if it.rows is None else [counted(it.rows, "row")]
        small = " · ".join([*held, *filter(None, [it.words])])
        name = tag("th", _name(it.name), tag("small", small) if small else None, scope="row")
        numbers = tag("td", tag("b", value), " ", tag("span", interval))
        rows.append(tag("tr", name, tag("td", Markup(strip(it, axis, centre))), numbers))
    heads = [
        tag("td", ""),
        tag("th", forest.unit, Markup(strip_axis(axis)), scope="col"),
        tag("th", "value and interval", scope="col"),
    ]
    table = tag("table", tag("thead", tag("tr", heads)), tag("tbody", rows), class_="forest")
    return _framed(table, forest.title or title, len(forest.entries))


def _listing(listing: Listing, title: str) -> Markup:
    """A table of cells for people; columns of numbers end alike."""
    if not listing.rows:
        return tag("p", "None.")
    some = Listing(listing.columns, listing.rows[:MOST_ROWS])
    heads, *body = some.texts(lambda text: shortened(text, MOST_LETTERS), "{}")
    rows = [
        tag("tr", tag("th", _name(first), scope="row"), [tag("td", cell) for cell in rest])
        for first, *rest in body
    ]
    named = [tag("th", name.replace("_", " "), scope="col") for name in heads]
    right = (f" r{k}" for k, are in enumerate(are_numbers(body, len(heads)), 1) if are)
    kind = f"listing{''.join(right)}"
    table = tag("table", tag("thead", tag("tr", named)), tag("tbody", rows), class_=kind)
    return _framed(table, title, len(listing.rows))


def _framed(table: Markup, title: str, n_rows: int) -> Markup:
    """A table that scrolls by itself where it is too wide, also by keyboard."""
    more = n_rows - MOST_ROWS
    left_out = tag("p", f"… and {count(more)} more") if more > 0 else None
    frame = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label=title)
    return tag("div", frame, left_out)


def _name(text: str) -> Markup:
    """A name from a user, which cannot change the direction of the text around it."""
    return tag("bdi", shortened(text, MOST_LETTERS))
