"""The spread between clusters in text, in JSON and as lines of a table."""

from __future__ import annotations

from typing import Any

from trueness._printing import p_sentence, visible
from trueness.old_assessment._to_json import plain
from trueness.old_inference.cluster_spread import ClusterSpread

MOST_CLUSTERS = 5
"""Clusters that are listed: those that are furthest off."""


def cluster_lines(spread: ClusterSpread | None) -> list[str]:
    """The spread between clusters, and those that are furthest off; nothing without clusters that are kept apart."""
    if spread is None or spread.reason is not None:
        return []
    lines = ["", spread_sentence(spread)]
    if spread.sd > 0:
        width = max(8, *(len(visible(it.name)) for it in spread.clusters[:MOST_CLUSTERS]))
        level = f"{100 * spread.clusters[0].interval.level:g} % interval"
        lines.append(f"{'furthest':{width}}{'rows':>10}{'net gap':>10}{'shrunk':>10}  {level}")
        lines += [
            f"{visible(it.name):{width}}{it.n_rows:10d}{it.gap:+10.4f}{it.shrunk:+10.4f}  "
            f"[{it.interval.low:+.4f}, {it.interval.high:+.4f}]"
            for it in spread.clusters[:MOST_CLUSTERS]
        ]
    return lines


def spread_sentence(spread: ClusterSpread) -> str:
    """The standard deviation between clusters, and whether it is more than the noise of rows."""
    if spread.sd == 0:
        return "clusters do not differ in their net gap by more than the noise of their rows"
    return (
        f"between clusters the net gap has a standard deviation of {spread.sd:.4f}, apart from the noise of their rows "
        f"({p_sentence(spread.p_value)})"
    )


def cluster_spread_json(spread: ClusterSpread | None) -> Any:
    """The spread as plain numbers, with the clusters that are furthest off."""
    if spread is None:
        return None
    return plain(spread) | {"clusters": [plain(it) for it in spread.clusters[:MOST_CLUSTERS]]}
