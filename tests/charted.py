"""One chart of each kind, from rows whose sums are known."""

from __future__ import annotations

from functools import cache

import numpy as np

import trueness as tn
from trueness.charts import (
    Chart,
    class_chart,
    confidence_chart,
    cumulative_chart,
    curve_chart,
    evidence_chart,
    forest_chart,
    rank_chart,
    rank_map,
    reliability_chart,
    trend_chart,
)
from trueness.document import Entry, Forest
from trueness.table import Table
from trueness.today import read, tabulate_rows

HOSTILE = ("</title><script>x</script>", "$x_1$ & <b>", '"quoted"', "Øst", "a\u202eb\x1b[31m\ufeff")


@cache
def table_of(kind: str) -> Table:
    """Ten classes of which the model is too sure; rare and frequent classes; many classes."""
    alpha = {"ten": [0.5] * 10, "rare": [0.02, 0.2, 9.0], "many": [0.05] * 200}[kind]
    y, p = tn.simulate.calibrated(4000, alpha, rng=0)
    return tabulate_rows(read(y, tn.simulate.sharpen(p, 1.4) if kind == "ten" else p))


def forest_of(names: tuple[str, ...] = HOSTILE) -> Forest:
    """One entry for each name, the last without an interval."""
    entries = [Entry(it, k / 10, k / 10 - 0.1, k / 10 + 0.1, 100, "why", True) for k, it in enumerate(names)]
    entries[-1] = entries[-1]._replace(low=None, high=None)
    return Forest("Groups", "confidence minus accuracy", tuple(entries))


def days_of(n: int = 30) -> Forest:
    """A difference of each day."""
    entries = [Entry(f"2026-01-{k + 1:02d}", 0.01 * (k % 5), 0.0, 0.06, 500, "", True) for k in range(n)]
    return Forest("Days", "gap", tuple(entries))


@cache
def charts() -> dict[str, Chart]:
    """Each kind by name."""
    ten, rare, many, days = table_of("ten"), table_of("rare"), table_of("many"), days_of()
    log_e = np.concatenate([np.full(15, -0.1), np.ones(15)]).cumsum()
    sizes = ("rows", np.array([1e3, 1e4, 1e5, 1e6]))
    means = Forest("", "VCE", tuple(Entry(str(k), 1 / k, 0.9 / k, 1.1 / k) for k in (1, 2, 4, 8)))
    return {
        "reliability": reliability_chart(ten),
        "confidence": confidence_chart(ten),
        "gap": reliability_chart(ten, gap=True),
        "class": class_chart(ten, 3),
        "rare class": class_chart(rare, 0),
        "frequent class": class_chart(rare, 2),
        "ranks": rank_chart(ten),
        "ranks of a bin": rank_chart(ten, bin=5),
        "many ranks": rank_chart(many),
        "map": rank_map(ten),
        "large map": rank_map(many),
        "forest": forest_chart(forest_of()),
        "cumulative": cumulative_chart(ten, 3),
        "evidence": evidence_chart([it.name for it in days.entries], log_e, np.log(100), alarm=22, began=15),
        "trend": trend_chart(days, running=np.linspace(0, 0.02, 30), tolerance=0.03),
        "curve": curve_chart("Convergence", sizes, means, expected=np.array([1, 0.5, 0.3, 0.1])),
    }
