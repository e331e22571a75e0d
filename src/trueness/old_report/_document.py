"""What the reports of all results share: the file around the content, the verdict, the warnings, the citation."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable
from importlib.resources import files
from typing import TYPE_CHECKING

from trueness._markup import Markup, tag
from trueness._printing import capitalise
from trueness._version import __version__
from trueness.old_assessment.verdict import Verdict
from trueness.old_report._numbers import colour, sentence_of

if TYPE_CHECKING:
    from trueness.old_assessment import Caution

HEADING = "Calibration report"


def document(title: str | None, header: Markup, main: Markup, embedded: Markup) -> str:
    """The entire file: styles, scripts, the policy that only these run, and the content."""
    style, script = read_part("chart.css") + read_part("page.css"), read_part("page.js")
    made = (
        f"Written by trueness {__version__}. This file is self-contained: it loads nothing from the network."
    )
    head = [
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_policy(style, script)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"trueness {__version__}"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", HEADING if title is None else f"{title} – calibration report"),
        tag("style", Markup(style)),
    ]
    body = [header, main, tag("footer", tag("p", made))]
    whole = tag(
        "html",
        tag("head", head),
        "\n",
        tag("body", body, embedded, "\n", tag("script", Markup(script)), class_="trueness"),
        lang="en",
    )
    return f"<!doctype html>\n{whole}\n"


def read_part(name: str) -> str:
    """A style sheet or script of the package."""
    return files("trueness.old_report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """The content security policy: nothing is loaded or sent, and only the script of this file runs, by its hash."""

    def hash_of(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; style-src {hash_of(style)}; script-src {hash_of(script)}; base-uri 'none'; "
        "form-action 'none'"
    )


def verdict_section(verdict: Verdict) -> Markup:
    """The verdict, in the colour of its direction."""
    return tag(
        "section",
        tag("h2", verdict.headline),
        tag("p", sentence_of(verdict)),
        tag("p", verdict.advice),
        class_=f"verdict {colour(verdict)}",
        aria_label="Verdict",
    )


def warning_section(warnings: Iterable[Caution]) -> Markup | None:
    """The warnings with their remedies; None if there are none."""
    items = [
        tag("li", tag("strong", f"{capitalise(it.message)}."), f" {capitalise(it.remedy)}.")
        for it in warnings
    ]
    return tag("section", tag("h2", "Warnings"), tag("ul", items, class_="limits")) if items else None


def citation() -> list[Markup]:
    """How to cite the metric and the software."""
    return [
        tag("h2", "How to cite"),
        tag(
            "p",
            "The metric: A. Thompson and V. Desai, ",
            tag("cite", "Extending confidence calibration to generalised measures of variation"),
            ", National Physical Laboratory, 2026, arXiv 2602.12975. "
            f"The software: The trueness authors, trueness {__version__}.",
        ),
    ]
