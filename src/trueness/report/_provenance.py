"""The calls that give the numbers of a report again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trueness.bins import EqualWidth
from trueness.table import CalibrationTable

if TYPE_CHECKING:
    from trueness.assessment import Assessment

MOST_EDGES = 12


def call_of(result: Assessment) -> str:
    """The call of `assess` that gives this answer for the same rows."""
    spec, by_confidence = result.table.spec, result.confidence_table
    options = [f"variation={spec.variation.name!r}", f"bins={_bins(result.table, 0)}"]
    if by_confidence is not None and not _are_usual(result.table, by_confidence):
        options.append(f"confidence_bins={_bins(by_confidence, 1)}")
    options += [f"level={result.level:g}", f"resamples={result.resamples}", f"rng={result.seed}"]
    if result.tolerance is not None:
        options.append(f"tolerance={dict(result.tolerance)}")
    if spec.ties != "first":
        options.append(f"ties={spec.ties!r}")
    if spec.weighted:
        options.append("sample_weight=sample_weight")
    if result.n_clusters is not None:
        options.append("clusters=clusters")
    if result.groups:
        options.append("groups=groups")
    return f"trueness.assess(y_true, y_prob, {', '.join(options)})"


def _bins(table: CalibrationTable, number: int) -> str:
    bins = table.bins
    if _are_even(table):
        return str(bins.n_bins)
    if bins.n_bins < MOST_EDGES:
        return f"trueness.Edges({list(bins.edges)})"
    return f"saved.tables[{number}].bins"


def _are_even(table: CalibrationTable) -> bool:
    even = EqualWidth(table.n_bins).resolve(*table.spec.variation.range_for(table.n_classes))
    return even.edges == table.bins.edges


def _are_usual(table: CalibrationTable, by_confidence: CalibrationTable) -> bool:
    """Whether the bins of confidence are those that `assess` would take beside the others."""
    return by_confidence is table or (by_confidence.n_bins == table.n_bins and _are_even(by_confidence))


def again(result: Assessment, file_name: str, with_groups: bool) -> str:
    """Lines of Python that give the numbers of a report from the report alone."""
    name = result.table.spec.variation.name
    known = _is_ours(result)
    own = "" if known else f", variation={name}"
    lines = [
        "import trueness",
        "from trueness.report import read",
        f"saved = read({file_name!r}{own})",
        "result = trueness.assess_table(",
        "    saved.tables[0],",
    ]
    if result.confidence_table is not None and result.confidence_table is not result.table:
        lines.append("    confidence_table=saved.tables[1],")
    lines.append("    level=saved.level, resamples=saved.resamples, rng=saved.seed,")
    if result.tolerance is not None:
        lines.append("    tolerance=saved.tolerance,")
    if result.groups and with_groups:
        lines.append("    groups=saved.groups, min_group_size=1,")
    return "\n".join([*lines, ")"])


def _is_ours(result: Assessment) -> bool:
    from trueness.variation import as_variation

    try:
        return as_variation(result.table.spec.variation.name) == result.table.spec.variation
    except ValueError:
        return False
