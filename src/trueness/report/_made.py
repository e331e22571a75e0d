"""How an answer came about, as calls that bring it back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trueness.binning import EqualWidth

if TYPE_CHECKING:
    from trueness.assessment import Assessment

MOST_EDGES = 12


def call_of(result: Assessment) -> str:
    """The call of `assess` that gives this answer for the same rows."""
    spec = result.table.spec
    options = [f"variation={spec.variation.name!r}", f"bins={_bins(result)}"]
    options += [f"level={result.level:g}", f"resamples={result.resamples}", f"rng={result.seed}"]
    if spec.ties != "first":
        options.append(f"ties={spec.ties!r}")
    if spec.weighted:
        options.append("sample_weight=sample_weight")
    if result.n_clusters is not None:
        options.append("clusters=clusters")
    if result.groups:
        options.append("groups=groups")
    return f"trueness.assess(y_true, y_prob, {', '.join(options)})"


def _bins(result: Assessment) -> str:
    bins = result.table.bins
    even = EqualWidth(bins.n_bins).resolve(*result.table.spec.variation.range_for(result.table.n_classes))
    if even.edges == bins.edges:
        return str(bins.n_bins)
    if bins.n_bins < MOST_EDGES:
        return f"trueness.Edges({list(bins.edges)})"
    return "saved.tables[0].bins"


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
    if result.groups and with_groups:
        lines.append("    groups=saved.groups, min_group_size=1,")
    return "\n".join([*lines, ")"])


def _is_ours(result: Assessment) -> bool:
    from trueness.variation import as_variation

    try:
        return as_variation(result.table.spec.variation.name) == result.table.spec.variation
    except ValueError:
        return False
