"""An assessment in a notebook: the verdict, the metrics and the reliability diagram, without scripts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from trueness._markup import Markup, tag
from trueness._printing import rows_text
from trueness.assessment.text import classes_of
from trueness.assessment.verdict import Verdict
from trueness.plots.event import RELIABILITY
from trueness.plots.reliability import VCE
from trueness.report._document import read_part
from trueness.report._event import event_number_table
from trueness.report._figures import drawable
from trueness.report._numbers import UCE_NOTE, colour, number_table, sentence_of

if TYPE_CHECKING:
    from trueness.assessment import Assessment, Caution, EventAssessment


def fragment(result: Assessment) -> str:
    """HTML for a notebook cell: its CSS rules apply to it alone, and it has no ids that could clash.

    Of two classes the event is shown, as in the report.
    """
    spec, event = result.table.spec, result.event
    facts = (
        f"{rows_text(result.n_rows)}, {classes_of(result)}, {spec.bins.n_bins} bins of "
        f"{spec.variation.display_name}; seed {result.seed}"
    )
    note = f". {UCE_NOTE}" if result.uce is not None else ""
    picture = VCE.svg(VCE.data(drawable(result)[0])) if event is None else _event_picture(event)
    tables = [_table(*number_table(result))]
    if event is not None:
        tables.insert(0, _table(*event_number_table(event)))
    return _fragment(result.verdict, picture, tables, facts + note, result.warnings)


def event_fragment(event: EventAssessment) -> str:
    """HTML of an event for a notebook cell."""
    facts = f"{event.label}, {rows_text(event.n_rows)}; seed {event.seed}"
    tables = [_table(*event_number_table(event))]
    return _fragment(event.verdict, _event_picture(event), tables, facts, event.warnings)


def _event_picture(event: EventAssessment) -> Markup:
    return RELIABILITY.svg(RELIABILITY.data(event))


def _table(heads: list[str], lines: list[list[Any]]) -> Markup:
    body = [tag("tr", tag("th", line[0], scope="row"), [tag("td", x) for x in line[1:]]) for line in lines]
    head = tag("thead", tag("tr", [tag("th", head, scope="col") for head in heads]))
    return tag("table", head, tag("tbody", body))


def _fragment(
    verdict: Verdict, picture: Markup, tables: list[Markup], facts: str, warnings: Iterable[Caution]
) -> str:
    cautions = [tag("li", str(caution)) for caution in warnings]
    style = read_part("chart.css") + read_part("notebook.css")
    return tag(
        "div",
        tag("style", Markup(style)),
        tag("p", tag("strong", verdict.headline), class_=f"verdict {colour(verdict)}"),
        tag("p", f"{sentence_of(verdict)} {verdict.advice}"),
        tag("div", tag("div", picture), tag("div", tables), class_="side-by-side"),
        tag("p", facts, class_="facts"),
        tag("ul", cautions) if cautions else None,
        class_="trueness trueness-notebook",
    )
