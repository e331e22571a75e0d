"""An assessment in a notebook: the verdict, the metrics and the reliability diagram, without scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trueness._markup import Markup, tag
from trueness._printing import rows_text
from trueness.plots.reliability import VCE
from trueness.report._figures import drawable
from trueness.report._numbers import UCE_NOTE, colour, number_table, sentence_of
from trueness.report._page import read_part

if TYPE_CHECKING:
    from trueness.assessment import Assessment


def fragment(result: Assessment) -> str:
    """HTML for a notebook cell: its CSS rules apply to it alone, and it has no ids that could clash."""
    verdict = result.verdict
    heads, lines = number_table(result)
    table = tag(
        "table",
        tag("thead", tag("tr", [tag("th", head, scope="col") for head in heads])),
        tag(
            "tbody",
            [tag("tr", tag("th", line[0], scope="row"), [tag("td", x) for x in line[1:]]) for line in lines],
        ),
    )
    spec = result.table.spec
    facts = (
        f"{rows_text(result.n_rows)}, {spec.n_classes} classes, {spec.bins.n_bins} bins of "
        f"{spec.variation.display_name}; seed {result.seed}"
    )
    note = f". {UCE_NOTE}" if result.uce is not None else None
    cautions = (
        tag("ul", [tag("li", str(caution)) for caution in result.warnings]) if result.warnings else None
    )
    picture = VCE.svg(VCE.data(drawable(result)[0]))
    style = read_part("chart.css") + read_part("notebook.css")
    return tag(
        "div",
        tag("style", Markup(style)),
        tag("p", tag("strong", verdict.headline), class_=f"verdict {colour(verdict)}"),
        tag("p", f"{sentence_of(verdict)} {verdict.advice}"),
        tag("div", tag("div", picture), tag("div", table), class_="side-by-side"),
        tag("p", facts, note, class_="facts"),
        cautions,
        class_="trueness trueness-notebook",
    )
