"""An assessment in a notebook: the verdict, the metrics and the reliability diagram, without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from trueness._cells import Marked, Rows
from trueness._markup import Markup, name_of, tag
from trueness._printing import plural, rows_text
from trueness.old_assessment.text import classes_of
from trueness.old_assessment.verdict import Verdict
from trueness.old_report._comparison import headline_of, model_table, sentences_of
from trueness.old_report._document import read_part
from trueness.old_report._event import event_number_table
from trueness.old_report._event_list import event_table
from trueness.old_report._figures import drawable
from trueness.old_report._numbers import UCE_NOTE, colour, html_p_sentence, number_table, sentence_of
from trueness.plots.event import RELIABILITY
from trueness.plots.forest import OF_EVENT, forest_chart, forest_of_metrics, forest_of_pairs
from trueness.plots.reliability import VCE

if TYPE_CHECKING:
    from trueness.old_assessment import (
        Assessment,
        Caution,
        Comparison,
        EventAssessment,
        EventAssessments,
        GroupAssessment,
    )


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


def events_fragment(results: EventAssessments) -> str:
    """HTML of several events for a notebook cell: their net gaps and a table of all."""
    facts = f"{plural(len(results), 'event')}, {rows_text(results.n_rows)}"
    picture = OF_EVENT.svg(OF_EVENT.data(results)) if OF_EVENT.applies(results) else Markup("")
    return _fragment(results.verdict, picture, [_table(*event_table(results))], facts, ())


def group_fragment(group: GroupAssessment[Any]) -> str:
    """HTML of one group for a notebook cell: its assessment, with the p-value that is corrected over all groups."""
    heading = f"Group {group.name}, {rows_text(group.n_rows)}"
    if group.assessment is None:
        return _in_notebook(tag("p", tag("strong", name_of(heading)), f": not assessed, {group.reason}"))
    words = f": {html_p_sentence(group.adjusted_p_value)}, adjusted for the number of groups"
    own = group.assessment._repr_html_()
    return tag("div", tag("p", tag("strong", name_of(heading)), words), Markup(own))


def comparison_fragment(comparison: Comparison) -> str:
    """HTML of a comparison for a notebook cell: its verdicts, the differences and the models."""
    some = next(iter(comparison.assessments.values()))
    rows = rows_text(some.n_rows) if comparison.paired else "different rows"
    facts = f"{rows}, {classes_of(some)}; {comparison.resamples} resamples, seed {comparison.seed}"
    only = len(comparison.pairs) == 1
    picture = forest_chart(forest_of_metrics(comparison) if only else forest_of_pairs(comparison))
    cautions = [
        tag("li", name_of(f"{name}: {caution}"))
        for name, result in comparison.assessments.items()
        for caution in result.warnings
    ]
    clear = any(verdict.kind != "none" for verdict in comparison.verdicts)
    return _in_notebook(
        tag(
            "p",
            tag("strong", name_of(headline_of(comparison))),
            class_=f"verdict {'mixed' if clear else 'none'}",
        ),
        sentences_of(comparison),
        tag("div", _table(*model_table(comparison)), class_="scroll"),
        tag("div", picture, class_="wide"),
        tag("p", facts, class_="facts"),
        tag("ul", cautions) if cautions else None,
    )


def cells_fragment(title: str, rows: Rows) -> str:
    """HTML of a table of cells for a notebook cell; the best ones are bold."""
    heads = [name_of(name) for name in (rows[0] if rows else ())]
    lines = [[_cell(value) for value in row.values()] for row in rows]
    return _in_notebook([tag("p", line) for line in title.splitlines()], _table(heads, lines))


def _cell(value: Any) -> Any:
    if isinstance(value, Marked):
        return tag("strong", name_of(value.text)) if value.best else name_of(value.text)
    return "" if value is None else name_of(str(value))


def _event_picture(event: EventAssessment) -> Markup:
    return RELIABILITY.svg(RELIABILITY.data(event))


def _table(heads: Sequence[str], lines: list[list[Any]]) -> Markup:
    body = [tag("tr", tag("th", line[0], scope="row"), [tag("td", x) for x in line[1:]]) for line in lines]
    head = tag("thead", tag("tr", [tag("th", head, scope="col") for head in heads]))
    return tag("table", head, tag("tbody", body))


def _fragment(
    verdict: Verdict, picture: Markup, tables: list[Markup], facts: str, warnings: Iterable[Caution]
) -> str:
    cautions = [tag("li", str(caution)) for caution in warnings]
    return _in_notebook(
        tag("p", tag("strong", verdict.headline), class_=f"verdict {colour(verdict)}"),
        tag("p", f"{sentence_of(verdict)} {verdict.advice}"),
        tag("div", tag("div", picture), tag("div", tables), class_="side-by-side"),
        tag("p", facts, class_="facts"),
        tag("ul", cautions) if cautions else None,
    )


def _in_notebook(*parts: Any) -> Markup:
    """The parts of a fragment with the style that applies to them alone."""
    style = read_part("chart.css") + read_part("notebook.css")
    return tag("div", tag("style", Markup(style)), parts, class_="trueness trueness-notebook")
