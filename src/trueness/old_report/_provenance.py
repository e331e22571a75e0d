"""Provenance of a report: the calls that reproduce its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trueness.bins import EqualWidth
from trueness.old_table import AnyRankTable

if TYPE_CHECKING:
    from trueness.old_assessment import Assessment, Comparison, EventAssessment

MOST_EDGES = 12


def assess_call(result: Assessment) -> str:
    """The call of `assess` that gives this assessment for the same rows."""
    spec, by_confidence = result.table.spec, result.confidence_table
    options = [f"variation={spec.variation.name!r}", f"bins={_bins(result.table, 0)}"]
    if by_confidence is not None and not _are_default(result.table, by_confidence):
        options.append(f"confidence_bins={_bins(by_confidence, 1)}")
    options += [f"level={result.level:g}", f"resamples={result.resamples}", f"rng={result.seed}"]
    if result.tolerance is not None:
        options.append(f"tolerance={dict(result.tolerance)}")
    options += _options_of_rows(result)
    return f"trueness.assess(y_true, y_prob, {', '.join(options)})"


def compare_call(comparison: Comparison) -> str:
    """The call that gives this comparison for the same rows, or for the same tables."""
    some = next(iter(comparison.assessments.values()))
    names = ", ".join(f"{name!r}: …" for name in comparison.assessments)
    if not comparison.paired:
        return f"trueness.compare_tables({{{names}}}, {_inference_options(comparison)})"
    _, _, options = assess_call(some).partition(", y_prob, ")
    return f"trueness.compare(y_true, {{{names}}}, {options}"


def _inference_options(comparison: Comparison) -> str:
    return f"level={comparison.level:g}, resamples={comparison.resamples}, rng={comparison.seed}"


def models_from_report(comparison: Comparison, file_name: str) -> str:
    """Python code that reads the tables of the models, and gives the numbers that they alone determine."""
    options = _inference_options(comparison)
    lines = [
        "import trueness",
        "from trueness.old_report import model_tables_in",
        f"tables = model_tables_in({file_name!r})",
        f"trueness.compare_tables(tables, {options})"
        if not comparison.paired
        else f"alone = {{name: trueness.assess_table(it, {options}) for name, it in tables.items()}}",
    ]
    return "\n".join(lines)


def _options_of_rows(result: Assessment) -> list[str]:
    spec, usual = result.table.spec, result.options is None
    given = {
        "n_options=n_options": result.options is not None,
        f"ties={spec.ties!r}": spec.ties != ("first" if usual else "split"),
        "sample_weight=sample_weight": spec.weighted,
        "clusters=clusters": result.n_clusters is not None,
        "groups=groups": bool(result.groups),
    }
    return [option for option, wanted in given.items() if wanted]


def _bins(table: AnyRankTable, number: int) -> str:
    bins = table.bins
    if _are_equal_width(table):
        return str(bins.n_bins)
    if bins.n_bins < MOST_EDGES:
        return f"trueness.Edges({list(bins.edges)})"
    return f"saved.tables[{number}].bins"


def _are_equal_width(table: AnyRankTable) -> bool:
    equal = EqualWidth(table.n_bins).resolve(*table.spec.range)
    return equal.edges == table.bins.edges


def _are_default(table: AnyRankTable, by_confidence: AnyRankTable) -> bool:
    """Whether the bins of confidence are those that `assess` chooses by default."""
    return by_confidence is table or (
        by_confidence.n_bins == table.n_bins and _are_equal_width(by_confidence)
    )


def code_from_report(result: Assessment, file_name: str, with_groups: bool) -> str:
    """Python code that reproduces the numbers of a report from the report alone."""
    name = result.table.spec.variation.name
    own = "" if _is_built_in(result) else f", variation={name}"
    lines = [
        "import trueness",
        "from trueness.old_report import read",
        f"saved = read({file_name!r}{own})",
        "result = trueness.assess_table(",
        "    saved.tables,",
        "    level=saved.level, resamples=saved.resamples, rng=saved.seed,",
    ]
    if result.tolerance is not None:
        lines.append("    tolerance=saved.tolerance,")
    if result.groups and with_groups:
        lines.append("    groups=saved.groups, min_group_size=1,")
    return "\n".join([*lines, ")"])


def assess_event_call(event: EventAssessment) -> str:
    """The call of `assess_event` that gives this assessment for the same rows."""
    weights = ", sample_weight=sample_weight" if event.table.spec.weighted else ""
    weights += ", clusters=clusters" if event.n_clusters is not None else ""
    weights += ", groups=groups" if event.groups else ""
    return (
        f"trueness.assess_event(y_true, y_prob, event={_event_text(event)}, {_event_options(event)}{weights})"
    )


def _event_text(event: EventAssessment) -> str:
    (chosen,) = event.table.events
    return repr(chosen if event.table.spec.class_names is None else event.name)


def _event_options(event: EventAssessment) -> str:
    """The options on which the numbers of an event depend."""
    bins = event.class_bins
    shown = str(bins.n_bins) if isinstance(bins, EqualWidth) else f"trueness.{bins!r}"
    curve = "" if event.curve.curve == "loess" else f" curve={event.curve.curve!r},"
    what = "" if event.what is None else f" what={event.what!r},"
    return f"bins={shown},{curve}{what} level={event.level:g}, resamples={event.resamples}, rng={event.seed}"


def event_code_from_report(event: EventAssessment, file_name: str) -> str:
    """Python code that reproduces the numbers of the report of an event from the report alone."""
    lines = [
        "import trueness",
        "from trueness.old_report import event_tables_in",
        f"(table,) = event_tables_in({file_name!r})",
        f"result = trueness.assess_event_table(table, {_event_options(event)})",
    ]
    return "\n".join(lines)


def _is_built_in(result: Assessment) -> bool:
    from trueness.variation import as_variation

    try:
        return as_variation(result.table.spec.variation.name) == result.table.spec.variation
    except ValueError:
        return False
